//! A few updates that join their cells at once.

use crate::choose::strategy::Strategy;
use crate::exec::record::{Did, did};
use crate::scatter::Scatter;
use std::sync::atomic::AtomicBool;
use strew_kernel::error::Problem;
use strew_kernel::runtime::monitor::{Progress, Watch, is_watched};
use strew_kernel::tensor::DynViewMut;
use strew_kernel::walk::geometry::OutOfBounds;

impl Scatter<'_> {
    /// Joins the updates, all of whose indices are checked before the first cell is written.
    pub(crate) fn join_small(&self, view: &mut DynViewMut<'_>) -> Result<(), Problem> {
        did(Did::Strategy(Strategy::Small));
        let watch = is_watched().then(Watch::take);
        let stop = AtomicBool::new(false);
        let monitor = watch.as_ref().and_then(Watch::monitor);
        let updates = self.source.view().len();
        let mut progress = Progress::new(monitor, &stop, 0, updates as u64);
        if !progress.step(0) {
            return Err(Problem::Interrupted);
        }
        let joined =
            (self.destinations).join_small(view, self.source.view(), self.reduction.combine);
        match joined {
            Some(Ok(())) => {
                progress.writes_are_visible();
                progress.step(updates);
                Ok(())
            }
            Some(Err(OutOfBounds)) => Err(self.destinations.find_out_of_bounds()),
            None => Err(Problem::Strategy {
                strategy: Strategy::Small.name(),
                why: "the destination shares memory with the updates",
            }),
        }
    }
}
