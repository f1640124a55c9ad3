//! Tables whose cells are wider than the elements: a sum of 16-bit floats as `float32`, or a sum
//! beside its count.
//!
//! Such a table is a destination like any other: updates go straight into its cells. It is rounded
//! or divided into the result at the end.

use crate::strides::request::{Cells, Request, Types};
use crate::strides::space::{Cut, Space};
use strew_kernel::ops::number::Mean;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::DType;
use strew_kernel::update::sum_count_cells::sum_count_size;

/// What the cells of such a table hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wide {
    /// Accumulators that begin as the reduction's identity.
    Accumulators,
    /// Accumulators that begin as the cells of the destination.
    Loaded,
    /// Sums of single elements, each with its count.
    Counted(Mean),
}

impl Wide {
    /// The cells that a table takes for this request; `None` if it has rows of its own.
    pub(crate) fn choose(
        request: &Request,
        space: &Space<'_>,
        cut: &Cut,
        types: Types,
    ) -> Option<Self> {
        let cells = space.dst.iter().map(|&(len, _)| len);
        let cells = cells.fold(1, usize::saturating_mul);
        let all = cells == cut.cell_count.saturating_mul(cut.width());
        // Updates of another type are rounded to the cells' type first.
        let alike = types.src == types.dst;
        let Some(mean) = request.mean else {
            let widens = types.widens(request.combine);
            return match request.cells {
                Cells::Blank => Some(Self::Accumulators),
                Cells::Kept if all && alike && widens => Some(Self::Loaded),
                _ => None,
            };
        };
        // Of a row, one count is enough.
        let single = cut.width() == 1 && alike && request.combine == Combine::Sum;
        let counted = single && all && sum_count_size(types.dst, cut.count()).is_some();
        counted.then_some(Self::Counted(mean))
    }

    /// Bytes of a cell.
    pub(crate) fn size(self, dst: DType) -> usize {
        match self {
            Self::Accumulators | Self::Loaded => dst.accumulator().size(),
            Self::Counted(_) => sum_count_size(dst, 0).unwrap_or(0),
        }
    }
}
