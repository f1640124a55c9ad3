//! Python objects that are made of a length: `MemoryError` where PyO3's own functions panic.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

/// Bytes.
pub(crate) fn bytes<'py>(py: Python<'py>, all: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, all.len(), |made| {
        made.copy_from_slice(all);
        Ok(())
    })
}

/// A str.
pub(crate) fn text<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    PyString::from_encoded_object(bytes(py, text.as_bytes())?.as_any(), Some(c"utf-8"), None)
}

/// A tuple.
pub(crate) fn tuple<'py>(
    py: Python<'py>,
    items: impl IntoIterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let list = PyList::empty(py);
    items.into_iter().try_for_each(|item| list.append(item?))?;
    let made = py.get_type::<PyTuple>().call1((list,))?;
    Ok(made.cast_into()?)
}
