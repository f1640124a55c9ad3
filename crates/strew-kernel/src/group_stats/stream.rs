//! Statistics of groups in one pass over the values in their own order.
//!
//! ```text
//! records of all groups = start
//! for each block of updates: read their rows and values; for each statistic: join each value to
//!     the record of its row
//! for each statistic: results = finish(records)
//! ```
//!
//! Cost: each row number and value is read once, however many statistics are wanted, and each
//! statistic reads and writes one record per value. Variances take a second pass, which knows the
//! means. No group is listed. Values that are computed in their own type are not copied, and row
//! numbers may come straight from an index, a block at a time.
//! It is used for statistics that are running
//! records (`running`); the others are computed [group by group](crate::group_stats::blocks).

use crate::cpu::fp_env::DefaultFloats;
use crate::error::Problem;
use crate::group_stats::blocks::Count;
use crate::group_stats::output::{Output, Results, Row, Summary};
use crate::group_stats::read::{ReadRows, ReadValues};
use crate::group_stats::running::{
    All, AllNan, Any, AnyNan, Arg, Count as Numbers, CumMax, CumMin, CumProd, CumSum, Differences,
    First, Fold, Last, Len, Max, Mean, Min, Present, Prod, Scan, Sum, SumOfSquares,
};
use crate::group_stats::statistics::{Statistic, Value};
use crate::tensor::{DynTensor, try_vec};
use std::ops::Range;

/// Maximum number of values of a block, unless a single update has more. The nearest cache holds
/// them beside their rows.
const BLOCK: usize = 1 << 11;

/// Cells whose results are written at a time.
const CELLS: usize = 1 << 10;

/// The values of all updates along one axis, in `outer` times `inner` columns.
pub struct Stream<'s, T> {
    pub rows: &'s dyn ReadRows,
    /// How many rows there are.
    pub size: usize,
    pub values: &'s dyn ReadValues<T>,
    pub outer: usize,
    pub inner: usize,
}

/// Some consecutive updates: the row and the values of each.
struct Block<'b, T> {
    rows: &'b [i64],
    values: &'b [T],
    /// The number of the first update.
    first: usize,
    inner: usize,
    /// Values that are NaN are left out.
    skip: bool,
}

/// Whether a statistic is computed here.
///
/// `few`: groups of few values, or of NaN only, may have no results, and NaN may be skipped. What
/// has a result for each value must know that before it begins.
pub fn is_streamed(statistic: Statistic, few: bool) -> bool {
    match statistic {
        Statistic::CumSum | Statistic::CumProd | Statistic::CumMin | Statistic::CumMax => !few,
        Statistic::Median
        | Statistic::Quantile(_)
        | Statistic::Mode
        | Statistic::Unique
        | Statistic::LogSumExp
        | Statistic::Softmax
        | Statistic::Sort { .. } => false,
        _ => true,
    }
}

impl<T: Value> Stream<'_, T> {
    /// Computes all wanted statistics, which must be [streamed](is_streamed), in order. False if an
    /// update [has no row](ReadRows::read_rows): then the outputs hold anything.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn make(&self, made: &mut [DynTensor], count: Count<'_>) -> Result<bool, Problem> {
        let _floats = DefaultFloats::enter();
        let cells = self.size.saturating_mul(self.inner);
        let mut tables = Tables::<T>::new(made, count, cells)?;
        let mut work = Work::new(self.inner)?;
        if self.outer == 0 || self.inner == 0 {
            return Ok(self.all_have_rows(&mut work));
        }
        for outer in 0..self.outer {
            if outer > 0 {
                tables.begin();
            }
            let read = self.each_block(outer, count.skip, &mut work, |block| {
                tables.join(
                    block,
                    (outer * self.rows.updates() + block.first) * self.inner,
                );
            });
            if !read {
                return Ok(false);
            }
            if let Some(spread) = &mut tables.spread {
                spread.take_means();
                let read = self.each_block(outer, count.skip, &mut work, |block| {
                    spread.differences.join(block);
                });
                if !read {
                    return Ok(false);
                }
            }
            tables.finish(outer * cells..(outer + 1) * cells)?;
        }
        Ok(true)
    }

    /// Whether no update is without a row.
    fn all_have_rows(&self, work: &mut Work<T>) -> bool {
        let (updates, at_once) = (self.rows.updates(), work.rows.len());
        (0..updates).step_by(at_once).all(|first| {
            let rows = &mut work.rows[..at_once.min(updates - first)];
            self.rows.read_rows(first, rows)
        })
    }

    /// Reads block after block at one coordinate of the outer axes. False if an update has no row.
    fn each_block(
        &self,
        outer: usize,
        skip: bool,
        work: &mut Work<T>,
        mut each: impl FnMut(&Block<'_, T>),
    ) -> bool {
        let updates = self.rows.updates();
        let at_once = at_once(self.inner);
        for first in (0..updates).step_by(at_once) {
            let len = at_once.min(updates - first);
            let rows = &mut work.rows[..len];
            if !self.rows.read_rows(first, rows) {
                return false;
            }
            let from = (outer * updates + first) * self.inner;
            let room = &mut work.values[..len * self.inner];
            let values = self.values.read_values(from, room);
            each(&Block {
                rows,
                first,
                inner: self.inner,
                skip: skip && values.iter().fold(false, |any, value| any | value.nan()),
                values,
            });
        }
        true
    }
}

