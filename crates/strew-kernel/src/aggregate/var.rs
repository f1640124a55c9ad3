//! Variances, standard deviations and standard errors, in one pass.
//!
//! ```text
//! record = (count 0, first, mean 0, squares 0)
//! for each value:
//!     count += 1; first = the value if it is the first
//!     apart = (value - first) - mean
//!     mean += apart / count
//!     squares += apart * ((value - first) - mean)
//! variance = squares / (count - ddof)
//! ```
//!
//! This is Welford's update of the differences from the first value. Taking that value off first
//! keeps the mean small, so data that are far from zero lose no digits. Of finite values whose
//! differences overflow, the squares are infinite. Differences of integers are
//! computed as integers, from the float nearest to the first one. A chunk that follows another goes
//! on with its record, with the bits of one pass.
//!
//! Cost: one division per value.

use crate::error::Problem;
use crate::statistic::cell::{Cell, Spread};
use crate::statistic::fold::{Fold, put};
use crate::statistic::output::{Results, Row};
use crate::statistic::pass::{
    Job, Made, Outcome, RowNumber, Step, fill_of, finish, join_all, states, with_rows, with_values,
};
use crate::statistic::point::Point;
use crate::statistic::value::Value;
use crate::statistic::what::{Facts, Kind, Order, ResultType, Statistic};
use crate::tensor::Element;

pub(crate) const VAR: Facts = Facts {
    name: "var",
    kind: Kind::Real,
    results: ResultType::Spread,
    order: Order::Matters,
    exact: true,
    ..Facts::USUAL
};

pub(crate) const STD: Facts = Facts { name: "std", ..VAR };

pub(crate) const SEM: Facts = Facts { name: "sem", ..VAR };

/// Mean and squared differences: var, std and sem.
pub(crate) struct Variance;

impl<T: Value> Fold<T> for Variance
where
    T::Point: Cell,
{
    type Cell = Spread<T::Point>;
    const START: Spread<T::Point> = Spread {
        count: 0.0,
        first: T::Point::ORIGIN,
        mean: T::Point::ORIGIN,
        squares: 0.0,
    };

    #[inline(always)]
    fn join(cell: &mut Spread<T::Point>, value: T, _: usize) {
        let mut joined = joined(*cell, value);
        // Differences of finite values that overflow: so does their variance.
        if joined.squares.is_nan() && !cell.squares.is_nan() && value.complex().is_finite() {
            joined.squares = f64::INFINITY;
        }
        *cell = joined;
    }

    fn finish(cells: &[Spread<T::Point>], statistic: Statistic, row: &mut Row<T>) {
        if let Results::Real(to) = &mut row.numbers {
            put(cells, to, &mut row.set, |cell| variance(cell, statistic));
        }
    }
}

/// The moments with one more value, unless their differences overflow.
#[inline(always)]
fn joined<T: Value>(cell: Spread<T::Point>, value: T) -> Spread<T::Point> {
    let count = cell.count + 1.0;
    let first = match cell.count == 0.0 {
        true => T::Point::of(value.complex()),
        false => cell.first,
    };
    let value = value.apart(first);
    let apart = value.minus(cell.mean);
    let mean = cell.mean.plus(apart.divided(count));
    let squares = cell.squares + apart.dot(value.minus(mean));
    Spread {
        count,
        first,
        mean,
        squares,
    }
}

/// What is made of a variance's moments; `None` of too few values.
pub(crate) fn variance<P>(cell: Spread<P>, statistic: Statistic) -> Option<f64> {
    let of = |ddof: f64| {
        let enough = cell.count > 0.0 && cell.count > ddof;
        enough.then(|| cell.squares / (cell.count - ddof))
    };
    match statistic {
        Statistic::Var { ddof } => of(ddof),
        Statistic::Std { ddof } => of(ddof).map(f64::sqrt),
        Statistic::Sem { ddof } => of(ddof).map(|variance| (variance / cell.count).sqrt()),
        _ => None,
    }
}

/// A type of single values, and what real results are computed from.
pub(crate) trait Moved: Element {
    type Computed: Value<Point = f64, Key = u64>;
    type Result: Element;
    fn computed(self) -> Self::Computed;
    fn result(made: f64) -> Self::Result;
}

macro_rules! moved {
    ($($t:ty as $computed:ty, $result:ty;)*) => {$(
        impl Moved for $t {
            type Computed = $computed;
            type Result = $result;

            #[inline(always)]
            fn computed(self) -> $computed {
                self.into()
            }

            #[allow(clippy::cast_possible_truncation)]
            fn result(made: f64) -> $result {
                made as $result
            }
        }
    )*};
}

moved! {
    f32 as f64, f32;
    f64 as f64, f64;
    i64 as i64, f64;
}

impl<V: Moved> Step<V> for Variance {
    type State = Spread<f64>;

    #[inline(always)]
    fn join(state: &mut Spread<f64>, value: V, _: usize) {
        let value = value.computed();
        // Most values are not the first of their group, and leave that alone.
        if state.count == 0.0 {
            *state = joined(*state, value);
        } else {
            let value = value.apart(state.first);
            state.count += 1.0;
            let apart = value - state.mean;
            state.mean += apart / state.count;
            state.squares += apart * (value - state.mean);
        }
    }
}

pub(crate) fn var(statistic: Statistic, job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| var_of::<V, _>(
            statistic, &job, rows, values
        ))
    })
}

fn var_of<V: Moved, R: RowNumber>(
    statistic: Statistic,
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<V::Result>(job) else {
        return Ok(Made::None);
    };
    let mut all = states(job, <Variance as Fold<V::Computed>>::START)?;
    if join_all::<Variance, V, R>(job, rows, values, &mut all)? == Outcome::Stray {
        return Ok(Made::Stray);
    }
    let mut any_nan = false;
    let made = finish(&all, |state| {
        any_nan |= state.squares.is_nan();
        variance(state, statistic).map_or(fill, V::result)
    });
    // Whether values were NaN, or their differences overflowed, the records above tell.
    match any_nan {
        false => made,
        true => Ok(Made::None),
    }
}
