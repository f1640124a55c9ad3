//! strew as a foreign function of XLA: what `strew.jax` calls while JAX traces a function.
//!
//! Nothing here needs jaxlib: XLA passes a table of its functions with each call.
//!
//! - `abi`: XLA's C interface; `frame`: what a call passes, as strew's types;
//! - `handlers`: what is done with it.
//!
//! A handler runs on a thread of XLA's, without the interpreter's lock, and several calls run at
//! once.
//!
//! # Unsafe
//!
//! - Buys: calls from XLA
//! - Measured: no other way
//! - Holds: XLA passes what its C interface says; `abi` is compared with jaxlib's header

mod abi;
mod frame;
mod handlers;

use crate::xla::abi::{CallFrame, ErrorCreateArgs, MetadataExtension};
use crate::xla::frame::Frame;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CString, c_int, c_void};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null_mut};
use strew::{Class, Problem};

type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut abi::Error;

/// The handler of this name, to be registered with XLA for its platform `cpu`.
#[pyfunction]
#[pyo3(name = "_xla_handler", signature = (name, /))]
pub(crate) fn xla_handler<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyCapsule>> {
    let handler: Handler = match name {
        "scatter" => scatter,
        "gather" => gather,
        "nothing" => nothing,
        "panics" => panics,
        _ => return Err(PyValueError::new_err(format!("no handler {name:?}"))),
    };
    let pointer = NonNull::new(handler as *mut c_void).expect("a function is somewhere");
    // SAFETY: the function exists as long as the process, as extension modules are never unloaded.
    unsafe { PyCapsule::new_with_pointer(py, pointer, c"xla._CUSTOM_CALL_TARGET") }
}

/// The offsets of fields and the values of constants that handlers rely on, by their names in
/// XLA's header: a test compares them with the header.
#[pyfunction]
#[pyo3(name = "_xla_layout")]
pub(crate) fn xla_layout() -> (Named<usize>, Named<c_int>) {
    (abi::OFFSETS.to_vec(), abi::CONSTANTS.to_vec())
}

type Named<T> = Vec<(&'static str, T)>;

unsafe extern "C" fn scatter(frame: *mut CallFrame) -> *mut abi::Error {
    // SAFETY: XLA passes a frame that is good until this function returns.
    unsafe { answer(frame, handlers::scatter) }
}

unsafe extern "C" fn gather(frame: *mut CallFrame) -> *mut abi::Error {
    // SAFETY: as in `scatter`.
    unsafe { answer(frame, handlers::gather) }
}

/// What a call costs before any work, for benchmarks to compare with.
unsafe extern "C" fn nothing(frame: *mut CallFrame) -> *mut abi::Error {
    // SAFETY: as in `scatter`.
    unsafe { answer(frame, |_| Ok(())) }
}

/// What a defect would be, for a test of what becomes of it.
unsafe extern "C" fn panics(frame: *mut CallFrame) -> *mut abi::Error {
    // SAFETY: as in `scatter`.
    unsafe { answer(frame, |_| panic!("a test asked for it")) }
}

/// Answers a question about the handler, or runs it. A panic becomes an error: it must not reach
/// XLA.
///
/// # Safety
/// `frame` must be one that XLA passes to a handler.
unsafe fn answer(
    frame: *mut CallFrame,
    run: fn(&Frame<'_>) -> Result<(), Problem>,
) -> *mut abi::Error {
    // SAFETY: the caller's promise. XLA's extensions begin with the fields of `Extension`, and one
    // of this type is a `MetadataExtension`.
    let frame = unsafe {
        let extension = (*frame).extension_start;
        if !extension.is_null() && (*extension).r#type == abi::EXTENSION_METADATA {
            describe(&*frame, extension.cast());
            return null_mut();
        }
        &*frame
    };
    if frame.stage != abi::EXECUTE {
        return refuse(
            frame,
            abi::INVALID_ARGUMENT,
            "strew: no stage but execution is known",
        );
    }
    // SAFETY: a frame to be executed, which lives until this function returns.
    let call = unsafe { Frame::new(frame) };
    match catch_unwind(AssertUnwindSafe(|| run(&call))) {
        Ok(Ok(())) => null_mut(),
        Ok(Err(problem)) => {
            let code = match problem {
                Problem::Memory { .. } => abi::RESOURCE_EXHAUSTED,
                Problem::IndexOutOfBounds { .. } => abi::OUT_OF_RANGE,
                _ => abi::INVALID_ARGUMENT,
            };
            let operator = call.text("operator").unwrap_or("strew").to_owned();
            let error = strew::Error::new(operator, Class::Value, problem);
            refuse(frame, code, &error.to_string())
        }
        Err(_) => refuse(
            frame,
            abi::INTERNAL,
            "strew: a defect in strew: a handler panicked",
        ),
    }
}

/// Says which version of the interface the handler speaks. XLA refuses a version that is higher
/// than its own. Until jaxlib 0.7.1 it does not say which it has; 0.1 is the lowest.
///
/// # Safety
/// The extension's metadata must be there to be written.
unsafe fn describe(frame: &CallFrame, extension: *mut MetadataExtension) {
    // SAFETY: XLA passes its table of functions, or null, and the metadata to be written. Nothing
    // is written beyond the fields that the oldest version has.
    unsafe {
        let minor = match frame.api.as_ref() {
            Some(api) => api.api_version.minor_version.min(abi::API_MINOR),
            None => 1,
        };
        let metadata = (*extension).metadata;
        (*metadata).api_version.major_version = 0;
        (*metadata).api_version.minor_version = minor;
        (*metadata).traits = 0;
    }
}

/// An error of XLA's.
fn refuse(frame: &CallFrame, code: c_int, message: &str) -> *mut abi::Error {
    let message = CString::new(message.replace('\0', "?")).unwrap_or_default();
    let mut args = ErrorCreateArgs {
        struct_size: offset_of!(ErrorCreateArgs, errc) + size_of::<c_int>(),
        extension_start: null_mut(),
        message: message.as_ptr(),
        errc: code,
    };
    // SAFETY: XLA passes its table of functions with each call. It copies the message.
    unsafe { ((*frame.api).XLA_FFI_Error_Create)(&raw mut args) }
}
