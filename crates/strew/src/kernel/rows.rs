//! The one loop nest: pairs of rows, each a window of elements.

use smallvec::SmallVec;

/// One axis of a window, with the byte steps of both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dim {
    pub(super) len: usize,
    pub(super) left: isize,
    pub(super) right: isize,
}

/// The axes of a window, the innermost last.
pub(super) type Dims = SmallVec<[Dim; 3]>;

/// Byte offsets of rows.
#[derive(Clone, Copy, Debug)]
pub(super) enum At<'a> {
    /// One by one.
    Each(&'a [isize]),
    /// The first, and from one to the next.
    Steps(isize, isize),
}

impl At<'_> {
    /// The offsets of some of the rows.
    pub(super) fn part(self, rows: std::ops::Range<usize>) -> Self {
        match self {
            Self::Each(offsets) => Self::Each(&offsets[rows]),
            Self::Steps(..) => Self::Steps(self.get(rows.start), self.step()),
        }
    }

    fn step(self) -> isize {
        match self {
            Self::Each(_) => 0,
            Self::Steps(_, step) => step,
        }
    }

    pub(super) fn get(self, row: usize) -> isize {
        match self {
            Self::Each(offsets) => offsets[row],
            Self::Steps(first, step) => first + row.cast_signed() * step,
        }
    }
}

/// Where the rows after these will read from, and how far apart: the index and the source. A hint and
/// nothing else: the addresses may be anything.
#[derive(Clone, Copy)]
pub(super) struct Ahead(pub(super) [(*const u8, isize); 2]);

/// Rows between two looks ahead.
const STRIDE: usize = 8;

impl Ahead {
    /// Nothing is known.
    pub(super) const NONE: Self = Self([(std::ptr::null(), 0); 2]);

    /// Asks for the lines that the rows as far on as `row` will read. The hardware's own prefetching
    /// stops at the end of a page, and asking for many lines at once stalls.
    #[inline(always)]
    fn prefetch(&self, row: usize) {
        for (first, step) in self.0 {
            let at = first.wrapping_offset(row.cast_signed().wrapping_mul(step));
            #[cfg(target_arch = "x86_64")]
            // SAFETY: every x86-64 has SSE; a prefetch does not fault, whatever the address.
            unsafe {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_T0>(at.cast());
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = at;
        }
    }
}

/// Pairs of rows: row `i` of the left side begins at `left + left_at[i]`, that of the right side
/// at `right + right_at[i]` (bytes), and both go on along the window.
pub(super) struct Rows<'a> {
    pub(super) left: *mut u8,
    pub(super) left_at: &'a [isize],
    pub(super) right: *const u8,
    pub(super) right_at: At<'a>,
    pub(super) window: &'a [Dim],
    pub(super) ahead: Ahead,
}

/// A loop over pairs of rows, for one pair of element types and one operation.
///
/// # Safety
/// Every element that the rows reach must be valid for reading (right) and for reading and
/// writing (left) as the loop's element types, aligned for them. Left elements of one row must
/// not overlap each other, nor any right element.
pub(super) type Loop = unsafe fn(&Rows<'_>);

/// Runs `each(row, left element, right element)` over all pairs of rows, in order.
///
/// # Safety
/// As for [`Loop`], with element types `L` and `R`.
#[inline(always)]
pub(super) unsafe fn each<L: Copy, R: Copy>(rows: &Rows<'_>, each: impl Fn(usize, &mut L, R)) {
    // SAFETY: the caller's promise is the one that is asked for.
    vectorized!(unsafe { nest::<L, R>(rows, &each) });
}

/// [`each`], to be compiled for one instruction set.
#[inline(always)]
unsafe fn nest<L: Copy, R: Copy>(rows: &Rows<'_>, each: &impl Fn(usize, &mut L, R)) {
    let Some((inner, outer)) = rows.window.split_last() else {
        match rows.right_at {
            At::Each(right_at) => {
                let chunks = rows.left_at.chunks(STRIDE).zip(right_at.chunks(STRIDE));
                for (chunk, (left_at, right_at)) in chunks.enumerate() {
                    let from = chunk * STRIDE;
                    rows.ahead.prefetch(from);
                    for (i, (&l, &r)) in (from..).zip(left_at.iter().zip(right_at)) {
                        // SAFETY: the caller's promise for windows of one element.
                        unsafe {
                            let value = rows.right.offset(r).cast::<R>().read();
                            each(i, &mut *rows.left.offset(l).cast::<L>(), value);
                        }
                    }
                }
            }
            At::Steps(first, step) if step == size_of::<R>().cast_signed() => {
                // SAFETY: as above.
                let right = unsafe { rows.right.offset(first).cast::<R>() };
                for (chunk, left_at) in rows.left_at.chunks(STRIDE).enumerate() {
                    let from = chunk * STRIDE;
                    rows.ahead.prefetch(from);
                    for (i, &l) in (from..).zip(left_at) {
                        // SAFETY: as above.
                        unsafe {
                            each(
                                i,
                                &mut *rows.left.offset(l).cast::<L>(),
                                right.add(i).read(),
                            )
                        };
                    }
                }
            }
            At::Steps(first, step) => {
                for (i, &l) in rows.left_at.iter().enumerate() {
                    // SAFETY: as above.
                    unsafe {
                        let r = first + i.cast_signed() * step;
                        let value = rows.right.offset(r).cast::<R>().read();
                        each(i, &mut *rows.left.offset(l).cast::<L>(), value);
                    }
                }
            }
        }
        return;
    };
    let dense =
        inner.left == size_of::<L>().cast_signed() && inner.right == size_of::<R>().cast_signed();
    for (i, &l) in rows.left_at.iter().enumerate() {
        let r = rows.right_at.get(i);
        // SAFETY: `outer_offsets` visits coordinates of the window only, and each stretch covers
        // the innermost axis: both are within what the caller promises. The slices do not
        // overlap, by the same promise.
        outer_offsets(outer, |left_extra, right_extra| unsafe {
            let left = rows.left.offset(l + left_extra);
            let right = rows.right.offset(r + right_extra);
            if dense {
                let left = std::slice::from_raw_parts_mut(left.cast::<L>(), inner.len);
                let right = std::slice::from_raw_parts(right.cast::<R>(), inner.len);
                for (a, &b) in left.iter_mut().zip(right) {
                    each(i, a, b);
                }
            } else {
                for k in 0..inner.len.cast_signed() {
                    let value = right.offset(k * inner.right).cast::<R>().read();
                    each(i, &mut *left.offset(k * inner.left).cast::<L>(), value);
                }
            }
        });
    }
}

/// Calls `each` with both sides' byte offsets of every coordinate of the outer axes.
#[inline(always)]
fn outer_offsets(outer: &[Dim], mut each: impl FnMut(isize, isize)) {
    match outer {
        [] => each(0, 0),
        [one] => {
            for k in 0..one.len.cast_signed() {
                each(k * one.left, k * one.right);
            }
        }
        many => {
            let total: usize = many.iter().map(|d| d.len).product();
            for n in 0..total {
                let (mut rest, mut left, mut right) = (n, 0, 0);
                for dim in many.iter().rev() {
                    let k = (rest % dim.len).cast_signed();
                    rest /= dim.len;
                    left += k * dim.left;
                    right += k * dim.right;
                }
                each(left, right);
            }
        }
    }
}
