//! Borrowed n-d views and owned tensors, erased ([`DynView`], [`DynViewMut`], [`DynTensor`]) and
//! typed ([`TensorView`], [`TensorViewMut`], [`Tensor`]).
//!
//! A view is a pointer, a [`DType`], a shape and strides in bytes. Views are made from slices,
//! from `ndarray` arrays, from tensors, or, by an unsafe constructor, from memory that somebody
//! else describes. This is the only room where bytes become typed elements.

pub mod axes;
pub mod dtype;
pub mod footprint;
pub mod layout;
pub mod list;
pub mod mapping_cache;
pub mod maybe_owned;
pub mod memory;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod offsets;
pub mod overlap;
pub mod owned;
pub mod read;
pub mod scalar;
pub mod typed;
pub mod view;

pub use crate::tensor::dtype::{DType, Element, UnknownDType};
pub use crate::tensor::footprint::{footprint, lines};
pub use crate::tensor::layout::{Dims, Layout, Strides};
pub use crate::tensor::list::List;
pub use crate::tensor::mapping_cache::{kept_memory, set_kept_memory};
pub use crate::tensor::maybe_owned::Held;
pub use crate::tensor::memory::{Buffer, memory_limit, set_memory_limit, try_vec};
pub use crate::tensor::offsets::{offset_of, offsets};
pub use crate::tensor::overlap::{apart, overlap_each_other, overlaps_itself};
pub use crate::tensor::owned::{DynTensor, Tensor, shaped};
pub use crate::tensor::scalar::Scalar;
pub use crate::tensor::typed::{TensorView, TensorViewMut};
pub use crate::tensor::view::{DynView, DynViewMut};
