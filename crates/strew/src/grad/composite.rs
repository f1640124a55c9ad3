//! Derivatives of what takes several passes over groups: deviations, log-sum-exp, softmax and
//! log-softmax.
//!
//! With m the largest of a group's elements, s the sum of `exp(x - m)` and p = `exp(x - m) / (s +
//! eps)`, an element moves the group's log-sum-exp by p, and the largest, which is subtracted, by
//! `eps / (s + eps)` more; softmax and log-softmax follow from that. Groups whose logarithm is
//! infinite or NaN, which the operator replaces, have the gradient 0, and so have groups whose
//! deviation is 0, as PyTorch has it. (torch_scatter's is NaN there.)

use crate::dialect::framework::composite::{Composed, plan_of};
use crate::grad::expect_like;
use crate::grad::field::{Field, load};
use crate::grad::forward::to_positions;
use crate::grad::tangents::from_positions;
use strew_engine::checks::expect_dtype;
use strew_engine::plan::Plan;
use strew_engine::plan::composite::{
    Along, Composite, Exponentials, Passes, accumulators, divisor, rounded,
};
use strew_engine::plan::reduce::Reduce;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::math::Real;
use strew_kernel::tensor::{DType, Dims, DynTensor, DynView, Tensor, shaped};

/// Calls a generic function with the accumulator of a case's type.
macro_rules! by_field {
    ($passed:expr, $A:ident => $body:expr) => {
        match $passed.dtype.accumulator() {
            DType::F64 => {
                type $A = f64;
                $body
            }
            _ => {
                type $A = f32;
                $body
            }
        }
    };
}

/// A call, and its index as a plan.
pub(super) struct Passed<'c, 'a> {
    composed: &'c Composed<'a>,
    dtype: DType,
    plan: Plan,
    axis: usize,
    /// The shape in which the plan sees the updates.
    updates: Dims,
}

impl<'c, 'a> Passed<'c, 'a> {
    pub(super) fn new(composed: &'c Composed<'a>) -> Result<Self, Problem> {
        let dtype = composed.sums().updates().dtype();
        expect_dtype(
            "src",
            dtype,
            dtype.is_float(),
            "it must be a floating-point type",
        )?;
        let (plan, axis, updates) = plan_of(composed.sums().destinations())?;
        Ok(Self {
            composed,
            dtype,
            plan,
            axis,
            updates,
        })
    }

    /// The gradient of the updates, given that of the result.
    pub(super) fn vjp(&self, grad: &DynView<'_>) -> Result<DynTensor, Problem> {
        expect_like(
            "grad",
            grad,
            "the result's",
            self.dtype,
            self.result_shape(),
        )?;
        let _floats = DefaultFloats::enter();
        let src = self.composed.sums().updates();
        match self.composed.what() {
            Composite::Std { unbiased } => {
                let result = self.composed.result()?;
                let result = result.view();
                by_field!(self, A => self.with::<A>(src, true, |passes| {
                    std_vjp(&passes, self, grad, &result, unbiased)
                }))
            }
            Composite::LogSumExp { eps } => by_field!(self, A => {
                self.with::<A>(src, true, |passes| log_sum_exp_vjp(&passes, self, grad, A::of(eps)))
            }),
            Composite::Softmax => self.softmax(grad),
            Composite::LogSoftmax { eps } => by_field!(self, A => {
                self.with::<A>(src, true, |passes| log_softmax_vjp(&passes, self, grad, A::of(eps)))
            }),
        }
    }

    /// The tangent of the result, given that of the updates.
    pub(super) fn jvp(&self, tangent: &DynView<'_>) -> Result<DynTensor, Problem> {
        let _floats = DefaultFloats::enter();
        let src = self.composed.sums().updates();
        match self.composed.what() {
            Composite::Std { unbiased } => {
                let result = self.composed.result()?;
                let result = result.view();
                by_field!(self, A => self.with::<A>(src, false, |passes| {
                    std_jvp(&passes, self, tangent, &result, unbiased)
                }))
            }
            Composite::LogSumExp { eps } => by_field!(self, A => {
                self.with::<A>(src, false, |passes| {
                    log_sum_exp_jvp(&passes, self, tangent, A::of(eps))
                })
            }),
            // The Jacobian of a softmax is symmetric.
            Composite::Softmax => self.softmax(tangent),
            Composite::LogSoftmax { eps } => by_field!(self, A => {
                self.with::<A>(src, true, |passes| {
                    log_softmax_jvp(&passes, self, tangent, A::of(eps))
                })
            }),
        }
    }

    fn softmax(&self, moved: &DynView<'_>) -> Result<DynTensor, Problem> {
        let result = self.composed.result()?;
        let result = result.view();
        by_field!(self, A => {
            self.with::<A>(&result, true, |passes| softmax_vjp(&passes, self, moved))
        })
    }

    fn result_shape(&self) -> &[usize] {
        let places = self.composed.sums().destinations();
        match self.composed.what().reduces() {
            true => places.shape(),
            false => places.updates_shape(),
        }
    }

