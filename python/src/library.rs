//! Which library an array comes from: results go back to it.

use crate::errors::{refuse, wrong_kind};
use numpy::PyUntypedArray;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyType};
use strew::{Class, Problem};

/// The library of an array.
#[derive(Clone)]
pub(crate) enum Library<'py> {
    /// A list or a number: it leaves the choice to the other arguments.
    None,
    /// NumPy.
    Numpy,
    /// PyTorch: its module, and the tensor.
    Torch(Bound<'py, PyAny>, Bound<'py, PyAny>),
    /// JAX, whose arrays never change: the array.
    Jax(Bound<'py, PyAny>),
    /// Any other library that speaks DLPack: one of its arrays.
    Other(Bound<'py, PyAny>),
}

impl<'py> Library<'py> {
    /// The library of an object that is not NumPy's.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        // A library that has not been imported cannot have made the object.
        if let Some(torch) = imported(py, intern!(py, "torch"))?
            && is_instance(object, &torch, intern!(py, "Tensor"))?
        {
            return Ok(Self::Torch(torch, object.clone()));
        }
        if let Some(jax) = imported(py, intern!(py, "jax"))?
            && is_instance(object, &jax, intern!(py, "Array"))?
        {
            return Ok(Self::Jax(object.clone()));
        }
        Ok(Self::Other(object.clone()))
    }

    /// Refuses a tensor whose memory does not hold what the tensor says, or whose gradient
    /// would be lost.
    pub(crate) fn check(&self, operator: &str, argument: &str) -> PyResult<()> {
        let tensor = match self {
            Self::Torch(_, tensor) => tensor,
            Self::Jax(array) => return refuse_traced(operator, argument, array),
            Self::None | Self::Numpy | Self::Other(_) => return Ok(()),
        };
        let py = tensor.py();
        let not = |expected: &str, found: &str| {
            let problem = Problem::Kind {
                argument: argument.into(),
                expected: expected.into(),
                found: found.into(),
            };
            Err(refuse(py, operator, Class::Runtime, problem))
        };
        if tensor.getattr(intern!(py, "requires_grad"))?.is_truthy()? {
            return not(
                "a tensor without gradient (strew does not record gradients here: pass tensor.detach())",
                "one that requires grad",
            );
        }
        // A lazily negated tensor exports its memory as it is, with the wrong sign.
        if tensor.call_method0(intern!(py, "is_neg"))?.is_truthy()? {
            return not(
                "a tensor in memory as it is (pass tensor.resolve_neg())",
                "one with the negative bit set",
            );
        }
        if tensor.call_method0(intern!(py, "is_conj"))?.is_truthy()? {
            return not(
                "a tensor in memory as it is (pass tensor.resolve_conj())",
                "one with the conjugate bit set",
            );
        }
        Ok(())
    }

    /// Tells the library that a tensor of its own was written to.
    pub(crate) fn was_written(&self) -> PyResult<()> {
        let Self::Torch(torch, tensor) = self else {
            return Ok(());
        };
        let py = tensor.py();
        // Autograd finds out by this count that a tensor it keeps for a backward pass has changed.
        // Inference tensors have none.
        if !tensor
            .call_method0(intern!(py, "is_inference"))?
            .is_truthy()?
        {
            torch
                .getattr(intern!(py, "autograd"))?
                .getattr(intern!(py, "graph"))?
                .call_method1(intern!(py, "increment_version"), (tensor,))?;
        }
        Ok(())
    }

    /// The library's `from_dlpack`; `None` if the result is to be NumPy's.
    pub(crate) fn importer(&self) -> PyResult<Option<Bound<'py, PyAny>>> {
        let object = match self {
            Self::None | Self::Numpy => return Ok(None),
            Self::Torch(torch, tensor) => {
                return torch.getattr(intern!(tensor.py(), "from_dlpack")).map(Some);
            }
            Self::Jax(object) | Self::Other(object) => object,
        };
        let py = object.py();
        let name = intern!(py, "from_dlpack");
        if let Some(of) = object.getattr_opt(intern!(py, "__array_namespace__"))? {
            return of.call0()?.getattr(name).map(Some);
        }
        let module = object.get_type().module()?;
        let root = module.to_str()?.split('.').next().unwrap_or_default();
        match imported(py, &PyString::new(py, root))? {
            Some(library) => library.getattr_opt(name),
            None => Ok(None),
        }
    }
}

/// Whether the object is one of torch's tensors.
pub(crate) fn is_tensor(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    // The most common array is not asked for anything else.
    if object.cast::<PyUntypedArray>().is_ok() {
        return Ok(false);
    }
    let py = object.py();
    match imported(py, intern!(py, "torch"))? {
        Some(torch) => is_instance(object, &torch, intern!(py, "Tensor")),
        None => Ok(false),
    }
}

/// Whether the object is of a class of the module; a module that is still being imported, or is
/// another one of that name, may not have the class.
fn is_instance<'py>(
    object: &Bound<'py, PyAny>,
    module: &Bound<'py, PyAny>,
    class: &Bound<'py, PyString>,
) -> PyResult<bool> {
    match module.getattr_opt(class)? {
        Some(class) => object.is_instance(&class),
        None => Ok(false),
    }
}

/// While JAX traces a function, its arrays have no memory.
fn refuse_traced(operator: &str, argument: &str, array: &Bound<'_, PyAny>) -> PyResult<()> {
    static TRACER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = array.py();
    if array.is_instance(TRACER.import(py, "jax.core", "Tracer")?)? {
        let expected = "an array that has its values (strew.jax and strew.stablehlo take others; call the rest outside jax.jit and jax.grad, or by jax.pure_callback)";
        let found = "a JAX array that is being traced";
        return Err(wrong_kind(py, operator, argument, expected, found));
    }
    Ok(())
}

/// A module, if it has been imported.
fn imported<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let modules = MODULES.get_or_try_init(py, || -> PyResult<_> {
        let modules = py.import("sys")?.getattr("modules")?;
        Ok(modules.cast_into::<PyDict>()?.unbind())
    })?;
    // A module whose import has been forbidden is None there.
    Ok(modules.bind(py).get_item(name)?.filter(|m| !m.is_none()))
}
