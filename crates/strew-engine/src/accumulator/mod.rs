//! Statistics of groups whose values come chunk by chunk: [`Accumulator`].
//!
//! | file | holds |
//! |---|---|
//! | this one | the accumulator, and its results |
//! | `update` | takes a chunk, after all of its index has been checked |
//! | `merge` | takes another accumulator, where the order of the values does not matter |
//! | `states` | the kernel's records, in the type that values are computed in |
//! | `touched` | which groups have a record, where most have none |
//! | `spans` | which positions have been taken |
//! | `bytes` | the accumulator as bytes |

mod bytes;
mod merge;
mod spans;
mod states;
#[cfg(test)]
mod tests;
mod touched;
mod update;

use crate::accumulator::spans::Spans;
use crate::accumulator::states::States;
use crate::accumulator::touched::Touched;
use crate::context::Context;
use crate::describe::bounds::{Bounds, Negative};
use crate::plan::{Aggregate, AggregateOptions};
use std::fmt;
use strew_kernel::error::{Problem, Result};
use strew_kernel::group_stats::state::Kept;
use strew_kernel::statistic::output::Wanted;
use strew_kernel::tensor::{DType, DynTensor};

/// Bytes of records up to which all groups have one.
const SMALL: usize = if cfg!(test) { 256 } else { 1 << 20 };

/// Groups for each one with values, if only these have a record.
const FEW: usize = 4;

/// Statistics of groups whose values come chunk by chunk.
///
/// An accumulator keeps a small record of each group, or of those with values where they are few.
/// [`update_dyn`](Self::update_dyn) takes a
/// chunk of values. Chunks one after the other give the bits of one
/// [`aggregate_dyn`](crate::plan::aggregate_dyn) call on all values.
/// [`merge`](Self::merge) takes what another accumulator has made of other values.
/// [`result`](Self::result) may be asked for at any time.
///
/// It takes the aggregates of which a record of each group is enough: all but the order statistics,
/// `logsumexp`, and those with a result for each value.
///
/// ```
/// # mod strew { pub use strew_engine::{accumulator::*, plan::*, plan::aggregate::*, describe::bounds::*}; pub use strew_kernel::{error::Error, tensor::*}; }
/// use strew::{Accumulator, Aggregate, AggregateOptions, Bounds, DType, TensorView};
///
/// let wanted = [Aggregate::Sum, Aggregate::Max];
/// let options = AggregateOptions::default();
/// let mut all = Accumulator::new(Some(3), &wanted, DType::I32, &[], Bounds::STRICT, options.clone())?;
/// for (values, index) in [([1i32, 5], [2i64, 0]), ([2, 6], [2, 2])] {
///     let (values, index) = (TensorView::from(&values), TensorView::from(&index));
///     all.update_dyn(&values.into_dyn(), &index.into_dyn(), None)?;
/// }
/// let [sum, most] = <[_; 2]>::try_from(all.result()?).unwrap();
/// assert_eq!(sum.typed::<i64>().unwrap().as_slice(), [5, 0, 9]);
/// assert_eq!(most.typed::<i32>().unwrap().as_slice(), [5, 0, 6]);
/// # Ok::<(), strew::Error>(())
/// ```
pub struct Accumulator {
    wanted: Vec<Aggregate>,
    options: AggregateOptions,
    bounds: Bounds,
    /// `None`: as many groups as the largest number so far names.
    size: Option<usize>,
    dtype: DType,
    /// That of one update.
    shape: Vec<usize>,
    kept: Kept,
    /// How many groups there are.
    rows: usize,
    /// The groups that have a record; `None`: all have one.
    touched: Option<Touched>,
    states: States,
    taken: Spans,
}

