//! The loop nest over pairs of rows: each row of one side is joined with its row of the other.
//!
//! ```text
//! for i in 0..rows: for each coordinate of the window:
//!     each(i, left[left_at[i] + coordinate], convert(right[right_at[i] + coordinate]))
//! ```
//!
//! The window decides the variant of a [hot](crate::ops::hot) loop: none (single elements), one
//! dense axis of up to 64 elements (unrolled pieces of 16, 8, 4, 2 and 1; up to 8 elements where
//! types are converted eight at a time), or any number of axes. A cold loop has the last variant
//! alone. All variants visit the elements in the same order. Rows are prefetched ahead, because
//! hardware cannot predict indexed addresses.
//!
//! Cost: one read of every right element, one read and one write of every left element, and 8 bytes
//! of offset for each row and side that is not evenly spaced.
//!
//! It relies on offsets that a [`Walk`](crate::walk::Walk) has proven: the loops check nothing.
//!
//! # Unsafe
//!
//! - Buys: the loop nest without bounds checks
//! - Measured: checks: W2a 1.07, W2d 1.05, R12 1.16, in a cache R12-small 1.25, R64-small 1.13; no
//!   fetching: W2a 1.67, W2d 1.58, W6 1.40, R12 1.05; prefetching made runs slower where a cache
//!   near the core holds the destination (R12-small 0.50, R64-small 0.84), and is no longer done
//!   there
//! - Holds: the caller's promise; numbers of rows are below their count, asserted for lists

use crate::cpu::isa::{Baseline, Isa, turn_by_turn};
use crate::ops::combine::Join;
use crate::ops::number::Convert;
use crate::rows::prefetcher::{Prefetcher, STRIDE, fetch_one, fetch_stride};
use crate::walk::offsets::{At, Dim, PrefetchHints};
use std::sync::atomic::{Ordering, compiler_fence};

/// Joins the elements on the right into the cells on the left.
///
/// # Safety
/// As for [`Loop`], with left elements `J::Cell` and right elements `J::Value`.
pub(crate) unsafe fn join<J: Join>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps the contract of `Loop` for these element types, which is that of
    // `each`.
    unsafe {
        each::<J, J::Cell, J::Value, J::Wide>(
            rows,
            #[inline(always)]
            |_, cell, value| J::join(cell, value),
        )
    }
}

/// Pairs of rows: row `i` of the left side begins at `left + left_at[i]`, that of the right side
/// at `right + right_at[i]` (bytes), and both go on along the window.
pub(crate) struct Rows<'a> {
    pub(crate) left: *mut u8,
    pub(crate) left_at: &'a [isize],
    pub(crate) right: *const u8,
    pub(crate) right_at: At<'a>,
    pub(crate) window: &'a [Dim],
    pub(crate) ahead: PrefetchHints,
}

