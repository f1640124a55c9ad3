//! Destinations of zeros that a run begins itself (`choose/begin.rs` says when).

use crate::choose::execution::Execution;
use crate::choose::strategy::Strategy;
use crate::exec::pass::{Fault, Pass};
use crate::exec::record::{Did, did};
use crate::scatter::space::Cut;
use strew_kernel::update::in_place::Direct;
use strew_kernel::update::row_bitmap::RowBitmap;

impl Execution {
    /// Assigns to rows of a destination that holds anything, and sets the others to zero.
    pub(crate) fn assign_all(&self, pass: &mut Pass<'_, '_, '_>, cut: &Cut) -> Result<(), Fault> {
        did(Did::Strategy(Strategy::InOrder));
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
