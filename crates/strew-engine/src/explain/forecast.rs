//! The time of a run on another machine: a model.
//!
//! ```text
//! processor  = begin + the busiest thread's rows of updates * seconds of a row
//! busiest    = the thread whose rows of the destination take most updates
//! bandwidth  = bytes that the run moves / bandwidth of all cores together
//! predicted  = the longer of the two
//! ```
//! Seconds of a row are those of one thread here, of a sample (`pace.rs`). Where each thread reads
//! the whole index, it has the seconds of looking at every row besides. All updates of a cell are
//! joined by one thread, so the hottest cell bounds what more cores can do.
//!
//! It leaves out that cores share caches, that a thread takes time to wake up, and that threads can
//! share the columns of a hot row.

use crate::choose::execution::Execution;
use crate::choose::split::Split;
use crate::choose::strategy::Strategy;
use crate::explain::other_machine::OtherMachine;
use crate::explain::pace::Pace;
use crate::explain::profile::Profile;
use crate::explain::text::{Explanation, seconds};
use crate::explain::traffic::Traffic;
use crate::scatter::Scatter;
use crate::scatter::destinations::row_ids::RowNumbers;
use std::fmt;
use std::mem::{Discriminant, discriminant};
use std::sync::{Mutex, PoisonError};
use strew_kernel::error::Problem;
use strew_kernel::runtime::machine::Machine;
use strew_kernel::runtime::threads::with_threads;

/// The hottest cell binds a run if its updates take at least this part of the busiest thread's
/// time.
const HOT: f64 = 0.9;

/// The row numbers of all updates, and how many go where.
#[derive(Debug)]
pub struct Counted {
    found: RowNumbers,
    profile: Profile,
    /// What samples took, by the strategy and how it is shared out: each is measured once.
    paces: Mutex<Vec<(Way, Option<Pace>)>>,
}

/// A strategy, and how it is shared out.
type Way = (Strategy, Option<Discriminant<Split>>);

impl Counted {
    /// How many updates go where.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The pace of a run that goes so.
    fn pace(&self, scatter: &Scatter<'_>, execution: &Execution) -> Result<Option<Pace>, Problem> {
        let split = execution.split().map(|(split, _)| discriminant(&split));
        let way = (execution.strategy(), split);
        let paces = || self.paces.lock().unwrap_or_else(PoisonError::into_inner);
        let known = paces().iter().find(|(of, _)| *of == way).copied();
        if let Some((_, pace)) = known {
            return Ok(pace);
        }
        let pace = scatter.pace(execution, &self.found)?;
        paces().push((way, pace));
        Ok(pace)
    }
}

/// What a run cannot be faster than.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// The processor time of the busiest thread.
    Processor,
    /// The updates of the row of the destination that takes most: one thread joins them.
    HottestCell,
    /// Reading the index, which every thread does.
    Index,
    /// The bytes that are moved.
    Bandwidth,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Processor => "processor",
            Self::HottestCell => "hottest cell",
            Self::Index => "reading the index",
            Self::Bandwidth => "memory bandwidth",
        })
    }
}

/// What is predicted of a run on another machine.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forecast {
    /// The name of the strategy, or of a plan's way, that runs there on all cores.
    pub name: &'static str,
    /// Threads that share the run.
    pub threads: usize,
    /// How they share it, in words.
    pub sharing: String,
    /// Seconds on one core.
    pub alone: f64,
    /// Seconds on all cores.
    pub seconds: f64,
    /// What binds the run on all cores.
    pub bound: Bound,
    /// Bytes that the run moves on all cores.
    pub bytes: u64,
}

impl Forecast {
    /// How many times as fast as one core all of them are.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        match self.seconds > 0.0 {
            true => self.alone / self.seconds,
            false => 1.0,
        }
    }
}

impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = if self.threads == 1 { "" } else { "s" };
        write!(
            f,
            "{} with {} thread{several}, {:.1} times as fast as the {} of one; bound by {}",
            seconds(self.seconds),
            self.threads,
            self.speedup(),
            seconds(self.alone),
            self.bound
        )
    }
}

/// What a strategy, or a way of a plan, is predicted to take on another machine.
#[derive(Clone, Debug)]
pub struct ForecastOf {
    /// Its name.
    pub name: &'static str,
    /// The prediction, or why it cannot run.
    pub forecast: Result<Forecast, String>,
}

/// What is predicted for another machine.
#[derive(Clone, Debug)]
pub struct Forecasts {
    machine: OtherMachine,
    named: String,
    bandwidth: f64,
    chosen: Option<Forecast>,
    ways: Vec<ForecastOf>,
}

impl Forecasts {
    /// `chosen` is what runs there, unless there is nothing to do; `ways` are all strategies, each
    /// forced.
    #[must_use]
    pub fn new(
        machine: OtherMachine,
        measured: &Machine,
        chosen: Option<Forecast>,
        ways: Vec<ForecastOf>,
    ) -> Self {
        Self {
            machine,
            named: machine.named(measured),
            bandwidth: machine.bandwidth(measured),
            chosen,
            ways,
        }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> OtherMachine {
        self.machine
    }

    /// Its cores and bandwidth as text.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.named
    }

    /// Bytes per second of all its cores together.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// The prediction of what runs there; `None` without updates.
    #[must_use]
    pub fn chosen(&self) -> Option<&Forecast> {
        self.chosen.as_ref()
    }

    /// All strategies.
    #[must_use]
    pub fn ways(&self) -> &[ForecastOf] {
        &self.ways
    }

    /// Names and values, to be shown below those of the run.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("predicted for a machine of", self.named.clone())];
        if let Some(chosen) = &self.chosen {
            facts.push(("strategy there", chosen.name.to_owned()));
            facts.push(("predicted time there", chosen.to_string()));
        }
        let others = self.ways.iter().filter_map(|way| {
            let told = way.forecast.as_ref().ok()?;
            Some((way.name, told.to_string()))
        });
        facts.extend(others);
        facts
    }

    /// The same as a line for each.
    #[must_use]
    pub fn table(&self) -> String {
        Explanation::new(String::new(), self.facts()).table()
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Scatter<'_> {
    /// Reads the whole index and counts where the updates go; `None` if an index does not say that
    /// for each of them.
    ///
    /// # Errors
    /// [`Problem::IndexOutOfBounds`], and [`Problem::Memory`] if there is no room for the counts.
    pub fn counted(&self) -> Result<Option<Counted>, Problem> {
        if self.destinations.pairing().is_some() {
            return Ok(None);
        }
        let found = self.destinations.row_numbers()?;
        let profile = Profile::of(&found.numbers, found.rows)?;
        Ok(Some(Counted {
            found,
            profile,
            paces: Mutex::default(),
        }))
    }

    /// What this would take on another machine; `None` without updates. A sample of the updates is
    /// run to measure how long each takes here.
    ///
    /// # Errors
    /// As [`execution`](Self::execution), and [`Problem::Memory`] if there is no room for a sample.
    pub fn forecast(
        &self,
        measured: &Machine,
        machine: &OtherMachine,
        counted: Option<&Counted>,
    ) -> Result<Option<Forecast>, Problem> {
        let one = with_threads(1, || self.execution())?;
        let all = with_threads(machine.cores().get(), || self.execution())?;
        let pace = |execution: &Execution| match counted {
            Some(counted) => counted.pace(self, execution),
            None => Ok(None),
        };
        let (of_one, of_all) = (pace(&one)?, pace(&all)?);
        let model = Model::new(measured, machine, counted.map(Counted::profile));
        Ok(forecast(&model, &one, of_one, &all, of_all))
    }
}