/// A loop over pairs of rows, for one pair of element types and one operation.
///
/// # Safety
/// Every element that the rows reach must be valid for reading (right) and for reading and
/// writing (left) as the loop's element types, aligned for them. Left elements of one row must
/// not overlap each other, nor any right element.
pub(crate) type Loop = unsafe fn(&Rows<'_>);

/// Which forms a loop has.
pub(crate) trait Form {
    /// Forms for single elements and short rows, unrolled.
    const HOT: bool;
    /// Whether it is compiled for AVX-512, too.
    const WIDE: bool = false;
    /// Whether it is compiled for AVX2.
    const VECTORS: bool = true;
    /// Cells are met once: short rows have no form at all.
    const ONCE: bool = false;
    /// Rows are stored whole, whichever of their elements have changed.
    const WHOLE: bool;
}

impl<J: Join> Form for J {
    const HOT: bool = J::HOT;
    const WIDE: bool = J::WIDE;
    const VECTORS: bool = J::VECTORS;
    const WHOLE: bool = J::SELECTS;
}

/// One form: for what moves each cell once.
pub(crate) struct Cold;

impl Form for Cold {
    const HOT: bool = false;
    const ONCE: bool = true;
    const WHOLE: bool = false;
}

/// Runs `each(row, left element, converted right element)` over all pairs of rows, in order.
///
/// Everything from here to the elements must be inlined, closures included. A function that is not
/// inlined is compiled for the baseline instruction set.
///
/// # Safety
/// As for [`Loop`], with element types `L` and `R`.
#[inline(always)]
pub(crate) unsafe fn each<F: Form, L: Copy, R: Convert<W>, W: Copy>(
    rows: &Rows<'_>,
    each: impl Fn(usize, &mut L, W),
) {
    // For size: what moves each cell once has the baseline's vectors, unless it may convert 16-bit
    // floats.
    let moves = F::ONCE && size_of::<L>() != 2 && size_of::<R>() != 2;
    // SAFETY: the caller keeps the contract of this function, which is that of `nest`.
    unsafe {
        if moves || !F::VECTORS {
            nest::<F, L, R, W>(rows, Baseline, &each);
        } else {
            vectorized_if!(F::WIDE, |isa| nest::<F, L, R, W>(rows, isa, &each));
        }
    }
}

/// [`each`], to be compiled for one instruction set. One function, because all of it is inlined.
///
/// # Safety
/// As for [`each`].
#[inline(always)]
unsafe fn nest<F: Form, L: Copy, R: Convert<W>, W: Copy>(
    rows: &Rows<'_>,
    isa: impl Isa,
    each: &impl Fn(usize, &mut L, W),
) {
    // SAFETY: the caller promises every element that the rows reach; the arms pass on the window
    // that they match.
    unsafe {
        match *rows.window {
            [] => match is_short::<F, _>(isa) {
                false => singles::<L, R, W>(rows, isa, each),
                true => single_rows::<L, R, W>(rows, each),
            },
            [ref dim]
                if !F::ONCE
                    && is_dense::<L, R>(dim)
                    && (dim.len <= 8 || (dim.len <= 64 && !R::EIGHT)) =>
            {
                match is_short::<F, _>(isa) {
                    false => pieces::<F, L, R, W>(rows, dim.len, isa, each),
                    true => short_rows::<F, L, R, W>(rows, dim.len, isa, each),
                }
            }
            [ref outer @ .., ref inner] => stretches::<F, L, R, W>(rows, outer, inner, isa, each),
        }
    }
}

/// Whether a loop has one form for an instruction set.
#[inline(always)]
fn is_short<F: Form, I: Isa>(_: I) -> bool {
    !F::HOT || I::BARE
}

#[inline(always)]
fn is_dense<L, R>(dim: &Dim) -> bool {
    dim.left == size_of::<L>().cast_signed() && dim.right == size_of::<R>().cast_signed()
}

/// Rows along any number of axes, one stretch of the innermost axis after the other.
///
/// # Safety
/// As for [`each`], with a window of these axes.
#[inline(always)]
unsafe fn stretches<F: Form, L: Copy, R: Convert<W>, W: Copy>(
    rows: &Rows<'_>,
    outer: &[Dim],
    inner: &Dim,
    isa: impl Isa,
    each: &impl Fn(usize, &mut L, W),
) {
    // Rows that are not contiguous are not prefetched.
    let whole = outer.is_empty() && inner.right == size_of::<R>().cast_signed();
    let bytes = |size: usize| if whole { inner.len * size } else { 0 };
    let prefetchers = [
        rows.prefetcher_left(bytes(size_of::<L>())),
        rows.prefetcher_right(bytes(size_of::<R>())),
    ];
    let fetches = rows.fetches();
    for (i, &l) in rows.left_at.iter().enumerate() {
        if fetches {
            fetch_one(&prefetchers, i);
        }
        let r = rows.right_at.get(i);
        outer_offsets(
            outer,
            is_short::<F, _>(isa),
            #[inline(always)]
            |left_extra, right_extra| {
                // SAFETY: the caller promises every element; these are coordinates of the window,
                // and each stretch covers the innermost axis.
                unsafe {
                    let left = rows.left.offset(l + left_extra);
                    let right = rows.right.offset(r + right_extra);
                    if is_dense::<L, R>(inner) {
                        stretch::<F, L, R, W>(i, left.cast(), right.cast(), inner.len, isa, each);
                    } else {
                        for k in 0..inner.len.cast_signed() {
                            let value = right.offset(k * inner.right).cast::<R>().read();
                            let cell = &mut *left.offset(k * inner.left).cast::<L>();
                            each(i, cell, value.convert());
                        }
                    }
                }
            },
        );
    }
}

/// `len` elements of row `i`, one after the other on both sides.
///
/// # Safety
/// Both sides hold that many elements, as for [`each`].
#[inline(always)]
unsafe fn stretch<F: Form, L: Copy, R: Convert<W>, W: Copy>(
    i: usize,
    left: *mut L,
    right: *const R,
    len: usize,
    isa: impl Isa,
    each: &impl Fn(usize, &mut L, W),
) {
    // SAFETY: the caller promises `len` elements on both sides.
    unsafe {
        if !R::EIGHT && stores_whole::<F, L, _>(isa) {
            return row::<L, R, W, true>(i, len, left, right, each);
        }
        pairs(
            std::slice::from_raw_parts_mut(left, len),
            std::slice::from_raw_parts(right, len),
            isa,
            #[inline(always)]
            |a, b| each(i, a, b),
        );
    }
}

impl<'a> Rows<'a> {
    /// Whether rows are prefetched. They are not if the left side is in a near cache and the rows
    /// of the right side follow each other: the hardware predicts those.
    #[inline(always)]
    fn fetches(&self) -> bool {
        !(self.ahead.near && matches!(self.right_at, At::Steps(..)))
    }

    /// The prefetcher of the left side, for rows of `bytes` contiguous bytes.
    #[inline(always)]
    fn prefetcher_left(&self, bytes: usize) -> Prefetcher<'a> {
        Prefetcher::new(self.left, At::Each(self.left_at), bytes)
    }

    /// The prefetcher of the right side.
    #[inline(always)]
    pub(crate) fn prefetcher_right(&self, bytes: usize) -> Prefetcher<'a> {
        Prefetcher::new(self.right, self.right_at, bytes)
    }
}

