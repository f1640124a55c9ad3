//! What to do: [`Scatter`], the one description that every dialect lowers to.

pub mod bounds;
pub mod destinations;
pub mod gather;
pub mod pairing;
pub mod reduction;
pub mod split;
pub mod strategy;
pub mod widen;

use crate::describe::split::Split;
use crate::describe::strategy::Strategy;
use strew_kernel::bucket::cached::CachedBucketLists;
use strew_kernel::error::Problem;
use strew_kernel::exact::table::rounds;
use strew_kernel::ops::identity::identity;
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{
    DType, Dims, DynTensor, DynView, DynViewMut, Held, overlap_each_other, overlaps_itself,
};
use strew_kernel::update::converted::converts;

pub use crate::describe::destinations::row_ids::RowNumbers;
pub use crate::describe::destinations::take::{PickedAxes, Pointer};
pub use crate::describe::destinations::{Component, Destinations, Place, Shapes, TupleEntry};
pub use crate::describe::gather::Gather;
pub use crate::describe::reduction::{Finish, Init, Reduction};
pub use crate::describe::widen::widened;
/// What a new destination holds before the first update.
#[derive(Clone, Debug)]
pub enum Start<'a> {
    /// Zeros.
    Zero,
    /// The reduction's identity.
    Identity,
    /// The finite value that every other finite value beats in a strict minimum or maximum.
    FiniteExtreme,
    /// An element everywhere: its bytes come first.
    Filled([u8; 16]),
    /// A copy of another tensor.
    CopyOf(DynView<'a>),
}

/// Where the updates go.
#[derive(Debug)]
pub enum Target<'a> {
    /// Memory of the caller's: written only after everything has been checked.
    InPlace {
        /// The argument's name.
        argument: &'static str,
        /// The memory.
        view: DynViewMut<'a>,
    },
    /// A new tensor: dropped if anything is wrong.
    New {
        /// Its element type.
        dtype: DType,
        /// What it holds at first.
        start: Start<'a>,
    },
}

impl<'a> Target<'a> {
    /// What a new tensor holds before the first update.
    pub(crate) fn start(&self) -> Option<&Start<'a>> {
        match self {
            Self::InPlace { .. } => None,
            Self::New { start, .. } => Some(start),
        }
    }
}

/// A scatter: which cells each update goes to, how it joins what is there, from where to where.
///
/// It is defined as the sequential loop over the updates in row-major order; whatever strategy
/// runs it, the result has that loop's bits.
#[derive(Debug)]
pub struct Scatter<'a> {
    pub(crate) destinations: Destinations<'a>,
    pub(crate) reduction: Reduction,
    pub(crate) updates: &'static str,
    pub(crate) source: Held<'a>,
    pub(crate) target: Target<'a>,
    pub(crate) arg: Option<i64>,
    pub(crate) shape: Option<Dims>,
    pub(crate) proven: bool,
    pub(crate) lists: Option<&'a CachedBucketLists>,
    pub(crate) keeps_lists: bool,
    pub(crate) strategy: Option<Strategy>,
    pub(crate) split: Option<(Split, usize)>,
    pub(crate) exact: bool,
}

/// What a scatter made.
#[derive(Debug, Default)]
pub struct Output {
    /// The new tensor, unless the scatter was in place.
    pub tensor: Option<DynTensor>,
    /// The positions of winners, if they were asked for: `int64`, of the destination's shape.
    pub arg: Option<DynTensor>,
}

impl<'a> Scatter<'a> {
    /// `source` must have the destinations' iteration shape; `updates` is that argument's name.
    ///
    /// # Errors
    /// [`Problem::Shape`] if it has not, or if an in-place target is not what the destinations
    /// were made for; [`Problem::DType`] if its elements cannot become the target's;
    /// [`Problem::Unsupported`] if the reduction is not defined for them.
    #[inline(always)] // A scatter is large, and made in few places: it is made where it stays.
    pub fn new(
        destinations: Destinations<'a>,
        reduction: Reduction,
        updates: &'static str,
        source: impl Into<Held<'a>>,
        target: Target<'a>,
    ) -> Result<Self, Problem> {
        let source = source.into();
        let to = matched(&destinations, updates, source.view(), &target)?;
        if let Some(what) = undefined(&reduction, to) {
            return Err(Problem::Unsupported {
                what: what.into(),
                dtype: to,
            });
        }
        let mut reduction = reduction;
        if to == DType::Bool && reduction.finish != Finish::ZeroIfStart {
            // A strict bool loop knows start values beyond false and true. Here the cells hold
            // the caller's bytes; no bool is NaN, so the other loop does the same with those.
            reduction.combine = match reduction.combine {
                Combine::Min(_) => Combine::Min(Nan::Propagate),
                Combine::Max(_) => Combine::Max(Nan::Propagate),
                other => other,
            };
        }
        Ok(Self {
            destinations,
            reduction,
            updates,
            source,
            target,
            arg: None,
            shape: None,
            proven: false,
            lists: None,
            keeps_lists: false,
            strategy: None,
            split: None,
            exact: false,
        })
    }

