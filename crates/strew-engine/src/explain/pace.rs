//! How long a strategy takes for a row of updates, measured on a sample.
//!
//! ```text
//! sample:  some of the updates, with values of one
//! one:     seconds of a run on one thread  / rows of the sample
//! two:     seconds of a run on two threads / rows of the sample
//! ```
//! The index of a sample is part of the real one, so it is as skewed and as much in order. A
//! strategy that takes the updates as they come gets a stretch of them, and a destination as large
//! as the real one, which is there before: what a cache holds of it is what counts. The others get
//! every `n`-th row of the destination with all of its updates: how many a row has is what counts.
//! They make a new destination if the run does.

use crate::choose::execution::Execution;
use crate::choose::split::Split;
use crate::choose::strategy::Strategy;
use crate::explain::profile::Profile;
use crate::scatter::bounds::Bounds;
use crate::scatter::destinations::Destinations;
use crate::scatter::destinations::row_ids::RowNumbers;
use crate::scatter::reduction::{Finish, Reduction};
use crate::scatter::{Scatter, Start, Target};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Instant;
use strew_kernel::error::Problem;
use strew_kernel::runtime::threads::with_threads;
use strew_kernel::segment::row_ids::RowIds;
use strew_kernel::tensor::{DType, DynTensor, Scalar, Tensor};

/// Maximum bytes of the updates and the index of a sample, about. A sample that the last cache of a
/// server holds is faster than the run: one of 48 MiB took half of the time for each update.
pub(crate) const SAMPLE: usize = 512 << 20;

/// Maximum bytes of a destination that a sample has whole.
pub(crate) const WHOLE: usize = 256 << 20;

/// The shortest of several runs of a sample: of three, and of up to twenty while they are short.
pub(crate) struct Shortest {
    runs: usize,
    /// Seconds of all runs.
    spent: f64,
    shortest: f64,
}

impl Shortest {
    const LEAST: usize = 3;

    const MOST: usize = 20;

    /// Seconds. Other work on the machine can make several runs of some milliseconds twice as long.
    const ENOUGH: f64 = 0.1;

    pub(crate) fn new() -> Self {
        Self {
            runs: 0,
            spent: 0.0,
            shortest: f64::INFINITY,
        }
    }

    /// Whether there are to be more runs.
    pub(crate) fn wants_more(&self) -> bool {
        self.runs < Self::LEAST || (self.runs < Self::MOST && self.spent < Self::ENOUGH)
    }

    pub(crate) fn add(&mut self, seconds: f64) {
        self.runs += 1;
        self.spent += seconds;
        self.shortest = self.shortest.min(seconds);
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.shortest
    }
}

/// What a row of updates takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Seconds of one thread.
    pub one: f64,
    /// With several threads: seconds of each thread for a row that it only looks at.
    pub look: f64,
    /// With several threads: how many times as long a thread takes for a row of its own.
    pub slower: f64,
    /// To begin the output is part of it.
    pub begins: bool,
}

impl Pace {
    /// From the seconds of a row on one thread, and on two. `busier`: the part of the rows that the
    /// busier of the two takes. `looks`: each looks at all rows.
    pub(crate) fn of(one: f64, two: Option<f64>, busier: f64, looks: bool) -> Self {
        let mut pace = Self {
            one,
            look: 0.0,
            slower: 1.0,
            begins: false,
        };
        let Some(two) = two else {
            return pace;
        };
        // On a machine of one core the two threads take turns.
        let (two, own) = match available_parallelism().map_or(1, NonZeroUsize::get) {
            1 => (two / 2.0, one / 2.0),
            _ => (two, one * busier),
        };
        match looks {
            true => pace.look = (two - own).max(0.0),
            false => pace.slower = (two / own).max(1.0),
        }
        pace
    }
}

/// Some of the updates.
struct Sample {
    /// A row of the destination for each row of updates.
    index: DynTensor,
    source: DynTensor,
    destination: DynTensor,
    /// The part of the updates that the busier of two threads takes.
    busier: f64,
}

