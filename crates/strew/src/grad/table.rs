//! Derivatives of the operators of the table.
//!
//! An operator is lowered to a scatter, to a gather, or to several passes over groups. That says how
//! its result depends on its arguments; its declaration says which of them have a derivative.

use crate::dialect::framework::call::{Call, Work};
use crate::dialect::framework::operator::{Arguments, Operator, Value};
use crate::grad::composite;
use crate::grad::field::{Field, for_field, load, store};
use crate::grad::forward::{Forward, Own, Rule};
use crate::grad::passes::{Spot, each_cell};
use crate::grad::products::map;
use crate::grad::quotient::Quotient;
use crate::grad::route::{Route, packed};
use crate::grad::seen::Seen;
use crate::grad::segment::{Segments, read_jvp, read_vjp};
use crate::grad::{expect_field, expect_like, in_row_order};
use strew_engine::describe::gather::Gather;
use strew_engine::describe::pairing::Pairing;
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::{Class, Error, Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DynTensor, DynView, Scalar, Tensor, shaped};

/// Gradients of arguments, with the arguments' names in the operator's order.
pub type Gradients = Vec<(&'static str, DynTensor)>;

/// The gradients of an operator's arguments, given that of its result.
///
/// * `arguments`: as for a run of the operator. A tensor that it would write to is not changed, and
///   the gradient is that of what the tensor holds. `out` is left out: a result has the same
///   gradients wherever it is written.
/// * `grad`: of the result's type and shape; of a minimum or maximum with positions, of its values.
///
/// There is a gradient for each tensor that the operator's row calls
/// [`differentiable`](crate::Argument::differentiable), of that tensor's type and shape. The rules
/// are [those of the module](crate::grad#the-jacobian-of-a-scatter). Of several elements that equal
/// a minimum or maximum, the first one has all of the gradient where the framework returns
/// positions (torch_scatter). Elsewhere they share it.
///
/// ```
/// use strew::{Arguments, TensorView, Value, find, grad};
///
/// let (mut x, indices, updates) = ([2.0, 5.0], [0i32, 0], [3.0, 0.0]);
/// let mut arguments = Arguments::new(find("mindspore.scatter_mul").unwrap());
/// arguments.set_named("input_x", Value::Target(strew::TensorViewMut::from(&mut x).into_dyn()))?;
/// arguments.set_named("indices", Value::Tensor(TensorView::from(&indices).into_dyn()))?;
/// arguments.set_named("updates", Value::Tensor(TensorView::from(&updates).into_dyn()))?;
///
/// let gradients = grad::vjp(arguments, &TensorView::from(&[1.0, 1.0]).into_dyn())?;
/// let (argument, to_updates) = &gradients[1];
/// assert_eq!(*argument, "updates");
/// assert_eq!(to_updates.view().typed::<f64>().unwrap().as_slice().unwrap(), [0.0, 6.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's. Of its framework's class for a type: one without gradients. [`Class::Type`]
/// for an operator whose result has no derivative (`numpy.power.at`), and if `out` is given.
pub fn vjp(arguments: Arguments<'_>, grad: &DynView<'_>) -> Result<Gradients> {
    of_call(arguments, |case| case.vjp(grad))
}

/// The tangent of an operator's result, given those of its arguments.
///
/// * `arguments`: as for [`vjp`].
/// * `tangents`: names of arguments, and for each a tensor of the argument's type and shape. Those of
///   other arguments are zero.
///
/// ```
/// use strew::{Arguments, TensorView, Value, find, grad};
///
/// let mut arguments = Arguments::new(find("torch_scatter.scatter_mul").unwrap());
/// arguments.set_named("src", Value::Tensor(TensorView::from(&[3.0, 0.0]).into_dyn()))?;
/// arguments.set_named("index", Value::Tensor(TensorView::from(&[0i64, 0]).into_dyn()))?;
/// let tangent = grad::jvp(arguments, &[("src", TensorView::from(&[1.0, 10.0]).into_dyn())])?;
/// assert_eq!(tangent.view().typed::<f64>().unwrap().as_slice().unwrap(), [30.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`vjp`]; of the framework's class for a value: a name that is not that of an argument with a
/// derivative.
pub fn jvp(arguments: Arguments<'_>, tangents: &[(&str, DynView<'_>)]) -> Result<DynTensor> {
    of_call(arguments, |case| case.jvp(tangents))
}

