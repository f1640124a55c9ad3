//! Every way to run an operator: each number of threads, each strategy.

use super::memory::array_of;
use crate::naive::number::same;
use crate::naive::{Array, Outcome};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use strew::scatter::Output;
use strew::{Arguments, Call, DType, Problem, Split, Strategy, Value};
use strew_engine::strategy::record::{Did, take_told};

/// What a run combines, as far as strategies care.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Needs {
    /// A sum or a product.
    pub(crate) folds: bool,
    /// Counts.
    pub(crate) mean: bool,
    pub(crate) dtype: DType,
    /// Exact sums of floats.
    pub(crate) exact: bool,
    /// It has no other strategy than runs.
    pub(crate) runs: bool,
}

impl Needs {
    pub(crate) fn of(reduce: &str, dtype: DType) -> Self {
        let rounds = dtype.is_float() || dtype.is_complex();
        let exact = reduce.strip_prefix("exact_");
        let reduce = exact.unwrap_or(reduce);
        Self {
            exact: exact.is_some() && rounds,
            folds: matches!(
                reduce,
                "sum" | "add" | "prod" | "mul" | "sub" | "div" | "mean"
            ),
            mean: reduce == "mean",
            dtype,
            runs: false,
        }
    }

    /// Rows that lie one after the other, which go one way only.
    pub(crate) fn runs(dtype: DType) -> Self {
        Self {
            runs: true,
            ..Self::of("", dtype)
        }
    }

    /// Whether a strategy can do it.
    pub(crate) fn allow(self, strategy: Strategy) -> bool {
        if self.runs || strategy == Strategy::Runs {
            return self.runs && strategy == Strategy::Runs;
        }
        if self.exact {
            return matches!(
                strategy,
                Strategy::DenseTable | Strategy::CompactTable | Strategy::Grouped
            );
        }
        let wide = matches!(self.dtype, DType::F16 | DType::BF16);
        match strategy {
            Strategy::InOrder | Strategy::Tiled | Strategy::Partition => {
                !(self.mean || (self.folds && wide))
            }
            Strategy::Grouped | Strategy::Small | Strategy::ReplaceSlice => true,
            _ => self.folds,
        }
    }
}

/// One way to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) threads: usize,
    pub(crate) force: Option<Strategy>,
    /// How to share the run out among the threads; `None`: as the cost model says.
    pub(crate) split: Option<Split>,
}

/// All ways.
pub(crate) fn ways() -> impl Iterator<Item = Way> {
    let forces = [None].into_iter().chain(Strategy::ALL.map(Some));
    let splits = [
        (1, None),
        (2, None),
        (2, Some(Split::Owner)),
        (2, Some(Split::Axis(0))),
        (3, Some(Split::Owner)),
        (3, Some(Split::Axis(1))),
        (3, Some(Split::Updates)),
        (8, Some(Split::Owner)),
        (8, Some(Split::Axis(2))),
    ];
    forces.flat_map(move |force| {
        splits.map(|(threads, split)| Way {
            threads,
            force,
            split,
        })
    })
}

/// The number of threads is one for the whole process.
static THREADS: Mutex<()> = Mutex::new(());

/// Runs `work` while a run may use that many threads.
pub(crate) fn with_threads<R>(threads: usize, work: impl FnOnce() -> R) -> R {
    let _one_at_a_time = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    strew::set_num_threads(NonZeroUsize::new(threads));
    assert_eq!(strew::num_threads().get(), threads);
    let result = work();
    strew::set_num_threads(None);
    result
}

/// A call by name.
pub(crate) fn call<'a>(name: &str, values: Vec<(&str, Value<'a>)>) -> strew::Result<Call<'a>> {
    let operator = strew::find(name).expect(name);
    let mut arguments = Arguments::new(operator);
    for (name, value) in values {
        arguments.set_named(name, value)?;
    }
    arguments.lower()
}

