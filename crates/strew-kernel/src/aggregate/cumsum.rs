//! Running sums, products, minima and maxima: one result for each value, written where it is.

use crate::aggregate::sum::Summed;
use crate::aggregate::{CHUNK, Job, Made, Row, fill_of, states, unset, with_rows, with_values};
use crate::error::Problem;
use crate::ops::order::{Compared, first_nan_replaces};
use crate::tensor::{Element, Plain};

/// A running result of each group.
trait Scan<V: Element> {
    type State: Copy + Plain;
    /// Joined with a value, it is that value.
    const START: Self::State;
    fn join(state: Self::State, value: V) -> Self::State;
    fn result(state: Self::State) -> V;
}

struct Sum;
struct Product;
struct Extreme<const MAX: bool>;

macro_rules! scans {
    ($($t:ty: $sum:expr, $lowest:expr, $highest:expr, |$state:ident, $value:ident| $product:expr;)*) => {$(
        impl Scan<$t> for Sum {
            type State = <$t as Summed>::Sum;
            const START: Self::State = $sum;

            #[inline(always)]
            fn join(state: Self::State, value: $t) -> Self::State {
                value.add(state)
            }

            #[inline(always)]
            fn result(state: Self::State) -> $t {
                <$t as Summed>::of(state)
            }
        }

        impl Scan<$t> for Product {
            type State = <$t as Summed>::Sum;
            const START: Self::State = 1 as Self::State;

            #[inline(always)]
            fn join($state: Self::State, $value: $t) -> Self::State {
                $product
            }

            #[inline(always)]
            fn result(state: Self::State) -> $t {
                <$t as Summed>::of(state)
            }
        }

        impl<const MAX: bool> Scan<$t> for Extreme<MAX> {
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
scans! {
    f32: -0.0, f32::NEG_INFINITY, f32::INFINITY, |state, value| state * f64::from(value);
    f64: -0.0, f64::NEG_INFINITY, f64::INFINITY, |state, value| state * value;
    i64: 0, i64::MIN, i64::MAX, |state, value| state.wrapping_mul(value);
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
        pub(super) fn $name(job: Job<'_>) -> Result<Made, Problem> {
            with_values!(job, |values: V| {
                with_rows!(job.rows, |rows| scan::<V, _, $scan>(&job, rows, values))
            })
        }
    )*};
}

faces! {
    cumsum: Sum;
    cumprod: Product;
    cummin: Extreme<false>;
    cummax: Extreme<true>;
}

fn scan<V: Element, R: Row, S: Scan<V>>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<V>(job) else {
        return Ok(Made::None);
    };
    let mut all = states(job, S::START)?;
    let mut made = unset::<V>(values.len())?;
    let results = made.as_mut_slice().chunks_mut(CHUNK);
    let chunks = rows.chunks(CHUNK).zip(values.chunks(CHUNK)).zip(results);
    for ((rows, values), results) in chunks {
        let mut all_there = true;
        for ((row, &value), result) in rows.iter().zip(values).zip(results) {
            match all.get_mut(row.place()) {
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
        if !(job.step)(values.len()) {
            return Err(Problem::Interrupted);
        }
        if !all_there && !job.leaves_out {
            return Ok(Made::Stray);
        }
    }
    Ok(Made::Results(made.into_dyn()))
}
