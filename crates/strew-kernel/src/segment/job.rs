//! Job.

use crate::segment::accumulator::{Fold, Take};
use crate::segment::csr::Csr;
use std::ops::Range;

/// Rows of `bytes` bytes of the source that are asked for before they are joined: not more than the nearest cache can hold
/// beside the accumulators.
pub(crate) fn rows_ahead(bytes: usize) -> usize {
    (8192 / bytes.max(1)).clamp(2, 24)
}

/// Likewise where some columns are joined at a time, and those of one update take few places of that cache.
pub(crate) fn panels_ahead(bytes: usize) -> usize {
    (65536 / bytes.max(1)).clamp(16, 48)
}

/// Byte steps along the innermost axis of a piece, and its length.
#[derive(Clone, Copy)]
pub(crate) struct Inner {
    pub(crate) len: usize,
    pub(crate) src: isize,
}

/// What the loops work on: all offsets have been checked.
pub(crate) struct Job<'j> {
    pub(crate) groups: &'j Csr,
    pub(crate) range: Range<usize>,
    pub(crate) folds: &'j [Fold],
    pub(crate) takes: &'j [Take],
    /// See [`Grouped::none`].
    pub(crate) none: i64,
    pub(crate) src: *const u8,
    /// Bytes from one row of the source to the next.
    pub(crate) src_row: isize,
    pub(crate) inner: Inner,
    /// Per output: its cell of row 0, bytes from one row to the next, and along the inner axis.
    pub(crate) outputs: &'j [(*mut u8, isize, isize)],
    /// See [`Grouped::past_caches`].
    pub(crate) past_caches: bool,
}
