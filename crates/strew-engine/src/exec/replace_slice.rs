//! Copies of an input in which a slice is replaced, made in one trip.

use crate::choose::strategy::Strategy;
use crate::exec::crew::Crew;
use crate::exec::record::{Did, did};
use crate::scatter::Scatter;
use strew_kernel::copy::replace_slice::ReplaceSlice;
use strew_kernel::error::Problem;
use strew_kernel::runtime::monitor::Watch;
use strew_kernel::tensor::DynTensor;

impl Scatter<'_> {
    /// Makes the copy.
    pub(crate) fn replace_slice(&self, job: &ReplaceSlice<'_>) -> Result<DynTensor, Problem> {
        did(Did::Strategy(Strategy::ReplaceSlice));
        let mut made = DynTensor::scratch(self.dtype(), self.destinations.shape())?;
        let mut view = made.view_mut();
        let parts = job.parts(&mut view).ok_or(Problem::Strategy {
            strategy: Strategy::ReplaceSlice.name(),
            why: "the output does not begin on a cache line",
        })?;
        let watch = Watch::take();
        let crew = Crew::new(parts.len(), watch.monitor());
        let (updates, bytes) = (self.source.view().len(), job.bytes());
        // What is written is counted in updates, as everywhere.
        let counted = |written: usize| (written as u128 * updates as u128 / bytes as u128) as usize;
        let done = crew.each(parts, |mut part, worker| {
            let all = part.left();
            let mut progress = worker.progress(0, counted(all) as u64);
            while let Some(more) = part.next() {
                let before = all - part.left() - more;
                if !progress.step(counted(before + more) - counted(before)) {
                    return Err(Problem::Interrupted.into());
                }
            }
            Ok(())
        });
        let find = || self.destinations.find_out_of_bounds();
        done.map_err(|fault| fault.into_problem(find)).map(|_| made)
    }
}
