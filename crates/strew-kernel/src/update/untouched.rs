//! Sentinel values that mark untouched cells.
//!
//! Where only the updates count (`include_self=False`), a sum must know whether an update is a
//! cell's first. A new tensor filled with a sentinel tells: a cell that still holds it was not
//! touched. In the end, untouched cells take the elements of the input. Cost: one pass over the
//! destination in the end, and no bitmap during the run.
//!
//! # Unsafe
//!
//! - Buys: no table of marks for cells without updates
//! - Measured: checks: W1b-noself 1.11, W2a-noself 1.01, W1c-noself 1.11
//! - Holds: two tensors of one shape and type, asserted

use crate::copy::strided::{packed, stretches, whole};
use crate::ops::identity::Bits;
use crate::ops::sentinel::Unset;
use crate::rows::copy_loop::copy_loop;
use crate::rows::row_pairs::{Cold, Rows, each};
use crate::runtime::machine::WAKE;
use crate::runtime::threads::{Team, available};
use crate::tensor::{DType, DynTensor, DynView, DynViewMut, apart};
use crate::walk::offsets::{At, Dim, Dims, PrefetchHints};
use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Elements between two early exits.
const LOOK: usize = 4096;

/// Whether one of the first `most` elements is -0.0. True for every view with gaps.
///
/// # Panics
/// If the type has no sentinel.
pub fn may_be_negative_zero(view: &DynView<'_>, most: usize) -> bool {
    let len = view.len().min(most);
    // SAFETY: a contiguous view holds at least `len` elements of its type.
    !view.layout().is_contiguous() || unsafe { any_negative_zero(view.as_ptr(), len, view.dtype()) }
}

/// # Safety
/// `count` elements of this type at `at` must be aligned and valid for reading.
///
/// # Panics
/// If the type has no sentinel.
pub(crate) unsafe fn any_negative_zero(at: *const u8, count: usize, dtype: DType) -> bool {
    fn any<B: Word>(elements: &[B], value: B) -> bool {
        // A loop without an early exit vectorises.
        let found = |some: &[B]| {
            some.iter()
                .fold(false, |found, &one| found | (one == value))
        };
        elements.chunks(LOOK).any(found)
    }
    let value = Unset::NegativeZero
        .value(dtype)
        .expect("the type has a -0.0");
    if count == 0 {
        return false;
    }
    // SAFETY: the caller promises `count` readable, aligned elements of this dtype, whose bits the
    // arm's type holds.
    unsafe {
        match dtype {
            DType::F32 => any(
                std::slice::from_raw_parts(at.cast(), count),
                u32::of(&value),
            ),
            _ => any(
                std::slice::from_raw_parts(at.cast(), count),
                u64::of(&value),
            ),
        }
    }
}

/// Replaces the untouched cells of a tensor by the elements of `from`, and returns whether there
/// were any. In each run of `width` cells, either all or none are touched.
///
/// # Panics
/// If shapes or types differ, or the type has no sentinel.
pub fn adopt(to: &mut DynTensor, from: &DynView<'_>, width: usize, unset: Unset) -> bool {
    assert!(to.shape() == from.shape() && to.dtype() == from.dtype());
    let window = packed(&whole(from.layout()), from.dtype().size());
    let left = to.view_mut().as_mut_ptr();
    let pairs = Pairs::new(left, from.as_ptr(), window, from.dtype(), unset);
    // SAFETY: the tensor is borrowed mutably, and the view has as many elements of the same type.
    unsafe {
        match to.dtype() {
            DType::F32 => pairs.share(from.len(), |some| some.adopt::<u32>(width)),
            _ => pairs.share(from.len(), |some| some.adopt::<u64>(width)),
        }
    }
}

