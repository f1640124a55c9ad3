//! strew's own face: an index that has been looked at once, for many runs.

pub mod aggregate;
mod aggregate_options;
pub mod aggregates;
mod as_scatter;
pub mod builder;
pub mod bytes;
pub mod cells;
pub mod composite;
pub(crate) mod division;
pub mod explain;
pub mod fold;
pub mod members;
mod names;
pub mod positions;
pub mod reduce;
pub mod run;
pub mod statistics;
pub(crate) mod values;
pub mod way;

use crate::checks::{expect_dtype, expect_shape};
use crate::context::Context;
use crate::describe::bounds::Bounds;
use crate::plan::way::Way;
use crate::threads::meter::Meter;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use strew_kernel::bucket::cached::CachedBucketLists;
use strew_kernel::error::{Class, Problem, Result};
use strew_kernel::groups::csr::Csr;
use strew_kernel::groups::histogram::Histogram;
use strew_kernel::groups::row_ids::{Facts, RowIds, RowIdsPart};
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor};

pub use crate::plan::aggregate::{Aggregate, AggregateOptions, aggregate_dyn};
pub use crate::plan::builder::PlanBuilder;
pub use crate::plan::composite::{Along, Composite, Passes, accumulators, divisor, rounded};
pub use crate::plan::fold::Fold;
pub use crate::plan::members::Members;
pub use crate::plan::reduce::Reduce;
pub use crate::plan::run::PlanIntoOptions;

/// Passes over an index that make a plan of it: its numbers, facts about them, and how many each
/// row takes. Progress is told in the first one, and after each of the others.
const PASSES: usize = 3;

/// An index that has been read, checked and looked at once, to run many times.
///
/// A plan owns a private copy of the row numbers, so a run can find no index out of bounds, and
/// knows facts about them that it has proven itself. Where it pays, it also keeps for each row of
/// the destination the list of its updates: then each row is reduced in the nearest cache and
/// written once, and several reductions share one trip over the source; or, for single values all
/// over a large destination, for each block of that. Every run has the bits of the sequential loop,
/// like the same call without a plan.
///
/// A clone shares everything with the original; a plan can be used from many threads at once.
///
/// ```
/// # mod strew { pub use strew_engine::{plan::*, plan::reduce::*, plan::aggregate::*, describe::bounds::*}; pub use strew_kernel::{error::Error, tensor::*}; }
/// use strew::{Bounds, Plan, Reduce};
///
/// // Edge k brings a message to node to[k].
/// let plan = Plan::new(&[2i64, 0, 2, 2], Some(4), Bounds::STRICT)?;
/// assert_eq!((plan.len(), plan.size(), plan.max_multiplicity()), (4, 4, 3));
/// assert!(!plan.is_sorted() && !plan.is_unique());
///
/// let messages = [1.0f32, 5.0, 2.0, 6.0];
/// assert_eq!(plan.scatter(&messages, 0, Reduce::Mean)?.as_slice(), [5.0, 0.0, 3.0, 0.0]);
/// let [sum, max] = &plan.reduce(&messages, 0, &[Reduce::Sum, Reduce::Max])?[..] else { panic!() };
/// assert_eq!(sum.as_slice(), [5.0, 0.0, 9.0, 0.0]);
/// assert_eq!(max.as_slice(), [5.0, 0.0, 6.0, 0.0]);
/// // And back: what each edge gets from its node.
/// assert_eq!(plan.gather(&[10, 11, 12, 13], 0)?.as_slice(), [12, 10, 12, 12]);
/// # Ok::<(), strew::Error>(())
/// ```
#[derive(Clone)]
pub struct Plan {
    index: Arc<Analysed>,
    way: Option<Way>,
    threads: Option<usize>,
}

/// What a plan and its clones share.
struct Analysed {
    name: Option<String>,
    numbers: Arc<RowIds>,
    size: usize,
    facts: Facts,
    multiplicity: Histogram,
    groups: OnceLock<Csr>,
    /// `None`: there are too many rows or updates for lists.
    lists: OnceLock<Option<CachedBucketLists>>,
    /// Held by the one that makes groups or lists.
    making: Mutex<()>,
}

impl Plan {
    /// A plan for an index: number `k` says to which row of the destination update `k` goes.
    ///
    /// * `index`: 1-d, of any integer type (an empty one of any type).
    /// * `size`: the rows of the destination; `None`: the largest number plus 1, or 0 without any.
    /// * `bounds`: what numbers mean that name no row. [`Bounds::STRICT`]: they are errors. A
    ///   number may also be left out: scatters then skip that update, and [`gather`](Self::gather)
    ///   gives zeros.
    ///
    /// # Errors
    /// [`Class::Index`] for a number that names no row, [`Class::Value`] for another rank,
    /// [`Class::Type`] for another type, [`Class::Memory`].
    pub fn new<I: Index>(
        index: impl AsTensor<I>,
        size: Option<usize>,
        bounds: Bounds,
    ) -> Result<Self> {
        Self::new_dyn(&index.as_tensor().of_rust(), size, bounds, None)
    }

