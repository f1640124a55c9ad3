//! The parts of a stream that threads compute side by side.
//!
//! ```text
//! by outer coordinates: records of all rows for each coordinate
//! by rows:              each part reads all row numbers, and joins the values of its own rows
//! by updates:           each part has records of all rows; those of the others are merged into the
//!                       first part's
//! ```
//!
//! Cost: as of the whole [stream](crate::group_stats::stream), divided by the parts; by rows, each
//! part reads the row numbers once more and picks its own; by updates, each has a table of its own.
//! Results do not depend on the parts.

use crate::cpu::fp_env::DefaultFloats;
use crate::error::Problem;
use crate::group_stats::stream::{Extent, Outputs, Stream, Work};
use crate::group_stats::tables::Tables;
use crate::statistic::output::{Output, Task};
use crate::statistic::value::Value;
use crate::tensor::DynTensor;
use std::ops::Range;

/// What the parts of a stream differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// In coordinates of the outer axes.
    Outer,
    /// In rows. There must be one coordinate of the outer axes, and no statistic may have a result
    /// for each value.
    Rows,
    /// In updates. As for rows, and no statistic may
    /// [depend on the order](crate::statistic::what::Statistic::depends_on_order).
    Updates,
}

/// What one thread computes.
pub struct Part<'p, T: Value> {
    outer: Range<usize>,
    extent: Extent,
    /// The cells that it alone writes; none if records must be merged first.
    results: Option<Outputs<'p, T>>,
    /// Records to merge.
    tables: Option<Tables<T>>,
}

