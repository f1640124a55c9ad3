//! An open file of columns.

use crate::chunks::Chunks;
use crate::csv_file::{self, Csv, CsvOptions, Seen, Type};
use crate::elements::Kind;
use crate::error::{Error, Result, listed};
use crate::frame::Frame;
use crate::groups::Named;
use crate::guard::guarded;
use crate::ipc::Ipc;
use crate::origin::Origin;
use crate::parquet_file::Parquet;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
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
    /// Why columns of a CSV file are text, by their place.
    texts: Vec<(usize, String)>,
}

#[derive(Debug)]
enum Source {
    Parquet(Parquet),
    Arrow(Ipc),
    Csv(Box<Csv>),
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
    /// Opens a file of a format. Types of CSV columns may be given in `options`.
    ///
    /// # Errors
    /// If it is not a file of this format, or if it lacks a column whose type is given.
    pub fn open(file: &File, format: Format, options: &CsvOptions) -> Result<Self> {
        let file = file.try_clone().map_err(|e| Error::system(&e))?;
        let mut table = Self::read(Origin::File(file), format, options)?;
        let names: Vec<String> = table.names().map(str::to_owned).collect();
        for (name, given) in options.types_of(&names)? {
            table.give(&name, given);
        }
        Ok(table)
    }

    /// The same of a file that others belong to: no types are given yet.
    pub(crate) fn read(origin: Origin, format: Format, options: &CsvOptions) -> Result<Self> {
        guarded(format.name(), || {
            let (source, rows, schema) = match format {
                Format::Parquet => {
                    let (source, rows, schema) = Parquet::open(&origin.file()?)?;
                    (Source::Parquet(source), rows, schema)
                }
                Format::Arrow => {
                    let (source, rows, schema) = Ipc::open(&origin.file()?)?;
                    (Source::Arrow(source), rows, schema)
                }
                Format::Csv | Format::Tsv => {
                    let separator = if format == Format::Csv { b',' } else { b'\t' };
                    let (source, names) = Csv::open(origin, separator, options)?;
                    (Source::Csv(Box::new(source)), 0, csv_file::schema(names))
                }
            };
            Ok(Self {
                source,
                format,
                rows,
                schema,
                texts: Vec::new(),
            })
        })
    }

    /// Says which type a CSV column of this name has, if there is one.
    pub(crate) fn give(&mut self, name: &str, given: Type) {
        if let (Ok(at), Source::Csv(file)) = (self.find(name), &mut self.source) {
            file.give(at, given);
        }
    }

    /// Finds the number of rows and the types of these columns: a CSV file must be read for that.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn prepare(&mut self, columns: &[usize]) -> Result<()> {
        for (seen, &at) in self.look(columns)?.iter().zip(columns) {
            self.settle(at, seen)?;
        }
        Ok(())
    }

    /// What the values of these columns are like, if their types depend on that.
    pub(crate) fn look(&mut self, columns: &[usize]) -> Result<Vec<Seen>> {
        let Source::Csv(file) = &mut self.source else {
            return Ok(Vec::new());
        };
        let (rows, seen) = guarded(self.format.name(), || file.look(columns))?;
        self.rows = rows;
        Ok(seen)
    }

    /// Settles the type of a CSV column by what was seen of it, and perhaps of others.
    pub(crate) fn settle(&mut self, at: usize, seen: &Seen) -> Result<()> {
        let name = self.name(at).to_owned();
        let Source::Csv(file) = &mut self.source else {
            return Ok(());
        };
        let data_type = file.settle(at, &name, seen)?;
        if data_type == DataType::Utf8 {
            self.texts.push((at, seen.why_text()));
        }
        let mut fields = self.schema.fields().to_vec();
        fields[at] = Arc::new(Field::new(name, data_type, true));
        self.schema = Arc::new(Schema::new(fields));
        Ok(())
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
            texts: Vec::new(),
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
            (None, _) => Err(Error::NoColumn {
                name: name.to_owned(),
                names: self.names().map(str::to_owned).collect(),
            }),
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

    /// The type of a column.
    pub(crate) fn data_type(&self, at: usize) -> &DataType {
        self.schema.field(at).data_type()
    }

    /// What tensor a column is.
    pub(crate) fn kind(&self, at: usize) -> Result<Kind> {
        let why = self.texts.iter().find(|(text, _)| *text == at);
        Kind::of_column(
            self.name(at),
            self.data_type(at),
            why.map(|(_, why)| &**why),
        )
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
