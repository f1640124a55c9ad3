//! Copies of an input in which a slice is replaced, made in one trip.

use crate::scatter::{Scatter, Start, Target};
use std::sync::atomic::{AtomicBool, Ordering};
use strew_kernel::copy::replace_slice::{ReplaceSlice, ReplaceSlicePart};
use strew_kernel::copy::strided::LARGE;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::monitor::{Monitor, Progress, Watch};
use strew_kernel::runtime::threads::Team;
use strew_kernel::tensor::{DType, DynTensor};

impl Scatter<'_> {
    /// How to make it, if this is one, nothing else was asked for, and it is worth it.
    pub(crate) fn weave(&self) -> Option<ReplaceSlice<'_>> {
        let Target::New { dtype, start } = &self.target else {
            return None;
        };
        let plain = self.strategy.is_none() && self.split.is_none() && self.arg.is_none();
        match (start, self.reduction.combine) {
            (Start::CopyOf(input), Combine::Assign) if plain && input.dtype() == *dtype => {
                let (first, step) = self.destinations.slice()?;
                let large = input.len().saturating_mul(dtype.size()) >= LARGE;
                large.then(|| ReplaceSlice::new(input, self.source.view(), first, step))?
            }
            _ => None,
        }
    }

    /// Makes it; `None` if it has to be made otherwise.
    pub(crate) fn woven(
        &self,
        weave: &ReplaceSlice<'_>,
        dtype: DType,
    ) -> Result<Option<DynTensor>, Problem> {
        let mut made = DynTensor::scratch(dtype, self.destinations.shape())?;
        let mut view = made.view_mut();
        let Some(strips) = weave.parts(&mut view) else {
            return Ok(None);
        };
        let watch = Watch::take();
        let stop = AtomicBool::new(false);
        let (updates, bytes) = (self.source.view().len(), weave.bytes());
        // What is written is counted in updates, as everywhere.
        let counted = |written: usize| (written as u128 * updates as u128 / bytes as u128) as usize;
        let work = |mut strip: ReplaceSlicePart<'_>, monitor: Option<&dyn Monitor>| {
            let all = strip.left();
            let mut progress = Progress::new(monitor, &stop, 0, counted(all) as u64);
            while let Some(more) = strip.next() {
                let before = all - strip.left() - more;
                if !progress.step(counted(before + more) - counted(before)) {
                    return stop.store(true, Ordering::Relaxed);
                }
            }
        };
        match Team::new(strips.len()) {
            Some(team) => team.share(strips, |s| work(s, watch.monitor()), |s| work(s, None)),
            None => strips.for_each(|strip| work(strip, watch.monitor())),
        }
        match stop.into_inner() {
            true => Err(Problem::Interrupted),
            false => Ok(Some(made)),
        }
    }
}
