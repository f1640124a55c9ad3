//! CSV files with a line of names, plain or compressed with gzip or Zstandard.
//!
//! ```text
//! look through the file: where are the fields of the wanted columns? which rows has each block?
//! read it again: block by block, only these columns
//! ```
//!
//! Both are done on several threads, some blocks ahead. A block is about 1 MiB of text
//! ([`blocks`]). Columns that are not used are never looked at, but for the number of fields of
//! each record.

mod blocks;
mod marks;
mod parse;
mod records;
mod types;

pub(crate) use parse::constant;
pub(crate) use types::Seen;
pub use types::{CsvOptions, Type};

use crate::chunks::Chunks;
use crate::error::{Error, Result};
use crate::in_order::in_order;
use crate::origin::Origin;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use blocks::{BLOCK, Block, Blocks};
use records::Records;
use std::sync::Arc;

/// An open file.
#[derive(Debug)]
pub(crate) struct Csv {
    origin: Origin,
    form: Form,
    /// Where the line of names ends, and how many lines there are up to there.
    begin: u64,
    lines: usize,
    /// Types that were given, and types that are known.
    given: Vec<Option<Type>>,
    types: Vec<Option<Type>>,
    /// Known once the file was looked through.
    spans: Vec<Span>,
    /// Whether there is more than one block.
    large: bool,
}

/// What must be known to take a line apart.
#[derive(Clone, Debug)]
struct Form {
    separator: u8,
    names: Arc<[String]>,
    /// How many fields a record has.
    width: usize,
    missing: Arc<[Vec<u8>]>,
}

impl Form {
    /// Whether a field stands for a missing value. A quoted one does only where it could be
    /// nothing else: in a column of numbers.
    fn is_missing(&self, field: &records::Field<'_>, number: bool) -> bool {
        if field.quoted && !number {
            return false;
        }
        let bytes = field.plain();
        bytes.is_empty()
            || self
                .missing
                .iter()
                .any(|word| bytes.trim_ascii() == &word[..])
    }
}

/// A block within the file.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// How many rows and lines come before it, and how many bytes behind the line of names.
    row: usize,
    line: usize,
    at: u64,
    rows: usize,
    bytes: usize,
}

/// What was seen of a block.
struct Look {
    rows: usize,
    lines: usize,
    bytes: usize,
    seen: Vec<Seen>,
    /// What is wrong, and the line within the block.
    fault: Option<(usize, String)>,
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::broken("CSV", error)
}

