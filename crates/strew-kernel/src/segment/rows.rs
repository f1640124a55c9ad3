//! Segments of rows: the running results of some columns stay in registers.
//!
//! ```text
//! for each segment, for each tile of columns, for each part of the segment:
//!     for each panel of columns of the tile:
//!         results = start, or what the part before left
//!         for each update of the part: prefetch a row ahead; results = join(results, row[panel])
//!         finish the results and write their cells, or leave them to the next part
//! ```
//!
//! Cost: each update's row is read once, panel by panel, and no result goes through memory unless a
//! segment has more than `PART` updates. Rows are prefetched across the end of a segment, those in
//! order too: the hardware does not recognise a stream that is read in tiles. Rows of at most one
//! line that come in order are not prefetched.
//! It is used for rows of several elements. [`elements`](crate::segment::elements) has the loops
//! for rows of one, but
//! for segments with more updates than a winner's number can hold.
//!
//! # Unsafe
//!
//! - Buys: running rows in registers, with little work between segments
//! - Measured: results in memory, on an Intel server with a second-level cache of 2 MiB: W2a by
//!   group 1.46, two threads 1.47; rows of 256 float32 elements 1.21 and 1.31
//! - Holds: `Segments` checked rows and places; panels are within the row

use crate::cpu::LINE;
use crate::cpu::isa::{Isa, is_bare};
use crate::cpu::prefetch::prefetch_second_level;
use crate::groups::row_ids::UpdateOrder;
use crate::ops::number::Number;
use crate::segment::fold::{Column, EARLIER, Place, is_common};
use crate::segment::job::{Job, Segment};
use crate::segment::lookahead::Lookahead;
use crate::segment::panel;
use crate::segment::panel::{NONE, Panel};
use crate::walk::ROWS;
use std::ops::Range;

/// Updates of a segment that join one panel after the other. The lookahead's block has room for as
/// many more.
const PART: usize = ROWS / 2;

/// Columns whose results wait in the nearest cache for the next part of a long segment.
const TILE: usize = 256;

/// Columns of a panel, in vectors.
const VECTOR: usize = 16;

/// Rows of `bytes` bytes between the row that is prefetched and the row that is joined: one row's
/// columns of a panel take few lines of the second-level cache.
fn rows_ahead(bytes: usize) -> usize {
    (65536 / bytes.max(1)).clamp(16, 48)
}

/// Prefetches these bytes of a row that will be read after many others.
#[inline(always)]
fn asked_for(row: Option<&*const u8>, bytes: Range<usize>) {
    if let Some(row) = row {
        prefetch_second_level(row.wrapping_add(bytes.start), bytes.len().div_ceil(LINE));
        // What begins within a line ends in one more.
        if !row.addr().wrapping_add(bytes.end).is_multiple_of(LINE) {
            prefetch_second_level(row.wrapping_add(bytes.end - 1), 1);
        }
    }
}

/// Results of a tile that wait for the next part of their segment.
struct WaitingTile<R: Column> {
    running: [R::Running; TILE],
    positions: [i64; TILE],
}

/// Consecutive updates of a segment.
struct SegmentPart<'p, 'j> {
    job: &'p Job<'j>,
    segment: Segment,
    /// The place of the first update.
    first: usize,
    /// Where the updates' rows begin, and then those of the next ones.
    rows: &'p [*const u8],
    count: usize,
    /// The number of updates between the one that is prefetched and the one that is joined.
    ahead: usize,
    /// Whether rows are prefetched.
    asks: bool,
}

impl SegmentPart<'_, '_> {
    /// Prefetches a row's columns `ahead` updates on.
    #[inline(always)]
    fn ask(&self, k: usize, columns: Range<usize>, size: usize) {
        if !self.asks {
            return;
        }
        asked_for(
            self.rows.get(k + self.ahead),
            columns.start * size..columns.end * size,
        );
    }

    /// The results that the part starts with.
    ///
    /// # Safety
    /// As for [`Panel::start`].
    #[inline(always)]
    unsafe fn start<R: Column, const W: usize>(
        &self,
        column: usize,
        room: &WaitingTile<R>,
        isa: impl Isa,
    ) -> Panel<R, W> {
        // SAFETY: the caller's promise.
        let mut panel = unsafe { Panel::start(self.job, self.segment.row, column, isa) };
        if self.first > self.segment.start {
            let from = column % TILE;
            for i in 0..W {
                panel.running[i] = room.running[from + i];
                if room.positions[from + i] != NONE {
                    panel.winners[i] = EARLIER;
                }
            }
        }
        panel
    }

