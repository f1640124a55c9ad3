//! Derivatives, for the operators that torch's autograd knows: functions of the package's own, which take their arguments
//! by position.

use crate::array::Array;
use crate::errors::{raise, refuse};
use crate::operator::DETACHED_FROM;
use crate::output::give;
use crate::plan::{Plan, parse};
use crate::run::watched;
use crate::settings::number;
use pyo3::prelude::*;
use strew::{Class, DynTensor, DynView, Error, Problem, grad};

/// A gradient, unless it is not wanted.
type Wanted<'py> = Option<Bound<'py, PyAny>>;

/// The gradients of `torch.scatter_reduce` with respect to `input` and to `src`, of which the call keeps what it needs;
/// None for one that is not wanted.
#[pyfunction]
#[pyo3(name = "_scatter_reduce_vjp", signature = (
    grad, dim, index, input, src, src_shape, result, reduce, include_self, to_input, to_src, /
))]
#[allow(clippy::too_many_arguments)] // As many as the operator has, and what is kept of the call.
pub(crate) fn scatter_reduce_vjp<'py>(
    py: Python<'py>,
    grad: &Bound<'py, PyAny>,
    dim: i64,
    index: &Bound<'py, PyAny>,
    input: Option<&Bound<'py, PyAny>>,
    src: Option<&Bound<'py, PyAny>>,
    src_shape: Vec<usize>,
    result: Option<&Bound<'py, PyAny>>,
    reduce: &str,
    include_self: bool,
    to_input: bool,
    to_src: bool,
) -> PyResult<(Wanted<'py>, Wanted<'py>)> {
    let call = Call::new("grad.torch.scatter_reduce_vjp");
    let grad = call.read("grad", grad)?;
    let index = call.read("index", index)?;
    let input = call.read_some("input", input)?;
    let src = call.read_some("src", src)?;
    let result = call.read_some("result", result)?;
    let kept = grad::torch::Kept {
        input: call.view_some(py, input.as_ref())?,
        src: call.view_some(py, src.as_ref())?,
        src_shape: &src_shape,
        result: call.view_some(py, result.as_ref())?,
    };
    let (cells, places) = (call.view(py, &grad)?, call.view(py, &index)?);
    let wanted = (to_input, to_src);
    let of_src = src_shape
        .iter()
        .fold(1, |n: usize, &len| n.saturating_mul(len));
    let elements = of_src.max(grad.len());
    let (to_input, to_src) = call.run(py, elements, || {
        grad::torch::scatter_reduce_vjp_kept_dyn(
            &cells,
            dim,
            &places,
            &kept,
            reduce,
            include_self,
            wanted,
        )
    })?;
    let library = grad.library();
    let give = |made: Option<DynTensor>| made.map(|made| give(py, made, library)).transpose();
    Ok((give(to_input)?, give(to_src)?))
}

/// The tangent of `torch.scatter_reduce`'s result.
#[pyfunction]
#[pyo3(name = "_scatter_reduce_jvp", signature = (
    input_tangent, src_tangent, input, dim, index, src, result, reduce, include_self, /
))]
#[allow(clippy::too_many_arguments)] // As above.
pub(crate) fn scatter_reduce_jvp<'py>(
    py: Python<'py>,
    input_tangent: &Bound<'py, PyAny>,
    src_tangent: &Bound<'py, PyAny>,
    input: &Bound<'py, PyAny>,
    dim: i64,
    index: &Bound<'py, PyAny>,
    src: &Bound<'py, PyAny>,
    result: &Bound<'py, PyAny>,
    reduce: &str,
    include_self: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new("grad.torch.scatter_reduce_jvp");
    let input_tangent = call.read("input_tangent", input_tangent)?;
    let src_tangent = call.read("src_tangent", src_tangent)?;
    let input = call.read("input", input)?;
    let index = call.read("index", index)?;
    let src = call.read("src", src)?;
    let result = call.read("result", result)?;
    let views = (
        call.view(py, &input_tangent)?,
        call.view(py, &src_tangent)?,
        call.view(py, &input)?,
        call.view(py, &index)?,
        call.view(py, &src)?,
        call.view(py, &result)?,
    );
    let (to, ts, x, at, s, r) = &views;
    let made = call.run(py, src.len().max(input.len()), || {
        grad::torch::scatter_reduce_jvp_dyn(to, ts, x, dim, at, s, r, reduce, include_self)
    })?;
    give(py, made, input.library())
}

