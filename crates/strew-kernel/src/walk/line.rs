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
use std::ops::Range;

/// Lines between the one that is joined and the one that is prefetched. Hardware prefetching
/// neither goes from one line to the next nor past the end of a page.
pub(crate) const LINES_AHEAD: usize = 4;

/// Rows of a line whose index values are written down before they are used.
pub(crate) const RULED: usize = 1024;

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
    /// Index values that later rows will read, if they do not follow those of the line; else null.
    pub(crate) beyond: *const u8,
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
    /// A single one.
    pub(crate) fn one(first: Line<'l>) -> Self {
        Self {
            first,
            count: 1,
            left: 1,
            turn: 1,
            next: [0; 3],
        }
    }

    /// No row is left out any more.
    pub(crate) fn keep_all(&mut self) {
        self.first.term.drop = false;
    }

    /// How many rows come before the first index value that is not below the limit.
    ///
    /// # Safety
    /// The index must hold as many readable values as the lines have rows.
    pub(crate) unsafe fn rows_inside(&self) -> usize {
        let limit = self.first.term.limit as u64;
        let is_outside = |line: &Line<'_>, n: usize| {
            // SAFETY: the caller promises an index value for each row; `narrow` is their type.
            let value: i64 = unsafe {
                match line.narrow {
                    true => once(line.index.cast::<i32>().add(n)).into(),
                    false => once(line.index.cast::<i64>().add(n)),
                }
            };
            value.cast_unsigned() >= limit
        };
        let rows = self.first.count;
        (0..self.count)
            .find_map(|at| {
                let line = self.nth(at);
                let outside = (0..rows).find(|&n| is_outside(&line, n))?;
                Some(at * rows + outside)
            })
            .unwrap_or(self.rows())
    }

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

/// A loop over lines, row by row; false if it met a value that is not below the term's limit, and
/// stopped there: the rows before it are done.
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

impl<'l> Line<'l> {
    /// The rows of a line of 64-bit index values that are below the limit, as lines of neighbours.
    pub(crate) fn kept(&self) -> impl Iterator<Item = Lines<'l>> {
        let line = *self;
        let index = line.index.cast::<i64>();
        // SAFETY: a line has `count` index values.
        let is_kept =
            move |n: usize| unsafe { once(index.add(n)).cast_unsigned() < line.term.limit as u64 };
        let mut at = 0;
        std::iter::from_fn(move || {
            let from = (at..line.count).find(|&n| is_kept(n))?;
            let to = (from..line.count).find(|&n| !is_kept(n));
            at = to.unwrap_or(line.count);
            Some(Lines::one(line.part(from..at)))
        })
    }

    /// The same without the rows whose 64-bit index values are not below the limit, and without gaps:
    /// the index values where they were, the rows, `row` bytes each, in `room`.
    ///
    /// # Safety
    /// Nothing else refers to the index values. The source has `count` rows of `row` bytes, and
    /// there is room for them.
    pub(crate) unsafe fn moved_together(&self, row: usize, room: &'l mut [u64]) -> Self {
        assert!(!self.narrow && self.count * row <= size_of_val(room));
        let to = room.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller promises index values, and rows of that size.
        let count = unsafe {
            match row {
                4 => move_together::<4>(self, to, 4),
                8 => move_together::<8>(self, to, 8),
                16 => move_together::<16>(self, to, 16),
                32 => move_together::<32>(self, to, 32),
                row => move_together::<0>(self, to, row),
            }
        };
        Self {
            count,
            ..self.with_source(to, row)
        }
    }

    /// Some neighbouring rows of it.
    pub(crate) fn part(&self, rows: Range<usize>) -> Self {
        let from = rows.start.cast_signed();
        let size = if self.narrow { 4 } else { 8 };
        Self {
            dst: self.dst.wrapping_offset(from * self.step.dst),
            src: self.src.wrapping_offset(from * self.step.src),
            index: self.index.wrapping_add(rows.start * size),
            stretch: Stretch {
                at: self.stretch.at + from * self.stretch.stride,
                count: rows.len(),
                ..self.stretch
            },
            count: rows.len(),
            ..*self
        }
    }

    /// The same with its source elsewhere, `step` bytes from row to row.
    pub(crate) fn with_source(self, src: *const u8, step: usize) -> Self {
        let step = Step {
            src: step.cast_signed(),
            ..self.step
        };
        let ahead = PrefetchHints::NONE;
        Self {
            src,
            step,
            ahead,
            ..self
        }
    }
}

impl Line<'_> {
    /// The address of the first of the index values to prefetch, one for each row: those that are
    /// `rows` rows further, or those that lie elsewhere.
    #[inline(always)]
    pub(crate) fn index_ahead<I>(&self, rows: usize) -> *const I {
        match self.beyond.is_null() {
            true => self.index.cast::<I>().wrapping_add(rows),
            false => self.beyond.cast(),
        }
    }

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

/// Moves the rows of a line that are kept to the front of a room, with their index values; returns
/// how many there are. A row has `N` bytes, or `len` if `N` is 0. Each is written whether it is
/// kept or not, so that nothing depends on a guess.
///
/// # Safety
/// As for [`Line::moved_together`].
#[inline(always)]
unsafe fn move_together<const N: usize>(line: &Line<'_>, to: *mut u8, len: usize) -> usize {
    let len = if N == 0 { len } else { N };
    let index = line.index.cast_mut().cast::<i64>();
    let (mut from, mut kept) = (line.src, 0);
    // Rows of the source or index values that begin in one line of memory.
    let beside = 64usize.checked_div(N).map_or(8, |rows| rows.min(8));
    for n in 0..line.count {
        if n % beside == 0 {
            line.ahead.prefetch(n);
        }
        // SAFETY: the caller promises `count` index values and rows, and room for as many; no more
        // have been kept than looked at.
        unsafe {
            let value = index.add(n).read();
            index.add(kept).write(value);
            to.add(kept * len).copy_from_nonoverlapping(from, len);
            kept += usize::from(value.cast_unsigned() < line.term.limit as u64);
        }
        from = from.wrapping_offset(line.step.src);
    }
    kept
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
