//! The place of the first of the largest or of the smallest values. A group with NaN has none.
//!
//! In the loop of single values one comparison passes what is better than the best so far, and NaN.
//! Few values pass.

use crate::error::Problem;
use crate::ops::order::beats;
use crate::statistic::cell::Placed;
use crate::statistic::fold::{Fold, NOWHERE, put};
use crate::statistic::output::{Results, Row};
use crate::statistic::pass::{
    Job, Made, Outcome, RowNumber, are_scattered, each_chunk, fill_of, is_far, look_ahead, states,
    unset, with_rows, with_values,
};
use crate::statistic::value::Value;
use crate::statistic::what::{Empty, Facts, Kind, ResultType, Statistic};
use crate::tensor::{Element, Plain};
use std::hint::select_unpredictable;

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

trait Ranked: Element + Plain {
    /// The best value of a group without values.
    fn start(max: bool) -> Self;
    /// Whether the first value of a group may be no better than that.
    const MAY_HIDE: bool;
    /// Whether the value is better than the best one, or NaN.
    fn passes<const MAX: bool>(self, best: Self) -> bool;
    /// If the value is NaN, what its group has from then on, which only NaN passes.
    fn after_nan(self, max: bool) -> Option<Self>;
}

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl Ranked for $t {
            const MAY_HIDE: bool = false;

            fn start(_: bool) -> Self {
                Self::NAN
            }

            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord)] // NaN passes.
            fn passes<const MAX: bool>(self, best: Self) -> bool {
                match MAX {
                    true => !(self <= best),
                    false => !(self >= best),
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
    const MAY_HIDE: bool = true;

    fn start(max: bool) -> Self {
        if max { Self::MIN } else { Self::MAX }
    }

    #[inline(always)]
    fn passes<const MAX: bool>(self, best: Self) -> bool {
        match MAX {
            true => self > best,
            false => self < best,
        }
    }

    fn after_nan(self, _: bool) -> Option<Self> {
        None
    }
}

pub(crate) fn arg<const MAX: bool>(job: Job<'_>) -> Result<Made, Problem> {
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
    let start = V::start(MAX);
    let mut best = states(job, start)?;
    let mut made = unset::<i64>(job.size)?;
    let places = made.as_mut_slice();
    places.fill(NOWHERE);
    let far = is_far(&best) && are_scattered(rows);
    let often = job.size.saturating_mul(CHANGES_OFTEN) >= rows.len();
    let join = match (far, often) {
        (true, true) => some::<V, R, MAX, true, true>,
        (true, false) => some::<V, R, MAX, true, false>,
        (false, true) => some::<V, R, MAX, false, true>,
        (false, false) => some::<V, R, MAX, false, false>,
    };
    let end = each_chunk(job, rows, values, |rows, values, first| {
        join(rows, values, first, &mut best, places)
    })?;
    if end == Outcome::Stray {
        return Ok(Made::Stray);
    }
    if V::MAY_HIDE && places.contains(&NOWHERE) && values.contains(&start) {
        // The first value of a group was not better than what the group began with.
        for (place, (row, &value)) in (0..).zip(rows.iter().zip(values)) {
            if value == start
                && let Some(best) = places.get_mut(row.place())
                && *best == NOWHERE
            {
                *best = place;
            }
        }
    }
    (places.iter_mut().filter(|place| **place < 0)).for_each(|place| *place = fill);
    Ok(Made::Results(made.into_dyn()))
}

/// Values for each group, on average, of which a third or more are better than those before: no
/// jump is foreseen.
const CHANGES_OFTEN: usize = 8;

/// Joins some values to the best ones of their groups. False if a row is that of no group.
fn some<V: Ranked, R: RowNumber, const MAX: bool, const FAR: bool, const OFTEN: bool>(
    rows: &[R],
    values: &[V],
    first: usize,
    best: &mut [V],
    places: &mut [i64],
) -> bool {
    let mut all_there = true;
    for (n, (row, &value)) in rows.iter().zip(values).enumerate() {
        if FAR {
            look_ahead(rows, n, best);
            look_ahead(rows, n, places);
        }
        let Some(best) = best.get_mut(row.place()) else {
            all_there = false;
            continue;
        };
        let passes = value.passes::<MAX>(*best);
        if OFTEN {
            let place = &mut places[row.place()];
            let (value, at) = match value.after_nan(MAX) {
                Some(most) => (most, NONE),
                None => (value, (first + n) as i64),
            };
            *best = select_unpredictable(passes, value, *best);
            *place = select_unpredictable(passes, at, *place);
        } else if passes {
            let place = &mut places[row.place()];
            (*best, *place) = match value.after_nan(MAX) {
                Some(most) => (most, NONE),
                None => (value, (first + n) as i64),
            };
        }
    }
    all_there
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
