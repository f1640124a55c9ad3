//! Types that the row loops take: byte offsets of rows, axes of a window, and prefetch hints.
//!
//! Prefetch hints are addresses that later rows will read. They may be any value, because a
//! prefetch never faults.

use crate::cpu::prefetch::{prefetch, prefetch_second_level};
use smallvec::SmallVec;

/// One axis of a window, with the byte steps of both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim {
    pub(crate) len: usize,
    pub(crate) left: isize,
    pub(crate) right: isize,
}

impl Dim {
    /// The same axis with a single element right.
    pub(crate) fn against_one(&self) -> Self {
        Self { right: 0, ..*self }
    }

    /// The same axis with the sides exchanged.
    pub(crate) fn swapped(self) -> Self {
        Self {
            len: self.len,
            left: self.right,
            right: self.left,
        }
    }
}

/// The axes of a window, the innermost last.
pub(crate) type Dims = SmallVec<[Dim; 3]>;

/// Byte offsets of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'a> {
    /// A list with the offset of each row.
    Each(&'a [isize]),
    /// Evenly spaced rows: the first offset, and the step to the next.
    Steps(isize, isize),
}

impl At<'_> {
    /// The offsets of some of the rows.
    pub(crate) fn part(self, rows: std::ops::Range<usize>) -> Self {
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

    pub(crate) fn get(self, row: usize) -> isize {
        match self {
            Self::Each(offsets) => offsets[row],
            Self::Steps(first, step) => first.wrapping_add(row.cast_signed().wrapping_mul(step)),
        }
    }
}

/// Evenly spaced addresses, one for each row.
#[derive(Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) first: *const u8,
    pub(crate) step: isize,
}

impl Stream {
    /// Where nothing is known.
    pub(crate) const NOWHERE: Self = Self {
        first: std::ptr::null(),
        step: 0,
    };

    /// The address `rows` rows later.
    #[inline(always)]
    pub(crate) fn far(self, rows: usize) -> *const u8 {
        let bytes = rows.cast_signed().wrapping_mul(self.step);
        self.first.wrapping_offset(bytes)
    }
}

/// Addresses that later rows will read. Only hints: the addresses may be any value.
#[derive(Clone, Copy)]
pub(crate) struct PrefetchHints {
    /// The index's first term, and the source.
    pub(crate) streams: [Stream; 2],
    /// The index's second term.
    pub(crate) second: Option<Stream>,
    /// The destination is so small that a cache near the core holds it.
    pub(crate) near: bool,
}

impl PrefetchHints {
    /// Nothing is known.
    pub(crate) const NONE: Self = Self {
        streams: [Stream::NOWHERE; 2],
        second: None,
        near: false,
    };

    /// Asks for the lines that the rows as far on as `row` will read. The hardware's own
    /// prefetching stops at the end of a page, and asking for many lines at once stalls.
    #[inline(always)]
    pub(crate) fn prefetch(&self, row: usize) {
        for stream in self.streams {
            prefetch(stream.far(row), 1);
        }
    }

    /// Prefetches the index's second term too. For loops that do much work per row.
    #[inline(always)]
    pub(crate) fn prefetch_all(&self, row: usize) {
        self.prefetch(row);
        if let Some(second) = self.second {
            prefetch(second.far(row), 1);
        }
    }

    /// Prefetches into the second-level cache, for rows that are still far away.
    #[inline(always)]
    pub(crate) fn prefetch_second_level(&self, row: usize) {
        for stream in self.streams {
            prefetch_second_level(stream.far(row), 1);
        }
    }
}