impl<T: Value> Stream<'_, T> {
    /// Divides the work into at most `most` parts.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn parts<'p>(
        &self,
        made: &'p mut [DynTensor],
        task: Task<'p>,
        division: Division,
        most: usize,
    ) -> Result<Vec<Part<'p, T>>, Problem> {
        let updates = self.rows.updates();
        let outputs = made.iter_mut().zip(task.wanted);
        let mut rest: Vec<Output<'p>> = outputs
            .map(|(cells, wanted)| Output::of(cells, wanted))
            .collect();
        let ranges = match division {
            Division::Outer => evenly(self.outer, most),
            Division::Rows => self.shares_of_rows(most),
            Division::Updates => evenly(updates, most),
        };
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            let mut part = Part {
                outer: 0..self.outer,
                extent: self.whole(),
                results: None,
                tables: None,
            };
            match division {
                Division::Outer => part.outer = range,
                Division::Rows => part.extent.rows = range,
                Division::Updates => {
                    part.extent.updates = range;
                    parts.push(part);
                    continue;
                }
            }
            let columns = part.outer.len().saturating_mul(self.inner);
            let (own, others) = rest
                .into_iter()
                .zip(task.wanted)
                .map(|(output, wanted)| {
                    let each = wanted.statistic.is_of_each();
                    let rows = if each {
                        updates
                    } else {
                        part.extent.rows.len()
                    };
                    output.split(columns.saturating_mul(rows))
                })
                .unzip();
            rest = others;
            let records = part.extent.rows.len().saturating_mul(self.inner);
            part.results = Some(Outputs::new(own, task, records)?);
            parts.push(part);
        }
        Ok(parts)
    }

    /// Computes a part. False if an update [has no
    /// row](crate::statistic::read::ReadRows::read_rows): then the outputs hold anything.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn make_part(&self, part: &mut Part<'_, T>, task: Task<'_>) -> Result<bool, Problem> {
        let _floats = DefaultFloats::enter();
        let mut work = Work::new(self.inner)?;
        if part.outer.is_empty() || self.inner == 0 {
            return Ok(self.all_have_rows(&mut work));
        }
        let cells = part.extent.rows.len().saturating_mul(self.inner);
        let mut tables = Tables::without_presence(task, cells)?;
        let whole = part.extent.rows == (0..self.size);
        let each = task
            .wanted
            .iter()
            .any(|wanted| wanted.statistic.is_of_each());
        part.extent.finds_strays = whole && !each && tables.are_one();
        for outer in part.outer.clone() {
            if outer > part.outer.start {
                tables.begin();
                part.results.iter_mut().for_each(Outputs::begin);
            }
            let at = (outer - part.outer.start) * self.rows.updates();
            let results = &mut part.results;
            let mut read =
                self.each_block(outer, &part.extent, task.among.skip, &mut work, |block| {
                    if let Some(results) = results {
                        results.write(block, (at + block.first) * self.inner);
                    }
                    tables.join(block)
                });
            tables.check()?;
            if read && tables.must_count_presence(cells)? {
                read = self.each_block(outer, &part.extent, task.among.skip, &mut work, |block| {
                    tables.join_presence(block)
                });
            }
            if !read {
                return Ok(false);
            }
            if let Some(results) = &mut part.results {
                let first = (outer - part.outer.start) * cells;
                tables.finish_all(task, &mut results.outputs, first..first + cells)?;
            }
        }
        part.tables = part.results.is_none().then_some(tables);
        Ok(true)
    }

    /// Merges the records of parts that were divided by updates, and writes the results.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn merge(
        &self,
        records: impl IntoIterator<Item = Records<T>>,
        made: &mut [DynTensor],
        task: Task<'_>,
    ) -> Result<(), Problem> {
        let merged = records.into_iter().reduce(|mut merged, other| {
            merged.0.merge(&other.0);
            merged
        });
        let Some(Records(tables)) = merged else {
            return Ok(());
        };
        tables.check()?;
        let outputs = made.iter_mut().zip(task.wanted);
        let mut outputs: Vec<Output<'_>> = outputs
            .map(|(cells, wanted)| Output::of(cells, wanted))
            .collect();
        tables.finish_all(task, &mut outputs, 0..self.size * self.inner)
    }

    /// At most `most` ranges of rows, each with about as many updates, by a sample of them.
    fn shares_of_rows(&self, most: usize) -> Vec<Range<usize>> {
        const SAMPLES: usize = 256;
        let updates = self.rows.updates();
        let mut row = [0];
        let mut sample: Vec<usize> = (0..updates)
            .step_by((updates / SAMPLES).max(1))
            .filter_map(|update| self.rows.read_rows(update, &mut row)?.first().copied())
            .filter_map(|row| usize::try_from(row).ok())
            .filter(|&row| row < self.size)
            .collect();
        sample.sort_unstable();
        let cuts = (1..most).filter_map(|part| sample.get(sample.len() * part / most));
        let mut cuts: Vec<usize> = cuts.copied().chain([0, self.size]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.len() == 1 {
            cuts.push(self.size);
        }
        cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()
    }
}

/// The records of a part, to be merged.
pub struct Records<T: Value>(Tables<T>);

impl<T: Value> Part<'_, T> {
    /// Its records, if it was divided by updates.
    pub fn into_records(self) -> Option<Records<T>> {
        self.tables.map(Records)
    }
}

