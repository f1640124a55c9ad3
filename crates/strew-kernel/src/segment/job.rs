//! The arguments of the loops over groups: what
//! [`Grouped::run`](crate::segment::reduce::Grouped::run) has checked once, as raw pointers and
//! byte strides.
//!
//! One job is a range of groups at one coordinate of the outer axes. The loops read the updates of
//! each group of `range` and write one row to each output. The constants here say how far ahead the
//! loops prefetch.
//!
//! # Unsafe
//!
//! - Buys: jobs whose checks are made once
//! - Measured: that of `segment/reduce.rs`, whose jobs these are
//! - Holds: `check` compared source and outputs with the groups before a job is made

use crate::segment::accumulator::{Fold, Take};
use crate::segment::csr::Csr;
use crate::walk::ROWS;
use std::ops::Range;

/// Updates between the element that is prefetched and the element that is joined.
pub(crate) const AHEAD_SINGLE: usize = 32;

/// Maximum number of cache lines of a row that are prefetched. The hardware prefetches the rest.
pub(crate) const MOST_LINES: usize = 16;

/// Maximum number of rows that are joined at a time. The lookahead's block has room for as many
/// more.
pub(crate) const MOST_ROWS: usize = ROWS / 2;

/// The loops of one element type.
///
/// # Safety
/// The elements that the job's source and outputs reach, for every group and update of the range
/// and every coordinate of the inner axis, must be valid for reading (source) and for reading and
/// writing (outputs), and of the loops' type; positions are `i64`. Outputs overlap neither each
/// other nor the source.
pub(crate) type Loops = unsafe fn(&Job<'_>);

/// Rows of `bytes` bytes between the row that is prefetched and the row that is joined. The nearest
/// cache holds them beside the accumulators.
pub(crate) fn rows_ahead(bytes: usize) -> usize {
    (8192 / bytes.max(1)).clamp(2, 24)
}

/// The same distance where only some columns are joined at a time: one update's columns take few
/// lines of that cache.
pub(crate) fn panels_ahead(bytes: usize) -> usize {
    (65536 / bytes.max(1)).clamp(16, 48)
}

/// The innermost axis: its length, and its byte step in the source.
#[derive(Clone, Copy)]
pub(crate) struct Inner {
    pub(crate) len: usize,
    pub(crate) src: isize,
}

/// The arguments of the loops over groups. All offsets have been checked.
pub(crate) struct Job<'j> {
    pub(crate) groups: &'j Csr,
    pub(crate) range: Range<usize>,
    pub(crate) folds: &'j [Fold],
    pub(crate) takes: &'j [Take],
    /// See [`Grouped::none`](crate::segment::reduce::Grouped::none).
    pub(crate) none: i64,
    pub(crate) src: *const u8,
    /// Bytes from one row of the source to the next.
    pub(crate) src_row: isize,
    pub(crate) inner: Inner,
    /// For each output: its cell of row 0, and its byte steps along rows and along the inner axis.
    pub(crate) outputs: &'j [(*mut u8, isize, isize)],
    /// See [`Grouped::past_caches`](crate::segment::reduce::Grouped::past_caches).
    pub(crate) past_caches: bool,
}
