//! Ctrl-C during a long run, and how far it is.

use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A person does not notice this delay, and a run does not notice the question.
const EVERY: Duration = Duration::from_millis(50);

/// Runs `work`, which must be detached from the interpreter, and lets Python's signal handlers
/// run now and then. What a handler raised is returned beside the result: the run is stopped by
/// it unless it has begun to write into the caller's memory.
pub(crate) fn interruptible<R>(work: impl FnOnce() -> R) -> (R, Option<PyErr>) {
    let signals = Rc::new(Signals {
        asked: Cell::new(Instant::now()),
        raised: RefCell::new(None),
    });
    let result = strew::watch(signals.clone(), work);
    (result, signals.raised.take())
}

thread_local! {
    /// What is told how far runs are that this thread begins.
    static TOLD: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// Sets what is told how far long runs of this thread are: a callable that takes the number of
/// updates that are done and that of all, or None. Returns what was set before.
#[pyfunction]
#[pyo3(name = "_set_progress", signature = (function, /))]
pub(crate) fn set_progress(function: Option<Py<PyAny>>) -> Option<Py<PyAny>> {
    TOLD.replace(function)
}

/// Tells how far a run is.
fn tell(py: Python<'_>, done: u64, total: u64) -> PyResult<()> {
    let function = TOLD.with_borrow(|function| function.as_ref().map(|f| f.clone_ref(py)));
    match function {
        Some(function) => function.call1(py, (done, total)).map(drop),
        None => Ok(()),
    }
}

struct Signals {
    asked: Cell<Instant>,
    raised: RefCell<Option<PyErr>>,
}

impl strew::Monitor for Signals {
    fn progress(&self, done: u64, total: u64) -> bool {
        let now = Instant::now();
        if now.duration_since(self.asked.get()) < EVERY {
            return true;
        }
        self.asked.set(now);
        let mut raised = self.raised.borrow_mut();
        if raised.is_none() {
            // Not attached: the interpreter is shutting down, and nobody waits for the result.
            let look = |py: Python<'_>| py.check_signals().and_then(|()| tell(py, done, total));
            *raised = match Python::try_attach(look) {
                Some(Err(error)) => Some(error),
                Some(Ok(())) | None => None,
            };
        }
        raised.is_none()
    }
}
