//! Whether a group has a value that is not zero (any), or is NaN (anynan), and whether all are.
//!
//! In the loop of single values a cell is the result, and changes once at most. Values of which none
//! changes a cell are skipped together. With many values for each group, so is everything once all
//! cells have changed, and values of one group whose cell has. Row numbers are checked all the same.

use crate::error::Problem;
use crate::statistic::fold::number_folds;
use crate::statistic::pass::{
    CHUNK, Job, Made, Outcome, RowNumber, are_even, are_inside, are_of_one, decides_soon,
    each_chunk, repeat, with_rows, with_values,
};
use crate::statistic::what::{Empty, Facts, Kind, ResultType};
use crate::tensor::{DType, DynTensor, Element};

pub(crate) const ANY: Facts = Facts {
    name: "any",
    kind: Kind::Whole,
    results: ResultType::Bool,
    empty: Empty::False,
    ..Facts::USUAL
};

pub(crate) const ALL: Facts = Facts {
    name: "all",
    empty: Empty::True,
    ..ANY
};

pub(crate) const ANY_NAN: Facts = Facts {
    name: "anynan",
    ..ANY
};

pub(crate) const ALL_NAN: Facts = Facts {
    name: "allnan",
    ..ALL
};

number_folds! { i64, Whole:
    /// Whether one is not zero.
    Any, 0, |any, value| any | i64::from(value != T::ZERO), |a, b| a | b;
    /// Whether none is zero.
    All, 1, |all, value| all & i64::from(value != T::ZERO), |a, b| a & b;
    /// Whether one is NaN.
    AnyNan, 0, |any, value| any | i64::from(value.nan()), |a, b| a | b;
    /// Whether all are NaN.
    AllNan, 1, |all, value| all & i64::from(value.nan()), |a, b| a & b;
}

/// Values that are looked at together before their cells are.
const SOME: usize = 64;

/// Values of which none is looked at if the first ones change cells.
const MANY: usize = 1024;

/// Values that are passed over at once if they are of one group, whose cell has changed.
const NEIGHBOURS: usize = 16;

pub(crate) fn any(job: Job<'_>) -> Result<Made, Problem> {
    of::<false>(job)
}

pub(crate) fn all(job: Job<'_>) -> Result<Made, Problem> {
    of::<true>(job)
}

fn of<const ALL: bool>(job: Job<'_>) -> Result<Made, Problem> {
    // Which groups have values is not known: those without have what all cells begin with.
    if job.fill.dtype() != DType::Bool || job.fill.as_bytes() != [u8::from(ALL)] {
        return Ok(Made::None);
    }
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| flags::<V, _, ALL>(&job, rows, values))
    })
}

trait Zero: Element {
    fn is_zero(self) -> bool;
}

macro_rules! zeros {
    ($($t:ty),*) => {$(
        impl Zero for $t {
            #[inline(always)]
            fn is_zero(self) -> bool {
                self == 0 as $t
            }
        }
    )*};
}

zeros!(f32, f64, i64);

fn flags<V: Zero, R: RowNumber, const ALL: bool>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let start = u8::from(ALL);
    let mut made = DynTensor::filled(DType::Bool, &[job.size], &[start])?;
    let cells = made.as_bytes_mut();
    let mut soon = decides_soon(job.size, rows.len());
    let mut left = job.size;
    let by_group = decides_soon(job.size, rows.len() / 8) && repeat(&rows[..rows.len().min(CHUNK)]);
    let end = each_chunk(job, rows, values, |rows, values, first| {
        let (mut all_there, mut most) = (true, false);
        for (rows, values) in rows.chunks(MANY).zip(values.chunks(MANY)) {
            let some = match left {
                0 => 0,
                _ => how_many_change::<V, ALL>(&values[..values.len().min(SOME)]),
            };
            most = some * 8 > SOME * 7;
            let size = if some > 0 { MANY } else { SOME };
            for (rows, values) in rows.chunks(size).zip(values.chunks(size)) {
                if size == SOME && !any_changes::<V, ALL>(values) || left == 0 {
                    all_there &= are_inside(rows, job.size);
                    continue;
                }
                all_there &= match soon {
                    true if by_group => {
                        change_by_group::<V, R, ALL>(rows, values, cells, &mut left)
                    }
                    true => change_few::<V, R, ALL>(rows, values, cells, &mut left),
                    false if most => change_most::<V, R, ALL>(rows, values, cells),
                    false => change_many::<V, R, ALL>(rows, values, cells),
                };
            }
        }
        if first == 0 && most && !by_group {
            soon &= are_even(job.size, values.len(), left);
        }
        all_there
    })?;
    Ok(match end {
        Outcome::Done => Made::Results(made),
        Outcome::Stray => Made::Stray,
    })
}