/// Updates of a block.
fn at_once(inner: usize) -> usize {
    (BLOCK / inner.max(1)).max(1)
}

/// The records of all wanted statistics, and where their results go.
struct Tables<'o, T: Value> {
    count: Count<'o>,
    outputs: Vec<Output<'o>>,
    /// Of statistics with a result for each group, but for variances.
    records: Vec<Option<Box<dyn Records<T>>>>,
    /// Of statistics with a result for each value.
    scans: Vec<Option<Box<dyn Scans<T>>>>,
    /// How many values each group has, or whether it has any.
    counts: Counts<T>,
    /// Of variances, if one is wanted.
    spread: Option<Spread<T>>,
}

impl<'o, T: Value> Tables<'o, T> {
    fn new(made: &'o mut [DynTensor], count: Count<'o>, cells: usize) -> Result<Self, Problem> {
        let outputs = made.iter_mut().zip(count.wanted);
        let mut tables = Self {
            count,
            outputs: outputs
                .map(|(cells, wanted)| Output::of(cells, wanted))
                .collect(),
            records: Vec::with_capacity(count.wanted.len()),
            scans: Vec::with_capacity(count.wanted.len()),
            counts: Counts::Unused,
            spread: None,
        };
        // A result that is the fill value without values needs no count of them.
        let mut fills = false;
        for (wanted, output) in count.wanted.iter().zip(&mut tables.outputs) {
            let records = records_of::<T>(wanted.statistic, cells)?;
            let scan = scan_of::<T>(wanted.statistic, cells)?;
            if let Some(records) = &records {
                fills |= !starts_with_fill(&**records, wanted);
            }
            if scan.is_some() {
                output.fill(0..output.len());
            }
            tables.records.push(records);
            tables.scans.push(scan);
        }
        if count.wanted.iter().any(|wanted| varies(wanted)) {
            tables.spread = Some(Spread::new(cells)?);
        }
        tables.counts = match count.least > 1 {
            true => Counts::Each(Of::new(cells)?),
            false if fills => Counts::Present(Of::new(cells)?),
            false => Counts::Unused,
        };
        Ok(tables)
    }

    /// Sets all records to those of groups without values.
    fn begin(&mut self) {
        self.counts.begin();
        let records = self.records.iter_mut().flatten();
        records.for_each(|records| records.begin());
        let scans = self.scans.iter_mut().flatten();
        scans.for_each(|scan| scan.begin());
        let spread = self.spread.iter_mut();
        spread.for_each(|spread| spread.means.begin());
    }

    /// Joins the values of a block, whose first is the value `at` of all.
    fn join(&mut self, block: &Block<'_, T>, at: usize) {
        self.counts.join(block);
        if let Some(spread) = &mut self.spread {
            spread.means.join(block);
        }
        for records in self.records.iter_mut().flatten() {
            records.join(block);
        }
        for (scan, output) in self.scans.iter_mut().zip(&mut self.outputs) {
            if let Some(scan) = scan {
                scan.write(block, output, at);
            }
        }
    }

    /// Writes the results of the groups to some cells of the outputs.
    fn finish(&mut self, cells: Range<usize>) -> Result<(), Problem> {
        let of_wanted = self.count.wanted.iter().zip(&self.records);
        for ((wanted, records), output) in of_wanted.zip(&mut self.outputs) {
            let results: &dyn Finish<T> = match (records, &self.spread) {
                (Some(records), _) => &**records,
                (None, Some(spread)) if varies(wanted) => spread,
                _ => continue,
            };
            let have = |from: usize, set: &mut [bool]| {
                self.counts.have(self.count.least, from, set);
            };
            finish(wanted, results, have, output, cells.clone())?;
        }
        Ok(())
    }
}

