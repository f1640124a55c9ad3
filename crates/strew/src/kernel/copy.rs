//! Copies of strided views.

use super::loops::copy_loop;
use super::rows::{Ahead, At, Dim, Dims, Rows};
use crate::error::Problem;
use crate::tensor::{DynTensor, DynView, Layout};
use smallvec::SmallVec;

/// Axes of a layout as (length, step), those of length 1 left out and neighbours that lie one
/// after the other made one.
pub(super) fn whole(layout: &Layout) -> SmallVec<[(usize, isize); 4]> {
    let mut axes: SmallVec<[(usize, isize); 4]> = SmallVec::new();
    for (&len, &step) in layout.shape().iter().zip(layout.strides()) {
        if len == 1 {
            continue;
        }
        match axes.last_mut() {
            Some(last) if step.checked_mul(len.cast_signed()) == Some(last.1) => {
                *last = (last.0.saturating_mul(len), step);
            }
            _ => axes.push((len, step)),
        }
    }
    axes
}

/// A contiguous copy of a view.
pub(crate) fn duplicate(view: &DynView<'_>) -> Result<DynTensor, Problem> {
    let size = view.dtype().size();
    let bytes = view.len().saturating_mul(size);
    let contiguous = view.layout().is_contiguous();
    let write = |to: *mut u8| {
        if view.is_empty() {
            return;
        }
        if contiguous {
            // SAFETY: a contiguous view is `bytes` readable bytes, and the new memory, as long,
            // overlaps nothing.
            unsafe { to.copy_from_nonoverlapping(view.as_ptr(), bytes) };
            return;
        }
        let axes = whole(view.layout());
        let mut window: Dims = axes
            .iter()
            .map(|&(len, step)| Dim {
                len,
                left: 0,
                right: step,
            })
            .collect();
        let mut step = size.cast_signed();
        for dim in window.iter_mut().rev() {
            dim.left = step;
            step = step.wrapping_mul(dim.len.cast_signed());
        }
        let rows = Rows {
            left: to,
            left_at: &[0],
            right: view.as_ptr(),
            right_at: At::Steps(0, 0),
            window: &window,
            ahead: Ahead::NONE,
        };
        // SAFETY: the window covers the view on the right, and on the left the new memory, which
        // has as many elements of the same type.
        unsafe { copy_loop(view.dtype())(&rows) };
    };
    // SAFETY: `write` writes each of the view's elements, and so every byte.
    unsafe { DynTensor::written_by(view.dtype(), view.shape(), write) }
}

impl DynView<'_> {
    /// A contiguous copy.
    ///
    /// # Errors
    /// [`Problem::Memory`] if it does not fit.
    pub fn to_tensor(&self) -> Result<DynTensor, Problem> {
        duplicate(self)
    }
}

/// Copies without fetching what is there before, and without keeping it close.
///
/// # Safety
/// As for a copy of `bytes` bytes, a multiple of 16; both sides aligned to 16.
pub(super) unsafe fn write_past_caches(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(16) {
        use std::arch::x86_64::{_mm_load_si128, _mm_stream_si128};
        // SAFETY: the caller's promise; every x86-64 has SSE2.
        unsafe { _mm_stream_si128(to.add(at).cast(), _mm_load_si128(from.add(at).cast())) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's promise.
    unsafe {
        to.copy_from_nonoverlapping(from, bytes);
    }
}

/// What was written past the caches is there for other threads.
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