/// At most `most` ranges of nearly equal length that make up `0..len`, at least one.
fn evenly(len: usize, most: usize) -> Vec<Range<usize>> {
    let parts = most.min(len).max(1);
    let cut = |part: usize| len / parts * part + (len % parts).min(part);
    (0..parts).map(|part| cut(part)..cut(part + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Division, Part};
    use crate::aggregate::tests::of_values;
    use crate::group_stats::blocks::GroupStats;
    use crate::group_stats::stream::Stream;
    use crate::groups::csr::Csr;
    use crate::groups::row_ids::{Facts, RowIds};
    use crate::ops::order::beats;
    use crate::statistic::output::{Among, Output, Results, Row, Task, Wanted};
    use crate::statistic::read::ReadValues;
    use crate::statistic::value::Value;
    use crate::statistic::what::Statistic;
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
    fn write<T: Value>(to: &mut DynTensor, wanted: &Wanted, cell: usize, made: Option<Made<T>>) {
        let mut row = Row::<T>::with_room(wanted.statistic.kind(T::COMPLEX), 1).unwrap();
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
            let ascending = round % 5 == 0;
            for update in 0..updates {
                // Some are left out.
                let row = match ascending {
                    true => update * size / updates,
                    false => random(&mut state) * 7 % size.max(1),
                };
                rows.push(match random(&mut state) % if ascending { 200 } else { 9 } {
                    0 => usize::MAX,
                    _ => row + usize::from(size == 0),
                });
            }
            let values: Vec<T> = (0..outer * updates * inner)
                .map(|_| of(random(&mut state)))
                .collect();
            let values = Stored(values);
            let (skip, least) = (round % 2 == 0, round % 3);
            let wanted = ALL.iter().map(|&statistic| Wanted {
                statistic,
                fill: DynTensor::filled(DType::F64, &[1], &[fill; 8]).unwrap(),
            });
            let all: Vec<Wanted> = wanted
                .filter(|wanted| wanted.statistic.is_streamed(skip || least > 1))
                .collect();
            let wanted: Vec<&Wanted> = all.iter().collect();
            let cells = |wanted: &&Wanted| {
                let each = wanted.statistic.is_of_each();
                let rows = if each { updates } else { size };
                wanted.cells([outer, rows, inner]).unwrap()
            };
            let task = Task {
                wanted: &wanted,
                among: Among { skip, least },
            };
            let mut found: Vec<DynTensor> = wanted.iter().map(cells).collect();
            let stream = Stream {
                rows: &rows,
                size,
                values: &values,
                outer,
                inner,
            };
            make(&stream, task, Division::Outer, 1, &mut found);
            for division in [Division::Outer, Division::Rows, Division::Updates] {
                in_parts(&stream, task, division, &found);
            }
            let groups = Csr::new(&rows, size, Facts::of(&rows, size)).unwrap();
            let of_each = wanted.iter().copied();
            let of_each: Vec<&Wanted> = of_each
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
            let task = Task {
                wanted: &of_each,
                ..task
            };
            for part in columns.parts(&mut each, &of_each, 1) {
                columns.make(part, task).unwrap();
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

    /// Computes statistics in parts, one after the other.
    fn make<T: Value>(
        stream: &Stream<'_, T>,
        task: Task<'_>,
        division: Division,
        most: usize,
        made: &mut [DynTensor],
    ) {
        let parts = stream.parts(made, task, division, most).unwrap();
        let make = |mut part: Part<'_, T>| {
            assert!(stream.make_part(&mut part, task).unwrap());
            part.into_records()
        };
        let records: Vec<_> = parts.into_iter().filter_map(make).collect();
        stream.merge(records, made, task).unwrap();
    }

    /// Computes the statistics that a division allows in parts, and compares their bytes.
    fn in_parts<T: Value>(
        stream: &Stream<'_, T>,
        task: Task<'_>,
        division: Division,
        expected: &[DynTensor],
    ) {
        if division != Division::Outer && stream.outer != 1 {
            return;
        }
        let allowed = |statistic: Statistic| match division {
            Division::Outer => true,
            Division::Rows => !statistic.is_of_each(),
            Division::Updates => !statistic.is_of_each() && !statistic.depends_on_order::<T>(),
        };
        let pairs = task.wanted.iter().copied().zip(expected);
        let (wanted, expected): (Vec<&Wanted>, Vec<&DynTensor>) = pairs
            .filter(|(wanted, _)| allowed(wanted.statistic))
            .unzip();
        let task = Task {
            wanted: &wanted,
            ..task
        };
        let empty = |all: &&DynTensor| DynTensor::zeros(all.dtype(), all.shape()).unwrap();
        let mut found: Vec<DynTensor> = expected.iter().map(empty).collect();
        make(stream, task, division, 3, &mut found);
        for ((wanted, found), expected) in wanted.iter().zip(&found).zip(expected) {
            let what = format!("{division:?}, {:?}", wanted.statistic);
            assert_eq!(found.as_bytes(), expected.as_bytes(), "{what}");
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
