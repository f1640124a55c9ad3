//! Files for tests, as the formats' own writers make them.

#![allow(dead_code)] // Each test file uses its own part.

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, FixedSizeListArray, Float16Array,
    Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
    UInt8Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use half::f16;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;
use strew_io::Format;

pub(crate) const ROWS: usize = 1000;

/// A chunk with a column of each kind; those whose name ends in `?` lack every seventh value.
pub(crate) fn batch(from: usize, rows: usize) -> RecordBatch {
    let numbers = from..from + rows;
    let some = |n: usize| (n % 7 != 3).then_some(n);
    let pairs = numbers
        .clone()
        .map(|n| Some([n, n + 1].map(|n| Some(n as i32))));
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "i64",
            Arc::new(Int64Array::from_iter_values(
                numbers.clone().map(|n| n as i64 - 5),
            )),
        ),
        (
            "i32?",
            Arc::new(Int32Array::from_iter(
                numbers.clone().map(|n| some(n).map(|n| n as i32)),
            )),
        ),
        (
            "f64?",
            Arc::new(Float64Array::from_iter(
                numbers.clone().map(|n| some(n + 1).map(|n| n as f64 / 4.0)),
            )),
        ),
        (
            "f16",
            Arc::new(Float16Array::from_iter_values(
                numbers.clone().map(|n| f16::from_f32((n % 64) as f32)),
            )),
        ),
        (
            "u8",
            Arc::new(UInt8Array::from_iter_values(
                numbers.clone().map(|n| (n % 251) as u8),
            )),
        ),
        (
            "bool?",
            Arc::new(BooleanArray::from_iter(
                numbers.clone().map(|n| some(n).map(|n| n % 2 == 1)),
            )),
        ),
        (
            "date",
            Arc::new(Date32Array::from_iter_values(
                numbers.clone().map(|n| 19000 + n as i32),
            )),
        ),
        (
            "time",
            Arc::new(TimestampMillisecondArray::from_iter_values(
                numbers.clone().map(|n| n as i64 * 1000),
            )),
        ),
        (
            "text",
            Arc::new(StringArray::from_iter_values(
                numbers.clone().map(|n| format!("t{}", n % 3)),
            )),
        ),
        ("word", Arc::new(words(numbers.clone()))),
        (
            "pair",
            Arc::new(FixedSizeListArray::from_iter_primitive::<
                arrow_array::types::Int32Type,
                _,
                _,
            >(pairs, 2)),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Numbers by way of a dictionary.
fn words(numbers: std::ops::Range<usize>) -> DictionaryArray<Int8Type> {
    let keys = arrow_array::Int8Array::from_iter_values(numbers.map(|n| (n % 3) as i8));
    DictionaryArray::new(keys, Arc::new(Int64Array::from(vec![10, 20, 30])))
}

/// Row groups of 300 rows, in pages of 64.
pub(crate) fn parquet(compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(300))
        .set_data_page_row_count_limit(64)
        .set_write_batch_size(64)
        .set_compression(compression)
        .build();
    let all = batch(0, ROWS);
    let mut writer = ArrowWriter::try_new(Vec::new(), all.schema(), Some(properties)).unwrap();
    writer.write(&all).unwrap();
    writer.into_inner().unwrap()
}

fn chunks() -> [RecordBatch; 4] {
    [
        batch(0, 300),
        batch(300, 0),
        batch(300, 500),
        batch(800, 200),
    ]
}

pub(crate) fn arrow(compression: Option<CompressionType>) -> Vec<u8> {
    let chunks = chunks();
    let options = IpcWriteOptions::default()
        .try_with_compression(compression)
        .unwrap();
    let schema = chunks[0].schema();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    for chunk in &chunks {
        writer.write(chunk).unwrap();
    }
    writer.into_inner().unwrap()
}

pub(crate) fn stream() -> Vec<u8> {
    let chunks = chunks();
    let mut writer = StreamWriter::try_new(Vec::new(), &chunks[0].schema()).unwrap();
    for chunk in &chunks {
        writer.write(chunk).unwrap();
    }
    writer.into_inner().unwrap()
}

/// The same rows in every format and compression.
pub(crate) fn files() -> Vec<(&'static str, Format, Vec<u8>)> {
    let zstd = Compression::ZSTD(ZstdLevel::try_new(1).unwrap());
    vec![
        ("plain", Format::Parquet, parquet(Compression::UNCOMPRESSED)),
        ("snappy", Format::Parquet, parquet(Compression::SNAPPY)),
        (
            "gzip",
            Format::Parquet,
            parquet(Compression::GZIP(Default::default())),
        ),
        ("lz4", Format::Parquet, parquet(Compression::LZ4_RAW)),
        ("zstd", Format::Parquet, parquet(zstd)),
        ("arrow", Format::Arrow, arrow(None)),
        (
            "arrow lz4",
            Format::Arrow,
            arrow(Some(CompressionType::LZ4_FRAME)),
        ),
        (
            "arrow zstd",
            Format::Arrow,
            arrow(Some(CompressionType::ZSTD)),
        ),
        ("stream", Format::Arrow, stream()),
    ]
}

/// A file without a name that holds these bytes.
pub(crate) fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}
