//! The way back of a scatter: cells that an index names, one for each element of a new tensor.

use crate::choose::execution::Execution;
use crate::choose::split::Split;
use crate::choose::strategy::Strategy;
use crate::scatter::destinations::Destinations;
use crate::scatter::reduction::Reduction;
use crate::scatter::space::Space;
use crate::scatter::{Output, Scatter, Target, apart};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{Dims, DynTensor, DynView, DynViewMut, Held, Layout};

/// A gather: which cell of an input each element of a new tensor is a copy of.
///
/// The cells are described as those that a scatter writes to; here they are read. The new tensor
/// has the shape of that scatter's updates; elements whose index is left out are zeros.
#[derive(Debug)]
pub struct Gather<'a> {
    places: Destinations<'a>,
    input: Held<'a>,
    shape: Option<Dims>,
    fill: Option<DynTensor>,
    strategy: Option<Strategy>,
    split: Option<(Split, usize)>,
}

impl<'a> Gather<'a> {
    /// `input` is what the places were made for.
    ///
    /// # Errors
    /// [`Problem::Shape`] if it has another shape.
    pub fn new(places: Destinations<'a>, input: impl Into<Held<'a>>) -> Result<Self, Problem> {
        let input = input.into();
        let (found, wanted) = (input.view().shape(), places.shape());
        if found != wanted {
            return Err(Problem::Shape {
                argument: "input",
                found: found.to_vec(),
                expected: format!("it must be {wanted:?}"),
            });
        }
        Ok(Self {
            places,
            input,
            shape: None,
            fill: None,
            strategy: None,
            split: None,
        })
    }

    /// Give the output another shape with as many elements.
    #[must_use]
    pub fn shaped(mut self, shape: &[usize]) -> Self {
        self.shape = Some(Dims::from_slice(shape));
        self
    }

    /// Elements whose index is left out are this one, of the input's type, and not zeros.
    #[must_use]
    pub fn filled(mut self, fill: DynTensor) -> Self {
        let fits = fill.dtype() == self.input.view().dtype() && fill.shape().is_empty();
        self.fill = fits.then_some(fill);
        self
    }

    /// Use a strategy whatever the cost model says; an error if it cannot run this. Only
    /// [`Strategy::InOrder`] can.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Option<Strategy>) -> Self {
        self.strategy = strategy;
        self
    }

    /// Share the run out in this way, among so many threads, whatever the cost model says; an
    /// error if that cannot be.
    #[must_use]
    pub fn with_split(mut self, split: Option<(Split, usize)>) -> Self {
        self.split = split;
        self
    }

    /// How this would run.
    ///
    /// # Errors
    /// [`Problem::Strategy`] if what was forced cannot run it.
    pub fn execution(&self) -> Result<Execution, Problem> {
        let input = self.input.view();
        let output = Layout::contiguous(input.dtype(), self.places.updates_shape())?;
        self.plan(&self.places.space(input.layout(), &output, false))
    }

    fn plan(&self, space: &Space<'_>) -> Result<Execution, Problem> {
        Execution::of_gather(space, self.input.view().dtype(), self.strategy, self.split)
    }

    /// Runs it.
    ///
    /// # Errors
    /// Any [`Problem`] with the indices or memory.
    pub fn run(self) -> Result<Output, Problem> {
        self.perform()
    }

    /// Makes every element the one for indices that are left out.
    fn fill(&self, argument: &'static str, view: DynViewMut<'_>) -> Result<(), Problem> {
        let places = Destinations::whole(view.shape(), &[]);
        let element = match &self.fill {
            Some(fill) => DynTensor::filled(fill.dtype(), &[], fill.as_bytes())?,
            None => DynTensor::zeros(view.dtype(), &[])?,
        };
        let wide = Held::from(element).map(|one| one.broadcast_to(view.shape()));
        let reduction = Reduction::into_self(Combine::Assign);
        let target = Target::InPlace { argument, view };
        match wide {
            Some(wide) => Scatter::new(places, reduction, "fill", wide, target)?
                .run()
                .map(drop),
            None => Ok(()),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'a> Gather<'a> {
    /// The cells that it reads.
    pub fn places(&self) -> &Destinations<'a> {
        &self.places
    }

    /// What it reads, of the shape that the places were made for.
    pub fn input(&self) -> &DynView<'_> {
        self.input.view()
    }

    /// The shape of the result.
    pub fn result_shape(&self) -> &[usize] {
        self.shape.as_deref().unwrap_or(self.places.updates_shape())
    }

    /// Elements of the new tensor, which need not exist yet: there may be more than can.
    pub fn cells(&self) -> usize {
        let shape = self.places.updates_shape().iter();
        shape.fold(1, |cells, &len| cells.saturating_mul(len))
    }

    /// Refuses memory for the result that shares some with what is read.
    pub fn check_overlap(
        &self,
        input: &'static str,
        argument: &'static str,
        view: &mut DynViewMut<'_>,
    ) -> Result<(), Problem> {
        let inputs = self.places.inputs();
        apart(argument, view, inputs.chain([(input, self.input.view())]))
    }

    /// Runs it into memory of the caller's, of the result's shape and the input's type. A fill is
    /// written only if an index is left out.
    ///
    /// # Errors
    /// Any [`Problem`] with the memory or the indices; a part of the memory may have been written
    /// then.
    pub fn run_into(
        &self,
        argument: &'static str,
        mut view: DynViewMut<'_>,
    ) -> Result<(), Problem> {
        let input = self.input.view();
        let (found, wanted) = (view.shape(), self.places.updates_shape());
        if found != wanted || view.dtype() != input.dtype() {
            return Err(Problem::Shape {
                argument,
                found: found.to_vec(),
                expected: format!("it must be {wanted:?}, of {}", input.dtype()),
            });
        }
        self.check_overlap("input", argument, &mut view)?;
        let layout = view.layout().clone();
        let space = self.places.space(input.layout(), &layout, false);
        if self.places.drops() && !space.leaves_none_out() {
            self.fill(argument, view.reborrow())?;
        }
        let run = self.plan(&space)?.gather(&space, input, view);
        run.map_err(|fault| fault.into_problem(|| self.places.find_out_of_bounds()))
    }

    /// [`run`](Self::run) of a gather that stays where it is.
    pub fn perform(&self) -> Result<Output, Problem> {
        let input = self.input.view();
        let shape = self.places.updates_shape();
        let mut tensor = match self.places.drops() {
            true => match &self.fill {
                Some(fill) => DynTensor::filled(input.dtype(), shape, fill.as_bytes())?,
                None => DynTensor::zeros(input.dtype(), shape)?,
            },
            false => DynTensor::scratch(input.dtype(), shape)?,
        };
        let space = self.places.space(input.layout(), tensor.layout(), false);
        let run = self.plan(&space)?.gather(&space, input, tensor.view_mut());
        run.map_err(|fault| fault.into_problem(|| self.places.find_out_of_bounds()))?;
        if let Some(shape) = &self.shape {
            tensor = tensor.reshape(shape).unwrap_or_else(|tensor| tensor);
        }
        Ok(Output {
            tensor: Some(tensor),
            arg: None,
        })
    }
}
