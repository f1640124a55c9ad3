//! Strings and dates of NumPy arrays as columns.

use crate::error::{Error, Result};
use arrow_array::{
    ArrayRef, Date32Array, StringArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray, TimestampSecondArray,
};
use std::sync::Arc;

/// The column of an array's bytes, whose elements have this type: `<U5`, `|S3`, `<M8[D]`.
pub(crate) fn column(descr: &str, bytes: &[u8]) -> Result<ArrayRef> {
    let unknown = || Error::new(format!("elements of type '{descr}' are no keys"));
    let big = descr.starts_with('>');
    let rest = descr.get(1..).ok_or_else(unknown)?;
    match rest.split_at_checked(1).ok_or_else(unknown)? {
        ("U", size) => texts(size.parse().ok().ok_or_else(unknown)?, big, bytes),
        ("S", size) => {
            let size: usize = size.parse().ok().ok_or_else(unknown)?;
            strings(bytes, size)
        }
        ("M", unit) => dates(unit, big, bytes).ok_or_else(unknown),
        _ => Err(unknown()),
    }
}

/// Strings of `letters` letters of 4 bytes each. Shorter strings end with zeros.
fn texts(letters: usize, big: bool, bytes: &[u8]) -> Result<ArrayRef> {
    let mut texts = Vec::with_capacity(bytes.len() / (4 * letters).max(1));
    for (row, element) in bytes.chunks_exact((4 * letters).max(1)).enumerate() {
        let code = |four: &[u8; 4]| match big {
            true => u32::from_be_bytes(*four),
            false => u32::from_le_bytes(*four),
        };
        let codes = element.as_chunks::<4>().0.iter().map(code);
        let mut text = String::new();
        for code in codes {
            let letter = char::from_u32(code);
            text.push(letter.ok_or_else(|| {
                Error::new(format!("element {row} has {code:#x}, which is no letter"))
            })?);
        }
        text.truncate(text.trim_end_matches('\0').len());
        texts.push(text);
    }
    Ok(Arc::new(StringArray::from(texts)))
}

/// Strings of `size` bytes. Shorter strings end with zeros.
fn strings(bytes: &[u8], size: usize) -> Result<ArrayRef> {
    let mut texts = Vec::with_capacity(bytes.len() / size.max(1));
    for (row, element) in bytes.chunks_exact(size.max(1)).enumerate() {
        let text = str::from_utf8(element);
        let text = text.map_err(|_| Error::new(format!("element {row} is not UTF-8")))?;
        texts.push(text.trim_end_matches('\0'));
    }
    Ok(Arc::new(StringArray::from(texts)))
}

/// Days, or moments; not-a-time is a missing value.
fn dates(unit: &str, big: bool, bytes: &[u8]) -> Option<ArrayRef> {
    let unit = unit.strip_prefix("8[")?.strip_suffix(']')?;
    let values = bytes.as_chunks::<8>().0.iter().map(|eight| {
        let value = match big {
            true => i64::from_be_bytes(*eight),
            false => i64::from_le_bytes(*eight),
        };
        (value != i64::MIN).then_some(value)
    });
    let times = |factor: i64| {
        let scaled = values
            .clone()
            .map(move |v| v.map(|v| v.checked_mul(factor)));
        // Too large for the unit is no key, too.
        let whole: Option<Vec<Option<i64>>> = scaled
            .map(|v| v.map_or(Some(None), |v| v.map(Some)))
            .collect();
        whole
    };
    Some(match unit {
        "D" => {
            let days = values.map(|v| v.map_or(Some(None), |v| i32::try_from(v).ok().map(Some)));
            Arc::new(Date32Array::from(days.collect::<Option<Vec<_>>>()?))
        }
        "h" => Arc::new(TimestampSecondArray::from(times(3600)?)),
        "m" => Arc::new(TimestampSecondArray::from(times(60)?)),
        "s" => Arc::new(TimestampSecondArray::from(times(1)?)),
        "ms" => Arc::new(TimestampMillisecondArray::from(times(1)?)),
        "us" => Arc::new(TimestampMicrosecondArray::from(times(1)?)),
        "ns" => Arc::new(TimestampNanosecondArray::from(times(1)?)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;

    #[test]
    fn words_and_dates() {
        let text: Vec<u8> = "abé\0\0\0"
            .chars()
            .flat_map(|c| (c as u32).to_le_bytes())
            .collect();
        let expected: ArrayRef = Arc::new(StringArray::from(vec!["abé", ""]));
        assert_eq!(&column("<U3", &text).unwrap(), &expected);
        let expected: ArrayRef = Arc::new(StringArray::from(vec!["ab", "c"]));
        assert_eq!(&column("|S2", b"abc\0").unwrap(), &expected);
        let days = [3i64, i64::MIN, -1].map(i64::to_be_bytes).concat();
        let expected: ArrayRef = Arc::new(Date32Array::from(vec![Some(3), None, Some(-1)]));
        assert_eq!(&column(">M8[D]", &days).unwrap(), &expected);
        assert_eq!(column("<M8[ns]", &days).unwrap().len(), 3);
        for (descr, bytes) in [
            ("<U1", &[0xff; 4][..]),
            ("|S1", &[0xff]),
            ("<M8", &[0; 8]),
            ("<M8[Y]", &[0; 8]),
            ("<M8[D]", &[0x7f; 8]),
            ("<M8[h]", &[0x7f; 8]),
            ("<f4", &[0; 4]),
            ("", &[]),
            ("é", &[]),
        ] {
            assert!(column(descr, bytes).is_err(), "{descr}");
        }
    }
}
