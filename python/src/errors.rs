//! Problems as Python exceptions of the class that the framework raises.

use pyo3::exceptions::{
    PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyNotImplementedError, PyRuntimeError,
    PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use strew::{Bounds, Class, Error, OutOfRange, Problem};

/// The exception for an error of the core.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    match error.class() {
        Class::Type => PyTypeError::new_err(message),
        Class::Index => PyIndexError::new_err(message),
        Class::Runtime => PyRuntimeError::new_err(message),
        Class::NotImplemented => PyNotImplementedError::new_err(message),
        Class::Memory => PyMemoryError::new_err(message),
        Class::Interrupt => PyKeyboardInterrupt::new_err(message),
        Class::TypeAndRuntime => match conversion_error(py) {
            Ok(class) => PyErr::from_type(class, message),
            Err(error) => error,
        },
        // `Class` may grow; a value that does not fit is the most general thing to say.
        _ => PyValueError::new_err(message),
    }
}

/// Adds to an error about a number out of bounds which argument leaves such numbers out.
pub(crate) fn explain_outside(py: Python<'_>, error: PyErr, bounds: Bounds) -> PyErr {
    let is_error = bounds.out_of_range == OutOfRange::Error;
    match is_error && error.is_instance_of::<PyIndexError>(py) {
        true => PyIndexError::new_err(format!(
            "{}; mode=\"drop\" leaves out what has such a number",
            error.value(py)
        )),
        false => error,
    }
}

/// The exception for a problem that this edge finds before the core sees the arguments.
pub(crate) fn refuse(py: Python<'_>, operator: &str, class: Class, problem: Problem) -> PyErr {
    raise(py, &Error::new(operator, class, problem))
}

/// A value of the wrong kind for an argument.
pub(crate) fn wrong_kind(
    py: Python<'_>,
    operator: &str,
    argument: impl Into<String>,
    expected: &str,
    found: impl Into<String>,
) -> PyErr {
    let problem = Problem::Kind {
        argument: argument.into(),
        expected: expected.into(),
        found: found.into(),
    };
    refuse(py, operator, Class::Type, problem)
}

/// `strew.ConversionError`, which is a `TypeError` and a `RuntimeError`.
fn conversion_error(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS
        .import(py, "strew._errors", "ConversionError")
        .cloned()
}