    /// Does the passes over `src`, and rounds what they make: of the shape of the updates, or of
    /// the cells.
    fn with<A: Field + Real>(
        &self,
        src: &DynView<'_>,
        updates: bool,
        work: impl FnOnce(Passes<'_, A>) -> Result<Tensor<A>, Problem>,
    ) -> Result<DynTensor, Problem> {
        let wide = accumulators(src)?;
        let along = Along {
            plan: &self.plan,
            axis: self.axis,
            updates: &self.updates,
        };
        let made = work(along.passes::<A>(wide.view())?)?;
        let made = rounded(made.into_dyn(), self.dtype)?;
        let places = self.composed.sums().destinations();
        let shape = if updates {
            places.updates_shape()
        } else {
            places.shape()
        };
        shaped(made, shape)
    }

    /// The shape in which the plan sees the cells.
    fn cells(&self) -> Dims {
        let mut cells = self.updates.clone();
        cells[self.axis] = self.plan.size();
        cells
    }
}

fn std_vjp<A: Field + Real>(
    passes: &Passes<'_, A>,
    passed: &Passed<'_, '_>,
    grad: &DynView<'_>,
    result: &DynView<'_>,
    unbiased: bool,
) -> Result<Tensor<A>, Problem> {
    let counts = passes.counts()?;
    let means = passes.means(counts.as_slice())?;
    let mut weights = load::<A>(grad, &passed.cells())?;
    over(passes, &mut weights, &load(result, &passed.cells())?);
    passes.per_count(&mut weights, counts.as_slice(), |weight, count| {
        weight / divisor(count, unbiased)
    });
    passes.each([&means, &weights], |_, x, [mean, weight]| {
        (x - mean) * weight
    })
}

fn std_jvp<A: Field + Real>(
    passes: &Passes<'_, A>,
    passed: &Passed<'_, '_>,
    tangent: &DynView<'_>,
    result: &DynView<'_>,
    unbiased: bool,
) -> Result<Tensor<A>, Problem> {
    let counts = passes.counts()?;
    let means = passes.means(counts.as_slice())?;
    let mut moved = load::<A>(tangent, &passed.updates)?;
    passes.change(&mut moved, [&means], |t, x, [mean]| (x - mean) * t);
    let mut made = passes.fold(&moved.view().into_dyn(), Reduce::Sum)?;
    over(passes, &mut made, &load(result, &passed.cells())?);
    passes.per_count(&mut made, counts.as_slice(), |sum, count| {
        sum / divisor(count, unbiased)
    });
    Ok(made)
}

/// Divides by deviations; what has none is 0.
fn over<A: Field + Real>(passes: &Passes<'_, A>, all: &mut Tensor<A>, deviations: &Tensor<A>) {
    passes.beside(all, [deviations], |value, [deviation]| {
        match deviation.is_zero() {
            true => <A as Real>::ZERO,
            false => value / deviation,
        }
    });
}

/// Whether `eps` changes a sum that its largest element is in.
fn counts<A: Field + Real>(eps: A) -> bool {
    A::ONE + eps != A::ONE
}

/// 1 / (s + eps) for the groups whose logarithm is a number, else 0.
fn reciprocals<A: Field + Real>(
    passes: &Passes<'_, A>,
    most: &Tensor<A>,
    shares: &Tensor<A>,
    eps: A,
) -> Result<Tensor<A>, Problem> {
    let mut made = passes.fold(&shares.view().into_dyn(), Reduce::Sum)?;
    passes.beside(&mut made, [most], |sum, [most]| {
        match ((sum + eps).ln() + most).is_finite() {
            true => A::ONE / (sum + eps),
            false => <A as Real>::ZERO,
        }
    });
    Ok(made)
}

fn log_sum_exp_vjp<A: Field + Real>(
    passes: &Passes<'_, A>,
    passed: &Passed<'_, '_>,
    grad: &DynView<'_>,
    eps: A,
) -> Result<Tensor<A>, Problem> {
    let Exponentials {
        most,
        each: mut made,
    } = passes.shares()?;
    let mut weights = reciprocals(passes, &most, &made, eps)?;
    let grad = load::<A>(grad, &passed.cells())?;
    passes.beside(&mut weights, [&grad], |weight, [grad]| {
        match weight.is_zero() {
            true => weight,
            false => weight * grad,
        }
    });
    passes.change(&mut made, [&weights], |share, _, [weight]| {
        match share.is_zero() {
            true => share,
            false => share * weight,
        }
    });
    if counts(eps) {
        passes.beside(&mut weights, [], |weight, []| weight * eps);
        add_at_winners(passes, passed, &mut made, weights, true)?;
    }
    Ok(made)
}

fn log_sum_exp_jvp<A: Field + Real>(
    passes: &Passes<'_, A>,
    passed: &Passed<'_, '_>,
    tangent: &DynView<'_>,
    eps: A,
) -> Result<Tensor<A>, Problem> {
    let Exponentials {
        most,
        each: mut made,
    } = passes.shares()?;
    let weights = reciprocals(passes, &most, &made, eps)?;
    let tangent = load::<A>(tangent, &passed.updates)?;
    passes.beside(&mut made, [&tangent], |share, [t]| match share.is_zero() {
        true => share,
        false => share * t,
    });
    let mut sums = passes.fold(&made.view().into_dyn(), Reduce::Sum)?;
    if counts(eps) {
        let winners = at_winners(passes, passed, &tangent, true)?;
        passes.beside(&mut sums, [&winners], |sum, [t]| sum + eps * t);
    }
    passes.beside(&mut sums, [&weights], |sum, [weight]| {
        match weight.is_zero() {
            true => weight,
            false => sum * weight,
        }
    });
    Ok(sums)
}

fn softmax_vjp<A: Field + Real>(
    passes: &Passes<'_, A>,
    passed: &Passed<'_, '_>,
    grad: &DynView<'_>,
) -> Result<Tensor<A>, Problem> {
    let mut made = load::<A>(grad, &passed.updates)?;
    let mut shares = load::<A>(grad, &passed.updates)?;
    passes.change(&mut shares, [], |grad, result, []| grad * result);
    let sums = passes.fold(&shares.view().into_dyn(), Reduce::Sum)?;
    passes.change(&mut made, [&sums], |grad, result, [sum]| {
        result * (grad - sum)
    });
    Ok(made)
}

fn log_softmax_vjp<A: Field + Real>(
    passes: &Passes<'_, A>,
    passed: &Passed<'_, '_>,
    grad: &DynView<'_>,
    eps: A,
) -> Result<Tensor<A>, Problem> {
    let Exponentials { most, each: shares } = passes.exponentials()?;
    let whole = passes.fold(&shares.view().into_dyn(), Reduce::Sum)?;
    drop(shares);
    let mut made = load::<A>(grad, &passed.updates)?;
    let mut sums = passes.fold(&made.view().into_dyn(), Reduce::Sum)?;
    passes.beside(&mut sums, [&whole], |sum, [whole]| sum / (whole + eps));
    passes.change(&mut made, [&most, &sums], |grad, x, [most, sum]| {
        grad - (x - most).exp() * sum
    });
    if counts(eps) {
        passes.beside(&mut sums, [], |sum, []| <A as Real>::ZERO - sum * eps);
        add_at_winners(passes, passed, &mut made, sums, false)?;
    }
    Ok(made)
}

fn log_softmax_jvp<A: Field + Real>(
    passes: &Passes<'_, A>,
    passed: &Passed<'_, '_>,
    tangent: &DynView<'_>,
    eps: A,
) -> Result<Tensor<A>, Problem> {
    let mut shares = passes.exponentials()?.each;
    let whole = passes.fold(&shares.view().into_dyn(), Reduce::Sum)?;
    let mut made = load::<A>(tangent, &passed.updates)?;
    passes.beside(&mut shares, [&made], |share, [t]| share * t);
    let mut sums = passes.fold(&shares.view().into_dyn(), Reduce::Sum)?;
    if counts(eps) {
        let winners = at_winners(passes, passed, &made, false)?;
        passes.beside(&mut sums, [&winners], |sum, [t]| sum + eps * t);
    }
    passes.beside(&mut sums, [&whole], |sum, [whole]| sum / (whole + eps));
    passes.change(&mut made, [&sums], |t, _, [sum]| t - sum);
    Ok(made)
}

/// Adds what cells have to the largest of their updates.
fn add_at_winners<A: Field + Real>(
    passes: &Passes<'_, A>,
    passed: &Passed<'_, '_>,
    all: &mut Tensor<A>,
    cells: Tensor<A>,
    low: bool,
) -> Result<(), Problem> {
    let at = passes.winners(low)?;
    let cells = cells.into_dyn();
    let placed = to_positions(&cells.view(), &at.view(), passed.axis, &passed.updates)?;
    let placed = placed.typed::<A>().map_err(|_| torn())?;
    passes.beside(all, [&placed], |value, [more]| value + more);
    Ok(())
}

/// What the largest update of each cell has; 0 where there is none.
fn at_winners<A: Field + Real>(
    passes: &Passes<'_, A>,
    passed: &Passed<'_, '_>,
    updates: &Tensor<A>,
    low: bool,
) -> Result<Tensor<A>, Problem> {
    let at = passes.winners(low)?;
    let mut made = DynTensor::zeros(A::DTYPE, &passed.cells())?;
    let updates = updates.view().into_dyn();
    from_positions(&updates, &at.view(), passed.axis, &mut made)?;
    made.typed::<A>().map_err(|_| torn())
}

fn torn() -> Problem {
    Problem::Layout {
        argument: "tensor".into(),
        why: "it is of another type than what it was made of".into(),
    }
}
