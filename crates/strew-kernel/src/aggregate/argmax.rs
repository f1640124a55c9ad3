//! The place of the first of the largest or of the smallest values. A group with NaN has none.
//!
//! In the loop of single values one comparison passes what is better than the best so far, and NaN.
//! Few values pass.
//!
//! # Unsafe
//!
//! - Buys: states in memory of large pages
//! - Measured: states in a `Vec`: 4M values of float64 into 4M groups 1.35
//! - Holds: every bit pattern of the numbers is a value

use crate::error::Problem;
use crate::ops::order::beats;
use crate::statistic::cell::Placed;
use crate::statistic::fold::{Fold, NOWHERE, put};
use crate::statistic::output::{Results, Row};
use crate::statistic::pass::{
    Job, Made, Outcome, RowNumber, Step, fill_of, finish, join_all, states, with_rows, with_values,
};
use crate::statistic::value::Value;
use crate::statistic::what::{Empty, Facts, Kind, ResultType, Statistic};
use crate::tensor::{Element, Plain};

pub(crate) const ARG_MAX: Facts = Facts {
    name: "argmax",
    kind: Kind::Whole,
    results: ResultType::Int64,
    empty: Empty::Nowhere,
    of_places: true,
    ..Facts::USUAL
};

pub(crate) const ARG_MIN: Facts = Facts {
    name: "argmin",
    ..ARG_MAX
};

/// The place of a group with a NaN, which has no best value.
const NONE: i64 = -2;

/// The place of the best value: the first of the smallest, or of the largest.
pub(crate) struct Arg<const MAX: bool>;

impl<T: Value, const MAX: bool> Fold<T> for Arg<MAX> {
    type Cell = Placed<T>;
    const START: Placed<T> = Placed::NOWHERE;
    const WAITS: bool = false;

    #[inline(always)]
    fn join(best: &mut Placed<T>, value: T, place: usize) {
        let wins = beats::<T, MAX>(value, best.value) | (best.place == NOWHERE);
        if wins & (best.place != NONE) {
            let place = place as i64;
            *best = Placed { value, place };
        }
        if value.nan() {
            best.place = NONE;
        }
    }

    fn merge(best: &mut Placed<T>, other: Placed<T>) {
        if best.place == NONE || other.place == NOWHERE {
            return;
        }
        let earlier = other.place < best.place;
        let ties = !beats::<T, MAX>(best.value, other.value);
        let wins = beats::<T, MAX>(other.value, best.value) || (ties && earlier);
        if other.place == NONE || best.place == NOWHERE || wins {
            *best = other;
        }
    }

    fn finish(cells: &[Placed<T>], _: Statistic, row: &mut Row<T>) {
        if let Results::Whole(to) = &mut row.numbers {
            let known = |cell: Placed<T>| (cell.place >= 0).then_some(cell.place);
            put(cells, to, &mut row.set, known);
        }
    }
}

/// The best value so far, and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Best<V> {
    value: V,
    place: u32,
}

// SAFETY: every bit pattern of the two numbers is a value.
unsafe impl<V: Plain> Plain for Best<V> {}

/// The place of a group without values.
const UNSET: u32 = u32::MAX;

/// The place of a group with NaN.
const SPOILT: u32 = u32::MAX - 1;

trait Ranked: Element + Plain {
    /// The best value of a group without values.
    fn start(max: bool) -> Self;
    /// Whether the value is better than the best one, or NaN, or the first of its group.
    fn passes<const MAX: bool>(self, best: Best<Self>) -> bool;
    /// If the value is NaN, what its group has from then on, which only NaN passes.
    fn after_nan(self, max: bool) -> Option<Self>;
}

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl Ranked for $t {
            fn start(_: bool) -> Self {
                Self::NAN
            }

            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord)] // NaN passes.
            fn passes<const MAX: bool>(self, best: Best<Self>) -> bool {
                match MAX {
                    true => !(self <= best.value),
                    false => !(self >= best.value),
                }
            }

            fn after_nan(self, max: bool) -> Option<Self> {
                let most = if max { Self::INFINITY } else { Self::NEG_INFINITY };
                self.is_nan().then_some(most)
            }
        }
    )*};
}

floats!(f32, f64);

impl Ranked for i64 {
    fn start(max: bool) -> Self {
        if max { Self::MIN } else { Self::MAX }
    }

    #[inline(always)]
    fn passes<const MAX: bool>(self, best: Best<Self>) -> bool {
        let better = match MAX {
            true => self > best.value,
            false => self < best.value,
        };
        better | (best.place == UNSET)
    }

    fn after_nan(self, _: bool) -> Option<Self> {
        None
    }
}

impl<V: Ranked, const MAX: bool> Step<V> for Arg<MAX> {
    type State = Best<V>;
    const WAITS: bool = false;

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // There are fewer values.
    fn join(best: &mut Best<V>, value: V, place: usize) {
        if value.passes::<MAX>(*best) {
            *best = match value.after_nan(MAX) {
                Some(value) => Best {
                    value,
                    place: SPOILT,
                },
                None => Best {
                    value,
                    place: place as u32,
                },
            };
        }
    }
}

pub(crate) fn arg<const MAX: bool>(job: Job<'_>) -> Result<Made, Problem> {
    if job.values.len() >= SPOILT as usize {
        return Ok(Made::None);
    }
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| arg_of::<V, _, MAX>(&job, rows, values))
    })
}

fn arg_of<V: Ranked, R: RowNumber, const MAX: bool>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<i64>(job) else {
        return Ok(Made::None);
    };
    let mut all = states(
        job,
        Best {
            value: V::start(MAX),
            place: UNSET,
        },
    )?;
    match join_all::<Arg<MAX>, V, R>(job, rows, values, &mut all)? {
        Outcome::Stray => Ok(Made::Stray),
        Outcome::Done => finish(&all, |best| match best.place {
            UNSET | SPOILT => fill,
            place => i64::from(place),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{Arg, Fold};

    #[test]
    fn the_first_of_the_best_wins_and_nan_spoils() {
        let arg = |values: &[f64]| {
            let mut cell = <Arg<true> as Fold<f64>>::START;
            for (place, &value) in values.iter().enumerate() {
                Arg::<true>::join(&mut cell, value, place);
            }
            cell.place
        };
        assert_eq!(arg(&[]), -1);
        assert_eq!(arg(&[f64::NEG_INFINITY, f64::NEG_INFINITY]), 0);
        assert_eq!(arg(&[1.0, 3.0, 3.0, 2.0]), 1);
        assert_eq!(arg(&[1.0, f64::NAN, 3.0]), -2);
        assert_eq!(arg(&[f64::NAN]), -2);
    }

    #[test]
    fn the_first_place_wins_in_either_order_of_merging() {
        let values = [f64::NAN, -1.0, 0.0, -0.0, 2.0];
        let of = |value: f64, place: usize| {
            let mut cell = <Arg<false> as Fold<f64>>::START;
            Arg::<false>::join(&mut cell, value, place);
            cell
        };
        for (first, second) in values.iter().flat_map(|&a| values.map(|b| (a, b))) {
            let mut both = of(first, 3);
            Arg::<false>::join(&mut both, second, 7);
            let pairs = [(of(first, 3), of(second, 7)), (of(second, 7), of(first, 3))];
            for (mut cell, other) in pairs {
                Arg::<false>::merge(&mut cell, other);
                assert_eq!(cell.place, both.place, "{first} {second}");
            }
        }
    }
}
