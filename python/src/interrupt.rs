//! Ctrl-C during a long run.

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

struct Signals {
    asked: Cell<Instant>,
    raised: RefCell<Option<PyErr>>,
}

impl strew::Monitor for Signals {
    fn progress(&self, _done: u64, _total: u64) -> bool {
        let now = Instant::now();
        if now.duration_since(self.asked.get()) < EVERY {
            return true;
        }
        self.asked.set(now);
        let mut raised = self.raised.borrow_mut();
        if raised.is_none() {
            // Not attached: the interpreter is shutting down, and nobody waits for the result.
            *raised = match Python::try_attach(|py| py.check_signals()) {
                Some(Err(error)) => Some(error),
                Some(Ok(())) | None => None,
            };
        }
        raised.is_none()
    }
}
