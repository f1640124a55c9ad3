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
    strew::set_memory_limit(number_of_bytes(bytes)?);
    Ok(())
}

/// How many bytes one result or working table may take now; None if that is not known.
#[pyfunction]
pub(crate) fn get_memory_limit() -> Option<u64> {
    strew::memory_limit()
}

/// Sets how many bytes of freed results are kept for the next ones; None goes back to the default.
#[pyfunction]
#[pyo3(signature = (bytes, /))]
pub(crate) fn set_kept_memory(bytes: Option<i128>) -> PyResult<()> {
    strew::set_kept_memory(number_of_bytes(bytes)?);
    Ok(())
}

/// How many bytes of freed results are kept, at most.
#[pyfunction]
pub(crate) fn get_kept_memory() -> u64 {
    strew::kept_memory()
}

/// The instruction set that loops run with: `baseline`, `avx2` or `avx512`.
#[pyfunction]
#[pyo3(name = "_instruction_set")]
pub(crate) fn instruction_set() -> &'static str {
    strew::instruction_set().name()
}

/// Nobody makes a pool of threads until `after_fork`: a child would wait forever for what another thread has begun.
#[pyfunction]
#[pyo3(name = "_before_fork")]
pub(crate) fn before_fork() {
    strew::before_fork();
}

#[pyfunction]
#[pyo3(name = "_after_fork")]
pub(crate) fn after_fork() {
    strew::after_fork();
}

fn number_of_bytes(bytes: Option<i128>) -> PyResult<Option<u64>> {
    let convert = |bytes: i128| {
        u64::try_from(bytes).map_err(|_| {
            PyValueError::new_err(format!(
                "bytes = {bytes}: it must be from 0 to 2**64 - 1, or None"
            ))
        })
    };
    bytes.map(convert).transpose()
}
