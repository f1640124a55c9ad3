//! The tables of records of all wanted statistics with a result for each group.

use crate::aggregate::len::{Len, Present};
use crate::error::Problem;
use crate::group_stats::exact::{ExactRecords, Parts};
use crate::group_stats::records::{Block, Of, Records, kept, records_of};
use crate::statistic::output::{Output, Row, Task, Wanted};
use crate::statistic::value::Value;
use crate::statistic::what::{ExactOf, Statistic};
use crate::tensor::spread::Spread;
use std::ops::Range;

/// Cells whose results are written at a time.
const CELLS: usize = 1 << 10;

/// The tables of records. Statistics that are made of the same record share a table.
///
/// A table is an implementation of [`Records`]: of exact sums, or one that [`records_of`] makes.
pub(crate) struct Tables<T: Value> {
    tables: Vec<Box<dyn Records<T>>>,
    /// The table of each wanted statistic; `None`: it has a result for each value.
    of: Vec<Option<usize>>,
    /// The tables of which a group without values has a result that is not the fill value.
    unlike_fill: Vec<usize>,
    /// How many values each group has, or whether it has any.
    counts: Counts<T>,
}

impl<T: Value> Tables<T> {
    /// Tables of `cells` groups without values.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn new(task: Task<'_>, cells: usize) -> Result<Self, Problem> {
        let mut made = Self::without_presence(task, cells)?;
        made.count_presence(cells)?;
        Ok(made)
    }

    /// Tables that do not count which groups have values before
    /// [`must_count_presence`](Self::must_count_presence).
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn without_presence(task: Task<'_>, cells: usize) -> Result<Self, Problem> {
        let mut kinds: Vec<Statistic> = Vec::new();
        let mut made = Self {
            tables: Vec::new(),
            of: Vec::new(),
            unlike_fill: Vec::new(),
            counts: Counts::Unused,
        };
        let exact = task.wanted.iter().filter_map(|wanted| exact_of(wanted));
        let exact = exact.map(Parts::of).reduce(Parts::and).unwrap_or_default();
        for wanted in task.wanted {
            let kind = kept(wanted.statistic);
            let known = kinds.iter().position(|&known| known == kind);
            let table = match known {
                Some(at) => Some(at),
                None => {
                    let table: Option<Box<dyn Records<T>>> = match exact_of(wanted) {
                        Some(_) => Some(Box::new(ExactRecords::new::<T>(exact, cells)?)),
                        None => records_of::<T>(kind, cells)?,
                    };
                    table.map(|table| {
                        kinds.push(kind);
                        made.tables.push(table);
                        kinds.len() - 1
                    })
                }
            };
            let unlike_fill = |&at: &usize| !made.tables[at].starts_with_fill(wanted);
            made.unlike_fill.extend(table.filter(unlike_fill));
            made.of.push(table);
        }
        if task.among.least > 1 {
            made.counts = Counts::Each(Of::new(cells)?);
        }
        Ok(made)
    }

    /// Whether all values must be read again to [count](Self::join_presence) which groups have
    /// any: a result depends on it, and a record may be of no values.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn must_count_presence(&mut self, cells: usize) -> Result<bool, Problem> {
        let mut unlike = self.unlike_fill.iter();
        let unknown = matches!(self.counts, Counts::Unused)
            && unlike.any(|&table| self.tables[table].may_lack_values());
        if unknown {
            self.count_presence(cells)?;
        }
        Ok(unknown)
    }

    /// Makes the table that says which groups have values, if a result depends on it.
    fn count_presence(&mut self, cells: usize) -> Result<(), Problem> {
        if matches!(self.counts, Counts::Unused) && !self.unlike_fill.is_empty() {
            self.counts = Counts::Present(Of::new(cells)?);
        }
        Ok(())
    }

    /// Counts the groups that a block has values of. False as [`join`](Self::join).
    pub(crate) fn join_presence(&mut self, block: &Block<'_, T>) -> bool {
        let counts = self.counts.records_mut();
        counts.is_none_or(|counts| counts.join(block))
    }

    /// All tables, with that of the counts.
    fn all(&self) -> impl Iterator<Item = &dyn Records<T>> {
        let tables = self.tables.iter().map(|table| &**table);
        tables.chain(self.counts.records())
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut dyn Records<T>> {
        let tables = self.tables.iter_mut().map(|table| &mut **table);
        tables.chain(self.counts.records_mut())
    }

    /// Sets all records to those of groups without values.
    pub(crate) fn begin(&mut self) {
        if let Counts::Present(_) = self.counts {
            self.counts = Counts::Unused;
        }
        self.all_mut().for_each(|table| table.begin());
    }

    /// Makes records of groups without values at the end, until there are `cells`.
    ///
    /// # Errors
    /// [`Problem::Memory`]. No record has changed.
    pub(crate) fn grow(&mut self, cells: usize) -> Result<(), Problem> {
        self.all_mut().try_for_each(|table| table.grow(cells))
    }

    /// Whether there is a single table, which looks at each row once anyway.
    pub(crate) fn are_one(&self) -> bool {
        self.all().count() == 1
    }

    /// Joins the values of a block. False if a row is not one of the groups; that is left out.
    pub(crate) fn join(&mut self, block: &Block<'_, T>) -> bool {
        let mut all_there = true;
        for table in self.all_mut() {
            all_there &= table.join(block);
        }
        all_there
    }

    /// Merges the records of tables of the same statistics, of no more cells.
    pub(crate) fn merge(&mut self, other: &Self) {
        let pairs = self.tables.iter_mut().zip(&other.tables);
        pairs.for_each(|(table, other)| table.merge(&**other));
        match (self.counts.records_mut(), other.counts.records()) {
            (Some(counts), Some(other)) => counts.merge(other),
            // One of them did not have to count: all its groups have values.
            _ => self.counts = Counts::Unused,
        }
    }

    /// Sets some records to those of tables of the same statistics.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn copy_from(&mut self, other: &Self, to: Spread<'_>) -> Result<(), Problem> {
        let mut pairs = self.all_mut().zip(other.all());
        pairs.try_for_each(|(table, other)| table.copy_from(other, to))
    }

    /// Whether all values that came have joined.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn check(&self) -> Result<(), Problem> {
        self.all().try_for_each(|table| table.check())
    }

    /// Writes the results of all wanted statistics of the first `cells.len()` groups to some cells
    /// of their outputs, but for those that have results for each value.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn finish_all(
        &self,
        task: Task<'_>,
        outputs: &mut [Output<'_>],
        cells: Range<usize>,
    ) -> Result<(), Problem> {
        let mut outputs = outputs.iter_mut().enumerate();
        outputs.try_for_each(|(number, output)| self.finish(task, number, output, cells.clone()))
    }

    /// Writes the results of one wanted statistic of consecutive groups, the first `cells.len()`,
    /// to some cells of its output. Does nothing if it has results for each value.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn finish(
        &self,
        task: Task<'_>,
        number: usize,
        output: &mut Output<'_>,
        cells: Range<usize>,
    ) -> Result<(), Problem> {
        let Some(table) = self.of[number] else {
            return Ok(());
        };
        let statistic = task.wanted[number].statistic;
        let mut row = Row::<T>::with_room(statistic.kind(T::COMPLEX), CELLS)?;
        for from in (0..cells.len()).step_by(CELLS) {
            let len = CELLS.min(cells.len() - from);
            row.begin(len);
            self.counts.have(task.among.least, from, &mut row.set);
            self.tables[table].finish(statistic, from, &mut row);
            output.write(&row, 0..len, cells.start + from);
        }
        Ok(())
    }

    /// Bytes that the records of a group take at least where they are written.
    pub(crate) fn bytes(&self) -> usize {
        self.all().map(Records::bytes).sum()
    }

    /// Bytes that the tables take in memory.
    pub(crate) fn memory(&self) -> usize {
        self.all().map(Records::memory).sum()
    }

    /// Writes the records of the first `cells` groups, table by table.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn write(&self, cells: usize, to: &mut Vec<u8>) -> Result<(), Problem> {
        self.all().try_for_each(|table| table.write(cells, to))
    }

    /// Reads all records from the front of bytes. `None` if they are cut off, or not ones that are
    /// written.
    pub(crate) fn read(&mut self, from: &mut &[u8]) -> Option<()> {
        self.all_mut().try_for_each(|table| table.read(from))
    }
}

