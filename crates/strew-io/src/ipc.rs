//! Arrow's IPC format, as a file or as a stream.
//!
//! Its messages are walked through before any is decoded. The decoder believes the lengths that
//! they claim and takes as much memory; here they are compared with the file first.

use crate::chunks::Chunks;
use crate::error::{Error, Result};
use crate::guard::room;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::{Block, MessageHeader, RecordBatch as Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

const MAGIC: &[u8; 6] = b"ARROW1";
/// What a message of a file or stream begins with, if it is not of the oldest version.
const CONTINUED: u32 = u32::MAX;
/// Bytes behind a file's footer: its length and the magic word.
const TAIL: u64 = 10;

#[derive(Debug)]
pub(crate) struct Ipc {
    file: File,
    /// A stream has no list of its chunks.
    stream: bool,
    /// The first row of each chunk.
    starts: Vec<usize>,
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::broken("Arrow", error)
}

impl Ipc {
    /// The file, its number of rows and its columns.
    pub(crate) fn open(file: &File) -> Result<(Self, usize, SchemaRef)> {
        let file = file.try_clone().map_err(|e| Error::system(&e))?;
        let whole = Whole::new(&file)?;
        let stream = whole.bytes(0, 6).map_or(true, |start| start != MAGIC);
        let mut starts = Vec::new();
        let mut rows = 0usize;
        for count in if stream {
            whole.walk()?
        } else {
            whole.listed()?
        } {
            starts.push(rows);
            let sum = usize::try_from(count)
                .ok()
                .and_then(|n| rows.checked_add(n));
            rows = sum.ok_or_else(|| broken(format!("a chunk of {count} rows")))?;
        }
        let opened = Self {
            file,
            stream,
            starts,
        };
        let schema = match stream {
            true => opened.stream(None)?.schema(),
            false => opened.file(None)?.schema(),
        };
        Ok((opened, rows, schema))
    }

    fn reader(&self) -> Result<BufReader<File>> {
        let mut file = self.file.try_clone().map_err(|e| Error::system(&e))?;
        file.seek(SeekFrom::Start(0))
            .map_err(|e| Error::system(&e))?;
        Ok(BufReader::new(file))
    }

    fn stream(&self, columns: Option<&[usize]>) -> Result<StreamReader<BufReader<File>>> {
        StreamReader::try_new(self.reader()?, columns.map(<[usize]>::to_vec)).map_err(broken)
    }

    fn file(&self, columns: Option<&[usize]>) -> Result<FileReader<BufReader<File>>> {
        FileReader::try_new(self.reader()?, columns.map(<[usize]>::to_vec)).map_err(broken)
    }

    /// Chunks of columns, which are sorted by their place, from a row on.
    pub(crate) fn batches(&self, columns: &[usize], from: usize) -> Result<Chunks> {
        let chunk = self.starts.partition_point(|&start| start <= from);
        let chunk = chunk.saturating_sub(1);
        let skipped = from - self.starts.get(chunk).copied().unwrap_or(0).min(from);
        if self.stream {
            let batches = self.stream(Some(columns))?.skip(chunk);
            return Ok(chosen(batches, skipped));
        }
        let mut batches = self.file(Some(columns))?;
        if !self.starts.is_empty() {
            batches.set_index(chunk).map_err(broken)?;
        }
        Ok(chosen(batches, skipped))
    }
}

/// The columns of chunks, without the first rows of the first one.
fn chosen(
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + 'static,
    skipped: usize,
) -> Chunks {
    let mut skipped = skipped;
    Box::new(batches.map(move |batch| {
        let batch = batch.map_err(broken)?;
        let from = std::mem::take(&mut skipped).min(batch.num_rows());
        let rest = batch.slice(from, batch.num_rows() - from);
        Ok(rest.columns().to_vec())
    }))
}

/// All bytes of a file.
struct Whole<'a> {
    file: &'a File,
    len: u64,
}

impl<'a> Whole<'a> {
    fn new(file: &'a File) -> Result<Self> {
        let len = file.metadata().map_err(|e| Error::system(&e))?.len();
        Ok(Self { file, len })
    }

