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
//! statistic reads and writes one record per value. No group is listed. Values that are computed in
//! their own type are not copied, and row numbers may come straight from an index, a block at a
//! time. It is used for statistics that are running records (`running`, `moments`, `scans`); the
//! others are computed [group by group](crate::group_stats::blocks).

use crate::cpu::fp_env::DefaultFloats;
use crate::error::Problem;
use crate::group_stats::output::{Count, Output};
use crate::group_stats::read::{ReadRows, ReadValues};
use crate::group_stats::records::{BLOCK, Block};
use crate::group_stats::scans::{Scans, scan_of};
use crate::group_stats::statistics::{Statistic, Value};
use crate::group_stats::tables::Tables;
use crate::tensor::{DynTensor, try_vec};

/// The values of all updates along one axis, in `outer` times `inner` columns.
pub struct Stream<'s, T> {
    pub rows: &'s dyn ReadRows,
    /// How many rows there are.
    pub size: usize,
    pub values: &'s dyn ReadValues<T>,
    pub outer: usize,
    pub inner: usize,
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
        | Statistic::Sort { .. }
        | Statistic::ArgSort
        | Statistic::Rank(_)
        | Statistic::CumCount
        | Statistic::Shift(_)
        | Statistic::Nth(_)
        | Statistic::Top { .. }
        | Statistic::ArgTop { .. } => false,
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
        let mut tables = Tables::<T>::new(count, cells)?;
        let mut results = Outputs::new(made, count, cells)?;
        let mut work = Work::new(self.inner)?;
        if self.outer == 0 || self.inner == 0 {
            return Ok(self.all_have_rows(&mut work));
        }
        for outer in 0..self.outer {
            if outer > 0 {
                tables.begin();
                results.begin();
            }
            let read = self.each_block(outer, count.skip, &mut work, |block| {
                let first = outer * self.rows.updates() + block.first;
                tables.join(block);
                results.write(block, first * self.inner);
            });
            if !read {
                return Ok(false);
            }
            tables.check()?;
            for (number, output) in results.outputs.iter_mut().enumerate() {
                tables.finish(count, number, output, outer * cells..(outer + 1) * cells)?;
            }
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
    pub(crate) fn each_block(
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

/// Where results go, and the records of statistics with a result for each value.
struct Outputs<'o, T: Value> {
    outputs: Vec<Output<'o>>,
    scans: Vec<Option<Box<dyn Scans<T>>>>,
}

impl<'o, T: Value> Outputs<'o, T> {
    fn new(made: &'o mut [DynTensor], count: Count<'o>, cells: usize) -> Result<Self, Problem> {
        let outputs = made.iter_mut().zip(count.wanted);
        let mut all = Self {
            outputs: outputs
                .map(|(cells, wanted)| Output::of(cells, wanted))
                .collect(),
            scans: Vec::with_capacity(count.wanted.len()),
        };
        for (wanted, output) in count.wanted.iter().zip(&mut all.outputs) {
            let scan = scan_of::<T>(wanted.statistic, cells)?;
            if scan.is_some() {
                output.fill(0..output.len());
            }
            all.scans.push(scan);
        }
        Ok(all)
    }

    /// Sets all records to those of groups without values.
    fn begin(&mut self) {
        self.scans
            .iter_mut()
            .flatten()
            .for_each(|scan| scan.begin());
    }

    /// Writes the results for the values of a block, whose first is the value `at` of all.
    fn write(&mut self, block: &Block<'_, T>, at: usize) {
        for (scan, output) in self.scans.iter_mut().zip(&mut self.outputs) {
            if let Some(scan) = scan {
                scan.write(block, output, at);
            }
        }
    }
}

/// A block's rows and values.
pub(crate) struct Work<T> {
    rows: Vec<i64>,
    values: Vec<T>,
}

impl<T: Value> Work<T> {
    pub(crate) fn new(inner: usize) -> Result<Self, Problem> {
        let at_once = at_once(inner);
        let mut rows = try_vec("rows of a block", at_once)?;
        rows.resize(at_once, 0);
        let mut values = try_vec("values of a block", at_once.saturating_mul(inner))?;
        values.resize(at_once * inner, T::ZERO);
        Ok(Self { rows, values })
    }
}

#[cfg(test)]
mod tests {
    use super::{Stream, is_streamed};
    use crate::group_stats::blocks::GroupStats;
    use crate::group_stats::moments::of_values;
    use crate::group_stats::output::{Count, Output, Results, Row, Summary};
    use crate::group_stats::read::ReadValues;
    use crate::group_stats::statistics::{Statistic, Value};
    use crate::ops::order::beats;
    use crate::segment::csr::Csr;
    use crate::segment::row_ids::{Facts, RowIds};
    use crate::tensor::{DType, DynTensor};

    const ALL: [Statistic; 25] = [
        Statistic::Sum,
        Statistic::Prod,
        Statistic::SumOfSquares,
        Statistic::Mean,
        Statistic::Var { ddof: 0.0 },
        Statistic::Std { ddof: 1.0 },
        Statistic::Var { ddof: -1.0 },
        Statistic::Sem { ddof: 1.0 },
        Statistic::Skew,
        Statistic::Kurt,
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

    /// A result of a group.
    enum Made<T> {
        Same(T),
        Real(f64),
        Whole(i64),
    }

    /// A statistic of some values and their updates, of which there is one, from its definition.
    fn naive<T: Value>(statistic: Statistic, all: &[(usize, T)]) -> Option<Made<T>> {
        let values: Vec<T> = all.iter().map(|&(_, value)| value).collect();
        let sum = |of: fn(T) -> T| {
            values
                .iter()
                .fold(T::ZERO, |sum, &value| sum.add(of(value)))
        };
        let count = |of: fn(T) -> bool| values.iter().filter(|&&value| of(value)).count() as i64;
        let is_true = |value: T| value != T::ZERO;
        let arg = |wins: fn(T, T) -> bool| {
            let nan = values.iter().any(|value| value.nan());
            let best = all.iter().copied().reduce(
                |best, next| {
                    if wins(next.1, best.1) { next } else { best }
                },
            );
            best.filter(|_| !nan)
                .map(|(update, _)| Made::Whole(update as i64))
        };
        let len = values.len() as i64;
        Some(match statistic {
            Statistic::Sum => Made::Same(sum(|value| value)),
            Statistic::SumOfSquares => Made::Same(sum(T::square)),
            Statistic::Prod => Made::Same(values.iter().fold(T::ONE, |all, &v| all.mul(v))),
            Statistic::Mean => {
                let total = values.iter().fold(T::NOTHING, |total, v| v.add_to(total));
                Made::Real(T::mean_of(total, len as u64).re)
            }
            Statistic::Min => Made::Same(values.iter().copied().reduce(T::lesser)?),
            Statistic::Max => Made::Same(values.iter().copied().reduce(T::greater)?),
            Statistic::First => Made::Same(*values.first()?),
            Statistic::Last => Made::Same(*values.last()?),
            Statistic::Len => Made::Whole(len),
            Statistic::Count => Made::Whole(count(|value| !value.nan())),
            Statistic::Any => Made::Whole(i64::from(count(is_true) > 0)),
            Statistic::All => Made::Whole(i64::from(count(is_true) == len)),
            Statistic::AllNan => Made::Whole(i64::from(count(T::nan) == len)),
            Statistic::ArgMin => return arg(beats::<T, false>),
            Statistic::ArgMax => return arg(beats::<T, true>),
            moment => Made::Real(of_values(&values, moment)?),
        })
    }

    /// Writes a result, or the fill value.
    fn write<T: Value>(to: &mut DynTensor, wanted: &Summary, cell: usize, made: Option<Made<T>>) {
        let mut row = Row::<T>::with_room(wanted.statistic, 1).unwrap();
        row.begin(1);
        row.set[0] = made.is_some();
        match (&mut row.numbers, made) {
            (Results::Same(to), Some(Made::Same(value))) => to[0] = value,
            (Results::Real(to), Some(Made::Real(value))) => to[0] = value,
            (Results::Whole(to), Some(Made::Whole(value))) => to[0] = value,
            (_, None) => {}
            _ => panic!("{:?} is of another kind", wanted.statistic),
        }
        Output::of(to, wanted).write(&row, 0..1, cell);
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
            let of_each = wanted.iter().copied();
            let of_each: Vec<&Summary> = of_each
                .filter(|wanted| wanted.statistic.is_of_each())
                .collect();
            let mut expected: Vec<DynTensor> = wanted.iter().map(cells).collect();
            let mut each: Vec<DynTensor> = of_each.iter().map(cells).collect();
            let columns = GroupStats {
                groups: &groups,
                values: &values,
                outer,
                inner,
            };
            let count = Count {
                wanted: &of_each,
                ..count
            };
            for part in columns.parts(&mut each, &of_each, 1) {
                columns.make(part, count).unwrap();
            }
            let mut each = each.into_iter();
            for (expected, wanted) in expected.iter_mut().zip(&wanted) {
                if wanted.statistic.is_of_each() {
                    *expected = each.next().unwrap();
                    continue;
                }
                for cell in 0..outer * size * inner {
                    let (line, row) = (cell / inner / size * updates, cell / inner % size);
                    let of_row = (0..updates).filter(|&update| rows.get(update) == row);
                    let value = |update| values.0[(line + update) * inner + cell % inner];
                    let counted: Vec<(usize, T)> = of_row
                        .map(|update| (update, value(update)))
                        .filter(|(_, value)| !(skip && value.nan()))
                        .collect();
                    if counted.len() >= least.max(1) {
                        let made = naive(wanted.statistic, &counted);
                        write(expected, wanted, cell, made);
                    } else {
                        write::<T>(expected, wanted, cell, None);
                    }
                }
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
    fn the_results_are_those_of_the_definitions() {
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