fn lines_of(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

impl Csv {
    /// The file and the names of its columns.
    pub(crate) fn open(
        origin: Origin,
        separator: u8,
        options: &CsvOptions,
    ) -> Result<(Self, Vec<String>)> {
        let mut text = origin.text(0)?;
        let mut start = Vec::new();
        blocks::read(&mut text, &mut start, BLOCK)?;
        if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
            return Err(broken("it is UTF-16; save it as UTF-8"));
        }
        let mark = if start.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        start.drain(..mark);
        let mut blocks = Blocks::new(text, start, separator);
        let no_names = || broken("it has no line of names");
        let first = blocks.next().ok_or_else(no_names)??;
        let mut records = Records::new(&first.bytes, separator, usize::MAX);
        let mut fields = Vec::new();
        if records.next(&mut fields) == 0 {
            return Err(no_names());
        }
        let end = records.place();
        if first.open.is_some_and(|open| open < end) {
            return Err(broken("line 1: the file ends within quotes"));
        }
        let name = |field: &records::Field<'_>| {
            let bytes = field.bytes();
            let name = std::str::from_utf8(&bytes).map_err(|_| broken("line 1 is not UTF-8"))?;
            Ok(name.trim().to_owned())
        };
        let names: Vec<String> = fields.iter().map(name).collect::<Result<_>>()?;
        let width = names.len();
        let words = options
            .missing
            .iter()
            .map(|word| word.trim().as_bytes().to_vec());
        let opened = Self {
            origin,
            form: Form {
                separator,
                names: names.clone().into(),
                width,
                missing: words.filter(|word| !word.is_empty()).collect(),
            },
            begin: (mark + end) as u64,
            lines: lines_of(&first.bytes[..end]),
            given: vec![None; width],
            types: vec![None; width],
            spans: Vec::new(),
            large: blocks.next().is_some(),
        };
        Ok((opened, names))
    }

    /// Says which type a column has, whatever is seen of it.
    pub(crate) fn give(&mut self, column: usize, given: Type) {
        self.given[column] = Some(given);
    }

    /// Looks through the file: how many rows it has, and what is seen of these columns.
    pub(crate) fn look(&mut self, columns: &[usize]) -> Result<(usize, Vec<Seen>)> {
        self.spans.clear();
        let mut all = vec![Seen::default(); columns.len()];
        let (mut row, mut line, mut at) = (0, self.lines, 0);
        let open = columns
            .iter()
            .filter(|&&column| self.given[column].is_none());
        let open: Vec<usize> = open.copied().collect();
        let blocks = Blocks::new(
            self.origin.text(self.begin)?,
            Vec::new(),
            self.form.separator,
        );
        let (form, asked) = (self.form.clone(), open.clone());
        let looks = in_order("CSV", self.threads(), blocks, move |block: Block| {
            Ok(look(&block, &form, &asked))
        });
        for look in looks {
            let look = look?;
            if let Some((within, why)) = look.fault {
                return Err(broken(format!("line {} {why}", line + within + 1)));
            }
            for (seen, column) in look.seen.iter().zip(&open) {
                let place = columns.iter().position(|one| one == column);
                all[place.unwrap_or(0)].add(seen, row);
            }
            self.spans.push(Span {
                row,
                line,
                at,
                rows: look.rows,
                bytes: look.bytes,
            });
            row += look.rows;
            line += look.lines;
            at += look.bytes as u64;
        }
        Ok((row, all))
    }

    /// Settles the type of a column by what was seen of it.
    pub(crate) fn settle(&mut self, column: usize, name: &str, seen: &Seen) -> Result<DataType> {
        let decided = match self.given[column] {
            Some(given) => given,
            None => seen.decide(name)?,
        };
        self.types[column] = Some(decided);
        Ok(decided.data_type())
    }

    /// Threads are not worth their while for one block.
    fn threads(&self) -> usize {
        match self.large {
            true => strew::num_threads().get(),
            false => 1,
        }
    }

    /// Chunks of columns, from a row on.
    pub(crate) fn batches(&self, columns: &[usize], from: usize) -> Result<Chunks> {
        let wanted = columns.iter().map(|&at| Some((at, self.types[at]?)));
        let wanted: Option<Vec<(usize, Type)>> = wanted.collect();
        let wanted = wanted.ok_or_else(|| Error::new("its columns were not looked at"))?;
        let first = self
            .spans
            .partition_point(|span| span.row + span.rows <= from);
        let spans = self.spans[first..].to_vec();
        let Some(&Span { row, at, .. }) = spans.first() else {
            return Ok(Box::new(std::iter::empty()));
        };
        let mut text = self.origin.text(self.begin + at)?;
        let blocks = spans.into_iter().map(move |span| {
            let mut bytes = Vec::new();
            let count = blocks::read(&mut text, &mut bytes, span.bytes)?;
            match count == span.bytes {
                true => Ok((span, bytes)),
                false => Err(changed()),
            }
        });
        let form = self.form.clone();
        let parsed = in_order("CSV", self.threads(), blocks, move |(span, bytes)| {
            parse::columns(&bytes, &form, &wanted, &span)
        });
        let mut skipped = from - row;
        Ok(Box::new(parsed.map(move |columns| {
            let skipped = std::mem::take(&mut skipped);
            let rest = |column: arrow_array::ArrayRef| {
                column.slice(
                    skipped.min(column.len()),
                    column.len().saturating_sub(skipped),
                )
            };
            Ok(columns?.into_iter().map(rest).collect())
        })))
    }
}

fn changed() -> Error {
    Error::new("it changes while it is read")
}

/// Looks at these columns of a block.
fn look(block: &Block, form: &Form, columns: &[usize]) -> Look {
    let bytes = &block.bytes;
    let mut found = Look {
        rows: 0,
        lines: lines_of(bytes),
        bytes: bytes.len(),
        seen: vec![Seen::default(); columns.len()],
        fault: None,
    };
    if let Some(open) = block.open {
        let why = "begins quotes, and the file ends within them".to_owned();
        found.fault = Some((lines_of(&bytes[..open]), why));
        return found;
    }
    let mut records = Records::new(bytes, form.separator, kept(columns.iter().copied()));
    let mut fields = Vec::with_capacity(form.width);
    loop {
        let (count, width) = (records.next(&mut fields), form.width);
        if count == 0 {
            return found;
        }
        if count != width {
            let end = records.place();
            let last = bytes[..end].trim_ascii_end().len();
            let s = if count == 1 { "" } else { "s" };
            let why = format!("has {count} field{s}, and the line of names has {width}");
            found.fault = Some((lines_of(&bytes[..last]), why));
            return found;
        }
        for (&column, seen) in columns.iter().zip(&mut found.seen) {
            let field = &fields[column];
            if !form.is_missing(field, false) {
                seen.see(field, found.rows);
            }
        }
        found.rows += 1;
    }
}

/// How many fields of a record must be kept for these columns.
fn kept(columns: impl Iterator<Item = usize>) -> usize {
    columns.max().map_or(0, |last| last + 1)
}

/// The columns of a CSV file before it is looked through: their types are not known.
pub(crate) fn schema(names: Vec<String>) -> SchemaRef {
    let fields = names
        .into_iter()
        .map(|name| Field::new(name, DataType::Null, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
