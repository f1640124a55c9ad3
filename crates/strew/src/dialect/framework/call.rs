//! A checked call: the work that an operator was lowered to, and the operator that its problems are
//! reported for.

use crate::dialect::framework::composite::Composed;
use crate::dialect::framework::custom::Stepwise;
use crate::dialect::framework::into_out::Delivered;
use strew_engine::context::Context;
use strew_engine::describe::gather::Gather;
use strew_engine::describe::split::Split;
use strew_engine::describe::strategy::Strategy;
use strew_engine::describe::{Output, Scatter};
use strew_engine::explain::profile::Profile;
use strew_engine::strategy::execution::Execution;
use strew_kernel::error::{Class, Problem, Result};
use strew_kernel::ops::cast::converted;
use strew_kernel::tensor::{DType, DynTensor, Element, Scalar, Tensor};

/// A checked call of an operator: it can be run, or asked how it would run.
#[derive(Debug)]
pub struct Call<'a> {
    context: Context,
    work: Work<'a>,
    /// The type that the work's tensor is converted to, if that is another one.
    becomes: Option<DType>,
    /// What the updates were multiplied with, for derivatives.
    factor: Option<Scalar>,
}

/// The work that an operator was lowered to.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is one at a time, and it stays where it was made.
pub(crate) enum Work<'a> {
    Scatter(Scatter<'a>),
    Gather(Gather<'a>),
    Composed(Composed<'a>),
    Delivered(Box<Delivered<'a>>),
    Stepwise(Stepwise<'a>),
}

impl<'a> From<Scatter<'a>> for Work<'a> {
    #[inline(always)] // As `Call::new`.
    fn from(scatter: Scatter<'a>) -> Self {
        Self::Scatter(scatter)
    }
}

impl<'a> From<Gather<'a>> for Work<'a> {
    fn from(gather: Gather<'a>) -> Self {
        Self::Gather(gather)
    }
}

impl<'a> From<Composed<'a>> for Work<'a> {
    fn from(composed: Composed<'a>) -> Self {
        Self::Composed(composed)
    }
}

impl<'a> From<Delivered<'a>> for Work<'a> {
    fn from(delivered: Delivered<'a>) -> Self {
        Self::Delivered(Box::new(delivered))
    }
}

impl<'a> From<Stepwise<'a>> for Work<'a> {
    fn from(stepwise: Stepwise<'a>) -> Self {
        Self::Stepwise(stepwise)
    }
}

/// A checked call that has not been moved, to be run once.
#[derive(Debug)]
pub struct Ready<'c, 'a>(pub(crate) &'c mut Call<'a>);

impl Ready<'_, '_> {
    /// Elements of the destination, which need not exist yet: there may be more than can.
    #[must_use]
    pub fn cells(&self) -> usize {
        match &self.0.work {
            Work::Scatter(scatter) => scatter.cells(),
            Work::Gather(gather) => gather.cells(),
            Work::Composed(composed) => composed.cells(),
            Work::Delivered(delivered) => delivered.cells(),
            Work::Stepwise(stepwise) => stepwise.cells(),
        }
    }

    /// Runs the operator.
    ///
    /// # Errors
    /// As [`Call::run`].
    pub fn run(self) -> Result<Output> {
        self.0.perform()
    }
}

impl<'a> Call<'a> {
    #[inline(always)] // A scatter is large: it is made where it stays.
    pub(crate) fn new(context: Context, work: impl Into<Work<'a>>) -> Self {
        Self {
            context,
            work: work.into(),
            becomes: None,
            factor: None,
        }
    }

    /// The same, whose updates are an argument times a number.
    pub(crate) fn with_factor(mut self, factor: Scalar) -> Self {
        self.factor = Some(factor);
        self
    }

    /// What the updates were multiplied with.
    pub(crate) fn factor(&self) -> Option<Scalar> {
        self.factor
    }

    /// The same with the new tensor's elements converted to another type: floats are rounded to the
    /// nearest.
    pub(crate) fn converted_to(mut self, dtype: DType) -> Self {
        self.becomes = Some(dtype);
        self
    }

    /// Runs the operator.
    ///
    /// # Errors
    /// What only the index values or the machine can tell: indices out of bounds, memory.
    pub fn run(mut self) -> Result<Output> {
        self.perform()
    }

    /// Runs an operator that makes a tensor.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[inline(always)] // As `Call::new`.
    pub(crate) fn run_dyn(self) -> Result<DynTensor> {
        Ok(crate::dialect::tensor(self.run()?.tensor))
    }

    /// Runs an operator that makes a tensor, whose type is that of the typed arguments.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[inline(always)] // As `Call::new`.
    pub(crate) fn run_typed<T: Element>(self) -> Result<Tensor<T>> {
        Ok(crate::dialect::typed(self.run()?.tensor))
    }