/// The double backward of a product: gradients with respect to `grad`, `input` and `src`.
#[pyfunction]
#[pyo3(name = "_scatter_prod_double_vjp", signature = (
    grad, input, dim, index, src, include_self, input_cotangent, src_cotangent, /
))]
#[allow(clippy::too_many_arguments)] // As above.
pub(crate) fn scatter_prod_double_vjp<'py>(
    py: Python<'py>,
    grad: &Bound<'py, PyAny>,
    input: &Bound<'py, PyAny>,
    dim: i64,
    index: &Bound<'py, PyAny>,
    src: &Bound<'py, PyAny>,
    include_self: bool,
    input_cotangent: &Bound<'py, PyAny>,
    src_cotangent: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let call = Call::new("grad.torch.scatter_reduce_prod_double_vjp");
    let grad = call.read("grad", grad)?;
    let input = call.read("input", input)?;
    let index = call.read("index", index)?;
    let src = call.read("src", src)?;
    let input_cotangent = call.read("input_cotangent", input_cotangent)?;
    let src_cotangent = call.read("src_cotangent", src_cotangent)?;
    let views = (
        call.view(py, &grad)?,
        call.view(py, &input)?,
        call.view(py, &index)?,
        call.view(py, &src)?,
        call.view(py, &input_cotangent)?,
        call.view(py, &src_cotangent)?,
    );
    let (g, x, at, s, cx, cs) = &views;
    let (to_grad, to_input, to_src) = call.run(py, src.len().max(input.len()), || {
        grad::torch::scatter_reduce_prod_double_vjp_dyn(g, x, dim, at, s, include_self, cx, cs)
    })?;
    let library = grad.library();
    Ok((
        give(py, to_grad, library)?,
        give(py, to_input, library)?,
        give(py, to_src, library)?,
    ))
}

/// The gradient of a minimum or maximum with respect to `src`, by the winners' positions, and by the index if it is there.
#[pyfunction]
#[pyo3(name = "_scatter_arg_vjp", signature = (grad, arg, index, dim, along, /))]
pub(crate) fn scatter_arg_vjp<'py>(
    py: Python<'py>,
    grad: &Bound<'py, PyAny>,
    arg: &Bound<'py, PyAny>,
    index: Option<&Bound<'py, PyAny>>,
    dim: i64,
    along: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new("grad.torch_scatter.scatter_arg_vjp");
    let (grad, arg) = (call.read("grad", grad)?, call.read("arg", arg)?);
    let index = call.read_some("index", index)?;
    let views = (call.view(py, &grad)?, call.view(py, &arg)?);
    let index = call.view_some(py, index.as_ref())?;
    let made = call.run(py, grad.len().max(along), || match &index {
        Some(index) => {
            grad::torch_scatter::scatter_arg_vjp_by_index_dyn(&views.0, &views.1, index, dim, along)
        }
        None => grad::torch_scatter::scatter_arg_vjp_dyn(&views.0, &views.1, dim, along),
    })?;
    give(py, made, grad.library())
}

