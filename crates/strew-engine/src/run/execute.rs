//! The run of an execution: the index is checked, the run is shared out if it should be, and each
//! part goes to its strategy. `in-order`, `dense-table` and `compact-table` walk over blocks here.

use crate::describe::split::Split;
use crate::describe::strategy::{Begin as DestinationBegin, Strategy};
use crate::run::{by_updates, exact_by_updates};
use crate::strategy::execution::Execution;
use crate::strategy::in_order::row_shift;
use crate::strategy::record::{Did, did};
use crate::strategy::tiled::tiles_all;
use crate::strategy::{in_order, partition, table, tiled};
use crate::strides::reader::Reader;
use crate::strides::space::{Cut, Space};
use crate::threads::check_index::{all_left_out, check};
use crate::threads::crew::{Crew, Worker};
use crate::threads::pass::{Before, Fault, Outputs, Part, Pass, terms, unfit, unnumbered};
use crate::threads::stretches::Ascending;
use crate::thresholds::BY_OWNER;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::runtime::monitor::{Progress, Watch};
use strew_kernel::tensor::DynView;
use strew_kernel::update::in_place::clear;
use strew_kernel::walk::Walk;
use strew_kernel::walk::geometry::Geometry;

impl Execution {
    /// Runs the parts of a run, each on a thread.
    fn run_parts<'i>(
        &self,
        space: &Space<'i>,
        src: &DynView<'_>,
        outputs: Outputs<'_>,
        split: Split,
        ascending: Option<&Ascending<'i>>,
        crew: &Crew<'_>,
    ) -> Result<(), Fault> {
        let before = outputs.before;
        let threads = match self.ascends && ascending.is_none() {
            // More threads were chosen than pay if each reads the whole index.
            true => (self.bytes() / BY_OWNER).clamp(1, crew.threads()),
            false => crew.threads(),
        };
        let parts = Part::whole(space, src, outputs).split(split, threads);
        crew.each(parts, |part, worker| {
            let mut part = match ascending {
                Some(ascending) => ascending.own(part),
                None => part,
            };
            if part.space.is_empty() {
                if matches!(before, Before::Zeros) {
                    clear(&mut part.dst);
                }
                return Ok(());
            }
            let outputs = Outputs {
                dst: part.dst,
                arg: part.arg,
                before,
                lists: None,
            };
            self.run_serial(&part.space, &part.space.cut(), &part.src, outputs, worker)
        })?;
        Ok(())
    }

    /// Runs updates on the calling thread.
    pub(crate) fn run_serial(
        &self,
        space: &Space<'_>,
        cut: &Cut,
        src: &DynView<'_>,
        outputs: Outputs<'_>,
        worker: Worker<'_>,
    ) -> Result<(), Fault> {
        if self.strategy() == Strategy::Partition {
            let alone = Crew::of(worker);
            return partition::run(self, space, src, outputs, &alone);
        }
        let Outputs {
            mut dst,
            arg,
            before,
            lists: _,
        } = outputs;
        if let Some(wide) = table::wide(self, space, cut) {
            return table::run_wide(self, wide, space, src, dst, worker);
        }
        let begins = matches!(before, Before::Zeros);
        let tile = tiled::tile(self, space, cut, dst.dtype());
        let marks_all =
            begins && tile.is_none() && in_order::marks_untouched(self, cut, dst.layout());
        if begins && !marks_all && !(tile.is_some() && tiles_all(space, cut, dst.layout())) {
            did(Did::Begin(DestinationBegin::Before));
            clear(&mut dst);
        }
        if let Some(tile) = tile {
            let _floats = DefaultFloats::enter();
            let progress = self.progress(cut, worker);
            return tiled::run(self, space, cut, src, dst, tile, progress);
        }
        let outputs = Outputs {
            dst,
            arg,
            before: Before::Nothing,
            lists: None,
        };
        self.walk_blocks(space, cut, src, outputs, marks_all, worker)
    }

    /// Goes over the blocks of a walk. `marks_all`: rows are marked, and those that no update
    /// reaches set to zero.
    fn walk_blocks(
        &self,
        space: &Space<'_>,
        cut: &Cut,
        src: &DynView<'_>,
        mut outputs: Outputs<'_>,
        marks_all: bool,
        worker: Worker<'_>,
    ) -> Result<(), Fault> {
        let rules = space.rules();
        let reader = Reader {
            lookups: &space.lookups,
            rules: &rules,
            cut,
            origin: &[],
        };
        let terms = terms(space, cut);
        let tables = matches!(
            self.strategy(),
            Strategy::DenseTable | Strategy::CompactTable
        );
        let geometry = Geometry {
            cells: match marks_all || tables {
                true => &cut.cells,
                false => &[][..],
            },
            numbers: outputs.arg.is_some()
                || tables
                || self.marks
                || (marks_all && row_shift(cut).is_none()),
            ..unnumbered(cut, &terms)
        };
        let walk = Walk::new(&geometry, &mut outputs.dst, src).ok_or_else(unfit)?;
        let _floats = DefaultFloats::enter();
        let mut pass = Pass {
            reader,
            walk: &walk,
            progress: &mut self.progress(cut, worker),
        };
        match self.strategy() {
            Strategy::DenseTable => table::run_dense(self, &mut pass, cut.cell_count),
            Strategy::CompactTable => table::run_compact(self, &mut pass),
            _ if marks_all => in_order::assign_all(self, &mut pass, cut),
            // A part that has no tiles goes in order, too.
            _ => in_order::run(self, &mut pass, outputs.arg, cut.cell_count),
        }
    }

    /// How far one part of the run has come, once its index has been checked if that comes first.
    pub(crate) fn progress<'p>(&self, cut: &Cut, worker: Worker<'p>) -> Progress<'p> {
        let updates = (cut.count() as u64).saturating_mul(cut.width() as u64);
        let done = if self.checks_first() { updates } else { 0 };
        let total = updates.saturating_mul(self.passes() as u64);
        worker.progress(done, total)
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Execution {
    /// Runs the updates `src` into the destination.
    ///
    /// On a fault nothing that the caller can see has been written, unless the index was changed
    /// by somebody else during the run.
    pub fn run(
        &self,
        space: &Space<'_>,
        src: &DynView<'_>,
        outputs: Outputs<'_>,
    ) -> Result<(), Fault> {
        if space.is_empty() {
            return Ok(());
        }
        if space.rules().iter().any(|r| r.size == 0) {
            // Not a single index can be right.
            return all_left_out(space);
        }
        let watch = Watch::take();
        let crew = Crew::new(self.threads(), watch.monitor());
        let ascending = match self.ascends {
            true => Ascending::check(space, &crew)?,
            false => None,
        };
        // What ascends was checked with it.
        if self.checks_first() && ascending.is_none() {
            check(space, &crew, self.request.split.is_some(), self.passes())?;
        }
        let split = self.split().filter(|_| crew.threads() > 1);
        if let Some((split, threads)) = split {
            did(Did::Split(split, threads));
        }
        match (self.strategy(), split) {
            (_, Some((Split::Updates, _))) if self.request.exact => {
                exact_by_updates::run(self, space, src, outputs.dst, &crew)
            }
            (Strategy::Partition, None | Some((Split::Owner, _))) => {
                partition::run(self, space, src, outputs, &crew)
            }
            (_, None) => self.run_serial(space, &self.cut, src, outputs, crew.caller()),
            (_, Some((Split::Updates, _))) => by_updates::run(self, space, src, outputs, &crew),
            (_, Some((split, _))) => {
                self.run_parts(space, src, outputs, split, ascending.as_ref(), &crew)
            }
        }
    }
}