    /// Finishes the results, or leaves them to the next part.
    ///
    /// # Safety
    /// As for [`Panel::start`].
    #[inline(always)]
    unsafe fn end<R: Column, const W: usize>(
        &self,
        panel: Panel<R, W>,
        column: usize,
        room: &mut WaitingTile<R>,
        isa: impl Isa,
    ) {
        let from = column % TILE;
        let mut positions = [NONE; W];
        if R::POSITIONS {
            positions.copy_from_slice(&room.positions[from..from + W]);
            positions = panel::positions(self.job, self.first, &panel.winners, &positions);
        }
        if self.first + self.count == self.segment.start + self.segment.count {
            // SAFETY: the caller's promise.
            unsafe { panel.finish(self.job, self.segment, column, positions, isa) };
        } else {
            room.running[from..from + W].copy_from_slice(&panel.running);
            room.positions[from..from + W].copy_from_slice(&positions);
        }
    }
}

/// Reduces the columns of a part, so many panels of `W` columns at a time as there are names, while
/// as many columns are left.
macro_rules! panels {
    ($from:ident, $end:expr, $part:ident, $room:ident, $isa:ident, $ask:literal,
        $w:expr, [$($name:ident)*] $($number:literal)*) => {{
        const WIDTH: usize = $w * [$($number),*].len();
        let size = size_of::<R::Value>();
        while $from + WIDTH <= $end {
            $(let mut $name = $part.start::<R, { $w }>($from + $w * $number, &$room, $isa);)*
            let at = $from.cast_signed() * $part.job.src_step;
            for (k, row) in $part.rows[..$part.count].iter().enumerate() {
                if $ask {
                    $part.ask(k, $from..$from + WIDTH, size);
                }
                let values = row.wrapping_offset(at).cast::<[R::Value; $w]>();
                $($name.join(values.add($number).read(), k as Place, $isa);)*
            }
            $($part.end($name, $from + $w * $number, &mut $room, $isa);)*
            $from += WIDTH;
        }
    }};
}

/// The loops.
///
/// # Safety
/// As for [`Loops`](crate::segment::job::Loops).
#[inline(always)]
pub(crate) unsafe fn rows<R: Column>(job: &Job<'_>, isa: impl Isa) {
    let more = is_common::<R::Value>() && !is_bare(isa);
    let size = size_of::<R::Value>();
    let dense = job.src_step == size.cast_signed();
    let ahead = rows_ahead(job.len * size);
    let asks = job.len * size > LINE || !matches!(job.order, UpdateOrder::Same);
    let [zero] = R::widen([R::Value::narrow(R::Value::ZERO)], isa);
    let mut room = WaitingTile::<R> {
        running: [zero; TILE],
        positions: [NONE; TILE],
    };
    let end = job.segments.last().map_or(0, |s| s.start + s.count);
    let mut lookahead = Lookahead::new(end + ahead);
    for &segment in job.segments {
        for tile in (0..job.len).step_by(TILE) {
            let end = job.len.min(tile + TILE);
            let mut done = 0;
            loop {
                let first = segment.start + done;
                let count = PART.min(segment.count - done);
                let part = SegmentPart {
                    job,
                    segment,
                    first,
                    rows: lookahead.at(first, first + count + ahead, job),
                    count,
                    ahead,
                    asks,
                };
                let mut from = tile;
                // SAFETY: the caller's promise: `from` up to `end` are columns of the rows, which
                // follow each other if they are dense, and the rows are those of the part's
                // updates.
                unsafe {
                    // There are panels of more widths for the commonest types only: the loops of
                    // all types would take megabytes.
                    if dense && more {
                        panels!(from, end, part, room, isa, true, VECTOR, [a b c d] 0 1 2 3);
                    }
                    if dense {
                        panels!(from, end, part, room, isa, true, VECTOR, [a] 0);
                    }
                    if from < end {
                        (0..count).for_each(|k| part.ask(k, from..end, size));
                    }
                    if dense && more {
                        panels!(from, end, part, room, isa, false, 8, [a] 0);
                    }
                    if dense && size >= 4 {
                        panels!(from, end, part, room, isa, false, 4, [a] 0);
                    }
                    panels!(from, end, part, room, isa, false, 1, [a] 0);
                }
                done += count;
                if done == segment.count {
                    break;
                }
            }
        }
    }
}
