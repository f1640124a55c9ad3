//! Rows of a table for groups: their keys and their values, chunk by chunk.

use crate::chunks::Chunks;
use crate::data_set::DataSet;
use crate::elements::Kind;
use crate::error::{Error, Result};
use crate::groups::Groups;
use arrow_array::{Array, ArrayRef, BooleanArray, new_empty_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
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
    /// Only this value is left out; without a key, the row.
    Skip,
    /// A missing value is 0, and a missing key is a group of its own.
    Zero,
}

/// The group of a value that is left out. There are never that many groups.
pub const NO_GROUP: u32 = u32::MAX;

/// Rows of a table, chunk by chunk.
pub struct Rows {
    data: DataSet,
    /// The file that is read, and its chunks.
    part: usize,
    chunks: Option<Chunks>,
    /// The first row of the next chunk.
    row: usize,
    names: Vec<String>,
    /// The place of each name among the columns that are read: a name may be there twice.
    places: Vec<usize>,
    keys: usize,
    kinds: Vec<Kind>,
    nulls: Nulls,
    /// Whether nothing was read yet. A table without rows gives a chunk without rows, so that the
    /// types of its columns are known.
    fresh: bool,
}

/// Some rows: the group of each, and its values of each column.
#[derive(Debug)]
pub struct Chunk {
    /// The group of each row.
    pub groups: DynTensor,
    /// The values of each value column.
    pub values: Vec<DynTensor>,
    /// The groups of a value column of which some values are left out: these are in
    /// [`NO_GROUP`].
    pub own_groups: Vec<Option<DynTensor>>,
}

impl Chunk {
    /// The group of each value of a column.
    #[must_use]
    pub fn groups_of(&self, value: usize) -> &DynTensor {
        let own = self.own_groups.get(value).and_then(Option::as_ref);
        own.unwrap_or(&self.groups)
    }
}

impl Rows {
    /// The rows of files by these columns.
    ///
    /// # Errors
    /// If there is no such column, if a value column is none that a tensor has, or if files do not
    /// agree.
    pub fn new(
        mut data: DataSet,
        keys: &[String],
        values: &[String],
        nulls: Nulls,
    ) -> Result<Self> {
        let names: Vec<String> = keys.iter().chain(values).cloned().collect();
        let mut wanted: Vec<String> = Vec::new();
        let mut places = Vec::with_capacity(names.len());
        for name in &names {
            let known = wanted.iter().position(|one| one == name);
            places.push(known.unwrap_or(wanted.len()));
            if known.is_none() {
                wanted.push(name.clone());
            }
        }
        data.prepare(&wanted)?;
        let kinds = places[keys.len()..].iter().zip(values);
        let kinds = kinds.map(|(&at, name)| data.kind(at, name));
        Ok(Self {
            kinds: kinds
                .collect::<Result<_>>()
                .map_err(|error| match data.file(0) {
                    "" => error,
                    first => error.in_file(first),
                })?,
            data,
            part: 0,
            chunks: None,
            row: 0,
            names,
            places,
            keys: keys.len(),
            nulls,
            fresh: true,
        })
    }

    /// The element type and the shape of one row of each value column.
    pub fn kinds(&self) -> impl Iterator<Item = (DType, &[usize])> {
        self.kinds.iter().map(|kind| (kind.dtype, &kind.row[..]))
    }

    /// Names and types of the keys and the values.
    pub fn types(&self) -> impl Iterator<Item = (&str, String)> {
        let types = self.data.types();
        let each = self.names.iter().zip(&self.places);
        each.map(|(name, &at)| (&**name, type_name(&types[at])))
    }

    /// How many rows there are, before any is left out.
    #[must_use]
    pub fn count(&self) -> usize {
        self.data.rows()
    }

    /// The next rows, with their groups among `groups`; `None` at the end.
    ///
    /// # Errors
    /// If a value is missing, if a key column is of no such type, if the file is broken, or without
    /// memory.
    pub fn next(&mut self, groups: &mut Groups) -> Result<Option<Chunk>> {
        let read = self.read();
        let chunk = read.and_then(|columns| columns.map(|c| self.chunk(c, groups)).transpose());
        chunk.map_err(|error| match (self.data.file(self.part), error) {
            ("", error) | (_, error @ Error::InFile { .. }) => error,
            (file, error) => error.in_file(file),
        })
    }

