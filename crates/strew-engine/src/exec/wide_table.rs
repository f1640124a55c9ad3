//! The run of a dense table that is a destination like any other: of the same shape, with wider
//! cells.
//!
//! Nothing has to be known about its rows, so everything that runs into a destination runs into it.

use crate::choose::execution::Execution;
use crate::choose::strategy::Strategy;
use crate::choose::wide::Wide;
use crate::exec::crew::Worker;
use crate::exec::pass::{Fault, Pass, terms, unfit, unnumbered};
use crate::exec::record::{Did, did};
use crate::scatter::reader::Reader;
use crate::scatter::space::Space;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::tensor::{DynView, DynViewMut};
use strew_kernel::update::finalize::{finalize, wide_like};
use strew_kernel::update::in_place::Direct;
use strew_kernel::update::sum_count_cells::{divide, sum_count_table};
use strew_kernel::walk::Walk;

impl Execution {
    /// Runs the updates in order into a table of the destination's shape, and that into the
    /// destination.
    pub(crate) fn run_wide(
        &self,
        wide: Wide,
        space: &Space<'_>,
        src: &DynView<'_>,
        mut dst: DynViewMut<'_>,
        worker: Worker<'_>,
    ) -> Result<(), Fault> {
        did(Did::Strategy(Strategy::DenseTable));
        let combine = self.request.combine;
        let goes_on = !self.request.blank && !self.request.from_identity;
        let mut table = match wide {
            Wide::Accumulators => wide_like(&dst, combine)?,
            Wide::Counted(_) => sum_count_table(&mut dst, goes_on)?,
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
            Wide::Counted(_) => Direct::sum_count(&walk),
        };
        let mut pass = Pass {
            reader: Reader {
                lookups: &space.lookups,
                rules: &rules,
                cut: &cut,
                origin: &[],
            },
            walk: &walk,
            progress: &mut self.progress(&cut, worker),
        };
        pass.join(&mut direct)?;
        self.begin_writing(&mut pass);
        match wide {
            Wide::Accumulators => finalize(&table, &mut dst)?,
            Wide::Counted(mean) => divide(&table, &mut dst, mean),
        }
        Ok(())
    }
}
