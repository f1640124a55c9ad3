//! Rows of a table for groups: their keys and their values, chunk by chunk.

use crate::elements::Kind;
use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::table::{Batches, Table};
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::NullBuffer;
use arrow_select::filter::filter;
use strew::{DType, DynTensor};

/// What a missing key or value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nulls {
    /// An error.
    #[default]
    Refused,
    /// Its row is left out.
    Drop,
    /// A missing value is 0, and a missing key is a group of its own.
    Zero,
}

/// Rows of a table, chunk by chunk.
pub struct Rows {
    batches: Batches,
    names: Vec<String>,
    keys: usize,
    kinds: Vec<Kind>,
    nulls: Nulls,
    /// The first row of the next chunk.
    row: usize,
    /// What is given of a table without rows, so that the types of its columns are known.
    empty: Option<Vec<ArrayRef>>,
}

/// Some rows: the group of each, and its values of each column.
#[derive(Debug)]
pub struct Chunk {
    /// The group of each row.
    pub groups: DynTensor,
    /// The values of each value column.
    pub values: Vec<DynTensor>,
}

impl Rows {
    /// The rows of a table by these columns.
    ///
    /// # Errors
    /// If there is no such column, or if a value column is none that a tensor has.
    pub fn new(table: &Table, keys: &[String], values: &[String], nulls: Nulls) -> Result<Self> {
        let names: Vec<String> = keys.iter().chain(values).cloned().collect();
        let places = names.iter().map(|name| table.place(Some(name)));
        let places = places.collect::<Result<Vec<_>>>()?;
        let kinds = places[keys.len()..].iter().map(|&at| table.kind(at));
        Ok(Self {
            kinds: kinds.collect::<Result<_>>()?,
            batches: table.batches(&places, 0)?,
            names,
            keys: keys.len(),
            nulls,
            row: 0,
            empty: Some(places.iter().map(|&at| table.empty(at)).collect()),
        })
    }

    /// The element type and the shape of one row of each value column.
    pub fn kinds(&self) -> impl Iterator<Item = (DType, &[usize])> {
        self.kinds.iter().map(|kind| (kind.dtype, &kind.row[..]))
    }

    /// The next rows, with their groups among `groups`; `None` at the end.
    ///
    /// # Errors
    /// If a value is missing, if a key column is of no such type, if the file is broken, or without
    /// memory.
    pub fn next(&mut self, groups: &mut Groups) -> Result<Option<Chunk>> {
        let empty = self.empty.take();
        let Some(mut columns) = self.batches.next().transpose()?.or(empty) else {
            return Ok(None);
        };
        let rows = columns.first().map_or(0, |column| column.len());
        let nulls = self.nulls_of(&columns)?;
        if let Some(nulls) = nulls.filter(|_| self.nulls == Nulls::Drop) {
            let kept = BooleanArray::from(nulls.into_inner());
            for column in &mut columns {
                *column = filter(column, &kept).map_err(|e| Error::broken("Arrow", e))?;
            }
        }
        self.row += rows;
        let (keys, values) = columns.split_at(self.keys);
        let values = values
            .iter()
            .zip(&self.kinds)
            .map(|(column, kind)| tensor(column, kind));
        Ok(Some(Chunk {
            groups: groups.of(keys)?,
            values: values.collect::<Result<_>>()?,
        }))
    }

    /// Which rows have all of their keys and values; `None` if all have.
    fn nulls_of(&self, columns: &[ArrayRef]) -> Result<Option<NullBuffer>> {
        let mut all = None;
        for (at, column) in columns.iter().enumerate() {
            let nulls = match at.checked_sub(self.keys) {
                None => column.logical_nulls(),
                Some(value) => self.kinds[value].nulls(column),
            };
            let first = nulls.iter().flatten().position(|there| !there);
            if let (Some(first), Nulls::Refused) = (first, self.nulls) {
                return Err(Error::Null {
                    column: self.names[at].clone(),
                    row: self.row + first,
                });
            }
            all = NullBuffer::union(all.as_ref(), nulls.as_ref());
        }
        Ok(all.filter(|nulls| nulls.null_count() > 0))
    }
}

fn tensor(column: &ArrayRef, kind: &Kind) -> Result<DynTensor> {
    let shape = [&[column.len()][..], &kind.row].concat();
    let made = DynTensor::zeros(kind.dtype, &shape);
    let mut made = made.map_err(|problem| Error::new(problem.to_string()))?;
    kind.copy(column, 0..column.len(), made.as_bytes_mut())?;
    Ok(made)
}
