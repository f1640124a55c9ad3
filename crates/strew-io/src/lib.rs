//! Columns of Parquet, Arrow and CSV files as strew's tensors, some rows at a time, and groups of
//! rows by their keys.
//!
//! A [`Table`] is an open file. A [`Column`] reads one of its columns: a tensor whose first axis is
//! the rows. Files come from strangers: whatever they hold, reading ends with a tensor or an
//! [`Error`], never with a panic.
//!
//! | column | tensor |
//! |---|---|
//! | boolean, int8 to int64, uint8 to uint64, float16 to float64 | the same type |
//! | date32, date64, time, timestamp, duration | int32 or int64: the stored number |
//! | dictionary of one of these | its values |
//! | fixed-size list of one of these | one more axis |
//!
//! A [`ZarrArray`] is an array of a Zarr hierarchy, with the feature `zarr`.
//!
//! A missing value is an error unless [`Missing`] says otherwise.
//!
//! [`Rows`] are the rows of a table with their [`Groups`]: those with equal keys. A [`Frame`] is a
//! table of results.

#![forbid(unsafe_code)]

mod cells;
mod chunks;
mod column;
mod csv_file;
mod data_set;
mod elements;
mod error;
mod frame;
mod groups;
mod guard;
mod in_order;
mod ipc;
mod kept;
mod origin;
mod parquet_file;
mod rows;
mod table;
mod words;
#[cfg_attr(not(feature = "zarr"), path = "no_zarr.rs")]
mod zarr;

pub use cells::Cell;
pub use column::{Column, Missing};
pub use csv_file::{CsvOptions, Type};
pub use data_set::{DataSet, Part};
pub use error::{Error, Result};
pub use frame::Frame;
pub use groups::Groups;
pub use kept::Kept;
pub use origin::Origin;
pub use rows::{Chunk, NO_GROUP, Nulls, Rows};
pub use table::{Format, Table};
pub use zarr::{ZarrArray, write_zarr};
