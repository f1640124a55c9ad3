//! Statistics of each value: running results, written where the value is.

use crate::error::Problem;
use crate::group_stats::output::{Output, Results, Row};
use crate::group_stats::records::{BLOCK, Block};
use crate::group_stats::statistics::{Statistic, Value};
use crate::tensor::try_vec;

/// A statistic of each value as a running record of its group.
trait Scan<T: Value>: 'static {
    type Cell: Copy + Send;
    /// The record of a group without values.
    const START: Self::Cell;
    /// Joins a value, and gives the result so far.
    fn join(cell: &mut Self::Cell, value: T) -> T;
}

macro_rules! scans {
    ($($(#[$about:meta])* $name:ident, |$so_far:ident, $value:ident| $join:expr;)*) => {$(
        $(#[$about])*
        struct $name;

        impl<T: Value> Scan<T> for $name {
            type Cell = Option<T>;
            const START: Option<T> = None;

            #[inline(always)]
            fn join(cell: &mut Option<T>, $value: T) -> T {
                // The first value is not joined, so that -0.0 stays.
                let made = match *cell {
                    Some($so_far) => $join,
                    None => $value,
                };
                *cell = Some(made);
                made
            }
        }
    )*};
}

scans! {
    /// The sum so far.
    CumSum, |sum, value| sum.add(value);
    /// The product so far.
    CumProd, |product, value| product.mul(value);
    /// The smallest so far.
    CumMin, |least, value| least.lesser(value);
    /// The largest so far.
    CumMax, |most, value| most.greater(value);
}

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
            row: Row::with_room(statistic, BLOCK)?,
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
    macro_rules! of {
        ($scan:ty) => {
            Some(Box::new(ScanOf::<T, $scan>::new(statistic, cells)?))
        };
    }
    Ok(match statistic {
        Statistic::CumSum => of!(CumSum),
        Statistic::CumProd => of!(CumProd),
        Statistic::CumMin => of!(CumMin),
        Statistic::CumMax => of!(CumMax),
        _ => None,
    })
}
