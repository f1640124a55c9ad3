//! An input is copied, with the updates in place of a slice of it, in one pass.
//!
//! Each line of the result is written once. A copy and then the slice would write some twice.

use crate::describe::strategy::Strategy;
use crate::describe::{Scatter, Start, Target};
use crate::strategy::record::{Did, did};
use crate::threads::crew::Crew;
use strew_kernel::copy::replace_slice::ReplaceSlice;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::monitor::Watch;
use strew_kernel::tensor::DynTensor;

/// What `explain` says that it does.
pub(crate) const HOW: &str = "copies the input and replaces the slice on the way";

/// Why it is chosen.
pub(crate) const REASON: &str = "that writes each line of the result once";

/// The pass that copies an input and replaces a slice of it, or why there is none.
pub(crate) fn job<'s>(scatter: &'s Scatter<'_>) -> Result<ReplaceSlice<'s>, &'static str> {
    let Target::New {
        start: Start::CopyOf(input),
        ..
    } = &scatter.target
    else {
        return Err("the output is not a copy of an input");
    };
    if scatter.reduction.combine != Combine::Assign || scatter.arg.is_some() {
        return Err("the updates must replace values, without positions");
    }
    if scatter.split.is_some() {
        return Err("it shares the output out by bytes, and takes no split");
    }
    let job = (scatter.destinations.slice())
        .and_then(|(first, step)| ReplaceSlice::new(input, scatter.source.view(), first, step));
    job.ok_or("the updates are no slice, or its rows are not whole cache lines")
}

/// Makes the copy.
pub(crate) fn make(scatter: &Scatter<'_>, job: &ReplaceSlice<'_>) -> Result<DynTensor, Problem> {
    did(Did::Strategy(Strategy::ReplaceSlice));
    let mut made = DynTensor::scratch(scatter.dtype(), scatter.destinations.shape())?;
    let mut view = made.view_mut();
    let parts = job.parts(&mut view).ok_or(Problem::Strategy {
        strategy: Strategy::ReplaceSlice.name(),
        why: "the output does not begin on a cache line",
    })?;
    let watch = Watch::take();
    let crew = Crew::new(parts.len(), watch.monitor());
    let (updates, bytes) = (scatter.source.view().len(), job.bytes());
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
    let find = || scatter.destinations.find_out_of_bounds();
    done.map_err(|fault| fault.into_problem(find)).map(|_| made)
}
