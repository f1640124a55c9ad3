//! Typed views: [`TensorView`] and [`TensorViewMut`], made from slices, arrays and tensors.
//!
//! # Unsafe
//!
//! - Buys: typed elements
//! - Measured: checks: V 0.97
//! - Holds: the dtype was compared, and for bool every byte

use crate::tensor::dtype::{DType, Element};
use crate::tensor::layout::Layout;
use crate::tensor::view::{DynView, DynViewMut};
use std::marker::PhantomData;
use std::ops::Deref;

/// A read-only n-d view of elements of type `T`.
///
/// References to slices, arrays, vectors, [`Tensor`](crate::tensor::Tensor)s and (feature
/// `ndarray`) `ndarray` arrays convert into it. An operator takes these as they are:
/// [`AsTensor`](crate::tensor::AsTensor).
#[derive(Clone, Debug)]
pub struct TensorView<'a, T> {
    view: DynView<'a>,
    element: PhantomData<&'a T>,
}

impl<'a, T: Element> TensorView<'a, T> {
    pub(super) fn from_dyn(view: DynView<'a>) -> Option<Self> {
        if view.dtype() != T::DTYPE || (T::DTYPE == DType::Bool && !view.holds_only_bools()) {
            return None;
        }
        // SAFETY: the dtype is `T`'s, and the bytes of a `bool` view were just checked.
        Some(unsafe { Self::from_checked(view) })
    }

    /// A typed view whose elements were checked before.
    ///
    /// # Safety
    /// The view's dtype must be `T`'s. For `bool` every byte must be 0 or 1.
    pub(super) unsafe fn from_checked(view: DynView<'a>) -> Self {
        Self {
            view,
            element: PhantomData,
        }
    }

    /// A slice seen with a shape, row by row.
    ///
    /// ```
    /// # use strew_kernel::tensor as strew;
    /// let matrix = strew::TensorView::from_slice(&[1, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
    /// assert_eq!(matrix.get(&[1, 0]), Some(4));
    /// ```
    ///
    /// `None` if the slice has another number of elements than the shape.
    #[must_use]
    pub fn from_slice(slice: &'a [T], shape: &[usize]) -> Option<Self> {
        let layout = Layout::contiguous(T::DTYPE, shape).ok()?;
        let fits = layout.len() == slice.len();
        // SAFETY: the layout is contiguous and has as many `T`s as the slice, borrowed for `'a`.
        fits.then(|| unsafe {
            Self::from_checked(DynView::from_borrowed(slice.as_ptr().cast(), layout))
        })
    }

    /// The element at a coordinate, if there is one.
    #[must_use]
    pub fn get(&self, coordinate: &[usize]) -> Option<T> {
        let offset = self.layout().offset(coordinate)?;
        // SAFETY: the coordinate is inside the shape, and the elements are valid `T`s.
        Some(unsafe { self.as_ptr().offset(offset).cast::<T>().read() })
    }

    /// The elements in row-major order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        let mut all = Vec::with_capacity(self.len());
        self.view.for_each_offset(|offset| {
            // SAFETY: `for_each_offset` gives offsets of elements only; they are valid `T`s.
            all.push(unsafe { self.as_ptr().offset(offset).cast::<T>().read() });
        });
        all
    }

    /// The erased view.
    #[must_use]
    pub fn into_dyn(self) -> DynView<'a> {
        self.view
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'a, T: Element> TensorView<'a, T> {
    /// The elements, if they lie one after the other, row by row.
    #[must_use]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if self.is_empty() {
            return Some(&[]);
        }
        let all = self.layout().is_contiguous();
        // SAFETY: the view has as many valid elements one after the other, borrowed for 'a.
        all.then(|| unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.len()) })
    }

    /// The erased view of what a typed function was given: it tells that a Rust program chose the
    /// element type.
    #[must_use]
    pub fn of_rust(self) -> DynView<'a> {
        self.view.with_type()
    }
}

impl<'a, T> Deref for TensorView<'a, T> {
    type Target = DynView<'a>;

    fn deref(&self) -> &DynView<'a> {
        &self.view
    }
}

/// A writable n-d view of elements of type `T`.
#[derive(Debug)]
pub struct TensorViewMut<'a, T> {
    view: DynViewMut<'a>,
    element: PhantomData<&'a mut T>,
}

impl<'a, T: Element> TensorViewMut<'a, T> {
    pub(super) fn from_dyn(view: DynViewMut<'a>) -> Option<Self> {
        let bools = T::DTYPE != DType::Bool || view.as_view().holds_only_bools();
        // SAFETY: the dtype is `T`'s, and the bytes of a `bool` view were just checked.
        (view.dtype() == T::DTYPE && bools).then(|| unsafe { Self::from_checked(view) })
    }

    /// A typed view whose elements were checked before.
    ///
    /// # Safety
    /// The view's dtype must be `T`'s. For `bool` every byte must be 0 or 1.
    pub(super) unsafe fn from_checked(view: DynViewMut<'a>) -> Self {
        Self {
            view,
            element: PhantomData,
        }
    }

