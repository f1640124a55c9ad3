//! Statistics of groups in one pass over the values in their own order.
//!
//! ```text
//! records of all groups = start
//! for each block of updates: read their rows and values; for each statistic: join each value to
//!     the record of its row
//! if a result depends on whether a group has values, and a record may be of none:
//!     for each block of updates: note the rows
//! for each statistic: results = finish(records)
//! ```
//!
//! Cost: each row number and value is read once, however many statistics are wanted, and each
//! statistic reads and writes one record per value. No group is listed. Values that are computed in
//! their own type are not copied, and row numbers may come straight from an index, a block at a
//! time. Threads take [parts](crate::group_stats::parts) of the work. It is used for statistics that
//! are running records; the others are computed
//! [group by group](crate::group_stats::blocks).

use crate::error::Problem;
use crate::group_stats::records::{BLOCK, Block};
use crate::group_stats::scans::{Scans, scan_of};
use crate::statistic::output::{Output, Task};
use crate::statistic::read::{ReadRows, ReadValues, Rows};
use crate::statistic::value::Value;
use crate::tensor::try_vec;
use std::ops::Range;

/// The values of all updates along one axis, in `outer` times `inner` columns.
pub struct Stream<'s, T> {
    pub rows: &'s dyn ReadRows,
    /// How many rows there are.
    pub size: usize,
    pub values: &'s dyn ReadValues<T>,
    pub outer: usize,
    pub inner: usize,
}

/// Consecutive updates of some rows.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub(crate) updates: Range<usize>,
    pub(crate) rows: Range<usize>,
    /// Who gets the blocks finds rows that there are not.
    pub(crate) finds_strays: bool,
}

impl<T: Value> Stream<'_, T> {
    /// All updates and rows.
    pub(crate) fn whole(&self) -> Extent {
        Extent {
            updates: 0..self.rows.updates(),
            rows: 0..self.size,
            finds_strays: false,
        }
    }

    /// Whether most updates have the row of the one before, by a sample of a thousand.
    pub fn repeats(&self) -> bool {
        const PIECES: usize = 8;
        let updates = self.rows.updates();
        let mut room = [0; 128];
        let mut pieces = (0..updates).step_by((updates / PIECES).max(1));
        pieces.all(|first| {
            let len = room.len().min(updates - first);
            let rows = self.rows.read_rows(first, &mut room[..len]);
            rows.is_some_and(repeat)
        })
    }

    /// Whether no update is without a row.
    pub(crate) fn all_have_rows(&self, work: &mut Work<T>) -> bool {
        let (updates, at_once) = (self.rows.updates(), work.rows.len());
        (0..updates).step_by(at_once).all(|first| {
            let room = &mut work.rows[..at_once.min(updates - first)];
            self.rows.read_rows(first, room).is_some()
        })
    }

    /// Reads block after block at one coordinate of the outer axes. The rows of a block count from
    /// the first one of the extent. `each` says whether it found all rows of a block. False if an
    /// update has no row.
    pub(crate) fn each_block(
        &self,
        outer: usize,
        extent: &Extent,
        skip: bool,
        work: &mut Work<T>,
        mut each: impl FnMut(&Block<'_, T>) -> bool,
    ) -> bool {
        let Work { rows, values, own } = work;
        let all_rows = extent.rows == (0..self.size);
        let at_once = at_once(self.inner);
        let mut repeats = false;
        for (number, first) in extent.updates.clone().step_by(at_once).enumerate() {
            let len = at_once.min(extent.updates.end - first);
            let unchecked = match extent.finds_strays {
                true => self.rows.unchecked_rows(first, len),
                false => None,
            };
            let read = unchecked.or_else(|| self.rows.read_rows(first, &mut rows[..len]));
            let Some(mut rows) = read else {
                return false;
            };
            let mut numbers = None;
            if !all_rows {
                match own.find(rows, &extent.rows, first) {
                    Found::None => continue,
                    Found::All(own) => rows = own,
                    Found::Some(own, found) => (rows, numbers) = (own, Some(found)),
                }
            }
            if self.inner == 1 && number.is_multiple_of(SAMPLED) {
                repeats = repeat(rows);
            }
            let room = &mut values[..rows.len() * self.inner];
            let from = outer * self.rows.updates() * self.inner;
            let values = match numbers {
                Some(numbers) => {
                    let rows = Rows {
                        first: from,
                        stride: self.inner,
                        numbers,
                    };
                    self.values.copy_rows(rows, room);
                    room
                }
                None => self.values.read_values(from + first * self.inner, room),
            };
            let all_there = each(&Block {
                rows,
                first,
                numbers,
                inner: self.inner,
                repeats,
                skip: skip && values.iter().fold(false, |any, value| any | value.nan()),
                values,
            });
            if unchecked.is_some() && !all_there {
                return false;
            }
        }
        true
    }
}

