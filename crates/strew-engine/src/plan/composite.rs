//! What is made of the values of each group by more than one reduction: a deviation, a softmax.
//!
//! All of it is reductions into the rows of a plan, and passes over elements side by side between
//! them. It is computed in the accumulator's type, integers in `float64`.

use crate::describe::widen::widened;
use crate::plan::Plan;
use crate::plan::reduce::Reduce;
use strew_kernel::copy::strided::duplicate;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::elementwise::pointwise::Pointwise;
use strew_kernel::error::{Error, Problem};
use strew_kernel::ops::math::Real;
use strew_kernel::runtime::threads::available;
use strew_kernel::tensor::{DType, Dims, DynTensor, DynView, Element, Held, Tensor};
use strew_kernel::update::finalize::finalize;

/// What is made of the values of each group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Composite {
    /// The square root of the mean square of the differences from the mean, which is 1e-6 more than
    /// one divides by otherwise; `unbiased`: of one value less.
    Std { unbiased: bool },
    /// The logarithm of the sum of the exponentials, and `eps`. NaN does not count; 0 for a group
    /// that sums up to nothing, and no infinity.
    LogSumExp { eps: f64 },
    /// Of each value: its exponential's share in those of its group.
    Softmax,
    /// Of each value: the logarithm of that, with `eps` more in the group's sum.
    LogSoftmax { eps: f64 },
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Composite {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Std { .. } => "the standard deviation",
            Self::LogSumExp { .. } => "log-sum-exp",
            Self::Softmax => "softmax",
            Self::LogSoftmax { .. } => "log-softmax",
        }
    }

    /// There is one value for each cell, not for each update.
    pub fn reduces(self) -> bool {
        matches!(self, Self::Std { .. } | Self::LogSumExp { .. })
    }

    /// The type of what is made of elements of a type.
    pub fn dtype(self, of: DType) -> DType {
        match of.is_integer() {
            true => DType::F32,
            false => of,
        }
    }
}

/// Updates as a plan sees them: it is along an axis of theirs.
pub struct Along<'r> {
    pub plan: &'r Plan,
    pub axis: usize,
    /// The shape of the updates.
    pub updates: &'r [usize],
}

impl Along<'_> {
    fn run<A: Real>(
        &self,
        what: Composite,
        wide: &DynView<'_>,
        out: Option<&DynView<'_>>,
        to: DType,
    ) -> Result<Tensor<A>, Problem> {
        let _floats = DefaultFloats::enter();
        let passes = self.passes::<A>(wide)?;
        let own = |out: &DynView<'_>| {
            let out = widened(&out.at_least_1d(), A::DTYPE)?.reshape(&passes.cells);
            let out = out.map_err(|_| torn())?;
            out.typed::<A>().map_err(|_| torn())
        };
        match what {
            Composite::Std { unbiased } => passes.std(unbiased, out.map(own).transpose()?),
            Composite::LogSumExp { eps } => {
                passes.log_sum_exp(A::of(eps), out.map(own).transpose()?, highest(to))
            }
            Composite::Softmax => passes.softmax(),
            Composite::LogSoftmax { eps } => passes.log_softmax(A::of(eps)),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Along<'_> {
    /// Passes over `wide`, which has as many elements as there are updates, one after the other.
    ///
    /// # Errors
    /// [`Problem::Layout`] if it has not, or of another type.
    pub fn passes<'p, A: Real>(&'p self, wide: &DynView<'p>) -> Result<Passes<'p, A>, Problem> {
        let mut cells = Dims::from_slice(self.updates);
        cells[self.axis] = self.plan.size();
        let view = wide.reshape(self.updates).ok_or_else(torn)?;
        let typed = view.typed::<A>().ok_or_else(torn)?;
        Ok(Passes {
            src: typed.as_slice().ok_or_else(torn)?,
            view,
            plan: self.plan,
            axis: self.axis,
            pointwise: Pointwise {
                numbers: &self.plan.index.numbers,
                rows: self.plan.size(),
                width: self.updates[self.axis + 1..].iter().product(),
                threads: self.plan.threads.unwrap_or_else(available),
            },
            cells,
        })
    }

    /// Makes it of `src`, which has as many elements as there are updates: in the accumulator of
    /// the result's type, of the shape of the updates or of the cells.
    ///
    /// `out` is what the cells hold: as many values of the result's type, which take part in a
    /// reduction. For [`Composite::Std`] they are sums of squares of differences.
    ///
    /// # Errors
    /// [`Problem::Unsupported`] for a type that it is not defined for, [`Problem::Memory`],
    /// [`Problem::Interrupted`].
    pub fn make(
        &self,
        what: Composite,
        src: &DynView<'_>,
        out: Option<&DynView<'_>>,
    ) -> Result<DynTensor, Problem> {
        let to = what.dtype(src.dtype());
        let wide = accumulators(src)?;
        let made = match wide.view().dtype() {
            DType::F32 => self.run::<f32>(what, wide.view(), out, to)?.into_dyn(),
            DType::F64 => self.run::<f64>(what, wide.view(), out, to)?.into_dyn(),
            dtype => return Err(unsupported(what, dtype)),
        };
        match to.accumulator() == made.dtype() {
            true => Ok(made),
            false => single(made),
        }
    }
}