/// Whether the statistic is a variance, or made of one.
fn varies(wanted: &Summary) -> bool {
    matches!(
        wanted.statistic,
        Statistic::Var { .. } | Statistic::Std { .. }
    )
}

/// A block's rows and values.
struct Work<T> {
    rows: Vec<i64>,
    values: Vec<T>,
}

impl<T: Value> Work<T> {
    fn new(inner: usize) -> Result<Self, Problem> {
        let at_once = at_once(inner);
        let mut rows = try_vec("rows of a block", at_once)?;
        rows.resize(at_once, 0);
        let mut values = try_vec("values of a block", at_once.saturating_mul(inner))?;
        values.resize(at_once * inner, T::ZERO);
        Ok(Self { rows, values })
    }
}

/// Gives the results of the records of some cells.
trait Finish<T: Value> {
    /// Puts the results of the cells from `from` on into a row, whose set cells have values.
    fn finish(&self, wanted: &Summary, from: usize, row: &mut Row<T>);
}

/// Records of all groups.
trait Records<T: Value>: Finish<T> {
    fn is_empty(&self) -> bool;
    fn begin(&mut self);
    fn join(&mut self, block: &Block<'_, T>);
}

/// The records of one statistic.
struct Of<T: Value, F: Fold<T>> {
    cells: Vec<F::Cell>,
}

impl<T: Value, F: Fold<T>> Of<T, F> {
    fn new(cells: usize) -> Result<Self, Problem> {
        let mut all = try_vec("the statistics of the groups", cells)?;
        all.resize(cells, F::START);
        Ok(Self { cells: all })
    }
}

impl<T: Value, F: Fold<T>> Finish<T> for Of<T, F> {
    fn finish(&self, _: &Summary, from: usize, row: &mut Row<T>) {
        F::finish(&self.cells[from..from + row.set.len()], row);
    }
}

impl<T: Value, F: Fold<T>> Records<T> for Of<T, F> {
    fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    fn begin(&mut self) {
        self.cells.fill(F::START);
    }

    fn join(&mut self, block: &Block<'_, T>) {
        match block.skip {
            false => each_value(block, &mut self.cells, |cell, value, place| {
                F::join(cell, value, place);
            }),
            true => each_value(block, &mut self.cells, |cell, value, place| {
                if !value.nan() {
                    F::join(cell, value, place);
                }
            }),
        }
    }
}

/// Calls a function with the cell of each value, the value, and the number of its update.
#[inline(always)]
fn each_value<T: Value, C>(block: &Block<'_, T>, cells: &mut [C], join: impl Fn(&mut C, T, usize)) {
    let places = block.first..;
    if block.inner == 1 {
        for ((&row, &value), place) in block.rows.iter().zip(block.values).zip(places) {
            if let Some(cell) = cells.get_mut(row as usize) {
                join(cell, value, place);
            }
        }
        return;
    }
    let rows = cells.len() / block.inner;
    let values = block.values.chunks_exact(block.inner);
    for ((&row, values), place) in block.rows.iter().zip(values).zip(places) {
        if (row as usize) < rows {
            let cells = &mut cells[row as usize * block.inner..][..values.len()];
            for (cell, &value) in cells.iter_mut().zip(values) {
                join(cell, value, place);
            }
        }
    }
}

/// The records of variances: first the means, and then the squared differences from them.
struct Spread<T: Value> {
    means: Of<T, Mean>,
    differences: Of<T, Differences>,
}

impl<T: Value> Spread<T> {
    fn new(cells: usize) -> Result<Self, Problem> {
        Ok(Self {
            means: Of::new(cells)?,
            differences: Of::new(cells)?,
        })
    }

