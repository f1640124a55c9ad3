//! Statistics as running records: what a group holds so far, and how a value joins it.
//!
//! ```text
//! record = start
//! for each value of the group, in order: join(record, value, place)
//! result = finish(record)
//! ```
//!
//! A record is a few words, so the records of many groups are updated side by side, without
//! bringing a group's values together.
//!
//! Records of the same group that were made of different values can be merged where the order of
//! the values does not matter ([`depends_on_order`]).

use crate::group_stats::cell::{Cell, Flag, Placed, Total};
use crate::group_stats::output::{Results, Row};
use crate::group_stats::statistics::{Statistic, Value};
use crate::ops::order::{beats, first_nan_replaces};

/// A statistic of each group as a running record.
pub(crate) trait Fold<T: Value>: 'static {
    type Cell: Cell;
    /// The record of a group without values.
    const START: Self::Cell;
    /// Whether a value must mostly wait until the one before it in its group has been written.
    const WAITS: bool = true;
    /// Joins the value of an update.
    fn join(cell: &mut Self::Cell, value: T, place: usize);
    /// Joins a row of values of one update, each to a cell of its own.
    #[inline(always)]
    fn join_row(cells: &mut [Self::Cell], values: &[T], place: usize) {
        for (cell, &value) in cells.iter_mut().zip(values) {
            Self::join(cell, value, place);
        }
    }
    /// Joins the record of other values of the group.
    ///
    /// Where the result [depends on the order](depends_on_order) there is no such rule, and the
    /// record stays as it is.
    fn merge(_cell: &mut Self::Cell, _other: Self::Cell) {}
    /// Puts a statistic of records into a row of as many results, whose set cells have values.
    /// Unsets those that have no result.
    fn finish(cells: &[Self::Cell], statistic: Statistic, row: &mut Row<T>);
}

/// Whether a statistic of values of a type depends on the order in which they come, so that
/// records of different values cannot be merged.
pub fn depends_on_order<T: Value>(statistic: Statistic) -> bool {
    let rounds = T::FLOAT || T::COMPLEX;
    match statistic {
        Statistic::Sum | Statistic::Prod | Statistic::SumOfSquares | Statistic::Mean => rounds,
        Statistic::Var { .. }
        | Statistic::Std { .. }
        | Statistic::Sem { .. }
        | Statistic::Skew
        | Statistic::Kurt => true,
        _ => false,
    }
}

/// Whether a statistic depends on the positions of the values.
#[must_use]
pub fn depends_on_place(statistic: Statistic) -> bool {
    matches!(
        statistic,
        Statistic::First | Statistic::Last | Statistic::ArgMin | Statistic::ArgMax
    )
}

/// Puts the results that `of` gives for each record.
pub(crate) fn put<C: Copy, V>(
    cells: &[C],
    to: &mut [V],
    set: &mut [bool],
    of: impl Fn(C) -> Option<V>,
) {
    for ((&cell, to), set) in cells.iter().zip(to).zip(set) {
        match of(cell) {
            Some(value) => *to = value,
            None => *set = false,
        }
    }
}

fn join_into<C: Copy>(cell: &mut C, other: C, join: impl Fn(C, C) -> C) {
    *cell = join(*cell, other);
}

