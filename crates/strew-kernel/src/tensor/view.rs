//! Erased views: an element type that is known at run time, a shape, strides and a pointer.
//!
//! The command line and Python pass them, and the engine works on them. [`DynView::from_raw_parts`]
//! and [`DynViewMut::from_raw_parts`] are the only ways in for memory that the caller describes.
//!
//! # Unsafe
//!
//! - Buys: memory that the caller describes
//! - Measured: a copy of the source: W2a 1.80; one thread instead of two: W2a 1.07, W1c 1.96, W3b
//!   1.92
//! - Holds: the caller's promise; plain bytes may be shared by threads

use crate::error::Problem;
use crate::tensor::dtype::DType;
use crate::tensor::layout::{Dims, Layout};
use std::marker::PhantomData;

/// A read-only n-d view of memory whose element type is known at run time.
///
/// Any stride is fine: transposed, broadcast (0), negative. The memory may be changed by others
/// while the view lives; what is read is then unspecified, and nothing outside is touched.
// Only this file makes views. It keeps that every byte that `layout` reaches from `ptr` may be read
// for `'a`, and that `ptr` is aligned for elements, if there are any.
#[derive(Clone, Debug)]
pub struct DynView<'a> {
    ptr: *const u8,
    layout: Layout,
    /// It was given to a typed function.
    typed: bool,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: a view only reads plain bytes for as long as they are borrowed, like `&[u8]`.
unsafe impl Send for DynView<'_> {}

// SAFETY: no method of a shared view writes, so threads only read plain bytes.
unsafe impl Sync for DynView<'_> {}

impl<'a> DynView<'a> {
    /// A view of memory that the caller describes.
    ///
    /// `ptr` points at the element whose coordinates are all zero.
    ///
    /// # Safety
    /// Every byte that `layout` reaches from `ptr` must be readable for `'a`.
    ///
    /// # Errors
    /// [`Problem::Layout`] if `ptr` is null or misaligned while there are elements.
    #[inline]
    pub unsafe fn from_raw_parts(ptr: *const u8, layout: Layout) -> Result<Self, Problem> {
        let ptr = checked_pointer(ptr, &layout)?;
        Ok(Self {
            ptr,
            layout,
            typed: false,
            memory: PhantomData,
        })
    }

    /// A view whose pointer was checked before.
    ///
    /// # Safety
    /// Every byte that `layout` reaches from `ptr` must be readable for `'a`. If there are
    /// elements, `ptr` must be aligned for them.
    pub(super) unsafe fn from_borrowed(ptr: *const u8, layout: Layout) -> Self {
        Self {
            ptr,
            layout,
            typed: false,
            memory: PhantomData,
        }
    }

    /// The same memory, of which the compiler knew the element type.
    pub(super) fn with_type(self) -> Self {
        Self {
            typed: true,
            ..self
        }
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

    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// True if there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Points at the element whose coordinates are all zero.
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        self.ptr
    }

    /// A view of some of this view's elements, `moved` bytes from its origin.
    ///
    /// Private: [`Layout`]'s transformations give layouts whose elements are all elements of the
    /// original, or as large ones in their places, and every caller in this file passes one of theirs, or a layout of as many
    /// elements over a contiguous view.
    fn with_layout(&self, moved: isize, layout: Layout) -> Self {
        Self {
            ptr: self.ptr.wrapping_offset(moved),
            layout,
            ..*self
        }
    }

    /// The view with axes of size 1, and new leading axes, repeated to `shape`.
    #[must_use]
    pub fn broadcast_to(&self, shape: &[usize]) -> Option<Self> {
        Some(self.with_layout(0, self.layout.broadcast_to(shape)?))
    }

    /// The view with its axes in another order.
    #[must_use]
    pub fn permute(&self, order: &[usize]) -> Option<Self> {
        Some(self.with_layout(0, self.layout.permute(order)?))
    }

    /// The part `start..start + len` along an axis.
    #[must_use]
    pub fn narrow(&self, axis: usize, start: usize, len: usize) -> Option<Self> {
        let (layout, moved) = self.layout.narrow(axis, start, len)?;
        Some(self.with_layout(moved, layout))
    }

    /// The leading corner of the given shape; `None` if it is larger than the view.
    #[must_use]
    pub fn corner(&self, shape: &[usize]) -> Option<Self> {
        Some(self.with_layout(0, self.layout.corner(shape)?))
    }