    fn take_means(&mut self) {
        let pairs = self.differences.cells.iter_mut().zip(&self.means.cells);
        for (difference, &(total, count)) in pairs {
            *difference = (T::mean_of(total, count), 0.0);
        }
    }
}

impl<T: Value> Finish<T> for Spread<T> {
    #[allow(clippy::cast_precision_loss)]
    fn finish(&self, wanted: &Summary, from: usize, row: &mut Row<T>) {
        let (ddof, root) = match wanted.statistic {
            Statistic::Var { ddof } => (ddof, false),
            Statistic::Std { ddof } => (ddof, true),
            _ => return,
        };
        let Results::Real(to) = &mut row.numbers else {
            return;
        };
        let cells = self.differences.cells[from..].iter();
        let cells = cells.zip(&self.means.cells[from..]);
        for (((_, sum), (_, count)), (to, set)) in cells.zip(to.iter_mut().zip(&mut row.set)) {
            let count = *count as f64;
            let variance = sum / (count - ddof);
            *to = if root { variance.sqrt() } else { variance };
            *set &= count > 0.0 && count > ddof;
        }
    }
}

/// The records of a statistic, if it is one with a result for each group; variances have their own.
fn records_of<T: Value>(
    statistic: Statistic,
    cells: usize,
) -> Result<Option<Box<dyn Records<T>>>, Problem> {
    macro_rules! of {
        ($fold:ty) => {
            Some(Box::new(Of::<T, $fold>::new(cells)?))
        };
    }
    Ok(match statistic {
        Statistic::Sum => of!(Sum),
        Statistic::Prod => of!(Prod),
        Statistic::SumOfSquares => of!(SumOfSquares),
        Statistic::Mean => of!(Mean),
        Statistic::Min => of!(Min),
        Statistic::Max => of!(Max),
        Statistic::First => of!(First),
        Statistic::Last => of!(Last),
        Statistic::Len => of!(Len),
        Statistic::Count => of!(Numbers),
        Statistic::ArgMin => of!(Arg<false>),
        Statistic::ArgMax => of!(Arg<true>),
        Statistic::Any => of!(Any),
        Statistic::All => of!(All),
        Statistic::AnyNan => of!(AnyNan),
        Statistic::AllNan => of!(AllNan),
        _ => None,
    })
}

/// Whether the result of a group without values has the bytes of the fill value. `records` are of
/// groups without values.
fn starts_with_fill<T: Value>(records: &dyn Records<T>, wanted: &Summary) -> bool {
    let Ok(mut row) = Row::<T>::with_room(wanted.statistic, 1) else {
        return false;
    };
    if records.is_empty() {
        return true;
    }
    row.begin(1);
    row.set.fill(true);
    records.finish(wanted, 0, &mut row);
    row.has_bytes(wanted.fill.as_bytes(), wanted.fill.dtype())
}

/// How many values groups have, as far as a result depends on it.
enum Counts<T: Value> {
    /// What groups without values have is their result.
    Unused,
    /// Whether each has any.
    Present(Of<T, Present>),
    Each(Of<T, Len>),
}

impl<T: Value> Counts<T> {
    fn begin(&mut self) {
        match self {
            Self::Unused => {}
            Self::Present(cells) => cells.begin(),
            Self::Each(cells) => cells.begin(),
        }
    }

    fn join(&mut self, block: &Block<'_, T>) {
        match self {
            Self::Unused => {}
            Self::Present(cells) => cells.join(block),
            Self::Each(cells) => cells.join(block),
        }
    }