/// Calls `each` with every element on the left and the converted one on the right.
#[inline(always)]
pub(crate) fn pairs<L, R: Convert<W>, W: Copy>(
    left: &mut [L],
    right: &[R],
    isa: impl Isa,
    each: impl Fn(&mut L, W),
) {
    let (mut left, mut right) = (left, right);
    if R::EIGHT {
        let (eights, rest) = right.as_chunks::<8>();
        let (cells, others) = left.split_at_mut(8 * eights.len());
        for (cells, &values) in cells.as_chunks_mut::<8>().0.iter_mut().zip(eights) {
            for (cell, value) in cells.iter_mut().zip(R::eight(values, isa)) {
                each(cell, value);
            }
        }
        (left, right) = (others, rest);
    }
    for (cell, &value) in left.iter_mut().zip(right) {
        each(cell, value.convert());
    }
}

/// Where row `i` of the left side begins.
///
/// # Safety
/// There is such a row, inside the memory that `left` points into.
#[inline(always)]
unsafe fn cell<L>(left: *mut u8, left_at: &[isize], i: usize) -> *mut L {
    // SAFETY: the caller promises row `i`, so `left_at` has an offset for it, which lies in the
    // memory of `left`.
    unsafe { left.offset(*left_at.get_unchecked(i)).cast() }
}

/// Whether all elements of a row are stored, whichever have changed.
#[inline(always)]
fn stores_whole<F: Form, L, I: Isa>(_: I) -> bool {
    F::WHOLE && I::SLOW_MASKS && size_of::<L>() >= 4
}

