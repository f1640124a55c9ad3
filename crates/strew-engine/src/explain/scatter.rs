//! How a scatter would run.

use crate::describe::reduction::Finish;
use crate::describe::strategy::{Reason, Strategy};
use crate::describe::{Scatter, Start, Target};
use crate::explain::profile::Profile;
use crate::run::choose::{Chosen, Walked};
use crate::strategy::execution::Execution;
use crate::strategy::runs;
use crate::strategy::{replace_slice, small};
use crate::strides::request::{Cells, Types};
use crate::traffic::{Around, Began};
use strew_kernel::copy::replace_slice::ReplaceSlice;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::Layout;
use strew_kernel::tensor::footprint::footprint;

impl Scatter<'_> {
    /// How this would run.
    ///
    /// # Errors
    /// [`Problem::Strategy`] if the forced strategy cannot run it.
    pub fn execution(&self) -> Result<Execution, Problem> {
        if let Some(pairing) = self.destinations.pairing() {
            return runs::execution(self, pairing);
        }
        let into = match &self.target {
            Target::InPlace { view, .. } => Some(view.layout()),
            Target::New { .. } => None,
        };
        let walked = match self.choose(into, None)? {
            Chosen::Walk(walked) => walked,
            Chosen::Small => self.whole(Strategy::Small, small::REASON, None)?,
            Chosen::ReplaceSlice(job) => {
                self.whole(Strategy::ReplaceSlice, replace_slice::REASON, Some(&job))?
            }
        };
        Ok(match walked.space.is_empty() {
            true => walked.execution,
            false => {
                let around = self.around(&walked.execution);
                walked.execution.with_traffic(&walked.space, around)
            }
        })
    }

    /// A strategy that takes all updates at once.
    fn whole(
        &self,
        strategy: Strategy,
        why: &'static str,
        job: Option<&ReplaceSlice<'_>>,
    ) -> Result<Walked<'_>, Problem> {
        let types = Types {
            dst: self.dtype(),
            src: self.source.view().dtype(),
        };
        let layout = match &self.target {
            Target::InPlace { view, .. } => view.layout().clone(),
            Target::New { .. } => Layout::contiguous(types.dst, self.destinations.shape())?,
        };
        let (space, request) = (self.space(&layout), self.request(&layout, false));
        let (lookups, cut) = (space.lookups.len(), space.cut());
        let mut execution = Execution::of(
            strategy,
            Reason::of(self.strategy, why),
            lookups,
            cut,
            request,
            types,
        );
        if let Some(job) = job {
            execution.streams = job.threads();
            execution.copied = job.input_bytes();
        }
        Ok(Walked { space, execution })
    }

    /// What is done besides joining the updates.
    fn around(&self, execution: &Execution) -> Around {
        let request = &execution.request;
        let zeros = self.reduction.finish == Finish::ZeroIfStart;
        let finished = zeros && execution.strategy() == Strategy::Grouped;
        let began = match self.target.start() {
            None if request.cells == Cells::Private => Began::Filled,
            None => Began::InPlace,
            Some(_) if finished => Began::Zeros,
            Some(_) if execution.strategy() == Strategy::ReplaceSlice => {
                Began::Replaced(execution.copied)
            }
            Some(Start::Zero) => Began::Zeros,
            Some(Start::CopyOf(view)) => {
                let (shape, steps) = (view.shape().iter(), view.layout().strides());
                let axes = shape.copied().zip(steps.iter().copied());
                Began::Copied(footprint(axes, view.dtype().size()))
            }
            // The identity of a sum is zero.
            Some(Start::Identity) if self.reduction.combine == Combine::Sum => Began::Zeros,
            Some(Start::Identity | Start::FiniteExtreme | Start::Filled(_)) => Began::Filled,
        };
        Around {
            began,
            // Once more over all of it: for what still is as it was, or was never reached.
            swept: (zeros && !finished) || request.cells.are_unset(),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Scatter<'_> {
    /// Where the updates go; `None` if an index does not say that for each of them. It reads the
    /// whole index.
    ///
    /// # Errors
    /// [`Problem::IndexOutOfBounds`], and [`Problem::Memory`] if there is no room for the counts.
    pub fn profile(&self) -> Result<Option<Profile>, Problem> {
        if self.destinations.pairing().is_some() {
            return Ok(None);
        }
        let found = self.destinations.row_numbers()?;
        Profile::of(&found.numbers, found.rows).map(Some)
    }
}
