//! How many values groups have. The values are not read.

use crate::aggregate::fold::{End, Fold, join_all};
use crate::aggregate::{CHUNK, Job, Made, Row, fill_of, with_rows};
use crate::error::Problem;
use crate::tensor::{Tensor, try_vec};

/// Maximum number of groups that are counted in several tables, so that values of one group need
/// not wait for each other. The nearest cache holds the tables.
const SMALL: usize = 2048;

/// The tables.
const TABLES: usize = 4;

struct Len;

impl Fold<()> for Len {
    type State = i64;

    #[inline(always)]
    fn join(count: &mut i64, (): (), _: usize) {
        *count += 1;
    }
}

pub(super) fn len(job: Job<'_>) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<i64>(&job) else {
        return Ok(Made::None);
    };
    with_rows!(job.rows, |rows| len_of(&job, rows, fill))
}

fn len_of<R: Row>(job: &Job<'_>, rows: &[R], fill: i64) -> Result<Made, Problem> {
    let mut counts = Tensor::<i64>::zeros(&[job.size])?;
    let cells = counts.as_mut_slice();
    let end = match job.size <= SMALL {
        true => len_of_few(job, rows, cells)?,
        // Values of no bytes.
        false => join_all::<Len, (), R>(job, rows, &vec![(); rows.len()], cells)?,
    };
    if fill != 0 {
        let empty = cells.iter_mut().filter(|count| **count == 0);
        empty.for_each(|count| *count = fill);
    }
    Ok(match end {
        End::Done => Made::Results(counts.into_dyn()),
        End::Stray => Made::Stray,
    })
}

fn len_of_few<R: Row>(job: &Job<'_>, rows: &[R], counts: &mut [i64]) -> Result<End, Problem> {
    let size = counts.len();
    let mut tables = try_vec("counts of the groups", size)?;
    tables.resize(size, [0u32; TABLES]);
    for rows in rows.chunks(CHUNK) {
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
        if !(job.step)(rows.len()) {
            return Err(Problem::Interrupted);
        }
        if strays > 0 && !job.leaves_out {
            return Ok(End::Stray);
        }
    }
    Ok(End::Done)
}