    /// [`new`](Self::new) with an element type known at run time, and a name that errors and
    /// explanations show.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn new_dyn(
        index: &DynView<'_>,
        size: Option<usize>,
        bounds: Bounds,
        name: Option<&str>,
    ) -> Result<Self> {
        Self::analyse(index, size, bounds, name).map_err(|problem| context(name).error(problem))
    }

    fn analyse(
        index: &DynView<'_>,
        size: Option<usize>,
        bounds: Bounds,
        name: Option<&str>,
    ) -> Result<Self, Problem> {
        let size = rows_of(index, size, bounds)?;
        let (bounds, index) = bounds.of_index(index);
        let mut numbers = RowIds::unset("the list of row numbers of a plan", index.len(), size)?;
        let meter = Meter::new(PASSES.saturating_mul(index.len()));
        let position = match numbers.parts(index.len().max(1)).first_mut() {
            Some((_, part)) => resolve_all(&index, bounds, size, part, &meter),
            None => index.len(),
        };
        meter.check()?;
        if position < index.len() {
            return Err(Problem::IndexOutOfBounds {
                argument: "index",
                position: vec![position],
                value: bounds.value(&index, &[position]),
                axis: 0,
                size: Some(size),
            });
        }
        Self::known(Arc::new(numbers), size, name, &meter)
    }

    /// A plan of row numbers that have been read.
    fn known(
        numbers: Arc<RowIds>,
        size: usize,
        name: Option<&str>,
        meter: &Meter,
    ) -> Result<Self, Problem> {
        let facts = Facts::of(&numbers, size);
        meter.step(numbers.len());
        meter.check()?;
        let mut groups = OnceLock::new();
        let multiplicity = match Histogram::count(&numbers, size, facts)? {
            Some(counted) => counted,
            None => {
                // To count so many rows one by one takes as long as to group their updates.
                let made = Csr::new(&numbers, size, facts)?;
                let multiplicity = Histogram::of(&made);
                groups = OnceLock::from(made);
                multiplicity
            }
        };
        meter.step(numbers.len());
        meter.check()?;
        Ok(Self {
            index: Arc::new(Analysed {
                name: name.map(str::to_owned),
                numbers,
                size,
                facts,
                multiplicity,
                groups,
                lists: OnceLock::new(),
                making: Mutex::new(()),
            }),
            way: None,
            threads: None,
        })
    }

    /// Numbers in the index: the size of a source along the axis.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.numbers.len()
    }

    /// True if there is no number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows of the destination.
    #[must_use]
    pub fn size(&self) -> usize {
        self.index.size
    }

    /// The plan's name, for errors and explanations.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.index.name.as_deref()
    }

    /// No row number is smaller than the one before it; updates that are left out do not count.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        self.index.facts.sorted
    }

    /// No row takes more than one update.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.index.multiplicity.most <= 1
    }

    /// The smallest row number.
    #[must_use]
    pub fn min(&self) -> Option<usize> {
        self.index.facts.range.map(|(low, _)| low)
    }

    /// The largest row number.
    #[must_use]
    pub fn max(&self) -> Option<usize> {
        self.index.facts.range.map(|(_, high)| high)
    }

    /// The updates of the row that takes most.
    #[must_use]
    pub fn max_multiplicity(&self) -> usize {
        self.index.multiplicity.most
    }

    /// Rows that take at least one update.
    #[must_use]
    pub fn touched(&self) -> usize {
        self.index.multiplicity.touched
    }

    /// Updates that are left out.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.index.facts.dropped
    }

    /// Bytes of memory that the plan takes at this moment.
    #[must_use]
    pub fn memory(&self) -> usize {
        let index = &*self.index;
        let groups = index.groups.get().map_or(0, Csr::bytes);
        let lists = index.lists.get().and_then(Option::as_ref);
        index.numbers.bytes() + groups + lists.map_or(0, CachedBucketLists::bytes)
    }

    /// The same plan, whose runs go this way whatever the cost model says.
    #[must_use]
    pub fn with_way(mut self, way: Option<Way>) -> Self {
        self.way = way;
        self
    }

    /// The same plan, whose grouped runs and gathers are shared out among so many threads whatever
    /// the cost model says.
    #[must_use]
    pub fn with_threads(mut self, threads: Option<usize>) -> Self {
        self.threads = threads;
        self
    }

    fn context(&self) -> Context {
        context(self.name())
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Plan {
    /// A plan of row numbers; those that are not below `size` are left out.
    pub fn of_numbers(
        numbers: Arc<RowIds>,
        size: usize,
        name: Option<&str>,
    ) -> Result<Self, Problem> {
        let meter = Meter::new((PASSES - 1).saturating_mul(numbers.len()));
        Self::known(numbers, size, name, &meter)
    }

    /// For each update its row; those that are left out have one that is not below
    /// [`size`](Self::size).
    pub fn numbers(&self) -> &Arc<RowIds> {
        &self.index.numbers
    }

    /// The lists of updates by row, made when they are first wanted.
    pub fn groups(&self) -> Result<&Csr, Problem> {
        let index = &*self.index;
        if let Some(groups) = index.groups.get() {
            return Ok(groups);
        }
        let _one = index.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(groups) = index.groups.get() {
            return Ok(groups);
        }
        let made = Csr::new(&index.numbers, index.size, index.facts)?;
        Ok(index.groups.get_or_init(|| made))
    }

    /// The lists of updates by block of rows, made when they are first wanted.
    pub fn lists(&self) -> Result<Option<&CachedBucketLists>, Problem> {
        let index = &*self.index;
        if let Some(lists) = index.lists.get() {
            return Ok(lists.as_ref());
        }
        let _one = index.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lists) = index.lists.get() {
            return Ok(lists.as_ref());
        }
        let made = CachedBucketLists::new(&index.numbers, index.size)?;
        Ok(index.lists.get_or_init(|| made).as_ref())
    }
}

