//! Python values as an operator's arguments, by the kind that the operator's table gives.

use crate::array::{Array, kind_of};
use crate::errors::{refuse, wrong_kind};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyList, PyString, PyTuple};
use smallvec::SmallVec;
use std::borrow::Cow;
use strew::{
    Argument, Class, Complex64, DType, Kind, Operator, Problem, Scalar, UnknownDType, Value,
};

/// No list of axes, sizes or indices by axis, no word and no label is longer. What is made of them,
/// messages for example, then takes no memory worth asking for.
const LONGEST: usize = 1 << 16;

/// A converted value; what it borrows from lives in it.
pub(crate) enum Taken<'py> {
    Tensor(Array<'py>),
    Target(Array<'py>),
    Integers(SmallVec<[i64; 4]>),
    Int(i128),
    Bool(bool),
    Text(PyBackedStr),
    Scalar(Scalar),
    Tensors(Vec<Option<Array<'py>>>),
}

impl<'py> Taken<'py> {
    /// Converts what was passed for `argument`.
    #[inline(always)] // An array is large: it is made where it stays.
    pub(crate) fn new(
        operator: &Operator,
        argument: &Argument,
        given: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let py = given.py();
        let name = argument.name;
        let wrong = |expected: &str| wrong_kind(py, operator.name, name, expected, kind_of(given));
        match argument.kind {
            Kind::Tensor => Array::read(operator.name, name, given).map(Self::Tensor),
            Kind::Target => Array::write(operator.name, name, given).map(Self::Target),
            Kind::Integers => match listed(operator, name, given)? {
                Some(list) => Ok(Self::Integers(list)),
                None => Array::read(operator.name, name, given).map(Self::Tensor),
            },
            Kind::Int => whole(given)?
                .map(Self::Int)
                .ok_or_else(|| wrong("an integer")),
            Kind::Bool => given.extract().map(Self::Bool).map_err(|_| wrong("a bool")),
            Kind::Text => {
                let word: PyBackedStr = given.extract().map_err(|_| wrong("a str"))?;
                not_too_long(py, operator.name, name, word.len(), "bytes")?;
                Ok(Self::Text(word))
            }
            Kind::Scalar => scalar(given)?
                .map(Self::Scalar)
                .ok_or_else(|| wrong("a number")),
            Kind::Tensors => tensors(operator, name, given).map(Self::Tensors),
            // `Kind` may grow with the core; this edge then has to learn the new one.
            _ => {
                let problem = Problem::Kind {
                    argument: name.into(),
                    expected: "of a kind that Python can pass".into(),
                    found: format!("{:?}", argument.kind),
                };
                Err(refuse(py, operator.name, Class::NotImplemented, problem))
            }
        }
    }

    /// The value for the core.
    #[inline(always)] // As above.
    pub(crate) fn value(&mut self) -> Result<Value<'_>, Problem> {
        Ok(match self {
            Self::Tensor(array) => Value::Tensor(array.view()?),
            Self::Target(array) => Value::Target(array.view_mut()?),
            Self::Integers(list) => Value::Integers(Cow::Borrowed(list)),
            Self::Int(value) => i64::try_from(*value).map_or(Value::Wide(*value), Value::Int),
            Self::Bool(value) => Value::Bool(*value),
            Self::Text(word) => Value::Text((**word).into()),
            Self::Scalar(number) => Value::Scalar(*number),
            Self::Tensors(list) => {
                let views = list
                    .iter()
                    .map(|one| one.as_ref().map(Array::view).transpose());
                Value::Tensors(views.collect::<Result<_, _>>()?)
            }
        })
    }
}

/// Refuses what nobody means, before memory is taken for it: that could not fail without ending the
/// process.
pub(crate) fn not_too_long(
    py: Python<'_>,
    operator: &str,
    argument: &str,
    len: usize,
    of: &str,
) -> PyResult<()> {
    if len <= LONGEST {
        return Ok(());
    }
    let problem = Problem::Value {
        argument: argument.into(),
        value: format!("{len} {of}"),
        expected: format!("it must have at most {LONGEST}"),
    };
    Err(refuse(py, operator, Class::Value, problem))
}

/// The number that an object is: of Python, or an array library's without dimensions.
pub(crate) fn scalar(given: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if let Ok(value) = given.cast::<PyBool>() {
        return Ok(Some(value.is_true().into()));
    }
    if let Ok(value) = given.cast::<PyFloat>() {
        return Ok(Some(value.value().into()));
    }
    if let Ok(value) = given.cast::<PyComplex>() {
        return Ok(Some(Complex64::new(value.real(), value.imag()).into()));
    }
    // A NumPy float64 is a float; all other scalars of libraries, and 0-d arrays, say what they hold.
    let ndim = given.getattr("ndim").and_then(|n| n.extract::<usize>());
    if ndim.is_ok_and(|ndim| ndim == 0)
        && let Ok(item) = given.call_method0("item")
        && !item.is(given)
    {
        return scalar(&item);
    }
    if let Ok(value) = given.extract::<u64>() {
        return Ok(Some(value.into()));
    }
    match given.extract::<i64>() {
        Ok(value) => Ok(Some(value.into())),
        // No integer type holds it, and as a float it is what it is there.
        Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
            Ok(given.extract::<f64>().ok().map(Scalar::Float))
        }
        Err(_) => Ok(None),
    }
}

