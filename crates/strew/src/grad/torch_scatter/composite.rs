//! Derivatives of torch_scatter's functions of groups: `scatter_std`, `scatter_logsumexp`,
//! `scatter_softmax` and `scatter_log_softmax`.
//!
//! With m the largest of a group's elements, s the sum of `exp(x - m)` and p = `exp(x - m) / (s +
//! eps)`, an element moves the group's log-sum-exp by p, and the largest, which is subtracted, by
//! `eps / (s + eps)` more; softmax and log-softmax follow from that.

use crate::dialect::framework::composite::plan_of;
use crate::dialect::framework::operator::{Value, int};
use crate::grad::field::{Field, load};
use crate::grad::forward::to_positions;
use crate::grad::tangents::from_positions;
use crate::grad::torch_scatter::size_along;
use crate::grad::{context, expect_like, lowered, typed};
use strew_engine::checks::expect_dtype;
use strew_engine::plan::Plan;
use strew_engine::plan::composite::{Along, Exponentials, Passes, accumulators, divisor, rounded};
use strew_engine::plan::reduce::Reduce;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::{Class, Problem, Result};
use strew_kernel::ops::math::Real;
use strew_kernel::tensor::{
    AsTensor, DType, Dims, DynTensor, DynView, Element, Index, Tensor, shaped,
};

