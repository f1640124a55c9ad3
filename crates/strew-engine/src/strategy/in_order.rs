//! Each update goes straight into its cell, in order.
//!
//! It needs nothing beside the cells, and is what every other strategy is measured against. Where
//! cells' own values do not count, their first update has to be known: rows are marked, or sums go
//! into sentinels, or the updates are walked twice. Where rows are assigned to a new destination,
//! the run sets the others to zero itself.

use crate::describe::strategy::Strategy;
use crate::strategy::execution::Execution;
use crate::strategy::partition;
use crate::strategy::record::{Did, did};
use crate::strides::request::{Cells, Request};
use crate::strides::space::{Cut, Space};
use crate::threads::pass::{Fault, Pass};
use crate::thresholds::{MARKS_FROM, MARKS_PER_UPDATE, UNSET_PER_UPDATE, ZEROED_ROWS_PER_UPDATE};
use strew_kernel::ops::identity::identity;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DynViewMut, Layout};
use strew_kernel::update::arg::Arg;
use strew_kernel::update::in_place::Direct;
use strew_kernel::update::row_bitmap::RowBitmap;
use strew_kernel::walk::cursor::{Block, Cursor};

/// What `explain` says that it does.
pub(crate) const HOW: &str = "takes the updates in order, one after the other";

/// Why it is chosen where no other strategy pays.
pub(crate) const REASON: &str = "every cell can hold its own running result";

/// Whether each row is marked when its first update sets it to the identity.
pub(crate) fn marks(request: &Request, strategy: Strategy, cut: &Cut) -> bool {
    let resets = request.cells == Cells::Identity && request.combine != Combine::Assign;
    let few = cut.cell_count <= cut.count().saturating_mul(MARKS_PER_UPDATE);
    resets && strategy == Strategy::InOrder && few && cut.count() >= MARKS_FROM
}

/// Whether a new destination of this many cells starts from sentinels, where only updates count.
pub(crate) fn unset_pays(cells: usize, updates: usize, force: Option<Strategy>) -> bool {
    let table = matches!(force, Some(Strategy::DenseTable | Strategy::CompactTable));
    !table && cells <= updates.saturating_mul(UNSET_PER_UPDATE)
}

/// Whether sums of single elements, in place, go to a private table of sentinels. Otherwise they go
/// to the destination's own cells, and touched cells are marked.
pub(crate) fn private_pays(
    cells: usize,
    updates: usize,
    force: Option<Strategy>,
    space: &Space<'_>,
    cut: &Cut,
) -> bool {
    let asked = force.is_none_or(|force| force == Strategy::InOrder);
    let few = updates < MARKS_FROM || cells > updates;
    asked && !few && cut.width() == 1 && cut.cell_count == cells && !partition::suits(space, cut)
}

/// Joins the updates of a walk with their cells.
pub(crate) fn run(
    execution: &Execution,
    pass: &mut Pass<'_, '_, '_>,
    arg: Option<DynViewMut<'_>>,
    rows: usize,
) -> Result<(), Fault> {
    did(Did::Strategy(Strategy::InOrder));
    let walk = pass.walk;
    let combine = execution.request.combine;
    if let Some(mut arg) = arg {
        let loops = Arg::new(walk, combine, &arg)?;
        begin_writing(execution, pass);
        return pass.each(|block| loops.run(walk, block, &mut arg));
    }
    let mut direct = Direct::new(walk, combine, execution.request.cells.are_unset())?;
    begin_writing(execution, pass);
    let value = match execution.request.cells {
        Cells::Identity => identity(walk.dst_layout().dtype(), combine),
        _ => None,
    };
    let Some(value) = value else {
        return pass.join(&mut direct);
    };
    // Without memory for the marks there is the longer way.
    let marks = execution.marks.then(|| RowBitmap::new(rows).ok()).flatten();
    let Some(mut touched) = marks else {
        pass.each(|block| direct.reset(walk, block, &value))?;
        return pass.each(|block| direct.run(walk, block));
    };
    let mut cursor = Cursor::new(walk);
    let numbered = direct.has_numbered_line(&cursor, &pass.reader);
    let mut block = Block::new();
    block.make_room(&cursor);
    while !touched.is_full() {
        let (marks, reader) = (&mut touched, &pass.reader);
        let line = match numbered {
            true => direct.run_line_init(&mut cursor, reader, marks, &value)?,
            false => None,
        };
        let done = match line {
            Some(rows) => rows,
            None => {
                let rows = cursor.next(&mut block, reader)?;
                if rows > 0 {
                    direct.reset_first(walk, &block, marks, &value);
                    direct.run(walk, &block);
                }
                rows
            }
        };
        if !pass.step(done)? {
            return Ok(());
        }
    }
    // All cells hold a value of their own by now: their numbers are not needed any more.
    cursor.forget_numbers();
    pass.join_from(cursor, &mut direct)
}

pub(crate) fn begin_writing(execution: &Execution, pass: &mut Pass<'_, '_, '_>) {
    if execution.request.visible {
        pass.progress.writes_are_visible();
    }
}

/// Whether rows that are assigned to are marked, and the others set to zero in the end.
pub(crate) fn marks_untouched(execution: &Execution, cut: &Cut, dst: &Layout) -> bool {
    let all = cut.cell_count.checked_mul(cut.width()) == Some(dst.len());
    let most = cut.count().saturating_mul(ZEROED_ROWS_PER_UPDATE);
    let row = cut.width() * dst.dtype().size();
    // Other rows are written through the caches. Zeros written first bring them in.
    let past_caches = row.is_multiple_of(64);
    execution.strategy() == Strategy::InOrder
        && execution.request.combine == Combine::Assign
        && all
        && past_caches
        && cut.cell_count <= most
}

/// Assigns to rows of a destination that holds anything, and sets the others to zero.
pub(crate) fn assign_all(
    execution: &Execution,
    pass: &mut Pass<'_, '_, '_>,
    cut: &Cut,
) -> Result<(), Fault> {
    did(Did::Strategy(Strategy::InOrder));
    let walk = pass.walk;
    let mut direct = Direct::new(walk, execution.request.combine, false)?;
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

/// The base-2 logarithm of the bytes from one row of the destination to the next, if all rows are
/// equally far apart. Then a row's number follows from its offset.
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
