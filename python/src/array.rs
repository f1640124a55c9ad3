//! Arrays in: NumPy's own, whatever NumPy makes an array of, and other libraries' by DLPack.
//!
//! # Unsafe
//!
//! - Buys: NumPy's and other libraries' memory without a copy
//! - Measured: a copy of the source: W2a 1.80
//! - Holds: the owner describes it and is kept alive; see SECURITY.md

use crate::dlpack::{self, Access, Imported, Refusal};
use crate::errors::{about, refuse, wrong_kind};
use crate::library::{Library, value_of_variable};
use dlpark::python::ImportedDlpack;
use numpy::npyffi::{NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NPY_TYPES};
use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyTuple, PyType};
use strew::{Class, DType, DynView, DynViewMut, Layout, Problem};

/// Memory of a Python object, and what keeps it alive.
pub(crate) struct Array<'py> {
    ptr: *mut u8,
    layout: Layout,
    access: Access,
    library: Library<'py>,
    memory: Memory<'py>,
}

/// What must live as long as the memory is used.
enum Memory<'py> {
    Numpy {
        _array: Bound<'py, PyUntypedArray>,
    },
    /// A copy of an array whose elements the machine does not read where they lie.
    Copied {
        copy: Bound<'py, PyUntypedArray>,
        original: Bound<'py, PyUntypedArray>,
    },
    Dlpack {
        _tensor: ImportedDlpack,
    },
}

impl<'py> Array<'py> {
    /// The memory of anything that is an array or that NumPy makes one of.
    #[inline(always)] // An array is large: it is made where it stays.
    pub(crate) fn read(
        operator: &str,
        argument: &str,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        match Self::existing(operator, argument, object, false)? {
            Some(array) => Ok(array),
            None => Self::made(operator, argument, object),
        }
    }

    /// What NumPy makes an array of.
    fn made(operator: &str, argument: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if !is_literal(object)
            && let Some(value) = value_of_variable(object)?
        {
            return Self::read(operator, argument, &value);
        }
        let made = as_numpy(object).map_err(|error| {
            // A ragged list, say: NumPy knows why, but not which argument it is.
            let why = error.value(py);
            let said = format!("{argument} is no array: {why}");
            let found = kind_of(object);
            let named = if error.is_instance_of::<PyTypeError>(py) {
                about::<PyTypeError>(py, operator, argument, Some(&found), &said)
            } else if error.is_instance_of::<PyValueError>(py) {
                about::<PyValueError>(py, operator, argument, Some(&found), &said)
            } else {
                return error;
            };
            named.set_cause(py, Some(error));
            named
        })?;
        let found = kind_of(object);
        let mut array = Self::numpy(operator, argument, made.cast_into()?, Some(&found))?;
        if is_literal(object) || array.layout.rank() == 0 {
            array.library = Library::None;
        }
        Ok(array)
    }

    /// The memory of an array that exists already: nothing else can be written in place.
    pub(crate) fn write(
        operator: &str,
        argument: &str,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let py = object.py();
        let expected = "an array that can be written to in place";
        let Some(array) = Self::existing(operator, argument, object, true)? else {
            return Err(wrong_kind(
                py,
                operator,
                argument,
                expected,
                kind_of(object),
            ));
        };
        if let Some(found) = array.library.immutable() {
            return Err(wrong_kind(py, operator, argument, expected, found));
        }
        match array.access {
            Access::Write => Ok(array),
            Access::Read => {
                let argument = argument.into();
                let problem = Problem::ReadOnly { argument };
                Err(refuse(py, operator, Class::Value, problem))
            }
            Access::Copy => {
                let said = format!(
                    "{argument} hands out a copy of its memory, so it cannot be written to in place"
                );
                Err(about::<PyValueError>(py, operator, argument, None, &said))
            }
        }
    }

