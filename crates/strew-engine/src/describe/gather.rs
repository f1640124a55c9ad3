//! The way back of a scatter: cells that an index names, one for each element of a new tensor.

use crate::describe::apart;
use crate::describe::destinations::Destinations;
use crate::describe::split::Split;
use crate::describe::strategy::Strategy;
use strew_kernel::error::Problem;
use strew_kernel::tensor::{Dims, DynTensor, DynView, DynViewMut, Held};

/// A gather: which cell of an input each element of a new tensor is a copy of.
///
/// The cells are described as those that a scatter writes to; here they are read. The new tensor
/// has the shape of that scatter's updates; elements whose index is left out are zeros.
#[derive(Debug)]
pub struct Gather<'a> {
    pub(crate) places: Destinations<'a>,
    pub(crate) input: Held<'a>,
    pub(crate) shape: Option<Dims>,
    pub(crate) fill: Option<DynTensor>,
    pub(crate) strategy: Option<Strategy>,
    pub(crate) split: Option<(Split, usize)>,
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

    /// Use a strategy whether or not it pays; an error if it cannot run this. Only
    /// [`Strategy::InOrder`] can.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Option<Strategy>) -> Self {
        self.strategy = strategy;
        self
    }

    /// Share the run out in this way, among this number of threads, even if it does not pay; an
    /// error if that cannot be.
    #[must_use]
    pub fn with_split(mut self, split: Option<(Split, usize)>) -> Self {
        self.split = split;
        self
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
}
