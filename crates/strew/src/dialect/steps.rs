//! Calls that no scatter or gather stands for: they take steps of their own.

use crate::error::Problem;
use crate::plan::{Execution, Split, Strategy};
use crate::scatter::Output;
use std::fmt::Debug;

/// What a call does, once its arguments have been checked.
pub(super) trait Steps: Debug + Send {
    /// Elements of the result, or of what is read if they are more.
    fn elements(&self) -> usize;

    /// Does it, once.
    ///
    /// # Errors
    /// What only the index values or the machine can tell; nothing has been written then.
    fn perform(&mut self) -> Result<Output, Problem>;
}

/// Such a call.
#[derive(Debug)]
pub(super) struct Stepwise<'a> {
    steps: Box<dyn Steps + 'a>,
    forced: Option<&'static str>,
}

impl<'a> Stepwise<'a> {
    pub(super) fn new(steps: impl Steps + 'a) -> Self {
        Self {
            steps: Box::new(steps),
            forced: None,
        }
    }

    pub(super) fn cells(&self) -> usize {
        self.steps.elements()
    }

    pub(super) fn with_strategy(mut self, strategy: Option<Strategy>) -> Self {
        self.forced = strategy.map(Strategy::name).or(self.forced);
        self
    }

    pub(super) fn with_split(mut self, split: Option<(Split, usize)>) -> Self {
        self.forced = split.map(|(split, _)| split.name()).or(self.forced);
        self
    }

    /// # Errors
    /// Always: none of the strategies runs it.
    pub(super) fn execution(&self) -> Result<Execution, Problem> {
        Err(Problem::Strategy {
            strategy: self.forced.unwrap_or("a plan of the run"),
            why: "it takes steps of its own, which no strategy stands for",
        })
    }

    pub(super) fn perform(&mut self) -> Result<Output, Problem> {
        match self.forced {
            None => self.steps.perform(),
            Some(_) => self.execution().map(|_| Output::default()),
        }
    }
}