/// Calls a generic function with the accumulator of a case's type.
macro_rules! by_field {
    ($case:expr, $A:ident => $body:expr) => {
        match $case.dtype.accumulator() {
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

/// The gradient of [`scatter_std`](crate::torch_scatter::scatter_std) with respect to `src`, given
/// that of its result.
///
/// * `grad`, `result`: of the result's shape and of `src`'s type; `result` is what the operator
///   made.
/// * Where the result is 0 the gradient is 0, as PyTorch has it for a deviation. (torch_scatter's
///   is NaN there.)
///
/// ```
/// use strew::grad::torch_scatter::scatter_std_vjp;
/// use strew::torch_scatter::scatter_std;
///
/// let (src, index) = ([1.0f64, 3.0, 7.0], [0i64, 0, 1]);
/// let out = scatter_std(&src, &index, -1, None, false)?;
/// let to_src = scatter_std_vjp(&[1.0, 1.0], &src, &index, &out, -1, false)?;
/// assert!((to_src.as_slice()[1] - 0.5).abs() < 1e-6);
/// assert_eq!(to_src.as_slice()[2], 0.0);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's, but for integers, which have no gradients;
/// [`Class::Runtime`](crate::Class::Runtime) for a `grad` or `result` of another type or shape.
pub fn scatter_std_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    result: impl AsTensor<T>,
    dim: i64,
    unbiased: bool,
) -> Result<Tensor<T>> {
    scatter_std_vjp_dyn(
        &grad.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &index.as_tensor().of_rust(),
        &result.as_tensor().of_rust(),
        dim,
        unbiased,
    )
    .map(typed)
}

/// [`scatter_std_vjp`] with element types known at run time, and the same errors.
pub fn scatter_std_vjp_dyn(
    grad: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    result: &DynView<'_>,
    dim: i64,
    unbiased: bool,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_std_vjp";
    let case = Case::of_cells(NAME, grad, src, index, dim)?;
    case.run(|case| {
        case.expect_cells("grad", grad)?;
        case.expect_cells("result", result)?;
        by_field!(case, A => case.with::<A>(src, true, |passes| std_vjp(&passes, case, grad, result, unbiased)))
    })
}

/// The tangent of [`scatter_std`](crate::torch_scatter::scatter_std)'s result, given that of `src`;
/// see [`scatter_std_vjp`].
///
/// # Errors
/// As [`scatter_std_vjp`].
pub fn scatter_std_jvp<T: Element, I: Index>(
    src_tangent: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    result: impl AsTensor<T>,
    dim: i64,
    unbiased: bool,
) -> Result<Tensor<T>> {
    scatter_std_jvp_dyn(
        &src_tangent.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &index.as_tensor().of_rust(),
        &result.as_tensor().of_rust(),
        dim,
        unbiased,
    )
    .map(typed)
}

/// [`scatter_std_jvp`] with element types known at run time, and the same errors.
pub fn scatter_std_jvp_dyn(
    src_tangent: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    result: &DynView<'_>,
    dim: i64,
    unbiased: bool,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_std_jvp";
    let case = Case::of_cells(NAME, result, src, index, dim)?;
    case.run(|case| {
        case.expect_updates("src_tangent", src_tangent)?;
        case.expect_cells("result", result)?;
        by_field!(case, A => case.with::<A>(src, false, |passes| std_jvp(&passes, case, src_tangent, result, unbiased)))
    })
}

/// The gradient of [`scatter_logsumexp`](crate::torch_scatter::scatter_logsumexp) (without `out=`)
/// with respect to `src`, given that of its result.
///
/// * `grad`: of the result's shape and of `src`'s type.
/// * Groups whose logarithm is infinite or NaN, which the operator replaces, have the gradient 0.
///
/// ```
/// use strew::grad::torch_scatter::scatter_logsumexp_vjp;
///
/// let to_src = scatter_logsumexp_vjp(&[3.0], &[7.0, 7.0, 7.0], &[0i64, 0, 0], -1, 0.0)?;
/// assert_eq!(to_src.as_slice(), [1.0, 1.0, 1.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a `grad` of another type or
/// shape than the result.
pub fn scatter_logsumexp_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    eps: f64,
) -> Result<Tensor<T>> {
    let (grad, src, index) = (grad.as_tensor(), src.as_tensor(), index.as_tensor());
    let (grad, src, index) = (grad.of_rust(), src.of_rust(), index.of_rust());
    scatter_logsumexp_vjp_dyn(&grad, &src, &index, dim, eps).map(typed)
}

/// [`scatter_logsumexp_vjp`] with element types known at run time, and the same errors.
pub fn scatter_logsumexp_vjp_dyn(
    grad: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    eps: f64,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_logsumexp_vjp";
    let case = Case::of_cells(NAME, grad, src, index, dim)?;
    case.run(|case| {
        case.expect_cells("grad", grad)?;
        by_field!(case, A => case.with::<A>(src, true, |passes| log_sum_exp_vjp(&passes, case, grad, A::of(eps))))
    })
}

/// The tangent of [`scatter_logsumexp`](crate::torch_scatter::scatter_logsumexp)'s result, given
/// that of `src`; see [`scatter_logsumexp_vjp`].
///
/// # Errors
/// As [`scatter_logsumexp_vjp`].
pub fn scatter_logsumexp_jvp<T: Element, I: Index>(
    src_tangent: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    dim_size: Option<usize>,
    eps: f64,
) -> Result<Tensor<T>> {
    let (tangent, src, index) = (src_tangent.as_tensor(), src.as_tensor(), index.as_tensor());
    let (tangent, src, index) = (tangent.of_rust(), src.of_rust(), index.of_rust());
    let size = dim_size.map(int);
    scatter_logsumexp_jvp_dyn(&tangent, &src, &index, dim, size, eps).map(typed)
}

/// [`scatter_logsumexp_jvp`] with element types known at run time, and the same errors.
pub fn scatter_logsumexp_jvp_dyn(
    src_tangent: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    dim_size: Option<i64>,
    eps: f64,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_logsumexp_jvp";
    let case = Case::new(NAME, src, index, dim, dim_size)?;
    case.run(|case| {
        case.expect_updates("src_tangent", src_tangent)?;
        by_field!(case, A => case.with::<A>(src, false, |passes| log_sum_exp_jvp(&passes, case, src_tangent, A::of(eps))))
    })
}

/// The gradient of [`scatter_softmax`](crate::torch_scatter::scatter_softmax) with respect to
/// `src`, given that of its result.
///
/// * `grad`, `result`: of the same shape and type; `result` is what the operator made.
/// * The tangent of the result, given that of `src`, is the same function of it: the Jacobian is
///   symmetric.
///
/// ```
/// use strew::grad::torch_scatter::scatter_softmax_vjp;
///
/// let to_src = scatter_softmax_vjp(&[1.0, 0.0], &[0i64, 0], &[0.5, 0.5], -1)?;
/// assert_eq!(to_src.as_slice(), [0.25, -0.25]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a `grad` of another type or
/// shape than the result.
pub fn scatter_softmax_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    index: impl AsTensor<I>,
    result: impl AsTensor<T>,
    dim: i64,
) -> Result<Tensor<T>> {
    let (grad, index, result) = (grad.as_tensor(), index.as_tensor(), result.as_tensor());
    let (grad, index, result) = (grad.of_rust(), index.of_rust(), result.of_rust());
    scatter_softmax_vjp_dyn(&grad, &index, &result, dim).map(typed)
}

