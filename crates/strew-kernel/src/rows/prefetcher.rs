//! Prefetches of the rows of a loop nest.

use crate::cpu::prefetch::prefetch;
use crate::walk::offsets::At;

/// Rows between two prefetches.
pub(crate) const STRIDE: usize = 8;

/// Rows between the row that is prefetched and the row that is joined, at most.
const FETCHED_ROWS: usize = 16;

/// The same distance for rows that follow each other. It keeps more cache lines under way than the
/// hardware would.
const FETCHED_STEPS: usize = 32;

/// Maximum number of bytes of that distance. The nearest cache holds them beside the rows in use.
const FETCHED: usize = 8192;

/// Maximum number of cache lines of a row that are prefetched. The hardware prefetches the rest of
/// a longer row.
const MOST_LINES: usize = 16;

/// Prefetches the rows of one side. Hardware cannot predict indexed addresses, and its own
/// prefetching starts again at every page.
#[derive(Clone, Copy)]
pub(crate) struct Prefetcher<'a> {
    base: *const u8,
    at: At<'a>,
    /// How many rows ahead.
    rows: usize,
    /// How many lines of each.
    lines: usize,
}

impl<'a> Prefetcher<'a> {
    /// For rows of `bytes` contiguous bytes. With 0 bytes, nothing is prefetched.
    #[inline(always)]
    pub(crate) fn new(base: *const u8, at: At<'a>, bytes: usize) -> Self {
        let most = match at {
            At::Each(_) => FETCHED_ROWS,
            At::Steps(..) => FETCHED_STEPS,
        };
        Self {
            base,
            at,
            rows: (FETCHED / bytes.max(1)).clamp(1, most),
            lines: bytes.div_ceil(64).min(MOST_LINES),
        }
    }

    /// Prefetches the row that is `self.rows` behind number `row`, if there is one.
    #[inline(always)]
    pub(crate) fn prefetch(self, row: usize) {
        let at = match self.at {
            At::Each(offsets) => offsets.get(row + self.rows).copied(),
            steps @ At::Steps(..) => Some(steps.get(row + self.rows)),
        };
        if let Some(at) = at {
            prefetch(self.base.wrapping_offset(at), self.lines);
        }
    }
}

/// Prefetches for row number `row`, on both sides. Not inlined, so that it is not copied into every
/// loop.
#[inline(never)]
pub(crate) fn fetch_one(prefetchers: &[Prefetcher<'_>; 2], row: usize) {
    prefetchers.iter().for_each(|side| side.prefetch(row));
}

/// Prefetches for each row of a stride, on both sides.
#[inline(never)]
pub(crate) fn fetch_stride(prefetchers: &[Prefetcher<'_>; 2], from: usize) {
    for row in from..from + STRIDE {
        prefetchers.iter().for_each(|side| side.prefetch(row));
    }
}
