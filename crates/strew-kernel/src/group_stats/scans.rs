//! Statistics of each value: running results, written where the value is.

use crate::aggregate::WithScan;
use crate::error::Problem;
use crate::group_stats::records::{BLOCK, Block};
use crate::statistic::fold::Scan;
use crate::statistic::output::{Output, Results, Row};
use crate::statistic::value::Value;
use crate::statistic::what::Statistic;
use crate::tensor::try_vec;

/// Records of a statistic of each value.
pub(crate) trait Scans<T: Value>: Send {
    fn begin(&mut self);
    /// Joins the values of a block, and writes what they become from cell `at` on.
    fn write(&mut self, block: &Block<'_, T>, output: &mut Output<'_>, at: usize);
}

/// The records of one statistic of each value, and results that are not written yet.
struct ScanOf<T: Value, S: Scan<T>> {
    cells: Vec<S::Cell>,
    row: Row<T>,
}

impl<T: Value, S: Scan<T>> ScanOf<T, S> {
    fn new(statistic: Statistic, cells: usize) -> Result<Self, Problem> {
        let mut all = try_vec("the statistics of the groups", cells)?;
        all.resize(cells, S::START);
        Ok(Self {
            cells: all,
            row: Row::with_room(statistic.kind(T::COMPLEX), BLOCK)?,
        })
    }
}

impl<T: Value, S: Scan<T>> Scans<T> for ScanOf<T, S> {
    fn begin(&mut self) {
        self.cells.fill(S::START);
    }

    fn write(&mut self, block: &Block<'_, T>, output: &mut Output<'_>, at: usize) {
        self.row.begin(block.values.len());
        let Results::Same(results) = &mut self.row.numbers else {
            return;
        };
        if block.inner == 1 {
            let results = results.iter_mut().zip(&mut self.row.set);
            for ((&row, &value), (result, set)) in block.rows.iter().zip(block.values).zip(results)
            {
                if let Some(cell) = self.cells.get_mut(row as usize) {
                    (*result, *set) = (S::join(cell, value), true);
                }
            }
        } else {
            let rows = self.cells.len() / block.inner;
            let results = results.chunks_exact_mut(block.inner);
            let set = self.row.set.chunks_exact_mut(block.inner);
            let values = block.values.chunks_exact(block.inner);
            let of_updates = block.rows.iter().zip(values).zip(results.zip(set));
            for ((&row, values), (results, set)) in of_updates {
                if row as usize >= rows {
                    continue;
                }
                let cells = &mut self.cells[row as usize * block.inner..][..block.inner];
                for ((cell, &value), result) in cells.iter_mut().zip(values).zip(results) {
                    *result = S::join(cell, value);
                }
                set.fill(true);
            }
        }
        output.write(&self.row, 0..block.values.len(), at);
    }
}

/// The records of a statistic of each value, if it is one.
pub(crate) fn scan_of<T: Value>(
    statistic: Statistic,
    cells: usize,
) -> Result<Option<Box<dyn Scans<T>>>, Problem> {
    statistic.with_scan(New { statistic, cells }).transpose()
}

/// Records of that many groups without values.
struct New {
    statistic: Statistic,
    cells: usize,
}

impl<T: Value> WithScan<T> for New {
    type Made = Result<Box<dyn Scans<T>>, Problem>;

    fn with<S: Scan<T>>(self) -> Self::Made {
        Ok(Box::new(ScanOf::<T, S>::new(self.statistic, self.cells)?))
    }
}