pub(crate) fn context(name: Option<&str>) -> Context {
    Context {
        operator: match name {
            None => "Plan".into(),
            Some(name) => format!("Plan {name:?}").into(),
        },
        class: |problem| match problem {
            Problem::Axis { .. } | Problem::IndexOutOfBounds { .. } => Class::Index,
            Problem::DType { .. } | Problem::Kind { .. } | Problem::Unsupported { .. } => {
                Class::Type
            }
            _ => Class::Value,
        },
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plan(")?;
        if let Some(name) = self.name() {
            write!(f, "{name:?}, ")?;
        }
        write!(f, "{} updates into {} rows", self.len(), self.size())?;
        if self.is_sorted() {
            f.write_str(", sorted")?;
        }
        if self.is_unique() {
            f.write_str(", unique")?;
        }
        f.write_str(")")
    }
}

/// A new tensor as the type that its arguments had. Typed arguments hold only valid elements, and
/// runs write only valid ones.
fn typed<T: Element>(made: DynTensor) -> Tensor<T> {
    made.typed()
        .expect("the output's type is that of the updates")
}

/// How many rows an index has, which must have one dimension and integers.
pub(crate) fn rows_of(
    index: &DynView<'_>,
    size: Option<usize>,
    bounds: Bounds,
) -> Result<usize, Problem> {
    expect_shape("index", index.shape(), index.rank() == 1, || {
        "it must have one dimension".into()
    })?;
    let fits = index.is_empty() || index.dtype().is_integer();
    expect_dtype("index", index.dtype(), fits, "it must be an integer type")?;
    let size = match size {
        Some(size) => size,
        None => bounds.cells(index, "index")?,
    };
    if isize::try_from(size).is_err() {
        return Err(Problem::Value {
            argument: "size".into(),
            value: size.to_string(),
            expected: format!("it must be at most {}", isize::MAX),
        });
    }
    Ok(size)
}

/// Resolves all values of an index into row numbers. Gives the position of the first value that
/// names no row, or where it was stopped, or the length of the index.
fn resolve_all(
    index: &DynView<'_>,
    bounds: Bounds,
    size: usize,
    rows: &mut RowIdsPart<'_>,
    meter: &Meter,
) -> usize {
    let (mut done, mut resolved) = (0, Vec::new());
    index.all_integers(|block| {
        resolved.clear();
        let inside = |&value: &i64| value.cast_unsigned() < size as u64;
        if !bounds.ignores() && block.iter().fold(true, |all, value| all & inside(value)) {
            resolved.extend(block.iter().map(|&value| value as isize));
        } else {
            for &value in block {
                match bounds.resolve(value, size) {
                    Ok(row) => resolved.push(row.map_or(-1, |row| row as isize)),
                    Err(_) => {
                        done += resolved.len();
                        return false;
                    }
                }
            }
        }
        rows.set(done, &resolved);
        done += resolved.len();
        meter.step(resolved.len())
    });
    done
}