/// [`scatter_softmax_vjp`] with element types known at run time, and the same errors.
pub fn scatter_softmax_vjp_dyn(
    grad: &DynView<'_>,
    index: &DynView<'_>,
    result: &DynView<'_>,
    dim: i64,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_softmax_vjp";
    let case = Case::new(NAME, result, index, dim, None)?;
    case.run(|case| {
        case.expect_updates("grad", grad)?;
        by_field!(case, A => case.with::<A>(result, true, |passes| softmax_vjp(&passes, case, grad)))
    })
}

/// The gradient of [`scatter_log_softmax`](crate::torch_scatter::scatter_log_softmax) with respect
/// to `src`, given that of its result.
///
/// * `grad`: of `src`'s type and shape.
///
/// ```
/// use strew::grad::torch_scatter::scatter_log_softmax_vjp;
///
/// let to_src = scatter_log_softmax_vjp(&[1.0, 0.0], &[3.0, 3.0], &[0i64, 0], -1, 0.0)?;
/// assert_eq!(to_src.as_slice(), [0.5, -0.5]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a `grad` of another type or
/// shape.
pub fn scatter_log_softmax_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    eps: f64,
) -> Result<Tensor<T>> {
    let (grad, src, index) = (grad.as_tensor(), src.as_tensor(), index.as_tensor());
    let (grad, src, index) = (grad.of_rust(), src.of_rust(), index.of_rust());
    scatter_log_softmax_vjp_dyn(&grad, &src, &index, dim, eps).map(typed)
}

/// [`scatter_log_softmax_vjp`] with element types known at run time, and the same errors.
pub fn scatter_log_softmax_vjp_dyn(
    grad: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    eps: f64,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_log_softmax_vjp";
    let case = Case::new(NAME, src, index, dim, None)?;
    case.run(|case| {
        case.expect_updates("grad", grad)?;
        by_field!(case, A => case.with::<A>(src, true, |passes| log_softmax_vjp(&passes, case, grad, A::of(eps))))
    })
}

/// The tangent of [`scatter_log_softmax`](crate::torch_scatter::scatter_log_softmax)'s result,
/// given that of `src`; see [`scatter_log_softmax_vjp`].
///
/// # Errors
/// As [`scatter_log_softmax_vjp`].
pub fn scatter_log_softmax_jvp<T: Element, I: Index>(
    src_tangent: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    eps: f64,
) -> Result<Tensor<T>> {
    let (tangent, src, index) = (src_tangent.as_tensor(), src.as_tensor(), index.as_tensor());
    let (tangent, src, index) = (tangent.of_rust(), src.of_rust(), index.of_rust());
    scatter_log_softmax_jvp_dyn(&tangent, &src, &index, dim, eps).map(typed)
}

/// [`scatter_log_softmax_jvp`] with element types known at run time, and the same errors.
pub fn scatter_log_softmax_jvp_dyn(
    src_tangent: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    eps: f64,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_log_softmax_jvp";
    let case = Case::new(NAME, src, index, dim, None)?;
    case.run(|case| {
        case.expect_updates("src_tangent", src_tangent)?;
        by_field!(case, A => case.with::<A>(src, true, |passes| log_softmax_jvp(&passes, case, src_tangent, A::of(eps))))
    })
}

fn std_vjp<A: Field + Real>(
    passes: &Passes<'_, A>,
    case: &Case,
    grad: &DynView<'_>,
    result: &DynView<'_>,
    unbiased: bool,
) -> Result<Tensor<A>, Problem> {
    let counts = passes.counts()?;
    let means = passes.means(counts.as_slice())?;
    let mut weights = load::<A>(grad, &case.seen_cells())?;
    over(passes, &mut weights, &load(result, &case.seen_cells())?);
    passes.per_count(&mut weights, counts.as_slice(), |weight, count| {
        weight / divisor(count, unbiased)
    });
    passes.each([&means, &weights], |_, x, [mean, weight]| {
        (x - mean) * weight
    })
}

