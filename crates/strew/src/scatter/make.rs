//! Runs into new tensors.

use super::{Scatter, Start, one_as_element};
use crate::error::Problem;
use crate::kernel::{Fresh, duplicate, finite_start, identity};
use crate::plan::{Before, Execution, Outputs, Request};
use crate::tensor::{DType, DynTensor, Layout};

impl<'a> Scatter<'a> {
    /// Runs the updates into a new tensor.
    pub(super) fn make(
        &self,
        request: Request,
        dtype: DType,
        start: &Start<'a>,
        arg: Option<&mut DynTensor>,
    ) -> Result<DynTensor, Problem> {
        let layout = Layout::contiguous(dtype, self.destinations.shape())?;
        let space = self
            .destinations
            .space(&layout, &self.source, arg.is_some());
        let execution = Execution::new(&space, request, dtype, self.source.dtype())?;
        // Memory that a run begins itself, piece by piece, makes one trip less.
        let fresh = match start {
            _ if !execution.begins_blocks(&space) => None,
            Start::Zero => Some(Fresh::zeros(&layout)),
            Start::CopyOf(input) => Fresh::copy(&layout, input),
            Start::Identity | Start::FiniteExtreme => None,
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
        };
        let run = execution.run(&space, &self.source, outputs);
        run.map_err(|fault| self.problem(fault))?;
        Ok(tensor)
    }

    /// A new destination as it is before the first update.
    fn start(&self, dtype: DType, start: &Start<'a>) -> Result<DynTensor, Problem> {
        let shape = self.destinations.shape();
        let combine = self.reduction.combine;
        let value = match start {
            Start::CopyOf(view) => return duplicate(view),
            Start::Zero => None,
            // The identities of sum and product are accumulators; 0 and 1 are the same in both.
            Start::Identity => one_as_element(dtype, combine).or(identity(dtype, combine)),
            Start::FiniteExtreme => finite_start(dtype, combine),
        };
        match value {
            Some(bits) => DynTensor::filled(dtype, shape, &bits[..dtype.size()]),
            None => {
                let touched = self.source.len();
                DynTensor::zeros_for(dtype, shape, touched)
            }
        }
    }
}