/// The largest updates of each cell, and the exponentials of the updates without them.
#[doc(hidden)] // Internal: for the crates of strew alone.
#[derive(Debug)]
pub struct Exponentials<A: Element> {
    /// For each cell the largest of its updates.
    pub most: Tensor<A>,
    /// For each update the exponential of it minus the largest of its cell.
    pub each: Tensor<A>,
}

/// Passes over updates and the cells that they go to, in the type that they are computed in.
pub struct Passes<'p, A> {
    plan: &'p Plan,
    axis: usize,
    /// The updates, as a view and as the list of their elements.
    view: DynView<'p>,
    src: &'p [A],
    /// The shape of the cells.
    cells: Dims,
    pointwise: Pointwise<'p>,
}

impl<A: Real> Passes<'_, A> {
    fn std(&self, unbiased: bool, out: Option<Tensor<A>>) -> Result<Tensor<A>, Problem> {
        let counts = self.counts()?;
        let counts = counts.as_slice();
        let means = self.means(counts)?;
        let squares = self.each([&means], |_, x, [mean]| (x - mean) * (x - mean))?;
        let mut made = self.join(&squares, out)?;
        self.per_count(&mut made, counts, |sum, count| {
            (sum / divisor(count, unbiased)).sqrt()
        });
        Ok(made)
    }

    fn log_sum_exp(
        &self,
        eps: A,
        out: Option<Tensor<A>>,
        highest: f64,
    ) -> Result<Tensor<A>, Problem> {
        let Exponentials { most, each } = self.shares()?;
        let own = match &out {
            None => None,
            Some(out) => {
                let mut own = Tensor::zeros(&self.cells)?;
                self.beside(&mut own, [out, &most], |_, [out, most]| (out - most).exp());
                Some(own)
            }
        };
        let mut made = self.join(&each, own)?;
        let whole = |sum: A, most: A| (sum + eps).ln() + most;
        match out {
            None => {
                self.beside(&mut made, [&most], |sum, [most]| match whole(sum, most) {
                    value if value.is_finite() => value,
                    value if value == A::INFINITY => A::of(highest),
                    _ => A::ZERO,
                });
            }
            Some(out) => {
                self.beside(&mut made, [&most, &out], |sum, [most, out]| {
                    match whole(sum, most) {
                        value if value.is_finite() => value,
                        _ => out,
                    }
                });
            }
        }
        Ok(made)
    }

    fn softmax(&self) -> Result<Tensor<A>, Problem> {
        let mut made = self.exponentials()?.each;
        let sums = self.fold(&made.view().into_dyn(), Reduce::Sum)?;
        self.change(&mut made, [&sums], |exp, _, [sum]| exp / sum);
        Ok(made)
    }

    fn log_softmax(&self, eps: A) -> Result<Tensor<A>, Problem> {
        let Exponentials {
            most,
            each: mut made,
        } = self.exponentials()?;
        let mut logs = self.fold(&made.view().into_dyn(), Reduce::Sum)?;
        self.beside(&mut logs, [], |sum, []| (sum + eps).ln());
        self.change(&mut made, [&most, &logs], |_, x, [most, log]| {
            x - most - log
        });
        Ok(made)
    }

    /// The updates reduced into cells, with what they hold.
    fn fold_into(
        &self,
        updates: &DynView<'_>,
        reduce: Reduce,
        cells: &mut Tensor<A>,
    ) -> Result<(), Problem> {
        let cells = cells.view_mut().into_dyn();
        let plan = self.plan;
        plan.scatter_into_dyn(
            updates,
            self.axis as i64,
            reduce,
            cells,
            crate::plan::PlanIntoOptions::default(),
        )
        .map_err(own)
    }

    /// The sums of what the cells hold, if anything, and the updates.
    fn join(&self, updates: &Tensor<A>, cells: Option<Tensor<A>>) -> Result<Tensor<A>, Problem> {
        let updates = updates.view().into_dyn();
        match cells {
            None => self.fold(&updates, Reduce::Sum),
            Some(mut cells) => {
                self.fold_into(&updates, Reduce::Sum, &mut cells)?;
                Ok(cells)
            }
        }
    }

    /// Cells that every update beats.
    fn lowest(&self) -> Result<Tensor<A>, Problem> {
        let made = self
            .plan
            .beaten_by_all(&self.view, self.axis, Reduce::Max)?;
        made.typed().map_err(|_| torn())
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<A: Real> Passes<'_, A> {
    /// The largest updates, from -inf, and each update's exponential without them; 0 for NaN.
    pub fn shares(&self) -> Result<Exponentials<A>, Problem> {
        let mut most = self.lowest()?;
        self.fold_into(&self.view, Reduce::Max, &mut most)?;
        let each = self.each([&most], |_, x, [most]| {
            let share = (x - most).exp();
            if share.is_nan() { A::ZERO } else { share }
        })?;
        Ok(Exponentials { most, each })
    }

    /// The largest updates, as a new tensor has them, and each update's exponential without them.
    pub fn exponentials(&self) -> Result<Exponentials<A>, Problem> {
        let most = self.fold(&self.view, Reduce::Max)?;
        let each = self.each([&most], |_, x, [most]| (x - most).exp())?;
        Ok(Exponentials { most, each })
    }

    /// How many updates each row of cells takes.
    pub fn counts(&self) -> Result<Tensor<i64>, Problem> {
        self.plan.counts().map_err(own)
    }

    /// The means of the updates.
    pub fn means(&self, counts: &[i64]) -> Result<Tensor<A>, Problem> {
        let mut means = self.fold(&self.view, Reduce::Sum)?;
        self.per_count(&mut means, counts, |sum, count| {
            sum / A::of_count(count.max(1))
        });
        Ok(means)
    }

    /// Changes cells by the number of their updates.
    pub fn per_count(
        &self,
        cells: &mut Tensor<A>,
        counts: &[i64],
        each: impl Fn(A, i64) -> A + Sync,
    ) {
        self.pointwise.counted(cells.as_mut_slice(), counts, each);
    }

    /// Changes elements by their neighbours in other tensors of as many.
    pub fn beside<const N: usize>(
        &self,
        all: &mut Tensor<A>,
        others: [&Tensor<A>; N],
        each: impl Fn(A, [A; N]) -> A + Sync,
    ) {
        let others = others.map(Tensor::as_slice);
        self.pointwise.cells(all.as_mut_slice(), others, each);
    }

    /// Changes what there is for each update by the update itself and by what its cell holds.
    pub fn change<const N: usize>(
        &self,
        all: &mut Tensor<A>,
        cells: [&Tensor<A>; N],
        each: impl Fn(A, A, [A; N]) -> A + Sync,
    ) {
        let cells = cells.map(Tensor::as_slice);
        self.pointwise
            .updates(all.as_mut_slice(), self.src, cells, each);
    }

    /// For each cell the position of the largest update along the plan's axis, the number of
    /// updates there if there is none: from -inf (`low`), or as a new tensor has it.
    pub fn winners(&self, low: bool) -> Result<DynTensor, Problem> {
        let start = if low { Some(self.lowest()?) } else { None };
        let start = start.as_ref().map(|start| start.view().into_dyn());
        let (plan, axis) = (self.plan, self.axis);
        plan.winners(&self.view, axis, Reduce::Max, start.as_ref())
    }

    /// A value for each update, made of it and of what its cell holds.
    pub fn each<const N: usize>(
        &self,
        cells: [&Tensor<A>; N],
        each: impl Fn(A, A, [A; N]) -> A + Sync,
    ) -> Result<Tensor<A>, Problem> {
        let made = DynTensor::scratch(A::DTYPE, self.view.shape())?;
        let mut made = made.typed::<A>().map_err(|_| torn())?;
        self.change(&mut made, cells, each);
        Ok(made)
    }

    /// Updates reduced into new cells.
    pub fn fold(&self, updates: &DynView<'_>, reduce: Reduce) -> Result<Tensor<A>, Problem> {
        let made = self.plan.scatter_dyn(updates, self.axis as i64, reduce);
        made.map_err(own)?.typed::<A>().map_err(|_| torn())
    }
}