    #[inline(always)]
    fn existing(
        operator: &str,
        argument: &str,
        object: &Bound<'py, PyAny>,
        to_write: bool,
    ) -> PyResult<Option<Self>> {
        if let Ok(array) = object.cast::<PyUntypedArray>() {
            if !array.is_exact_instance_of::<PyUntypedArray>() {
                refuse_masked(operator, argument, array)?;
            }
            return Self::numpy(operator, argument, array.clone(), None).map(Some);
        }
        Self::foreign(operator, argument, object, to_write)
    }

    /// The memory of another library's array.
    fn foreign(
        operator: &str,
        argument: &str,
        object: &Bound<'py, PyAny>,
        to_write: bool,
    ) -> PyResult<Option<Self>> {
        // Lists and numbers are asked for nothing: it would cost a short call too much.
        if is_literal(object) || !dlpack::speaks(object)? {
            return Ok(None);
        }
        let library = Library::of(object)?;
        library.check(operator, argument)?;
        let resolved = library.resolved()?;
        if resolved.is_some() && to_write {
            let expected = "a tensor whose memory holds its values (write into the tensor that this one is a conjugate or negative view of)";
            let found = "one with the conjugate or negative bit set";
            return Err(wrong_kind(object.py(), operator, argument, expected, found));
        }
        let object = resolved.as_ref().unwrap_or(object);
        let fast = match library {
            Library::Torch(..) => dlpack::import_fast(object),
            _ => Ok(None),
        };
        let tensor = match fast {
            // The Python methods say much better what is wrong.
            Ok(None) | Err(Refusal::Raised(_)) => dlpack::import(object),
            Ok(Some(tensor)) => Ok(tensor),
            Err(refusal) => Err(refusal),
        };
        if let (Library::Jax(_), Err(Refusal::Raised(_))) = (&library, &tensor)
            && is_on_hosts(object)
        {
            // Its parts lie on several devices: JAX puts them together.
            let mut array = Self::numpy(operator, argument, as_numpy(object)?.cast_into()?, None)?;
            (array.access, array.library) = (Access::Read, library);
            return Ok(Some(array));
        }
        if let Err(Refusal::Raised(_)) = &tensor
            && let Some(inner) = library.unwrapped(operator, argument)?
        {
            return Self::foreign(operator, argument, &inner, to_write);
        }
        let tensor = tensor.map_err(|refusal| match refusal {
            Refusal::Raised(error) => error,
            Refusal::Value(why) => {
                let said = format!("{argument}: {why}");
                about::<PyValueError>(object.py(), operator, argument, None, &said)
            }
            Refusal::Type(why) => {
                let said = format!("{argument}: {why}");
                about::<PyTypeError>(object.py(), operator, argument, None, &said)
            }
        })?;
        let Imported {
            ptr,
            layout,
            access,
            tensor,
        } = tensor;
        check_pointer(object.py(), operator, argument, ptr, &layout)?;
        Ok(Some(Self {
            ptr,
            layout,
            access,
            library,
            memory: Memory::Dlpack { _tensor: tensor },
        }))
    }

    /// `made_of` is what the array was made of, where the caller passed something else.
    #[inline(always)]
    fn numpy(
        operator: &str,
        argument: &str,
        array: Bound<'py, PyUntypedArray>,
        made_of: Option<&str>,
    ) -> PyResult<Self> {
        let py = array.py();
        let descr = array.dtype();
        if is_odd(&array) {
            return Self::copied(operator, argument, array);
        }
        let dtype = dtype_of(&descr).ok_or_else(|| {
            let found = match made_of {
                Some(object) => format!("{object} (as a NumPy array: dtype {descr})"),
                None => format!("an array of dtype {descr}"),
            };
            let expected = "an array of bool, integers, floats or complex numbers";
            wrong_kind(py, operator, argument, expected, found)
        })?;
        let raw = array.as_array_ptr();
        // SAFETY: `array` is a NumPy array, so `raw` points at its header, and the interpreter is
        // attached; the header is only read.
        let (data, flags) = unsafe { ((*raw).fields.data, (*raw).fields.flags) };
        let layout = Layout::new(dtype, array.shape(), array.strides());
        let named = |problem| refuse(py, operator, Class::Value, rename(problem, argument));
        let layout = layout.map_err(named)?;
        check_pointer(py, operator, argument, data.cast(), &layout)?;
        Ok(Self {
            ptr: data.cast(),
            layout,
            access: if flags & NPY_ARRAY_WRITEABLE == 0 {
                Access::Read
            } else {
                Access::Write
            },
            library: Library::Numpy,
            memory: Memory::Numpy { _array: array },
        })
    }