/// The exact statistic that is wanted, if it is one.
fn exact_of(wanted: &Wanted) -> Option<ExactOf> {
    match wanted.statistic {
        Statistic::Exact(of, _) => Some(of),
        _ => None,
    }
}

/// How many values groups have, as far as a result depends on it.
enum Counts<T: Value> {
    /// What groups without values have is their result, or all groups have values.
    Unused,
    /// Whether each has any.
    Present(Of<T, Present>),
    Each(Of<T, Len>),
}

impl<T: Value> Counts<T> {
    fn records(&self) -> Option<&dyn Records<T>> {
        match self {
            Self::Unused => None,
            Self::Present(cells) => Some(cells),
            Self::Each(cells) => Some(cells),
        }
    }

    fn records_mut(&mut self) -> Option<&mut dyn Records<T>> {
        match self {
            Self::Unused => None,
            Self::Present(cells) => Some(cells),
            Self::Each(cells) => Some(cells),
        }
    }

    /// Says for consecutive cells from one on whether they have as many values as they must have.
    fn have(&self, least: usize, from: usize, set: &mut [bool]) {
        match self {
            Self::Unused => set.fill(true),
            Self::Present(found) => {
                for (set, found) in set.iter_mut().zip(&found.cells[from..]) {
                    *set = found.0 == 1;
                }
            }
            Self::Each(counts) => {
                let least = i64::try_from(least).unwrap_or(i64::MAX);
                for (set, &count) in set.iter_mut().zip(&counts.cells[from..]) {
                    *set = count >= least;
                }
            }
        }
    }
}
