//! Runs into new tensors.

use crate::choose::execution::Execution;
use crate::choose::request::Request;
use crate::choose::strategy::Strategy;
use crate::exec::pass::{Before, Outputs};
use crate::scatter::reduction::Finish;
use crate::scatter::{Scatter, Start, Target, identity_element};
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::Problem;
use strew_kernel::ops::identity::finite_start;
use strew_kernel::tensor::{DType, DynTensor, Layout};
use strew_kernel::update::in_place::clear_equal;
use strew_kernel::update::lazy_init::LazyInit;
use strew_kernel::update::small::MOST_UPDATES;

impl<'a> Scatter<'a> {
    /// Makes the new tensor, unless the run is in place.
    pub(crate) fn make(
        &self,
        request: Request,
        arg: Option<&mut DynTensor>,
    ) -> Result<Option<DynTensor>, Problem> {
        let Target::New { dtype, start } = &self.target else {
            return Ok(None);
        };
        let few =
            self.source.view().len() <= MOST_UPDATES && self.strategy != Some(Strategy::Grouped);
        Ok(Some(match start {
            Start::CopyOf(input) if request.unset => self.sum_alone(request, input)?,
            start if few => self.finished(self.start_and_run(request, *dtype, start, arg)?)?,
            start => self.run_anew(request, *dtype, start, arg)?,
        }))
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

    fn start_and_run(
        &self,
        request: Request,
        dtype: DType,
        start: &Start<'a>,
        arg: Option<&mut DynTensor>,
    ) -> Result<DynTensor, Problem> {
        let mut tensor = self.start(dtype, start)?;
        self.execute(request, tensor.view_mut(), arg)?;
        Ok(tensor)
    }

    /// Runs the updates into a new tensor, which the run may begin.
    fn run_anew(
        &self,
        request: Request,
        dtype: DType,
        start: &Start<'a>,
        mut arg: Option<&mut DynTensor>,
    ) -> Result<DynTensor, Problem> {
        if let Some(weave) = self.weave()
            && let Some(made) = self.woven(&weave, dtype)?
        {
            return Ok(made);
        }
        let layout = Layout::contiguous(dtype, self.destinations.shape())?;
        let space = self
            .destinations
            .space(&layout, self.source.view().layout(), arg.is_some());
        let execution = Execution::new(&space, request, dtype, self.source.view().dtype())?;
        if execution.strategy() == Strategy::Grouped {
            let done = self.grouped(execution.threads(), dtype, start, arg.as_deref_mut());
            let Some(request) = self.without_groups(request, &done) else {
                return done;
            };
            return self.run_anew(request, dtype, start, arg);
        }
        // Memory that a run begins itself, piece by piece, makes one trip less.
        let fresh = match start {
            _ if !execution.begins_blocks(&space) => None,
            Start::Zero => Some(LazyInit::zeros(&layout)),
            Start::CopyOf(input) => LazyInit::copy(&layout, input),
            Start::Identity | Start::FiniteExtreme | Start::Filled(_) => None,
        };
        let zeros = matches!(start, Start::Zero) && execution.begins_zeros(&space, &layout);
        let before = match &fresh {
            Some(fresh) => Before::Blocks(fresh),
            None if zeros => Before::Zeros,
            None => Before::Nothing,
        };
        let mut tensor = match before {
            Before::Nothing => self.start(dtype, start)?,
            Before::Zeros | Before::Blocks(_) => DynTensor::scratch(dtype, layout.shape())?,
        };
        let outputs = Outputs {
            dst: tensor.view_mut(),
            arg: arg.map(DynTensor::view_mut),
            before,
            lists: self.lists,
        };
        let run = execution.run(&space, self.source.view(), outputs);
        run.map_err(|fault| self.problem(fault))?;
        self.finished(tensor)
    }

    /// A new destination as it is before the first update.
    pub(crate) fn start(&self, dtype: DType, start: &Start<'a>) -> Result<DynTensor, Problem> {
        let shape = self.destinations.shape();
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
            None => {
                let touched = self.source.view().len();
                DynTensor::zeros_for(dtype, shape, touched)
            }
        }
    }
}
