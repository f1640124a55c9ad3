//! Calls that are neither a scatter nor a gather, and run their own steps.

use std::fmt::Debug;
use strew_engine::describe::Output;
use strew_engine::describe::split::Split;
use strew_engine::describe::strategy::Strategy;
use strew_engine::strategy::execution::Execution;
use strew_kernel::error::Problem;

/// The work of such a call, after its arguments were checked.
pub(crate) trait Steps: Debug + Send {
    /// Elements of the result, or of what is read if they are more.
    fn elements(&self) -> usize;

    /// Does the work, once.
    ///
    /// # Errors
    /// Problems of index values, and missing memory. Nothing has been written then.
    fn perform(&mut self) -> Result<Output, Problem>;
}

/// A call that runs its own steps.
#[derive(Debug)]
pub(crate) struct Stepwise<'a> {
    steps: Box<dyn Steps + 'a>,
    forced: Option<&'static str>,
}

impl<'a> Stepwise<'a> {
    pub(crate) fn new(steps: impl Steps + 'a) -> Self {
        Self {
            steps: Box::new(steps),
            forced: None,
        }
    }

    pub(crate) fn cells(&self) -> usize {
        self.steps.elements()
    }

    pub(crate) fn with_strategy(mut self, strategy: Option<Strategy>) -> Self {
        self.forced = strategy.map(Strategy::name).or(self.forced);
        self
    }

    pub(crate) fn with_split(mut self, split: Option<(Split, usize)>) -> Self {
        self.forced = split.map(|(split, _)| split.name()).or(self.forced);
        self
    }

    /// # Errors
    /// Always: none of the strategies runs it.
    pub(crate) fn execution(&self) -> Result<Execution, Problem> {
        Err(Problem::Strategy {
            strategy: self.forced.unwrap_or("a plan of the run"),
            why: "it takes steps of its own, which no strategy stands for",
        })
    }

    pub(crate) fn perform(&mut self) -> Result<Output, Problem> {
        match self.forced {
            None => self.steps.perform(),
            Some(_) => self.execution().map(|_| Output::default()),
        }
    }
}
