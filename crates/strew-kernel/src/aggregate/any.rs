//! Whether a group has a value that is not zero (any), or is NaN (anynan), and whether all are.
//!
//! In the loop of single values a cell is the result, and changes once at most. Values of which none
//! changes a cell are skipped together. With many values for each group, so is everything once all
//! cells have changed. Row numbers are checked all the same.

use crate::error::Problem;
use crate::statistic::fold::number_folds;
use crate::statistic::pass::{
    CHUNK, Job, Made, RowNumber, are_inside, decides_soon, with_rows, with_values,
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
    let soon = decides_soon(job.size, rows.len());
    let mut left = job.size;
    for (rows, values) in rows.chunks(CHUNK).zip(values.chunks(CHUNK)) {
        let mut all_there = true;
        for (rows, values) in rows.chunks(SOME).zip(values.chunks(SOME)) {
            // A value that changes a cell is zero for all, and not zero for any.
            let changes = |value: V| value.is_zero() == ALL;
            let some = |values: &[V]| {
                let each = values.iter().copied();
                each.fold(false, |some, value| some | changes(value))
            };
            if left == 0 || !some(values) {
                all_there &= are_inside(rows, job.size);
                continue;
            }
            for (row, &value) in rows.iter().zip(values) {
                let Some(cell) = cells.get_mut(row.place()) else {
                    all_there = false;
                    continue;
                };
                if !soon {
                    // Many cells change, and which ones is not known.
                    let changed = u8::from(changes(value));
                    *cell = if ALL {
                        *cell & !changed
                    } else {
                        *cell | changed
                    };
                } else if (*cell == start) & changes(value) {
                    *cell = u8::from(!ALL);
                    left -= 1;
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
    Ok(Made::Results(made))
}
