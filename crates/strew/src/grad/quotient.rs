//! Quotients: cells that are divided by their updates.
//!
//! With q = c / (u1 u2 ..), a cell's own value c has the weight 1 / (u1 u2 ..), and an update u the
//! weight -q / u.

use crate::grad::field::{Field, for_field, load, store};
use crate::grad::gathered;
use crate::grad::products::{map, zip};
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DynTensor, DynView, Tensor, shaped};

pub(super) struct Quotient<'q, 'a> {
    scatter: &'q Scatter<'a>,
    /// The quotients.
    result: DynTensor,
}

impl<'q, 'a> Quotient<'q, 'a> {
    /// `own`: what the cells held before.
    pub(super) fn new(scatter: &'q Scatter<'a>, own: &DynView<'_>) -> Result<Self, Problem> {
        let result = divided(scatter, own)?;
        Ok(Self { scatter, result })
    }

    /// The cotangents of what the cells held before, and of the updates.
    pub(super) fn vjp(
        &self,
        grad: &DynView<'_>,
    ) -> Result<(Option<DynTensor>, DynTensor), Problem> {
        let scatter = self.scatter;
        let grad = shaped(grad.to_tensor()?, scatter.destinations().shape())?;
        let dtype = grad.dtype();
        let own = for_field!(dtype, A => {
            // The weight's conjugate is that of the conjugate gradient, which is divided.
            let grads: Tensor<A> = load(&grad.view(), grad.shape())?;
            let turned = store(map(&grads, |one| one.conj())?, dtype, grad.shape())?;
            let made = divided(scatter, &turned.view())?;
            let made: Tensor<A> = load(&made.view(), made.shape())?;
            store(map(&made, |one| one.conj())?, dtype, grad.shape())
        })?;
        let picked = gathered(scatter.destinations(), &grad.view())?;
        let src = for_field!(dtype, A => {
            let grads: Tensor<A> = load(&picked.view(), picked.shape())?;
            let weights = self.weights::<A>()?;
            let made = zip(&grads, &weights, |grad, weight| grad * weight.conj())?;
            store(made, scatter.updates().dtype(), picked.shape())
        })?;
        Ok((Some(own), src))
    }

    /// The tangent of the quotients.
    pub(super) fn jvp(
        &self,
        own: Option<&DynView<'_>>,
        src: &DynView<'_>,
    ) -> Result<DynTensor, Problem> {
        let (scatter, dtype) = (self.scatter, self.result.dtype());
        let places = scatter.destinations();
        let moved = for_field!(dtype, A => {
            let tangents: Tensor<A> = load(src, places.updates_shape())?;
            let made = zip(&tangents, &self.weights::<A>()?, |t, weight| t * weight)?;
            store(made, dtype, places.updates_shape())
        })?;
        let start = match own {
            Some(own) => divided(scatter, own)?,
            None => DynTensor::zeros(dtype, places.shape())?,
        };
        let target = Target::New {
            dtype,
            start: Start::CopyOf(start.view()),
        };
        let sum = Reduction::into_self(Combine::Sum);
        let made = Scatter::new(places.by_ref(), sum, "src", moved.view(), target)?.run()?;
        Ok(made.tensor.expect("a scatter into a new tensor makes one"))
    }

    /// The weight of each update.
    fn weights<A: Field>(&self) -> Result<Tensor<A>, Problem> {
        let places = self.scatter.destinations();
        let shape = places.updates_shape();
        let results = gathered(places, &self.result.view())?;
        let results: Tensor<A> = load(&results.view(), shape)?;
        let updates: Tensor<A> = load(self.scatter.updates(), shape)?;
        zip(&results, &updates, |result, update| {
            A::ZERO - result / update
        })
    }
}

/// Cells divided by the scatter's updates.
fn divided(scatter: &Scatter<'_>, cells: &DynView<'_>) -> Result<DynTensor, Problem> {
    let cells = shaped(cells.to_tensor()?, scatter.destinations().shape())?;
    let made = scatter.repeated(Start::CopyOf(cells.view()), None)?;
    Ok(made.tensor.expect("a scatter into a new tensor makes one"))
}
