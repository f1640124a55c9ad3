//! The run of a call: chooses the way once, and goes it.

use crate::describe::reduction::Finish;
use crate::describe::strategy::{Begin, Strategy};
use crate::describe::{Output, Scatter, Start, Target, identity_element};
use crate::run::choose::{Chosen, Walked};
use crate::run::exclude_self::{sum_anew, sum_privately};
use crate::strategy::record::{Did, did};
use crate::strategy::{grouped, replace_slice, runs, small};
use crate::strides::request::Cells;
use crate::threads::pass::{Before, Outputs};
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::Problem;
use strew_kernel::ops::identity::finite_start;
use strew_kernel::tensor::{DType, DynTensor, DynViewMut, Layout};
use strew_kernel::update::in_place::clear_equal;
use strew_kernel::update::lazy_init::LazyInit;

impl Scatter<'_> {
    /// Runs it.
    ///
    /// # Errors
    /// Any [`Problem`] with the indices, overlap or memory; nothing has been written then.
    pub fn run(mut self) -> Result<Output, Problem> {
        self.perform()
    }

    /// Runs the updates into memory of the caller's.
    fn run_in_place(
        &self,
        mut view: DynViewMut<'_>,
        arg: Option<&mut DynTensor>,
        ungrouped: Option<&'static str>,
    ) -> Result<(), Problem> {
        match self.choose(Some(view.layout()), ungrouped)? {
            Chosen::Small => small::join(self, &mut view),
            Chosen::ReplaceSlice(_) => Err(Problem::Strategy {
                strategy: Strategy::ReplaceSlice.name(),
                why: "a run in place copies no input",
            }),
            Chosen::Walk(walked) => match walked.execution.strategy() {
                Strategy::Grouped => {
                    let done = grouped::run_into(self, walked.execution.threads(), view.reborrow());
                    match self.without_groups(&done) {
                        Some(why) => self.run_in_place(view, arg, Some(why)),
                        None => done,
                    }
                }
                _ if walked.execution.request.cells == Cells::Private => {
                    sum_privately(self, walked, &mut view)
                }
                _ => self.walk(&walked, view, arg, Before::Nothing),
            },
        }
    }

    /// Runs the updates into a new tensor.
    fn run_anew(
        &self,
        arg: Option<&mut DynTensor>,
        ungrouped: Option<&'static str>,
    ) -> Result<DynTensor, Problem> {
        match self.choose(None, ungrouped)? {
            Chosen::Small => {
                let mut tensor = self.start()?;
                small::join(self, &mut tensor.view_mut())?;
                self.finished(tensor)
            }
            Chosen::ReplaceSlice(job) => replace_slice::make(self, &job),
            Chosen::Walk(walked) => match walked.execution.strategy() {
                Strategy::Grouped => {
                    let mut arg = arg;
                    let done = grouped::run(self, walked.execution.threads(), arg.as_deref_mut());
                    match self.without_groups(&done) {
                        Some(why) => self.run_anew(arg, Some(why)),
                        None => done,
                    }
                }
                _ if walked.execution.request.cells.are_unset() => sum_anew(self, walked),
                _ => self.walk_anew(&walked, arg),
            },
        }
    }

    /// Walks the updates into a new tensor, which the run may begin.
    fn walk_anew(
        &self,
        walked: &Walked<'_>,
        arg: Option<&mut DynTensor>,
    ) -> Result<DynTensor, Problem> {
        let layout = Layout::contiguous(self.dtype(), self.destinations.shape())?;
        let fresh = match (walked.execution.begin, self.target.start()) {
            (Begin::Blocks, Some(Start::Zero)) => Some(LazyInit::zeros(&layout)),
            (Begin::Blocks, Some(Start::CopyOf(input))) => LazyInit::copy(&layout, input),
            _ => None,
        };
        let before = match (&fresh, walked.execution.begin) {
            (Some(fresh), _) => Before::Blocks(fresh),
            (None, Begin::Zeros) => Before::Zeros,
            (None, _) => Before::Nothing,
        };
        did(Did::Begin(walked.execution.begin));
        let mut tensor = match before {
            Before::Nothing => self.start()?,
            Before::Zeros | Before::Blocks(_) => DynTensor::scratch(self.dtype(), layout.shape())?,
        };
        self.walk(walked, tensor.view_mut(), arg, before)?;
        self.finished(tensor)
    }

    /// Walks the updates into their cells.
    pub(crate) fn walk(
        &self,
        walked: &Walked<'_>,
        dst: DynViewMut<'_>,
        arg: Option<&mut DynTensor>,
        before: Before<'_>,
    ) -> Result<(), Problem> {
        let outputs = Outputs {
            dst,
            arg: arg.map(DynTensor::view_mut),
            before,
            lists: self.lists,
        };
        let run = (walked.execution).run(&walked.space, self.source.view(), outputs);
        run.map_err(|fault| fault.into_problem(|| self.destinations.find_out_of_bounds()))
    }

    /// The reason to run again without groups: there is no memory for them, and the caller did not
    /// force them. Nothing has been written by then.
    fn without_groups<T>(&self, done: &Result<T, Problem>) -> Option<&'static str> {
        let rather = self.strategy.is_none() && matches!(done, Err(Problem::Memory { .. }));
        rather.then_some("there is no memory for groups")
    }

    /// A tensor that has taken all updates, as it is shown.
    fn finished(&self, mut tensor: DynTensor) -> Result<DynTensor, Problem> {
        if self.reduction.finish == Finish::ZeroIfStart
            && let Some(value) = finite_start(tensor.dtype(), self.reduction.combine)
        {
            clear_equal(&mut tensor.view_mut(), &value)?;
        }
        Ok(tensor)
    }

    /// A new destination as it is before the first update.
    fn start(&self) -> Result<DynTensor, Problem> {
        self.start_as(self.target.start().unwrap_or(&Start::Zero))
    }

    /// A new destination that holds this.
    pub(crate) fn start_as(&self, start: &Start<'_>) -> Result<DynTensor, Problem> {
        let (dtype, shape) = (self.dtype(), self.destinations.shape());
        let combine = self.reduction.combine;
        let value = match start {
            Start::CopyOf(view) => return duplicate(view),
            Start::Zero => None,
            Start::Identity => identity_element(dtype, combine),
            Start::FiniteExtreme => finite_start(dtype, combine),
            Start::Filled(bytes) => Some(*bytes),
        };
        match value {
            Some(bits) => DynTensor::filled(dtype, shape, &bits[..dtype.size()]),
            None => DynTensor::zeros_for(dtype, shape, self.source.view().len()),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Scatter<'_> {
    /// What is wrong with the array that says which rows belong together, if this is of runs and
    /// anything is.
    pub fn fault(&self) -> Option<Problem> {
        let pairing = self.destinations.pairing()?;
        runs::fault_of(self, pairing, &self.destinations.components()[0])
    }

    /// [`run`](Self::run), which is done once, of a scatter that stays where it is.
    pub fn perform(&mut self) -> Result<Output, Problem> {
        if let Some(pairing) = self.destinations.pairing() {
            return runs::run(self, pairing);
        }
        let mut arg = match self.arg {
            Some(none) => {
                let shape = self.destinations.shape();
                Some(DynTensor::filled(DType::I64, shape, &none.to_ne_bytes())?)
            }
            None => None,
        };
        let mut tensor = match &mut self.target {
            Target::InPlace { argument, view } => {
                let (argument, nothing) = (*argument, DynViewMut::nothing(view.dtype()));
                let mut view = std::mem::replace(view, nothing);
                self.check_overlap(argument, &mut view)?;
                self.run_in_place(view, arg.as_mut(), None)?;
                None
            }
            Target::New { .. } => Some(self.run_anew(arg.as_mut(), None)?),
        };
        if let Some(shape) = &self.shape {
            tensor = tensor.map(|t| t.reshape(shape).unwrap_or_else(|t| t));
            arg = arg.map(|t| t.reshape(shape).unwrap_or_else(|t| t));
        }
        Ok(Output { tensor, arg })
    }
}
