//! Borrowed n-d views and owned tensors, erased ([`DynView`], [`DynViewMut`], [`DynTensor`]) and
//! typed ([`TensorView`], [`TensorViewMut`], [`Tensor`]).
//!
//! A view is a pointer, a [`DType`], a shape and strides in bytes. Views are made from slices,
//! from `ndarray` arrays, from tensors, or, by an unsafe constructor, from memory that somebody
//! else describes. This is the only room where bytes become typed elements.

mod axes;
mod dtype;
mod footprint;
mod held;
mod kept;
mod layout;
mod list;
mod memory;
#[cfg(feature = "ndarray")]
mod ndarray;
mod offsets;
mod overlap;
mod owned;
mod read;
mod scalar;
mod typed;
mod view;

pub use dtype::{DType, Element, UnknownDType};
pub use held::Held;
pub use kept::{kept_memory, set_kept_memory};
pub use layout::{Dims, Layout, Strides};
pub use memory::{memory_limit, set_memory_limit};
pub use owned::{DynTensor, Tensor};
pub use scalar::Scalar;
pub use typed::{TensorView, TensorViewMut};
pub use view::{DynView, DynViewMut};

pub(crate) use footprint::{footprint, lines};
pub(crate) use list::List;
pub(crate) use memory::{Buffer, try_vec};
pub(crate) use offsets::{offset_of, offsets};
pub(crate) use overlap::{overlap_each_other, overlaps_itself};
pub(crate) use owned::shaped;
