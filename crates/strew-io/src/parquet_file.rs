//! Parquet files.

use crate::chunks::Chunks;
use crate::error::{Error, Result};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};

/// Rows of a chunk.
const CHUNK: usize = 1 << 16;

/// A file whose parts end where it ends.
///
/// The header of a page may say that billions of elements follow. The `parquet` crate passes over
/// those that it does not know, one by one, and does not notice that the file has ended.
#[derive(Debug)]
struct Ending(File);

impl Length for Ending {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Ending {
    type T = UpToTheEnd<BufReader<File>>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let inner = self.0.get_read(start)?;
        Ok(UpToTheEnd { inner, ends: 0 })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        // The crate takes memory for all of them first.
        let left = self.0.len().saturating_sub(start);
        if length as u64 > left {
            let text = format!("{length} bytes are wanted where the file has {left}");
            return Err(ParquetError::EOF(text));
        }
        self.0.get_bytes(start, length)
    }
}

/// Reads that find the end of the file. More than these are an error.
const ENDS: u32 = 16;

struct UpToTheEnd<R> {
    inner: R,
    ends: u32,
}

impl<R: Read> Read for UpToTheEnd<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(to)?;
        if read == 0 && !to.is_empty() {
            self.ends += 1;
            if self.ends > ENDS {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(read)
    }
}

#[derive(Debug)]
pub(crate) struct Parquet {
    file: File,
    metadata: ArrowReaderMetadata,
    /// The first row of each row group.
    starts: Vec<usize>,
    rows: usize,
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::broken("Parquet", error)
}

impl Parquet {
    /// The file, its number of rows and its columns.
    pub(crate) fn open(file: &File) -> Result<(Self, usize, SchemaRef)> {
        let file = Ending(file.try_clone().map_err(|e| Error::system(&e))?);
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(broken)?;
        let file = file.0;
        let mut starts = Vec::new();
        let mut rows = 0usize;
        for group in metadata.metadata().row_groups() {
            starts.push(rows);
            let some = usize::try_from(group.num_rows()).ok();
            let sum = some.and_then(|some| rows.checked_add(some));
            rows =
                sum.ok_or_else(|| broken(format!("a row group of {} rows", group.num_rows())))?;
        }
        let schema = metadata.schema().clone();
        let opened = Self {
            file,
            metadata,
            starts,
            rows,
        };
        Ok((opened, rows, schema))
    }

    /// Chunks of columns, which are sorted by their place, from a row on.
    pub(crate) fn batches(&self, columns: &[usize], from: usize) -> Result<Chunks> {
        let file = self.file.try_clone().map_err(|e| Error::system(&e))?;
        let first = self.starts.partition_point(|&start| start <= from);
        let first = first.saturating_sub(1);
        let skipped = from - self.starts.get(first).copied().unwrap_or(0).min(from);
        let left = self.rows.saturating_sub(from);
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(Ending(file), self.metadata.clone())
                .with_projection(mask)
                .with_row_groups((first..self.starts.len()).collect())
                .with_offset(skipped)
                .with_batch_size(CHUNK.min(left.max(1)))
                .build()
                .map_err(broken)?;
        Ok(Box::new(reader.map(|batch| {
            batch.map(|b| b.columns().to_vec()).map_err(broken)
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::{ENDS, UpToTheEnd};
    use std::io::{ErrorKind, Read, sink};

    #[test]
    fn reads_behind_the_end_come_to_an_end() {
        let mut reader = UpToTheEnd {
            inner: &b"four"[..],
            ends: 0,
        };
        let mut all = Vec::new();
        assert_eq!(reader.read_to_end(&mut all).unwrap(), 4);
        let mut skip = || std::io::copy(&mut (&mut reader).take(8), &mut sink());
        let error = (0..=ENDS).find_map(|_| skip().err()).unwrap();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    }
}
