//! From Arrow's arrays to the bytes of a tensor.

use crate::error::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use arrow_select::take::take;
use std::ops::Range;
use strew::DType;

/// What tensor a column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) dtype: DType,
    /// The shape of one row.
    pub(crate) row: Vec<usize>,
}

impl Kind {
    /// The tensor of a column of this type; `None` if there is none.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        let plain = |dtype| {
            Some(Self {
                dtype,
                row: Vec::new(),
            })
        };
        match data_type {
            DataType::Boolean => plain(DType::Bool),
            DataType::Int8 => plain(DType::I8),
            DataType::Int16 => plain(DType::I16),
            DataType::Int32 | DataType::Date32 | DataType::Time32(_) => plain(DType::I32),
            DataType::Int64
            | DataType::Date64
            | DataType::Time64(_)
            | DataType::Timestamp(_, _)
            | DataType::Duration(_) => plain(DType::I64),
            DataType::UInt8 => plain(DType::U8),
            DataType::UInt16 => plain(DType::U16),
            DataType::UInt32 => plain(DType::U32),
            DataType::UInt64 => plain(DType::U64),
            DataType::Float16 => plain(DType::F16),
            DataType::Float32 => plain(DType::F32),
            DataType::Float64 => plain(DType::F64),
            DataType::Dictionary(_, values) => Self::of(values).filter(|kind| kind.row.is_empty()),
            DataType::FixedSizeList(item, size) => {
                let mut kind = Self::of(item.data_type())?;
                kind.row.insert(0, usize::try_from(*size).ok()?);
                Some(kind)
            }
            _ => None,
        }
    }

    /// The tensor of a column of this name. `why` says why one of a CSV file is text.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn of_column(name: &str, data_type: &DataType, why: Option<&str>) -> Result<Self> {
        Self::of(data_type).ok_or_else(|| {
            let no_tensor =
                format!("column '{name}' has values of type {data_type}, which no tensor has");
            Error::new(match why.filter(|_| *data_type == DataType::Utf8) {
                Some(why) => format!(
                    "{no_tensor}: {why}; --missing names words that are missing values, and --types \
                     the types of columns"
                ),
                None => no_tensor,
            })
        })
    }

    /// The bytes of one row; `None` if it is longer than memory can be.
    pub(crate) fn bytes(&self) -> Option<usize> {
        let mut bytes = self.dtype.size();
        for &size in &self.row {
            bytes = bytes.checked_mul(size)?;
        }
        isize::try_from(bytes).is_ok().then_some(bytes)
    }

    /// Which rows have all of their values; `None` if all have.
    pub(crate) fn nulls(&self, array: &ArrayRef) -> Option<NullBuffer> {
        let own = array.logical_nulls().filter(|n| n.null_count() > 0);
        let Some(list) = array.as_fixed_size_list_opt() else {
            return own;
        };
        let inner = Self {
            dtype: self.dtype,
            row: self.row.iter().skip(1).copied().collect(),
        };
        let size = usize::try_from(list.value_length()).unwrap_or(0);
        let within = inner.nulls(&items(list)).map(|nulls| {
            let whole = |row: usize| nulls.slice(row * size, size).null_count() == 0;
            NullBuffer::new(BooleanBuffer::collect_bool(list.len(), whole))
        });
        NullBuffer::union(own.as_ref(), within.as_ref())
    }

    /// Copies some rows. A missing value is 0.
    pub(crate) fn copy(&self, array: &ArrayRef, rows: Range<usize>, to: &mut [u8]) -> Result<()> {
        let some = array.slice(rows.start, rows.len());
        if let DataType::Dictionary(_, _) = some.data_type() {
            let dictionary = some.as_any_dictionary();
            let taken = take(dictionary.values(), dictionary.keys(), None);
            let taken = taken.map_err(|e| Error::broken("Arrow", e))?;
            return self.copy(&taken, 0..rows.len(), to);
        }
        if let Some(list) = some.as_fixed_size_list_opt() {
            let inner = Self {
                dtype: self.dtype,
                row: self.row.iter().skip(1).copied().collect(),
            };
            let values = items(list);
            inner.copy(&values, 0..values.len(), to)?;
        } else if let Some(bits) = some.as_boolean_opt() {
            for (byte, bit) in to.iter_mut().zip(bits.values()) {
                *byte = u8::from(bit);
            }
        } else {
            self.copy_numbers(&some, to)?;
        }
        if let Some(nulls) = some.nulls().filter(|n| n.null_count() > 0) {
            let bytes = to.len() / rows.len().max(1);
            for row in (0..rows.len()).filter(|&row| nulls.is_null(row)) {
                to[row * bytes..(row + 1) * bytes].fill(0);
            }
        }
        Ok(())
    }

    fn copy_numbers(&self, array: &ArrayRef, to: &mut [u8]) -> Result<()> {
        let data = array.to_data();
        let start = data.offset() * self.dtype.size();
        let bytes = data.buffers().first();
        let bytes = bytes.and_then(|buffer| buffer.as_slice().get(start..start + to.len()));
        let bytes = bytes.ok_or_else(|| Error::new("a chunk of it is shorter than it says"))?;
        to.copy_from_slice(bytes);
        Ok(())
    }
}

