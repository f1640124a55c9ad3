//! Memory of other libraries, by the DLPack protocol, without a copy.

use dlpark::ffi::{DLDataType, DLDeviceType, DLManagedTensorVersioned};
use dlpark::python::consumer::exchange::ExchangeApi;
use dlpark::python::{ImportedDlpack, from_dlpack};
use dlpark::{DlpackFlags, Managed};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use strew::{DType, Layout};

/// A tensor of another library: while this lives, so does its memory.
pub(crate) struct Imported {
    pub(crate) ptr: *mut u8,
    pub(crate) layout: Layout,
    pub(crate) access: Access,
    /// Tells the library, when dropped, that its memory is no longer used.
    pub(crate) tensor: ImportedDlpack,
}

/// What may be done with memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its owner sees what is written.
    Write,
    /// It must not be written to.
    Read,
    /// Its owner would not see what is written: it is a copy.
    Copy,
}

/// Why an object could not be taken.
pub(crate) enum Refusal {
    /// An exception of the library's own.
    Raised(PyErr),
    /// An exception to raise with the argument's name in front.
    Value(String),
    /// Likewise, as a type error.
    Type(String),
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// True if the object speaks the protocol.
pub(crate) fn speaks(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.hasattr(intern!(object.py(), "__dlpack__"))
}

/// Takes the object's memory, by the protocol's Python methods.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> Result<Imported, Refusal> {
    let py = object.py();
    let device = object.call_method0(intern!(py, "__dlpack_device__"))?;
    let Ok((device, _id)) = device.extract::<(i64, i64)>() else {
        return Err(Refusal::Type(
            "its __dlpack_device__ gives no tuple of two integers".into(),
        ));
    };
    on_host(device)?;
    let capsule = capsule(object)?;
    let tensor = from_dlpack(capsule.as_borrowed(), None, None);
    describe(tensor.map_err(|error| {
        let why = format!("its __dlpack__ gives nothing to take: {}", error.value(py));
        match error.is_instance_of::<PyTypeError>(py) {
            true => Refusal::Type(why),
            false => Refusal::Value(why),
        }
    })?)
}

/// Takes the object's memory by the protocol's C functions, which cost a short call much less;
/// `None` if its library has none.
///
/// They do not make the checks that the Python methods make: the caller has made them.
pub(crate) fn import_fast(object: &Bound<'_, PyAny>) -> Result<Option<Imported>, Refusal> {
    let Some(api) = ExchangeApi::from_object(object.as_borrowed())? else {
        return Ok(None);
    };
    // Memory on a host needs no stream to be waited for; other memory is refused.
    let (tensor, _stream) = api
        .import_managed_no_sync(object.as_borrowed())?
        .into_parts();
    describe(ImportedDlpack::Versioned(tensor)).map(Some)
}

/// Makes an object of the library of `like` by the protocol's C functions; `None` if it has none.
pub(crate) fn export_fast<'py>(
    like: &Bound<'py, PyAny>,
    tensor: impl FnOnce() -> PyResult<Managed<DLManagedTensorVersioned>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match ExchangeApi::from_object(like.as_borrowed())? {
        Some(api) => api
            .managed_tensor_to_py_object_no_sync(tensor()?, like.py())
            .map(Some),
        None => Ok(None),
    }
}

/// Refuses memory that the CPU cannot read.
fn on_host(device: i64) -> Result<(), Refusal> {
    let hosts = [
        DLDeviceType::CPU,
        DLDeviceType::CUDAHOST,
        DLDeviceType::ROCMHOST,
    ];
    if hosts.iter().any(|host| i64::from(host.0) == device) {
        return Ok(());
    }
    Err(Refusal::Value(format!(
        "it is on a device that is not the CPU (DLPack device type {device}): copy it to the CPU first"
    )))
}

fn describe(tensor: ImportedDlpack) -> Result<Imported, Refusal> {
    let wrong = |why: String| Refusal::Value(format!("its DLPack description is wrong: {why}"));
    let described = tensor.validate().map_err(|e| wrong(e.to_string()))?;
    on_host(described.device().device_type.0.into())?;
    let Some(dtype) = dtype(described.dtype()) else {
        let DLDataType { code, bits, lanes } = described.dtype();
        return Err(Refusal::Type(format!(
            "it has elements that strew does not know (DLPack type code {}, {bits} bits, {lanes} lanes)",
            code.0
        )));
    };
    let shape: Option<Vec<usize>> = described
        .shape()
        .iter()
        .map(|&n| n.try_into().ok())
        .collect();
    let shape = shape.ok_or_else(|| wrong("a negative size".into()))?;
    let steps = described
        .strides_or_compact()
        .map_err(|e| wrong(e.to_string()))?;
    let size = dtype.size() as i64;
    let strides: Option<Vec<isize>> = steps
        .iter()
        .map(|&n| n.checked_mul(size)?.try_into().ok())
        .collect();
    let strides = strides.ok_or_else(|| wrong("a stride beyond the address space".into()))?;
    let layout = Layout::new(dtype, &shape, &strides).map_err(|e| wrong(e.to_string()))?;
    let offset = isize::try_from(described.byte_offset())
        .map_err(|_| wrong("an offset beyond the address space".into()))?;
    let ptr = described
        .data_ptr()
        .cast_mut()
        .cast::<u8>()
        .wrapping_offset(offset);
    let flags = tensor.flags();
    let access = if flags.contains(DlpackFlags::READ_ONLY) {
        Access::Read
    } else if flags.contains(DlpackFlags::IS_COPIED) {
        Access::Copy
    } else {
        Access::Write
    };
    Ok(Imported {
        ptr,
        layout,
        access,
        tensor,
    })
}

/// The object's capsule: versioned if it can, so that it can say that it is read-only.
fn capsule<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let method = object.getattr(intern!(py, "__dlpack__"))?;
    let options = PyDict::new(py);
    options.set_item(intern!(py, "max_version"), (1, 0))?;
    match method.call((), Some(&options)) {
        // Older libraries do not know the argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => method.call0(),
        result => result,
    }
}

/// The element types that both sides know.
const TYPES: [(DType, DLDataType); 15] = [
    (DType::Bool, DLDataType::BOOL),
    (DType::I8, DLDataType::I8),
    (DType::I16, DLDataType::I16),
    (DType::I32, DLDataType::I32),
    (DType::I64, DLDataType::I64),
    (DType::U8, DLDataType::U8),
    (DType::U16, DLDataType::U16),
    (DType::U32, DLDataType::U32),
    (DType::U64, DLDataType::U64),
    (DType::F16, DLDataType::F16),
    (DType::BF16, DLDataType::BF16),
    (DType::F32, DLDataType::F32),
    (DType::F64, DLDataType::F64),
    (DType::C64, DLDataType::C64),
    (DType::C128, DLDataType::C128),
];

fn dtype(found: DLDataType) -> Option<DType> {
    let known = TYPES.iter().find(|(_, there)| *there == found);
    known.map(|&(here, _)| here)
}

/// The type's name in DLPack.
pub(crate) fn dlpack_dtype(dtype: DType) -> PyResult<DLDataType> {
    let known = TYPES.iter().find(|&&(here, _)| here == dtype);
    known
        .map(|&(_, there)| there)
        .ok_or_else(|| PyValueError::new_err(format!("DLPack has no name for {dtype}")))
}
