//! A table of results: keys and what was made of their values.

use crate::cells::{self, Cell};
use crate::csv_file::{Seen, Type};
use crate::error::{Error, Result};
use crate::groups::{Groups, Named};
use crate::words;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, UInt64Array, make_array,
};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::take::take;
use half::bf16;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;
use strew::{DType, DynTensor};

/// Named columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    columns: Vec<Named>,
}

impl Frame {
    /// The keys of groups in their order, with the numbers that the groups have.
    ///
    /// # Errors
    /// If the keys cannot be brought together.
    pub fn of(groups: &Groups) -> Result<(Self, Vec<usize>)> {
        let (order, columns) = groups.sorted()?;
        Ok((Self { columns }, order))
    }

    /// A column of this name with the row numbers 0 to `rows - 1`.
    #[must_use]
    pub fn numbered(name: &str, rows: usize) -> Self {
        let numbers = (0..rows).map(|row| i64::try_from(row).unwrap_or(i64::MAX));
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
        Self {
            columns: vec![(name.to_owned(), column)],
        }
    }

    /// Adds strings or dates, as the bytes of a NumPy array of this element type.
    ///
    /// # Errors
    /// If they are something else, or not as NumPy writes them.
    pub fn push_words(&mut self, name: &str, descr: &str, bytes: &[u8]) -> Result<()> {
        let column = words::column(descr, bytes)?;
        self.columns.push((name.to_owned(), column));
        Ok(())
    }

    /// Its columns; `None` if they have not equally many rows.
    pub(crate) fn into_columns(self) -> Option<Vec<Named>> {
        let rows = self.rows();
        let equal = self.columns.iter().all(|(_, column)| column.len() == rows);
        equal.then_some(self.columns)
    }

    /// Adds a tensor whose first axis is the rows of the table; `order` says which of them is taken
    /// when.
    ///
    /// A tensor of more axes is a column for each element of a row, as in `topk[1]`. A complex
    /// number is two columns, `sum.real` and `sum.imag`. bfloat16 is written as float32, which has
    /// all of its values.
    ///
    /// # Errors
    /// If the tensor has no first axis or not that many rows.
    pub fn push(&mut self, name: &str, tensor: &DynTensor, order: &[usize]) -> Result<()> {
        let shape = tensor.shape();
        let (rows, row) = shape.split_first().ok_or_else(|| {
            Error::new(format!(
                "'{name}' is a single value, and no column of a table"
            ))
        })?;
        if let Some(beyond) = order.iter().find(|&at| at >= rows) {
            return Err(Error::new(format!(
                "'{name}' has {rows} rows, and none is {beyond}"
            )));
        }
        let width: usize = row.iter().product();
        for at in 0..width {
            let name = match row {
                [] => name.to_owned(),
                _ => format!("{name}[{}]", place(at, row)),
            };
            self.push_elements(&name, tensor, at, width, order)?;
        }
        Ok(())
    }

    /// Makes values of the last `count` columns missing where `lacks` says so.
    ///
    /// # Errors
    /// If it has not as many rows.
    pub fn clear(&mut self, count: usize, lacks: impl Fn(usize) -> bool) -> Result<()> {
        let from = self.columns.len().saturating_sub(count);
        for (_, column) in &mut self.columns[from..] {
            let rows = 0..column.len();
            let places = rows.map(|row| (!lacks(row)).then_some(row as u64));
            let taken = take(column, &UInt64Array::from_iter(places), None);
            *column = taken.map_err(|e| Error::broken("Arrow", e))?;
        }
        Ok(())
    }