impl Execution {
    /// What the model asks of a run.
    fn modelled(&self, pace: Option<Pace>) -> Option<Run<'_>> {
        Some(Run {
            name: self.strategy().name(),
            split: self.split(),
            threads: self.threads(),
            sharing: self.sharing(),
            traffic: self.traffic()?,
            pace,
            is_tried: self.is_tried(),
        })
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Execution {
    /// What this would take on another machine, where no sample of it can be run: by the measured
    /// speed of memory alone. `one` is how it goes on one thread.
    #[must_use]
    pub fn forecast(
        &self,
        one: &Self,
        measured: &Machine,
        machine: &OtherMachine,
    ) -> Option<Forecast> {
        let model = Model::new(measured, machine, None);
        forecast(&model, one, None, self, None)
    }
}

fn forecast(
    model: &Model<'_>,
    one: &Execution,
    of_one: Option<Pace>,
    all: &Execution,
    of_all: Option<Pace>,
) -> Option<Forecast> {
    let (one, all) = (one.modelled(of_one)?, all.modelled(of_all)?);
    Some(model.forecast(&one, &all))
}

/// What the model asks of a run.
pub(crate) struct Run<'r> {
    /// The strategy or the way.
    pub name: &'static str,
    /// How it is shared out, if it is.
    pub split: Option<(Split, usize)>,
    pub threads: usize,
    pub sharing: String,
    pub traffic: &'r Traffic,
    /// What a row of updates takes, if a sample could be run.
    pub pace: Option<Pace>,
    /// A trial at the beginning goes on with one thread if that is faster.
    pub is_tried: bool,
}

/// What a prediction is made from, besides the run.
pub(crate) struct Model<'m> {
    measured: &'m Machine,
    bandwidth: f64,
    profile: Option<&'m Profile>,
}

impl<'m> Model<'m> {
    pub(crate) fn new(
        measured: &'m Machine,
        machine: &OtherMachine,
        profile: Option<&'m Profile>,
    ) -> Self {
        Self {
            measured,
            bandwidth: machine.bandwidth(measured),
            profile,
        }
    }

    /// `one` is how it goes on one core.
    pub(crate) fn forecast(&self, one: &Run<'_>, all: &Run<'_>) -> Forecast {
        let alone = self.time(one);
        let together = self.time(all);
        let tried = all.is_tried && alone.seconds < together.seconds;
        let (time, threads) = match tried {
            true => (alone, 1),
            false => (together, all.threads),
        };
        Forecast {
            name: all.name,
            threads,
            sharing: all.sharing.clone(),
            alone: alone.seconds,
            seconds: time.seconds,
            bound: time.bound,
            bytes: all.traffic.total(),
        }
    }

    fn time(&self, run: &Run<'_>) -> Time {
        let busy = match (run.pace, self.profile) {
            (Some(pace), Some(profile)) => {
                let mut time = busiest(run, pace, profile);
                if !pace.begins {
                    time.seconds += run.traffic.begin_seconds(self.measured);
                }
                time
            }
            _ => Time {
                seconds: run.traffic.seconds_of_many(self.measured),
                bound: Bound::Processor,
            },
        };
        let moved = run.traffic.total() as f64 / self.bandwidth;
        match moved > busy.seconds {
            true => Time {
                seconds: moved,
                bound: Bound::Bandwidth,
            },
            false => busy,
        }
    }
}

/// The time of a run, and what binds it.
#[derive(Clone, Copy)]
struct Time {
    seconds: f64,
    bound: Bound,
}