    /// Also give the position along the scattered axis of each minimum's or maximum's winner;
    /// cells without one get `none`.
    #[must_use]
    #[inline(always)]
    pub fn with_arg(mut self, none: i64) -> Self {
        self.arg = Some(none);
        self
    }

    /// Make each sum of floats the float that is nearest to the exact sum of the cell's values, and
    /// each mean the one nearest to that sum divided by the count. Their bits do not depend on the
    /// order of the updates. A sum of zero is +0. Sums of integers are exact anyway.
    ///
    /// # Errors
    /// [`Problem::Value`] for another reduction than sum and mean; [`Problem::DType`] for updates
    /// of another type than the destination.
    pub fn exactly(mut self, exact: bool) -> Result<Self, Problem> {
        let to = self.dtype();
        if !exact || (self.reduction.combine == Combine::Sum && !rounds(to)) {
            return Ok(self);
        }
        let sums = self.reduction.combine == Combine::Sum && self.destinations.pairing().is_none();
        if !sums || !matches!(self.reduction.finish, Finish::None | Finish::Mean { .. }) {
            return Err(Problem::Value {
                argument: "exact".into(),
                value: "True".into(),
                expected: "only sums and means can be exact".into(),
            });
        }
        let found = self.source.view().dtype();
        if found != to {
            return Err(Problem::DType {
                argument: self.updates,
                found,
                expected: format!("for exact sums it must be {to}"),
            });
        }
        self.exact = true;
        Ok(self)
    }

    /// Give the output another shape with as many elements.
    #[must_use]
    pub fn shaped(mut self, shape: &[usize]) -> Self {
        self.shape = Some(Dims::from_slice(shape));
        self
    }

    /// Explain it as a run that has lists.
    #[must_use]
    pub(crate) fn keeping_lists(mut self) -> Self {
        self.keeps_lists = true;
        self
    }

    /// Use a strategy whether or not it pays; an error if it cannot run this.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Option<Strategy>) -> Self {
        self.strategy = strategy;
        self
    }

    /// Share the run out in this way, among this number of threads, even if it does not pay; an
    /// error if that cannot be.
    #[must_use]
    pub fn with_split(mut self, split: Option<(Split, usize)>) -> Self {
        self.split = split;
        self
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'a> Scatter<'a> {
    /// Skips the check of the whole index before the first visible write. For an index that has
    /// been checked and that no one else can change. A wrong value in it is still an error.
    #[must_use]
    pub fn proven(mut self) -> Self {
        self.proven = true;
        self
    }

    /// Where in which block of the destination the updates go, for a run that lists them by block:
    /// lists of the same index.
    #[must_use]
    pub fn listed(mut self, lists: Option<&'a CachedBucketLists>) -> Self {
        self.lists = lists;
        self.keeps_lists = lists.is_some();
        self
    }

    /// Which cells the updates go to.
    pub fn destinations(&self) -> &Destinations<'a> {
        &self.destinations
    }

    /// The updates, in the shape that the destinations have for them.
    ///
    /// # Errors
    /// If that is an element of its own.
    pub fn source(&self) -> Result<DynView<'a>, Problem> {
        self.source.borrowed().ok_or_else(|| Problem::Kind {
            argument: "src".into(),
            expected: "a tensor".into(),
            found: "a number".into(),
        })
    }

    /// The updates, in the shape that the destinations have for them, for as long as this is there.
    pub fn updates(&self) -> &DynView<'_> {
        self.source.view()
    }

    /// The name of the updates' argument.
    pub fn updates_argument(&self) -> &'static str {
        self.updates
    }

    /// What happens to the updates of a cell.
    pub fn reduction(&self) -> Reduction {
        self.reduction
    }

    /// What the updates go to.
    pub fn target(&self) -> &Target<'a> {
        &self.target
    }

    /// The shape of the result.
    pub fn result_shape(&self) -> &[usize] {
        self.shape.as_deref().unwrap_or(self.destinations.shape())
    }

    /// Runs the same updates into a new tensor that starts otherwise. With `none`, the positions of
    /// winners are made, too, and it stands for no winner.
    ///
    /// # Errors
    /// As a run's.
    pub fn repeated(&self, start: Start<'_>, none: Option<i64>) -> Result<Output, Problem> {
        let target = Target::New {
            dtype: self.dtype(),
            start,
        };
        let (places, source) = (self.destinations.by_ref(), self.source.view().clone());
        let again = Scatter::new(places, self.reduction, self.updates, source, target)?;
        match none {
            Some(none) => again.with_arg(none).run(),
            None => again.run(),
        }
    }

    /// The element type of the destination.
    pub fn dtype(&self) -> DType {
        match &self.target {
            Target::InPlace { view, .. } => view.dtype(),
            Target::New { dtype, .. } => *dtype,
        }
    }

    /// Elements of the destination, which need not exist yet: there may be more than can.
    pub fn cells(&self) -> usize {
        let shape = self.destinations.shape().iter();
        shape.fold(1, |cells, &len| cells.saturating_mul(len))
    }

    /// In place, neither the destination's own cells nor an input may share memory.
    pub fn check_overlap(
        &self,
        argument: &'static str,
        view: &mut DynViewMut<'_>,
    ) -> Result<(), Problem> {
        let inputs = self.destinations.inputs();
        apart(
            argument,
            view,
            inputs.chain([(self.updates, self.source.view())]),
        )
    }
}