/// Whether a value changes its cell: it is zero for all, and not zero for any.
#[inline(always)]
fn changes<V: Zero, const ALL: bool>(value: V) -> bool {
    value.is_zero() == ALL
}

/// How many values change their cells.
fn how_many_change<V: Zero, const ALL: bool>(values: &[V]) -> usize {
    let each = values.iter().copied();
    each.map(|value| usize::from(changes::<V, ALL>(value)))
        .sum()
}

/// Whether one of the values changes its cell.
#[inline(always)]
fn any_changes<V: Zero, const ALL: bool>(values: &[V]) -> bool {
    let each = values.iter().copied();
    each.fold(false, |any, value| any | changes::<V, ALL>(value))
}

/// [`change_few`], of groups that lie one after the other.
#[inline(never)] // For size.
fn change_by_group<V: Zero, R: RowNumber, const ALL: bool>(
    rows: &[R],
    values: &[V],
    cells: &mut [u8],
    left: &mut usize,
) -> bool {
    let mut all_there = true;
    for (rows, values) in rows.chunks(NEIGHBOURS).zip(values.chunks(NEIGHBOURS)) {
        let has_changed = cells.get(rows[0].place()) == Some(&u8::from(!ALL));
        if !(has_changed && are_of_one(rows, rows[0])) {
            all_there &= change_few::<V, R, ALL>(rows, values, cells, left);
        }
    }
    all_there
}

/// Where few cells change. `left`: how many have not.
#[inline(never)] // For size.
fn change_few<V: Zero, R: RowNumber, const ALL: bool>(
    rows: &[R],
    values: &[V],
    cells: &mut [u8],
    left: &mut usize,
) -> bool {
    let mut all_there = true;
    for (row, &value) in rows.iter().zip(values) {
        match cells.get_mut(row.place()) {
            Some(cell) if (*cell == u8::from(ALL)) & changes::<V, ALL>(value) => {
                *cell = u8::from(!ALL);
                *left -= 1;
            }
            Some(_) => {}
            None => all_there = false,
        }
    }
    all_there
}

/// Where many cells change, and which ones is not known.
#[inline(never)] // For size.
fn change_many<V: Zero, R: RowNumber, const ALL: bool>(
    rows: &[R],
    values: &[V],
    cells: &mut [u8],
) -> bool {
    let mut all_there = true;
    for (row, &value) in rows.iter().zip(values) {
        let changed = u8::from(changes::<V, ALL>(value));
        match cells.get_mut(row.place()) {
            Some(cell) if ALL => *cell &= !changed,
            Some(cell) => *cell |= changed,
            None => all_there = false,
        }
    }
    all_there
}

/// Where most values change their cells: what a cell holds need not be known.
#[inline(never)] // For size.
fn change_most<V: Zero, R: RowNumber, const ALL: bool>(
    rows: &[R],
    values: &[V],
    cells: &mut [u8],
) -> bool {
    let mut all_there = true;
    for (row, &value) in rows.iter().zip(values) {
        match cells.get_mut(row.place()) {
            Some(cell) if changes::<V, ALL>(value) => *cell = u8::from(!ALL),
            Some(_) => {}
            None => all_there = false,
        }
    }
    all_there
}