/// Row `i` in pieces.
///
/// # Safety
/// Both sides hold `len` elements, as for [`each`].
#[inline(always)]
unsafe fn row<L: Copy, R: Convert<W>, W: Copy, const WHOLE: bool>(
    i: usize,
    len: usize,
    left: *mut L,
    right: *const R,
    each: &impl Fn(usize, &mut L, W),
) {
    let mut done = 0;
    // SAFETY: the caller promises `len` elements on both sides, which the pieces together have.
    unsafe {
        while size_of::<L>() == 1 && len - done >= 32 {
            piece::<L, R, W, 32, WHOLE>(i, left.add(done), right.add(done), each);
            done += 32;
            turn_by_turn();
        }
        while len - done >= 16 {
            piece::<L, R, W, 16, WHOLE>(i, left.add(done), right.add(done), each);
            done += 16;
            turn_by_turn();
        }
        rest::<L, R, W, WHOLE>(i, len, left.add(done), right.add(done), each);
    }
}

/// Rows of one element, by a short loop.
///
/// # Safety
/// As for [`each`], if there is no window.
#[inline(always)]
unsafe fn single_rows<L: Copy, R: Convert<W>, W: Copy>(
    rows: &Rows<'_>,
    each: &impl Fn(usize, &mut L, W),
) {
    let (left, right, ahead) = (rows.left, rows.right, rows.ahead);
    for (i, &at) in rows.left_at.iter().enumerate() {
        if i % STRIDE == 0 {
            ahead.prefetch(i);
        }
        // SAFETY: the caller promises every element that the rows reach.
        unsafe {
            let value = right.offset(rows.right_at.get(i)).cast::<R>().read();
            each(i, &mut *left.offset(at).cast::<L>(), value.convert());
        }
    }
}

/// Rows of one element.
///
/// # Safety
/// As for [`each`], if there is no window.
#[inline(always)]
unsafe fn singles<L: Copy, R: Convert<W>, W: Copy>(
    rows: &Rows<'_>,
    isa: impl Isa,
    each: &impl Fn(usize, &mut L, W),
) {
    // Local copies: a field of `rows` would be read again after every write.
    let (left, left_at, ahead) = (rows.left, rows.left_at, rows.ahead);
    let count = left_at.len();
    // SAFETY: the caller promises every element that the rows reach; rows are below `count`, the
    // number of offsets.
    unsafe {
        match rows.right_at {
            At::Steps(first, step) if step == size_of::<R>().cast_signed() => {
                let right = rows.right.offset(first).cast::<R>();
                let mut from = 0;
                if R::EIGHT {
                    while count - from >= 8 {
                        ahead.prefetch(from);
                        let values = right.add(from).cast::<[R; 8]>().read();
                        for (k, value) in R::eight(values, isa).into_iter().enumerate() {
                            each(from + k, &mut *cell(left, left_at, from + k), value);
                        }
                        from += 8;
                    }
                }
                strides(
                    count - from,
                    |row| ahead.prefetch(row),
                    #[inline(always)]
                    |i| {
                        let value = right.add(from + i).read();
                        let cell = &mut *cell(left, left_at, from + i);
                        each(from + i, cell, value.convert());
                    },
                );
            }
            At::Each(_) | At::Steps(..) => places(
                rows,
                #[inline(always)]
                |_| {},
                #[inline(always)]
                |i, left, right| {
                    each(
                        i,
                        &mut *left.cast::<L>(),
                        right.cast::<R>().read().convert(),
                    );
                },
            ),
        }
    }
}

