//! The smallest and the largest value of each group. NaN wins.
//!
//! In the loop of single values a cell is the result so far. Cells of floats begin as a NaN of its
//! own, which says that a group has no value. Integers have no such value: where a cell still holds
//! what it began with, the rows are gone over once more.

use crate::error::Problem;
use crate::ops::order::first_nan_replaces;
use crate::statistic::fold::Fold;
use crate::statistic::output::{Results, Row};
use crate::statistic::pass::{
    Job, Made, Outcome, RowNumber, Step, fill_of, join_all, unset, with_rows, with_values,
};
use crate::statistic::value::Value;
use crate::statistic::what::{Facts, Statistic};
use crate::tensor::{Element, try_vec};

pub(crate) const MIN: Facts = Facts {
    name: "min",
    ..Facts::USUAL
};

pub(crate) const MAX: Facts = Facts {
    name: "max",
    ..Facts::USUAL
};

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
        <Self as Fold<T>>::join(cell, other, 0);
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

trait Extremal: Element {
    /// What no value is worse than.
    fn start(max: bool) -> Self;
    /// Whether a result may be that of a group without values, and whether it must be.
    fn may_be_unset(self, max: bool) -> (bool, bool);
    fn join<const MAX: bool>(cell: &mut Self, value: Self);
}

macro_rules! floats {
    ($($t:ident: $unset:literal;)*) => {$(
        impl Extremal for $t {
            fn start(_: bool) -> Self {
                Self::from_bits($unset)
            }

            fn may_be_unset(self, _: bool) -> (bool, bool) {
                let unset = self.to_bits() == $unset;
                (unset, unset)
            }

            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord)] // NaN passes.
            fn join<const MAX: bool>(cell: &mut Self, value: Self) {
                let passes = match MAX {
                    true => !(value <= *cell),
                    false => !(value >= *cell),
                };
                if passes {
                    replace(cell, value, |cell| cell.to_bits() == $unset);
                }
            }
        }
    )*};
}

// Quiet NaNs with bits that no operation makes.
floats! {
    f32: 0x7fd5_7247;
    f64: 0x7ffd_5724_7273_7472;
}

/// Replaces a cell by a value that is better, or NaN, or the first of its group.
#[inline(always)]
fn replace<V: Copy + PartialOrd + Nan>(cell: &mut V, value: V, is_unset: impl Fn(V) -> bool) {
    // The first NaN stays.
    if !cell.is_nan() || is_unset(*cell) {
        *cell = if is_unset(value) { V::NAN } else { value };
    }
}

trait Nan {
    const NAN: Self;
    fn is_nan(&self) -> bool;
}

macro_rules! nans {
    ($($t:ident),*) => {$(
        impl Nan for $t {
            const NAN: Self = $t::NAN;

            #[inline(always)]
            fn is_nan(&self) -> bool {
                $t::is_nan(*self)
            }
        }
    )*};
}

nans!(f32, f64);

impl Extremal for i64 {
    fn start(max: bool) -> Self {
        if max { Self::MIN } else { Self::MAX }
    }

    fn may_be_unset(self, max: bool) -> (bool, bool) {
        (self == Self::start(max), false)
    }

    #[inline(always)]
    fn join<const MAX: bool>(cell: &mut Self, value: Self) {
        let better = match MAX {
            true => value > *cell,
            false => value < *cell,
        };
        if better {
            *cell = value;
        }
    }
}

impl<V: Extremal, const MAX: bool> Step<V> for Extreme<MAX> {
    type State = V;
    const WAITS: bool = false;

    #[inline(always)]
    fn join(cell: &mut V, value: V, _: usize) {
        V::join::<MAX>(cell, value);
    }
}

pub(crate) fn extreme<const MAX: bool>(job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| extreme_of::<V, _, MAX>(&job, rows, values))
    })
}

fn extreme_of<V: Extremal, R: RowNumber, const MAX: bool>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<V>(job) else {
        return Ok(Made::None);
    };
    let mut made = unset::<V>(job.size)?;
    let cells = made.as_mut_slice();
    cells.fill(V::start(MAX));
    if join_all::<Extreme<MAX>, V, R>(job, rows, values, cells)? == Outcome::Stray {
        return Ok(Made::Stray);
    }
    let lacks = |cell: &V| cell.may_be_unset(MAX);
    if cells.iter().any(|cell| lacks(cell) == (true, false)) {
        let seen = seen(rows, job.size)?;
        for (row, cell) in cells.iter_mut().enumerate() {
            if lacks(cell).0 && seen[row / 64] >> (row % 64) & 1 == 0 {
                *cell = fill;
            }
        }
    } else {
        let lacking = cells.iter_mut().filter(|cell| lacks(cell).0);
        lacking.for_each(|cell| *cell = fill);
    }
    Ok(Made::Results(made.into_dyn()))
}

/// A bit of each group that has a value.
fn seen<R: RowNumber>(rows: &[R], size: usize) -> Result<Vec<u64>, Problem> {
    let mut seen = try_vec("which groups have a value", size.div_ceil(64))?;
    seen.resize(size.div_ceil(64), 0);
    for row in rows.iter().map(|row| row.place()).filter(|&row| row < size) {
        seen[row / 64] |= 1u64 << (row % 64);
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::{Fold, Max, Min};

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