/// The element type of the target, if the source has the shape of the updates, and the target that
/// of the destination, and the source's elements can become the target's.
#[inline(always)] // Part of `Scatter::new`.
fn matched(
    destinations: &Destinations<'_>,
    updates: &'static str,
    source: &DynView<'_>,
    target: &Target<'_>,
) -> Result<DType, Problem> {
    let shape = |argument, found: &[usize], wanted: &[usize]| {
        (found != wanted).then(|| Problem::Shape {
            argument,
            found: found.to_vec(),
            expected: format!("it must be {wanted:?}"),
        })
    };
    let mut wrong = shape(updates, source.shape(), destinations.updates_shape());
    let whole = destinations.shape();
    let to = match target {
        Target::InPlace { argument, view } => {
            wrong = wrong.or_else(|| shape(argument, view.shape(), whole));
            view.dtype()
        }
        Target::New { dtype, start } => {
            if let Start::CopyOf(view) = start {
                wrong = wrong.or_else(|| shape("destination", view.shape(), whole));
                if view.dtype() != *dtype {
                    return Err(Problem::DType {
                        argument: "destination",
                        found: view.dtype(),
                        expected: format!("it must be {dtype}"),
                    });
                }
            }
            *dtype
        }
    };
    if let Some(problem) = wrong {
        return Err(problem);
    }
    if !converts(source.dtype(), to) {
        return Err(Problem::DType {
            argument: updates,
            found: source.dtype(),
            expected: format!("it must be {to} or convert to it without loss"),
        });
    }
    Ok(to)
}

/// What a reduction asks for that is not defined for such elements, if anything.
fn undefined(reduction: &Reduction, dtype: DType) -> Option<&'static str> {
    match (reduction.combine, reduction.finish) {
        (_, Finish::Mean { .. } | Finish::MeanTowardZero { .. }) if dtype == DType::Bool => {
            Some("mean")
        }
        (_, Finish::DivideByRoot) if !dtype.is_float() && !dtype.is_complex() => {
            Some("division by the square root of the count")
        }
        (Combine::Div, _) if dtype == DType::Bool => Some("the quotient"),
        (Combine::Min(_), _) if dtype.is_complex() => Some("the minimum"),
        (Combine::Max(_), _) if dtype.is_complex() => Some("the maximum"),
        _ => None,
    }
}

/// Refuses memory to write to that has elements in one place, or that shares some with an input.
pub(crate) fn apart<'v>(
    argument: &'static str,
    view: &mut DynViewMut<'_>,
    inputs: impl Iterator<Item = (&'static str, &'v DynView<'v>)>,
) -> Result<(), Problem> {
    if overlaps_itself(view.layout()) {
        return Err(Problem::Overlap {
            argument,
            with: "has elements that share memory (an expanded tensor?)".into(),
        });
    }
    let at = view.as_mut_ptr().addr();
    for (name, other) in inputs {
        if overlap_each_other(at, view.layout(), other.as_ptr().addr(), other.layout()) {
            return Err(Problem::Overlap {
                argument,
                with: format!("shares memory with {name}"),
            });
        }
    }
    Ok(())
}

/// A new tensor of the reduction's identities.
pub(crate) fn identities(
    dtype: DType,
    shape: &[usize],
    reduction: &Reduction,
) -> Result<DynTensor, Problem> {
    match identity_element(dtype, reduction.combine) {
        Some(bits) => DynTensor::filled(dtype, shape, &bits[..dtype.size()]),
        None => DynTensor::zeros(dtype, shape),
    }
}

/// A reduction's identity as an element; `None` if it has none.
pub fn identity_element(dtype: DType, combine: Combine) -> Option<[u8; 16]> {
    // Those of sum and product are accumulators otherwise; 0 is the same in both.
    one_as_element(dtype, combine).or(identity(dtype, combine))
}

/// The identity of a product as an element, where that differs from the accumulator.
fn one_as_element(dtype: DType, combine: Combine) -> Option<[u8; 16]> {
    if combine != Combine::Prod {
        return None;
    }
    let one = match dtype {
        DType::F16 => half::f16::ONE.to_bits(),
        DType::BF16 => half::bf16::ONE.to_bits(),
        _ => return None,
    };
    let mut bits = [0; 16];
    bits[..2].copy_from_slice(&one.to_ne_bytes());
    Some(bits)
}