    /// Runs an operator that writes into an argument.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[inline(always)] // As `Call::new`.
    pub(crate) fn run_in_place(self) -> Result<()> {
        self.run().map(|_| ())
    }

    /// As [`run`](Self::run), for who looks at the call afterwards.
    pub(crate) fn perform(&mut self) -> Result<Output> {
        let done = match &mut self.work {
            Work::Scatter(scatter) => scatter.perform(),
            Work::Gather(gather) => gather.perform(),
            Work::Composed(composed) => composed.perform(),
            Work::Delivered(delivered) => delivered.perform(),
            Work::Stepwise(stepwise) => stepwise.perform(),
        };
        let becomes = self.becomes;
        done.and_then(|made| delivered(made, becomes))
            .map_err(|p| self.context.error(p))
    }

    /// The scatter that the call would run: derivatives read its destinations and its source.
    ///
    /// # Errors
    /// If that is no scatter.
    pub(crate) fn scatter(&self) -> Result<&Scatter<'a>, Problem> {
        match &self.work {
            Work::Scatter(scatter) => Ok(scatter),
            _ => Err(Problem::Kind {
                argument: "operator".into(),
                expected: "a scatter".into(),
                found: "something else".into(),
            }),
        }
    }

    /// The work, for derivatives; `None` if its result becomes another type.
    pub(crate) fn work(&self) -> Option<&Work<'a>> {
        self.becomes.is_none().then_some(&self.work)
    }

    /// The operator that problems are reported for, and the classes of its errors.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// How it would run. Of a call that takes several passes (a softmax), how its sum would run.
    ///
    /// # Errors
    /// If a forced strategy cannot run it.
    pub fn execution(&self) -> Result<Execution> {
        let execution = match &self.work {
            Work::Scatter(scatter) => scatter.execution(),
            Work::Gather(gather) => gather.execution(),
            Work::Composed(composed) => composed.execution(),
            Work::Delivered(delivered) => delivered.execution(),
            Work::Stepwise(stepwise) => stepwise.execution(),
        };
        execution.map_err(|p| self.context.error(p))
    }

    /// Where the updates would go; `None` for a call that is no single scatter, and for one whose
    /// rows lie one after the other. It reads the whole index.
    ///
    /// # Errors
    /// If an index value names no cell, or there is no room for the counts.
    pub fn profile(&self) -> Result<Option<Profile>> {
        match &self.work {
            Work::Scatter(scatter) => scatter.profile().map_err(|p| self.context.error(p)),
            _ => Ok(None),
        }
    }

    /// Forces a strategy; results do not depend on it.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Option<Strategy>) -> Self {
        self.work = match self.work {
            Work::Scatter(scatter) => scatter.with_strategy(strategy).into(),
            Work::Gather(gather) => gather.with_strategy(strategy).into(),
            Work::Composed(composed) => composed.with_strategy(strategy).into(),
            Work::Delivered(delivered) => delivered.with_strategy(strategy).into(),
            Work::Stepwise(stepwise) => stepwise.with_strategy(strategy).into(),
        };
        self
    }

    /// Forces how the run is shared out, and among how many threads; results do not depend on it.
    #[must_use]
    pub fn with_split(mut self, split: Option<(Split, usize)>) -> Self {
        self.work = match self.work {
            Work::Scatter(scatter) => scatter.with_split(split).into(),
            Work::Gather(gather) => gather.with_split(split).into(),
            Work::Composed(composed) => composed.with_split(split).into(),
            Work::Delivered(delivered) => delivered.with_split(split).into(),
            Work::Stepwise(stepwise) => stepwise.with_split(split).into(),
        };
        self
    }
}

/// What the work made, with its tensor in another type if that is asked for.
fn delivered(made: Output, becomes: Option<DType>) -> Result<Output, Problem> {
    let (Some(dtype), Some(tensor)) = (becomes, &made.tensor) else {
        return Ok(made);
    };
    Ok(Output {
        tensor: Some(converted(&tensor.view(), dtype)?),
        ..made
    })
}

/// The operator that problems are reported for, and the classes of its errors.
#[inline(always)] // As `Call::new`.
pub(crate) fn context(operator: &'static str, class: fn(&Problem) -> Class) -> Context {
    Context {
        operator: operator.into(),
        class,
    }
}

/// A context makes calls.
pub(crate) trait Describe {
    /// The lowered work as a call of the operator, or the problem as its error.
    fn call<'a>(self, described: Result<impl Into<Work<'a>>, Problem>) -> Result<Call<'a>>;
}

impl Describe for Context {
    #[inline(always)] // As `Call::new`.
    fn call<'a>(self, described: Result<impl Into<Work<'a>>, Problem>) -> Result<Call<'a>> {
        match described {
            Ok(work) => Ok(Call::new(self, work)),
            Err(problem) => Err(self.error(problem)),
        }
    }
}