    /// One coordinate of an axis, without that axis.
    #[must_use]
    pub fn select(&self, axis: usize, at: usize) -> Option<Self> {
        let (layout, moved) = self.layout.select(axis, at)?;
        Some(self.with_layout(moved, layout))
    }

    /// All elements along one axis, in row-major order, if each is as far from the next.
    #[must_use]
    pub fn flat(&self) -> Option<Self> {
        Some(self.with_layout(0, self.layout.flat()?))
    }

    /// A 1-d view with its elements, row by row, as those of another shape; `None` if it is not 1-d
    /// or has another number of them.
    #[must_use]
    pub fn unflat(&self, shape: &[usize]) -> Option<Self> {
        Some(self.with_layout(0, self.layout.unflat(shape)?))
    }

    /// With a new axis of size 1 in front of axis `at`, or behind the last.
    #[must_use]
    pub fn insert_axis(&self, at: usize) -> Self {
        self.with_layout(0, self.layout.insert_axis(at))
    }

    /// A 0-d view as one of shape `[1]`; others as they are.
    #[must_use]
    pub fn at_least_1d(&self) -> Self {
        if self.rank() == 0 {
            self.insert_axis(0)
        } else {
            self.clone()
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'a> DynView<'a> {
    /// A view without elements, of shape `[0]`.
    pub fn nothing(dtype: DType) -> Self {
        Self {
            ptr: std::ptr::without_provenance(dtype.align()),
            // It reaches no byte.
            layout: Layout::contiguous(dtype, &[0]).expect("no element always fits"),
            typed: false,
            memory: PhantomData,
        }
    }

    /// True if the view was given to a typed function, and so are its parts: a Rust program chose
    /// the element type, and no array or file.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        self.typed
    }

    /// The same elements with another shape, if they lie in row-major order without gaps and are as
    /// many.
    #[must_use]
    pub fn reshape(&self, shape: &[usize]) -> Option<Self> {
        let layout = Layout::contiguous(self.dtype(), shape).ok()?;
        let same = self.layout.is_contiguous() && layout.len() == self.len();
        same.then(|| self.with_layout(0, layout))
    }

    /// The elements `start`, `start + step`, ..., `count` of them, along an axis.
    #[must_use]
    pub fn slice(&self, axis: usize, start: usize, step: isize, count: usize) -> Option<Self> {
        let (layout, moved) = self.layout.slice(axis, start, step, count)?;
        Some(self.with_layout(moved, layout))
    }

    /// A `uint64` view as one of `int64`: values beyond `int64` are negative there. Others as they
    /// are.
    #[must_use]
    pub fn as_signed(&self) -> Self {
        match self.dtype() {
            // Both types have 8 bytes and the same alignment, and any bytes are values of both.
            DType::U64 => self.with_layout(0, self.layout.with_dtype(DType::I64)),
            _ => self.clone(),
        }
    }
}

/// A writable n-d view of memory whose element type is known at run time.
// As for `DynView`; the bytes may be written too.
#[derive(Debug)]
pub struct DynViewMut<'a> {
    ptr: *mut u8,
    layout: Layout,
    /// The memory is Rust's `bool`, whose bytes must stay 0 or 1.
    only_bools: bool,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: like `&mut [u8]`: plain bytes, and the view has them to itself.
unsafe impl Send for DynViewMut<'_> {}

// SAFETY: through a shared reference a view only reads plain bytes.
unsafe impl Sync for DynViewMut<'_> {}

impl<'a> DynViewMut<'a> {
    /// A writable view of memory that the caller describes.
    ///
    /// `ptr` points at the element whose coordinates are all zero.
    ///
    /// # Safety
    /// Every byte that `layout` reaches from `ptr` must be readable and writable for `'a`.
    /// Elements may overlap each other or an input: the engine finds out and refuses.
    ///
    /// # Errors
    /// [`Problem::Layout`] if `ptr` is null or misaligned while there are elements.
    #[inline]
    pub unsafe fn from_raw_parts(ptr: *mut u8, layout: Layout) -> Result<Self, Problem> {
        let ptr = checked_pointer(ptr, &layout)?.cast_mut();
        // SAFETY: the caller's promise. The pointer was just checked.
        Ok(unsafe { Self::from_borrowed(ptr, layout) })
    }

    /// A writable view whose pointer was checked before.
    ///
    /// # Safety
    /// Every byte that `layout` reaches from `ptr` must be readable and writable for `'a`. If there
    /// are elements, `ptr` must be aligned for them.
    pub(super) unsafe fn from_borrowed(ptr: *mut u8, layout: Layout) -> Self {
        Self {
            ptr,
            layout,
            only_bools: false,
            memory: PhantomData,
        }
    }

    /// The same memory, which is Rust's `bool`.
    pub(super) fn with_only_bools(self) -> Self {
        Self {
            only_bools: true,
            ..self
        }
    }

    /// Whether the source's elements may be copied here. Only Rust's `bool`s refuse some: bytes
    /// that are neither 0 nor 1.
    pub(super) fn may_hold(&self, src: &DynView<'_>) -> bool {
        !self.only_bools || src.dtype() != DType::Bool || src.holds_only_bools()
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

    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// True if there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Points at the element whose coordinates are all zero.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr
    }

    /// The same memory, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> DynViewMut<'_> {
        DynViewMut {
            layout: self.layout.clone(),
            ..*self
        }
    }

    /// The parts before and from coordinate `at` of an axis on; `None` if there is no such place.
    ///
    /// The two have no element in common, as long as the view does not overlap itself.
    #[must_use]
    pub fn split_at(self, axis: usize, at: usize) -> Option<(Self, Self)> {
        let size = *self.shape().get(axis)?;
        let (left, _) = self.layout.narrow(axis, 0, at)?;
        let (right, moved) = self.layout.narrow(axis, at, size.checked_sub(at)?)?;
        // `self` is consumed, so only the two parts remain.
        let ptr = self.ptr.wrapping_offset(moved);
        let right = Self {
            ptr,
            layout: right,
            ..self
        };
        let left = Self {
            layout: left,
            ..self
        };
        Some((left, right))
    }

    /// The same memory, to read.
    #[must_use]
    pub fn as_view(&self) -> DynView<'_> {
        // `self` is borrowed for as long, so nothing writes.
        DynView {
            ptr: self.ptr,
            layout: self.layout.clone(),
            typed: false,
            memory: PhantomData,
        }
    }

