//! The smallest and the largest value of each group. NaN wins.
//!
//! A cell is the result so far. Cells of floats begin as a NaN of its own, which says that a group
//! has no value. Integers have no such value: where a cell still holds what it began with, the
//! rows are gone over once more.

use crate::aggregate::fold::{End, Fold, join_all};
use crate::aggregate::{Job, Made, Row, fill_of, unset, with_rows, with_values};
use crate::error::Problem;
use crate::tensor::{Element, try_vec};

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

struct Extreme<const MAX: bool>;

impl<V: Extremal, const MAX: bool> Fold<V> for Extreme<MAX> {
    type State = V;
    const WAITS: bool = false;

    #[inline(always)]
    fn join(cell: &mut V, value: V, _: usize) {
        V::join::<MAX>(cell, value);
    }
}

pub(super) fn extreme<const MAX: bool>(job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| extreme_of::<V, _, MAX>(&job, rows, values))
    })
}

fn extreme_of<V: Extremal, R: Row, const MAX: bool>(
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
    if join_all::<Extreme<MAX>, V, R>(job, rows, values, cells)? == End::Stray {
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
fn seen<R: Row>(rows: &[R], size: usize) -> Result<Vec<u64>, Problem> {
    let mut seen = try_vec("which groups have a value", size.div_ceil(64))?;
    seen.resize(size.div_ceil(64), 0);
    for row in rows.iter().map(|row| row.place()).filter(|&row| row < size) {
        seen[row / 64] |= 1u64 << (row % 64);
    }
    Ok(seen)
}
