//! The forward computation, as far as its derivatives need it.

use crate::grad::field::{Field, for_field, load, store};
use crate::grad::products::{Factors, map, zip};
use crate::grad::route::{Packed, Route, packed};
use strew_engine::describe::bounds::{Bounds, Negative, OutOfRange};
use strew_engine::describe::destinations::{Destinations, Place};
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_engine::plan::reduce::Reduce;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DynTensor, DynView, Tensor};

/// How a cell's result depends on its updates and on what it held before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Sum,
    Mean,
    Prod,
    /// Minimum or maximum: all that equal the result share.
    Ties,
    /// Strict minimum or maximum: the first that no other beats takes all.
    First {
        max: bool,
    },
    /// The last one takes all.
    Last,
}

/// What the cells held before.
#[derive(Clone, Debug)]
pub(super) enum Own<'a> {
    /// Nothing of the caller's: the result was a new tensor.
    Nothing,
    /// What the updates replace where they go.
    Replaced,
    /// One more of what is reduced.
    Counted(DynView<'a>),
}

/// One forward computation. All views have as many elements as the route's cells or updates.
pub(super) struct Forward<'a> {
    pub(super) route: Route,
    pub(super) rule: Rule,
    pub(super) own: Own<'a>,
    pub(super) src: DynView<'a>,
    /// Its result. [`Rule::Ties`] needs it, [`Rule::Prod`] is faster with it, the others do not
    /// read it.
    pub(super) result: Option<DynView<'a>>,
}

/// Cotangents: those of what the cells held before, if that was the caller's, and those of the
/// updates.
#[derive(Debug)]
pub(super) struct Gradients {
    pub(super) own: Option<DynTensor>,
    pub(super) src: DynTensor,
}

impl Forward<'_> {
    /// The double backward of a product: the cotangents of its gradients, taken back to the
    /// cotangent of the result, to what the cells held before, and to the updates.
    pub(super) fn double_vjp(
        &self,
        grad: &DynView<'_>,
        own: Option<&DynView<'_>>,
        src: &DynView<'_>,
    ) -> Result<(DynTensor, Gradients), Problem> {
        let _floats = DefaultFloats::enter();
        let grad = packed(grad, self.route.cells())?;
        for_field!(grad.view().dtype(), A => self.prod_double_vjp::<A>(&grad.view(), own, src))
    }

    fn prod_double_vjp<A: Field>(
        &self,
        grad: &DynView<'_>,
        own: Option<&DynView<'_>>,
        src: &DynView<'_>,
    ) -> Result<(DynTensor, Gradients), Problem> {
        let route = &self.route;
        let factors = self.factors::<A>()?;
        let src: Tensor<A> = load(src, route.updates())?;
        let own: Option<Tensor<A>> = own.map(|own| load(own, route.cells())).transpose()?;
        // The gradients are linear in the cotangent of the result, with the Jacobian's own weights.
        let to_grad = self.moved(&factors, own.as_ref(), &src)?;
        let to_grad = store(to_grad, grad.dtype(), route.cells())?;

        let (turned, turned_own) = factors.turned(&src, own.as_ref())?;
        let mut to_src: Tensor<A> = load(&route.gather_dyn(grad)?.view(), route.updates())?;
        times_conj(&mut to_src, &turned);
        let mut to_src = store(to_src, self.src.dtype(), route.updates())?;
        route.clear_dropped(&mut to_src)?;
        let to_own = match (turned_own, &self.own) {
            (Some(turned), _) => {
                let mut to_own: Tensor<A> = load(grad, route.cells())?;
                times_conj(&mut to_own, &turned);
                route.keep_untouched(&mut to_own, |_| A::ZERO)?;
                Some(store(to_own, grad.dtype(), route.cells())?)
            }
            (None, Own::Nothing) => None,
            (None, _) => Some(DynTensor::zeros(grad.dtype(), route.cells())?),
        };
        let gradients = Gradients {
            own: to_own,
            src: to_src,
        };
        Ok((to_grad, gradients))
    }

    /// The tangents of the products, from those of the factors.
    pub(super) fn moved<A: Field>(
        &self,
        factors: &Factors<'_, A>,
        own: Option<&Tensor<A>>,
        src: &Tensor<A>,
    ) -> Result<Tensor<A>, Problem> {
        let route = &self.route;
        let each = zip(src, &factors.weights()?, |t, weight| t * weight)?;
        let mut cells = match (own, factors.own_weights()?) {
            (Some(own), Some(weights)) => zip(own, &weights, |t, weight| t * weight)?,
            _ => Tensor::zeros(route.cells())?,
        };
        route.join(&each, Reduce::Sum, &mut cells)?;
        if let Some(own) = own {
            route.keep_untouched(&mut cells, |at| own.as_slice()[at])?;
        }
        Ok(cells)
    }

    pub(super) fn factors<A: Field>(&self) -> Result<Factors<'_, A>, Problem> {
        let own = match &self.own {
            Own::Counted(view) => Some(load(view, self.route.cells())?),
            Own::Nothing | Own::Replaced => None,
        };
        Factors::new(&self.route, load(&self.src, self.route.updates())?, own)
    }

    /// The positions of the winners of a strict minimum or maximum.
    pub(super) fn winners(&self, max: bool) -> Result<Tensor<i64>, Problem> {
        let src = packed(&self.src, self.route.updates())?;
        let beaten;
        let own: Option<Packed<'_>> = match &self.own {
            Own::Nothing => None,
            Own::Counted(view) => Some(packed(view, self.route.cells())?),
            Own::Replaced => {
                beaten = self.route.beaten_by_all(&src.view(), max)?;
                Some(Packed::View(beaten.view()))
            }
        };
        let start = own.as_ref().map(Packed::view);
        self.route.winners(&src.view(), max, start.as_ref())
    }

    /// Which updates and cells equal the result.
    pub(super) fn ties<A: Field>(&self) -> Result<Ties, Problem> {
        let route = &self.route;
        let result = self
            .result
            .as_ref()
            .ok_or(Problem::Missing { argument: "result" })?;
        let result = packed(result, route.cells())?;
        let there: Tensor<A> = load(&route.gather_dyn(&result.view())?.view(), route.updates())?;
        let src = tied(&load::<A>(&self.src, route.updates())?, &there)?;
        let mut counts = route.sum(&src)?;
        let own = match &self.own {
            Own::Counted(view) => {
                let result: Tensor<A> = load(&result.view(), route.cells())?;
                let own = tied(&load::<A>(view, route.cells())?, &result)?;
                let counts = counts.as_mut_slice().iter_mut();
                counts.zip(own.as_slice()).for_each(|(n, own)| *n += own);
                Some(own)
            }
            Own::Nothing | Own::Replaced => None,
        };
        Ok(Ties { src, own, counts })
    }
}

