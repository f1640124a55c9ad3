//! Parquet files.

use crate::chunks::Chunks;
use crate::error::{Error, Result};
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use std::fs::File;

/// Rows of a chunk.
const CHUNK: usize = 1 << 16;

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
        let file = file.try_clone().map_err(|e| Error::system(&e))?;
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(broken)?;
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
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
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
