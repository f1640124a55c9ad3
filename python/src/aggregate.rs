//! `strew.aggregate`: what is made of the values of each row of a plan.

use crate::argument::{not_too_long, scalar};
use crate::array::kind_of;
use crate::errors::{raise, wrong_kind};
use crate::plan::Plan;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use strew::{Aggregate, AggregateOptions, Error};

/// Makes several things of the values of each row of a plan, in one trip; see `strew.aggregate`.
#[pyfunction]
#[pyo3(name = "_aggregate", signature = (plan, src, reduces, dim, skipna, min_count, fill_value, ddof, q, /))]
#[allow(clippy::too_many_arguments)] // They are Python's keywords.
pub(crate) fn aggregate<'py>(
    plan: &Bound<'py, Plan>,
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
    let plan = plan.get();
    let made = plan.run(src, "src", |src| {
        let made = plan.plan.aggregate_dyn(src, dim, &parsed, &options);
        made.map_err(|error| own(&error))
    })?;
    PyTuple::new(py, made)
}

/// A plan that the caller need not know of.
#[pyfunction]
#[pyo3(name = "_groups", signature = (index, size, mode, ignore_index, /))]
pub(crate) fn groups(
    py: Python<'_>,
    index: &Bound<'_, PyAny>,
    size: Option<&Bound<'_, PyAny>>,
    mode: &str,
    ignore_index: Option<&Bound<'_, PyAny>>,
) -> PyResult<Plan> {
    not_too_long(py, "aggregate", "mode", mode.len(), "bytes")?;
    Plan::analysed(py, "aggregate", None, (index, size), mode, ignore_index)
}

/// The error of a plan that the caller need not know of.
fn own(error: &Error) -> Error {
    Error::new("aggregate", error.class(), error.problem().clone())
}
