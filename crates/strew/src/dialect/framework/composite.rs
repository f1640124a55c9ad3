//! A call that takes several passes over the cells that an index names.

use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::split::Split;
use strew_engine::describe::strategy::Strategy;
use strew_engine::describe::{Output, Scatter, Start, Target};
use strew_engine::plan::Plan;
use strew_engine::plan::composite::{Along, Composite, rounded};
use strew_engine::strategy::execution::Execution;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{Dims, DynTensor, DynView, DynViewMut};
use strew_kernel::update::finalize::finalize;

/// A result of the values that go to each cell. The index is read and checked once, for all passes.
#[derive(Debug)]
pub(crate) struct Composed<'a> {
    what: Composite,
    /// The sum of the same values in the same cells.
    sums: Scatter<'a>,
    out: Option<DynViewMut<'a>>,
    forced: Option<&'static str>,
}

impl<'a> Composed<'a> {
    /// `out` has the shape of the cells and the type of the result.
    ///
    /// # Errors
    /// As [`Scatter::new`].
    pub(crate) fn new(
        what: Composite,
        cells: Destinations<'a>,
        src: DynView<'a>,
        out: Option<DynViewMut<'a>>,
    ) -> Result<Self, Problem> {
        let dtype = src.dtype();
        let start = Start::Zero;
        let target = Target::New { dtype, start };
        let sum = Reduction::into_self(Combine::Sum);
        Ok(Self {
            what,
            sums: Scatter::new(cells, sum, "src", src, target)?,
            out,
            forced: None,
        })
    }

    /// What is made of the values.
    pub(crate) fn what(&self) -> Composite {
        self.what
    }

    /// The sum of the same values in the same cells.
    pub(crate) fn sums(&self) -> &Scatter<'a> {
        &self.sums
    }

    /// The result in a new tensor.
    pub(crate) fn result(&self) -> Result<DynTensor, Problem> {
        let to = self.what.dtype(self.sums.source()?.dtype());
        rounded(self.make(None)?, to)
    }

    /// Elements of the result or of the cells, whichever are more.
    pub(crate) fn cells(&self) -> usize {
        let updates = self.sums.destinations().updates_shape().iter();
        let updates = updates.fold(1usize, |all, &len| all.saturating_mul(len));
        self.sums.cells().max(updates)
    }

    pub(crate) fn with_strategy(mut self, strategy: Option<Strategy>) -> Self {
        self.forced = strategy.map(Strategy::name).or(self.forced);
        self
    }

    pub(crate) fn with_split(mut self, split: Option<(Split, usize)>) -> Self {
        self.forced = split.map(|(split, _)| split.name()).or(self.forced);
        self
    }

    fn expect_free(&self) -> Result<(), Problem> {
        match self.forced {
            None => Ok(()),
            Some(strategy) => Err(Problem::Strategy {
                strategy,
                why: "it is several passes, of which each goes its own way",
            }),
        }
    }

    /// How the sum, one of the passes, would run.
    pub(crate) fn execution(&self) -> Result<Execution, Problem> {
        self.expect_free()?;
        self.sums.execution()
    }

    pub(crate) fn perform(&mut self) -> Result<Output, Problem> {
        self.expect_free()?;
        let mut out = self.out.take();
        if let Some(view) = &mut out {
            self.sums.check_overlap("out", view)?;
        }
        let own = out.as_ref().map(DynViewMut::as_view);
        let made = self.make(own.as_ref())?;
        if let Some(view) = &mut out {
            finalize(&made, view)?;
            return Ok(Output::default());
        }
        let to = self.what.dtype(self.sums.source()?.dtype());
        Ok(Output {
            tensor: Some(rounded(made, to)?),
            arg: None,
        })
    }

    /// The result in the accumulator of its type.
    fn make(&self, out: Option<&DynView<'_>>) -> Result<DynTensor, Problem> {
        let places = self.sums.destinations();
        let (plan, axis, updates) = plan_of(places)?;
        let along = Along {
            plan: &plan,
            axis,
            updates: &updates,
        };
        let made = along.make(self.what, &self.sums.source()?, out)?;
        let shape = match self.what.reduces() {
            true => places.shape(),
            false => places.updates_shape(),
        };
        Ok(made.reshape(shape).unwrap_or_else(|made| made))
    }
}

/// The index as a plan, its axis, and the shape in which it sees the updates.
///
/// # Errors
/// [`Problem::IndexOutOfBounds`], [`Problem::Memory`].
pub(crate) fn plan_of(places: &Destinations<'_>) -> Result<(Plan, usize, Dims), Problem> {
    let Some(line) = places.line() else {
        let (plan, width) = Plan::of_destinations(places)?;
        let updates = Dims::from_slice(&[plan.len(), width]);
        return Ok((plan, 0, updates));
    };
    let axis = places.components()[0].axis;
    let plan = Plan::of_destinations(&line).map_err(|mut problem| {
        if let Problem::IndexOutOfBounds { axis: of, .. } = &mut problem {
            *of = axis;
        }
        problem
    });
    Ok((plan?.0, axis, Dims::from_slice(places.updates_shape())))
}
