//! How many values groups have: all, and those that are not NaN.

use crate::error::Problem;
use crate::statistic::cell::Flag;
use crate::statistic::fold::{Fold, number_folds};
use crate::statistic::output::Row;
use crate::statistic::pass::{
    Job, Made, Outcome, RowNumber, Step, each_chunk, fill_of, join_all, with_rows,
};
use crate::statistic::value::Value;
use crate::statistic::what::{Empty, Facts, Kind, ResultType, Statistic};
use crate::tensor::{Tensor, try_vec};

pub(crate) const LEN: Facts = Facts {
    name: "len",
    kind: Kind::Whole,
    results: ResultType::Int64,
    empty: Empty::Zero,
    ..Facts::USUAL
};

pub(crate) const COUNT: Facts = Facts {
    name: "count",
    ..LEN
};

number_folds! { i64, Whole:
    /// How many values there are.
    Len, 0, |count, _value| count.wrapping_add(1), i64::wrapping_add;
    /// How many values are not NaN.
    Count, 0, |count, value| count.wrapping_add(i64::from(!value.nan())), i64::wrapping_add;
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

/// Maximum number of groups that are counted in several tables, so that values of one group need
/// not wait for each other. The nearest cache holds the tables.
const SMALL: usize = 2048;

/// The tables.
const TABLES: usize = 4;

impl Step<()> for Len {
    type State = i64;

    #[inline(always)]
    fn join(count: &mut i64, (): (), _: usize) {
        *count += 1;
    }
}

/// The values are not read.
pub(crate) fn len(job: Job<'_>) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<i64>(&job) else {
        return Ok(Made::None);
    };
    with_rows!(job.rows, |rows| len_of(&job, rows, fill))
}

fn len_of<R: RowNumber>(job: &Job<'_>, rows: &[R], fill: i64) -> Result<Made, Problem> {
    let mut lengths = Tensor::<i64>::zeros(&[job.size])?;
    let cells = lengths.as_mut_slice();
    let end = counts(job, rows, cells)?;
    if fill != 0 {
        let empty = cells.iter_mut().filter(|count| **count == 0);
        empty.for_each(|count| *count = fill);
    }
    Ok(match end {
        Outcome::Done => Made::Results(lengths.into_dyn()),
        Outcome::Stray => Made::Stray,
    })
}

/// Counts the values of each group, from zeros on.
///
/// # Errors
/// [`Problem::Interrupted`] and [`Problem::Memory`].
pub(crate) fn counts<R: RowNumber>(
    job: &Job<'_>,
    rows: &[R],
    cells: &mut [i64],
) -> Result<Outcome, Problem> {
    match job.size <= SMALL {
        true => len_of_few(job, rows, cells),
        // Values of no bytes.
        false => join_all::<Len, (), R>(job, rows, &vec![(); rows.len()], cells),
    }
}

fn len_of_few<R: RowNumber>(
    job: &Job<'_>,
    rows: &[R],
    counts: &mut [i64],
) -> Result<Outcome, Problem> {
    let size = counts.len();
    let mut tables = try_vec("counts of the groups", size)?;
    tables.resize(size, [0u32; TABLES]);
    // Values of no bytes.
    each_chunk(job, rows, &vec![(); rows.len()], |rows, _, _| {
        let mut strays = 0;
        let (quads, rest) = rows.as_chunks::<TABLES>();
        for quad in quads {
            for (table, row) in quad.iter().enumerate() {
                match tables.get_mut(row.place()) {
                    Some(counts) => counts[table] += 1,
                    None => strays += 1,
                }
            }
        }
        for row in rest {
            match tables.get_mut(row.place()) {
                Some(counts) => counts[0] += 1,
                None => strays += 1,
            }
        }
        // A table holds 2^32 values. Emptied after each chunk, it holds any number.
        for (count, table) in counts.iter_mut().zip(&mut tables) {
            *count += table.iter().copied().map(i64::from).sum::<i64>();
            *table = [0; TABLES];
        }
        strays == 0
    })
}