/// Sets the cells of `to` to a tensor of sums, except where a sum still holds the sentinel.
///
/// # Panics
/// If shapes or types differ, the cells overlap, or the type has no sentinel.
pub fn take(to: &mut DynViewMut<'_>, sums: &DynTensor, unset: Unset) {
    assert!(to.shape() == sums.shape() && to.dtype() == sums.dtype());
    assert!(apart(&sums.view(), to));
    let window = packed(&whole(to.layout()), to.dtype().size());
    let window = window.into_iter().map(Dim::swapped).collect();
    let right = sums.as_bytes().as_ptr();
    let pairs = Pairs::new(to.as_mut_ptr(), right, window, to.dtype(), unset);
    // SAFETY: the view is borrowed mutably and does not overlap. The tensor has as many elements of
    // the same type.
    unsafe {
        match to.dtype() {
            DType::F32 => pairs.share(to.len(), |some| some.take::<u32>()),
            _ => pairs.share(to.len(), |some| some.take::<u64>()),
        };
    }
}

/// [`adopt`] for `len` cells on the left and as many on the right, without gaps.
///
/// # Safety
/// They must be valid for writing and for reading, aligned for their type, and apart.
pub(crate) unsafe fn adopt_stretch(
    left: *mut u8,
    right: *const u8,
    len: usize,
    dtype: DType,
    unset: Unset,
) -> bool {
    let window = packed(&[(len, dtype.size().cast_signed())], dtype.size());
    let pairs = Pairs::new(left, right, window, dtype, unset);
    // SAFETY: the caller promises `len` cells and values of this dtype that do not overlap, which
    // is all that the window covers.
    unsafe {
        match dtype {
            DType::F32 => pairs.adopt::<u32>(1),
            _ => pairs.adopt::<u64>(1),
        }
    }
}

/// Minimum number of bytes for each thread.
const STRETCH: usize = 4 * WAKE;

/// Cells (left) and the elements that may replace them (right).
struct Pairs {
    left: *mut u8,
    right: *const u8,
    window: Dims,
    dtype: DType,
    unset: Bits,
}

// SAFETY: each part is the only one that writes to its cells, and no one writes what it reads.
unsafe impl Send for Pairs {}

impl Pairs {
    fn new(left: *mut u8, right: *const u8, window: Dims, dtype: DType, unset: Unset) -> Self {
        let unset = unset.value(dtype).expect("the type has an unset value");
        Self {
            left,
            right,
            window,
            dtype,
            unset,
        }
    }

    /// Does `work` with all of the `len` pairs, on as many threads as a run may have; true if one
    /// of them says so.
    fn share(self, len: usize, work: impl Fn(&Self) -> bool + Sync) -> bool {
        if len == 0 {
            return false;
        }
        let threads = available().min(len * self.dtype.size() / STRETCH).max(1);
        let Some(team) = Team::new(threads).filter(|_| threads > 1) else {
            return work(&self);
        };
        let found = AtomicBool::new(false);
        let work = |some: Self| found.store(work(&some) | found.load(Relaxed), Relaxed);
        let pieces = stretches(&self.window, threads).map(|(window, left, right)| Self {
            left: self.left.wrapping_offset(left),
            right: self.right.wrapping_offset(right),
            window,
            ..self
        });
        team.share(pieces, work, work);
        found.into_inner()
    }

    fn rows<'r>(&'r self, window: &'r [Dim]) -> Rows<'r> {
        Rows {
            left: self.left,
            left_at: &[0],
            right: self.right,
            right_at: At::Steps(0, 0),
            window,
            ahead: PrefetchHints::NONE,
        }
    }

    /// Both sides, if neither has gaps between elements of this type.
    fn slices<B: Word>(&self) -> Option<(*mut [B], *const [B])> {
        let size = size_of::<B>().cast_signed();
        match self.window[..] {
            [dim] if (dim.left, dim.right) == (size, size) => Some((
                std::ptr::slice_from_raw_parts_mut(self.left.cast(), dim.len),
                std::ptr::slice_from_raw_parts(self.right.cast(), dim.len),
            )),
            _ => None,
        }
    }

