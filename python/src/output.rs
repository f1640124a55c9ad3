//! Results out: as arrays of the library that the arguments came from, without a copy.
//!
//! # Unsafe
//!
//! - Buys: results without a copy
//! - Measured: a copy of the result: W2a 1.74
//! - Holds: the array's base owns the memory

use crate::dlpack::{dlpack_dtype, export_fast};
use crate::library::Library;
use dlpark::ffi::{DLDevice, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::metadata::Dynamic;
use dlpark::python::{DlpackExporter, ExportRequest, export_dlpack};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NpyTypes, get_type_object, npy_intp};
use numpy::prelude::*;
use numpy::{Complex32, Complex64, PY_ARRAY_API, PyArrayDescr, dtype};
use pyo3::exceptions::{PyBufferError, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use strew::{DType, DynTensor, f16};

/// The memory of a result: what a NumPy array of it has as its `base`, and what other libraries
/// take by DLPack.
#[pyclass(frozen, module = "strew._strew")]
pub(crate) struct Buffer {
    tensor: Arc<DynTensor>,
    /// Points at the tensor's first element. Kept from the time when the tensor was not shared:
    /// whoever takes the memory may write to it.
    data: AtomicPtr<u8>,
}

impl Buffer {
    fn new(mut tensor: DynTensor) -> Self {
        // Moving the tensor does not move its elements.
        let data = AtomicPtr::new(tensor.as_bytes_mut().as_mut_ptr());
        let tensor = Arc::new(tensor);
        Self { tensor, data }
    }

    fn data(&self) -> *mut u8 {
        self.data.load(Ordering::Relaxed)
    }

    fn managed<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let layout = self.tensor.layout();
        let size = self.tensor.dtype().size().cast_signed();
        let steps: Vec<isize> = layout.strides().iter().map(|s| s / size).collect();
        let mut described = Dynamic::new(layout.shape(), &steps[..])
            .initialize_as(Arc::clone(&self.tensor))
            .map_err(|e| PyBufferError::new_err(e.to_string()))?;
        described
            .set_data(self.data().cast())
            .set_dtype(dlpack_dtype(self.tensor.dtype())?)
            .set_device(DLDevice::CPU);
        // SAFETY: pointer, type, shape and strides are those of the tensor, which the managed
        // tensor owns a share of; its memory may be written to, as the flags (none) say.
        Ok(unsafe { described.finish() })
    }
}

impl DlpackExporter for Buffer {
    fn device(&self) -> DLDevice {
        DLDevice::CPU
    }

    fn flags(&self) -> DlpackFlags {
        DlpackFlags::empty()
    }

    fn prepare_export(&self, _py: Python<'_>, _request: &ExportRequest<'_>) -> PyResult<()> {
        Ok(())
    }

    fn export_legacy(&self, _py: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        self.managed()
    }

    fn export_versioned(&self, _py: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        self.managed()
    }
}

#[pymethods]
impl Buffer {
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let request = ExportRequest::parse(stream, max_version, dl_device, copy)?;
        export_dlpack(self, py, request)
    }

    fn __dlpack_device__(&self) -> (u32, i32) {
        (DLDevice::CPU.device_type.0, DLDevice::CPU.device_id)
    }

    fn __repr__(&self) -> String {
        format!("<strew result: {:?}>", self.tensor)
    }
}

/// The tensor as an array of the library.
pub(crate) fn give<'py>(
    py: Python<'py>,
    tensor: DynTensor,
    library: &Library<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let buffer = Buffer::new(tensor);
    if let Library::Torch(_, like) = library
        && let Some(made) = export_fast(like, || buffer.managed())?
    {
        return Ok(made);
    }
    if let Library::Tensorflow(tensorflow, _) = library {
        let capsule = Bound::new(py, buffer)?.call_method0("__dlpack__")?;
        let dlpack = tensorflow.getattr("experimental")?.getattr("dlpack")?;
        return dlpack.call_method1("from_dlpack", (capsule,));
    }
    match library.importer()? {
        Some(from_dlpack) => {
            let made = from_dlpack.call1((buffer,))?;
            match library {
                Library::Jax(like) => on_devices_of(made, like),
                _ => Ok(made),
            }
        }
        None => give_numpy(py, buffer),
    }
}

/// A result of JAX's on the devices of an argument.
fn on_devices_of<'py>(
    made: Bound<'py, PyAny>,
    like: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = like.py();
    let name = intern!(py, "sharding");
    if made.getattr(name)?.eq(like.getattr(name)?)? {
        return Ok(made);
    }
    static BESIDE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let beside = BESIDE.import(py, "strew._arrays.library", "on_devices_of")?;
    beside.call1((made, like))
}

fn give_numpy(py: Python<'_>, buffer: Buffer) -> PyResult<Bound<'_, PyAny>> {
    let descr = descr_of(py, buffer.tensor.dtype())?;
    let base = Bound::new(py, buffer)?;
    let layout = base.get().tensor.layout();
    let rank = i32::try_from(layout.rank())
        .map_err(|_| PyRuntimeError::new_err("the result has more dimensions than NumPy knows"))?;
    // `usize`, `isize` and `npy_intp` have one size, and every size and stride of a tensor
    // that exists fits `isize`.
    let shape: *const npy_intp = layout.shape().as_ptr().cast();
    let strides: *const npy_intp = layout.strides().as_ptr();
    let data = base.get().data();
    // SAFETY: shape and strides describe the `rank` axes of the tensor at `data`, which `base`
    // keeps alive and which nothing else refers to. NumPy only reads both lists, and takes over the
    // reference to `descr`, also when it fails.
    let array = unsafe {
        PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descr.into_dtype_ptr(),
            rank,
            shape.cast_mut(),
            strides.cast_mut(),
            data.cast(),
            NPY_ARRAY_WRITEABLE,
            std::ptr::null_mut(),
        )
    };
    // SAFETY: a new reference, or null with an exception set.
    let array = unsafe { Bound::from_owned_ptr_or_err(py, array)? };
    // SAFETY: `array` is a NumPy array without a base yet; the call takes over the reference to
    // `base`, also when it fails.
    let failed =
        unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), base.into_ptr()) };
    if failed != 0 {
        return Err(PyErr::fetch(py));
    }
    Ok(array)
}

fn descr_of(py: Python<'_>, of: DType) -> PyResult<Bound<'_, PyArrayDescr>> {
    Ok(match of {
        DType::Bool => dtype::<bool>(py),
        DType::I8 => dtype::<i8>(py),
        DType::I16 => dtype::<i16>(py),
        DType::I32 => dtype::<i32>(py),
        DType::I64 => dtype::<i64>(py),
        DType::U8 => dtype::<u8>(py),
        DType::U16 => dtype::<u16>(py),
        DType::U32 => dtype::<u32>(py),
        DType::U64 => dtype::<u64>(py),
        DType::F16 => dtype::<f16>(py),
        DType::F32 => dtype::<f32>(py),
        DType::F64 => dtype::<f64>(py),
        DType::C64 => dtype::<Complex32>(py),
        DType::C128 => dtype::<Complex64>(py),
        DType::BF16 => bfloat16(py)?,
    })
}

fn bfloat16(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static DESCR: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    let descr = DESCR.get_or_try_init(py, || -> PyResult<_> {
        let class = py.import("ml_dtypes")?.getattr("bfloat16")?;
        Ok(PyArrayDescr::new(py, class)?.unbind())
    })?;
    Ok(descr.bind(py).clone())
}
