//! Arrays of Zarr hierarchies, versions 2 and 3.
//!
//! A chunk that is not there has the fill value, as the format says.

use crate::error::{Error, Result};
use crate::guard::{guarded, room};
use std::fmt;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use strew::{DType, DynTensor};
use zarrs::array::codec::ZstdCodec;
use zarrs::array::{Array, ArrayBuilder, ArrayBytes, DataType, FillValue};
use zarrs::array_subset::ArraySubset;
use zarrs::filesystem::FilesystemStore;
use zarrs::group::GroupBuilder;

/// Bytes of a chunk that is written, before it is compressed.
const CHUNK: usize = 4 << 20;
/// The level at which chunks are compressed: zarr-python's.
const LEVEL: i32 = 0;

/// An array of a Zarr hierarchy.
pub struct ZarrArray {
    array: Array<FilesystemStore>,
    dtype: DType,
    shape: Vec<usize>,
}

impl fmt::Debug for ZarrArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZarrArray")
            .field("dtype", &self.dtype)
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

fn broken(error: impl fmt::Display) -> Error {
    Error::broken("Zarr", error)
}

/// Every element type, with Zarr's; complex numbers have two names.
fn types() -> [(DType, DataType); 17] {
    [
        (DType::Bool, DataType::Bool),
        (DType::I8, DataType::Int8),
        (DType::I16, DataType::Int16),
        (DType::I32, DataType::Int32),
        (DType::I64, DataType::Int64),
        (DType::U8, DataType::UInt8),
        (DType::U16, DataType::UInt16),
        (DType::U32, DataType::UInt32),
        (DType::U64, DataType::UInt64),
        (DType::F16, DataType::Float16),
        (DType::BF16, DataType::BFloat16),
        (DType::F32, DataType::Float32),
        (DType::F64, DataType::Float64),
        (DType::C64, DataType::Complex64),
        (DType::C128, DataType::Complex128),
        (DType::C64, DataType::ComplexFloat32),
        (DType::C128, DataType::ComplexFloat64),
    ]
}

impl ZarrArray {
    /// Opens the array of a folder, or the one at `inner`, as in `group/array`, within its
    /// hierarchy.
    ///
    /// # Errors
    /// If there is no such array, or if its type, a codec or its metadata is not supported.
    pub fn open(folder: &Path, inner: Option<&str>) -> Result<Self> {
        guarded("Zarr", || {
            let store = Arc::new(FilesystemStore::new(folder).map_err(broken)?);
            let path = format!("/{}", inner.unwrap_or("").trim_matches('/'));
            let array = Array::open(store, &path).map_err(broken)?;
            let found = types().into_iter().find(|(_, t)| t == array.data_type());
            let (dtype, _) = found.ok_or_else(|| {
                let found = array.data_type();
                Error::new(format!(
                    "its elements have type {found}, which no tensor has"
                ))
            })?;
            let sizes = array.shape().iter().map(|&size| usize::try_from(size));
            let shape = sizes.collect::<Result<Vec<_>, _>>();
            let shape = shape.map_err(|_| Error::new("it is larger than memory can be"))?;
            let opened = Self {
                array,
                dtype,
                shape,
            };
            opened.check_chunk()?;
            Ok(opened)
        })
    }

