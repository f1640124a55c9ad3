//! Owned tensors: contiguous, row-major, 64-byte aligned.
//!
//! # Unsafe
//!
//! - Buys: elements and bytes of one buffer
//! - Measured: a copy of the result: W2a 1.74
//! - Holds: the buffer is as long as the layout, and borrowed

use crate::error::Problem;
use crate::tensor::dtype::{DType, Element};
use crate::tensor::layout::Layout;
use crate::tensor::memory::{Buffer, fill};
use crate::tensor::typed::{TensorView, TensorViewMut};
use crate::tensor::view::{DynView, DynViewMut};
use std::fmt;
use std::marker::PhantomData;

/// Bytes that are copied at a time when a tensor is filled; they stay in the nearest cache.
const FILL: usize = 1 << 14;

/// An owned tensor whose element type is known at run time: what the erased operators return.
pub struct DynTensor {
    buffer: Buffer,
    layout: Layout,
}

impl DynTensor {
    /// A tensor of zeros (false for bool).
    ///
    /// # Errors
    /// [`Problem::Memory`] if it does not fit.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Self, Problem> {
        Self::zeros_for(dtype, shape, usize::MAX)
    }

    /// A tensor that `write` fills: it must write every byte through the pointer it is given.
    ///
    /// # Safety
    /// When `write` returns, all `len * size` bytes must have been written.
    pub(crate) unsafe fn written_by(
        dtype: DType,
        shape: &[usize],
        write: impl FnOnce(*mut u8),
    ) -> Result<Self, Problem> {
        let layout = Layout::contiguous(dtype, shape)?;
        let bytes = layout.len() * dtype.size();
        // SAFETY: the caller promises that `write` writes all `bytes` bytes, as
        // `Buffer::written_by` asks.
        let buffer = unsafe { Buffer::written_by(&|| describe(&layout), bytes, write)? };
        Ok(Self { buffer, layout })
    }

    /// Element type, shape and strides.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.layout.dtype()
    }

    /// The sizes of the axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// The elements as bytes, row by row.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the buffer's bytes are initialised and live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr(), self.buffer.len()) }
    }

    /// The elements as bytes, row by row, to fill: every bit pattern is an element of an erased
    /// tensor.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the buffer's bytes are initialised, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.as_mut_ptr(), self.buffer.len()) }
    }

    /// The tensor to read.
    #[must_use]
    pub fn view(&self) -> DynView<'_> {
        // SAFETY: the buffer has all bytes of the layout, is aligned to 64 and borrowed with
        // `self`.
        unsafe { DynView::from_borrowed(self.buffer.as_ptr(), self.layout.clone()) }
    }

    /// The tensor to write.
    pub fn view_mut(&mut self) -> DynViewMut<'_> {
        // SAFETY: the buffer has all bytes of the layout, is aligned to 64 and borrowed mutably
        // with `self`.
        unsafe { DynViewMut::from_borrowed(self.buffer.as_mut_ptr(), self.layout.clone()) }
    }

    /// The same elements with another shape; the tensor itself if their number would change.
    ///
    /// # Errors
    /// Gives the tensor back unchanged.
    #[allow(clippy::result_large_err)] // It is the tensor itself, given back.
    pub fn reshape(mut self, shape: &[usize]) -> Result<Self, Self> {
        match Layout::contiguous(self.dtype(), shape) {
            Ok(layout) if layout.len() == self.layout.len() => {
                self.layout = layout;
                Ok(self)
            }
            _ => Err(self),
        }
    }

    /// The typed tensor, if the elements are of type `T`. For `bool` every byte must be 0 or 1.
    ///
    /// # Errors
    /// Gives the tensor back unchanged.
    #[allow(clippy::result_large_err)] // It is the tensor itself, given back.
    pub fn typed<T: Element>(self) -> Result<Tensor<T>, Self> {
        let bools = T::DTYPE != DType::Bool || self.view().holds_only_bools();
        if self.dtype() == T::DTYPE && bools {
            Ok(Tensor {
                inner: self,
                element: PhantomData,
            })
        } else {
            Err(self)
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl DynTensor {
    /// A tensor of zeros of which at most `touched` elements will be written.
    pub fn zeros_for(dtype: DType, shape: &[usize], touched: usize) -> Result<Self, Problem> {
        const PAGE: usize = 4096;
        let layout = Layout::contiguous(dtype, shape)?;
        let bytes = layout.len() * dtype.size();
        let what = || describe(&layout);
        // A huge page is 512 small ones: it pays unless most of those would never be touched.
        let buffer = if touched < bytes / PAGE / 4 {
            Buffer::zeroed_sparse(&what, bytes)?
        } else {
            Buffer::zeroed(&what, bytes)?
        };
        Ok(Self { buffer, layout })
    }

    /// A tensor with whatever is in its memory.
    pub fn scratch(dtype: DType, shape: &[usize]) -> Result<Self, Problem> {
        let layout = Layout::contiguous(dtype, shape)?;
        let bytes = layout.len() * dtype.size();
        let buffer = Buffer::scratch(&|| describe(&layout), bytes)?;
        Ok(Self { buffer, layout })
    }

    /// A tensor whose every element is `bytes`, which must be as long as one element.
    ///
    /// # Errors
    /// [`Problem::Memory`] if it does not fit.
    pub fn filled(dtype: DType, shape: &[usize], element: &[u8]) -> Result<Self, Problem> {
        if element.iter().all(|&b| b == 0) || element.len() != dtype.size() {
            return Self::zeros(dtype, shape);
        }
        let layout = Layout::contiguous(dtype, shape)?;
        let what = || describe(&layout);
        let buffer = Buffer::scratch(&what, layout.len() * dtype.size())?;
        let mut made = Self { buffer, layout };
        fill(made.as_bytes_mut(), |bytes| {
            // Doubling what is filled copies ever longer stretches, whatever the element's size.
            let mut filled = element.len().min(bytes.len());
            bytes[..filled].copy_from_slice(&element[..filled]);
            while filled < bytes.len() {
                let more = filled.min(bytes.len() - filled).min(FILL);
                bytes.copy_within(..more, filled);
                filled += more;
            }
        });
        Ok(made)
    }
}

impl fmt::Debug for DynTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynTensor({}, {:?})", self.dtype(), self.shape())
    }
}

