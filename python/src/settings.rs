//! What holds for every call: threads and memory.

use crate::errors::refuse;
use crate::given::Given;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::num::NonZeroUsize;
use strew::{Class, Problem};

/// Sets how many threads a run may use; None goes back to the default.
#[pyfunction]
#[pyo3(signature = (n, /))]
pub(crate) fn set_num_threads(n: Option<Given<'_, i64>>) -> PyResult<()> {
    strew::set_num_threads(number_of_threads("set_num_threads", "n", n)?);
    Ok(())
}

/// A number of threads; None for the default.
pub(crate) fn number_of_threads(
    function: &str,
    argument: &str,
    n: Option<Given<'_, i64>>,
) -> PyResult<Option<NonZeroUsize>> {
    let Some(n) = n else {
        return Ok(None);
    };
    let n = n.of(function, argument, "an integer of 64 bits, or None")?;
    let threads = usize::try_from(n).ok().and_then(NonZeroUsize::new);
    threads.map(Some).ok_or_else(|| {
        let problem = Problem::Value {
            argument: argument.to_owned(),
            value: n.to_string(),
            expected: "it must be at least 1, or None".to_owned(),
        };
        Python::attach(|py| refuse(py, function, Class::Value, problem))
    })
}

/// As the library takes it: 0 stands for None.
pub(crate) fn number(threads: Option<NonZeroUsize>) -> usize {
    threads.map_or(0, NonZeroUsize::get)
}

/// In a worker of torch's DataLoader runs use as many threads as torch does there: one, unless the
/// program says otherwise.
pub(crate) fn follow_torch(py: Python<'_>) {
    // A torch that does not answer has no say.
    if let Ok(threads) = threads_of_worker(py) {
        strew::set_default_threads(threads);
    }
}

/// How many threads torch uses in this process, if it is such a worker.
fn threads_of_worker(py: Python<'_>) -> PyResult<Option<NonZeroUsize>> {
    // Looked up when the module is imported. What is behind it is looked up each time: a process
    // that is forked while a thread begins to keep something would wait for that thread forever.
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let modules = MODULES.import(py, "sys", "modules")?;
    let Some(worker) = modules.get_item(intern!(py, "torch.utils.data._utils.worker"))? else {
        return Ok(None);
    };
    if worker.getattr("_worker_info")?.is_none() {
        return Ok(None);
    }
    let threads = py.import("torch")?.call_method0("get_num_threads")?;
    Ok(NonZeroUsize::new(threads.extract()?))
}

/// How many threads a run may use.
#[pyfunction]
pub(crate) fn get_num_threads(py: Python<'_>) -> usize {
    follow_torch(py);
    strew::num_threads().get()
}

/// Sets how many bytes one result or working table may take; None goes back to the default.
#[pyfunction]
#[pyo3(signature = (bytes, /))]
pub(crate) fn set_memory_limit(bytes: Option<Given<'_, u64>>) -> PyResult<()> {
    strew::set_memory_limit(number_of_bytes("set_memory_limit", bytes)?);
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
pub(crate) fn set_kept_memory(bytes: Option<Given<'_, u64>>) -> PyResult<()> {
    strew::set_kept_memory(number_of_bytes("set_kept_memory", bytes)?);
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

fn number_of_bytes(function: &str, bytes: Option<Given<'_, u64>>) -> PyResult<Option<u64>> {
    let expected = "an integer from 0 to 2**64 - 1, or None";
    bytes
        .map(|bytes| bytes.of(function, "bytes", expected))
        .transpose()
}
