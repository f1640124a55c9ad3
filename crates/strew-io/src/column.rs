//! One column as a tensor, some rows at a time.

use crate::elements::Kind;
use crate::error::{Error, Result};
use crate::kept::Kept;
use crate::table::{Batches, Table};
use arrow_array::{Array, ArrayRef};
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use strew::{DType, DynTensor};

/// What a missing value is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// An error.
    #[default]
    Refused,
    /// Zero.
    Zero,
    /// Nothing: only these rows are read.
    Left(Arc<Kept>),
}

/// A column of a file: a tensor whose first axis is the rows.
pub struct Column {
    table: Table,
    at: usize,
    name: String,
    kind: Kind,
    missing: Missing,
    /// Where reading has come to.
    cursor: RefCell<Option<Cursor>>,
}

/// A place between two rows.
struct Cursor {
    batches: Batches,
    /// The row of the file that comes next, and its number among those that are read.
    row: usize,
    next: usize,
    /// The rows of the chunk that are left.
    chunk: Option<ArrayRef>,
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Column {
    /// The column of this name. Without a name, the table must have one column only.
    ///
    /// # Errors
    /// If there is no such column, or if its type is none that a tensor has.
    pub fn new(mut table: Table, name: Option<&str>, missing: Missing) -> Result<Self> {
        let at = table.place(name)?;
        table.prepare(&[at])?;
        let name = table.name(at).to_owned();
        let kind = table.kind(at)?;
        if kind.bytes().is_none() {
            return Err(Error::new(format!("a row of column '{name}' is too large")));
        }
        if let Missing::Left(kept) = &missing
            && kept.of_all() != table.rows()
        {
            return Err(Error::new("it has another number of rows than it had"));
        }
        Ok(Self {
            table,
            at,
            name,
            kind,
            missing,
            cursor: RefCell::new(None),
        })
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.kind.dtype
    }

    /// How many rows are read.
    #[must_use]
    pub fn rows(&self) -> usize {
        match &self.missing {
            Missing::Left(kept) => kept.count(),
            _ => self.table.rows(),
        }
    }

    /// The shape: the rows first.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        [&[self.rows()][..], &self.kind.row].concat()
    }

    /// Some rows.
    ///
    /// # Errors
    /// If there are no such rows, if a value is missing, if the file is broken, or without memory.
    pub fn tensor(&self, from: usize, count: usize) -> Result<DynTensor> {
        let mut shape = self.shape();
        shape[0] = count;
        let made = DynTensor::zeros(self.dtype(), &shape);
        let mut made = made.map_err(|problem| Error::new(problem.to_string()))?;
        self.read(from, made.as_bytes_mut())?;
        Ok(made)
    }

    /// The bytes of rows from `from` on, as many as `to` takes.
    fn read(&self, from: usize, to: &mut [u8]) -> Result<()> {
        let bytes = self.kind.bytes().unwrap_or(0);
        if bytes == 0 || to.is_empty() {
            return Ok(());
        }
        let end = from.saturating_add(to.len() / bytes);
        if end > self.rows() {
            return Err(Error::new(format!("it has no row {}", end - 1)));
        }
        // Reading goes on where it has come to, unless it is to begin elsewhere.
        let mut cursor = match self.cursor.take() {
            Some(cursor) if cursor.next == from => cursor,
            _ => self.begin(from)?,
        };
        let mut rest = to;
        while !rest.is_empty() {
            let chunk = cursor.chunk(self.table.rows())?;
            let used = self.take(&mut cursor, &chunk, bytes, &mut rest)?;
            cursor.row += used;
            cursor.chunk = (used < chunk.len()).then(|| chunk.slice(used, chunk.len() - used));
        }
        self.cursor.replace(Some(cursor));
        Ok(())
    }

    fn begin(&self, from: usize) -> Result<Cursor> {
        let row = match &self.missing {
            Missing::Left(kept) => kept.row(from),
            _ => from,
        };
        Ok(Cursor {
            batches: self.table.batches(&[self.at], row)?,
            row,
            next: from,
            chunk: None,
        })
    }

    /// Copies rows of a chunk until `rest` is full; says how many rows of the chunk are done with.
    fn take(
        &self,
        cursor: &mut Cursor,
        chunk: &ArrayRef,
        bytes: usize,
        rest: &mut &mut [u8],
    ) -> Result<usize> {
        let runs = match &self.missing {
            Missing::Left(kept) => kept.runs(cursor.row, chunk.len()),
            _ => std::iter::once(0..chunk.len()).collect(),
        };
        for run in runs {
            let count = run.len().min(rest.len() / bytes);
            let some = run.start..run.start + count;
            if self.missing == Missing::Refused
                && let Some(nulls) = self.kind.nulls(&chunk.slice(some.start, count))
                && let Some(first) = nulls.iter().position(|there| !there)
            {
                return Err(Error::Null {
                    column: self.name.clone(),
                    row: cursor.row + some.start + first,
                });
            }
            let (to, after) = std::mem::take(rest).split_at_mut(count * bytes);
            self.kind.copy(chunk, some, to)?;
            *rest = after;
            cursor.next += count;
            if rest.is_empty() {
                return Ok(run.start + count);
            }
        }
        Ok(chunk.len())
    }
}

impl Cursor {
    /// The rows that come next: at least one.
    fn chunk(&mut self, rows: usize) -> Result<ArrayRef> {
        loop {
            let chunk = match self.chunk.take() {
                Some(chunk) => Some(chunk),
                None => {
                    let batch = self.batches.next().transpose()?;
                    batch.and_then(|columns| columns.into_iter().next())
                }
            };
            match chunk {
                Some(chunk) if chunk.is_empty() => {}
                Some(chunk) => return Ok(chunk),
                None => {
                    return Err(Error::new(format!(
                        "it is truncated: it says that it has {rows} rows, and it ends after {}",
                        self.row
                    )));
                }
            }
        }
    }
}
