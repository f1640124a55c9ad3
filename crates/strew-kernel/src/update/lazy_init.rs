//! A new destination that a run initialises piece by piece, while each piece is in a cache.
//!
//! `begin` writes the start values of a byte range before the range's updates join, and `end`
//! replaces the cells that still hold the sentinel. A separate pass over the destination would
//! write it to memory and read it back.

use crate::ops::identity::Bits;
use crate::ops::sentinel::Unset;
use crate::tensor::{DynView, Layout};
use crate::update::untouched::{adopt_stretch, any_negative_zero};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the cells of a destination without gaps start from, and how they end.
pub struct LazyInit<'f> {
    layout: &'f Layout,
    start: Start<'f>,
    /// Some cells were unset in the end.
    unset: AtomicBool,
    /// Some update was -0.0.
    negative_zero: AtomicBool,
}

enum Start<'f> {
    /// Bytes, all alike.
    Zeros,
    /// The elements of an input.
    Input(&'f DynView<'f>),
    /// This; those that are still unset in the end take an input's.
    Unset(Bits, Unset, &'f DynView<'f>),
}

impl<'f> LazyInit<'f> {
    /// Zeros.
    pub fn zeros(layout: &'f Layout) -> Self {
        Self::new(layout, Start::Zeros)
    }

    /// The elements of an input; `None` if they are not laid out alike.
    pub fn copy(layout: &'f Layout, input: &'f DynView<'f>) -> Option<Self> {
        let alike = input.layout() == layout;
        alike.then(|| Self::new(layout, Start::Input(input)))
    }

    /// Unset cells, that are given the elements of an input in the end; `None` if they are not laid
    /// out alike, or of a type that has no unset value.
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

    /// Whether cells that no update has reached were told from the others with certainty.
    pub fn certain(self) -> bool {
        !(self.unset.into_inner() && self.negative_zero.into_inner())
    }

    /// Looks at updates, so that it is known in the end what unset cells mean.
    ///
    /// # Safety
    /// So many elements of the destination's type must be valid for reading.
    pub(crate) unsafe fn look(&self, updates: *const u8, count: usize) {
        let dtype = self.layout.dtype();
        let told = matches!(self.start, Start::Unset(_, Unset::NegativeZero, _));
        // SAFETY: the caller's promise.
        if told && unsafe { any_negative_zero(updates, count, dtype) } {
            self.negative_zero.store(true, Ordering::Relaxed);
        }
    }

    /// The bytes of the destination, which is laid out like this.
    ///
    /// # Panics
    /// If it is not.
    pub(crate) fn bytes(&self, dst: &Layout) -> usize {
        assert!(dst == self.layout && dst.is_contiguous());
        dst.len() * dst.dtype().size()
    }

    /// Sets some bytes to what they start from.
    ///
    /// # Safety
    /// `dst` must be a destination with these [`bytes`](Self::bytes), and nobody else may be at
    /// those in the range, which are whole elements.
    pub(crate) unsafe fn begin(&self, dst: *mut u8, range: &Range<usize>) {
        let (from, len) = (range.start, range.len());
        // SAFETY: the caller's promise; an input has as many bytes, and is apart from a new
        // destination.
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

    /// Gives those that are still unset what they end as.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin).
    pub(crate) unsafe fn end(&self, dst: *mut u8, range: &Range<usize>) {
        let Start::Unset(_, unset, input) = &self.start else {
            return;
        };
        let (from, dtype) = (range.start, self.layout.dtype());
        // SAFETY: the caller's promise; an input has as many bytes, and is apart from a new
        // destination.
        let found = unsafe {
            let sides = (dst.add(from), input.as_ptr().add(from));
            adopt_stretch(sides, range.len() / dtype.size(), dtype, *unset)
        };
        if found {
            self.unset.store(true, Ordering::Relaxed);
        }
    }
}

/// # Safety
/// So many elements must be valid for writing.
unsafe fn fill<const SIZE: usize>(to: *mut [u8; SIZE], count: usize, element: Option<&[u8; SIZE]>) {
    let element = element.expect("an element has no more than 16 bytes");
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(to, count) }.fill(*element);
}
