//! Which rows of a file are read, where those with missing values are left out.

use crate::error::Result;
use crate::table::Table;
use arrow_array::Array;
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use std::ops::Range;

/// Rows that are read, of all rows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    rows: BooleanBuffer,
    count: usize,
}

impl Kept {
    /// The rows that have a value in the column of this name. Without a name, the table must have
    /// one column only.
    ///
    /// # Errors
    /// If there is no such column, or if it cannot be read.
    pub fn of(table: &mut Table, column: Option<&str>) -> Result<Self> {
        let at = table.place(column)?;
        table.prepare(&[at])?;
        let kind = table.kind(at)?;
        let mut rows = BooleanBufferBuilder::new(0);
        for batch in table.batches(&[at], 0)? {
            let array = &batch?[0];
            match kind.nulls(array) {
                Some(nulls) => rows.append_buffer(nulls.inner()),
                None => rows.append_n(array.len(), true),
            }
        }
        Ok(Self::new(rows.finish()))
    }

    fn new(rows: BooleanBuffer) -> Self {
        let count = rows.count_set_bits();
        Self { rows, count }
    }

    /// The rows that are in both; `None` if they are not as many rows of a file.
    #[must_use]
    pub fn and(&self, other: &Self) -> Option<Self> {
        (self.rows.len() == other.rows.len()).then(|| Self::new(&self.rows & &other.rows))
    }

    /// The rows of several files, one after the other.
    #[must_use]
    pub fn join(parts: &[Self]) -> Self {
        let mut rows = BooleanBufferBuilder::new(0);
        for part in parts {
            rows.append_buffer(&part.rows);
        }
        Self::new(rows.finish())
    }

    /// Some of the file's rows as a file of their own; `None` if they are not there.
    #[must_use]
    pub fn part(&self, rows: Range<usize>) -> Option<Self> {
        let there = rows.start <= rows.end && rows.end <= self.rows.len();
        there.then(|| Self::new(self.rows.slice(rows.start, rows.len())))
    }

    /// How many rows are kept.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many rows the file has.
    #[must_use]
    pub fn of_all(&self) -> usize {
        self.rows.len()
    }

    /// The file's row that is number `kept` among those that are kept.
    pub(crate) fn row(&self, kept: usize) -> usize {
        let mut before = 0;
        for (start, end) in self.rows.set_slices() {
            if kept < before + (end - start) {
                return start + kept - before;
            }
            before += end - start;
        }
        self.rows.len()
    }

    /// The kept ones among some rows of the file, as ranges that count from the first of them.
    pub(crate) fn runs(&self, from: usize, count: usize) -> Vec<Range<usize>> {
        let from = from.min(self.rows.len());
        let some = self.rows.slice(from, count.min(self.rows.len() - from));
        some.set_slices().map(|(start, end)| start..end).collect()
    }
}