/// [`pieces`] by a short loop.
///
/// # Safety
/// As for [`pieces`].
#[inline(always)]
unsafe fn short_rows<F: Form, L: Copy, R: Convert<W>, W: Copy>(
    rows: &Rows<'_>,
    len: usize,
    isa: impl Isa,
    each: &impl Fn(usize, &mut L, W),
) {
    let prefetchers = [
        rows.prefetcher_left(len * size_of::<L>()),
        rows.prefetcher_right(len * size_of::<R>()),
    ];
    let fetches = rows.fetches();
    // Local copies: a field of `rows` would be read again after every write.
    let (left, left_at, right, ahead) = (rows.left, rows.left_at, rows.right, rows.ahead);
    let (listed, first, step) = match rows.right_at {
        At::Each(right_at) => (right_at, 0, 0),
        At::Steps(first, step) => (left_at, first, step),
    };
    let steps = matches!(rows.right_at, At::Steps(..));
    for (i, (&at, &from)) in left_at.iter().zip(listed).enumerate() {
        if i % STRIDE == 0 {
            ahead.prefetch(i);
            if fetches {
                fetch_stride(&prefetchers, i);
            }
        }
        let from = match steps {
            true => first + i.cast_signed() * step,
            false => from,
        };
        // SAFETY: the caller promises `len` elements on both sides of every row.
        unsafe {
            let (left, right) = (left.offset(at).cast(), right.offset(from).cast());
            match stores_whole::<F, L, _>(isa) {
                true => row::<L, R, W, true>(i, len, left, right, each),
                false => row::<L, R, W, false>(i, len, left, right, each),
            }
        }
    }
}

/// Short dense rows: pieces of 16, 8, 4, 2 and 1 elements, the same for all rows. A loop over the
/// last few elements would take longer than they do.
///
/// # Safety
/// As for [`each`], if that is what the window is.
#[inline(always)]
unsafe fn pieces<F: Form, L: Copy, R: Convert<W>, W: Copy>(
    rows: &Rows<'_>,
    len: usize,
    isa: impl Isa,
    each: &impl Fn(usize, &mut L, W),
) {
    let prefetchers = [
        rows.prefetcher_left(len * size_of::<L>()),
        rows.prefetcher_right(len * size_of::<R>()),
    ];
    let fetches = rows.fetches();
    // SAFETY: the caller promises `len` elements on both sides of every row; the pieces together
    // have that length.
    unsafe {
        places(
            rows,
            #[inline(always)]
            |from| {
                if fetches {
                    fetch_stride(&prefetchers, from);
                }
            },
            #[inline(always)]
            |i, left, right| {
                let (left, right) = (left.cast::<L>(), right.cast::<R>());
                match stores_whole::<F, L, _>(isa) {
                    true => row::<L, R, W, true>(i, len, left, right, each),
                    false => row::<L, R, W, false>(i, len, left, right, each),
                }
            },
        );
    }
}

/// The last elements of row `i`, of which there are `len` modulo 16.
///
/// # Safety
/// Both sides hold that many elements, as for [`each`].
#[inline(always)]
unsafe fn rest<L: Copy, R: Convert<W>, W: Copy, const WHOLE: bool>(
    i: usize,
    len: usize,
    left: *mut L,
    right: *const R,
    each: &impl Fn(usize, &mut L, W),
) {
    let mut done = 0;
    // SAFETY: the caller promises `len % 16` elements on both sides; the pieces together have that
    // length.
    unsafe {
        if len & 8 != 0 {
            piece::<L, R, W, 8, WHOLE>(i, left, right, each);
            done += 8;
        }
        if len & 4 != 0 {
            piece::<L, R, W, 4, WHOLE>(i, left.add(done), right.add(done), each);
            done += 4;
        }
        if len & 2 != 0 {
            piece::<L, R, W, 2, WHOLE>(i, left.add(done), right.add(done), each);
            done += 2;
        }
        if len & 1 != 0 {
            piece::<L, R, W, 1, WHOLE>(i, left.add(done), right.add(done), each);
        }
    }
}