impl Scatter<'_> {
    /// The pace of a run that goes so; `None` if rows of updates are no simple list, or if the
    /// strategy cannot run a sample.
    ///
    /// # Errors
    /// [`Problem::Memory`] if there is no room for a sample.
    pub(crate) fn pace(
        &self,
        execution: &Execution,
        found: &RowNumbers,
    ) -> Result<Option<Pace>, Problem> {
        let width = execution.width();
        let listed = execution.cut.rows.len() == 1 && self.arg.is_none();
        if !listed || found.width != width || found.numbers.len() != execution.rows() {
            return Ok(None);
        }
        let Some(mut sample) = self.sample(execution, found)? else {
            return Ok(None);
        };
        let count = sample.index.layout().len() as f64;
        let Some(one) = self.timed(&mut sample, execution.strategy(), None)? else {
            return Ok(None);
        };
        let two = match execution.split() {
            Some((Split::Axis(_), _)) | None => None,
            Some((split, _)) => self.timed(&mut sample, execution.strategy(), Some((split, 2)))?,
        };
        let looks = execution.looks_at_all();
        let two = two.map(|two| two / count);
        Ok(Some(Pace {
            begins: self.begun(execution.strategy()).is_some(),
            ..Pace::of(one / count, two, sample.busier, looks)
        }))
    }

    /// A sample of the updates; `None` if none of them goes anywhere.
    fn sample(&self, execution: &Execution, found: &RowNumbers) -> Result<Option<Sample>, Problem> {
        let [from, to] = execution.sizes();
        let wide = self.destinations.components().iter();
        let wide = wide.map(|c| c.index.view().dtype().size()).max();
        let number = match wide {
            Some(size) if size <= 4 && i32::try_from(found.rows).is_ok() => DType::I32,
            _ => DType::I64,
        };
        let each = found.width.saturating_mul(from) + number.size();
        let most = (SAMPLE / each).max(1024);
        let whole = found.rows.saturating_mul(found.width).saturating_mul(to) <= WHOLE;
        let as_they_come = execution.strategy() == Strategy::InOrder && whole;
        let (picked, rows) = match as_they_come {
            true => (stretch(&found.numbers, found.rows, most)?, found.rows),
            false => some_rows(&found.numbers, found.rows, most)?,
        };
        if picked.len() == 0 {
            return Ok(None);
        }
        let busier = busier_of_two(&picked, rows)?;
        let shape = |count: usize| match execution.form() {
            "elements" => vec![count],
            _ => vec![count, found.width],
        };
        let source = self.source.view().dtype();
        Ok(Some(Sample {
            source: ones(source, &shape(picked.len()))?,
            destination: ones(self.dtype(), &shape(rows))?,
            index: as_index(&picked, number)?,
            busier,
        }))
    }

    /// What the new destination of a sample begins with, as that of the run does. A strategy that
    /// takes the updates as they come goes into a destination that is there: it would begin the
    /// whole of it for some of the updates.
    fn begun(&self, strategy: Strategy) -> Option<Start<'static>> {
        if strategy == Strategy::InOrder {
            return None;
        }
        match self.target.start()? {
            Start::Zero => Some(Start::Zero),
            Start::Identity => Some(Start::Identity),
            Start::FiniteExtreme => Some(Start::FiniteExtreme),
            Start::Filled(element) => Some(Start::Filled(*element)),
            Start::CopyOf(_) => None,
        }
    }

    /// The seconds of a run of the sample; `None` if the strategy cannot run it so.
    fn timed(
        &self,
        sample: &mut Sample,
        strategy: Strategy,
        split: Option<(Split, usize)>,
    ) -> Result<Option<f64>, Problem> {
        let threads = split.map_or(1, |(_, threads)| threads);
        let begun = self.begun(strategy);
        let reduction = Reduction {
            finish: match self.reduction.finish {
                // The sample's destination is there already.
                Finish::ZeroIfStart if begun.is_none() => Finish::None,
                other => other,
            },
            ..self.reduction
        };
        // A plan, whose index is proven, groups its updates itself.
        let proven = strategy != Strategy::Grouped;
        let mut shortest = Shortest::new();
        while shortest.wants_more() {
            let shape = sample.destination.shape().to_vec();
            let destinations = Destinations::rows(
                &shape,
                "index",
                &[sample.index.view()],
                &[0],
                None,
                Bounds::STRICT,
            )?;
            let target = match begun {
                Some(ref start) => Target::New {
                    dtype: self.dtype(),
                    start: start.clone(),
                },
                None => Target::InPlace {
                    argument: "destination",
                    view: sample.destination.view_mut(),
                },
            };
            let run = Scatter::new(destinations, reduction, "src", sample.source.view(), target)?;
            let run = run.exactly(self.exact)?;
            let run = if proven { run.proven() } else { run };
            let mut run = run.with_strategy(Some(strategy)).with_split(split);
            let from = Instant::now();
            match with_threads(threads, || run.perform()) {
                Ok(_) => {}
                Err(Problem::Strategy { .. }) => return Ok(None),
                Err(problem) => return Err(problem),
            }
            shortest.add(from.elapsed().as_secs_f64());
        }
        Ok(Some(shortest.seconds()))
    }
}