fn std_jvp<A: Field + Real>(
    passes: &Passes<'_, A>,
    case: &Case,
    tangent: &DynView<'_>,
    result: &DynView<'_>,
    unbiased: bool,
) -> Result<Tensor<A>, Problem> {
    let counts = passes.counts()?;
    let means = passes.means(counts.as_slice())?;
    let mut moved = load::<A>(tangent, &case.updates)?;
    passes.change(&mut moved, [&means], |t, x, [mean]| (x - mean) * t);
    let mut made = passes.fold(&moved.view().into_dyn(), Reduce::Sum)?;
    over(passes, &mut made, &load(result, &case.seen_cells())?);
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
    case: &Case,
    grad: &DynView<'_>,
    eps: A,
) -> Result<Tensor<A>, Problem> {
    let Exponentials {
        most,
        each: mut made,
    } = passes.shares()?;
    let mut weights = reciprocals(passes, &most, &made, eps)?;
    let grad = load::<A>(grad, &case.seen_cells())?;
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
        add_at_winners(passes, case, &mut made, weights, true)?;
    }
    Ok(made)
}

fn log_sum_exp_jvp<A: Field + Real>(
    passes: &Passes<'_, A>,
    case: &Case,
    tangent: &DynView<'_>,
    eps: A,
) -> Result<Tensor<A>, Problem> {
    let Exponentials {
        most,
        each: mut made,
    } = passes.shares()?;
    let weights = reciprocals(passes, &most, &made, eps)?;
    let tangent = load::<A>(tangent, &case.updates)?;
    passes.beside(&mut made, [&tangent], |share, [t]| match share.is_zero() {
        true => share,
        false => share * t,
    });
    let mut sums = passes.fold(&made.view().into_dyn(), Reduce::Sum)?;
    if counts(eps) {
        let winners = at_winners(passes, case, &tangent, true)?;
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
    case: &Case,
    grad: &DynView<'_>,
) -> Result<Tensor<A>, Problem> {
    let mut made = load::<A>(grad, &case.updates)?;
    let mut shares = load::<A>(grad, &case.updates)?;
    passes.change(&mut shares, [], |grad, result, []| grad * result);
    let sums = passes.fold(&shares.view().into_dyn(), Reduce::Sum)?;
    passes.change(&mut made, [&sums], |grad, result, [sum]| {
        result * (grad - sum)
    });
    Ok(made)
}

fn log_softmax_vjp<A: Field + Real>(
    passes: &Passes<'_, A>,
    case: &Case,
    grad: &DynView<'_>,
    eps: A,
) -> Result<Tensor<A>, Problem> {
    let Exponentials { most, each: shares } = passes.exponentials()?;
    let whole = passes.fold(&shares.view().into_dyn(), Reduce::Sum)?;
    drop(shares);
    let mut made = load::<A>(grad, &case.updates)?;
    let mut sums = passes.fold(&made.view().into_dyn(), Reduce::Sum)?;
    passes.beside(&mut sums, [&whole], |sum, [whole]| sum / (whole + eps));
    passes.change(&mut made, [&most, &sums], |grad, x, [most, sum]| {
        grad - (x - most).exp() * sum
    });
    if counts(eps) {
        passes.beside(&mut sums, [], |sum, []| <A as Real>::ZERO - sum * eps);
        add_at_winners(passes, case, &mut made, sums, false)?;
    }
    Ok(made)
}

fn log_softmax_jvp<A: Field + Real>(
    passes: &Passes<'_, A>,
    case: &Case,
    tangent: &DynView<'_>,
    eps: A,
) -> Result<Tensor<A>, Problem> {
    let mut shares = passes.exponentials()?.each;
    let whole = passes.fold(&shares.view().into_dyn(), Reduce::Sum)?;
    let mut made = load::<A>(tangent, &case.updates)?;
    passes.beside(&mut shares, [&made], |share, [t]| share * t);
    let mut sums = passes.fold(&shares.view().into_dyn(), Reduce::Sum)?;
    if counts(eps) {
        let winners = at_winners(passes, case, &made, false)?;
        passes.beside(&mut sums, [&winners], |sum, [t]| sum + eps * t);
    }
    passes.beside(&mut sums, [&whole], |sum, [whole]| sum / (whole + eps));
    passes.change(&mut made, [&sums], |t, _, [sum]| t - sum);
    Ok(made)
}

/// Adds what cells have to the largest of their updates.
fn add_at_winners<A: Field + Real>(
    passes: &Passes<'_, A>,
    case: &Case,
    all: &mut Tensor<A>,
    cells: Tensor<A>,
    low: bool,
) -> Result<(), Problem> {
    let at = passes.winners(low)?;
    let cells = cells.into_dyn();
    let placed = to_positions(&cells.view(), &at.view(), case.axis, &case.updates)?;
    let placed = placed.typed::<A>().map_err(|_| torn())?;
    passes.beside(all, [&placed], |value, [more]| value + more);
    Ok(())
}

/// What the largest update of each cell has; 0 where there is none.
fn at_winners<A: Field + Real>(
    passes: &Passes<'_, A>,
    case: &Case,
    updates: &Tensor<A>,
    low: bool,
) -> Result<Tensor<A>, Problem> {
    let at = passes.winners(low)?;
    let mut made = DynTensor::zeros(A::DTYPE, &case.seen_cells())?;
    let updates = updates.view().into_dyn();
    from_positions(&updates, &at.view(), case.axis, &mut made)?;
    made.typed::<A>().map_err(|_| torn())
}

fn torn() -> Problem {
    Problem::Layout {
        argument: "tensor".into(),
        why: "it is of another type than what it was made of".into(),
    }
}

fn class(problem: &Problem) -> Class {
    match problem {
        Problem::Axis { .. } => Class::Index,
        Problem::DType {
            argument: "src", ..
        } => Class::Value,
        _ => Class::Runtime,
    }
}

/// A call whose arguments fit.
struct Case {
    name: &'static str,
    dtype: DType,
    plan: Plan,
    axis: usize,
    /// The shape in which the plan sees the updates.
    updates: Dims,
    /// The shapes of the operator's source and of its cells.
    src: Dims,
    cells: Dims,
}

impl Case {
    /// Checks the arguments as the operator does.
    fn new(
        name: &'static str,
        src: &DynView<'_>,
        index: &DynView<'_>,
        dim: i64,
        dim_size: Option<i64>,
    ) -> Result<Self> {
        let values = [
            ("src", Value::Tensor(src.clone())),
            ("index", Value::Tensor(index.clone())),
            ("dim", Value::Int(dim)),
        ];
        let size = dim_size.map(|size| ("dim_size", Value::Int(size)));
        let call = lowered(
            name,
            "torch_scatter.scatter_sum",
            values.into_iter().chain(size),
        )?;
        let work = || {
            let (found, floats) = (src.dtype(), src.dtype().is_float());
            expect_dtype("src", found, floats, "it must be a floating-point type")?;
            let places = call.scatter()?.destinations();
            let (plan, axis, updates) = plan_of(places)?;
            Ok(Self {
                name,
                dtype: src.dtype(),
                plan,
                axis,
                updates,
                src: Dims::from_slice(src.shape()),
                cells: Dims::from_slice(places.shape()),
            })
        };
        work().map_err(|problem| context(name, class).error(problem))
    }

    /// As [`new`](Self::new), with as many groups as `of` has cells along `dim`.
    fn of_cells(
        name: &'static str,
        of: &DynView<'_>,
        src: &DynView<'_>,
        index: &DynView<'_>,
        dim: i64,
    ) -> Result<Self> {
        Self::new(name, src, index, dim, size_along(dim, of, src))
    }

    fn run(&self, work: impl FnOnce(&Self) -> Result<DynTensor, Problem>) -> Result<DynTensor> {
        let _floats = DefaultFloats::enter();
        work(self).map_err(|problem| context(self.name, class).error(problem))
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
        shaped(made, if updates { &self.src } else { &self.cells })
    }

    /// The shape in which the plan sees the cells.
    fn seen_cells(&self) -> Dims {
        let mut cells = self.updates.clone();
        cells[self.axis] = self.plan.size();
        cells
    }

    fn expect_cells(&self, argument: &'static str, found: &DynView<'_>) -> Result<(), Problem> {
        expect_like(argument, found, "the result's", self.dtype, &self.cells)
    }

    fn expect_updates(&self, argument: &'static str, found: &DynView<'_>) -> Result<(), Problem> {
        expect_like(argument, found, "src's", self.dtype, &self.src)
    }
}
