//! Lines: long runs of rows for loops that read the index themselves, without a block between.
//!
//! A line has one index term, a dense `i32` or `i64` index, and one element or one short row per
//! update.
//!
//! ```text
//! for each line, for i in 0..count:
//!     value = volatile read of index[i];  stop if value >= limit
//!     join dst[value] with src[i]
//! ```
//!
//! Cost per row: one index read, one source read, one update; no offset is stored in between. A
//! [`Cursor`](crate::walk::cursor::Cursor) makes lines where its rows allow it. It has checked that
//! the index values lie inside the index, and the walk has proved the offsets.
//!
//! # Unsafe
//!
//! - Buys: index values that another thread may change are read once
//! - Measured: that of `update/fused.rs`, whose lines these are
//! - Holds: the caller promises index values and elements for every row; the value that was checked
//!   is the one that is used

use crate::tensor::DType;
use crate::walk::decode::Stretch;
use crate::walk::geometry::{Step, Term};
use crate::walk::offsets::{PrefetchHints, Stream};
use std::marker::PhantomData;

/// Lines between the one that is joined and the one that is prefetched. Hardware prefetching
/// neither goes from one line to the next nor past the end of a page.
pub(crate) const LINES_AHEAD: usize = 4;

/// A run of rows, one element or [short row](crate::update::fused_short_rows) each, along an axis.
#[derive(Clone, Copy)]
pub struct Line<'l> {
    /// The destination's element of the first row for the first index value of the term's part.
    pub(crate) dst: *mut u8,
    /// The source's element of the first row.
    pub(crate) src: *const u8,
    /// The step from row to row.
    pub(crate) step: Step,
    pub(crate) term: Term,
    pub(crate) count: usize,
    /// Elements in a row.
    pub(crate) width: usize,
    /// The index, whose values follow each other without gaps.
    pub(crate) stretch: Stretch<'l, 'l>,
    /// The address of the first index value.
    pub(crate) index: *const u8,
    /// Whether the index values have 32 bits. Otherwise they have 64.
    pub(crate) narrow: bool,
    /// Prefetch hints for later lines.
    pub(crate) ahead: PrefetchHints,
    pub(crate) memory: PhantomData<&'l mut [u8]>,
}

/// Lines that are evenly spaced.
pub struct Lines<'l> {
    pub(crate) first: Line<'l>,
    pub(crate) count: usize,
    /// Lines until the walk turns to its next rows: at least `count`.
    pub(crate) left: usize,
    /// Lines from one turn to the next.
    pub(crate) turn: usize,
    /// Bytes from a line to the next one: in the destination, the source and the index.
    pub(crate) next: [isize; 3],
}

impl<'l> Lines<'l> {
    /// The number of rows in all lines.
    pub(crate) fn rows(&self) -> usize {
        self.first.count * self.count
    }

    /// The first one.
    pub(crate) fn first(&self) -> &Line<'l> {
        &self.first
    }

    /// Line `n`, which is one of them.
    pub(crate) fn nth(&self, n: usize) -> Line<'l> {
        let first = &self.first;
        let [dst, src, index] = self.next.map(|bytes| bytes * n.cast_signed());
        let line = Line {
            dst: first.dst.wrapping_offset(dst),
            src: first.src.wrapping_offset(src),
            index: first.index.wrapping_offset(index),
            stretch: Stretch {
                at: first.stretch.at + index,
                ..first.stretch
            },
            ..*first
        };
        // After the last line before a turn come rows to the right of the first ones.
        let turns = n + LINES_AHEAD >= self.left;
        let far = |here: *const u8, next: isize, step: isize| {
            let lines = LINES_AHEAD.cast_signed() - if turns { self.turn.cast_signed() } else { 0 };
            let rows = if turns { line.count.cast_signed() } else { 0 };
            let bytes = next
                .wrapping_mul(lines)
                .wrapping_add(step.wrapping_mul(rows));
            Stream {
                first: here.wrapping_offset(bytes),
                step,
            }
        };
        let [_, src, index] = self.next;
        Line {
            ahead: PrefetchHints {
                streams: [
                    far(line.index, index, line.stretch.stride),
                    far(line.src, src, line.step.src),
                ],
                second: None,
                near: false,
            },
            ..line
        }
    }
}

/// A loop over lines; false if it met a value that is not below the term's limit, and stopped.
///
/// # Safety
/// Each line's `count` index values and source elements must be readable. For every value below the
/// limit, the cell must be writable and apart from the source. Where all rows belong to the term's
/// part, this must hold for every value of the part. All must be aligned for the loop's types.
pub(crate) type LineLoop = unsafe fn(&Lines<'_>) -> bool;

/// The kind of index that lines are made of: whether it is narrow.
pub(crate) fn narrow(index: DType) -> Option<bool> {
    match index {
        DType::I32 => Some(true),
        DType::I64 => Some(false),
        _ => None,
    }
}

/// Whether the line loops support a term. A value that is not below the limit must be an error, and
/// a filtered range must fit 32 bits.
pub(crate) fn keeps(term: &Term) -> bool {
    term.is_whole() || !term.drop && term.filter().is_narrow()
}

/// Whether a line can be made of these index values.
pub(crate) fn fits(stretch: &Stretch<'_, '_>) -> bool {
    let dtype = stretch.index.dtype();
    narrow(dtype).is_some() && stretch.stride == dtype.size().cast_signed()
}

impl Line<'_> {
    /// The same rows, all of which belong to the term's part, with the number of the part's cells as
    /// the limit of their [`number`](Self::number).
    pub(crate) fn of_part(&self) -> Self {
        let term = Term {
            limit: self.term.len,
            ..self.term
        };
        Self { term, ..*self }
    }

    /// The number of the row of `len` elements that an index value names. A line of single elements
    /// is whole, and is spared the subtraction.
    #[inline(always)]
    pub(crate) fn number_of(&self, len: usize, value: impl Into<i64>) -> i64 {
        match len {
            1 => value.into(),
            _ => self.number(value),
        }
    }

    /// The number of the row that an index value names, counted from the first one of the part.
    #[inline(always)]
    pub(crate) fn number(&self, value: impl Into<i64>) -> i64 {
        value.into().wrapping_sub(self.term.from as i64)
    }
}

impl Stretch<'_, '_> {
    /// The address of the first value of a line, if as many values as that has lie in the index for
    /// each of some lines that begin `next` bytes apart.
    pub(crate) fn spaced(&self, next: isize, lines: usize) -> Option<*const u8> {
        // The lines between the first and the last one lie between these, whole values apart.
        let span = next.checked_mul(lines.checked_sub(1)?.cast_signed())?;
        let last = self.at.checked_add(span)?;
        let whole = fits(self) && next % self.stride == 0;
        let inside = |at| self.index.stretch(at, self.stride, self.count);
        inside(last).filter(|_| whole).and(inside(self.at))
    }
}

/// Volatile read of an index value: the value that was checked is the value that is used.
///
/// # Safety
/// `at` must be aligned and readable.
#[inline(always)]
pub(crate) unsafe fn once<I: Copy>(at: *const I) -> I {
    // SAFETY: the caller promises that `at` is aligned and readable.
    unsafe { at.read_volatile() }
}