/// Runs a call one way. `None`: the strategy that was asked for cannot run it, and said so.
pub(crate) fn run(call: Call<'_>, way: Way, needs: Needs) -> Option<Output> {
    let call = call
        .with_strategy(way.force)
        .with_split(way.split.map(|split| (split, way.threads)));
    match way.force {
        Some(strategy) if !needs.allow(strategy) => {
            for error in [call.execution().unwrap_err(), call.run().unwrap_err()] {
                assert_cannot(&error, &[strategy.name()]);
            }
            None
        }
        _ => {
            let plan = match (call.execution(), way.split) {
                (Ok(plan), _) => plan,
                // Updates that are converted are not listed, and not all destinations have columns.
                (Err(error), split) if way.force.is_some_and(picky) => {
                    let names = [
                        way.force.map_or("", Strategy::name),
                        split.map_or("", Split::name),
                    ];
                    assert_cannot(&error, &names);
                    assert_cannot(&call.run().unwrap_err(), &names);
                    return None;
                }
                (Err(error), Some(split)) => {
                    assert_cannot(&error, &[split.name()]);
                    assert_cannot(&call.run().unwrap_err(), &[split.name()]);
                    return None;
                }
                (Err(error), None) => panic!("{error}"),
            };
            if let Some(split) = way.split {
                assert_eq!(plan.split(), Some((split, way.threads)));
            }
            let strategy = plan.strategy();
            match way.force {
                Some(forced) => assert_eq!(strategy, forced),
                None => assert!(needs.allow(strategy), "{strategy}"),
            }
            Some(with_threads(way.threads, || ran(call).0))
        }
    }
}

/// Runs a call, asserts that what ran is what was explained, and gives it.
pub(crate) fn ran(call: Call<'_>) -> (Output, Vec<Did>) {
    let explained = call.execution().unwrap();
    take_told();
    let output = call.run().unwrap();
    let told = take_told();
    for &did in &told {
        match did {
            // A part that has no tiles goes in order, too.
            Did::Strategy(Strategy::InOrder) if explained.strategy() == Strategy::Tiled => {}
            Did::Strategy(strategy) => assert_eq!(strategy, explained.strategy(), "{explained}"),
            Did::Split(split, threads) => {
                assert_eq!(Some((split, threads)), explained.split(), "{explained}");
            }
            Did::Begin(begin) => assert_eq!(begin, explained.begin(), "{explained}"),
        }
    }
    (output, told)
}

/// Whether a strategy runs only certain destinations and sources.
pub(crate) fn picky(strategy: Strategy) -> bool {
    matches!(
        strategy,
        Strategy::Tiled
            | Strategy::Partition
            | Strategy::Grouped
            | Strategy::Runs
            | Strategy::Small
            | Strategy::ReplaceSlice
    )
}

/// Panics unless the error says that what was forced cannot be.
fn assert_cannot(error: &strew::Error, names: &[&str]) {
    match error.problem() {
        Problem::Strategy { strategy, .. } => assert!(names.contains(strategy), "{error}"),
        other => panic!("{other}"),
    }
}

/// Panics unless a result is what the naive loop made: untouched cells and copies keep their
/// bits, and among results of arithmetic one NaN is as good as another.
pub(crate) fn assert_matches(
    found: &Array,
    expected: &Outcome,
    copies: bool,
    what: &dyn Fn() -> String,
) {
    assert_eq!(found.dtype, expected.array.dtype);
    assert_eq!(found.shape, expected.array.shape, "{}", what());
    let pairs = found.data.iter().zip(&expected.array.data);
    for (cell, (&found, &wanted)) in pairs.enumerate() {
        let loose = expected.touched[cell] && !copies;
        let fine = found == wanted || (loose && same(expected.array.dtype, found, wanted));
        assert!(
            fine,
            "cell {cell} is {found:#x}, not {wanted:#x}: {}",
            what()
        );
    }
}

/// The new tensor of a run.
pub(crate) fn made(output: &Output) -> Array {
    array_of(output.tensor.as_ref().expect("a new tensor"))
}

/// The positions of winners.
pub(crate) fn positions(output: &Output) -> Vec<i64> {
    let arg = array_of(output.arg.as_ref().expect("an arg output"));
    assert_eq!(arg.dtype, DType::I64);
    arg.data.iter().map(|&bits| bits as i64).collect()
}