/// Which updates and cells equal the result of a minimum or maximum (1 or 0), and how many of each
/// cell do.
pub(super) struct Ties {
    pub(super) src: Tensor<i64>,
    /// What the cells held before, if that counts.
    pub(super) own: Option<Tensor<i64>>,
    pub(super) counts: Tensor<i64>,
}

fn tied<A: Field>(values: &Tensor<A>, results: &Tensor<A>) -> Result<Tensor<i64>, Problem> {
    let mut made = Tensor::<i64>::zeros(values.shape())?;
    let pairs = values.as_slice().iter().zip(results.as_slice());
    for (made, (&value, &result)) in made.as_mut_slice().iter_mut().zip(pairs) {
        *made = i64::from(value.ties(result));
    }
    Ok(made)
}

fn times_conj<A: Field>(values: &mut Tensor<A>, weights: &Tensor<A>) {
    let pairs = values.as_mut_slice().iter_mut().zip(weights.as_slice());
    pairs.for_each(|(value, weight)| *value = *value * weight.conj());
}

/// A new tensor of zeros of shape `shape` in which each cell's value stands at its position along
/// `axis`; what has no position there is left out. Positions are not negative.
pub(super) fn to_positions(
    cells: &DynView<'_>,
    at: &DynView<'_>,
    axis: usize,
    shape: &[usize],
) -> Result<DynTensor, Problem> {
    let bounds = Bounds {
        negative: Negative::Reject,
        out_of_range: OutOfRange::Drop,
        ignored: None,
    };
    let place = Place {
        axes: 0..shape.len(),
        tuple: None,
    };
    let to = Destinations::elements(shape, "arg", at, axis, place, bounds)?;
    let target = Target::New {
        dtype: cells.dtype(),
        start: Start::Zero,
    };
    let assign = Reduction::into_self(Combine::Assign);
    let made = Scatter::new(to, assign, "grad", cells.clone(), target)?.run()?;
    Ok(made.tensor.expect("a scatter into a new tensor makes one"))
}

/// A copy that may be changed.
pub(super) fn copy<A: Field>(of: &Tensor<A>) -> Result<Tensor<A>, Problem> {
    map(of, |value| value)
}
