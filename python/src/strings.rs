//! Numbers for different strings, which are read where Arrow's arrays have them.

use crate::array::Array;
use crate::errors::{raise, refuse, wrong_kind};
use crate::keys::{NAME, contiguous, given, viewed};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::Cell;
use strew::{Class, DType, DynView, Numbered, Problem, number_strings};

/// Bytes of a view: a length, and either up to twelve bytes or where more of them lie.
const VIEW: usize = 16;
/// The most bytes that a view holds itself.
const INSIDE: usize = 12;

/// A number for each different string, and where each number comes first.
///
/// `places` are offsets into `memory`, one more than there are strings, or as bytes the views of
/// the strings. `missing` is 1 where there is none.
#[pyfunction]
#[pyo3(name = "_number_strings", signature = (places, memory, missing, /))]
pub(crate) fn number_texts<'py>(
    places: &Bound<'py, PyAny>,
    memory: Vec<Bound<'py, PyAny>>,
    missing: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = places.py();
    let read = |array: &Bound<'py, PyAny>| Array::read(NAME, "keys", array);
    let places = read(places)?;
    let places = viewed(py, &places)?;
    let memory: Vec<Array<'_>> = memory.iter().map(read).collect::<PyResult<_>>()?;
    let memory = memory.iter().map(|array| viewed(py, array));
    let memory: Vec<DynView<'_>> = memory.collect::<PyResult<_>>()?;
    let memory = memory.iter().map(|view| contiguous::<u8>(py, view));
    let memory: Vec<&[u8]> = memory.collect::<PyResult<_>>()?;
    let missing = missing.as_ref().map(read).transpose()?;
    let missing = missing
        .as_ref()
        .map(|array| viewed(py, array))
        .transpose()?;
    let missing = missing.as_ref().map(|view| contiguous::<u8>(py, view));
    let missing = missing.transpose()?;
    let first = memory.first().copied().unwrap_or_default();
    let made = match places.dtype() {
        DType::I32 => {
            let offsets = contiguous::<i32>(py, &places)?;
            py.detach(|| between(offsets, first, missing))
        }
        DType::I64 => {
            let offsets = contiguous::<i64>(py, &places)?;
            py.detach(|| between(offsets, first, missing))
        }
        DType::U8 => {
            let views = contiguous::<u8>(py, &places)?;
            py.detach(|| viewing(views, &memory, missing))
        }
        found => {
            let expected = "offsets or views of strings";
            return Err(wrong_kind(py, NAME, "keys", expected, found.to_string()));
        }
    };
    match made {
        Ok(made) => given(py, Ok(made)),
        Err(Outside::Memory) => {
            let problem = Problem::Layout {
                argument: "keys".into(),
                why: "a string lies outside of the memory of the array".into(),
            };
            Err(refuse(py, NAME, Class::Value, problem))
        }
        Err(Outside::Engine(error)) => Err(raise(py, &error)),
    }
}

enum Outside {
    Memory,
    Engine(strew::Error),
}

/// The numbers of strings that lie one after the other.
fn between<T: Copy + TryInto<usize>>(
    offsets: &[T],
    memory: &[u8],
    missing: Option<&[u8]>,
) -> Result<Numbered, Outside> {
    let pairs = offsets.windows(2).map(|pair| {
        let (start, end) = (pair[0].try_into().ok()?, pair[1].try_into().ok()?);
        memory.get(start..end)
    });
    numbered(pairs, missing)
}

/// The numbers of strings of which each has a view.
fn viewing(views: &[u8], memory: &[&[u8]], missing: Option<&[u8]>) -> Result<Numbered, Outside> {
    let strings = views.chunks_exact(VIEW).map(|view| {
        let part = |at: usize| {
            let bytes = view.get(at..)?.first_chunk()?;
            usize::try_from(i32::from_le_bytes(*bytes)).ok()
        };
        let length = part(0)?;
        if length <= INSIDE {
            return view.get(4..4 + length);
        }
        let start = part(12)?;
        memory.get(part(8)?)?.get(start..start.checked_add(length)?)
    });
    numbered(strings, missing)
}

/// The numbers of strings; None is one that lies outside of the memory.
fn numbered<'m>(
    strings: impl ExactSizeIterator<Item = Option<&'m [u8]>>,
    missing: Option<&[u8]>,
) -> Result<Numbered, Outside> {
    if missing.is_some_and(|missing| missing.len() != strings.len()) {
        return Err(Outside::Memory);
    }
    let is_outside = Cell::new(false);
    let keys = strings.enumerate().map(|(at, string)| {
        if missing.is_some_and(|missing| missing[at] != 0) {
            return None;
        }
        if string.is_none() {
            is_outside.set(true);
        }
        string
    });
    let made = number_strings(keys).map_err(Outside::Engine)?;
    match is_outside.get() {
        true => Err(Outside::Memory),
        false => Ok(made),
    }
}