/// What the sum of the squares of so many differences is divided by.
pub fn divisor<A: Real>(count: i64, unbiased: bool) -> A {
    let count = (count.max(1) - i64::from(unbiased)).max(1);
    A::of_count(count) + A::of(1e-6)
}

/// Accumulators as elements, each rounded once.
pub fn rounded(made: DynTensor, to: DType) -> Result<DynTensor, Problem> {
    if made.dtype() == to {
        return Ok(made);
    }
    let mut rounded = DynTensor::scratch(to, made.shape())?;
    finalize(&made, &mut rounded.view_mut())?;
    Ok(rounded)
}

/// The elements, row by row, in the type that they are computed in.
pub fn accumulators<'a>(view: &DynView<'a>) -> Result<Held<'a>, Problem> {
    let dtype = view.dtype();
    Ok(match dtype {
        _ if dtype.is_integer() => doubles(view)?.into(),
        _ if dtype != dtype.accumulator() => widened(view, dtype.accumulator())?.into(),
        _ if view.layout().is_contiguous() => view.clone().into(),
        _ => duplicate(view)?.into(),
    })
}

/// Integers as `float64`, each the nearest one.
fn doubles(view: &DynView<'_>) -> Result<DynTensor, Problem> {
    #[allow(clippy::cast_precision_loss)]
    fn wide(from: i128) -> f64 {
        from as f64
    }
    fn each<T: Element + Into<i128>>(view: &DynView<'_>) -> Result<DynTensor, Problem> {
        let from = duplicate(view)?.typed::<T>().map_err(|_| torn())?;
        let mut made = Tensor::<f64>::zeros(view.shape())?;
        let pairs = made.as_mut_slice().iter_mut().zip(from.as_slice());
        pairs.for_each(|(to, &from)| *to = wide(from.into()));
        Ok(made.into_dyn())
    }
    match view.dtype() {
        DType::I8 => each::<i8>(view),
        DType::I16 => each::<i16>(view),
        DType::I32 => each::<i32>(view),
        DType::I64 => each::<i64>(view),
        DType::U8 => each::<u8>(view),
        DType::U16 => each::<u16>(view),
        DType::U32 => each::<u32>(view),
        _ => each::<u64>(view),
    }
}

/// `float64` rounded to `float32`.
fn single(from: DynTensor) -> Result<DynTensor, Problem> {
    let from = from.typed::<f64>().map_err(|_| torn())?;
    let mut made = Tensor::<f32>::zeros(from.shape())?;
    let pairs = made.as_mut_slice().iter_mut().zip(from.as_slice());
    #[allow(clippy::cast_possible_truncation)]
    pairs.for_each(|(to, &from)| *to = from as f32);
    Ok(made.into_dyn())
}

/// The highest finite value of a float.
fn highest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => half::f16::MAX.into(),
        DType::BF16 => half::bf16::MAX.into(),
        DType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    }
}

fn unsupported(what: Composite, dtype: DType) -> Problem {
    Problem::Unsupported {
        what: what.name().into(),
        dtype,
    }
}

/// The problem of a plan that stands for a call of somebody else's.
fn own(error: Error) -> Problem {
    error.problem().clone()
}

fn torn() -> Problem {
    Problem::Layout {
        argument: "tensor".into(),
        why: "it is of another type or shape than what it was made of".into(),
    }
}