    /// The next rows of the columns.
    fn read(&mut self) -> Result<Option<Vec<ArrayRef>>> {
        loop {
            if self.chunks.is_none() {
                self.chunks = self.data.chunks(self.part).transpose()?;
            }
            let Some(chunks) = &mut self.chunks else {
                let empty = self.data.types().iter().map(new_empty_array).collect();
                return Ok(std::mem::take(&mut self.fresh).then_some(empty));
            };
            match chunks.next().transpose()? {
                Some(columns) => {
                    self.fresh = false;
                    return Ok(Some(columns));
                }
                None => {
                    self.chunks = None;
                    self.part += 1;
                    self.row = 0;
                }
            }
        }
    }

    fn chunk(&mut self, columns: Vec<ArrayRef>, groups: &mut Groups) -> Result<Chunk> {
        let mut columns: Vec<ArrayRef> =
            self.places.iter().map(|&at| columns[at].clone()).collect();
        let rows = columns.first().map_or(0, |column| column.len());
        let nulls = self.nulls_of(&columns)?;
        let left = match self.nulls {
            Nulls::Refused | Nulls::Zero => None,
            Nulls::Drop => union(&nulls),
            Nulls::Skip => union(&nulls[..self.keys]),
        };
        if let Some(left) = left {
            let kept = BooleanArray::from(left.into_inner());
            for column in &mut columns {
                *column = filter(column, &kept).map_err(|e| Error::broken("Arrow", e))?;
            }
        }
        self.row += rows;
        let (keys, values) = columns.split_at(self.keys);
        let groups = groups.of(keys)?;
        let each = || values.iter().zip(&self.kinds);
        let own = |(column, kind): (&ArrayRef, &Kind)| match self.nulls {
            Nulls::Skip => kind
                .nulls(column)
                .map(|nulls| without(&groups, &nulls))
                .transpose(),
            _ => Ok(None),
        };
        Ok(Chunk {
            own_groups: each().map(own).collect::<Result<_>>()?,
            values: each()
                .map(|(column, kind)| tensor(column, kind))
                .collect::<Result<_>>()?,
            groups,
        })
    }

    /// Which rows of each column have a value; `None` if all have.
    fn nulls_of(&self, columns: &[ArrayRef]) -> Result<Vec<Option<NullBuffer>>> {
        let mut all = Vec::with_capacity(columns.len());
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
            all.push(nulls);
        }
        Ok(all)
    }
}

/// Which rows have all of these; `None` if all have.
fn union(nulls: &[Option<NullBuffer>]) -> Option<NullBuffer> {
    let mut all = None;
    for nulls in nulls {
        all = NullBuffer::union(all.as_ref(), nulls.as_ref());
    }
    all.filter(|nulls| nulls.null_count() > 0)
}

/// Groups of values of which some are left out.
fn without(groups: &DynTensor, nulls: &NullBuffer) -> Result<DynTensor> {
    let mut own = DynTensor::zeros(DType::U32, groups.shape())
        .map_err(|problem| Error::new(problem.to_string()))?;
    own.as_bytes_mut().copy_from_slice(groups.as_bytes());
    let each = own.as_bytes_mut().as_chunks_mut::<4>().0;
    for (group, there) in each.iter_mut().zip(nulls) {
        if !there {
            *group = NO_GROUP.to_ne_bytes();
        }
    }
    Ok(own)
}

/// What people call a type.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Dictionary(_, values) => type_name(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

fn tensor(column: &ArrayRef, kind: &Kind) -> Result<DynTensor> {
    let shape = [&[column.len()][..], &kind.row].concat();
    let made = DynTensor::zeros(kind.dtype, &shape);
    let mut made = made.map_err(|problem| Error::new(problem.to_string()))?;
    kind.copy(column, 0..column.len(), made.as_bytes_mut())?;
    Ok(made)
}