    /// A slice seen with a shape, row by row; `None` if the number of elements differs.
    #[must_use]
    pub fn from_slice(slice: &'a mut [T], shape: &[usize]) -> Option<Self> {
        let layout = Layout::contiguous(T::DTYPE, shape).ok()?;
        // SAFETY: the layout is contiguous and has as many `T`s as the slice, borrowed mutably for
        // `'a`.
        (layout.len() == slice.len()).then(|| unsafe {
            Self::from_checked(DynViewMut::from_borrowed(slice.as_mut_ptr().cast(), layout))
        })
    }

    /// The erased view. One of `bool`s takes only bytes that are 0 or 1.
    #[must_use]
    pub fn into_dyn(self) -> DynViewMut<'a> {
        match T::DTYPE {
            DType::Bool => self.view.with_only_bools(),
            _ => self.view,
        }
    }
}

impl<'a, T> Deref for TensorViewMut<'a, T> {
    type Target = DynViewMut<'a>;

    fn deref(&self) -> &DynViewMut<'a> {
        &self.view
    }
}

impl<'a, T: Element> From<&'a [T]> for TensorView<'a, T> {
    fn from(slice: &'a [T]) -> Self {
        Self::from_slice(slice, &[slice.len()]).expect("a slice fits the address space")
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for TensorView<'a, T> {
    fn from(array: &'a [T; N]) -> Self {
        array.as_slice().into()
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for TensorView<'a, T> {
    fn from(vec: &'a Vec<T>) -> Self {
        vec.as_slice().into()
    }
}

impl<'a, T: Element> From<&'a Box<[T]>> for TensorView<'a, T> {
    fn from(slice: &'a Box<[T]>) -> Self {
        (&**slice).into()
    }
}

impl<'a, T: Element, const M: usize> From<&'a [[T; M]]> for TensorView<'a, T> {
    fn from(rows: &'a [[T; M]]) -> Self {
        Self::from_slice(rows.as_flattened(), &[rows.len(), M])
            .expect("a slice fits the address space")
    }
}

impl<'a, T: Element, const M: usize, const N: usize> From<&'a [[T; M]; N]> for TensorView<'a, T> {
    fn from(rows: &'a [[T; M]; N]) -> Self {
        rows.as_slice().into()
    }
}

impl<'a, T: Element, const M: usize> From<&'a Vec<[T; M]>> for TensorView<'a, T> {
    fn from(rows: &'a Vec<[T; M]>) -> Self {
        rows.as_slice().into()
    }
}

impl<'a, T: Element> From<&TensorView<'a, T>> for TensorView<'a, T> {
    fn from(view: &TensorView<'a, T>) -> Self {
        view.clone()
    }
}

impl<'a, T: Element> From<&'a mut [T]> for TensorViewMut<'a, T> {
    fn from(slice: &'a mut [T]) -> Self {
        let len = slice.len();
        Self::from_slice(slice, &[len]).expect("a slice fits the address space")
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for TensorViewMut<'a, T> {
    fn from(array: &'a mut [T; N]) -> Self {
        array.as_mut_slice().into()
    }
}

impl<'a, T: Element> From<&'a mut Vec<T>> for TensorViewMut<'a, T> {
    fn from(vec: &'a mut Vec<T>) -> Self {
        vec.as_mut_slice().into()
    }
}

impl<'a, T: Element> From<&'a mut Box<[T]>> for TensorViewMut<'a, T> {
    fn from(slice: &'a mut Box<[T]>) -> Self {
        (&mut **slice).into()
    }
}

impl<'a, T: Element, const M: usize> From<&'a mut [[T; M]]> for TensorViewMut<'a, T> {
    fn from(rows: &'a mut [[T; M]]) -> Self {
        let shape = [rows.len(), M];
        Self::from_slice(rows.as_flattened_mut(), &shape).expect("a slice fits the address space")
    }
}

impl<'a, T: Element, const M: usize, const N: usize> From<&'a mut [[T; M]; N]>
    for TensorViewMut<'a, T>
{
    fn from(rows: &'a mut [[T; M]; N]) -> Self {
        rows.as_mut_slice().into()
    }
}

impl<'a, T: Element, const M: usize> From<&'a mut Vec<[T; M]>> for TensorViewMut<'a, T> {
    fn from(rows: &'a mut Vec<[T; M]>) -> Self {
        rows.as_mut_slice().into()
    }
}

impl<'a> DynView<'a> {
    /// The typed view, if the elements are of type `T`. For `bool` every byte must be 0 or 1.
    #[must_use]
    pub fn typed<T: Element>(&self) -> Option<TensorView<'a, T>> {
        TensorView::from_dyn(self.clone())
    }
}

impl<'a> DynViewMut<'a> {
    /// The typed view, if the elements are of type `T`. For `bool` every byte must be 0 or 1.
    #[must_use]
    pub fn typed<T: Element>(self) -> Option<TensorViewMut<'a, T>> {
        TensorViewMut::from_dyn(self)
    }
}