    /// The same memory, from now on only to read.
    #[must_use]
    pub fn into_view(self) -> DynView<'a> {
        // `self` is consumed, so nothing writes any more.
        DynView {
            ptr: self.ptr,
            layout: self.layout,
            typed: false,
            memory: PhantomData,
        }
    }

    /// A 0-d view as one of shape `[1]`; others as they are.
    #[must_use]
    pub fn at_least_1d(self) -> Self {
        match self.rank() {
            0 => Self {
                layout: self.layout.insert_axis(0),
                ..self
            },
            _ => self,
        }
    }

    /// All elements along one axis, in row-major order, if each is as far from the next.
    ///
    /// # Errors
    /// Gives the view back unchanged.
    #[allow(clippy::result_large_err)] // It is the view itself, given back.
    pub fn flat(self) -> Result<Self, Self> {
        match self.layout.flat() {
            Some(layout) => Ok(Self { layout, ..self }),
            None => Err(self),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'a> DynViewMut<'a> {
    /// A view without elements, of shape `[0]`.
    pub fn nothing(dtype: DType) -> Self {
        let DynView { ptr, layout, .. } = DynView::nothing(dtype);
        Self {
            ptr: ptr.cast_mut(),
            layout,
            only_bools: false,
            memory: PhantomData,
        }
    }

    /// The same elements with another shape, if they lie in row-major order without gaps and are as
    /// many.
    #[must_use]
    pub fn reshape(self, shape: &[usize]) -> Option<Self> {
        let layout = Layout::contiguous(self.dtype(), shape).ok()?;
        // As many elements without gaps occupy the same bytes.
        let same = self.layout.is_contiguous() && layout.len() == self.len();
        same.then_some(Self { layout, ..self })
    }
}

/// A pointer that may be dereferenced for the elements of the layout, as far as one can check.
fn checked_pointer(ptr: *const u8, layout: &Layout) -> Result<*const u8, Problem> {
    layout.check_pointer(ptr)?;
    // Without elements nothing is ever read, so any pointer will do; this one is not null and is
    // aligned.
    let nowhere = std::ptr::without_provenance(layout.dtype().align());
    Ok(if layout.is_empty() { nowhere } else { ptr })
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl DynView<'_> {
    pub fn dims(&self) -> Dims {
        Dims::from_slice(self.shape())
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl DynViewMut<'_> {
    pub fn dims(&self) -> Dims {
        Dims::from_slice(self.shape())
    }
}
