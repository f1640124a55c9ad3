//! What holds for every call: threads and memory.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::num::NonZeroUsize;

/// Sets how many threads a run may use; None goes back to the default.
#[pyfunction]
#[pyo3(signature = (n, /))]
pub(crate) fn set_num_threads(n: Option<i64>) -> PyResult<()> {
    let threads = match n {
        None => None,
        Some(n) => {
            let threads = usize::try_from(n).ok().and_then(NonZeroUsize::new);
            Some(threads.ok_or_else(|| {
                PyValueError::new_err(format!("n = {n}: it must be at least 1, or None"))
            })?)
        }
    };
    strew::set_num_threads(threads);
    Ok(())
}

/// How many threads a run may use.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    strew::num_threads().get()
}

/// Sets how many bytes one result or working table may take; None goes back to the default.
#[pyfunction]
#[pyo3(signature = (bytes, /))]
pub(crate) fn set_memory_limit(bytes: Option<i128>) -> PyResult<()> {
    let limit = match bytes {
        None => None,
        Some(bytes) => Some(u64::try_from(bytes).map_err(|_| {
            PyValueError::new_err(format!(
                "bytes = {bytes}: it must be from 0 to 2**64 - 1, or None"
            ))
        })?),
    };
    strew::set_memory_limit(limit);
    Ok(())
}

/// How many bytes one result or working table may take now; None if that is not known.
#[pyfunction]
pub(crate) fn get_memory_limit() -> Option<u64> {
    strew::memory_limit()
}
