//! Makes contiguous copies of strided views, and copies rows past the caches.
//!
//! ```text
//! merge neighbouring axes that lie one after the other
//! cut the first axis into one stretch per thread
//! on each thread: copy the stretch with the loop for this element size
//! ```
//!
//! Cost: each byte is read once and written once. Each thread gets at least `STRETCH` bytes. A
//! small contiguous view is one `memcpy`. It relies on the view's layout, which proves that its
//! elements lie inside its memory.
//!
//! # Unsafe
//!
//! - Buys: strided copies that bypass the caches
//! - Measured: checks: W4 1.04, W5a 1.08, T 0.90; through the caches: W4 1.50
//! - Holds: stretches of a view's own layout, which do not overlap, into memory of that size

use crate::cpu::nontemporal::{fence, write_past_caches};
use crate::error::Problem;
use crate::rows::copy_loop::copy_loop;
use crate::rows::row_pairs::Rows;
use crate::runtime::machine::{L3, WAKE};
use crate::runtime::threads::{available, share};
use crate::tensor::{DynTensor, DynView, Layout, joined};
use crate::walk::offsets::{At, Dim, Dims, PrefetchHints};
use smallvec::SmallVec;

/// Axes of a layout as (length, step), those of length 1 left out and neighbours that lie one
/// after the other made one.
pub(crate) fn whole(layout: &Layout) -> SmallVec<[(usize, isize); 4]> {
    let axes = layout.shape().iter().zip(layout.strides());
    let axes = joined(axes.map(|(&len, &step)| (len, [step])));
    axes.into_iter().map(|(len, [step])| (len, step)).collect()
}

/// Some axes of two layouts that have them in common, the same ones made one.
pub(crate) fn window(left: &Layout, right: &Layout, axes: impl Iterator<Item = usize>) -> Dims {
    let (shape, lefts, rights) = (left.shape(), left.strides(), right.strides());
    let axes = joined(axes.map(|k| (shape[k], [lefts[k], rights[k]])));
    axes.into_iter()
        .map(|(len, [left, right])| Dim { len, left, right })
        .collect()
}

/// Bytes of a copy that justify one more thread.
pub(crate) const STRETCH: usize = 4 * WAKE;

/// A contiguous copy of a view, made by as many threads as a run may have.
pub fn duplicate(view: &DynView<'_>) -> Result<DynTensor, Problem> {
    let size = view.dtype().size();
    let write = |to: *mut u8| {
        let bytes = view.len() * size;
        if bytes < STRETCH && view.layout().is_contiguous() {
            // SAFETY: the view's elements lie one after the other, or there are none; the new
            // memory has as many bytes.
            return unsafe { to.copy_from_nonoverlapping(view.as_ptr(), bytes) };
        }
        if view.is_empty() {
            return;
        }
        let copy = copy_loop(view.dtype());
        let window = packed(&whole(view.layout()), size);
        let threads = available().min(bytes / STRETCH).max(1);
        let stretches = stretches(&window, threads).map(|(window, left, right)| Stretch {
            to: to.wrapping_offset(left),
            from: view.as_ptr().wrapping_offset(right),
            window,
        });
        share(threads, stretches, |stretch: Stretch| {
            let rows = Rows {
                left: stretch.to,
                left_at: &[0],
                right: stretch.from,
                right_at: At::Steps(0, 0),
                window: &stretch.window,
                ahead: PrefetchHints::NONE,
            };
            // SAFETY: the stretches together cover the view on the right, and on the left the new
            // memory, which has as many elements of the same type; no two share any.
            unsafe { copy(&rows) };
        });
    };
    // SAFETY: `write` writes each of the view's elements, and so every byte.
    unsafe { DynTensor::written_by(view.dtype(), view.shape(), write) }
}

/// Some of the elements of a copy.
struct Stretch {
    to: *mut u8,
    from: *const u8,
    window: Dims,
}

// SAFETY: no two stretches write the same bytes, and the view that they read is borrowed shared.
unsafe impl Send for Stretch {}

/// The axes of a view on the right, and elements of this size without gaps on the left.
pub(crate) fn packed(axes: &[(usize, isize)], size: usize) -> Dims {
    let mut left = size.cast_signed();
    let mut window = Dims::new();
    for &(len, right) in axes.iter().rev() {
        window.push(Dim { len, left, right });
        left = left.wrapping_mul(len.cast_signed());
    }
    window.reverse();
    window
}

/// The window cut into stretches along its first axis, with where each begins on both sides.
pub(crate) fn stretches(window: &Dims, count: usize) -> impl Iterator<Item = (Dims, isize, isize)> {
    let len = window.first().map_or(1, |dim| dim.len);
    let count = count.min(len);
    (0..count).map(move |n| {
        let (from, to) = (n * len / count, (n + 1) * len / count);
        let mut window = window.clone();
        let moved = window.first_mut().map_or((0, 0), |dim| {
            dim.len = to - from;
            let from = from.cast_signed();
            (from * dim.left, from * dim.right)
        });
        (window, moved.0, moved.1)
    })
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

/// Outputs of at least this many bytes do not stay in a cache.
pub const LARGE: usize = L3;

/// Whether rows are [copied past the caches](copy_rows_past_caches). True if each row is whole
/// lines without gaps, and the rows together are too many bytes for a cache.
pub(crate) fn past_caches(window: &[Dim], size: usize, bytes: usize) -> bool {
    let dense = size.cast_signed();
    bytes >= LARGE
        && matches!(*window, [dim] if (dim.left, dim.right) == (dense, dense)
            && (dim.len * size).is_multiple_of(64))
}

/// Copies rows, each one piece of whole cache lines, past the caches where they begin with a line.
///
/// # Safety
/// The conditions of [`Loop`](crate::rows::row_pairs::Loop). The window must be one axis without
/// gaps of a multiple of 64 bytes, and both sides must have the same type.
pub(crate) unsafe fn copy_rows_past_caches(rows: &Rows<'_>) {
    let [dim] = *rows.window else {
        unreachable!("rows of one piece");
    };
    let bytes = dim.len * dim.left.cast_unsigned();
    let prefetcher = rows.prefetcher_right(bytes);
    for (i, &at) in rows.left_at.iter().enumerate() {
        prefetcher.prefetch(i);
        if i % 8 == 0 {
            rows.ahead.prefetch_all(i);
        }
        // SAFETY: the caller promises that both rows have `bytes` bytes and do not overlap. A row
        // is streamed only if it begins on a line, and it is whole lines.
        unsafe {
            let (from, to) = (
                rows.right.offset(rows.right_at.get(i)),
                rows.left.offset(at),
            );
            match to.addr().is_multiple_of(64) {
                true => write_past_caches(from, to, bytes),
                false => to.copy_from_nonoverlapping(from, bytes),
            }
        }
    }
    fence();
}
