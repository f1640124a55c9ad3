//! Derivatives of reductions of segments: what those of torch_scatter and of PyTorch share.
//!
//! Segments are seen as a plan: see `entries.rs`.

use crate::dialect::framework::call::Call;
use crate::grad::entries::Entries;
use crate::grad::forward::{Forward, Own, Rule};
use crate::grad::route::{Packed, Route, own};
use crate::grad::{context, expect_field, expect_like, torch_class};
use strew_engine::scatter::destinations::Destinations;
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{DynTensor, DynView, Scalar, shaped};

/// A call that the operator itself would take.
pub(super) struct Case<'a> {
    name: &'static str,
    call: Call<'a>,
    pub(super) rule: Rule,
    /// What each group starts from, as far as it is a factor.
    pub(super) initial: Option<Scalar>,
    /// Of several rows that take an element, only the last one does.
    pub(super) last_stays: bool,
}

impl<'a> Case<'a> {
    pub(super) fn new(
        name: &'static str,
        call: Call<'a>,
        rule: Rule,
        argument: &'static str,
        src: &DynView<'_>,
    ) -> Result<Self> {
        let refuse = |problem| context(name, torch_class).error(problem);
        expect_field(argument, src.dtype()).map_err(refuse)?;
        if let Some(problem) = call.scatter().map_err(refuse)?.fault() {
            return Err(refuse(problem));
        }
        Ok(Self {
            name,
            call,
            rule,
            initial: None,
            last_stays: false,
        })
    }

    pub(super) fn done(
        &self,
        work: impl FnOnce() -> Result<DynTensor, Problem>,
    ) -> Result<DynTensor> {
        work().map_err(|problem| context(self.name, torch_class).error(problem))
    }

    pub(super) fn places(&self) -> Result<&Destinations<'a>, Problem> {
        Ok(self.call.scatter()?.destinations())
    }

    pub(super) fn expect_cells(
        &self,
        argument: &'static str,
        found: &DynView<'_>,
    ) -> Result<(), Problem> {
        let dtype = self.call.scatter()?.source()?.dtype();
        expect_like(
            argument,
            found,
            "the result's",
            dtype,
            self.places()?.shape(),
        )
    }

    pub(super) fn folded_vjp(
        &self,
        grad: &DynView<'_>,
        src: &DynView<'_>,
        result: Option<&DynView<'_>>,
    ) -> Result<DynTensor, Problem> {
        self.expect_cells("grad", grad)?;
        let entries = Entries::of(self.places()?, self.last_stays)?;
        let listed = entries.listed(src)?;
        let initial = self.filled(&entries)?;
        let made = self.forward(&entries, &listed, result, initial.as_ref())?;
        let made = made.vjp(grad)?.src;
        let made = match &entries.picked {
            None => made,
            Some(picked) => {
                let sum = strew_engine::plan::reduce::Reduce::Sum;
                picked.scatter_dyn(&made.view(), 0, sum).map_err(own)?
            }
        };
        shaped(made, src.shape())
    }

    pub(super) fn folded_jvp(
        &self,
        argument: &'static str,
        tangent: &DynView<'_>,
        src: &DynView<'_>,
        result: Option<&DynView<'_>>,
    ) -> Result<DynTensor, Problem> {
        expect_like(argument, tangent, "the source's", src.dtype(), src.shape())?;
        let entries = Entries::of(self.places()?, self.last_stays)?;
        let (listed, tangents) = (entries.listed(src)?, entries.listed(tangent)?);
        let initial = self.filled(&entries)?;
        let made = self.forward(&entries, &listed, result, initial.as_ref())?;
        let made = made.jvp(None, &tangents.view())?;
        shaped(made, self.places()?.shape())
    }

    /// What each group starts from.
    fn filled(&self, entries: &Entries) -> Result<Option<DynTensor>, Problem> {
        let Some(initial) = self.initial else {
            return Ok(None);
        };
        let dtype = self.call.scatter()?.source()?.dtype();
        let one = initial.tensor("initial", dtype)?;
        let shape = [entries.plan.size(), entries.width];
        DynTensor::filled(dtype, &shape, one.as_bytes()).map(Some)
    }

    fn forward<'f>(
        &self,
        entries: &'f Entries,
        listed: &'f Packed<'_>,
        result: Option<&DynView<'f>>,
        initial: Option<&'f DynTensor>,
    ) -> Result<Forward<'f>, Problem> {
        let updates = [entries.plan.len(), entries.width];
        Ok(Forward {
            route: Route::along(&entries.plan, &updates, 0),
            rule: self.rule,
            own: initial.map_or(Own::Nothing, |initial| Own::Counted(initial.view())),
            src: listed.view(),
            result: result.cloned(),
        })
    }
}
