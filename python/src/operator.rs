//! The one entry: an operator of the table as a Python callable.

use crate::argument::Taken;
use crate::array::Array;
use crate::errors::{raise, refuse, wrong_kind};
use crate::interrupt::interruptible;
use crate::library::Library;
use crate::output::give;
use crate::settings::follow_torch;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;
use strew::{Argument, Arguments, Class, Kind};

/// Runs of fewer elements are over before a person could interrupt them.
pub(crate) const WATCHED_FROM: usize = 1_000_000;

/// Runs of fewer elements are over before another thread could take the interpreter.
pub(crate) const DETACHED_FROM: usize = 4096;

/// An operator, to be called with its arguments by position, in the framework's order; None
/// stands for one that is not passed.
#[pyclass(frozen, module = "strew._strew")]
pub(crate) struct Operator {
    operator: &'static strew::Operator,
}

#[pymethods]
impl Operator {
    #[new]
    #[pyo3(signature = (name, /))]
    fn new(name: &str) -> PyResult<Self> {
        match strew::find(name) {
            Some(operator) => Ok(Self { operator }),
            None => Err(PyValueError::new_err(format!("no operator {name:?}"))),
        }
    }

    /// `framework.operator`.
    #[getter]
    fn name(&self) -> &'static str {
        self.operator.name
    }

    /// The arguments that the result has a derivative for.
    #[getter]
    fn differentiable(&self) -> Vec<&'static str> {
        let arguments = self.operator.arguments.iter();
        arguments
            .filter(|a| a.differentiable)
            .map(|a| a.name)
            .collect()
    }

    /// Name, kind and default of each argument; the default is None if it must be passed.
    #[getter]
    fn arguments(&self) -> Vec<(&'static str, String, Option<&'static str>)> {
        let arguments = self.operator.arguments.iter();
        arguments
            .map(|a| (a.name, format!("{:?}", a.kind), a.default))
            .collect()
    }

    /// The names of what it returns.
    #[getter]
    fn returns(&self) -> Vec<&'static str> {
        self.operator.returns.to_vec()
    }

    fn __repr__(&self) -> String {
        format!("<strew operator {}>", self.operator.name)
    }

    /// How a call with these values would run, as text. Nothing is run or measured.
    #[pyo3(signature = (*values))]
    fn explain(&self, py: Python<'_>, values: &Bound<'_, PyTuple>) -> PyResult<String> {
        let operator = self.operator;
        let mut taken = Vec::new();
        for (place, (given, argument)) in values.iter().zip(operator.arguments).enumerate() {
            if !given.is_none() {
                taken.push((place, Taken::new(operator, argument, &given)?));
            }
        }
        let mut arguments = Arguments::new(operator);
        for (place, value) in &mut taken {
            let value = value
                .value()
                .map_err(|problem| refuse(py, operator.name, Class::Value, problem))?;
            arguments
                .set(*place, value)
                .map_err(|error| raise(py, &error))?;
        }
        let told = arguments.lower().and_then(|call| call.execution());
        let told = told.map_err(|error| raise(py, &error))?;
        Ok(told.explain().to_string())
    }

    #[pyo3(signature = (*values))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let operator = self.operator;
        if values.len() > operator.arguments.len() {
            let found = format!("{} of them", values.len());
            let expected = format!("at most {}", operator.arguments.len());
            return Err(wrong_kind(py, operator.name, "arguments", &expected, found));
        }
        let mut taken = SmallVec::<[_; 6]>::new();
        let mut target = None;
        for (place, (given, argument)) in values.iter().zip(operator.arguments).enumerate() {
            if given.is_none() {
                if let Some(refused) = refuse_none(py, operator, argument) {
                    return Err(refused);
                }
                continue;
            }
            let value = Taken::new(operator, argument, &given)?;
            if let Taken::Target(_) = value {
                target = Some(given);
            }
            taken.push((place, value));
        }
        let library = library_of(&taken);
        let elements: usize = taken.iter().map(|(_, value)| elements(value)).sum();

        let mut arguments = Arguments::new(operator);
        for (place, value) in &mut taken {
            let value = value
                .value()
                .map_err(|problem| refuse(py, operator.name, Class::Value, problem))?;
            arguments
                .set(*place, value)
                .map_err(|error| raise(py, &error))?;
        }
        if elements >= DETACHED_FROM {
            follow_torch(py);
        }
        let mut interrupt = None;
        let result = if elements < DETACHED_FROM {
            arguments.run_by(|ready| match ready.cells() < DETACHED_FROM {
                true => ready.run(),
                false => py.detach(|| ready.run()),
            })
        } else if elements < WATCHED_FROM {
            py.detach(|| arguments.run())
        } else {
            let (result, raised) = py.detach(|| interruptible(|| arguments.run()));
            interrupt = raised;
            result
        };
        if target.is_some() && result.is_ok() {
            library.was_written()?;
            for (_, value) in &taken {
                if let Taken::Target(array) = value {
                    array.write_back()?;
                }
            }
        }
        if let Some(raised) = interrupt {
            return Err(raised);
        }
        let output = result.map_err(|error| raise(py, &error))?;
        let out = match (target, output.tensor) {
            (Some(target), _) => target,
            (None, Some(tensor)) => give(py, tensor, &library)?,
            (None, None) => {
                let message = format!("{}: no result (a defect in strew)", operator.name);
                return Err(PyRuntimeError::new_err(message));
            }
        };
        match output.arg {
            Some(arg) => {
                let arg = give(py, arg, &library)?;
                Ok(PyTuple::new(py, [out, arg])?.into_any())
            }
            None => Ok(out),
        }
    }
}

/// Takes an operator's arguments and returns at once: what a call costs before any work, for
/// benchmarks to compare with.
#[pyfunction]
#[pyo3(name = "_noop", signature = (*values))]
pub(crate) fn noop(values: &Bound<'_, PyTuple>) {
    let _ = values;
}

/// The names of all operators.
#[pyfunction]
pub(crate) fn operators() -> Vec<&'static str> {
    let all = strew::OPERATORS.iter().flat_map(|of| of.iter());
    all.map(|operator| operator.name).collect()
}

/// The error for None where it has no meaning: an axis or a word that is left out has a value of
/// its own, which no framework gives to None.
fn refuse_none(py: Python<'_>, operator: &strew::Operator, argument: &Argument) -> Option<PyErr> {
    let usual = argument.default.filter(|&usual| usual != "None")?;
    let expected = match argument.kind {
        Kind::Int => "an integer",
        Kind::Text => "a str",
        _ => return None,
    };
    let found = format!("None: leave it out for {usual}");
    Some(wrong_kind(
        py,
        operator.name,
        argument.name,
        expected,
        found,
    ))
}

/// The library that results go to: the target's, or that of the first array.
fn library_of<'py>(taken: &[(usize, Taken<'py>)]) -> Library<'py> {
    let arrays = || taken.iter().filter_map(|(_, value)| array_of(value));
    let target = taken.iter().find_map(|(_, value)| match value {
        Taken::Target(array) => Some(array),
        _ => None,
    });
    let mut libraries = target.into_iter().chain(arrays()).map(Array::library);
    libraries
        .find(|library| !matches!(library, Library::None))
        .cloned()
        .unwrap_or(Library::Numpy)
}

fn array_of<'a, 'py>(value: &'a Taken<'py>) -> Option<&'a Array<'py>> {
    match value {
        Taken::Tensor(array) | Taken::Target(array) => Some(array),
        _ => None,
    }
}

fn elements(value: &Taken<'_>) -> usize {
    array_of(value).map_or(0, Array::len)
}
