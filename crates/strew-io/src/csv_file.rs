//! CSV files with a line of names.
//!
//! The whole file is read once to find what each column holds: integers, else numbers, else text.
//! An empty field is a missing value, and so are `NA`, `N/A`, `null` and `NULL`.

use crate::chunks::Chunks;
use crate::error::{Error, Result};
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use csv::{ByteRecord, Reader, ReaderBuilder};
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::sync::Arc;

/// Rows of a chunk.
const CHUNK: usize = 1 << 14;

const MISSING: [&[u8]; 5] = [b"", b"NA", b"N/A", b"null", b"NULL"];

#[derive(Debug)]
pub(crate) struct Csv {
    file: File,
    separator: u8,
    types: Vec<Type>,
}

/// What all values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Type {
    Integers,
    Numbers,
    Texts,
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::broken("CSV", error)
}

impl Type {
    /// What a value is. Digits that are too many for 64 bits are text: as a float they would be
    /// another number.
    fn of(field: &[u8]) -> Self {
        let Some(text) = text_of(field) else {
            return Self::Texts;
        };
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if text.parse::<i64>().is_ok() {
            Self::Integers
        } else if !digits.bytes().all(|b| b.is_ascii_digit()) && text.parse::<f64>().is_ok() {
            Self::Numbers
        } else {
            Self::Texts
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Integers => DataType::Int64,
            Self::Numbers => DataType::Float64,
            Self::Texts => DataType::Utf8,
        }
    }
}

fn text_of(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok().map(str::trim)
}

impl Csv {
    /// The file, its number of rows and its columns.
    pub(crate) fn open(file: &File, separator: u8) -> Result<(Self, usize, SchemaRef)> {
        let file = file.try_clone().map_err(|e| Error::system(&e))?;
        let mut opened = Self {
            file,
            separator,
            types: Vec::new(),
        };
        let mut reader = opened.reader()?;
        let names = reader.headers().map_err(broken)?.clone();
        if names.is_empty() {
            return Err(broken("it has no line of names"));
        }
        let mut types = vec![Type::Integers; names.len()];
        let mut record = ByteRecord::new();
        let mut rows = 0;
        while reader.read_byte_record(&mut record).map_err(broken)? {
            for (field, found) in record.iter().zip(&mut types) {
                if *found < Type::Texts && !MISSING.contains(&field) {
                    *found = (*found).max(Type::of(field));
                }
            }
            rows += 1;
        }
        let field = |(name, found): (&str, &Type)| {
            let name = name.trim_start_matches('\u{feff}').trim();
            Field::new(name, found.data_type(), true)
        };
        let fields: Vec<Field> = names.iter().zip(&types).map(field).collect();
        opened.types = types;
        Ok((opened, rows, Arc::new(Schema::new(fields))))
    }

    fn reader(&self) -> Result<Reader<BufReader<File>>> {
        let mut file = self.file.try_clone().map_err(|e| Error::system(&e))?;
        file.seek(SeekFrom::Start(0))
            .map_err(|e| Error::system(&e))?;
        let reader = BufReader::with_capacity(1 << 16, file);
        Ok(ReaderBuilder::new()
            .delimiter(self.separator)
            .from_reader(reader))
    }

    /// Chunks of columns, from a row on.
    pub(crate) fn batches(&self, columns: &[usize], from: usize) -> Result<Chunks> {
        let mut reader = self.reader()?;
        let mut record = ByteRecord::new();
        for _ in 0..from {
            reader.read_byte_record(&mut record).map_err(broken)?;
        }
        let wanted: Vec<(usize, Type)> = columns.iter().map(|&at| (at, self.types[at])).collect();
        Ok(Box::new(std::iter::from_fn(move || {
            chunk(&mut reader, &wanted).transpose()
        })))
    }
}

/// The next rows; `None` at the end.
fn chunk(
    reader: &mut Reader<BufReader<File>>,
    wanted: &[(usize, Type)],
) -> Result<Option<Vec<ArrayRef>>> {
    let mut columns: Vec<Vec<Option<String>>> = vec![Vec::new(); wanted.len()];
    let mut record = ByteRecord::new();
    let mut rows = 0;
    while rows < CHUNK && reader.read_byte_record(&mut record).map_err(broken)? {
        for (&(at, _), column) in wanted.iter().zip(&mut columns) {
            let field = record.get(at).unwrap_or_default();
            let text = match MISSING.contains(&field) {
                true => None,
                false => Some(std::str::from_utf8(field).map_err(|_| {
                    let line = record.position().map_or(0, csv::Position::line);
                    broken(format!("line {line} is not UTF-8"))
                })?),
            };
            column.push(text.map(str::to_owned));
        }
        rows += 1;
    }
    if rows == 0 {
        return Ok(None);
    }
    let made = wanted.iter().zip(columns);
    made.map(|(&(_, kind), texts)| array(kind, texts))
        .collect::<Result<_>>()
        .map(Some)
}

fn array(kind: Type, texts: Vec<Option<String>>) -> Result<ArrayRef> {
    let changed = || Error::new("it changes while it is read");
    Ok(match kind {
        Type::Integers => {
            let each = texts
                .iter()
                .map(|t| t.as_deref().map(|t| t.trim().parse()).transpose());
            let numbers: Result<Vec<Option<i64>>, _> = each.collect();
            Arc::new(Int64Array::from(numbers.map_err(|_| changed())?))
        }
        Type::Numbers => {
            let each = texts
                .iter()
                .map(|t| t.as_deref().map(|t| t.trim().parse()).transpose());
            let numbers: Result<Vec<Option<f64>>, _> = each.collect();
            Arc::new(Float64Array::from(numbers.map_err(|_| changed())?))
        }
        Type::Texts => Arc::new(StringArray::from(texts)),
    })
}