/// The tensors of a list or tuple, of which some may be None.
fn tensors<'py>(
    operator: &Operator,
    argument: &'static str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Vec<Option<Array<'py>>>> {
    let too_long = |len| not_too_long(given.py(), operator.name, argument, len, "entries");
    let items: Vec<Bound<'py, PyAny>> = if let Ok(tuple) = given.cast::<PyTuple>() {
        too_long(tuple.len())?;
        tuple.iter().collect()
    } else if let Ok(list) = given.cast::<PyList>() {
        too_long(list.len())?;
        list.iter().collect()
    } else {
        let found = kind_of(given);
        let expected = "a tuple or list of arrays";
        return Err(wrong_kind(
            given.py(),
            operator.name,
            argument,
            expected,
            found,
        ));
    };
    let one = |item: Bound<'py, PyAny>| match item.is_none() {
        true => Ok(None),
        false => Array::read(operator.name, argument, &item).map(Some),
    };
    items.into_iter().map(one).collect()
}

/// The integers of a list or tuple; `None` if it is something else.
fn listed(
    operator: &Operator,
    argument: &str,
    given: &Bound<'_, PyAny>,
) -> PyResult<Option<SmallVec<[i64; 4]>>> {
    let one = |(at, item): (usize, Bound<'_, PyAny>)| {
        let wrong = || {
            let name = format!("{argument}[{at}]");
            wrong_kind(
                given.py(),
                operator.name,
                name,
                "an integer",
                kind_of(&item),
            )
        };
        integer(&item)?.ok_or_else(wrong)
    };
    let too_long = |len| not_too_long(given.py(), operator.name, argument, len, "values");
    if let Ok(tuple) = given.cast::<PyTuple>() {
        too_long(tuple.len())?;
        tuple.iter().enumerate().map(one).collect::<PyResult<_>>()
    } else if let Ok(list) = given.cast::<PyList>() {
        too_long(list.len())?;
        list.iter().enumerate().map(one).collect::<PyResult<_>>()
    } else {
        return Ok(None);
    }
    .map(Some)
}

/// The integer that an object is, by `__index__`; one that `i64` cannot hold becomes the extreme
/// on its side, which no axis reaches either. `None` if the object is no integer.
pub(crate) fn integer(given: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    let narrow = |value: i128| {
        let extreme = if value < 0 { i64::MIN } else { i64::MAX };
        i64::try_from(value).unwrap_or(extreme)
    };
    Ok(whole(given)?.map(narrow))
}

/// The integer that an object is, by `__index__`; one that `i128` cannot hold becomes the extreme
/// on its side. `None` if the object is no integer.
pub(crate) fn whole(given: &Bound<'_, PyAny>) -> PyResult<Option<i128>> {
    // Most are narrow, and quicker to read so.
    if let Ok(value) = given.extract::<i64>() {
        return Ok(Some(value.into()));
    }
    match given.extract() {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
            Ok(Some(if given.lt(0)? { i128::MIN } else { i128::MAX }))
        }
        Err(error) if error.is_instance_of::<PyTypeError>(given.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The dtype that an object is or names: "float32", `numpy.float32`, `torch.float32`, a NumPy dtype,
/// or what NumPy makes one of: `float`, "f4".
pub(crate) fn dtype_named(operator: &str, given: &Bound<'_, PyAny>) -> PyResult<DType> {
    let name = match given.cast::<PyString>() {
        Ok(name) => name.to_str()?.to_owned(),
        Err(_) => match given.getattr_opt("__name__")? {
            Some(name) => name.extract()?,
            None => given.str()?.to_str()?.to_owned(),
        },
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    let of_numpy = || -> Option<DType> {
        static DTYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let made = DTYPE
            .import(given.py(), "numpy", "dtype")
            .ok()?
            .call1((given,))
            .ok()?;
        let name: String = made.getattr("name").ok()?.extract().ok()?;
        name.parse().ok()
    };
    let parsed: Result<DType, UnknownDType> = last.parse();
    parsed
        .or_else(|unknown| of_numpy().ok_or(unknown))
        .map_err(|unknown| {
            let problem = Problem::Value {
                argument: "dtype".into(),
                value: name.clone(),
                expected: unknown.to_string(),
            };
            refuse(given.py(), operator, Class::Value, problem)
        })
}
