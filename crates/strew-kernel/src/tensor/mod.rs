//! Borrowed n-d views and owned tensors: erased ([`DynView`], [`DynViewMut`], [`DynTensor`]) and
//! typed ([`TensorView`], [`TensorViewMut`], [`Tensor`]).
//!
//! A view is a pointer, a [`DType`], a shape and strides in bytes. Views are made from slices, from
//! `ndarray` arrays, from tensors, or, by an unsafe constructor, from memory that the caller
//! describes. This is the only folder where bytes become typed elements.
//!
//! | file | holds |
//! |---|---|
//! | [`as_tensor`] | what the typed operators read |
//! | [`axes`] | sizes and strides, inline for few axes |
//! | [`dtype`] | element types |
//! | [`footprint`](mod@footprint) | bytes that a view touches |
//! | `free_memory` | what the system would still give |
//! | [`layout`] | shape, strides and dtype, checked |
//! | [`list`] | lists of integers |
//! | [`mapping_cache`] | freed mappings for later results |
//! | [`maybe_owned`] | a view that may own its memory |
//! | [`memory`] | buffers, and the memory limit |
//! | `ndarray` | conversions from and to `ndarray` |
//! | [`offsets`](mod@offsets) | byte offsets of elements |
//! | [`overlap`] | whether views share a byte |
//! | [`owned`] | owned tensors |
//! | [`read`] | reads of index values |
//! | [`scalar`] | single numbers of any type |
//! | `show` | tensors as text |
//! | `spread` | where the rows of a list go in a longer one |
//! | [`typed`] | views of a Rust type |
//! | [`view`] | views of a run-time type |

pub mod as_tensor;
pub mod axes;
pub mod dtype;
pub mod footprint;
pub(crate) mod free_memory;
pub mod layout;
pub mod list;
pub mod mapping_cache;
pub mod maybe_owned;
pub mod memory;
#[cfg(any(feature = "ndarray", feature = "ndarray_0_16"))]
mod ndarray;
pub mod offsets;
pub mod overlap;
pub mod owned;
pub mod read;
pub mod scalar;
mod show;
pub(crate) mod spread;
pub mod typed;
pub mod view;

pub use crate::tensor::as_tensor::AsTensor;
pub use crate::tensor::axes::{continues, joined};
pub use crate::tensor::dtype::{DType, Element, Index, UnknownDType};
pub use crate::tensor::footprint::{footprint, lines};
pub use crate::tensor::layout::{Dims, Layout, Strides};
pub use crate::tensor::list::{List, Plain};
pub use crate::tensor::mapping_cache::{kept_memory, set_kept_memory};
pub use crate::tensor::maybe_owned::Held;
pub use crate::tensor::memory::{Buffer, memory_limit, set_memory_limit, try_vec};
pub use crate::tensor::offsets::{offset_of, offsets};
pub use crate::tensor::overlap::{apart, overlap_each_other, overlaps_itself};
pub use crate::tensor::owned::{DynTensor, Tensor, shaped};
pub use crate::tensor::scalar::Scalar;
pub use crate::tensor::typed::{TensorView, TensorViewMut};
pub use crate::tensor::view::{DynView, DynViewMut};
