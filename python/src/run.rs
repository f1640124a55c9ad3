//! Runs work of the library outside the interpreter.

use crate::array::Array;
use crate::errors::{raise, refuse};
use crate::interrupt::interruptible;
use crate::library::Library;
use crate::operator::WATCHED_FROM;
use crate::output::give;
use crate::settings::{follow_torch, number};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use strew::Class;

/// Runs `work` on the source, and gives its results as arrays of the source's library. The run can
/// be interrupted if it has many elements: those of the source, or `elements` if that is more.
pub(crate) fn run<'py>(
    operator: &str,
    src: &Bound<'py, PyAny>,
    argument: &str,
    elements: usize,
    threads: Option<NonZeroUsize>,
    work: impl Fn(&strew::DynView<'_>) -> strew::Result<Vec<strew::DynTensor>> + Send + Sync,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = src.py();
    let src = Array::read(operator, argument, src)?;
    let library = match src.library() {
        Library::None => Library::Numpy,
        other => other.clone(),
    };
    let view = src
        .view()
        .map_err(|problem| refuse(py, operator, Class::Value, problem))?;
    let elements = src.len().max(elements);
    let (result, interrupt) = watched(py, elements, threads, || work(&view));
    if let Some(raised) = interrupt {
        return Err(raised);
    }
    let made = result.map_err(|error| raise(py, &error))?;
    made.into_iter().map(|t| give(py, t, &library)).collect()
}

/// Runs `work` without the interpreter, on that number of threads, and lets people stop it if it is
/// long.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    elements: usize,
    threads: Option<NonZeroUsize>,
    work: impl FnOnce() -> R + Send,
) -> (R, Option<PyErr>) {
    follow_torch(py);
    let work = || strew::with_threads(number(threads), work);
    match elements < WATCHED_FROM {
        true => (py.detach(work), None),
        false => py.detach(|| interruptible(work)),
    }
}
