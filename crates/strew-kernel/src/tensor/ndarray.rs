//! `ndarray` arrays and views in, `ndarray` arrays and views out, for each version of `ndarray`
//! that there is a feature of.
//!
//! # Unsafe
//!
//! - Buys: `ndarray` arrays without a copy
//! - Measured: no other way
//! - Holds: the array describes its own memory and is borrowed as long as the view

use crate::error::{Class, Error, Problem};
use crate::tensor::dtype::Element;
use crate::tensor::layout::{Layout, Strides};
#[cfg(feature = "ndarray")]
use crate::tensor::owned::Tensor;

/// The layout of an `ndarray` view: it keeps every offset within `isize`, so it always fits.
fn layout_of<T: Element>(shape: &[usize], strides: &[isize]) -> Layout {
    let bytes: Strides = strides
        .iter()
        .map(|s| s.wrapping_mul(T::DTYPE.size().cast_signed()))
        .collect();
    Layout::new(T::DTYPE, shape, &bytes).expect("ndarray keeps its views inside the address space")
}

/// The error of a tensor that is to be an array with another number of axes.
fn wrong_rank(shape: &[usize], wanted: Option<usize>) -> Error {
    let problem = Problem::Shape {
        argument: "tensor",
        found: shape.to_vec(),
        expected: match wanted {
            Some(rank) => format!("the array must have {} dimensions, not {rank}", shape.len()),
            None => "the array has another number of dimensions".into(),
        },
    };
    Error::new("Tensor::try_into", Class::Value, problem)
}

/// The conversions from and to one version of `ndarray`.
macro_rules! conversions {
    ($module:ident, $ndarray:ident) => {
        mod $module {
            use super::{layout_of, wrong_rank};
            use crate::error::Error;
            use crate::tensor::as_tensor::AsTensor;
            use crate::tensor::dtype::Element;
            use crate::tensor::owned::Tensor;
            use crate::tensor::typed::{TensorView, TensorViewMut};
            use crate::tensor::view::{DynView, DynViewMut};
            use $ndarray::{
                Array, ArrayBase, ArrayView, ArrayViewD, ArrayViewMut, Data, DataMut, Dimension,
                IxDyn,
            };

            impl<'a, T: Element, S: Data<Elem = T>, D: Dimension> From<&'a ArrayBase<S, D>>
                for TensorView<'a, T>
            {
                fn from(array: &'a ArrayBase<S, D>) -> Self {
                    array.view().into()
                }
            }

            impl<'a, T: Element, D: Dimension> From<ArrayView<'a, T, D>> for TensorView<'a, T> {
                fn from(array: ArrayView<'a, T, D>) -> Self {
                    let layout = layout_of::<T>(array.shape(), array.strides());
                    let view = array.as_ptr().cast();
                    // SAFETY: shape, strides and pointer are the array's, borrowed for `'a`; its
                    // elements are `T`s.
                    unsafe { Self::from_checked(DynView::from_borrowed(view, layout)) }
                }
            }

            impl<'a, T: Element, S: DataMut<Elem = T>, D: Dimension> From<&'a mut ArrayBase<S, D>>
                for TensorViewMut<'a, T>
            {
                fn from(array: &'a mut ArrayBase<S, D>) -> Self {
                    array.view_mut().into()
                }
            }

            impl<'a, T: Element, D: Dimension> From<ArrayViewMut<'a, T, D>>
                for TensorViewMut<'a, T>
            {
                fn from(mut array: ArrayViewMut<'a, T, D>) -> Self {
                    let layout = layout_of::<T>(array.shape(), array.strides());
                    let view = array.as_mut_ptr().cast();
                    // SAFETY: shape, strides and pointer are the array's, borrowed mutably for
                    // `'a`; its elements are `T`s.
                    unsafe { Self::from_checked(DynViewMut::from_borrowed(view, layout)) }
                }
            }

            impl<T: Element, S: Data<Elem = T>, D: Dimension> AsTensor<T> for ArrayBase<S, D> {
                fn as_tensor(&self) -> TensorView<'_, T> {
                    self.into()
                }
            }

            /// The tensor as a view, without a copy.
            impl<'a, T: Element> From<&'a Tensor<T>> for ArrayViewD<'a, T> {
                fn from(tensor: &'a Tensor<T>) -> Self {
                    Self::from_shape(IxDyn(tensor.shape()), tensor.as_slice())
                        .expect("a tensor has as many elements as its shape")
                }
            }

            /// The elements, copied, as an array with as many axes as the tensor.
            impl<T: Element, D: Dimension> TryFrom<Tensor<T>> for Array<T, D> {
                type Error = Error;

                fn try_from(tensor: Tensor<T>) -> Result<Self, Error> {
                    let view = ArrayViewD::from(&tensor).into_dimensionality::<D>();
                    let view = view.map_err(|_| wrong_rank(tensor.shape(), D::NDIM))?;
                    Ok(view.to_owned())
                }
            }
        }
    };
}

#[cfg(feature = "ndarray")]
conversions!(current, ndarray);

#[cfg(feature = "ndarray_0_16")]
conversions!(v0_16, ndarray_0_16);

#[cfg(feature = "ndarray")]
impl<T: Element> Tensor<T> {
    /// The tensor as an `ndarray` view, without a copy.
    #[must_use]
    pub fn as_ndarray(&self) -> ndarray::ArrayViewD<'_, T> {
        self.into()
    }

    /// The tensor as an owned `ndarray` array, copied.
    #[must_use]
    pub fn to_ndarray(&self) -> ndarray::ArrayD<T> {
        self.as_ndarray().to_owned()
    }
}