/// One block in this many is sampled. A sample of every block fetched the rows from memory before
/// the loop did: counts of 4M values took 4 ms instead of 2.
const SAMPLED: usize = 16;

/// Whether most rows are the same as the one before, by a sample.
fn repeat(rows: &[i64]) -> bool {
    const APART: usize = 32;
    let pairs = rows.windows(2).step_by(APART);
    let same = pairs.filter(|pair| pair[0] == pair[1]).count();
    same * 8 * APART > rows.len() * 7
}

/// Updates of a block.
fn at_once(inner: usize) -> usize {
    (BLOCK / inner.max(1)).max(1)
}

/// Where results go, and the records of statistics with a result for each value.
pub(crate) struct Outputs<'o, T: Value> {
    pub(crate) outputs: Vec<Output<'o>>,
    scans: Vec<Option<Box<dyn Scans<T>>>>,
}

impl<'o, T: Value> Outputs<'o, T> {
    pub(crate) fn new(
        outputs: Vec<Output<'o>>,
        task: Task<'_>,
        cells: usize,
    ) -> Result<Self, Problem> {
        let scans = Vec::with_capacity(task.wanted.len());
        let mut all = Self { outputs, scans };
        for (wanted, output) in task.wanted.iter().zip(&mut all.outputs) {
            let scan = scan_of::<T>(wanted.statistic, cells)?;
            if scan.is_some() {
                output.fill(0..output.len());
            }
            all.scans.push(scan);
        }
        Ok(all)
    }

    /// Sets all records to those of groups without values.
    pub(crate) fn begin(&mut self) {
        self.scans
            .iter_mut()
            .flatten()
            .for_each(|scan| scan.begin());
    }

    /// Writes the results for the values of a block, whose first is the value `at` of all.
    pub(crate) fn write(&mut self, block: &Block<'_, T>, at: usize) {
        for (scan, output) in self.scans.iter_mut().zip(&mut self.outputs) {
            if let Some(scan) = scan {
                scan.write(block, output, at);
            }
        }
    }
}

/// Room for a block's rows and values.
pub(crate) struct Work<T> {
    rows: Vec<i64>,
    values: Vec<T>,
    own: OwnUpdates,
}

impl<T: Value> Work<T> {
    pub(crate) fn new(inner: usize) -> Result<Self, Problem> {
        let at_once = at_once(inner);
        let mut rows = try_vec("rows of a block", at_once)?;
        rows.resize(at_once, 0);
        let mut values = try_vec("values of a block", at_once.saturating_mul(inner))?;
        values.resize(at_once * inner, T::ZERO);
        let own = OwnUpdates::default();
        Ok(Self { rows, values, own })
    }
}

/// The updates of a block that have some of the rows.
#[derive(Default)]
struct OwnUpdates {
    /// Counted from the first of these rows.
    rows: Vec<i64>,
    numbers: Vec<usize>,
}

/// Which updates of a block have some of the rows.
enum Found<'f> {
    None,
    All(&'f [i64]),
    /// Their rows and their numbers.
    Some(&'f [i64], &'f [usize]),
}

impl OwnUpdates {
    /// Finds those of consecutive updates.
    fn find(&mut self, rows: &[i64], range: &Range<usize>, first: usize) -> Found<'_> {
        let start = range.start as i64;
        let last = (range.len() as i64).wrapping_sub(1);
        if self.rows.len() < rows.len() {
            self.rows.resize(rows.len(), 0);
            self.numbers.resize(rows.len(), 0);
        }
        let (own, numbers) = (
            &mut self.rows[..rows.len()],
            &mut self.numbers[..rows.len()],
        );
        // Negative if a row is another part's.
        let outside = |row: i64| row | last.wrapping_sub(row);
        let (mut any, mut all) = (0, -1);
        for (own, &row) in own.iter_mut().zip(rows) {
            *own = row.wrapping_sub(start);
            any |= outside(*own);
            all &= outside(*own);
        }
        if any >= 0 {
            return Found::All(own);
        }
        if all < 0 {
            return Found::None;
        }
        let mut found = 0;
        for (update, &row) in rows.iter().enumerate() {
            // The place is written whether it is kept or not, so that nothing depends on a guess.
            let row = row.wrapping_sub(start);
            own[found] = row;
            numbers[found] = first + update;
            found += usize::from(outside(row) >= 0);
        }
        Found::Some(&own[..found], &numbers[..found])
    }
}