    /// How many columns there are.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Adds element `at` of each row as a column.
    fn push_elements(
        &mut self,
        name: &str,
        tensor: &DynTensor,
        at: usize,
        width: usize,
        order: &[usize],
    ) -> Result<()> {
        let dtype = tensor.dtype();
        let size = dtype.size();
        let bytes = tensor.as_bytes();
        let elements = order.iter().map(|&row| {
            let from = (row * width + at) * size;
            &bytes[from..from + size]
        });
        if !dtype.is_complex() {
            let column = column(dtype, elements)?;
            self.columns.push((name.to_owned(), column));
            return Ok(());
        }
        let half = if dtype == DType::C64 {
            DType::F32
        } else {
            DType::F64
        };
        for (part, from) in [("real", 0), ("imag", size / 2)] {
            let some = elements
                .clone()
                .map(|element| &element[from..from + size / 2]);
            self.columns
                .push((format!("{name}.{part}"), column(half, some)?));
        }
        Ok(())
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// The names of the columns.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// Whether a column's values are numbers, which tables align at their ends.
    #[must_use]
    pub fn is_number(&self, column: usize) -> bool {
        self.columns
            .get(column)
            .is_some_and(|(_, c)| c.data_type().is_numeric())
    }

    /// A value as text.
    #[must_use]
    pub fn cell(&self, column: usize, row: usize) -> Cell {
        match self.columns.get(column) {
            Some((_, values)) if row < values.len() => cells::cell(values, row),
            _ => Cell::Missing,
        }
    }

    /// Writes it as CSV. A missing value is an empty field. Text is quoted where it would be read
    /// as something else: an empty string, and a column of which all values look like numbers.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        for name in self.names() {
            push_field(&mut line, name, name.is_empty());
        }
        end_line(&mut line, to)?;
        let columns = 0..self.columns.len();
        let quoted: Vec<bool> = columns
            .map(|column| self.looks_like_numbers(column))
            .collect();
        for row in 0..self.rows() {
            for (column, &quoted) in quoted.iter().enumerate() {
                match self.cell(column, row) {
                    Cell::Missing => line.push(','),
                    Cell::Number(text) => push_field(&mut line, &text, false),
                    Cell::Text(text) => push_field(&mut line, &text, quoted || text.is_empty()),
                }
            }
            end_line(&mut line, to)?;
        }
        Ok(())
    }

    /// Whether a column is text that a reader would take for numbers.
    fn looks_like_numbers(&self, column: usize) -> bool {
        let mut seen = Seen::default();
        for row in 0..self.rows() {
            match self.cell(column, row) {
                Cell::Text(text) => seen.see_text(&text),
                Cell::Missing => {}
                Cell::Number(_) => return false,
            }
        }
        !matches!(seen.decide(""), Ok(Type::Text))
    }

    /// Its columns as Arrow has them.
    fn batch(&self) -> io::Result<RecordBatch> {
        let field = |(name, column): &Named| {
            Field::new(name, column.data_type().clone(), column.null_count() > 0)
        };
        let schema = Schema::new(self.columns.iter().map(field).collect::<Vec<_>>());
        let columns = self.columns.iter().map(|(_, column)| column.clone());
        RecordBatch::try_new(Arc::new(schema), columns.collect()).map_err(io::Error::other)
    }

    /// Writes it in Arrow's IPC format.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_arrow(&self, to: &mut dyn Write) -> io::Result<()> {
        let batch = self.batch()?;
        let writer = FileWriter::try_new(to, &batch.schema());
        let written = writer.and_then(|mut writer| {
            writer.write(&batch)?;
            writer.finish()
        });
        written.map_err(io::Error::other)
    }

    /// Writes it as Parquet, compressed with Snappy.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_parquet(&self, to: &mut (dyn Write + Send)) -> io::Result<()> {
        let batch = self.batch()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .build();
        let mut writer =
            ArrowWriter::try_new(to, batch.schema(), Some(properties)).map_err(io::Error::other)?;
        writer.write(&batch).map_err(io::Error::other)?;
        writer.close().map(drop).map_err(io::Error::other)
    }
}

/// A field and the comma behind it.
fn push_field(line: &mut String, text: &str, quoted: bool) {
    if quoted || text.contains([',', '"', '\n', '\r']) {
        line.extend(["\"", &text.replace('"', "\"\""), "\""]);
    } else {
        line.push_str(text);
    }
    line.push(',');
}

/// Writes a line, and empties it. A line of one empty field would be no line for a reader.
fn end_line(line: &mut String, to: &mut dyn Write) -> io::Result<()> {
    line.pop();
    line.push_str(if line.is_empty() { "\"\"\n" } else { "\n" });
    to.write_all(line.as_bytes())?;
    line.clear();
    Ok(())
}

/// The place of an element within a row of this shape: `1`, or `0,2`.
fn place(at: usize, row: &[usize]) -> String {
    let mut rest = at;
    let mut places: Vec<String> = row
        .iter()
        .rev()
        .map(|&size| {
            let place = rest % size;
            rest /= size;
            place.to_string()
        })
        .collect();
    places.reverse();
    places.join(",")
}

/// A column of elements of this type.
fn column<'a>(dtype: DType, elements: impl Iterator<Item = &'a [u8]>) -> Result<ArrayRef> {
    let data_type = match dtype {
        DType::Bool => {
            let truths: Vec<bool> = elements.map(|byte| byte[0] != 0).collect();
            return Ok(Arc::new(BooleanArray::from(truths)));
        }
        DType::BF16 => {
            let wide = elements.flat_map(|two| {
                let value = bf16::from_ne_bytes([two[0], two[1]]);
                f32::from(value).to_ne_bytes()
            });
            return numbers(DataType::Float32, 4, wide.collect());
        }
        DType::I8 => DataType::Int8,
        DType::I16 => DataType::Int16,
        DType::I32 => DataType::Int32,
        DType::I64 => DataType::Int64,
        DType::U8 => DataType::UInt8,
        DType::U16 => DataType::UInt16,
        DType::U32 => DataType::UInt32,
        DType::U64 => DataType::UInt64,
        DType::F16 => DataType::Float16,
        DType::F32 => DataType::Float32,
        DType::F64 => DataType::Float64,
        DType::C64 | DType::C128 => {
            return Err(Error::new("a complex number is no value of a column"));
        }
    };
    numbers(
        data_type,
        dtype.size(),
        elements.flatten().copied().collect(),
    )
}

fn numbers(data_type: DataType, size: usize, bytes: Vec<u8>) -> Result<ArrayRef> {
    let data = ArrayData::builder(data_type)
        .len(bytes.len() / size)
        .add_buffer(Buffer::from(bytes))
        .align_buffers(true)
        .build();
    data.map(make_array).map_err(|e| Error::broken("Arrow", e))
}
