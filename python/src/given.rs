//! Arguments of methods, which are checked where the method's name is known.
//!
//! What pyo3 says of an argument of the wrong type names the argument alone.

use crate::array::kind_of;
use crate::errors::{about, refuse, wrong_kind};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyEllipsis;
use std::convert::Infallible;
use std::ops::Deref;
use strew::{Class, Problem};

/// An argument.
pub(crate) enum Given<'py, T> {
    Is(T),
    /// Something else, and why it is no `T`.
    Other(Bound<'py, PyAny>, PyErr),
}

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Given<'py, T> {
    type Error = Infallible;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(match given.extract() {
            Ok(value) => Self::Is(value),
            Err(error) => Self::Other(given.to_owned(), error.into()),
        })
    }
}

impl<T> Given<'_, T> {
    /// The value; an error names the function and the argument.
    pub(crate) fn of(self, function: &str, argument: &str, expected: &str) -> PyResult<T> {
        match self {
            Self::Is(value) => Ok(value),
            Self::Other(given, error) => Err(other(&given, error, function, argument, expected)),
        }
    }

    /// An axis, or a number of 64 bits.
    pub(crate) fn integer(self, function: &str, argument: &str) -> PyResult<T> {
        self.of(function, argument, "an integer of 64 bits")
    }

    /// A length, or a count.
    pub(crate) fn count(self, function: &str, argument: &str) -> PyResult<T> {
        self.of(function, argument, "an integer of 64 bits, at least 0")
    }

    pub(crate) fn flag(self, function: &str, argument: &str) -> PyResult<T> {
        self.of(function, argument, "a bool")
    }

    pub(crate) fn word(self, function: &str, argument: &str) -> PyResult<T> {
        self.of(function, argument, "a str")
    }

    pub(crate) fn shape(self, function: &str, argument: &str) -> PyResult<T> {
        self.of(function, argument, "a sequence of sizes, each at least 0")
    }
}

/// An argument that may be left out. None does not leave it out; `...` does.
pub(crate) enum Maybe<T> {
    Absent,
    Is(T),
}

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Maybe<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match given.is_instance_of::<PyEllipsis>() {
            true => Ok(Self::Absent),
            false => given.extract().map(Self::Is).map_err(Into::into),
        }
    }
}

/// An axis, by one of its two names.
pub(crate) type Axis<'py> = Given<'py, Maybe<i64>>;

/// What an axis is where a function is called without it.
pub(crate) const NO_AXIS: Axis<'static> = Given::Is(Maybe::Absent);

/// The axis that `dim` or `axis` names; by default the first one.
pub(crate) fn axis_of(function: &str, dim: Axis<'_>, axis: Axis<'_>) -> PyResult<i64> {
    match (
        dim.integer(function, "dim")?,
        axis.integer(function, "axis")?,
    ) {
        (Maybe::Absent, Maybe::Absent) => Ok(0),
        (Maybe::Is(one), Maybe::Absent) | (Maybe::Absent, Maybe::Is(one)) => Ok(one),
        (Maybe::Is(_), Maybe::Is(_)) => {
            let said = "dim and axis are one argument: give one of them";
            Err(Python::attach(|py| {
                about::<PyTypeError>(py, function, "dim", None, said)
            }))
        }
    }
}

fn other(
    given: &Bound<'_, PyAny>,
    error: PyErr,
    function: &str,
    argument: &str,
    expected: &str,
) -> PyErr {
    let py = given.py();
    if error.is_instance_of::<PyTypeError>(py) {
        return wrong_kind(py, function, argument, expected, kind_of(given));
    }
    match given.repr() {
        Ok(value) if error.is_instance_of::<PyOverflowError>(py) => {
            let problem = Problem::Value {
                argument: argument.to_owned(),
                value: value.to_string(),
                expected: format!("it must be {expected}"),
            };
            refuse(py, function, Class::Value, problem)
        }
        // An error of the object's own.
        _ => error,
    }
}

/// A word; the usual one is no Python object.
pub(crate) enum Word {
    Usual(&'static str),
    Told(PyBackedStr),
}

impl Deref for Word {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Usual(word) => word,
            Self::Told(word) => word,
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Word {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::Told(given.extract()?))
    }
}