/// The time of the busiest thread for its rows of updates.
fn busiest(run: &Run<'_>, pace: Pace, profile: &Profile) -> Time {
    let rows = profile.updates() as f64;
    let Some((split, threads)) = run.split else {
        return Time {
            seconds: pace.one * rows,
            bound: Bound::Processor,
        };
    };
    let each = pace.one * pace.slower;
    let own = match split {
        // Columns are shared out, and each thread reads all rows of the index.
        Split::Axis(_) => each * rows / threads as f64,
        Split::Owner | Split::Updates => {
            let parts = profile.parts(run.split);
            each * parts.into_iter().max().unwrap_or(0) as f64
        }
    };
    let hot = match split {
        Split::Owner => each * profile.most() as f64,
        Split::Axis(_) | Split::Updates => 0.0,
    };
    let looks = pace.look * rows;
    let seconds = own + looks;
    let bound = if hot >= HOT * seconds {
        Bound::HottestCell
    } else if looks > own {
        Bound::Index
    } else {
        Bound::Processor
    };
    Time { seconds, bound }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::traffic::{GroupedBytes, GroupedRows};
    use strew_kernel::segment::row_ids::RowIds;

    /// 1,000 rows of the destination, of which the first takes `hot` updates and every other one.
    fn profile(hot: usize) -> Profile {
        let mut numbers = RowIds::with_room("row numbers", hot + 999, 1000).unwrap();
        (0..hot).for_each(|_| numbers.push(0));
        (1..1000).for_each(|row| numbers.push(row));
        Profile::of(&numbers, 1000).unwrap()
    }

    /// The time of a run with that split, whose updates take a second each.
    fn time(split: Option<(Split, usize)>, look: f64, profile: &Profile) -> Time {
        let traffic = Traffic::grouped(
            "",
            GroupedBytes {
                order: 0,
                source: 0,
                outputs: 0,
            },
            GroupedRows {
                count: 0,
                bytes: 0,
                in_order: true,
            },
            1,
        );
        let pace = Pace {
            one: 1.0,
            look,
            slower: 1.0,
            begins: false,
        };
        let run = Run {
            name: "",
            split,
            threads: split.map_or(1, |(_, threads)| threads),
            sharing: String::new(),
            traffic: &traffic,
            pace: Some(pace),
            is_tried: false,
        };
        busiest(&run, pace, profile)
    }

    #[test]
    fn more_threads_are_never_slower_and_the_hottest_cell_bounds_them() {
        let (even, hot) = (profile(1), profile(500));
        for split in [Split::Owner, Split::Updates, Split::Axis(0)] {
            let mut before = time(None, 0.0, &even).seconds;
            assert!((before - 1000.0).abs() < 1e-9);
            for threads in [2, 4, 8, 64, 256] {
                let now = time(Some((split, threads)), 0.0, &even).seconds;
                assert!(
                    now < before && now >= 1000.0 / threads as f64,
                    "{split:?} {now}"
                );
                before = now;
            }
        }
        let bound = time(Some((Split::Owner, 256)), 0.0, &hot);
        assert!((bound.seconds - 500.0).abs() < 50.0 && bound.seconds >= 500.0);
        assert_eq!(bound.bound, Bound::HottestCell);
        // Joined in tables of each thread, it does not matter.
        let shared = time(Some((Split::Updates, 100)), 0.0, &hot);
        assert!(shared.seconds < 16.0 && shared.bound == Bound::Processor);
    }

    #[test]
    fn each_thread_looks_at_all_rows() {
        let looked = time(Some((Split::Owner, 100)), 0.5, &profile(1));
        assert!(looked.seconds >= 500.0 && looked.seconds < 600.0);
        assert_eq!(looked.bound, Bound::Index);
    }

    #[test]
    fn two_threads_are_compared_with_one() {
        let cores = std::thread::available_parallelism().unwrap().get();
        let (looks, not) = match cores {
            1 => (2.4, 2.4),
            _ => (0.7, 0.6),
        };
        let pace = Pace::of(1.0, Some(looks), 0.5, true);
        assert!(pace.look > 0.0 && pace.slower == 1.0);
        let pace = Pace::of(1.0, Some(not), 0.5, false);
        assert!(pace.slower > 1.0 && pace.look == 0.0);
        // Faster than half of the time is noise.
        assert_eq!(Pace::of(1.0, Some(0.1), 0.5, false).slower, 1.0);
        assert_eq!(Pace::of(1.0, None, 0.5, true).look, 0.0);
    }
}
