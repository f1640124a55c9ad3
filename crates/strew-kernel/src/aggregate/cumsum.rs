//! Running sums, products, minima and maxima: one result for each value, written where it is.

use crate::aggregate::sum::Summed;
use crate::error::Problem;
use crate::ops::order::{Compared, first_nan_replaces};
use crate::statistic::fold::Scan;
use crate::statistic::pass::{
    Job, Made, Outcome, RowNumber, are_scattered, each_chunk, fill_of, is_far, look_ahead, states,
    unset, with_rows, with_values,
};
use crate::statistic::value::Value;
use crate::statistic::what::{Facts, Kind, Order, ResultType, Statistic, Way};
use crate::tensor::{Element, Plain};

pub(crate) const CUM_SUM: Facts = Facts {
    name: "cumsum",
    kind: Kind::Each,
    results: ResultType::Widened,
    order: Order::Rounds,
    way: Way::Scan,
    ..Facts::USUAL
};

pub(crate) const CUM_PROD: Facts = Facts {
    name: "cumprod",
    ..CUM_SUM
};

pub(crate) const CUM_MIN: Facts = Facts {
    name: "cummin",
    kind: Kind::Each,
    way: Way::Scan,
    ..Facts::USUAL
};

pub(crate) const CUM_MAX: Facts = Facts {
    name: "cummax",
    ..CUM_MIN
};

macro_rules! scans {
    ($($(#[$about:meta])* $name:ident, |$so_far:ident, $value:ident| $join:expr;)*) => {$(
        $(#[$about])*
        pub(crate) struct $name;

        impl<T: Value> Scan<T> for $name {
            type Cell = Option<T>;
            const START: Option<T> = None;

            #[inline(always)]
            fn join(cell: &mut Option<T>, $value: T) -> T {
                // The first value is not joined, so that -0.0 stays.
                let made = match *cell {
                    Some($so_far) => $join,
                    None => $value,
                };
                *cell = Some(made);
                made
            }
        }
    )*};
}

scans! {
    /// The sum so far.
    CumSum, |sum, value| sum.add(value);
    /// The product so far.
    CumProd, |product, value| product.mul(value);
}

/// The smallest or the largest so far.
pub(crate) struct CumExtreme<const MAX: bool>;

impl<T: Value, const MAX: bool> Scan<T> for CumExtreme<MAX> {
    type Cell = Option<T>;
    const START: Option<T> = None;

    #[inline(always)]
    fn join(cell: &mut Option<T>, value: T) -> T {
        let made = match (*cell, MAX) {
            (Some(most), true) => most.greater(value),
            (Some(least), false) => least.lesser(value),
            (None, _) => value,
        };
        *cell = Some(made);
        made
    }
}

/// Each value becomes the running result up to it. Returns the first place that has one: NaN
/// that is skipped joins nothing, so that minima and maxima may begin late.
pub(crate) fn run<T: Value>(values: &mut [T], statistic: Statistic, skip: bool) -> usize {
    let mut so_far: Option<T> = None;
    let mut begun = 0;
    let mut run = |join: fn(T, T) -> T, start: Option<T>| {
        for value in &mut *values {
            if !(skip && value.nan()) {
                so_far = Some(so_far.map_or(*value, |so_far| join(so_far, *value)));
            }
            match so_far.or(start) {
                Some(made) => *value = made,
                None => begun += 1,
            }
        }
    };
    match statistic {
        Statistic::CumSum => run(T::add, Some(T::ZERO)),
        Statistic::CumProd => run(T::mul, Some(T::ONE)),
        Statistic::CumMin => run(T::lesser, None),
        Statistic::CumMax => run(T::greater, None),
        _ => {}
    }
    begun
}

/// The same in the loop of single values.
trait Running<V: Element> {
    type State: Copy + Plain;
    /// Joined with a value, it is that value.
    const START: Self::State;
    fn join(state: Self::State, value: V) -> Self::State;
    fn result(state: Self::State) -> V;
}

macro_rules! running {
    ($($t:ty: $sum:expr, $lowest:expr, $highest:expr;)*) => {$(
        impl Running<$t> for CumSum {
            type State = <$t as Summed>::Sum;
            const START: Self::State = $sum;

            #[inline(always)]
            fn join(state: Self::State, value: $t) -> Self::State {
                Value::add(state, value.wide())
            }

            #[inline(always)]
            fn result(state: Self::State) -> $t {
                <$t as Summed>::of(state)
            }
        }

        impl Running<$t> for CumProd {
            type State = <$t as Summed>::Sum;
            const START: Self::State = 1 as Self::State;

            #[inline(always)]
            fn join(state: Self::State, value: $t) -> Self::State {
                Value::mul(state, value.wide())
            }

            #[inline(always)]
            fn result(state: Self::State) -> $t {
                <$t as Summed>::of(state)
            }
        }

        impl<const MAX: bool> Running<$t> for CumExtreme<MAX> {
            type State = $t;
            const START: $t = if MAX { $lowest } else { $highest };

            #[inline(always)]
            fn join(state: $t, value: $t) -> $t {
                best::<$t, MAX>(state, value)
            }

            #[inline(always)]
            fn result(state: $t) -> $t {
                state
            }
        }
    )*};
}

// The sum of -0.0 and a value has the value's sign.
running! {
    f32: -0.0, f32::NEG_INFINITY, f32::INFINITY;
    f64: -0.0, f64::NEG_INFINITY, f64::INFINITY;
    i64: 0, i64::MIN, i64::MAX;
}

#[inline(always)]
fn best<V: Compared, const MAX: bool>(state: V, value: V) -> V {
    match first_nan_replaces::<V, MAX>(value, state) {
        true => value,
        false => state,
    }
}

macro_rules! faces {
    ($($name:ident: $scan:ty;)*) => {$(
        pub(crate) fn $name(job: Job<'_>) -> Result<Made, Problem> {
            with_values!(job, |values: V| {
                with_rows!(job.rows, |rows| scan::<V, _, $scan>(&job, rows, values))
            })
        }
    )*};
}

faces! {
    cumsum: CumSum;
    cumprod: CumProd;
    cummin: CumExtreme<false>;
    cummax: CumExtreme<true>;
}

fn scan<V: Element, R: RowNumber, S: Running<V>>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<V>(job) else {
        return Ok(Made::None);
    };
    let mut all = states(job, S::START)?;
    let mut made = unset::<V>(values.len())?;
    let results = made.as_mut_slice();
    let far = is_far(&all) && are_scattered(rows);
    let end = each_chunk(job, rows, values, |rows, values, first| {
        let results = &mut results[first..];
        match far {
            true => some::<V, R, S, true>(rows, values, results, &mut all, fill),
            false => some::<V, R, S, false>(rows, values, results, &mut all, fill),
        }
    })?;
    Ok(match end {
        Outcome::Done => Made::Results(made.into_dyn()),
        Outcome::Stray => Made::Stray,
    })
}

/// The results of some values. False if a row is that of no group.
fn some<V: Element, R: RowNumber, S: Running<V>, const FAR: bool>(
    rows: &[R],
    values: &[V],
    results: &mut [V],
    states: &mut [S::State],
    fill: V,
) -> bool {
    let mut all_there = true;
    for (n, ((row, &value), result)) in rows.iter().zip(values).zip(results).enumerate() {
        if FAR {
            look_ahead(rows, n, states);
        }
        match states.get_mut(row.place()) {
            Some(state) => {
                *state = S::join(*state, value);
                *result = S::result(*state);
            }
            None => {
                *result = fill;
                all_there = false;
            }
        }
    }
    all_there
}
