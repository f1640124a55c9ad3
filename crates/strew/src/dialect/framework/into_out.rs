//! A call whose result is computed in new memory, and written to the caller's memory at the end.

use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::gather::Gather;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::split::Split;
use strew_engine::describe::strategy::Strategy;
use strew_engine::describe::{Output, Scatter, Target};
use strew_engine::strategy::execution::Execution;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::DynViewMut;

/// How the result is made.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is one at a time.
pub(crate) enum Made<'a> {
    Scatter(Scatter<'a>),
    /// And the name of the argument that it reads.
    Gather(Gather<'a>, &'static str),
}

/// A result and the caller's memory, which it replaces or joins.
#[derive(Debug)]
pub(crate) struct Delivered<'a> {
    made: Made<'a>,
    out: Option<DynViewMut<'a>>,
    combine: Combine,
}

impl<'a> Delivered<'a> {
    /// `out` has the result's shape and type; `combine` says how the result joins what it holds.
    pub(crate) fn new(made: Made<'a>, out: DynViewMut<'a>, combine: Combine) -> Self {
        Self {
            made,
            out: Some(out),
            combine,
        }
    }

    pub(crate) fn cells(&self) -> usize {
        match &self.made {
            Made::Scatter(scatter) => scatter.cells(),
            Made::Gather(gather, _) => gather.cells(),
        }
    }

    pub(crate) fn with_strategy(mut self, strategy: Option<Strategy>) -> Self {
        self.made = match self.made {
            Made::Scatter(scatter) => Made::Scatter(scatter.with_strategy(strategy)),
            Made::Gather(gather, input) => Made::Gather(gather.with_strategy(strategy), input),
        };
        self
    }

    pub(crate) fn with_split(mut self, split: Option<(Split, usize)>) -> Self {
        self.made = match self.made {
            Made::Scatter(scatter) => Made::Scatter(scatter.with_split(split)),
            Made::Gather(gather, input) => Made::Gather(gather.with_split(split), input),
        };
        self
    }

    /// How the result is made.
    pub(crate) fn execution(&self) -> Result<Execution, Problem> {
        match &self.made {
            Made::Scatter(scatter) => scatter.execution(),
            Made::Gather(gather, _) => gather.execution(),
        }
    }

    pub(crate) fn perform(&mut self) -> Result<Output, Problem> {
        let Some(mut view) = self.out.take() else {
            return Ok(Output::default());
        };
        let made = match &mut self.made {
            Made::Scatter(scatter) => {
                scatter.check_overlap("out", &mut view)?;
                scatter.perform()?
            }
            Made::Gather(gather, input) => {
                gather.check_overlap(input, "out", &mut view)?;
                gather.perform()?
            }
        };
        let made = made.tensor.expect("it has no target of the caller's");
        let destinations = Destinations::whole(view.shape(), &[]);
        let target = Target::InPlace {
            argument: "out",
            view,
        };
        let reduction = Reduction::into_self(self.combine);
        Scatter::new(destinations, reduction, "the result", made.view(), target)?.run()
    }
}