    /// A copy of an array whose bytes are swapped, or whose elements are not aligned, such as a
    /// field of packed records. What is written to the copy is written back.
    #[cold]
    fn copied(
        operator: &str,
        argument: &str,
        original: Bound<'py, PyUntypedArray>,
    ) -> PyResult<Self> {
        let py = original.py();
        let native = original
            .dtype()
            .call_method1(intern!(py, "newbyteorder"), ("=",))?;
        let copy = original.call_method1(intern!(py, "astype"), (native, "C"))?;
        let copy = copy.cast_into::<PyUntypedArray>()?;
        let mut array = Self::numpy(operator, argument, copy.clone(), None)?;
        let flags = original.getattr(intern!(py, "flags"))?;
        if !flags.getattr(intern!(py, "writeable"))?.is_truthy()? {
            array.access = Access::Read;
        }
        array.memory = Memory::Copied { copy, original };
        Ok(array)
    }

    /// Writes what a run wrote to the memory, where that is a copy.
    pub(crate) fn write_back(&self) -> PyResult<()> {
        if let Memory::Copied { copy, original } = &self.memory {
            static COPY_TO: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let copy_to = COPY_TO.import(copy.py(), "numpy", "copyto")?;
            copy_to.call1((original, copy))?;
        }
        Ok(())
    }

    pub(crate) fn library(&self) -> &Library<'py> {
        &self.library
    }

    pub(crate) fn len(&self) -> usize {
        self.layout.len()
    }

    /// The memory, to read.
    #[inline(always)]
    pub(crate) fn view(&self) -> Result<DynView<'_>, Problem> {
        // SAFETY: the array's owner says that pointer and layout describe its memory, and
        // `memory` keeps the owner, and so that memory, alive while `self` is borrowed.
        unsafe { DynView::from_raw_parts(self.ptr, self.layout.clone()) }
    }

    /// The memory, to write. [`Array::write`] has made the array, so its owner allows writing.
    #[inline(always)]
    pub(crate) fn view_mut(&mut self) -> Result<DynViewMut<'_>, Problem> {
        // SAFETY: as in `view`, and the owner does not call the memory read-only. Other arguments
        // may be views of the same memory, which the engine checks before it writes.
        unsafe { DynViewMut::from_raw_parts(self.ptr, self.layout.clone()) }
    }
}

/// The NumPy array that NumPy makes of an object.
fn as_numpy<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let asarray = ASARRAY.import(object.py(), "numpy", "asarray")?;
    asarray.call1((object,))
}

/// Whether all devices of an array of JAX's are CPUs.
fn is_on_hosts(array: &Bound<'_, PyAny>) -> bool {
    let devices = || -> PyResult<bool> {
        for device in array.call_method0("devices")?.try_iter()? {
            if device?.getattr("platform")?.extract::<String>()? != "cpu" {
                return Ok(false);
            }
        }
        Ok(true)
    };
    devices().unwrap_or(false)
}

/// Refuses memory whose pointer does not fit its layout.
fn check_pointer(
    py: Python<'_>,
    operator: &str,
    argument: &str,
    ptr: *const u8,
    layout: &Layout,
) -> PyResult<()> {
    layout
        .check_pointer(ptr)
        .map_err(|problem| refuse(py, operator, Class::Value, rename(problem, argument)))
}

