//! An open file of columns.

use crate::chunks::Chunks;
use crate::csv_file::Csv;
use crate::elements::Kind;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::groups::Named;
use crate::guard::guarded;
use crate::ipc::Ipc;
use crate::parquet_file::Parquet;
use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::{Field, Schema, SchemaRef};
use std::fs::File;
use std::sync::Arc;

/// A format of files of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow's IPC format, as a file or as a stream.
    Arrow,
    /// Text with commas between the fields, and a line of names.
    Csv,
    /// The same with tabs.
    Tsv,
}

impl Format {
    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
            Self::Csv | Self::Tsv => "CSV",
        }
    }
}

/// An open file of columns.
#[derive(Debug)]
pub struct Table {
    source: Source,
    format: Format,
    rows: usize,
    schema: SchemaRef,
}

#[derive(Debug)]
enum Source {
    Parquet(Parquet),
    Arrow(Ipc),
    Csv(Csv),
    Memory(Vec<ArrayRef>),
}

/// Chunks of some columns, one after the other.
pub(crate) struct Batches {
    format: Format,
    inner: Chunks,
    /// Where in a chunk each column is that was asked for.
    order: Vec<usize>,
}

impl Iterator for Batches {
    type Item = Result<Vec<ArrayRef>>;

    fn next(&mut self) -> Option<Self::Item> {
        let inner = &mut self.inner;
        let batch = guarded(self.format.name(), || inner.next().transpose());
        let chosen = batch.and_then(|batch| {
            let Some(columns) = batch else {
                return Ok(None);
            };
            let lost = || Error::broken(self.format.name(), "a chunk of it lacks a column");
            let chosen = self.order.iter().map(|&at| columns.get(at).cloned());
            chosen
                .collect::<Option<Vec<_>>>()
                .map(Some)
                .ok_or_else(lost)
        });
        chosen.transpose()
    }
}

impl Table {
    /// Opens a file of a format.
    ///
    /// # Errors
    /// If it is not a file of this format.
    pub fn open(file: &File, format: Format) -> Result<Self> {
        guarded(format.name(), || {
            let (source, rows, schema) = match format {
                Format::Parquet => {
                    let (source, rows, schema) = Parquet::open(file)?;
                    (Source::Parquet(source), rows, schema)
                }
                Format::Arrow => {
                    let (source, rows, schema) = Ipc::open(file)?;
                    (Source::Arrow(source), rows, schema)
                }
                Format::Csv | Format::Tsv => {
                    let separator = if format == Format::Csv { b',' } else { b'\t' };
                    let (source, rows, schema) = Csv::open(file, separator)?;
                    (Source::Csv(source), rows, schema)
                }
            };
            Ok(Self {
                source,
                format,
                rows,
                schema,
            })
        })
    }

    /// A table in memory.
    ///
    /// # Errors
    /// If its columns have not equally many rows.
    pub fn of(frame: Frame) -> Result<Self> {
        let columns = frame.into_columns();
        let columns = columns.ok_or_else(|| Error::new("keys and values have not as many rows"))?;
        let field = |(name, column): &Named| Field::new(name, column.data_type().clone(), true);
        let fields: Vec<Field> = columns.iter().map(field).collect();
        Ok(Self {
            format: Format::Arrow,
            rows: columns.first().map_or(0, |(_, column)| column.len()),
            schema: Arc::new(Schema::new(fields)),
            source: Source::Memory(columns.into_iter().map(|(_, column)| column).collect()),
        })
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The names of its columns.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
    }

    /// The place of the column of this name.
    fn find(&self, name: &str) -> Result<usize> {
        let mut found = self.names().enumerate().filter(|(_, n)| *n == name);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Ok(at),
            (Some(_), Some(_)) => Err(Error::new(format!("it has more than one column '{name}'"))),
            (None, _) => Err(Error::new(format!(
                "it has no column '{name}', but {}",
                listed(self.names())
            ))),
        }
    }

    /// The place of the column of this name, or of the only column.
    pub(crate) fn place(&self, name: Option<&str>) -> Result<usize> {
        match (name, self.names().len()) {
            (Some(name), _) => self.find(name),
            (None, 1) => Ok(0),
            (None, _) => Err(Error::new(format!(
                "name one of its columns, as in file:name; it has {}",
                listed(self.names())
            ))),
        }
    }

    /// The name of a column.
    pub(crate) fn name(&self, at: usize) -> &str {
        self.schema.field(at).name()
    }

    /// What tensor a column is.
    pub(crate) fn kind(&self, at: usize) -> Result<Kind> {
        let field = self.schema.field(at);
        Kind::of(field.data_type()).ok_or_else(|| {
            Error::new(format!(
                "column '{}' has values of type {}, which no tensor has",
                field.name(),
                field.data_type()
            ))
        })
    }

    /// No values of a column.
    pub(crate) fn empty(&self, at: usize) -> ArrayRef {
        new_empty_array(self.schema.field(at).data_type())
    }

    /// Chunks of these columns, from a row on.
    pub(crate) fn batches(&self, columns: &[usize], from: usize) -> Result<Batches> {
        let mut sorted = columns.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let place = |at: &usize| sorted.partition_point(|other| other < at);
        let order = columns.iter().map(place).collect();
        let inner = guarded(self.format.name(), || match &self.source {
            Source::Parquet(file) => file.batches(&sorted, from),
            Source::Arrow(file) => file.batches(&sorted, from),
            Source::Csv(file) => file.batches(&sorted, from),
            Source::Memory(columns) => {
                let rest = |&at: &usize| {
                    let from = from.min(columns[at].len());
                    columns[at].slice(from, columns[at].len() - from)
                };
                let chunk: Vec<ArrayRef> = sorted.iter().map(rest).collect();
                Ok(Box::new(std::iter::once(Ok(chunk))) as Chunks)
            }
        })?;
        Ok(Batches {
            format: self.format,
            inner,
            order,
        })
    }
}

/// Names for a message: not more than fit a line.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const FEW: usize = 12;
    let all = names.len();
    let few: Vec<&str> = names.take(FEW).collect();
    match all {
        0 => "none at all".to_owned(),
        _ if all > FEW => format!("{}, ... ({all} in all)", few.join(", ")),
        _ => few.join(", "),
    }
}