/// The double backward of an operator: what the cotangents of the gradients that [`vjp`] makes are
/// as gradients with respect to `grad`, which comes first, and to the arguments.
///
/// * `cotangents`: names of arguments, and for each a tensor of the argument's type and shape. Those
///   of other gradients are zero.
///
/// # Errors
/// As [`jvp`]. [`Class::Type`](crate::Class::Type) for quotients, for products of segments, and for
/// what takes several passes (deviations, softmax): they have no second derivatives here.
pub fn double_vjp(
    arguments: Arguments<'_>,
    grad: &DynView<'_>,
    cotangents: &[(&str, DynView<'_>)],
) -> Result<(DynTensor, Gradients)> {
    of_call(arguments, |case| case.double_vjp(grad, cotangents))
}

/// Lowers a call and derives it. The tensors with a derivative lie row by row then, in copies where
/// the caller's do not, and a copy stands for what the operator would write to.
fn of_call<R>(
    mut arguments: Arguments<'_>,
    derive: impl FnOnce(Case<'_>) -> Result<R, Problem>,
) -> Result<R> {
    let operator = arguments.operator();
    let wrong = |problem| named(operator, &Error::new("", Class::Type, problem));
    let given = arguments.take_differentiable();
    if let Some(argument) = arguments.written() {
        return Err(wrong(Problem::Kind {
            argument: argument.into(),
            expected: "left out where derivatives are taken".into(),
            found: "a tensor".into(),
        }));
    }
    let mut written = None;
    let mut tensors = Vec::new();
    for (place, value) in given {
        let view = match value {
            Value::Target(view) => {
                let view = view.into_view();
                written = Some((place, view.to_tensor().map_err(wrong)?));
                view
            }
            Value::Tensor(view) => view,
            _ => continue,
        };
        tensors.push((place, in_row_order(&view).map_err(wrong)?));
    }
    // From here on the arguments are borrowed from the tensors above.
    let mut arguments = arguments;
    let mut given = Vec::new();
    for (place, tensor) in &tensors {
        given.push((operator.arguments[*place].name, tensor.view()));
        arguments.put(*place, Value::Tensor(tensor.view()));
    }
    if let Some((place, copy)) = &mut written {
        arguments.put(*place, Value::Target(copy.view_mut()));
    }
    let call = arguments.lower().map_err(|error| named(operator, &error))?;
    let context = call.context().clone();
    let case = Case {
        operator,
        given,
        call,
    };
    let fields = case.given.iter();
    let fields = fields.map(|(argument, view)| expect_field(argument, view.dtype()));
    let derived = fields
        .collect::<Result<(), _>>()
        .and_then(|()| derive(case));
    derived.map_err(|problem| named(operator, &context.error(problem)))
}

/// The error of an operator as one of its derivative.
fn named(operator: &Operator, error: &Error) -> Error {
    // An operator may add the caller's name for the call to its own.
    let label = error.operator().strip_prefix(operator.name).unwrap_or("");
    let name = format!("grad.{}{label}", operator.name);
    Error::new(name, error.class(), error.problem().clone())
}

/// A checked call.
struct Case<'a> {
    operator: &'static Operator,
    /// The tensors with a derivative, which lie row by row.
    given: Vec<(&'static str, DynView<'a>)>,
    call: Call<'a>,
}

/// What a call comes to.
enum Kind<'c, 'a> {
    Cells(Cells<'c, 'a>),
    Gather(&'c Gather<'a>, Read<'c>),
    Passes(composite::Passed<'c, 'a>, Read<'c>),
}

/// An argument, and how the call sees it.
struct Read<'c> {
    argument: &'static str,
    tensor: &'c DynView<'c>,
    view: DynView<'c>,
    seen: Seen,
}

impl<'c> Read<'c> {
    fn new(
        (argument, tensor): &'c (&'static str, DynView<'c>),
        view: &DynView<'c>,
    ) -> Result<Self, Problem> {
        Ok(Self {
            argument,
            tensor,
            view: view.clone(),
            seen: Seen::new(argument, view, tensor)?,
        })
    }

    /// A gradient of what the call sees, as that of the argument.
    fn gradient(&self, of_view: DynTensor) -> Result<DynTensor, Problem> {
        self.seen.give_back(of_view, self.tensor)
    }

    /// The argument's tensor among others by name, as the call sees the argument.
    fn among(&self, all: &[(&str, DynView<'_>)]) -> Result<Option<DynTensor>, Problem> {
        let found = all.iter().find(|(name, _)| *name == self.argument);
        let Some((_, found)) = found else {
            return Ok(None);
        };
        let (dtype, shape) = (self.tensor.dtype(), self.tensor.shape());
        expect_like(self.argument, found, "the argument's", dtype, shape)?;
        self.seen.take(found).map(Some)
    }

    /// The same, or zeros.
    fn among_or_zeros(&self, all: &[(&str, DynView<'_>)]) -> Result<DynTensor, Problem> {
        match self.among(all)? {
            Some(found) => Ok(found),
            None => DynTensor::zeros(self.tensor.dtype(), &[self.seen.len(self.tensor)]),
        }
    }

    fn zeros(&self) -> Result<(&'static str, DynTensor), Problem> {
        let zeros = DynTensor::zeros(self.tensor.dtype(), self.tensor.shape())?;
        Ok((self.argument, zeros))
    }
}

/// A scatter, with its arguments.
struct Cells<'c, 'a> {
    scatter: &'c Scatter<'a>,
    /// What the cells held before.
    own: Option<Read<'c>>,
    src: Option<Read<'c>>,
    /// What the argument is multiplied with, so that it becomes the updates.
    factor: Option<Scalar>,
    rule: CellRule,
}

/// How a cell's result depends on its updates.
#[derive(Clone, Copy, PartialEq)]
enum CellRule {
    Fold(Rule),
    Quotient,
}

impl<'a> Case<'a> {
    fn kind(&self) -> Result<Kind<'_, 'a>, Problem> {
        match self.call.work() {
            Some(Work::Scatter(scatter)) => self.cells(scatter).map(Kind::Cells),
            Some(Work::Gather(gather)) => {
                let input = self.given.first().ok_or_else(|| self.constant())?;
                Ok(Kind::Gather(gather, Read::new(input, gather.input())?))
            }
            Some(Work::Composed(composed)) => {
                let src = self.given.first().ok_or_else(|| self.constant())?;
                let src = Read::new(src, composed.sums().updates())?;
                Ok(Kind::Passes(composite::Passed::new(composed)?, src))
            }
            _ => Err(self.constant()),
        }
    }

    /// The problem of an operator without a derivative.
    fn constant(&self) -> Problem {
        Problem::Kind {
            argument: "operator".into(),
            expected: "one whose result has a derivative".into(),
            found: format!("{} with these arguments", self.operator.name),
        }
    }

    fn cells<'c>(&'c self, scatter: &'c Scatter<'a>) -> Result<Cells<'c, 'a>, Problem> {
        let updates = scatter.updates_argument();
        let named = |is_updates: bool| {
            let mut given = self.given.iter();
            given.find(|(argument, _)| (*argument == updates) == is_updates)
        };
        let src = named(true).map(|src| Read::new(src, scatter.updates()));
        let own = named(false).map(|own| match scatter.target() {
            Target::New {
                start: Start::CopyOf(view),
                ..
            } => Read::new(own, view),
            // The copy that is written to has the tensor's order.
            _ => Read::new(own, &own.1),
        });
        let reduction = scatter.reduction();
        let first = self.operator.name.starts_with("torch_scatter.");
        Ok(Cells {
            scatter,
            own: own.transpose()?,
            src: src.transpose()?,
            factor: self.call.factor(),
            rule: rule(reduction, first),
        })
    }

    fn vjp(self, grad: &DynView<'_>) -> Result<Gradients, Problem> {
        match self.kind()? {
            Kind::Cells(cells) => cells.vjp(grad),
            Kind::Gather(gather, input) => {
                let of_input = gathered_vjp(gather, grad)?;
                Ok(vec![(input.argument, input.gradient(of_input)?)])
            }
            Kind::Passes(passed, src) => {
                let of_src = passed.vjp(grad)?;
                Ok(vec![(src.argument, src.gradient(of_src)?)])
            }
        }
    }

    fn jvp(self, tangents: &[(&str, DynView<'_>)]) -> Result<DynTensor, Problem> {
        self.expect_known(tangents)?;
        self.tangent(tangents)
    }

    fn tangent(&self, tangents: &[(&str, DynView<'_>)]) -> Result<DynTensor, Problem> {
        match self.kind()? {
            Kind::Cells(cells) => cells.jvp(tangents),
            Kind::Gather(gather, input) => {
                let tangent = input.among_or_zeros(tangents)?;
                let tangent = shaped(tangent, gather.places().shape())?;
                gathered(gather, &tangent.view())
            }
            Kind::Passes(passed, src) => passed.jvp(&src.among_or_zeros(tangents)?.view()),
        }
    }

    fn double_vjp(
        self,
        grad: &DynView<'_>,
        cotangents: &[(&str, DynView<'_>)],
    ) -> Result<(DynTensor, Gradients), Problem> {
        self.expect_known(cotangents)?;
        match self.kind()? {
            Kind::Cells(cells) if cells.rule == CellRule::Fold(Rule::Prod) => {
                cells.double_vjp(grad, cotangents)
            }
            Kind::Cells(cells) if cells.rule == CellRule::Quotient => Err(no_second()),
            Kind::Passes(..) => Err(no_second()),
            // The gradients are linear in that of the result, and do not depend on the arguments.
            kind => {
                let zeros = match &kind {
                    Kind::Cells(cells) => {
                        let all = cells.own.iter().chain(&cells.src);
                        all.map(Read::zeros).collect::<Result<_, _>>()?
                    }
                    Kind::Gather(_, read) | Kind::Passes(_, read) => vec![read.zeros()?],
                };
                let to_grad = self.tangent(cotangents)?;
                expect_like(
                    "grad",
                    grad,
                    "the result's",
                    to_grad.dtype(),
                    to_grad.shape(),
                )?;
                Ok((to_grad, zeros))
            }
        }
    }

    /// Refuses names of arguments without a derivative.
    fn expect_known(&self, tensors: &[(&str, DynView<'_>)]) -> Result<(), Problem> {
        let known: Vec<&str> = self.given.iter().map(|(argument, _)| *argument).collect();
        let unknown = tensors.iter().find(|(name, _)| !known.contains(name));
        unknown.map_or(Ok(()), |(name, _)| {
            Err(Problem::Value {
                argument: "argument".into(),
                value: (*name).into(),
                expected: format!("those with a derivative are {}", known.join(", ")),
            })
        })
    }
}

fn no_second() -> Problem {
    Problem::Kind {
        argument: "operator".into(),
        expected: "one with a second derivative".into(),
        found: "a quotient, a product of segments, or several passes over groups".into(),
    }
}

/// The rule of a reduction. `first`: of several that equal an extreme the first one counts.
fn rule(reduction: Reduction, first: bool) -> CellRule {
    fold_rule(reduction, first).map_or(CellRule::Quotient, CellRule::Fold)
}

/// The same of a fold; `None` for a quotient, which is none.
pub(super) fn fold_rule(reduction: Reduction, first: bool) -> Option<Rule> {
    let extreme = |max| match first {
        true => Rule::First { max },
        false => Rule::Ties,
    };
    Some(match (reduction.combine, reduction.finish) {
        (Combine::Assign, _) => Rule::Last,
        (Combine::Sum | Combine::Sub, Finish::Mean { .. } | Finish::MeanTowardZero { .. }) => {
            Rule::Mean
        }
        (Combine::Sum | Combine::Sub, _) => Rule::Sum,
        (Combine::Prod, _) => Rule::Prod,
        (Combine::Div, _) => return None,
        (Combine::Min(_), _) => extreme(false),
        (Combine::Max(_), _) => extreme(true),
    })
}

impl<'c, 'a> Cells<'c, 'a> {
    fn vjp(&self, grad: &DynView<'_>) -> Result<Gradients, Problem> {
        expect_like(
            "grad",
            grad,
            "the result's",
            self.scatter.dtype(),
            self.shape(),
        )?;
        let (own, src) = self.cotangents(grad)?;
        let mut gradients = Vec::new();
        if let (Some(read), Some(own)) = (&self.own, own) {
            gradients.push((read.argument, read.gradient(own)?));
        }
        if let Some(read) = &self.src {
            let src = self.scaled(src, true)?;
            gradients.push((read.argument, read.gradient(src)?));
        }
        Ok(gradients)
    }

    /// Those of what the cells held before, and of the updates.
    fn cotangents(&self, grad: &DynView<'_>) -> Result<(Option<DynTensor>, DynTensor), Problem> {
        let CellRule::Fold(rule) = self.rule else {
            return self.quotient()?.vjp(grad);
        };
        if let Some(back) = self.read_back() {
            self.expect_no_fault()?;
            let grad = packed(grad, self.scatter.destinations().shape())?;
            let to_src = read_vjp(self.scatter.destinations(), back, &grad.view())?;
            return Ok((None, to_src));
        }
        if let Some(segments) = self.segments(rule)? {
            return Ok((None, segments.vjp(grad)?));
        }
        let route = self.route()?;
        let over;
        let mut grad = grad.clone();
        if self.scatter.reduction().finish == Finish::DivideByRoot {
            over = over_roots(&route, &grad)?;
            grad = over.view();
        }
        let (result, start) = (self.result(rule)?, self.start(rule)?);
        let made = self
            .forward(route, rule, start.as_ref(), result.as_ref())?
            .vjp(&grad)?;
        Ok((made.own, made.src))
    }

    fn jvp(&self, tangents: &[(&str, DynView<'_>)]) -> Result<DynTensor, Problem> {
        let own = self.own.as_ref().map(|own| own.among_or_zeros(tangents));
        let own = own.transpose()?;
        let src = match &self.src {
            Some(src) => src.among_or_zeros(tangents)?,
            None => DynTensor::zeros(self.scatter.dtype(), self.scatter.updates().shape())?,
        };
        let src = self.scaled(src, false)?;
        let own = own.as_ref().map(DynTensor::view);
        let CellRule::Fold(rule) = self.rule else {
            let made = self.quotient()?.jvp(own.as_ref(), &src.view())?;
            return shaped(made, self.shape());
        };
        if self.read_back().is_some() {
            self.expect_no_fault()?;
            return shaped(read_jvp(self.scatter, &src.view())?, self.shape());
        }
        if let Some(segments) = self.segments(rule)? {
            return shaped(segments.jvp(&src.view())?, self.shape());
        }
        let route = self.route()?;
        let (result, start) = (self.result(rule)?, self.start(rule)?);
        // The first value is no argument: its tangent is zero.
        let still = match &start {
            Some(start) => Some(DynTensor::zeros(start.dtype(), start.shape())?),
            None => None,
        };
        let own = own.or_else(|| still.as_ref().map(DynTensor::view));
        let forward = self.forward(route, rule, start.as_ref(), result.as_ref())?;
        let made = forward.jvp(own.as_ref(), &src.view())?;
        let made = match self.scatter.reduction().finish {
            Finish::DivideByRoot => over_roots(&forward.route, &made.view())?,
            _ => made,
        };
        shaped(made, self.shape())
    }

    fn double_vjp(
        &self,
        grad: &DynView<'_>,
        cotangents: &[(&str, DynView<'_>)],
    ) -> Result<(DynTensor, Gradients), Problem> {
        expect_like(
            "grad",
            grad,
            "the result's",
            self.scatter.dtype(),
            self.shape(),
        )?;
        if self.segments(Rule::Prod)?.is_some() {
            return Err(no_second());
        }
        let own = self.own.as_ref().map(|own| own.among_or_zeros(cotangents));
        let own = own.transpose()?;
        let own = own.as_ref().map(DynTensor::view);
        let src = self.src.as_ref().ok_or_else(no_second)?;
        let start = self.start(Rule::Prod)?;
        let forward = self.forward(self.route()?, Rule::Prod, start.as_ref(), None)?;
        let of_src = src.among_or_zeros(cotangents)?;
        let (to_grad, rest) = forward.double_vjp(grad, own.as_ref(), &of_src.view())?;
        let mut gradients = Vec::new();
        if let (Some(read), Some(own)) = (&self.own, rest.own) {
            gradients.push((read.argument, read.gradient(own)?));
        }
        gradients.push((src.argument, src.gradient(rest.src)?));
        Ok((shaped(to_grad, self.shape())?, gradients))
    }

    /// A gradient of the updates as that of the argument (`back`), or a tangent of the argument as
    /// that of the updates. Updates that are subtracted have the factor -1.
    fn scaled(&self, moved: DynTensor, back: bool) -> Result<DynTensor, Problem> {
        let factor = match (self.factor, self.scatter.reduction().combine) {
            // As of all weights, a gradient is multiplied by the conjugate.
            (Some(Scalar::Complex(factor)), _) if back => Scalar::Complex(factor.conj()),
            (Some(factor), _) => factor,
            (None, Combine::Sub) => Scalar::Int(-1),
            (None, _) => return Ok(moved),
        };
        let factor = factor.tensor("factor", moved.dtype())?;
        times(&moved.view(), &factor.view())
    }

    /// The result's shape.
    fn shape(&self) -> &[usize] {
        self.scatter.result_shape()
    }

    fn route(&self) -> Result<Route, Problem> {
        Route::to(self.scatter.destinations())
    }

    /// The scatter as one of segments, which pointers or an ascending index make.
    fn segments(&self, rule: Rule) -> Result<Option<Segments<'c, 'a>>, Problem> {
        if self.scatter.destinations().pairing().is_none() {
            return Ok(None);
        }
        self.expect_no_fault()?;
        let (result, start) = (self.result(rule)?, self.start(rule)?);
        Ok(Some(Segments::new(self.scatter, rule, start, result)?))
    }

    /// Of a gather by an index that ascends or by pointers: how the way back pairs rows.
    fn read_back(&self) -> Option<Pairing> {
        match self.scatter.destinations().pairing()? {
            Pairing::Picked => Some(Pairing::Ascending),
            Pairing::Spread => Some(Pairing::Pointers),
            Pairing::Ascending | Pairing::Pointers => None,
        }
    }

    fn expect_no_fault(&self) -> Result<(), Problem> {
        self.scatter.fault().map_or(Ok(()), Err)
    }

    fn quotient(&self) -> Result<Quotient<'c, 'a>, Problem> {
        let own = self
            .own
            .as_ref()
            .ok_or(Problem::Missing { argument: "own" })?;
        Quotient::new(self.scatter, &own.view)
    }

    fn forward<'f>(
        &'f self,
        route: Route,
        rule: Rule,
        start: Option<&'f DynTensor>,
        result: Option<&'f DynTensor>,
    ) -> Result<Forward<'f>, Problem> {
        let Reduction { combine, init, .. } = self.scatter.reduction();
        let own = match (&self.own, start) {
            (Some(_), _) if combine == Combine::Assign || init == Init::Identity => Own::Replaced,
            (Some(own), _) => Own::Counted(own.view.clone()),
            (None, Some(start)) => Own::Counted(start.view()),
            (None, None) => Own::Nothing,
        };
        Ok(Forward {
            route,
            rule,
            own,
            src: self.scatter.updates().clone(),
            result: result.map(DynTensor::view),
        })
    }

    /// A factor that each cell starts from and that is no argument.
    fn start(&self, rule: Rule) -> Result<Option<DynTensor>, Problem> {
        let Target::New {
            dtype,
            start: Start::Filled(element),
        } = self.scatter.target()
        else {
            return Ok(None);
        };
        let counts = self.scatter.reduction().init == Init::Current && rule == Rule::Prod;
        let shape = self.scatter.destinations().shape();
        let element = &element[..dtype.size()];
        let made = counts.then(|| DynTensor::filled(*dtype, shape, element));
        made.transpose()
    }

    /// The result, where the rule compares with it.
    fn result(&self, rule: Rule) -> Result<Option<DynTensor>, Problem> {
        if rule != Rule::Ties {
            return Ok(None);
        }
        let made = match (&self.own, self.scatter.target()) {
            (Some(own), _) => {
                let own = packed(&own.view, self.scatter.destinations().shape())?;
                self.scatter.repeated(Start::CopyOf(own.view()), None)?
            }
            (None, Target::New { start, .. }) => self.scatter.repeated(start.clone(), None)?,
            (None, Target::InPlace { .. }) => return Ok(None),
        };
        Ok(made.tensor)
    }
}

/// What the input's elements get of the gradient.
fn gathered_vjp(gather: &Gather<'_>, grad: &DynView<'_>) -> Result<DynTensor, Problem> {
    let dtype = gather.input().dtype();
    expect_like("grad", grad, "the result's", dtype, gather.result_shape())?;
    let grad = packed(grad, gather.places().updates_shape())?;
    let places = gather.places().by_ref();
    let target = Target::New {
        dtype,
        start: Start::Zero,
    };
    let sum = Reduction::into_self(Combine::Sum);
    let made = Scatter::new(places, sum, "grad", grad.view(), target)?.run()?;
    Ok(made.tensor.expect("a scatter into a new tensor makes one"))
}

/// The same gather of another input.
fn gathered(gather: &Gather<'_>, input: &DynView<'_>) -> Result<DynTensor, Problem> {
    let made = Gather::new(gather.places().by_ref(), input.clone())?.run()?;
    let made = made.tensor.expect("a gather makes a tensor");
    shaped(made, gather.result_shape())
}

fn times(values: &DynView<'_>, factor: &DynView<'_>) -> Result<DynTensor, Problem> {
    let dtype = values.dtype();
    for_field!(dtype, A => {
        let factor = load::<A>(factor, &[1])?.as_slice()[0];
        let each: Tensor<A> = load(values, values.shape())?;
        store(map(&each, |one| one * factor)?, dtype, values.shape())
    })
}

/// Each row divided by the square root of the number of updates that it was made of.
fn over_roots(route: &Route, rows: &DynView<'_>) -> Result<DynTensor, Problem> {
    let (dtype, counts) = (rows.dtype(), route.counts()?);
    for_field!(dtype, A => {
        let from: Tensor<A> = load(rows, route.cells())?;
        let made: Tensor<A> = each_cell(route, |at: Spot, to: &mut [A]| {
            for (to, from) in to.iter_mut().zip(&from.as_slice()[at.cell..]) {
                *to = from.over_root(counts[at.row].max(1));
            }
        })?;
        store(made, dtype, rows.shape())
    })
}
