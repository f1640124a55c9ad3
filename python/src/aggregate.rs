//! `strew.aggregate`: statistics of the groups of a plan, or of an index that is used once.

use crate::argument::{not_too_long, scalar};
use crate::array::{Array, kind_of};
use crate::errors::{raise, refuse, wrong_kind};
use crate::plan::{Plan, rules, run};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use strew::{Aggregate, AggregateOptions, Bounds, Class, Error, aggregate_dyn};

/// Reduces the values of each group in several ways, in one pass; see `strew.aggregate`.
#[pyfunction]
#[pyo3(name = "_aggregate", signature = (groups, src, reduces, dim, skipna, min_count, fill_value, ddof, q, /))]
#[allow(clippy::too_many_arguments)] // They are Python's keywords.
pub(crate) fn aggregate<'py>(
    groups: &Bound<'py, PyAny>,
    src: &Bound<'py, PyAny>,
    reduces: Vec<String>,
    dim: i64,
    skipna: bool,
    min_count: usize,
    fill_value: Option<&Bound<'py, PyAny>>,
    ddof: f64,
    q: f64,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = src.py();
    let parsed: Result<Vec<Aggregate>, _> = reduces.iter().map(|name| name.parse()).collect();
    let parsed = parsed.map_err(|error| raise(py, &own(&error)))?;
    let fill_value = match fill_value {
        None => None,
        Some(given) => Some(scalar(given)?.ok_or_else(|| {
            wrong_kind(py, "aggregate", "fill_value", "a number", kind_of(given))
        })?),
    };
    let options = AggregateOptions {
        skip_nan: skipna,
        min_count,
        fill_value,
        ddof,
        q,
    };
    let made = match groups.cast::<Plan>() {
        Ok(plan) => {
            let plan = plan.get();
            plan.run(src, "src", |src| {
                let made = plan.plan.aggregate_dyn(src, dim, &parsed, &options);
                made.map_err(|error| own(&error))
            })?
        }
        Err(_) => {
            let groups = groups.cast::<Groups>()?.get();
            let index = Array::read("aggregate", "index", groups.index.bind(py))?;
            let index = index
                .view()
                .map_err(|problem| refuse(py, "aggregate", Class::Value, problem))?;
            run("aggregate", src, "src", index.len(), |src| {
                aggregate_dyn(
                    src,
                    &index,
                    dim,
                    &parsed,
                    groups.size,
                    groups.bounds,
                    &options,
                )
            })?
        }
    };
    PyTuple::new(py, made)
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