    /// # Safety
    /// The window must cover valid elements of type `B` on both sides, which do not overlap.
    unsafe fn adopt<B: Word>(&self, width: usize) -> bool {
        let unset = B::of(&self.unset);
        // SAFETY: the caller promises a window of valid elements of type `B` on both sides that do
        // not overlap; without gaps they are slices.
        unsafe {
            match self.slices::<B>() {
                Some((cells, _)) if width > 1 && cells.len() % width == 0 => {
                    self.adopt_runs::<B>(width)
                }
                Some((cells, values)) => {
                    let (cells, values) = (&mut *cells, &*values);
                    vectorized!(|_isa| replace(cells, values, unset))
                }
                None => {
                    let found = Cell::new(false);
                    each::<Cold, B, B, B>(&self.rows(&self.window), |_, cell, value| {
                        if *cell == unset {
                            *cell = value;
                            found.set(true);
                        }
                    });
                    found.get()
                }
            }
        }
    }

    /// [`adopt`](Self::adopt) for runs of `width` cells without gaps. The first cell of a run tells
    /// whether all of its cells are untouched.
    ///
    /// # Safety
    /// As for [`adopt`](Self::adopt), and the window must be one axis without gaps.
    unsafe fn adopt_runs<B: Word>(&self, width: usize) -> bool {
        /// Runs whose offsets are written down together.
        const RUNS: usize = 256;
        let unset = B::of(&self.unset);
        let run = Dim {
            len: width,
            ..self.window[0]
        };
        let run = [run];
        let runs = self.window[0].len / width;
        let bytes = (width * size_of::<B>()).cast_signed();
        let (mut places, mut found) = ([0; RUNS], false);
        for from in (0..runs).step_by(RUNS) {
            let mut count = 0;
            for k in from..runs.min(from + RUNS) {
                let at = k.cast_signed() * bytes;
                places[count] = at;
                // SAFETY: the caller promises a window of one axis without gaps; the run is inside
                // it.
                count += usize::from(unsafe { self.left.offset(at).cast::<B>().read() } == unset);
            }
            found |= count > 0;
            // SAFETY: as in the loop above, for all `width` elements of the runs whose first cell
            // was read.
            unsafe {
                copy_loop(self.dtype)(&Rows {
                    left_at: &places[..count],
                    right_at: At::Each(&places[..count]),
                    ..self.rows(&run)
                });
            }
        }
        found
    }

    /// # Safety
    /// As for [`adopt`](Self::adopt).
    unsafe fn take<B: Word>(&self) -> bool {
        let unset = B::of(&self.unset);
        // SAFETY: the caller promises a window of valid elements of type `B` on both sides that do
        // not overlap.
        unsafe {
            each::<Cold, B, B, B>(
                &self.rows(&self.window),
                #[inline(always)]
                |_, cell, value| *cell = if value == unset { *cell } else { value },
            );
        }
        false
    }
}

/// Replaces the untouched cells, and returns whether there are any.
#[inline(always)]
fn replace<B: Word>(cells: &mut [B], values: &[B], unset: B) -> bool {
    let mut found = false;
    for (cell, &value) in cells.iter_mut().zip(values) {
        found |= *cell == unset;
        // A choice instead of a branch: it vectorises.
        *cell = if *cell == unset { value } else { *cell };
    }
    found
}

/// The bits of an element type that has a sentinel.
pub(crate) trait Word: Copy + PartialEq + 'static {
    fn of(bits: &Bits) -> Self;
}

impl Word for u32 {
    fn of(bits: &Bits) -> Self {
        Self::from_ne_bytes(*bits.first_chunk().expect("there are 16 bytes"))
    }
}

impl Word for u64 {
    fn of(bits: &Bits) -> Self {
        Self::from_ne_bytes(*bits.first_chunk().expect("there are 16 bytes"))
    }
}