/// Joins `len` elements on the right, fewer than 32, into those on the left.
///
/// # Safety
/// Both sides hold that many elements, as for [`each`].
#[inline(always)]
pub(crate) unsafe fn join_few<L: Copy, R: Convert<W>, W: Copy>(
    len: usize,
    left: *mut L,
    right: *const R,
    join: impl Fn(&mut L, W),
) {
    let each = |_, cell: &mut L, value| join(cell, value);
    let sixteen = len & 16;
    // SAFETY: the caller promises `len` elements on both sides; the pieces together have that
    // length.
    unsafe {
        if sixteen != 0 {
            piece::<L, R, W, 16, true>(0, left, right, &each);
        }
        rest::<L, R, W, true>(0, len, left.add(sixteen), right.add(sixteen), &each);
    }
}

/// Calls `each` with the number of every row, and where it begins on the left and on the right.
/// Looks ahead before every stride of rows, as `look` does.
///
/// # Safety
/// As for [`each`].
#[inline(always)]
unsafe fn places(
    rows: &Rows<'_>,
    look: impl Fn(usize),
    mut each: impl FnMut(usize, *mut u8, *const u8),
) {
    // Local copies: a field of `rows` would be read again after every write.
    let (left, left_at, right, ahead) = (rows.left, rows.left_at, rows.right, rows.ahead);
    let look = |from| {
        ahead.prefetch(from);
        look(from);
    };
    // SAFETY: the caller promises every row; `strides` calls with numbers below `left_at.len()`,
    // and `right_at` is as long.
    unsafe {
        match rows.right_at {
            At::Each(right_at) => {
                assert_eq!(right_at.len(), left_at.len());
                strides(
                    left_at.len(),
                    look,
                    #[inline(always)]
                    |i| {
                        let from = right.offset(*right_at.get_unchecked(i));
                        each(i, left.offset(*left_at.get_unchecked(i)), from);
                    },
                );
            }
            At::Steps(first, step) => strides(
                left_at.len(),
                look,
                #[inline(always)]
                |i| {
                    let from = right.offset(first + i.cast_signed() * step);
                    each(i, left.offset(*left_at.get_unchecked(i)), from);
                },
            ),
        }
    }
}

/// `N` elements of row `i`. `WHOLE`: all cells are stored, whichever have changed. A minimum or
/// maximum would become a masked store, and the next update of the same cells would wait until it
/// has reached the cache.
///
/// # Safety
/// Both sides hold that many elements, as for [`each`].
#[inline(always)]
unsafe fn piece<L: Copy, R: Convert<W>, W: Copy, const N: usize, const WHOLE: bool>(
    i: usize,
    left: *mut L,
    right: *const R,
    each: &impl Fn(usize, &mut L, W),
) {
    // SAFETY: the caller promises `N` elements on both sides, aligned for their types, that do not
    // overlap.
    unsafe {
        let (left, values) = (left.cast::<[L; N]>(), right.cast::<[R; N]>().read());
        if !WHOLE {
            for (cell, value) in (*left).iter_mut().zip(values) {
                each(i, cell, value.convert());
            }
            return;
        }
        let mut cells = left.read();
        for (cell, value) in cells.iter_mut().zip(values) {
            each(i, cell, value.convert());
        }
        // Without it, the compiler would see that a cell is read, and perhaps left as it is.
        compiler_fence(Ordering::SeqCst);
        left.write(cells);
    }
}

/// Calls `each` with every number below `count`, and `look` before every stride of them.
#[inline(always)]
fn strides(count: usize, look: impl Fn(usize), mut each: impl FnMut(usize)) {
    let whole = count - count % STRIDE;
    for from in (0..whole).step_by(STRIDE) {
        look(from);
        // A constant number of turns is unrolled without a counter.
        for k in 0..STRIDE {
            each(from + k);
        }
    }
    for i in whole..count {
        each(i);
    }
}

/// Calls `each` with both sides' byte offsets of every coordinate of the outer axes. `once`: the
/// call is compiled once, not once for each number of axes.
#[inline(always)]
fn outer_offsets(outer: &[Dim], once: bool, mut each: impl FnMut(isize, isize)) {
    match outer {
        [] if !once => each(0, 0),
        [one] if !once => {
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