    fn bytes(&self, at: u64, count: u64) -> Result<Vec<u8>> {
        if at.checked_add(count).is_none_or(|end| end > self.len) {
            return Err(Error::new(format!(
                "it is truncated: {count} bytes at {at} are not there"
            )));
        }
        room(count)?;
        let mut file = self.file;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.take(count).read_to_end(&mut bytes))
            .map_err(|e| Error::system(&e))?;
        match bytes.len() as u64 == count {
            true => Ok(bytes),
            false => Err(Error::new("it is truncated")),
        }
    }

    /// The rows of each chunk that a file's footer lists.
    fn listed(&self) -> Result<Vec<i64>> {
        let end = self.bytes(self.len.saturating_sub(TAIL), TAIL)?;
        let end = <[u8; TAIL as usize]>::try_from(end).unwrap_or_default();
        let footer = read_footer_length(end).map_err(broken)? as u64;
        let at = self.len.saturating_sub(TAIL).checked_sub(footer);
        let at = at.ok_or_else(|| broken("its footer is longer than the file"))?;
        let footer = self.bytes(at, footer)?;
        let footer = root_as_footer(&footer).map_err(broken)?;
        for block in footer.dictionaries().into_iter().flatten() {
            self.listed_message(block)?;
        }
        let blocks = footer.recordBatches().into_iter().flatten();
        blocks.map(|block| self.listed_message(block)).collect()
    }

    /// The rows of a message that the footer tells of.
    fn listed_message(&self, block: &Block) -> Result<i64> {
        let wrong = || broken("its footer tells of a part that is not there");
        let at = u64::try_from(block.offset()).map_err(|_| wrong())?;
        let head = u64::try_from(block.metaDataLength()).map_err(|_| wrong())?;
        let body = u64::try_from(block.bodyLength()).map_err(|_| wrong())?;
        let start = at.checked_add(head).ok_or_else(wrong)?;
        if start.checked_add(body).is_none_or(|end| end > self.len) {
            return Err(wrong());
        }
        room(head.saturating_add(body))?;
        let found = self.message(at)?.ok_or_else(wrong)?;
        self.rows(&found.head, start)
    }

    /// The rows of each chunk of a stream.
    fn walk(&self) -> Result<Vec<i64>> {
        let mut rows = Vec::new();
        let mut at = 0;
        while let Some(found) = self.message(at)? {
            let message = root_as_message(&found.head).map_err(broken)?;
            let body = u64::try_from(message.bodyLength())
                .map_err(|_| broken("a message of negative length"))?;
            let start = at + found.bytes;
            let end = start.checked_add(body).filter(|&end| end <= self.len);
            let end = end.ok_or_else(|| Error::new("it is truncated: a chunk is not whole"))?;
            room(body)?;
            if message.header_type() == MessageHeader::RecordBatch {
                rows.push(self.rows(&found.head, start)?);
            } else if message.header_type() == MessageHeader::DictionaryBatch {
                self.rows(&found.head, start)?;
            } else if at > 0 || message.header_type() != MessageHeader::Schema {
                return Err(broken("a message of another kind"));
            }
            at = end;
        }
        match at {
            0 => Err(broken("it is empty")),
            _ => Ok(rows),
        }
    }

    /// The message at a place; `None` at the end.
    fn message(&self, at: u64) -> Result<Option<Found>> {
        if at == self.len {
            return Ok(None);
        }
        let word = |at| {
            let bytes = self.bytes(at, 4)?;
            Ok(u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
        };
        let (size, before) = match word(at)? {
            CONTINUED => (word(at + 4)?, 8),
            size => (size, 4),
        };
        if size == 0 {
            return Ok(None);
        }
        Ok(Some(Found {
            head: self.bytes(at + before, size.into())?,
            bytes: before + u64::from(size),
        }))
    }

    /// How many rows a message has, whose buffers lie behind `start`; 0 of a dictionary.
    fn rows(&self, head: &[u8], start: u64) -> Result<i64> {
        let message = root_as_message(head).map_err(broken)?;
        if let Some(dictionary) = message.header_as_dictionary_batch() {
            if let Some(values) = dictionary.data() {
                self.fits(&values, start)?;
            }
            return Ok(0);
        }
        let chunk = message.header_as_record_batch();
        let chunk = chunk.ok_or_else(|| broken("a message of another kind"))?;
        self.fits(&chunk, start)?;
        Ok(chunk.length())
    }

    /// Refuses compressed buffers that say they are larger than memory.
    fn fits(&self, chunk: &Message<'_>, start: u64) -> Result<()> {
        if chunk.compression().is_none() {
            return Ok(());
        }
        for buffer in chunk.buffers().into_iter().flatten() {
            let offset = u64::try_from(buffer.offset()).unwrap_or(u64::MAX);
            if buffer.length() < 8 {
                continue;
            }
            let size = self.bytes(start.saturating_add(offset), 8)?;
            let size = i64::from_le_bytes(size.try_into().unwrap_or_default());
            // -1 stands before a buffer that is not compressed.
            room(u64::try_from(size).unwrap_or(0))?;
        }
        Ok(())
    }
}

/// The head of a message.
struct Found {
    head: Vec<u8>,
    /// How long it is with all that stands before it.
    bytes: u64,
}
