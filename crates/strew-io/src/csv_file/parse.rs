//! From the fields of a block to columns.

use super::records::{Field, Records};
use super::{Form, Span, Type, broken, changed, kept, lines_of};
use crate::error::{Error, Result};
use arrow_array::builder::{BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType};
use std::sync::Arc;

/// These columns of a block.
pub(super) fn columns(
    bytes: &[u8],
    form: &Form,
    wanted: &[(usize, Type)],
    span: &Span,
) -> Result<Vec<ArrayRef>> {
    let mut columns: Vec<(usize, Type, Box<dyn Build>)> = wanted
        .iter()
        .map(|&(at, kind)| (at, kind, builder(kind, span.rows)))
        .collect();
    let kept = kept(wanted.iter().map(|&(at, _)| at));
    let mut records = Records::new(bytes, form.separator, kept);
    let mut fields = Vec::with_capacity(form.width);
    let mut rows = 0;
    loop {
        let count = records.next(&mut fields);
        if count == 0 {
            break;
        }
        if rows == span.rows || count != form.width {
            return Err(changed());
        }
        for (at, kind, column) in &mut columns {
            let field = &fields[*at];
            let missing = form.is_missing(field, *kind != Type::Text);
            if missing {
                column.push_missing();
            } else if !column.push(field) {
                let last = bytes[..records.place()].trim_ascii_end().len();
                let line = span.line + lines_of(&bytes[..last]) + 1;
                return Err(refused(
                    &form.names[*at],
                    field,
                    *kind,
                    span.row + rows,
                    line,
                ));
            }
        }
        rows += 1;
    }
    if rows < span.rows {
        return Err(changed());
    }
    Ok(columns
        .iter_mut()
        .map(|(.., column)| column.finish())
        .collect())
}

/// One value that is in no file.
pub(crate) fn constant(text: Option<&str>, kind: Type) -> Result<ArrayRef> {
    let mut column = builder(kind, 1);
    match text {
        None => column.push_missing(),
        Some(text) if column.push(&Field::of(text)) => {}
        Some(text) => {
            let name = kind.name();
            return Err(Error::new(format!(
                "'{text}' in the name of its folder is no {name}"
            )));
        }
    }
    Ok(column.finish())
}

/// A field that has not the type of its column.
fn refused(name: &str, field: &Field<'_>, kind: Type, row: usize, line: usize) -> Error {
    let bytes = field.bytes();
    match (kind, std::str::from_utf8(&bytes)) {
        (_, Err(_)) => broken(format!("line {line} is not UTF-8")),
        (kind, Ok(text)) => Error::new(format!(
            "column '{name}' has '{text}' in row {row} (line {line}), which is no {}; --missing '{text}' says \
             that it is a missing value",
            kind.name()
        )),
    }
}

/// A column that grows.
trait Build {
    fn push_missing(&mut self);
    /// False if the field has another type.
    fn push(&mut self, field: &Field<'_>) -> bool;
    fn finish(&mut self) -> ArrayRef;
}

fn builder(kind: Type, rows: usize) -> Box<dyn Build> {
    fn numbers<T: ArrowPrimitiveType<Native: Number>>(rows: usize) -> Box<dyn Build> {
        Box::new(PrimitiveBuilder::<T>::with_capacity(rows))
    }
    match kind {
        Type::Text => Box::new(StringBuilder::with_capacity(rows, 8 * rows)),
        Type::Bool => Box::new(BooleanBuilder::with_capacity(rows)),
        Type::Int8 => numbers::<Int8Type>(rows),
        Type::Int16 => numbers::<Int16Type>(rows),
        Type::Int32 => numbers::<Int32Type>(rows),
        Type::Int64 => numbers::<Int64Type>(rows),
        Type::UInt8 => numbers::<UInt8Type>(rows),
        Type::UInt16 => numbers::<UInt16Type>(rows),
        Type::UInt32 => numbers::<UInt32Type>(rows),
        Type::UInt64 => numbers::<UInt64Type>(rows),
        Type::Float32 => numbers::<Float32Type>(rows),
        Type::Float64 => numbers::<Float64Type>(rows),
    }
}

impl Build for StringBuilder {
    fn push_missing(&mut self) {
        self.append_null();
    }

    fn push(&mut self, field: &Field<'_>) -> bool {
        let bytes = field.bytes();
        let text = std::str::from_utf8(&bytes);
        text.is_ok_and(|text| {
            self.append_value(text);
            true
        })
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(Self::finish(self))
    }
}

impl Build for BooleanBuilder {
    fn push_missing(&mut self) {
        self.append_null();
    }

    fn push(&mut self, field: &Field<'_>) -> bool {
        let bytes = field.plain().trim_ascii();
        let truth = match bytes {
            b"1" => Some(true),
            b"0" => Some(false),
            _ if bytes.eq_ignore_ascii_case(b"true") => Some(true),
            _ if bytes.eq_ignore_ascii_case(b"false") => Some(false),
            _ => None,
        };
        self.append_option(truth);
        truth.is_some()
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(Self::finish(self))
    }
}

impl<T: ArrowPrimitiveType<Native: Number>> Build for PrimitiveBuilder<T> {
    fn push_missing(&mut self) {
        self.append_null();
    }

    fn push(&mut self, field: &Field<'_>) -> bool {
        let number = T::Native::parse(field.plain().trim_ascii());
        self.append_option(number);
        number.is_some()
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(Self::finish(self))
    }
}

/// What is read from digits.
trait Number: Sized + Copy {
    fn parse(bytes: &[u8]) -> Option<Self>;
}

/// Digits that are sure to fit 64 bits, without a detour over a string.
fn small(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut number = 0;
    for &digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = 10 * number + i64::from(digit);
    }
    Some(if negative { -number } else { number })
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Number for $t {
            fn parse(bytes: &[u8]) -> Option<Self> {
                match small(bytes) {
                    Some(number) => number.try_into().ok(),
                    None => std::str::from_utf8(bytes).ok()?.parse().ok(),
                }
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Number for $t {
            fn parse(bytes: &[u8]) -> Option<Self> {
                std::str::from_utf8(bytes).ok()?.parse().ok()
            }
        }
    )*};
}

floats!(f32 f64);
