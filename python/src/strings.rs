//! Numbers for different strings of any library that gives its columns out as Arrow arrays.
//!
//! # Unsafe
//!
//! - Buys: strings of pandas, Polars and pyarrow where they lie
//! - Measured: their own dictionaries: W13 2.3
//! - Holds: the capsule has the name that Arrow's C stream interface gives it

use crate::errors::wrong_kind;
use crate::keys::given;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::iterator::ArrayIter;
use arrow_array::{Array, ArrayAccessor, ArrayReader, ArrayRef, BinaryArray, LargeBinaryArray};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use strew::{Numbered, number_strings};

/// A number for each different string of a column, and where each number comes first.
#[pyfunction]
#[pyo3(name = "_number_strings", signature = (keys, /))]
pub(crate) fn number_texts<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let py = keys.py();
    let failed = |error: ArrowError| PyValueError::new_err(format!("factorize: keys: {error}"));
    let capsule = keys.call_method0("__arrow_c_stream__")?;
    let stream = capsule.cast::<PyCapsule>()?;
    let stream = stream.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a valid stream. It is moved out, and what is left there
    // is marked as released, so that the capsule does not release it, too.
    let reader = unsafe { ArrayStreamReader::from_raw(stream.as_ptr().cast()) }.map_err(failed)?;
    let kind = reader.field().data_type().clone();
    let chunks: Vec<ArrayRef> = reader.collect::<Result<_, _>>().map_err(failed)?;
    match py.detach(|| numbered(&kind, &chunks)) {
        Some(made) => given(py, made),
        None => Err(wrong_kind(
            py,
            "factorize",
            "keys",
            "strings",
            kind.to_string(),
        )),
    }
}

/// The numbers of strings; None for values of another type.
fn numbered(kind: &DataType, chunks: &[ArrayRef]) -> Option<strew::Result<Numbered>> {
    // A text is its bytes: three types of arrays are all there are.
    let chunks = chunks.iter();
    Some(match kind {
        DataType::Utf8 => of(chunks.map(|one| BinaryArray::from(one.as_string().clone()))),
        DataType::LargeUtf8 => {
            of(chunks.map(|one| LargeBinaryArray::from(one.as_string().clone())))
        }
        DataType::Utf8View => of(chunks.map(|one| one.as_string_view().clone().to_binary_view())),
        DataType::Binary => of(chunks.map(|one| one.as_binary::<i32>().clone())),
        DataType::LargeBinary => of(chunks.map(|one| one.as_binary::<i64>().clone())),
        DataType::BinaryView => of(chunks.map(|one| one.as_binary_view().clone())),
        _ => return None,
    })
}

fn of<A: Array>(chunks: impl Iterator<Item = A>) -> strew::Result<Numbered>
where
    for<'a> &'a A: ArrayAccessor<Item = &'a [u8]>,
{
    let chunks: Vec<A> = chunks.collect();
    let left = chunks.iter().map(|chunk| chunk.len()).sum();
    let keys = chunks.iter().flat_map(ArrayIter::new);
    number_strings(Rows { keys, left })
}

/// The rows of several chunks, whose number is known.
struct Rows<I> {
    keys: I,
    left: usize,
}

impl<I: Iterator> Iterator for Rows<I> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        let key = self.keys.next()?;
        self.left -= 1;
        Some(key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for Rows<I> {}
