//! The tables of records of all wanted statistics with a result for each group.

use crate::error::Problem;
use crate::group_stats::exact::{ExactRecords, Parts};
use crate::group_stats::output::{Count, Output, Row, Summary};
use crate::group_stats::records::{Block, Of, Records, kept, records_of};
use crate::group_stats::running::{Len, Present};
use crate::group_stats::statistics::{ExactOf, Statistic, Value};
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
    /// How many values each group has, or whether it has any.
    counts: Counts<T>,
}

impl<T: Value> Tables<T> {
    /// Tables of `cells` groups without values.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn new(count: Count<'_>, cells: usize) -> Result<Self, Problem> {
        let mut kinds: Vec<Statistic> = Vec::new();
        let mut made = Self {
            tables: Vec::new(),
            of: Vec::new(),
            counts: Counts::Unused,
        };
        let exact = count.wanted.iter().filter_map(|wanted| exact_of(wanted));
        let exact = exact.map(Parts::of).reduce(Parts::and).unwrap_or_default();
        // A result that is the fill value without values needs no count of them.
        let mut fills = false;
        for wanted in count.wanted {
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
            if let Some(at) = table {
                fills |= !made.tables[at].starts_with_fill(wanted);
            }
            made.of.push(table);
        }
        made.counts = match count.least > 1 {
            true => Counts::Each(Of::new(cells)?),
            false if fills => Counts::Present(Of::new(cells)?),
            false => Counts::Unused,
        };
        Ok(made)
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
        self.all_mut().for_each(|table| table.begin());
    }

    /// Makes records of groups without values at the end, until there are `cells`.
    ///
    /// # Errors
    /// [`Problem::Memory`]. No record has changed.
    pub(crate) fn grow(&mut self, cells: usize) -> Result<(), Problem> {
        self.all_mut().try_for_each(|table| table.grow(cells))
    }

    /// Joins the values of a block.
    pub(crate) fn join(&mut self, block: &Block<'_, T>) {
        self.all_mut().for_each(|table| table.join(block));
    }

    /// Merges the records of tables of the same statistics, of no more cells.
    pub(crate) fn merge(&mut self, other: &Self) {
        let pairs = self.all_mut().zip(other.all());
        pairs.for_each(|(table, other)| table.merge(other));
    }

    /// Whether all values that came have joined.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn check(&self) -> Result<(), Problem> {
        self.all().try_for_each(|table| table.check())
    }

    /// Writes the results of one wanted statistic of consecutive groups, the first `cells.len()`,
    /// to some cells of its output. Does nothing if it has results for each value.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn finish(
        &self,
        count: Count<'_>,
        number: usize,
        output: &mut Output<'_>,
        cells: Range<usize>,
    ) -> Result<(), Problem> {
        let Some(table) = self.of[number] else {
            return Ok(());
        };
        let statistic = count.wanted[number].statistic;
        let mut row = Row::<T>::with_room(statistic, CELLS)?;
        for from in (0..cells.len()).step_by(CELLS) {
            let len = CELLS.min(cells.len() - from);
            row.begin(len);
            self.counts.have(count.least, from, &mut row.set);
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
fn exact_of(wanted: &Summary) -> Option<ExactOf> {
    match wanted.statistic {
        Statistic::Exact(of, _) => Some(of),
        _ => None,
    }
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
