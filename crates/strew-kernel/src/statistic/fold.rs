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
//! the values does not matter.

use crate::statistic::cell::{Cell, Placed};
use crate::statistic::output::Row;
use crate::statistic::value::Value;
use crate::statistic::what::Statistic;

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
    /// Where the order of the values matters there is no such rule, and the record stays as it is.
    fn merge(_cell: &mut Self::Cell, _other: Self::Cell) {}
    /// Puts a statistic of records into a row of as many results, whose set cells have values.
    /// Unsets those that have no result.
    fn finish(cells: &[Self::Cell], statistic: Statistic, row: &mut Row<T>);
}

/// A statistic of each value as a running record of its group.
pub(crate) trait Scan<T: Value>: 'static {
    type Cell: Copy + Send;
    /// The record of a group without values.
    const START: Self::Cell;
    /// Joins a value, and gives the result so far.
    fn join(cell: &mut Self::Cell, value: T) -> T;
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

/// Joins another record to a cell.
pub(crate) fn join_into<C: Copy>(cell: &mut C, other: C, join: impl Fn(C, C) -> C) {
    *cell = join(*cell, other);
}

/// The place of a group without values.
pub(crate) const NOWHERE: i64 = -1;

impl<T: Value> Placed<T> {
    pub(crate) const NOWHERE: Self = Self {
        value: T::ZERO,
        place: NOWHERE,
    };
}

/// Statistics whose record is a number, and is the result: the record's type and the kind of
/// [`Results`], then for each its start, how a value joins, and how another record is merged.
macro_rules! number_folds {
    ($cell_type:ty, $results:ident: $(
        $(#[$about:meta])*
        $name:ident, $start:expr, |$cell:ident, $value:ident| $join:expr, $merge:expr;
    )*) => {$(
        $(#[$about])*
        pub(crate) struct $name;

        impl<T: $crate::statistic::value::Value> $crate::statistic::fold::Fold<T> for $name {
            type Cell = $cell_type;
            const START: $cell_type = $start;

            #[inline(always)]
            fn join(cell: &mut $cell_type, $value: T, _: usize) {
                let $cell = *cell;
                *cell = $join;
            }

            fn merge(cell: &mut $cell_type, other: $cell_type) {
                $crate::statistic::fold::join_into(cell, other, $merge);
            }

            fn finish(
                cells: &[$cell_type],
                _: $crate::statistic::what::Statistic,
                row: &mut $crate::statistic::output::Row<T>,
            ) {
                if let $crate::statistic::output::Results::$results(to) = &mut row.numbers {
                    to.copy_from_slice(cells);
                }
            }
        }
    )*};
}

pub(crate) use number_folds;
