//! Statistics as running records: what a group holds so far, and how a value joins it.
//!
//! ```text
//! record = start
//! for each value of the group, in order: join(record, value, place)
//! result = finish(record)
//! ```
//!
//! The results have the bits of [`Column`](crate::group_stats::statistics::Column), which has all
//! values of a group together: the same operations in the same order. A record is a few words, so
//! the records of many groups are updated side by side, without bringing a group's values together.

use crate::group_stats::output::{Results, Row};
use crate::group_stats::statistics::Value;
use crate::ops::order::beats;
use num_complex::Complex64;

/// A statistic of each group as a running record.
pub(crate) trait Fold<T: Value>: 'static {
    type Cell: Copy;
    /// The record of a group without values.
    const START: Self::Cell;
    /// Joins the value of an update.
    fn join(cell: &mut Self::Cell, value: T, place: usize);
    /// Puts the results of records into a row of as many, whose set cells have values. Unsets those
    /// that have no result.
    fn finish(cells: &[Self::Cell], row: &mut Row<T>);
}

/// Puts the results that `of` gives for each record.
fn put<C: Copy, V>(cells: &[C], to: &mut [V], set: &mut [bool], of: impl Fn(C) -> Option<V>) {
    for ((&cell, to), set) in cells.iter().zip(to).zip(set) {
        match of(cell) {
            Some(value) => *to = value,
            None => *set = false,
        }
    }
}

