//! In the place of `columns.rs` where the program is built without the feature `columns`.

use super::{Format, Loaded, Purpose};
use crate::failure::{Failure, Result};
use crate::flags::Columns;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use strew::{DType, DynTensor};

/// What `--nulls` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    Drop,
    Skip,
    Zero,
}

/// What a missing value is.
#[derive(Default)]
pub(crate) struct Missing;

/// There is none.
#[derive(Debug)]
pub(super) enum Column {}

impl Column {
    pub(super) fn dtype(&self) -> DType {
        match *self {}
    }

    pub(super) fn shape(&self) -> Vec<usize> {
        match *self {}
    }

    pub(super) fn rows(&self, _from: usize, _count: usize) -> Result<DynTensor> {
        match *self {}
    }

    pub(super) fn elements(&self, _from: usize, _row: usize, _to: &mut [u8]) -> Result<()> {
        match *self {}
    }
}

pub(super) fn load(
    _file: &File,
    _format: Format,
    _name: Option<&str>,
    _missing: Missing,
    _purpose: Purpose,
) -> Result<Loaded> {
    Err(Failure::new(
        "this strew was built without the feature columns, which reads them",
    ))
}

pub(super) fn load_zarr(_folder: &Path, _inner: Option<&str>, _purpose: Purpose) -> Result<Loaded> {
    Err(Failure::new(
        "this strew was built without the feature zarr, which reads it",
    ))
}

pub(crate) fn write_folder(_folder: &Path, _tensors: &[(&str, &DynTensor)]) -> Result<()> {
    Err(Failure::new(
        "this strew was built without the feature zarr, which writes it",
    ))
}

pub(crate) fn write_table(
    _format: Format,
    _tensors: &[(&str, &DynTensor)],
    _to: &mut (dyn Write + Send),
) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn missing(_path: &Path) -> Result<Missing> {
    Ok(Missing)
}

pub(crate) fn treat(_given: &Columns, _tensors: &[(&str, &str)]) -> Result<()> {
    Ok(())
}
