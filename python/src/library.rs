//! Which library an array comes from: results go back to it.

use crate::errors::{about, refuse, wrong_kind};
use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
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
    /// TensorFlow, whose tensors never change: its module, and the tensor.
    Tensorflow(Bound<'py, PyAny>, Bound<'py, PyAny>),
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
        if let Some(tensorflow) = imported(py, intern!(py, "tensorflow"))?
            && is_instance(object, &tensorflow, intern!(py, "Tensor"))?
        {
            return Ok(Self::Tensorflow(tensorflow, object.clone()));
        }
        Ok(Self::Other(object.clone()))
    }

    /// Refuses a tensor whose gradient would be lost.
    pub(crate) fn check(&self, operator: &str, argument: &str) -> PyResult<()> {
        match self {
            Self::Torch(_, tensor) => {
                let py = tensor.py();
                if !tensor.getattr(intern!(py, "requires_grad"))?.is_truthy()? {
                    return Ok(());
                }
                let expected = "a tensor without gradient (strew does not record gradients here: pass tensor.detach())";
                refuse_kind(py, operator, argument, expected, "one that requires grad")
            }
            Self::Jax(array) => refuse_traced(operator, argument, array),
            Self::Tensorflow(_, tensor) => refuse_watched(operator, argument, tensor),
            Self::None | Self::Numpy | Self::Other(_) => Ok(()),
        }
    }

    /// The tensor to read in place of one whose memory does not hold what the tensor says: torch
    /// negates and conjugates lazily. `None` for all others.
    pub(crate) fn resolved(&self) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Self::Torch(_, tensor) = self else {
            return Ok(None);
        };
        let py = tensor.py();
        let is = |name| tensor.call_method0(name)?.is_truthy();
        if !is(intern!(py, "is_neg"))? && !is(intern!(py, "is_conj"))? {
            return Ok(None);
        }
        let tensor = tensor.call_method0(intern!(py, "resolve_neg"))?;
        tensor.call_method0(intern!(py, "resolve_conj")).map(Some)
    }

    /// Why nothing can be written into an array of this library, if that is so.
    pub(crate) fn immutable(&self) -> Option<&'static str> {
        match self {
            Self::Jax(_) => Some("a JAX array, which is immutable"),
            Self::Tensorflow(..) => Some("a TensorFlow tensor, which is immutable"),
            _ => None,
        }
    }

    /// The tensor inside of one that `torch.func` has wrapped, and that therefore has no memory;
    /// `None` if this is not such a tensor.
    ///
    /// # Errors
    /// For a tensor of a batch, and for one that may have a tangent.
    pub(crate) fn unwrapped(
        &self,
        operator: &str,
        argument: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Self::Torch(torch, tensor) = self else {
            return Ok(None);
        };
        let functorch = torch.getattr("_C")?.getattr("_functorch")?;
        let is = |name, tensor: &Bound<'py, PyAny>| -> PyResult<bool> {
            functorch.call_method1(name, (tensor,))?.is_truthy()
        };
        let mut inner = tensor.clone();
        let mut known = true;
        while is("is_functorch_wrapped_tensor", &inner)? {
            known &= !is("is_batchedtensor", &inner)?;
            inner = functorch.call_method1("get_unwrapped", (inner,))?;
        }
        if inner.is(tensor) {
            return Ok(None);
        }
        // Integers have no tangent.
        let moves = tensor.call_method0("is_floating_point")?.is_truthy()?
            || tensor.call_method0("is_complex")?.is_truthy()?;
        if !known || moves {
            let said = format!(
                "{argument} is a tensor that torch.func transforms (torch.vmap, torch.func.jvp), and this function needs its values: call it outside the transform"
            );
            let py = tensor.py();
            return Err(about::<PyTypeError>(py, operator, argument, None, &said));
        }
        Ok(Some(inner))
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
            Self::Jax(object) | Self::Tensorflow(_, object) | Self::Other(object) => object,
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

/// The value of a variable of TensorFlow's; `None` for all else.
pub(crate) fn value_of_variable<'py>(
    object: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    match imported(py, intern!(py, "tensorflow"))? {
        Some(tensorflow) if is_instance(object, &tensorflow, intern!(py, "Variable"))? => {
            object.call_method0(intern!(py, "read_value")).map(Some)
        }
        _ => Ok(None),
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

fn refuse_kind(
    py: Python<'_>,
    operator: &str,
    argument: &str,
    expected: &str,
    found: &str,
) -> PyResult<()> {
    let problem = Problem::Kind {
        argument: argument.into(),
        expected: expected.into(),
        found: found.into(),
    };
    Err(refuse(py, operator, Class::Runtime, problem))
}

/// A tape would give None for the gradient of such a tensor, without a word.
fn refuse_watched(operator: &str, argument: &str, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = tensor.py();
    // Where a release of TensorFlow has it elsewhere, nothing is refused.
    let Ok(record) = py.import("tensorflow.python.eager.record") else {
        return Ok(());
    };
    let watched = record.call_method1("should_record_backprop", ([tensor],))?;
    if !watched.is_truthy()? {
        return Ok(());
    }
    let expected = "a tensor that no GradientTape watches (strew records no gradients for TensorFlow: pass tf.stop_gradient(tensor), inside tf.custom_gradient where a gradient is needed)";
    refuse_kind(
        py,
        operator,
        argument,
        expected,
        "one that a GradientTape watches",
    )
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
