//! How a new destination gets what it holds before its updates.
//!
//! A run that writes nearly all cells anyway sets the first values itself. That saves one pass over
//! the destination.

use crate::describe::Start;
use crate::describe::split::Split;
use crate::describe::strategy::{Begin, Strategy};
use crate::strategy::execution::Execution;
use crate::strategy::tiled::tiles_all;
use crate::strategy::wide::Wide;
use crate::strategy::{in_order, table};
use crate::strides::request::Cells;
use crate::strides::space::Space;
use crate::thresholds::BEGUN_IN_THE_RUN;
use strew_kernel::tensor::Layout;

/// How a new destination of this layout begins.
pub(crate) fn begin_of(
    execution: &Execution,
    start: &Start<'_>,
    space: &Space<'_>,
    layout: &Layout,
) -> Begin {
    let same = match start {
        Start::Zero => true,
        Start::CopyOf(input) => input.layout() == layout,
        Start::Identity | Start::FiniteExtreme | Start::Filled(_) => false,
    };
    if same && begins_blocks(execution, space) {
        Begin::Blocks
    } else if matches!(start, Start::Zero) && begins_zeros(execution, space, layout) {
        Begin::Zeros
    } else {
        Begin::Before
    }
}

/// Whether a run begins a destination without gaps itself, block by block.
fn begins_blocks(execution: &Execution, space: &Space<'_>) -> bool {
    let by_block = execution.strategy() == Strategy::Partition
        && !matches!(execution.split(), Some((Split::Axis(_), _)));
    by_block && space.has_work() && execution.request.cells != Cells::Identity
}

/// Whether a run turns memory of any content into a destination of zeros itself.
fn begins_zeros(execution: &Execution, space: &Space<'_>, dst: &Layout) -> bool {
    let large = dst.len().saturating_mul(dst.dtype().size()) >= BEGUN_IN_THE_RUN;
    if !large || !space.has_work() {
        return false;
    }
    match execution.strategy() {
        Strategy::Tiled => {
            execution.request.cells == Cells::Blank && tiles_all(space, &execution.cut, dst)
        }
        Strategy::DenseTable => {
            table::wide(execution, space, &execution.cut) == Some(Wide::Accumulators)
        }
        Strategy::InOrder => in_order::marks_untouched(execution, &execution.cut, dst),
        _ => false,
    }
}
