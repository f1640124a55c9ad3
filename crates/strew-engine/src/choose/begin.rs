//! How a new destination gets what it holds before its updates.
//!
//! A run that writes nearly all cells anyway sets the first values itself. That saves one pass over
//! the destination.

use crate::choose::execution::Execution;
use crate::choose::split::Split;
use crate::choose::strategy::{Begin, Strategy};
use crate::choose::tiles::tiles_all;
use crate::choose::wide::Wide;
use crate::scatter::Start;
use crate::scatter::space::{Cut, Space};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::machine::L3;
use strew_kernel::tensor::Layout;

/// Minimum bytes of a destination that a run begins itself. A smaller one stays in a cache.
const LARGE: usize = L3;

/// Maximum rows of the destination per row of updates if untouched rows are to be set to zero by
/// the run. With more rows, most pages of fresh memory need no write at all.
const ROWS_PER_UPDATE: usize = 2;

impl Execution {
    /// How a new destination of this layout begins.
    pub(crate) fn begin_of(&self, start: &Start<'_>, space: &Space<'_>, layout: &Layout) -> Begin {
        let same = match start {
            Start::Zero => true,
            Start::CopyOf(input) => input.layout() == layout,
            Start::Identity | Start::FiniteExtreme | Start::Filled(_) => false,
        };
        if same && self.begins_blocks(space) {
            Begin::Blocks
        } else if matches!(start, Start::Zero) && self.begins_zeros(space, layout) {
            Begin::Zeros
        } else {
            Begin::Before
        }
    }

    /// Whether a run begins a destination without gaps itself, block by block.
    fn begins_blocks(&self, space: &Space<'_>) -> bool {
        let by_block = self.strategy() == Strategy::Partition
            && !matches!(self.split(), Some((Split::Axis(_), _)));
        by_block && space.has_work() && !self.request.from_identity
    }

    /// Whether a run turns memory of any content into a destination of zeros itself.
    fn begins_zeros(&self, space: &Space<'_>, dst: &Layout) -> bool {
        let large = dst.len().saturating_mul(dst.dtype().size()) >= LARGE;
        if !large || !space.has_work() {
            return false;
        }
        match self.strategy() {
            Strategy::Tiled => self.request.blank && tiles_all(space, &self.cut, dst),
            Strategy::DenseTable => self.wide(space, &self.cut) == Some(Wide::Accumulators),
            Strategy::InOrder => self.marks_untouched(&self.cut, dst),
            _ => false,
        }
    }

    /// Whether rows that are assigned to are marked, and the others set to zero in the end.
    pub(crate) fn marks_untouched(&self, cut: &Cut, dst: &Layout) -> bool {
        let all = cut.cell_count.checked_mul(cut.width()) == Some(dst.len());
        let most = cut.count().saturating_mul(ROWS_PER_UPDATE);
        let row = cut.width() * dst.dtype().size();
        // Other rows are written through the caches. Zeros written first bring them in.
        let past_caches = row.is_multiple_of(64);
        self.strategy() == Strategy::InOrder
            && self.request.combine == Combine::Assign
            && all
            && past_caches
            && cut.cell_count <= most
    }
}
