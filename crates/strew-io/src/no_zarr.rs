//! In the place of `zarr.rs` where the crate is built without the feature `zarr`.

use crate::error::{Error, Result};
use std::path::Path;
use strew::{DType, DynTensor};

/// There is none.
#[derive(Debug)]
pub enum ZarrArray {}

impl ZarrArray {
    /// Opens an array.
    ///
    /// # Errors
    /// Always: nothing here reads Zarr.
    pub fn open(_folder: &Path, _inner: Option<&str>) -> Result<Self> {
        Err(absent("reads"))
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match *self {}
    }

    /// The sizes of its axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        match *self {}
    }

    /// The whole array.
    ///
    /// # Errors
    /// None: there is no array.
    pub fn whole(&self) -> Result<DynTensor> {
        match *self {}
    }

    /// Some of its rows.
    ///
    /// # Errors
    /// None: there is no array.
    pub fn rows(&self, _from: usize, _count: usize) -> Result<DynTensor> {
        match *self {}
    }
}

/// Writes arrays.
///
/// # Errors
/// Always: nothing here writes Zarr.
pub fn write_zarr(_folder: &Path, _tensors: &[(&str, &DynTensor)]) -> Result<()> {
    Err(absent("writes"))
}

fn absent(does: &str) -> Error {
    Error::new(format!(
        "this program was built without the feature zarr, which {does} it"
    ))
}