impl Accumulator {
    /// An accumulator that has taken nothing.
    ///
    /// * `size`: how many groups there are; `None`: one more than the largest number so far.
    /// * `dtype`, `shape`: those of the value of one update.
    /// * `bounds`: what numbers mean that name no group. Negative ones count from the end only if
    ///   `size` is given.
    ///
    /// # Errors
    /// [`Class::Value`](strew_kernel::error::Class::Value) for an aggregate that needs all values
    /// of a group together, for none at all, and for a fill value that a result does not have;
    /// [`Class::Type`](strew_kernel::error::Class::Type) for a type that an aggregate is not
    /// defined for, [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn new(
        size: Option<usize>,
        wanted: &[Aggregate],
        dtype: DType,
        shape: &[usize],
        bounds: Bounds,
        options: AggregateOptions,
    ) -> Result<Self> {
        let made =
            Self::empty(size, wanted, dtype, shape, bounds, &options).and_then(|mut made| {
                match made.is_sparse(made.rows, 0) {
                    true => made.touched = Some(Touched::default()),
                    false => made.states.grow(&made.kept, made.rows)?,
                }
                Ok(made)
            });
        made.map_err(|problem| context().error(problem))
    }

    /// An accumulator without records.
    fn empty(
        size: Option<usize>,
        wanted: &[Aggregate],
        dtype: DType,
        shape: &[usize],
        bounds: Bounds,
        options: &AggregateOptions,
    ) -> Result<Self, Problem> {
        let cells = |all: usize, &axis: &usize| all.checked_mul(axis);
        let row = shape.iter().try_fold(dtype.size(), cells);
        let inner = row.filter(|&bytes| isize::try_from(bytes).is_ok());
        let inner = inner.ok_or_else(|| value("shape", format!("{shape:?}"), "it is too large"))?;
        check_size(size, bounds)?;
        if wanted.is_empty() {
            let expected = "it must have at least one name";
            return Err(value("reduce", "[]".into(), expected));
        }
        let kept = Kept {
            wanted: wanted
                .iter()
                .map(|&aggregate| self::wanted(aggregate, dtype, options))
                .collect::<Result<_, _>>()?,
            among: options.among(),
            inner: inner / dtype.size(),
        };
        Ok(Self {
            wanted: wanted.to_vec(),
            options: options.clone(),
            bounds,
            size,
            dtype,
            shape: shape.to_vec(),
            states: States::new(dtype, &kept)?,
            kept,
            rows: size.unwrap_or(0),
            touched: None,
            taken: Spans::default(),
        })
    }

    /// What numbers mean that name no group.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// How many groups there are so far.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of groups that was given.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        self.size
    }

    /// The element type of the values.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape of the value of one update.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Whether sums, and what is made of them, are exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.options.exact
    }

    /// What is made of the values of each group.
    #[must_use]
    pub fn aggregates(&self) -> &[Aggregate] {
        &self.wanted
    }

    /// The position after the last one that was taken: where a chunk without `start` begins.
    #[must_use]
    pub fn position(&self) -> usize {
        self.taken.end()
    }

    /// Bytes of memory that the records take at this moment.
    #[must_use]
    pub fn memory(&self) -> usize {
        let touched = self.touched.as_ref().map_or(0, Touched::memory);
        self.states.memory() + self.taken.memory() + touched
    }

    /// Whether only the groups with values are to have records, if they are at most `touched` of
    /// `rows`.
    fn is_sparse(&self, rows: usize, touched: usize) -> bool {
        let bytes = self.states.record_bytes().saturating_mul(self.kept.inner);
        rows.saturating_mul(bytes) > SMALL && touched.saturating_mul(FEW) < rows
    }

    /// Gives all groups a record, or from now on only those with values.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The accumulator is then as it was.
    fn make_sparse(&mut self, sparse: bool) -> Result<(), Problem> {
        match (&self.touched, sparse) {
            (None, true) => self.touched = Some(Touched::first(self.rows)?),
            (Some(touched), false) => {
                self.states = self
                    .states
                    .spread(&self.kept, touched.groups(), self.rows)?;
                self.touched = None;
            }
            _ => {}
        }
        Ok(())
    }

    /// The results of all values so far: for each aggregate a tensor of the shape of one update,
    /// with the groups as the first axis. The accumulator goes on.
    ///
    /// # Errors
    /// [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn result(&self) -> Result<Vec<DynTensor>> {
        self.made().map_err(|problem| context().error(problem))
    }

    fn made(&self) -> Result<Vec<DynTensor>, Problem> {
        let mut cells = vec![self.rows()];
        cells.extend(&self.shape);
        let made = match &self.touched {
            None => self.states.finish(&self.kept)?,
            Some(touched) => {
                let all = self
                    .states
                    .spread(&self.kept, touched.groups(), self.rows)?;
                all.finish(&self.kept)?
            }
        };
        let shaped = made.into_iter().map(|made| {
            made.reshape(&cells)
                .map_err(|_| value("shape", format!("{cells:?}"), "it is too large"))
        });
        shaped.collect()
    }
}

impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.wanted.iter().map(|wanted| wanted.name()).collect();
        write!(
            f,
            "Accumulator({} of {} groups, {} updates)",
            names.join(", "),
            self.rows(),
            self.taken.len()
        )
    }
}

/// The number of groups, if it is one that a tensor can have and that numbers can count from.
fn check_size(size: Option<usize>, bounds: Bounds) -> Result<(), Problem> {
    let expected = match size {
        Some(size) if isize::try_from(size).is_err() => {
            format!("it must be at most {}", isize::MAX)
        }
        None if bounds.negative == Negative::Wrap => {
            "it must be given for numbers that count from the end".into()
        }
        _ => return Ok(()),
    };
    let shown = size.map_or_else(|| "None".into(), |size| size.to_string());
    Err(value("size", shown, &expected))
}

/// What is made of the values, if a record of each group is enough for it.
fn wanted(
    aggregate: Aggregate,
    dtype: DType,
    options: &AggregateOptions,
) -> Result<Wanted, Problem> {
    let kept =
        |wanted: &Wanted| wanted.statistic.is_streamed(false) && !wanted.statistic.is_of_each();
    let wanted = aggregate.wanted(dtype, options)?.pop().filter(kept);
    wanted.ok_or_else(|| {
        value(
            "reduce",
            format!("{:?}", aggregate.name()),
            "it needs all values of a group together, or has a result for each value",
        )
    })
}

fn value(argument: &str, value: String, expected: &str) -> Problem {
    Problem::Value {
        argument: argument.into(),
        value,
        expected: expected.into(),
    }
}

fn context() -> Context {
    Context {
        operator: "Accumulator".into(),
        ..crate::plan::context(None)
    }
}
