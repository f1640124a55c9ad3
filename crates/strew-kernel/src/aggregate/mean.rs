//! Means: a sum and a count of each group.

use crate::aggregate::sum::Summed;
use crate::error::Problem;
use crate::statistic::cell::Total;
use crate::statistic::fold::{Fold, put};
use crate::statistic::output::{Results, Row};
use crate::statistic::pass::{
    Job, Made, Outcome, RowNumber, Step, fill_of, finish, join_all, states, with_rows, with_values,
};
use crate::statistic::value::Value;
use crate::statistic::what::{Facts, Kind, Order, ResultType, Statistic};
use crate::tensor::Element;

pub(crate) const MEAN: Facts = Facts {
    name: "mean",
    kind: Kind::Real,
    results: ResultType::Mean,
    order: Order::Rounds,
    exact: true,
    ..Facts::USUAL
};

/// The sum that a mean is made of, and how many values it has.
pub(crate) struct Mean;

impl<T: Value> Fold<T> for Mean {
    type Cell = Total<T::Total>;
    const START: Total<T::Total> = Total {
        sum: T::NOTHING,
        count: 0,
    };

    #[inline(always)]
    fn join(cell: &mut Total<T::Total>, value: T, _: usize) {
        cell.sum = value.add_to(cell.sum);
        cell.count = cell.count.wrapping_add(1);
    }

    fn merge(cell: &mut Total<T::Total>, other: Total<T::Total>) {
        cell.sum = T::add_totals(cell.sum, other.sum);
        cell.count = cell.count.wrapping_add(other.count);
    }

    fn finish(cells: &[Total<T::Total>], _: Statistic, row: &mut Row<T>) {
        let mean =
            |cell: Total<T::Total>| (cell.count > 0).then(|| T::mean_of(cell.sum, cell.count));
        match &mut row.numbers {
            Results::Same(to) => put(cells, to, &mut row.set, |cell| mean(cell).map(T::of)),
            Results::Real(to) => put(cells, to, &mut row.set, |cell| {
                mean(cell).map(|mean| mean.re)
            }),
            Results::Whole(_) => {}
        }
    }
}

// Sums of integers that do not fit into 64 bits are left to the records above.

/// A type of values that have a mean.
trait Averaged: Summed {
    type Mean: Element;
    /// The sum with the value, and whether it is too large.
    fn joined(self, sum: Self::Sum) -> (Self::Sum, bool);
    fn mean(sum: Self::Sum, count: u64) -> Self::Mean;
}

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl Averaged for $t {
            type Mean = $t;

            #[inline(always)]
            fn joined(self, sum: f64) -> (f64, bool) {
                (sum + self.wide(), false)
            }

            #[inline(always)]
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
            fn mean(sum: f64, count: u64) -> $t {
                (sum / count as f64) as $t
            }
        }
    )*};
}

floats!(f32, f64);

impl Averaged for i64 {
    type Mean = f64;

    #[inline(always)]
    fn joined(self, sum: Self) -> (Self, bool) {
        sum.overflowing_add(self)
    }

    #[inline(always)]
    #[allow(clippy::cast_precision_loss)]
    fn mean(sum: Self, count: u64) -> f64 {
        sum as f64 / count as f64
    }
}

/// The bit of a count that says that the sum is too large.
const TOO_LARGE: u64 = 1 << 63;

/// Apart, so that values pass a jump that is never taken.
#[cold]
#[inline(never)]
fn mark(count: &mut u64) {
    *count |= TOO_LARGE;
}

impl<V: Averaged> Step<V> for Mean {
    type State = Total<V::Sum>;

    #[inline(always)]
    fn join(state: &mut Total<V::Sum>, value: V, _: usize) {
        let (sum, too_large) = value.joined(state.sum);
        state.sum = sum;
        state.count += 1;
        if too_large {
            mark(&mut state.count);
        }
    }
}

pub(crate) fn mean(job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| mean_of::<V, _>(&job, rows, values))
    })
}

fn mean_of<V: Averaged, R: RowNumber>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<V::Mean>(job) else {
        return Ok(Made::None);
    };
    let none = Total {
        sum: V::Sum::ZERO,
        count: 0,
    };
    let mut all = states(job, none)?;
    if join_all::<Mean, V, R>(job, rows, values, &mut all)? == Outcome::Stray {
        return Ok(Made::Stray);
    }
    let mut counts = 0;
    let made = finish(&all, |Total { sum, count }| {
        counts |= count;
        match count {
            0 => fill,
            count => V::mean(sum, count),
        }
    });
    match counts < TOO_LARGE {
        true => made,
        false => Ok(Made::None),
    }
}
