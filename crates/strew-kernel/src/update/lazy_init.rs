//! A new destination that a run initialises piece by piece, while each piece is in a cache.
//!
//! `begin` writes the start values of a byte range before the range's updates join, and `end`
//! replaces the cells that still hold the sentinel. A separate pass over the destination would
//! write it to memory and read it back.
//!
//! # Unsafe
//!
//! - Buys: a result initialised piece by piece, in a cache
//! - Measured: checks: those of `bucket/mod.rs`; its own are once per MiB
//! - Holds: ranges of whole elements that no other thread has

use crate::ops::identity::Bits;
use crate::ops::sentinel::Unset;
use crate::tensor::{DynView, Layout};
use crate::update::untouched::{adopt_stretch, any_negative_zero};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// The start values of a contiguous destination's cells, and the end values of untouched cells.
pub struct LazyInit<'f> {
    layout: &'f Layout,
    start: Start<'f>,
    /// Some cells still held the sentinel in the end.
    unset: AtomicBool,
    /// Some update was -0.0.
    negative_zero: AtomicBool,
}

enum Start<'f> {
    /// Zero bytes.
    Zeros,
    /// The elements of an input.
    Input(&'f DynView<'f>),
    /// The sentinel. Cells that still hold it in the end take an input's elements.
    Unset(Bits, Unset, &'f DynView<'f>),
}

impl<'f> LazyInit<'f> {
    /// A destination of zeros.
    pub fn zeros(layout: &'f Layout) -> Self {
        Self::new(layout, Start::Zeros)
    }

    /// A copy of an input; `None` if the layouts differ.
    pub fn copy(layout: &'f Layout, input: &'f DynView<'f>) -> Option<Self> {
        let alike = input.layout() == layout;
        alike.then(|| Self::new(layout, Start::Input(input)))
    }

    /// A destination of sentinels. Untouched cells take the elements of an input in the end. `None`
    /// if the layouts differ, or the type has no sentinel.
    pub fn unset(layout: &'f Layout, unset: Unset, input: &'f DynView<'f>) -> Option<Self> {
        let value = unset.value(layout.dtype())?;
        let alike = input.layout() == layout;
        alike.then(|| Self::new(layout, Start::Unset(value, unset, input)))
    }

    fn new(layout: &'f Layout, start: Start<'f>) -> Self {
        Self {
            layout,
            start,
            unset: AtomicBool::new(false),
            negative_zero: AtomicBool::new(false),
        }
    }

    /// Whether untouched cells were told apart with certainty. An update of -0.0 looks like the
    /// sentinel.
    pub fn certain(self) -> bool {
        !(self.unset.into_inner() && self.negative_zero.into_inner())
    }

    /// Looks for -0.0 among updates, which a sentinel in the end might come from.
    ///
    /// # Safety
    /// `count` elements of the destination's type at `updates` must be aligned and valid for
    /// reading.
    pub(crate) unsafe fn look(&self, updates: *const u8, count: usize) {
        let dtype = self.layout.dtype();
        let told = matches!(self.start, Start::Unset(_, Unset::NegativeZero, _));
        // SAFETY: the caller promises `count` readable elements of the destination's type.
        if told && unsafe { any_negative_zero(updates, count, dtype) } {
            self.negative_zero.store(true, Ordering::Relaxed);
        }
    }

    /// The size in bytes of the destination, whose layout is `dst`.
    ///
    /// # Panics
    /// If the layout is another one, or not contiguous.
    pub(crate) fn bytes(&self, dst: &Layout) -> usize {
        assert!(dst == self.layout && dst.is_contiguous());
        dst.len() * dst.dtype().size()
    }

    /// Sets a range of bytes to their start values.
    ///
    /// # Safety
    /// `dst` must point to a destination of [`bytes`](Self::bytes) bytes. The range must lie inside
    /// it and consist of whole elements. No one else may use those bytes meanwhile.
    pub(crate) unsafe fn begin(&self, dst: *mut u8, range: &Range<usize>) {
        let (from, len) = (range.start, range.len());
        // SAFETY: the caller promises the range. An input has as many bytes, and is apart from a
        // new destination.
        unsafe {
            let dst = dst.add(from);
            match &self.start {
                Start::Zeros => dst.write_bytes(0, len),
                Start::Input(input) => dst.copy_from_nonoverlapping(input.as_ptr().add(from), len),
                Start::Unset(value, ..) => match self.layout.dtype().size() {
                    4 => fill(dst.cast(), len / 4, value.first_chunk::<4>()),
                    _ => fill(dst.cast(), len / 8, value.first_chunk::<8>()),
                },
            }
        }
    }

    /// Replaces the cells of a range that still hold the sentinel.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin).
    pub(crate) unsafe fn end(&self, dst: *mut u8, range: &Range<usize>) {
        let Start::Unset(_, unset, input) = &self.start else {
            return;
        };
        let (from, dtype) = (range.start, self.layout.dtype());
        // SAFETY: the caller promises the range. An input has as many bytes, and is apart from a
        // new destination.
        let found = unsafe {
            let len = range.len() / dtype.size();
            adopt_stretch(dst.add(from), input.as_ptr().add(from), len, dtype, *unset)
        };
        if found {
            self.unset.store(true, Ordering::Relaxed);
        }
    }
}

/// Sets `count` elements to one value.
///
/// # Safety
/// `count` elements at `to` must be valid for writing, and no one else may use them meanwhile.
unsafe fn fill<const SIZE: usize>(to: *mut [u8; SIZE], count: usize, element: Option<&[u8; SIZE]>) {
    let element = element.expect("an element has no more than 16 bytes");
    // SAFETY: the caller promises `count` writable elements; byte arrays need no alignment.
    unsafe { std::slice::from_raw_parts_mut(to, count) }.fill(*element);
}
