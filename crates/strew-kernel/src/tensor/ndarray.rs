//! `ndarray` arrays and views in, `ndarray` views out.
//!
//! # Unsafe
//!
//! - Buys: `ndarray` arrays without a copy
//! - Measured: no other way
//! - Holds: the array describes its own memory and is borrowed as long as the view

use crate::tensor::dtype::Element;
use crate::tensor::layout::{Layout, Strides};
use crate::tensor::owned::Tensor;
use crate::tensor::typed::{TensorView, TensorViewMut};
use crate::tensor::view::{DynView, DynViewMut};
use ndarray::{ArrayBase, ArrayD, ArrayViewD, Data, DataMut, Dimension, IxDyn};

/// The layout of an `ndarray` view: it keeps every offset within `isize`, so it always fits.
fn layout_of<T: Element>(shape: &[usize], strides: &[isize]) -> Layout {
    let bytes: Strides = strides
        .iter()
        .map(|s| s.wrapping_mul(T::DTYPE.size().cast_signed()))
        .collect();
    Layout::new(T::DTYPE, shape, &bytes).expect("ndarray keeps its views inside the address space")
}

impl<'a, T: Element, S: Data<Elem = T>, D: Dimension> From<&'a ArrayBase<S, D>>
    for TensorView<'a, T>
{
    fn from(array: &'a ArrayBase<S, D>) -> Self {
        let layout = layout_of::<T>(array.shape(), array.strides());
        // SAFETY: shape, strides and pointer are the array's, borrowed for `'a`; its elements are
        // `T`s.
        unsafe { Self::from_checked(DynView::from_borrowed(array.as_ptr().cast(), layout)) }
    }
}

impl<'a, T: Element, S: DataMut<Elem = T>, D: Dimension> From<&'a mut ArrayBase<S, D>>
    for TensorViewMut<'a, T>
{
    fn from(array: &'a mut ArrayBase<S, D>) -> Self {
        let layout = layout_of::<T>(array.shape(), array.strides());
        // SAFETY: shape, strides and pointer are the array's, borrowed mutably for `'a`; its
        // elements are `T`s.
        unsafe { Self::from_checked(DynViewMut::from_borrowed(array.as_mut_ptr().cast(), layout)) }
    }
}

impl<T: Element> Tensor<T> {
    /// The tensor as an `ndarray` view, without a copy.
    #[must_use]
    pub fn as_ndarray(&self) -> ArrayViewD<'_, T> {
        ArrayViewD::from_shape(IxDyn(self.shape()), self.as_slice())
            .expect("a tensor has as many elements as its shape")
    }

    /// The tensor as an owned `ndarray` array, copied.
    #[must_use]
    pub fn to_ndarray(&self) -> ArrayD<T> {
        self.as_ndarray().to_owned()
    }
}
