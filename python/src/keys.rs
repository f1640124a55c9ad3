//! Numbers for different keys, for `strew.factorize`.

use crate::array::Array;
use crate::errors::{raise, refuse, wrong_kind};
use crate::library::Library;
use crate::output::give;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use strew::{Class, DType, DynView, Element, Numbered, Word, join_keys, number_keys};

pub(crate) const NAME: &str = "factorize";

/// A number for each different row of a matrix of integers, and where each number comes first.
#[pyfunction]
#[pyo3(name = "_number_keys", signature = (words, /))]
pub(crate) fn number<'py>(words: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let py = words.py();
    let array = Array::read(NAME, "keys", words)?;
    let view = viewed(py, &array)?;
    let width = view.shape().iter().skip(1).product();
    match view.dtype() {
        DType::U8 | DType::Bool => of::<u8>(py, &view, width),
        DType::U16 => of::<u16>(py, &view, width),
        DType::U32 => of::<u32>(py, &view, width),
        DType::U64 => of::<u64>(py, &view, width),
        DType::I8 => of::<i8>(py, &view, width),
        DType::I16 => of::<i16>(py, &view, width),
        DType::I32 => of::<i32>(py, &view, width),
        _ => of::<i64>(py, &view, width),
    }
}

/// A number for each combination of codes, in ascending order, and where each comes first.
#[pyfunction]
#[pyo3(name = "_join_keys", signature = (columns, sizes, /))]
pub(crate) fn join<'py>(
    py: Python<'py>,
    columns: Vec<Bound<'py, PyAny>>,
    sizes: Vec<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let read = |column: &Bound<'py, PyAny>| Array::read(NAME, "columns", column);
    let arrays: Vec<Array<'_>> = columns.iter().map(read).collect::<PyResult<_>>()?;
    let views = arrays.iter().map(|array| viewed(py, array));
    let views: Vec<DynView<'_>> = views.collect::<PyResult<_>>()?;
    let slices = views.iter().map(|view| contiguous::<i64>(py, view));
    let slices: Vec<&[i64]> = slices.collect::<PyResult<_>>()?;
    given(py, py.detach(|| join_keys(&slices, &sizes)))
}

fn of<'py, T: Word + Element>(
    py: Python<'py>,
    view: &DynView<'_>,
    width: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let words = contiguous::<T>(py, view)?;
    given(py, py.detach(|| number_keys(words, width)))
}

/// The pair of what a column's keys are numbered with.
pub(crate) fn given<'py>(
    py: Python<'py>,
    made: strew::Result<Numbered>,
) -> PyResult<Bound<'py, PyTuple>> {
    let Numbered { index, first } = made.map_err(|error| raise(py, &error))?;
    let numpy = |list: strew::Tensor<i64>| give(py, list.into_dyn(), &Library::Numpy);
    (numpy(index)?, numpy(first)?).into_pyobject(py)
}

pub(crate) fn viewed<'a>(py: Python<'_>, array: &'a Array<'_>) -> PyResult<DynView<'a>> {
    let view = array.view();
    view.map_err(|problem| refuse(py, NAME, Class::Value, problem))
}

pub(crate) fn contiguous<'a, T: Element>(
    py: Python<'_>,
    view: &'a DynView<'_>,
) -> PyResult<&'a [T]> {
    let slice = view.typed::<T>().and_then(|typed| typed.as_slice());
    let expected = "integers that lie one after the other";
    slice.ok_or_else(|| wrong_kind(py, NAME, "keys", expected, "an array of another layout"))
}