/// Statistics whose record is a number, and is the result: the record's type and the kind of
/// [`Results`], then for each its start, how a value joins, and how another record is merged.
macro_rules! numbers {
    ($cell_type:ty, $results:ident: $(
        $(#[$about:meta])*
        $name:ident, $start:expr, |$cell:ident, $value:ident| $join:expr, $merge:expr;
    )*) => {$(
        $(#[$about])*
        pub(crate) struct $name;

        impl<T: Value> Fold<T> for $name {
            type Cell = $cell_type;
            const START: $cell_type = $start;

            #[inline(always)]
            fn join(cell: &mut $cell_type, $value: T, _: usize) {
                let $cell = *cell;
                *cell = $join;
            }

            fn merge(cell: &mut $cell_type, other: $cell_type) {
                join_into(cell, other, $merge);
            }

            fn finish(cells: &[$cell_type], _: Statistic, row: &mut Row<T>) {
                if let Results::$results(to) = &mut row.numbers {
                    to.copy_from_slice(cells);
                }
            }
        }
    )*};
}

numbers! { T, Same:
    /// The sum.
    Sum, T::ZERO, |sum, value| sum.add(value), T::add;
    /// The product.
    Prod, T::ONE, |product, value| product.mul(value), T::mul;
    /// The sum of the squares.
    SumOfSquares, T::ZERO, |sum, value| sum.add(value.square()), T::add;
}

/// The smallest or the largest; NaN wins.
pub(crate) struct Extreme<const MAX: bool>;

impl<T: Value, const MAX: bool> Fold<T> for Extreme<MAX> {
    type Cell = T;
    const START: T = match MAX {
        true => T::LOWEST,
        false => T::HIGHEST,
    };
    const WAITS: bool = false;

    #[inline(always)]
    fn join(cell: &mut T, value: T, _: usize) {
        // Most values are not written, so the next one of the group need not wait for them.
        if first_nan_replaces::<T, MAX>(value, *cell) {
            *cell = value;
        }
    }

    #[inline(always)]
    fn join_row(cells: &mut [T], values: &[T], _: usize) {
        // A choice for every cell, which vectorises.
        for (cell, &value) in cells.iter_mut().zip(values) {
            let wins = first_nan_replaces::<T, MAX>(value, *cell);
            *cell = if wins { value } else { *cell };
        }
    }

    fn merge(cell: &mut T, other: T) {
        Self::join(cell, other, 0);
    }

    fn finish(cells: &[T], _: Statistic, row: &mut Row<T>) {
        if let Results::Same(to) = &mut row.numbers {
            to.copy_from_slice(cells);
        }
    }
}

/// The smallest; NaN wins.
pub(crate) type Min = Extreme<false>;

/// The largest; NaN wins.
pub(crate) type Max = Extreme<true>;

numbers! { i64, Whole:
    /// How many values there are.
    Len, 0, |count, _value| count.wrapping_add(1), i64::wrapping_add;
    /// How many values are not NaN.
    Count, 0, |count, value| count.wrapping_add(i64::from(!value.nan())), i64::wrapping_add;
    /// Whether one is not zero.
    Any, 0, |any, value| any | i64::from(value != T::ZERO), |a, b| a | b;
    /// Whether none is zero.
    All, 1, |all, value| all & i64::from(value != T::ZERO), |a, b| a & b;
    /// Whether one is NaN.
    AnyNan, 0, |any, value| any | i64::from(value.nan()), |a, b| a | b;
    /// Whether all are NaN.
    AllNan, 1, |all, value| all & i64::from(value.nan()), |a, b| a & b;
}

/// The place of a group without values.
const NOWHERE: i64 = -1;

/// The place of a group with a NaN, which has no best value.
const NONE: i64 = -2;

impl<T: Value> Placed<T> {
    const NOWHERE: Self = Self {
        value: T::ZERO,
        place: NOWHERE,
    };
}

/// The first value, or the last one. Values come with ascending places.
pub(crate) struct End<const LAST: bool>;

impl<T: Value, const LAST: bool> Fold<T> for End<LAST> {
    type Cell = Placed<T>;
    const START: Placed<T> = Placed::NOWHERE;
    const WAITS: bool = false;

    #[inline(always)]
    fn join(cell: &mut Placed<T>, value: T, place: usize) {
        if LAST | (cell.place == NOWHERE) {
            let place = place as i64;
            *cell = Placed { value, place };
        }
    }

    fn merge(cell: &mut Placed<T>, other: Placed<T>) {
        let wins = match LAST {
            true => other.place > cell.place,
            false => other.place < cell.place,
        };
        if other.place != NOWHERE && (wins || cell.place == NOWHERE) {
            *cell = other;
        }
    }

    fn finish(cells: &[Placed<T>], _: Statistic, row: &mut Row<T>) {
        if let Results::Same(to) = &mut row.numbers {
            let known = |cell: Placed<T>| (cell.place >= 0).then_some(cell.value);
            put(cells, to, &mut row.set, known);
        }
    }
}

/// Whether there is a value.
pub(crate) struct Present;

impl<T: Value> Fold<T> for Present {
    type Cell = Flag;
    const START: Flag = Flag(0);
    const WAITS: bool = false;

    #[inline(always)]
    fn join(found: &mut Flag, _: T, _: usize) {
        *found = Flag(1);
    }

    fn merge(found: &mut Flag, other: Flag) {
        found.0 |= other.0;
    }

    /// It is no result, but says where there is one.
    fn finish(_: &[Flag], _: Statistic, _: &mut Row<T>) {}
}

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

#[cfg(test)]
mod tests {
    use super::{Arg, End, Fold, Max, Min};

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
    fn extremes_keep_infinities() {
        let mut least = <Min as Fold<f64>>::START;
        Min::join(&mut least, f64::INFINITY, 0);
        assert_eq!(least, f64::INFINITY);
        let mut most = <Max as Fold<i64>>::START;
        Max::join(&mut most, i64::MIN, 0);
        assert_eq!(most, i64::MIN);
    }

    /// Merging the records of two values in either order gives the record of both.
    fn merges_like_joins<F: Fold<f64>>() {
        let values = [f64::NAN, -1.0, 0.0, -0.0, 2.0];
        let of = |value: f64, place: usize| {
            let mut cell = F::START;
            F::join(&mut cell, value, place);
            cell
        };
        for (first, second) in values.iter().flat_map(|&a| values.map(|b| (a, b))) {
            let mut both = of(first, 3);
            F::join(&mut both, second, 7);
            for (mut cell, other) in [
                (of(first, 3), of(second, 7)),
                (of(second, 7), of(first, 3)),
                (both, F::START),
                (F::START, both),
            ] {
                F::merge(&mut cell, other);
                assert_eq!(format!("{cell:?}"), format!("{both:?}"));
            }
        }
    }

    #[test]
    fn positions_decide_when_records_are_merged() {
        merges_like_joins::<End<false>>();
        merges_like_joins::<End<true>>();
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
