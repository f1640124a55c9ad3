//! The loop that copies rows of elements.

use crate::ops::combine::Overwrite;
use crate::ops::for_dtype::for_bits;
use crate::rows::row_pairs::{Loop, join};
use crate::tensor::DType;

/// The loop that copies elements bit by bit: one per size and alignment.
pub(crate) fn copy_loop(dtype: DType) -> Loop {
    for_bits!(dtype, T => join::<Overwrite<T>>)
}
