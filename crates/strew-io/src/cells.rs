//! Values of columns as text.

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{
    date32_to_datetime, date64_to_datetime, timestamp_ms_to_datetime, timestamp_ns_to_datetime,
    timestamp_s_to_datetime, timestamp_us_to_datetime,
};
use arrow_array::types::{
    Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

/// A value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// There is none.
    Missing,
    /// An integer or a float, with the fewest digits that are read back as the same number; a truth
    /// value.
    Number(String),
    /// A string, a date or a time.
    Text(String),
}

/// The value of a row.
pub(crate) fn cell(values: &ArrayRef, row: usize) -> Cell {
    if values.is_null(row) {
        return Cell::Missing;
    }
    macro_rules! integer {
        ($t:ty) => {
            Cell::Number(values.as_primitive::<$t>().value(row).to_string())
        };
    }
    macro_rules! float {
        ($t:ty) => {
            Cell::Number(format!("{:?}", values.as_primitive::<$t>().value(row)))
        };
    }
    match values.data_type() {
        DataType::Boolean => Cell::Number(values.as_boolean().value(row).to_string()),
        DataType::Int8 => integer!(Int8Type),
        DataType::Int16 => integer!(Int16Type),
        DataType::Int32 => integer!(Int32Type),
        DataType::Int64 => integer!(Int64Type),
        DataType::UInt8 => integer!(UInt8Type),
        DataType::UInt16 => integer!(UInt16Type),
        DataType::UInt32 => integer!(UInt32Type),
        DataType::UInt64 => integer!(UInt64Type),
        DataType::Float16 => {
            let value = values.as_primitive::<Float16Type>().value(row);
            Cell::Number(format!("{:?}", f32::from(value)))
        }
        DataType::Float32 => float!(Float32Type),
        DataType::Float64 => float!(Float64Type),
        DataType::Utf8 => Cell::Text(values.as_string::<i32>().value(row).to_owned()),
        DataType::LargeUtf8 => Cell::Text(values.as_string::<i64>().value(row).to_owned()),
        DataType::Utf8View => Cell::Text(values.as_string_view().value(row).to_owned()),
        _ => moment(values, row),
    }
}

/// A date or a time in ISO 8601; of any other type its number.
fn moment(values: &ArrayRef, row: usize) -> Cell {
    macro_rules! stored {
        ($t:ty) => {
            values.as_primitive::<$t>().value(row)
        };
    }
    let found = match values.data_type() {
        DataType::Date32 => {
            let days = stored!(Date32Type);
            date32_to_datetime(days)
                .map(|t| t.date().to_string())
                .ok_or(i64::from(days))
        }
        DataType::Date64 => {
            let at = stored!(Date64Type);
            date64_to_datetime(at)
                .map(|t| t.date().to_string())
                .ok_or(at)
        }
        DataType::Timestamp(unit, zone) => {
            let (made, at) = match unit {
                TimeUnit::Second => {
                    let at = stored!(TimestampSecondType);
                    (timestamp_s_to_datetime(at), at)
                }
                TimeUnit::Millisecond => {
                    let at = stored!(TimestampMillisecondType);
                    (timestamp_ms_to_datetime(at), at)
                }
                TimeUnit::Microsecond => {
                    let at = stored!(TimestampMicrosecondType);
                    (timestamp_us_to_datetime(at), at)
                }
                TimeUnit::Nanosecond => {
                    let at = stored!(TimestampNanosecondType);
                    (timestamp_ns_to_datetime(at), at)
                }
            };
            // The stored moment is in UTC if there is a time zone, whichever it is.
            let end = if zone.is_some() { "Z" } else { "" };
            made.map(|t| format!("{t:?}{end}")).ok_or(at)
        }
        _ => return number(values, row),
    };
    match found {
        Ok(text) => Cell::Text(text),
        Err(stored) => Cell::Number(stored.to_string()),
    }
}

/// The stored number of a time of day or a duration.
fn number(values: &ArrayRef, row: usize) -> Cell {
    let data = values.slice(row, 1).to_data();
    let size = data.data_type().primitive_width().unwrap_or(0);
    let from = data.offset() * size;
    let bytes = data
        .buffers()
        .first()
        .and_then(|b| b.as_slice().get(from..from + size));
    match bytes {
        Some(&[a, b, c, d]) => Cell::Number(i32::from_ne_bytes([a, b, c, d]).to_string()),
        Some(&[a, b, c, d, e, f, g, h]) => {
            Cell::Number(i64::from_ne_bytes([a, b, c, d, e, f, g, h]).to_string())
        }
        _ => Cell::Missing,
    }
}
