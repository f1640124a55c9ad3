//! The run of a dense table that is a destination like any other: of the same shape, with wider cells.
//!
//! Nothing has to be known about its rows, so everything that runs into a destination runs into it.

use super::Request;
use super::decode::Reader;
use super::explain::Execution;
use super::run::{Fault, Pass, terms, unfit, unnumbered};
use super::space::{Cut, Space};
use crate::kernel::{
    Combine, DefaultFloats, Direct, Mean, Walk, counted_like, counted_size, divide, round,
    wide_like,
};
use crate::monitor::Monitor;
use crate::tensor::{DType, DynView, DynViewMut};
use std::sync::atomic::AtomicBool;

/// What the cells of such a table hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    /// Accumulators.
    Accumulators,
    /// Sums of single elements, each with its count.
    Counted(Mean),
}

impl Wide {
    /// The cells that a table takes for this request; `None` if it has rows of its own.
    pub(super) fn choose(
        request: &Request,
        space: &Space<'_>,
        cut: &Cut,
        (dst, src): (DType, DType),
    ) -> Option<Self> {
        let Some(mean) = request.mean else {
            return request.blank.then_some(Self::Accumulators);
        };
        // Of a row, one count is enough.
        let single = cut.width() == 1 && src == dst && request.combine == Combine::Sum;
        let cells = space.dst.iter().map(|&(len, _)| len);
        let all = cells.fold(1, usize::saturating_mul) == cut.cell_count;
        let counted = single && all && counted_size(dst, cut.count()).is_some();
        counted.then_some(Self::Counted(mean))
    }

    /// Bytes of a cell.
    pub(super) fn size(self, dst: DType) -> usize {
        match self {
            Self::Accumulators => dst.accumulator().size(),
            Self::Counted(_) => counted_size(dst, 0).unwrap_or(0),
        }
    }
}

impl Execution {
    /// Runs the updates in order into a table of the destination's shape, and that into the
    /// destination.
    pub(super) fn run_wide(
        &self,
        wide: Wide,
        space: &Space<'_>,
        src: &DynView<'_>,
        mut dst: DynViewMut<'_>,
        monitor: Option<&dyn Monitor>,
        stop: &AtomicBool,
    ) -> Result<(), Fault> {
        let combine = self.request.combine;
        let goes_on = !self.request.blank && !self.request.from_identity;
        let mut table = match wide {
            Wide::Accumulators => wide_like(&dst, combine)?,
            Wide::Counted(_) => counted_like(&mut dst, goes_on)?,
        };
        let space = space.with_destination(table.layout());
        let cut = space.cut();
        let (rules, terms) = (space.rules(), terms(&space, &cut));
        let geometry = unnumbered(&cut, &terms);
        let mut cells = table.view_mut();
        let walk = Walk::new(&geometry, &mut cells, src).ok_or_else(unfit)?;
        let _floats = DefaultFloats::enter();
        let mut direct = match wide {
            Wide::Accumulators => Direct::new(&walk, combine, false)?,
            Wide::Counted(_) => Direct::counted(&walk),
        };
        let mut pass = Pass {
            reader: Reader {
                lookups: &space.lookups,
                rules: &rules,
                cut: &cut,
                origin: &[],
            },
            walk: &walk,
            progress: &mut self.progress(&cut, monitor, stop),
        };
        pass.join(&mut direct)?;
        self.begin_writing(&mut pass);
        match wide {
            Wide::Accumulators => round(&table, &mut dst)?,
            Wide::Counted(mean) => divide(&table, &mut dst, mean),
        }
        Ok(())
    }
}