/// The problem with the argument's name in place of the core's stand-in.
fn rename(problem: Problem, argument: &str) -> Problem {
    match problem {
        Problem::Layout { why, .. } => Problem::Layout {
            argument: argument.into(),
            why,
        },
        other => other,
    }
}

/// Numbers, and lists of what may be numbers.
fn is_literal(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyBool>()
        || object.is_instance_of::<PyComplex>()
}

/// A mask would be lost without a word.
fn refuse_masked(
    operator: &str,
    argument: &str,
    array: &Bound<'_, PyUntypedArray>,
) -> PyResult<()> {
    static MASKED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = array.py();
    if array.is_instance(MASKED.import(py, "numpy.ma", "MaskedArray")?)? {
        let expected = "an array without a mask (pass array.filled(..) or array.data)";
        return Err(wrong_kind(
            py,
            operator,
            argument,
            expected,
            "a masked array",
        ));
    }
    Ok(())
}

/// The object's class, as a message says it.
pub(crate) fn kind_of(object: &Bound<'_, PyAny>) -> String {
    let class = object.get_type();
    class
        .name()
        .map_or_else(|_| "an object".into(), |name| name.to_string())
}

/// Whether the machine does not read an array's elements where they lie: their bytes are swapped, or
/// they are not aligned.
#[inline(always)]
fn is_odd(array: &Bound<'_, PyUntypedArray>) -> bool {
    let raw = array.as_array_ptr();
    // SAFETY: `array` is a NumPy array, so `raw` points at its header, and the interpreter is
    // attached; the header is only read.
    let flags = unsafe { (*raw).fields.flags };
    flags & NPY_ARRAY_ALIGNED == 0 || is_swapped(&array.dtype())
}

/// Whether numbers are in the other order of bytes.
fn is_swapped(descr: &Bound<'_, PyArrayDescr>) -> bool {
    descr.is_native_byteorder() == Some(false) && dtype_of(descr).is_some()
}

/// The element type, if it is one of strew's, in any order of bytes.
fn dtype_of(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    let number = descr.num();
    let is = |t: NPY_TYPES| number == t as i32;
    if is(NPY_TYPES::NPY_BOOL) {
        return Some(DType::Bool);
    }
    if (NPY_TYPES::NPY_BYTE as i32..=NPY_TYPES::NPY_ULONGLONG as i32).contains(&number) {
        // C's integers differ in size from machine to machine; their kind and size do not.
        return match (descr.kind(), descr.itemsize()) {
            (b'i', 1) => Some(DType::I8),
            (b'i', 2) => Some(DType::I16),
            (b'i', 4) => Some(DType::I32),
            (b'i', 8) => Some(DType::I64),
            (b'u', 1) => Some(DType::U8),
            (b'u', 2) => Some(DType::U16),
            (b'u', 4) => Some(DType::U32),
            (b'u', 8) => Some(DType::U64),
            _ => None,
        };
    }
    if is(NPY_TYPES::NPY_HALF) {
        Some(DType::F16)
    } else if is(NPY_TYPES::NPY_FLOAT) {
        Some(DType::F32)
    } else if is(NPY_TYPES::NPY_DOUBLE) {
        Some(DType::F64)
    } else if is(NPY_TYPES::NPY_CFLOAT) {
        Some(DType::C64)
    } else if is(NPY_TYPES::NPY_CDOUBLE) {
        Some(DType::C128)
    } else {
        is_bfloat16(descr).then_some(DType::BF16)
    }
}

/// NumPy has no bfloat16 of its own: packages add one, `ml_dtypes` for most.
fn is_bfloat16(descr: &Bound<'_, PyArrayDescr>) -> bool {
    // Numbers from 256 on are those of added types.
    let name = || descr.typeobj().getattr(intern!(descr.py(), "__name__"));
    descr.num() >= 256
        && descr.itemsize() == 2
        && name().is_ok_and(|n| n.extract::<&str>().is_ok_and(|n| n == "bfloat16"))
}