/// The tangent of a minimum's or maximum's result, by the winners' positions.
#[pyfunction]
#[pyo3(name = "_scatter_arg_jvp", signature = (src_tangent, arg, dim, /))]
pub(crate) fn scatter_arg_jvp<'py>(
    py: Python<'py>,
    src_tangent: &Bound<'py, PyAny>,
    arg: &Bound<'py, PyAny>,
    dim: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new("grad.torch_scatter.scatter_arg_jvp");
    let src_tangent = call.read("src_tangent", src_tangent)?;
    let arg = call.read("arg", arg)?;
    let views = (call.view(py, &src_tangent)?, call.view(py, &arg)?);
    let made = call.run(py, src_tangent.len().max(arg.len()), || {
        grad::torch_scatter::scatter_arg_jvp_dyn(&views.0, &views.1, dim)
    })?;
    give(py, made, src_tangent.library())
}

/// The gradients of what a plan does with updates, with respect to `input`, if it is there, and to `src`.
#[pyfunction]
#[pyo3(name = "_plan_scatter_vjp", signature = (
    plan, grad, input, src, result, dim, reduce, include_self, /
))]
#[allow(clippy::too_many_arguments)] // As above.
pub(crate) fn plan_scatter_vjp<'py>(
    py: Python<'py>,
    plan: &Bound<'py, Plan>,
    grad: &Bound<'py, PyAny>,
    input: Option<&Bound<'py, PyAny>>,
    src: &Bound<'py, PyAny>,
    result: &Bound<'py, PyAny>,
    dim: i64,
    reduce: &str,
    include_self: bool,
) -> PyResult<(Option<Bound<'py, PyAny>>, Bound<'py, PyAny>)> {
    let Plan { plan, threads } = plan.get();
    let reduce = parse(py, plan, reduce)?;
    let call = Call::new("grad.plan.scatter_vjp");
    let (grad, src) = (call.read("grad", grad)?, call.read("src", src)?);
    let result = call.read("result", result)?;
    let input = call.read_some("input", input)?;
    let views = (
        call.view(py, &grad)?,
        call.view(py, &src)?,
        call.view(py, &result)?,
    );
    let own = call.view_some(py, input.as_ref())?;
    let (g, s, r) = &views;
    let made = || match &own {
        None => Ok((
            None,
            grad::plan::scatter_vjp_dyn(plan, g, s, r, dim, reduce)?,
        )),
        Some(x) => {
            let made =
                grad::plan::scatter_into_vjp_dyn(plan, g, x, s, r, dim, reduce, include_self);
            made.map(|(to_input, to_src)| (Some(to_input), to_src))
        }
    };
    let made = || strew::with_threads(number(*threads), made);
    let (to_input, to_src) = call.run(py, src.len().max(grad.len()), made)?;
    let library = grad.library();
    let to_input = to_input.map(|made| give(py, made, library)).transpose()?;
    Ok((to_input, give(py, to_src, library)?))
}

/// A call, whose name stands in its errors.
#[derive(Clone, Copy)]
struct Call {
    name: &'static str,
}

impl Call {
    fn new(name: &'static str) -> Self {
        Self { name }
    }

    fn read<'py>(self, argument: &str, given: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
        Array::read(self.name, argument, given)
    }

    fn read_some<'py>(
        self,
        argument: &str,
        given: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Array<'py>>> {
        given.map(|given| self.read(argument, given)).transpose()
    }

    fn view<'a>(self, py: Python<'_>, array: &'a Array<'_>) -> PyResult<DynView<'a>> {
        let refuse = |problem: Problem| refuse(py, self.name, Class::Value, problem);
        array.view().map_err(refuse)
    }

    fn view_some<'a>(
        self,
        py: Python<'_>,
        array: Option<&'a Array<'_>>,
    ) -> PyResult<Option<DynView<'a>>> {
        array.map(|array| self.view(py, array)).transpose()
    }

    /// Runs it, without the interpreter if it takes a while.
    fn run<R: Send>(
        self,
        py: Python<'_>,
        elements: usize,
        work: impl FnOnce() -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let (result, raised) = match elements < DETACHED_FROM {
            true => (work(), None),
            false => watched(py, elements, None, work),
        };
        match raised {
            Some(raised) => Err(raised),
            None => result.map_err(|error| raise(py, &error)),
        }
    }
}
