//! Derivatives of reductions of segments, which pointers or an ascending index make.
//!
//! Segments are seen as a plan: see `entries.rs`.

use crate::dialect::framework::bounds::DROP;
use crate::grad::entries::Entries;
use crate::grad::forward::{Forward, Own, Rule};
use crate::grad::route::{Packed, Route, own, packed};
use crate::grad::tangents::from_positions;
use strew_engine::describe::destinations::{Destinations, Place, Shapes};
use strew_engine::describe::pairing::Pairing;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_engine::plan::reduce::Reduce;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DynTensor, DynView, shaped};

/// A reduction of segments.
pub(super) struct Segments<'c, 'a> {
    scatter: &'c Scatter<'a>,
    rule: Rule,
    entries: Entries,
    /// What each segment starts from, as far as it is a factor.
    start: Option<DynTensor>,
    result: Option<DynTensor>,
}

impl<'c, 'a> Segments<'c, 'a> {
    pub(super) fn new(
        scatter: &'c Scatter<'a>,
        rule: Rule,
        start: Option<DynTensor>,
        result: Option<DynTensor>,
    ) -> Result<Self, Problem> {
        Ok(Self {
            scatter,
            rule,
            entries: Entries::of(scatter.destinations(), false)?,
            start,
            result,
        })
    }

    /// The gradient of the updates.
    pub(super) fn vjp(&self, grad: &DynView<'_>) -> Result<DynTensor, Problem> {
        let places = self.scatter.destinations();
        if let Rule::First { .. } = self.rule {
            let at = self.positions()?;
            let grad = packed(grad, places.shape())?;
            return summed_at(
                &grad.view(),
                &at.view(),
                self.axis(),
                places.updates_shape(),
            );
        }
        let listed = self.entries.listed(self.scatter.updates())?;
        let made = self.forward(&listed).vjp(grad)?.src;
        let made = match &self.entries.picked {
            None => made,
            Some(picked) => picked
                .scatter_dyn(&made.view(), 0, Reduce::Sum)
                .map_err(own)?,
        };
        shaped(made, places.updates_shape())
    }

    /// The tangent of the result, given that of the updates.
    pub(super) fn jvp(&self, tangent: &DynView<'_>) -> Result<DynTensor, Problem> {
        let places = self.scatter.destinations();
        if let Rule::First { .. } = self.rule {
            let at = self.positions()?;
            let tangent = packed(tangent, places.updates_shape())?;
            let mut made = DynTensor::zeros(self.scatter.dtype(), places.shape())?;
            from_positions(&tangent.view(), &at.view(), self.axis(), &mut made)?;
            return Ok(made);
        }
        let listed = self.entries.listed(self.scatter.updates())?;
        let tangents = self.entries.listed(tangent)?;
        let still = match &self.start {
            Some(start) => Some(DynTensor::zeros(start.dtype(), start.shape())?),
            None => None,
        };
        let still = still.as_ref().map(DynTensor::view);
        let made = self
            .forward(&listed)
            .jvp(still.as_ref(), &tangents.view())?;
        shaped(made, places.shape())
    }

    fn forward<'f>(&'f self, listed: &'f Packed<'_>) -> Forward<'f> {
        let plan = &self.entries.plan;
        let start = self.start.as_ref();
        Forward {
            route: Route::along(plan, &[plan.len(), self.entries.width], 0),
            rule: self.rule,
            own: start.map_or(Own::Nothing, |start| Own::Counted(start.view())),
            src: listed.view(),
            result: self.result.as_ref().map(DynTensor::view),
        }
    }

    /// The axis that segments are along.
    fn axis(&self) -> usize {
        self.scatter.destinations().components()[0].axis
    }

    /// Where along the axis the winner of each cell is.
    fn positions(&self) -> Result<DynTensor, Problem> {
        let none = self.scatter.destinations().updates_shape()[self.axis()];
        let start = match self.scatter.target() {
            Target::New { start, .. } => start.clone(),
            Target::InPlace { .. } => Start::FiniteExtreme,
        };
        let made = self
            .scatter
            .repeated(start, Some(none.cast_signed() as i64))?;
        Ok(made.arg.expect("it was run with positions"))
    }
}

/// The gradient of the rows of a gather whose rows an index or pointers name: for each row the sum
/// of the cells that it is in. Where pointers name a cell several times, the last row is in it.
pub(super) fn read_vjp(
    places: &Destinations<'_>,
    pairing: Pairing,
    grad: &DynView<'_>,
) -> Result<DynTensor, Problem> {
    let component = &places.components()[0];
    let shapes = Shapes {
        destination: places.updates_shape(),
        updates: places.shape(),
    };
    let back = Destinations::runs(
        shapes,
        component.argument,
        component.index.view().clone(),
        component.axis,
        component.place.clone(),
        pairing,
    )?;
    let entries = Entries::of(&back, true)?;
    let route = Route::along(&entries.plan, &[entries.plan.len(), entries.width], 0);
    let made = route.scatter_dyn(&entries.listed(grad)?.view(), Reduce::Sum)?;
    shaped(made, back.shape())
}

/// The tangent of such a gather: the gather of the rows' tangents.
pub(super) fn read_jvp(scatter: &Scatter<'_>, tangent: &DynView<'_>) -> Result<DynTensor, Problem> {
    let places = scatter.destinations();
    let target = Target::New {
        dtype: tangent.dtype(),
        start: Start::Zero,
    };
    let tangent = packed(tangent, places.updates_shape())?;
    let (assign, name) = (scatter.reduction(), scatter.updates_argument());
    let made = Scatter::new(places.by_ref(), assign, name, tangent.view(), target)?.run()?;
    Ok(made.tensor.expect("a scatter into a new tensor makes one"))
}

/// A new tensor with each cell's value added at its position along an axis; the position that
/// stands for none is left out.
fn summed_at(
    cells: &DynView<'_>,
    at: &DynView<'_>,
    axis: usize,
    shape: &[usize],
) -> Result<DynTensor, Problem> {
    let place = Place {
        axes: 0..shape.len(),
        tuple: None,
    };
    let to = Destinations::elements(shape, "arg", at, axis, place, DROP)?;
    let target = Target::New {
        dtype: cells.dtype(),
        start: Start::Zero,
    };
    let sum = Reduction::into_self(Combine::Sum);
    let made = Scatter::new(to, sum, "grad", cells.clone(), target)?.run()?;
    Ok(made.tensor.expect("a scatter into a new tensor makes one"))
}
