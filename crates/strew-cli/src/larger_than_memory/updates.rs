//! Updates in memory: the cell and the value of each.

use crate::failure::{Failure, Result};
use crate::read::Loaded;
use strew::{DType, DynTensor};

/// What an update's value is.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
}

impl Entry {
    pub(super) fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }

    /// The shape of this number of values.
    pub(super) fn times(&self, count: usize) -> Vec<usize> {
        [&[count][..], &self.shape].concat()
    }
}

/// Some updates of a block.
pub(super) struct Updates {
    /// The cell of each within the block, as int64.
    pub(super) cells: Loaded,
    pub(super) values: Loaded,
    /// The number of each among all updates, as int64; empty if these are not kept.
    pub(super) numbers: Vec<u64>,
}

/// A tensor of zeros.
pub(super) fn zeros(dtype: DType, shape: &[usize]) -> Result<DynTensor> {
    DynTensor::zeros(dtype, shape).map_err(|p| Failure::new(p.to_string()))
}