/// Statistics whose record is a value of the values' type, and is the result.
macro_rules! values {
    ($($(#[$about:meta])* $name:ident, $start:ident, |$cell:ident, $value:ident| $join:expr;)*) => {$(
        $(#[$about])*
        pub(crate) struct $name;

        impl<T: Value> Fold<T> for $name {
            type Cell = T;
            const START: T = T::$start;

            #[inline(always)]
            fn join(cell: &mut T, $value: T, _: usize) {
                let $cell = *cell;
                *cell = $join;
            }

            fn finish(cells: &[T], row: &mut Row<T>) {
                if let Results::Same(to) = &mut row.numbers {
                    to.copy_from_slice(cells);
                }
            }
        }
    )*};
}

values! {
    /// The sum.
    Sum, ZERO, |sum, value| sum.add(value);
    /// The product.
    Prod, ONE, |product, value| product.mul(value);
    /// The sum of the squares.
    SumOfSquares, ZERO, |sum, value| sum.add(value.square());
    /// The smallest; NaN wins.
    Min, HIGHEST, |least, value| least.lesser(value);
    /// The largest; NaN wins.
    Max, LOWEST, |most, value| most.greater(value);
    /// The last one.
    Last, ZERO, |_last, value| value;
}

/// The first one.
pub(crate) struct First;

impl<T: Value> Fold<T> for First {
    type Cell = Option<T>;
    const START: Option<T> = None;

    #[inline(always)]
    fn join(first: &mut Option<T>, value: T, _: usize) {
        if first.is_none() {
            *first = Some(value);
        }
    }

    fn finish(cells: &[Option<T>], row: &mut Row<T>) {
        if let Results::Same(to) = &mut row.numbers {
            put(cells, to, &mut row.set, |cell| cell);
        }
    }
}

/// Statistics whose record is an integer, and is the result.
macro_rules! integers {
    ($($(#[$about:meta])* $name:ident, $start:literal, |$cell:ident, $value:ident| $join:expr;)*) => {$(
        $(#[$about])*
        pub(crate) struct $name;

        impl<T: Value> Fold<T> for $name {
            type Cell = i64;
            const START: i64 = $start;

            #[inline(always)]
            fn join(cell: &mut i64, $value: T, _: usize) {
                let $cell = *cell;
                *cell = $join;
            }

            fn finish(cells: &[i64], row: &mut Row<T>) {
                if let Results::Whole(to) = &mut row.numbers {
                    to.copy_from_slice(cells);
                }
            }
        }
    )*};
}

/// Whether there is a value.
pub(crate) struct Present;

impl<T: Value> Fold<T> for Present {
    type Cell = bool;
    const START: bool = false;

    #[inline(always)]
    fn join(found: &mut bool, _: T, _: usize) {
        *found = true;
    }

    /// It is no result, but says where there is one.
    fn finish(_: &[bool], _: &mut Row<T>) {}
}

integers! {
    /// How many values there are.
    Len, 0, |count, _value| count + 1;
    /// How many values are not NaN.
    Count, 0, |count, value| count + i64::from(!value.nan());
    /// Whether one is not zero.
    Any, 0, |any, value| any | i64::from(value != T::ZERO);
    /// Whether none is zero.
    All, 1, |all, value| all & i64::from(value != T::ZERO);
    /// Whether one is NaN.
    AnyNan, 0, |any, value| any | i64::from(value.nan());
    /// Whether all are NaN.
    AllNan, 1, |all, value| all & i64::from(value.nan());
}

/// The place of the best value: the first of the smallest, or of the largest.
pub(crate) struct Arg<const MAX: bool>;

/// The place of a group without values.
const NOWHERE: i64 = -1;

/// The place of a group with a NaN, which has no best value.
const NONE: i64 = -2;

impl<T: Value, const MAX: bool> Fold<T> for Arg<MAX> {
    type Cell = (T, i64);
    const START: (T, i64) = (T::ZERO, NOWHERE);

    #[inline(always)]
    fn join((best, at): &mut (T, i64), value: T, place: usize) {
        let wins = beats::<T, MAX>(value, *best) | (*at == NOWHERE);
        if wins & (*at != NONE) {
            (*best, *at) = (value, place as i64);
        }
        if value.nan() {
            *at = NONE;
        }
    }

    fn finish(cells: &[(T, i64)], row: &mut Row<T>) {
        if let Results::Whole(to) = &mut row.numbers {
            let known = |(_, at): (T, i64)| (at >= 0).then_some(at);
            put(cells, to, &mut row.set, known);
        }
    }
}

/// The sum that a mean is made of, and how many values it has.
pub(crate) struct Mean;

impl<T: Value> Fold<T> for Mean {
    type Cell = (T::Total, u64);
    const START: (T::Total, u64) = (T::NOTHING, 0);

    #[inline(always)]
    fn join((total, count): &mut (T::Total, u64), value: T, _: usize) {
        *total = value.add_to(*total);
        *count += 1;
    }

    fn finish(cells: &[(T::Total, u64)], row: &mut Row<T>) {
        let mean = |(total, count): (T::Total, u64)| T::mean_of(total, count);
        match &mut row.numbers {
            Results::Same(to) => put(cells, to, &mut row.set, |cell| Some(T::of(mean(cell)))),
            Results::Real(to) => put(cells, to, &mut row.set, |cell| Some(mean(cell).re)),
            Results::Whole(_) => {}
        }
    }
}

/// The sum of the squared differences from a mean that is known before.
pub(crate) struct Differences;

impl<T: Value> Fold<T> for Differences {
    /// The mean, and the sum.
    type Cell = (Complex64, f64);
    const START: (Complex64, f64) = (Complex64::ZERO, 0.0);

    #[inline(always)]
    fn join((mean, sum): &mut (Complex64, f64), value: T, _: usize) {
        *sum += value.squared_difference(*mean);
    }

    /// What is made of the sums takes the counts, too.
    fn finish(_: &[(Complex64, f64)], _: &mut Row<T>) {}
}

/// A statistic of each value as a running record of its group.
pub(crate) trait Scan<T: Value>: 'static {
    type Cell: Copy;
    /// The record of a group without values.
    const START: Self::Cell;
    /// Joins a value, and gives the result so far.
    fn join(cell: &mut Self::Cell, value: T) -> T;
}

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
    /// The smallest so far.
    CumMin, |least, value| least.lesser(value);
    /// The largest so far.
    CumMax, |most, value| most.greater(value);
}

#[cfg(test)]
mod tests {
    use super::{Arg, Fold, Max, Min};

    #[test]
    fn the_first_of_the_best_wins_and_nan_spoils() {
        let arg = |values: &[f64]| {
            let mut cell = <Arg<true> as Fold<f64>>::START;
            for (place, &value) in values.iter().enumerate() {
                Arg::<true>::join(&mut cell, value, place);
            }
            cell.1
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
}