    /// Refuses chunks that memory does not hold.
    fn check_chunk(&self) -> Result<()> {
        if self.shape.contains(&0) {
            return Ok(());
        }
        let first = vec![0; self.shape.len()];
        let sizes = self.array.chunk_shape(&first).map_err(broken)?;
        let bytes = sizes
            .iter()
            .try_fold(self.dtype.size() as u64, |all, size| {
                all.checked_mul(size.get())
            });
        room(bytes.unwrap_or(u64::MAX))
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The whole array.
    ///
    /// # Errors
    /// If a chunk cannot be read or decoded, or without memory.
    pub fn whole(&self) -> Result<DynTensor> {
        self.read(&self.shape.clone(), 0)
    }

    /// Some rows along the first axis.
    ///
    /// # Errors
    /// As [`whole`](Self::whole), and if there are no such rows.
    pub fn rows(&self, from: usize, count: usize) -> Result<DynTensor> {
        let rows = self.shape.first().copied().unwrap_or(0);
        if from.saturating_add(count) > rows {
            return Err(Error::new(format!("it has {rows} rows")));
        }
        let mut shape = self.shape.clone();
        shape[0] = count;
        self.read(&shape, from)
    }

    fn read(&self, shape: &[usize], from: usize) -> Result<DynTensor> {
        let made = DynTensor::zeros(self.dtype, shape);
        let mut made = made.map_err(|problem| Error::new(problem.to_string()))?;
        if made.as_bytes().is_empty() {
            return Ok(made);
        }
        let ranges = shape.iter().enumerate().map(|(axis, &size)| {
            let start = if axis == 0 { from as u64 } else { 0 };
            start..start + size as u64
        });
        let subset = ArraySubset::new_with_ranges(&ranges.collect::<Vec<_>>());
        let bytes = guarded("Zarr", || {
            let read = self.array.retrieve_array_subset(&subset).map_err(broken)?;
            read.into_fixed().map_err(broken)
        })?;
        if bytes.len() != made.as_bytes().len() {
            return Err(broken("a chunk of it has another size"));
        }
        made.as_bytes_mut().copy_from_slice(&bytes);
        Ok(made)
    }
}

/// Writes tensors as Zarr version 3 into an empty folder: one as its array, several as arrays of a
/// group, each with its name. Chunks are compressed with Zstandard.
///
/// # Errors
/// If a file cannot be written.
pub fn write_zarr(folder: &Path, tensors: &[(&str, &DynTensor)]) -> Result<()> {
    let failed = |error: &dyn fmt::Display| Error::new(format!("it cannot be written: {error}"));
    guarded("Zarr", || {
        let store = Arc::new(FilesystemStore::new(folder).map_err(|e| failed(&e))?);
        if tensors.len() != 1 {
            let group = GroupBuilder::new().build(store.clone(), "/");
            let group = group.map_err(|e| failed(&e))?;
            group.store_metadata().map_err(|e| failed(&e))?;
        }
        for (name, tensor) in tensors {
            let path = match tensors.len() {
                1 => "/".to_owned(),
                _ => format!("/{name}"),
            };
            let array = builder(tensor)?.build(store.clone(), &path);
            let array = array.map_err(|e| failed(&e))?;
            array.store_metadata().map_err(|e| failed(&e))?;
            if !tensor.as_bytes().is_empty() {
                let elements = ArrayBytes::new_flen(tensor.as_bytes());
                let stored = array.store_array_subset(&array.subset_all(), elements);
                stored.map_err(|e| failed(&e))?;
            }
        }
        Ok(())
    })
}

/// An array of a tensor's type and shape, in chunks of rows.
fn builder(tensor: &DynTensor) -> Result<ArrayBuilder> {
    let dtype = tensor.dtype();
    let found = types().into_iter().find(|(t, _)| *t == dtype);
    let (_, data_type) = found.ok_or_else(|| Error::new(format!("{dtype} has no Zarr type")))?;
    let shape: Vec<u64> = tensor.shape().iter().map(|&size| size as u64).collect();
    let row: usize = tensor.shape().iter().skip(1).product();
    let rows = (CHUNK / (row * dtype.size()).max(1)).max(1) as u64;
    let chunk = shape.iter().enumerate().map(|(axis, &size)| {
        let size = if axis == 0 { size.min(rows) } else { size };
        NonZeroU64::new(size).unwrap_or(NonZeroU64::MIN)
    });
    let chunk: Vec<NonZeroU64> = chunk.collect();
    let fill = FillValue::new(vec![0; dtype.size()]);
    let mut builder = ArrayBuilder::new(shape, chunk, data_type, fill);
    builder.bytes_to_bytes_codecs(vec![Arc::new(ZstdCodec::new(LEVEL, false))]);
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn counting(dtype: DType, shape: &[usize]) -> DynTensor {
        let mut made = DynTensor::zeros(dtype, shape).unwrap();
        for (n, byte) in made.as_bytes_mut().iter_mut().enumerate() {
            *byte = if dtype == DType::Bool {
                n as u8 % 2
            } else {
                n as u8 % 61
            };
        }
        made
    }

    #[test]
    fn what_is_written_is_read_again() {
        for dtype in DType::ALL {
            for shape in [&[][..], &[7], &[0, 3], &[5, 2, 3]] {
                let folder = tempfile::tempdir().unwrap();
                let tensor = counting(dtype, shape);
                write_zarr(folder.path(), &[("x", &tensor)]).unwrap();
                let array = ZarrArray::open(folder.path(), None).unwrap();
                assert_eq!((array.dtype(), array.shape()), (dtype, shape));
                assert_eq!(array.whole().unwrap().as_bytes(), tensor.as_bytes());
                if shape.first() > Some(&4) {
                    let row = tensor.as_bytes().len() / shape[0];
                    let some = array.rows(2, 3).unwrap();
                    assert_eq!(some.as_bytes(), &tensor.as_bytes()[2 * row..5 * row]);
                    assert!(array.rows(3, shape[0]).is_err());
                }
            }
        }
    }

    #[test]
    fn several_are_a_group_and_chunks_are_rows() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (
            counting(DType::F32, &[3]),
            counting(DType::I64, &[300_000, 4]),
        );
        write_zarr(folder.path(), &[("a", &a), ("b", &b)]).unwrap();
        let array = ZarrArray::open(folder.path(), Some("/b")).unwrap();
        assert_eq!(array.whole().unwrap().as_bytes(), b.as_bytes());
        assert!(ZarrArray::open(folder.path(), None).is_err());
        assert!(fs::read_dir(folder.path().join("b/c")).unwrap().count() > 1);
        // A chunk that is not there has the fill value.
        fs::remove_dir_all(folder.path().join("b/c/0")).unwrap();
        let some = array.rows(0, 1).unwrap();
        assert_eq!(some.as_bytes(), [0; 32]);
    }

    #[test]
    fn folders_that_are_changed_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let tensor = counting(DType::F64, &[100]);
        write_zarr(folder.path(), &[("x", &tensor)]).unwrap();
        let chunk = folder.path().join("c/0");
        let bytes = fs::read(&chunk).unwrap();
        for kept in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&chunk, &bytes[..kept]).unwrap();
            let array = ZarrArray::open(folder.path(), None).unwrap();
            assert!(array.whole().is_err(), "{kept}");
        }
        let head = folder.path().join("zarr.json");
        let text = fs::read_to_string(&head).unwrap();
        for (old, new) in [
            ("\"float64\"", "\"string\""),
            ("\"float64\"", "\"quadruple\""),
            ("100", "-1"),
            ("\"zstd\"", "\"blosc\""),
            ("{", ""),
        ] {
            let changed = text.replacen(old, new, 1);
            assert_ne!(changed, text, "{old}");
            fs::write(&head, changed).unwrap();
            assert!(ZarrArray::open(folder.path(), None).is_err(), "{old} {new}");
        }
        fs::write(&head, text.replace("100", "1152921504606846976")).unwrap();
        let huge = ZarrArray::open(folder.path(), None).and_then(|array| array.whole());
        assert!(huge.is_err());
    }
}
