//! Destinations of zeros that a run begins itself: it writes all of their cells anyway, or nearly
//! all.

use crate::choose::execution::Execution;
use crate::choose::strategy::Strategy;
use crate::choose::wide::Wide;
use crate::exec::pass::{Fault, Pass, runs};
use crate::scatter::space::{Cut, Space};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::Layout;
use strew_kernel::update::in_place::Direct;
use strew_kernel::update::row_bitmap::RowBitmap;

/// A destination of so many bytes is worth to be begun by the run.
const LARGE: usize = 32 << 20;

/// Rows of the destination per row of updates, at most, to be marked and set to zero if untouched:
/// of more, most pages of a fresh destination need not be touched at all.
const ROWS_PER_UPDATE: usize = 2;

impl Execution {
    /// Whether a run begins a destination of zeros itself, which may hold anything.
    pub(crate) fn begins_zeros(&self, space: &Space<'_>, dst: &Layout) -> bool {
        let large = dst.len().saturating_mul(dst.dtype().size()) >= LARGE;
        if !large || !runs(space) {
            return false;
        }
        match self.strategy() {
            Strategy::Tiled => self.request.blank && tiles_all(space, &self.cut, dst),
            Strategy::DenseTable => self.wide(space, &self.cut) == Some(Wide::Accumulators),
            Strategy::InOrder => self.marks_untouched(&self.cut, dst),
            Strategy::CompactTable | Strategy::Partition | Strategy::Grouped | Strategy::Runs => {
                false
            }
        }
    }

    /// Whether rows that are assigned to are marked, and the others set to zero in the end.
    pub(crate) fn marks_untouched(&self, cut: &Cut, dst: &Layout) -> bool {
        let all = cut.cell_count.checked_mul(cut.width()) == Some(dst.len());
        let most = cut.count().saturating_mul(ROWS_PER_UPDATE);
        let row = cut.width() * dst.dtype().size();
        // Narrower rows do not go past the caches: to begin them brings them into a cache.
        let past_caches = row.is_multiple_of(64);
        self.strategy() == Strategy::InOrder
            && self.request.combine == Combine::Assign
            && all
            && past_caches
            && cut.cell_count <= most
    }

    /// Assigns to rows of a destination that holds anything, and sets the others to zero.
    pub(crate) fn assign_all(&self, pass: &mut Pass<'_, '_, '_>, cut: &Cut) -> Result<(), Fault> {
        let walk = pass.walk;
        let mut direct = Direct::new(walk, self.request.combine, false)?;
        let mut touched = RowBitmap::new(cut.cell_count)?;
        let shift = row_shift(cut);
        pass.each(|block| {
            match shift {
                Some(shift) => touched.mark_places(block, cut.cell_start, shift),
                None => touched.mark(block),
            }
            direct.run(walk, block);
        })?;
        direct.clear_untouched(walk, &mut touched);
        Ok(())
    }
}

/// Where the destination's rows follow each other, two to the power of this many bytes apart: their
/// numbers are then told from where they are.
pub(crate) fn row_shift(cut: &Cut) -> Option<u32> {
    let row = cut.cells.last()?.step.dst;
    let mut next = row;
    for axis in cut.cells.iter().rev() {
        if axis.step.dst != next {
            return None;
        }
        next = next.checked_mul(axis.len.cast_signed())?;
    }
    let row = row.cast_unsigned();
    row.is_power_of_two().then(|| row.trailing_zeros())
}

/// Whether the tiles of a cut cover the destination.
pub(crate) fn tiles_all(space: &Space<'_>, cut: &Cut, dst: &Layout) -> bool {
    let [lookup] = &space.lookups[..] else {
        return false;
    };
    let columns = cut.rows.iter().filter(|axis| axis.step.dst != 0);
    let columns = columns.map(|axis| axis.len).fold(1, usize::saturating_mul);
    columns.checked_mul(space.dst[lookup.axis].0) == Some(dst.len())
}