    /// Says for consecutive cells from one on whether they have as many values as they must have.
    fn have(&self, least: usize, from: usize, set: &mut [bool]) {
        match self {
            Self::Unused => set.fill(true),
            Self::Present(found) => set.copy_from_slice(&found.cells[from..from + set.len()]),
            Self::Each(counts) => {
                let least = i64::try_from(least).unwrap_or(i64::MAX);
                for (set, &count) in set.iter_mut().zip(&counts.cells[from..]) {
                    *set = count >= least;
                }
            }
        }
    }
}

/// Writes the results of a statistic to some cells of its output.
fn finish<T: Value>(
    wanted: &Summary,
    results: &dyn Finish<T>,
    have: impl Fn(usize, &mut [bool]),
    output: &mut Output<'_>,
    cells: Range<usize>,
) -> Result<(), Problem> {
    let mut row = Row::<T>::with_room(wanted.statistic, CELLS)?;
    for from in (0..cells.len()).step_by(CELLS) {
        let len = CELLS.min(cells.len() - from);
        row.begin(len);
        have(from, &mut row.set);
        results.finish(wanted, from, &mut row);
        output.write(&row, 0..len, cells.start + from);
    }
    Ok(())
}

/// Records of a statistic of each value.
trait Scans<T: Value> {
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
fn scan_of<T: Value>(
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

#[cfg(test)]
mod tests {
    use super::{Stream, is_streamed};
    use crate::group_stats::blocks::{Count, GroupStats};
    use crate::group_stats::output::Summary;
    use crate::group_stats::read::ReadValues;
    use crate::group_stats::statistics::{Statistic, Value};
    use crate::segment::csr::Csr;
    use crate::segment::row_ids::{Facts, RowIds};
    use crate::tensor::{DType, DynTensor};

    const ALL: [Statistic; 22] = [
        Statistic::Sum,
        Statistic::Prod,
        Statistic::SumOfSquares,
        Statistic::Mean,
        Statistic::Var { ddof: 0.0 },
        Statistic::Std { ddof: 1.0 },
        Statistic::Var { ddof: -1.0 },
        Statistic::Min,
        Statistic::Max,
        Statistic::First,
        Statistic::Last,
        Statistic::Len,
        Statistic::Count,
        Statistic::ArgMin,
        Statistic::ArgMax,
        Statistic::Any,
        Statistic::All,
        Statistic::AllNan,
        Statistic::CumSum,
        Statistic::CumProd,
        Statistic::CumMin,
        Statistic::CumMax,
    ];

    fn random(state: &mut u64) -> usize {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (*state >> 33) as usize
    }

    struct Stored<T>(Vec<T>);

    impl<T: Value> ReadValues<T> for Stored<T> {
        fn copy_values(&self, from: usize, to: &mut [T]) {
            to.copy_from_slice(&self.0[from..from + to.len()]);
        }

        fn read_values<'r>(&'r self, from: usize, room: &'r mut [T]) -> &'r [T] {
            &self.0[from..from + room.len()]
        }
    }

    /// Computes all statistics both ways, and compares their bytes.
    fn compare<T: Value>(fill: u8, of: impl Fn(usize) -> T) {
        let mut state = 3;
        for round in 0..60 {
            let size = [0, 1, 3, 40][random(&mut state) % 4];
            let updates = [0, 1, 50, 5000][random(&mut state) % 4];
            let (outer, inner) = (random(&mut state) % 3, random(&mut state) % 4);
            let mut rows = RowIds::with_room("rows", updates, size).unwrap();
            for _ in 0..updates {
                // Some are left out.
                rows.push(match random(&mut state) % 9 {
                    0 => usize::MAX,
                    n => n * 7 % size.max(1) + usize::from(size == 0),
                });
            }
            let values: Vec<T> = (0..outer * updates * inner)
                .map(|_| of(random(&mut state)))
                .collect();
            let values = Stored(values);
            let (skip, least) = (round % 2 == 0, round % 3);
            let wanted = ALL.iter().map(|&statistic| Summary {
                statistic,
                fill: DynTensor::filled(DType::F64, &[1], &[fill; 8]).unwrap(),
            });
            let all: Vec<Summary> = wanted
                .filter(|wanted| is_streamed(wanted.statistic, skip || least > 1))
                .collect();
            let wanted: Vec<&Summary> = all.iter().collect();
            let cells = |wanted: &&Summary| {
                let each = wanted.statistic.is_of_each();
                let rows = if each { updates } else { size };
                wanted.cells([outer, rows, inner]).unwrap()
            };
            let count = Count {
                wanted: &wanted,
                skip,
                least,
            };
            let mut found: Vec<DynTensor> = wanted.iter().map(cells).collect();
            let stream = Stream {
                rows: &rows,
                size,
                values: &values,
                outer,
                inner,
            };
            assert!(stream.make(&mut found, count).unwrap());
            let groups = Csr::new(&rows, size, Facts::of(&rows, size)).unwrap();
            let columns = GroupStats {
                groups: &groups,
                values: &values,
                outer,
                inner,
            };
            let mut expected: Vec<DynTensor> = wanted.iter().map(cells).collect();
            for part in columns.parts(&mut expected, &wanted, 1) {
                columns.make(part, count).unwrap();
            }
            for ((wanted, found), expected) in wanted.iter().zip(&found).zip(&expected) {
                assert_eq!(
                    found.as_bytes(),
                    expected.as_bytes(),
                    "round {round}, {:?}",
                    wanted.statistic
                );
            }
        }
    }

    #[test]
    fn the_results_are_those_of_group_by_group() {
        compare(0, |n| n as i64 - (1 << 30));
        compare(0, |n| (n as u64) << 33);
        for fill in [0, 0x7f] {
            compare(fill, |n| match n % 13 {
                0 => f64::NAN,
                1 => -0.0,
                2 => 0.0,
                _ => (n % 1000) as f64 / 7.0 - 60.0,
            });
        }
    }
}
