//! `strew.aggregate`: statistics of the groups of a plan, or of an index that is used once.

use crate::argument::{not_too_long, scalar};
use crate::array::{Array, kind_of};
use crate::errors::{raise, refuse, wrong_kind};
use crate::library::Library;
use crate::objects::tuple;
use crate::output::give;
use crate::plan::{Plan, rules};
use crate::run::run;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use strew::{
    Aggregate, AggregateOptions, Bounds, Class, DynView, Error, Fractions, Problem, Scalar, Tensor,
    aggregate_dyn,
};

/// The names of the aggregates that have a result for each value.
#[pyfunction]
#[pyo3(name = "_per_value")]
pub(crate) fn per_value() -> Vec<&'static str> {
    let all = Aggregate::all().filter(|aggregate| aggregate.is_per_value());
    all.map(Aggregate::name).collect()
}

/// What the caller says beside the names of the aggregates.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options<'py> {
    skipna: bool,
    min_count: usize,
    fill_value: Option<Bound<'py, PyAny>>,
    ddof: f64,
    exact: bool,
    q: Q,
    k: i64,
    largest: bool,
    n: i64,
    periods: i64,
    method: Option<String>,
}

#[derive(FromPyObject)]
enum Q {
    One(f64),
    Several(Vec<f64>),
}

impl Options<'_> {
    fn read(self, py: Python<'_>, wanted: &[Aggregate]) -> PyResult<AggregateOptions> {
        let fill_value = filling(py, "aggregate", self.fill_value.as_ref())?;
        let k = usize::try_from(self.k).map_err(|_| {
            let problem = Problem::Value {
                argument: "k".into(),
                value: self.k.to_string(),
                expected: "it must be at least 1".into(),
            };
            refuse(py, "aggregate", Class::Value, problem)
        })?;
        let options = AggregateOptions {
            skip_nan: self.skipna,
            min_count: self.min_count,
            fill_value,
            ddof: self.ddof,
            exact: self.exact,
            q: match self.q {
                Q::One(q) => Fractions::One(q),
                Q::Several(all) => Fractions::Several(all),
            },
            k,
            largest: self.largest,
            n: self.n,
            periods: self.periods,
            ..AggregateOptions::default()
        };
        let Some(method) = self.method else {
            return Ok(options);
        };
        not_too_long(py, "aggregate", "method", method.len(), "bytes")?;
        let options = options.with_method(&method, wanted);
        options.map_err(|error| raise(py, &own(&error)))
    }
}

/// Reduces the values of each group in several ways, in one pass; see `strew.aggregate`.
#[pyfunction]
#[pyo3(name = "_aggregate", signature = (groups, src, reduces, dim, options, /))]
pub(crate) fn aggregate<'py>(
    groups: &Bound<'py, PyAny>,
    src: &Bound<'py, PyAny>,
    reduces: Vec<String>,
    dim: i64,
    options: Option<Options<'py>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = src.py();
    let parsed: Result<Vec<Aggregate>, _> = reduces.iter().map(|name| name.parse()).collect();
    let parsed = parsed.map_err(|error| raise(py, &own(&error)))?;
    let options = options.map(|given| given.read(py, &parsed)).transpose()?;
    let options = options.unwrap_or_default();
    let made = match groups.cast::<Plan>() {
        Ok(plan) => {
            let plan = plan.get();
            plan.run(src, "src", |src| {
                let made = plan.plan.aggregate_dyn(src, dim, &parsed, options.clone());
                made.map_err(|error| own(&error))
            })?
        }
        Err(_) => {
            let groups = groups.cast::<Groups>()?.get();
            let index = Array::read("aggregate", "index", groups.index.bind(py))?;
            let index = viewed(py, &index)?;
            run("aggregate", src, "src", index.len(), None, |src| {
                aggregate_dyn(
                    src,
                    &index,
                    dim,
                    &parsed,
                    groups.size,
                    groups.bounds,
                    options.clone(),
                )
            })?
        }
    };
    tuple(py, made.into_iter().map(Ok))
}

fn viewed<'a>(py: Python<'_>, index: &'a Array<'_>) -> PyResult<DynView<'a>> {
    let view = index.view();
    view.map_err(|problem| refuse(py, "aggregate", Class::Value, problem))
}

/// Where each group begins in the list of the groups' members, that list, and the length of the
/// index.
#[pyfunction]
#[pyo3(name = "_members", signature = (groups, /))]
pub(crate) fn members<'py>(groups: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let py = groups.py();
    let listed = |plan: &strew::Plan| plan.members().map(|made| (made, plan.len()));
    let made = match groups.cast::<Plan>() {
        Ok(plan) => {
            let plan = plan.get();
            py.detach(|| listed(&plan.plan))
        }
        Err(_) => {
            let groups = groups.cast::<Groups>()?.get();
            let index = Array::read("aggregate", "index", groups.index.bind(py))?;
            let index = viewed(py, &index)?;
            let plan = || strew::Plan::new_dyn(&index, groups.size, groups.bounds, None);
            py.detach(|| listed(&plan()?))
        }
    };
    let (made, len) = made.map_err(|error: Error| raise(py, &own(&error)))?;
    let numpy = |list: Tensor<i64>| give(py, list.into_dyn(), &Library::Numpy);
    (numpy(made.starts)?, numpy(made.updates)?, len).into_pyobject(py)
}

/// The number that a fill value is, if one is given.
pub(crate) fn filling(
    py: Python<'_>,
    operator: &str,
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Scalar>> {
    let Some(given) = given else {
        return Ok(None);
    };
    let number = scalar(given)?;
    let none = || wrong_kind(py, operator, "fill_value", "a number", kind_of(given));
    number.map(Some).ok_or_else(none)
}

/// An index that is used once, and what the caller says of it.
#[pyclass(frozen, module = "strew._strew", name = "_Groups")]
pub(crate) struct Groups {
    index: Py<PyAny>,
    size: Option<usize>,
    bounds: Bounds,
}

#[pyfunction]
#[pyo3(name = "_groups", signature = (index, size, mode, ignore_index, /))]
pub(crate) fn groups(
    py: Python<'_>,
    index: &Bound<'_, PyAny>,
    size: Option<&Bound<'_, PyAny>>,
    mode: &str,
    ignore_index: Option<&Bound<'_, PyAny>>,
) -> PyResult<Groups> {
    not_too_long(py, "aggregate", "mode", mode.len(), "bytes")?;
    let (size, bounds) = rules(py, "aggregate", size, mode, ignore_index)?;
    Ok(Groups {
        index: index.clone().unbind(),
        size,
        bounds,
    })
}

/// The error of a plan that the caller need not know of.
fn own(error: &Error) -> Error {
    Error::new("aggregate", error.class(), error.problem().clone())
}
