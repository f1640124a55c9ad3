//! Sums of updates alone, of cells that can tell that none has reached them.

use crate::choose::cost::{private_pays, unset_pays};
use crate::choose::execution::Execution;
use crate::choose::request::Request;
use crate::exec::pass::{Before, Outputs};
use crate::scatter::reduction::Finish;
use crate::scatter::space::Space;
use crate::scatter::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::ops::sentinel::Unset;
use strew_kernel::tensor::{DType, DynTensor, DynView, DynViewMut, Layout};
use strew_kernel::update::lazy_init::LazyInit;
use strew_kernel::update::untouched::{adopt, may_be_negative_zero, take};

/// Elements of a source that are looked at before the run: if one of them is -0.0, others are.
const FIRST: usize = 1 << 16;

impl Scatter<'_> {
    /// Whether the sums are made in cells that can tell that no update has reached them.
    pub(crate) fn sums_alone(&self) -> bool {
        let dtype = self.dtype();
        let sum = (self.reduction.combine, self.reduction.finish) == (Combine::Sum, Finish::None);
        if !sum || Unset::Signalling.value(dtype).is_none() || self.source.view().dtype() != dtype {
            return false;
        }
        let cells = self.cells();
        match &self.target {
            Target::New { start, .. } => {
                let pays = unset_pays(cells, self.source.view().len(), self.strategy);
                pays && matches!(start, Start::CopyOf(_))
            }
            Target::InPlace { view, .. } => {
                let space = || {
                    self.destinations
                        .space(view.layout(), self.source.view().layout(), false)
                };
                private_pays(cells, self.source.view().len(), self.strategy, space)
            }
        }
    }

    /// Sums into a new tensor, of which cells that no update reaches are an input's.
    pub(crate) fn sum_alone(
        &self,
        request: Request,
        input: &DynView<'_>,
    ) -> Result<DynTensor, Problem> {
        Ok(self.sums(request, input.dtype(), Some(input))?.0)
    }

    /// Sums into a private table, and sets those cells of the caller's to them that updates reach.
    pub(crate) fn sum_privately(
        &self,
        request: Request,
        view: &mut DynViewMut<'_>,
    ) -> Result<(), Problem> {
        let (sums, unset) = self.sums(request, view.dtype(), None)?;
        take(view, &sums, unset);
        Ok(())
    }

    /// The sums, and what cells hold that no update reaches, unless an input was given for those.
    fn sums(
        &self,
        request: Request,
        dtype: DType,
        input: Option<&DynView<'_>>,
    ) -> Result<(DynTensor, Unset), Problem> {
        let layout = Layout::contiguous(dtype, self.destinations.shape())?;
        let space = self
            .destinations
            .space(&layout, self.source.view().layout(), false);
        // Among rows, to look for a signalling NaN costs nothing.
        let single = Execution::new(&space, request, dtype, dtype)?.width() == 1;
        if single && !may_be_negative_zero(self.source.view(), FIRST) {
            let unset = Unset::NegativeZero;
            let (sums, certain) = self.sums_from(unset, request, &layout, &space, input)?;
            if certain {
                return Ok((sums, unset));
            }
        }
        let unset = Unset::Signalling;
        let (sums, _) = self.sums_from(unset, request, &layout, &space, input)?;
        Ok((sums, unset))
    }

    /// Likewise, and whether those cells are told apart with certainty.
    fn sums_from(
        &self,
        unset: Unset,
        request: Request,
        layout: &Layout,
        space: &Space<'_>,
        input: Option<&DynView<'_>>,
    ) -> Result<(DynTensor, bool), Problem> {
        let dtype = layout.dtype();
        let request = Request {
            unset: unset == Unset::Signalling,
            ..request
        };
        let execution = Execution::new(space, request, dtype, dtype)?;
        let fresh = match input {
            Some(input) if execution.begins_blocks(space) => LazyInit::unset(layout, unset, input),
            _ => None,
        };
        let mut sums = match (&fresh, unset.value(dtype)) {
            (None, Some(value)) => {
                DynTensor::filled(dtype, layout.shape(), &value[..dtype.size()])?
            }
            _ => DynTensor::scratch(dtype, layout.shape())?,
        };
        let outputs = Outputs {
            dst: sums.view_mut(),
            arg: None,
            before: fresh.as_ref().map_or(Before::Nothing, Before::Blocks),
            lists: self.lists,
        };
        let run = execution.run(space, self.source.view(), outputs);
        run.map_err(|fault| self.problem(fault))?;
        let all = usize::MAX;
        let certain = match (fresh, input) {
            (Some(fresh), _) => fresh.certain(),
            (None, input) => {
                let some = match input {
                    Some(input) => adopt(&mut sums, input, execution.run_length(), unset),
                    None => may_be_negative_zero(&sums.view(), all),
                };
                !some
                    || unset == Unset::Signalling
                    || !may_be_negative_zero(self.source.view(), all)
            }
        };
        Ok((sums, certain))
    }
}