/// The middle of the updates, without those that go nowhere.
pub(crate) fn stretch(numbers: &RowIds, rows: usize, most: usize) -> Result<RowIds, Problem> {
    let count = numbers.len().min(most);
    let from = (numbers.len() - count) / 2;
    let mut picked = RowIds::with_room("a sample of the updates", count, rows)?;
    let some = (from..from + count).map(|at| numbers.get(at));
    some.filter(|&row| row < rows)
        .for_each(|row| picked.push(row));
    Ok(picked)
}

/// The updates of every `n`-th row of the destination, up to twice as many as asked for, and how
/// many rows these are.
pub(crate) fn some_rows(
    numbers: &RowIds,
    rows: usize,
    most: usize,
) -> Result<(RowIds, usize), Problem> {
    let every = (numbers.len() / most).max(1);
    let kept = rows.div_ceil(every);
    let room = numbers.len().min(2 * most);
    let mut picked = RowIds::with_room("a sample of the updates", room, kept)?;
    // The last of each few rows: a skewed index often has its hottest row first.
    let these = numbers
        .iter()
        .filter(|&row| row < rows && row % every == every - 1);
    these.take(room).for_each(|row| picked.push(row / every));
    Ok((picked, kept))
}

/// The part of the updates that the busier of two threads takes, if each owns some rows.
pub(crate) fn busier_of_two(picked: &RowIds, rows: usize) -> Result<f64, Problem> {
    let parts = Profile::of(picked, rows)?.parts(Some((Split::Owner, 2)));
    let most = parts.iter().copied().max().unwrap_or(0);
    Ok(most as f64 / picked.len().max(1) as f64)
}

/// A tensor of ones: unlike zeros, they are in memory before the first measured run.
pub(crate) fn ones(dtype: DType, shape: &[usize]) -> Result<DynTensor, Problem> {
    let one = Scalar::Int(1).tensor("src", dtype)?;
    DynTensor::filled(dtype, shape, one.as_bytes())
}

/// The rows as an index of this type.
pub(crate) fn as_index(picked: &RowIds, dtype: DType) -> Result<DynTensor, Problem> {
    let shape = [picked.len()];
    if dtype == DType::I32 {
        let mut index = Tensor::<i32>::zeros(&shape)?;
        let places = index.as_mut_slice().iter_mut().zip(picked.iter());
        // They were found to fit.
        places.for_each(|(place, row)| *place = i32::try_from(row).unwrap_or_default());
        return Ok(index.into_dyn());
    }
    let mut index = Tensor::<i64>::zeros(&shape)?;
    let places = index.as_mut_slice().iter_mut().zip(picked.iter());
    places.for_each(|(place, row)| *place = i64::try_from(row).unwrap_or_default());
    Ok(index.into_dyn())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_samples_run_more_often_and_the_shortest_run_counts() {
        let runs = |seconds: f64| {
            let mut shortest = Shortest::new();
            while shortest.wants_more() {
                shortest.add(seconds);
            }
            shortest.runs
        };
        assert_eq!([1.0, 0.04, 0.015, 1e-6].map(runs), [3, 3, 7, 20]);
        let mut shortest = Shortest::new();
        [3.0, 1.0, 2.0].into_iter().for_each(|s| shortest.add(s));
        assert_eq!(shortest.seconds(), 1.0);
    }
}
