//! The arguments of the loops over segments: what
//! [`Segments`](crate::segment::reduce::Segments) has checked once, as raw pointers and byte
//! strides.
//!
//! A segment is a range of places in an order of the updates, and the row that takes them. The
//! order may be that of the source: then a segment is a contiguous run of its rows. One job is some
//! segments at one coordinate of the other axes, and one [`Fold`].
//!
//! # Unsafe
//!
//! - Buys: jobs whose checks are made once
//! - Measured: that of `segment/rows.rs` and `segment/elements.rs`, whose jobs these are
//! - Holds: `Segments` checked the rows and places of each segment before a job is made

use crate::groups::row_ids::UpdateOrder;
use crate::segment::fold::{Finish, Fold};

/// The loops of one reduction of one element type.
///
/// # Safety
/// For every segment of the job and every coordinate of the inner axis, the source's elements of
/// its updates must be valid for reading, and the cells of its row for reading and writing: those
/// of the output, and those of the positions where the reduction has any. The order has all of the
/// places. Elements are of the loops' type; positions are `i64`. Outputs overlap neither each other
/// nor the source.
pub(crate) type Loops = unsafe fn(&Job<'_>);

/// A row, and the places of its updates.
#[derive(Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) row: usize,
    pub(crate) start: usize,
    pub(crate) count: usize,
}

/// Cells of an output at one coordinate of the outer axes.
#[derive(Clone, Copy)]
pub(crate) struct Cells {
    /// The cell of row 0 at the first coordinate of the inner axis.
    pub(crate) first: *mut u8,
    /// Bytes from one row to the next.
    pub(crate) row: isize,
    /// Bytes from one coordinate of the inner axis to the next.
    pub(crate) step: isize,
}

impl Cells {
    /// The cell of a row at a coordinate.
    #[inline(always)]
    pub(crate) fn at(self, row: usize, column: usize) -> *mut u8 {
        let at = row.cast_signed() * self.row + column.cast_signed() * self.step;
        self.first.wrapping_offset(at)
    }
}

/// The arguments of the loops over segments. All offsets have been checked.
pub(crate) struct Job<'j> {
    pub(crate) segments: &'j [Segment],
    pub(crate) order: UpdateOrder<'j>,
    /// The number of places in the order.
    pub(crate) places: usize,
    pub(crate) fold: Fold,
    pub(crate) src: *const u8,
    /// Bytes from one row of the source to the next.
    pub(crate) src_row: isize,
    /// The length of the inner axis, and its byte step in the source.
    pub(crate) len: usize,
    pub(crate) src_step: isize,
    pub(crate) output: Cells,
    /// The positions, if the fold has any.
    pub(crate) positions: Cells,
    /// Whole lines of cells are written past the caches.
    pub(crate) past_caches: bool,
}

impl Job<'_> {
    /// The source's row at a place.
    #[inline(always)]
    pub(crate) fn update(&self, place: usize) -> *const u8 {
        let at = self.order.get(place).cast_signed() * self.src_row;
        self.src.wrapping_offset(at)
    }

    /// Whether a result that equals its start may become 0.
    #[inline(always)]
    pub(crate) fn zeroes(&self, count: usize) -> bool {
        match self.fold.finish {
            Finish::None | Finish::Mean(_) => false,
            Finish::ZeroIfEmpty => count == 0,
            Finish::ZeroIfStart | Finish::ZeroIfNoNumber => true,
        }
    }
}