fn describe(layout: &Layout) -> String {
    format!(
        "a tensor of shape {:?} and dtype {}",
        layout.shape(),
        layout.dtype()
    )
}

/// An owned tensor of elements of type `T`: what the typed operators return.
pub struct Tensor<T> {
    inner: DynTensor,
    element: PhantomData<T>,
}

impl<T: Element> Tensor<T> {
    /// A tensor of zeros (false for bool).
    ///
    /// # Errors
    /// [`Problem::Memory`] if it does not fit.
    pub fn zeros(shape: &[usize]) -> Result<Self, Problem> {
        Ok(Self {
            inner: DynTensor::zeros(T::DTYPE, shape)?,
            element: PhantomData,
        })
    }

    /// The sizes of the axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.inner.shape()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.layout.len()
    }

    /// True if there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, row by row.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self.view().as_slice().unwrap_or_default()
    }

    /// The elements, row by row, as a vector. They are copied: a tensor's memory is aligned to 64
    /// bytes, and a vector's is not.
    ///
    /// ```
    /// # mod strew { pub use strew_kernel::tensor::*; }
    /// let zeros: Vec<u32> = strew::Tensor::zeros(&[1, 2])?.into_vec();
    /// assert_eq!(zeros, [0, 0]);
    /// # Ok::<(), strew_kernel::error::Problem>(())
    /// ```
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.as_slice().to_vec()
    }

    /// The elements, row by row, to change.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let len = self.inner.layout.len();
        // SAFETY: the buffer holds `len` initialised, aligned elements of type `T`, and the borrow
        // is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.inner.buffer.as_mut_ptr().cast(), len) }
    }

    /// The tensor to read.
    #[must_use]
    pub fn view(&self) -> TensorView<'_, T> {
        // SAFETY: a `Tensor<T>` holds elements of type `T`; for `bool` every byte is 0 or 1.
        unsafe { TensorView::from_checked(self.inner.view()) }
    }

    /// The tensor to write.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        // SAFETY: a `Tensor<T>` holds elements of type `T`; for `bool` every byte is 0 or 1.
        unsafe { TensorViewMut::from_checked(self.inner.view_mut()) }
    }

    /// The erased tensor.
    #[must_use]
    pub fn into_dyn(self) -> DynTensor {
        self.inner
    }
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({:?}, {:?})", self.shape(), self.as_slice())
    }
}

impl<T: Element> From<Tensor<T>> for Vec<T> {
    /// [`Tensor::into_vec`].
    fn from(tensor: Tensor<T>) -> Self {
        tensor.into_vec()
    }
}

impl<T: Element> PartialEq for Tensor<T> {
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape() && self.as_slice() == other.as_slice()
    }
}

/// The tensor with another shape, which must have as many elements.
pub fn shaped(tensor: DynTensor, shape: &[usize]) -> Result<DynTensor, Problem> {
    tensor.reshape(shape).map_err(|tensor| Problem::Layout {
        argument: "tensor".into(),
        why: format!("{:?} cannot be seen as {shape:?}", tensor.shape()),
    })
}

impl<'a, T: Element> From<&'a Tensor<T>> for TensorView<'a, T> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        tensor.view()
    }
}

impl<'a, T: Element> From<&'a mut Tensor<T>> for TensorViewMut<'a, T> {
    fn from(tensor: &'a mut Tensor<T>) -> Self {
        tensor.view_mut()
    }
}