/// The items of all lists, one after the other.
fn items(list: &FixedSizeListArray) -> ArrayRef {
    let size = usize::try_from(list.value_length()).unwrap_or(0);
    // A list that is a part of another keeps all of the items, from its first one on or from the
    // other's.
    let data = list.to_data();
    let values = make_array(data.child_data()[0].clone());
    let from = data.offset() * size;
    match values.len() == list.len() * size {
        true => values,
        false => values.slice(from, list.len() * size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int32Type;
    use arrow_array::{BooleanArray, DictionaryArray, Float64Array, Int16Array};
    use arrow_schema::TimeUnit;
    use std::sync::Arc;

    fn copied(array: &ArrayRef, rows: Range<usize>) -> Vec<u8> {
        let kind = Kind::of(array.data_type()).unwrap();
        let mut to = vec![7; kind.bytes().unwrap() * rows.len()];
        kind.copy(array, rows, &mut to).unwrap();
        to
    }

    #[test]
    fn missing_values_are_zero() {
        let numbers: ArrayRef = Arc::new(Int16Array::from(vec![Some(1), None, Some(3), Some(4)]));
        assert_eq!(copied(&numbers, 0..4), [1, 0, 0, 0, 3, 0, 4, 0]);
        assert_eq!(copied(&numbers.slice(1, 3), 1..3), [3, 0, 4, 0]);
        let truths: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
        assert_eq!(copied(&truths, 0..3), [1, 0, 0]);
        assert_eq!(copied(&truths.slice(1, 2), 0..2), [0, 0]);
    }

    #[test]
    fn dictionaries_are_their_values() {
        let keys = arrow_array::Int32Array::from(vec![Some(1), None, Some(0)]);
        let values = Arc::new(Int16Array::from(vec![5, 9]));
        let array: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::new(keys, values));
        assert_eq!(copied(&array, 0..3), [9, 0, 0, 0, 5, 0]);
        let kind = Kind::of(array.data_type()).unwrap();
        assert_eq!(kind.nulls(&array).unwrap().null_count(), 1);
    }

    #[test]
    fn lists_are_rows() {
        let rows = vec![
            Some(vec![Some(1), Some(2)]),
            None,
            Some(vec![Some(3), None]),
            Some(vec![Some(4), Some(5)]),
        ];
        let lists = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(rows, 2);
        let array: ArrayRef = Arc::new(lists);
        let kind = Kind::of(array.data_type()).unwrap();
        assert_eq!((kind.dtype, &kind.row[..]), (DType::I32, &[2][..]));
        let numbers = |rows| {
            let bytes = copied(&array, rows);
            let (four, _) = bytes.as_chunks::<4>();
            four.iter()
                .map(|n| i32::from_ne_bytes(*n))
                .collect::<Vec<_>>()
        };
        assert_eq!(numbers(0..4), [1, 2, 0, 0, 3, 0, 4, 5]);
        assert_eq!(numbers(2..4), [3, 0, 4, 5]);
        let nulls = kind.nulls(&array.slice(1, 3)).unwrap();
        assert_eq!(nulls.iter().collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn types_without_a_tensor_are_refused() {
        for no in [DataType::Utf8, DataType::Null, DataType::Decimal128(10, 2)] {
            assert_eq!(Kind::of(&no), None);
        }
        let time = DataType::Timestamp(TimeUnit::Millisecond, None);
        assert_eq!(Kind::of(&time).unwrap().dtype, DType::I64);
        let whole: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
        assert_eq!(Kind::of(whole.data_type()).unwrap().nulls(&whole), None);
    }
}
