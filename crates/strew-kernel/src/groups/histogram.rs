//! How many updates the rows of a destination take.
//!
//! From sorted row numbers: one pass that counts runs. From others: a table of counts, 8 bytes for
//! each row, where the table stays in a near cache and is not large against the updates. From a
//! grouping: the differences of its `starts`. The engine's cost model reads the result.

use crate::error::Problem;
use crate::groups::csr::Csr;
use crate::groups::row_ids::{Facts, RowIds};
use crate::tensor::try_vec;

/// Maximum number of rows whose table of counts stays in a near cache.
const TABLE_ROWS: usize = 1 << 20;

/// Maximum number of rows for each update: the table costs time in proportion to the rows.
const ROWS_PER_UPDATE: usize = 16;

/// A row is hot if it takes more than this many times the average number of updates.
const HOT: usize = 4;

/// How many updates rows take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The number of touched rows.
    pub touched: usize,
    /// The largest number of updates that one row takes.
    pub most: usize,
    /// The number of hot rows, and of their updates. Both are 0 if the row numbers ascend.
    pub hot: (usize, usize),
}

impl Histogram {
    /// The histogram of a grouping.
    pub fn of(groups: &Csr) -> Self {
        Self::of_each((0..groups.len()).map(|g| groups.start(g + 1) - groups.start(g)))
    }

    /// The histogram of rows of which each takes one of these numbers of updates.
    fn of_each(rows: impl Iterator<Item = usize> + Clone) -> Self {
        let (mut touched, mut most, mut all) = (0, 0, 0);
        for count in rows.clone() {
            touched += usize::from(count > 0);
            most = most.max(count);
            all += count;
        }
        let often = (all / touched.max(1)).saturating_mul(HOT);
        let hot = rows.filter(|&count| count > often);
        let hot = hot.fold((0, 0), |(rows, all), count| (rows + 1, all + count));
        Self { touched, most, hot }
    }

    /// Counts the row numbers; `None` if that is no faster than grouping the updates.
    pub fn count(numbers: &RowIds, size: usize, facts: Facts) -> Result<Option<Self>, Problem> {
        if facts.sorted {
            let (mut touched, mut most) = (0, 0);
            let (mut last, mut run) = (usize::MAX, 0);
            for number in numbers.iter().filter(|&n| n < size) {
                touched += usize::from(number != last);
                run = if number == last { run + 1 } else { 1 };
                most = most.max(run);
                last = number;
            }
            let hot = (0, 0);
            return Ok(Some(Self { touched, most, hot }));
        }
        if size > TABLE_ROWS || size / ROWS_PER_UPDATE > numbers.len() {
            return Ok(None);
        }
        let mut counts: Vec<usize> = try_vec("counts of a plan's rows", size)?;
        counts.resize(size, 0);
        for number in numbers.iter().filter(|&n| n < size) {
            counts[number] += 1;
        }
        Ok(Some(Self::of_each(counts.iter().copied())))
    }
}
