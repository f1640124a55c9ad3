//! Problems as Python exceptions of the class that the framework raises.

use crate::objects::text;
use pyo3::exceptions::{
    PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyNotImplementedError, PyRuntimeError,
    PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use pyo3::{IntoPyObjectExt, PyTypeInfo};
use strew::{Bounds, Class, Error, IndexValue, OutOfRange, Problem};

/// The exception for an error of the core.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    raise_saying(py, error, &error.to_string())
}

fn raise_saying(py: Python<'_>, error: &Error, message: &str) -> PyErr {
    let class = match error.class() {
        Class::Type => py.get_type::<PyTypeError>(),
        Class::Index => py.get_type::<PyIndexError>(),
        Class::Runtime => py.get_type::<PyRuntimeError>(),
        Class::NotImplemented => py.get_type::<PyNotImplementedError>(),
        Class::Memory => py.get_type::<PyMemoryError>(),
        Class::Interrupt => py.get_type::<PyKeyboardInterrupt>(),
        Class::TypeAndRuntime => match conversion_error(py) {
            Ok(class) => class,
            Err(error) => return error,
        },
        // `Class` may grow; a value that does not fit is the most general thing to say.
        _ => py.get_type::<PyValueError>(),
    };
    // A str that PyO3 makes of the message later would panic where memory is short.
    match text(py, message) {
        Ok(message) => described(py, PyErr::from_type(class, message.unbind()), error),
        Err(error) => error,
    }
}

/// The exception with what its message says as attributes, which are None where it says nothing.
fn described(py: Python<'_>, raised: PyErr, error: &Error) -> PyErr {
    // Those are raised where there may be no memory for more.
    if !matches!(error.class(), Class::Memory | Class::Interrupt) {
        // They help, but the message says all: it does not fail for their sake.
        let _ = describe(raised.value(py).as_any(), error);
    }
    raised
}

fn describe(raised: &Bound<'_, PyAny>, error: &Error) -> PyResult<()> {
    let (py, problem) = (raised.py(), error.problem());
    let (mut position, mut value, mut limit, mut expected) = (None, None, None, None);
    match problem {
        Problem::IndexOutOfBounds {
            position: at,
            value: found,
            size,
            ..
        } => {
            position = Some(PyTuple::new(py, at)?);
            value = Some(match found {
                IndexValue::Integer(found) => found.into_bound_py_any(py)?,
                IndexValue::Float(found) => found.into_bound_py_any(py)?,
            });
            limit = *size;
        }
        Problem::Axis {
            value: found, rank, ..
        } => {
            value = Some(found.into_bound_py_any(py)?);
            limit = Some(*rank);
        }
        Problem::DType {
            found,
            expected: may,
            ..
        } => {
            value = Some(found.to_string().into_bound_py_any(py)?);
            expected = Some(may);
        }
        Problem::Shape {
            found,
            expected: may,
            ..
        } => {
            value = Some(PyTuple::new(py, found)?.into_any());
            expected = Some(may);
        }
        Problem::Value {
            value: found,
            expected: may,
            ..
        }
        | Problem::Kind {
            found,
            expected: may,
            ..
        } => {
            value = Some(found.into_bound_py_any(py)?);
            expected = Some(may);
        }
        _ => {}
    }
    raised.setattr("operator", error.operator())?;
    raised.setattr("argument", problem.argument())?;
    raised.setattr("position", position)?;
    raised.setattr("value", value)?;
    raised.setattr("limit", limit)?;
    raised.setattr("expected", expected)
}

/// The exception `operator: said` about an argument, for what the core has no problem for.
pub(crate) fn about<E: PyTypeInfo>(
    py: Python<'_>,
    operator: &str,
    argument: &str,
    value: Option<&str>,
    said: &str,
) -> PyErr {
    let raised = PyErr::new::<E, _>(format!("{operator}: {said}"));
    let error = raised.value(py);
    let fields = [
        ("operator", Some(operator)),
        ("argument", Some(argument)),
        ("value", value),
        ("position", None),
        ("limit", None),
        ("expected", None),
    ];
    // As above: the message says all.
    let _ = fields
        .iter()
        .try_for_each(|(name, value)| error.setattr(*name, *value));
    raised
}

/// The exception of another class and with more to say than an error of the core has.
pub(crate) fn reworded<E: PyTypeInfo>(py: Python<'_>, error: &Error, message: String) -> PyErr {
    described(py, PyErr::new::<E, _>(message), error)
}

/// The exception for an error; one about a number out of bounds says which argument leaves such
/// numbers out.
pub(crate) fn raise_outside(py: Python<'_>, error: &Error, bounds: Bounds) -> PyErr {
    let is_error = bounds.out_of_range == OutOfRange::Error;
    let outside = matches!(
        error.problem(),
        Problem::IndexOutOfBounds { size: Some(_), .. }
    );
    match is_error && outside {
        true => raise_saying(
            py,
            error,
            &format!("{error}; mode=\"drop\" leaves out what has such a number"),
        ),
        false => raise(py, error),
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
        .import(py, "strew._native.errors", "ConversionError")
        .cloned()
}
