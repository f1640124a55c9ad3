//! Which type a column of a CSV file has.
//!
//! All of its fields decide, so that one word far behind changes the type of the column and never
//! that of a row. A column is text if a field is no number, if a number begins with a zero before
//! another digit, or if each field is quoted. `--types` says otherwise.

use super::records::Field;
use crate::error::{Error, Result};
use arrow_schema::DataType;
use std::fmt;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Strings.
    Text,
    /// Truth values: `true` and `false`.
    Bool,
    /// Integers and floats of this many bits.
    Int8,
    /// Of 16 bits.
    Int16,
    /// Of 32 bits.
    Int32,
    /// Of 64 bits.
    Int64,
    /// Without a sign, of 8 bits.
    UInt8,
    /// Of 16 bits.
    UInt16,
    /// Of 32 bits.
    UInt32,
    /// Of 64 bits.
    UInt64,
    /// Of 32 bits.
    Float32,
    /// Of 64 bits.
    Float64,
}

impl Type {
    /// All types.
    pub const ALL: [Self; 12] = [
        Self::Text,
        Self::Bool,
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::UInt8,
        Self::UInt16,
        Self::UInt32,
        Self::UInt64,
        Self::Float32,
        Self::Float64,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::UInt8 => "uint8",
            Self::UInt16 => "uint16",
            Self::UInt32 => "uint32",
            Self::UInt64 => "uint64",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
        }
    }

    /// The type of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Bool => DataType::Boolean,
            Self::Int8 => DataType::Int8,
            Self::Int16 => DataType::Int16,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::UInt8 => DataType::UInt8,
            Self::UInt16 => DataType::UInt16,
            Self::UInt32 => DataType::UInt32,
            Self::UInt64 => DataType::UInt64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
        }
    }
}

/// How CSV files are read.
#[derive(Clone, Debug, Default)]
pub struct CsvOptions {
    /// Words that are missing values, besides the empty field.
    pub missing: Vec<String>,
    /// Types of columns, as in `zip=text,v=float64`. One name may have commas if it stands alone.
    pub types: Vec<String>,
}

impl CsvOptions {
    /// The types of columns that are given, where these are the names of all columns.
    ///
    /// # Errors
    /// If a text names no such column, no such type, or a column twice.
    pub(crate) fn types_of(&self, names: &[String]) -> Result<Vec<(String, Type)>> {
        let mut all: Vec<(String, Type)> = Vec::new();
        for text in &self.types {
            let alone = text.rsplit_once('=').map(|(name, _)| name.trim());
            let pieces: Vec<&str> = match alone.is_some_and(|name| names.iter().any(|n| n == name))
            {
                true => vec![text],
                false => text.split(',').collect(),
            };
            for piece in pieces {
                let (name, given) = pair(piece)?;
                if !names.iter().any(|one| one == name) {
                    return Err(Error::NoColumn {
                        name: name.to_owned(),
                        names: names.to_vec(),
                    });
                }
                if all
                    .iter()
                    .any(|(other, one)| other == name && *one != given)
                {
                    return Err(Error::new(format!("--types gives '{name}' two types")));
                }
                all.push((name.to_owned(), given));
            }
        }
        Ok(all)
    }
}

/// A name and its type.
fn pair(piece: &str) -> Result<(&str, Type)> {
    let (name, word) = piece
        .rsplit_once('=')
        .ok_or_else(|| Error::new(format!("--types: '{piece}' is not as in name=text")))?;
    let given = Type::named(word.trim()).ok_or_else(|| {
        let all = Type::ALL.map(Type::name).join(", ");
        Error::new(format!(
            "--types: there is no type '{}', but {all}",
            word.trim()
        ))
    })?;
    Ok((name.trim(), given))
}

/// What a field is, taken alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// An integer of 64 bits.
    Integer {
        negative: bool,
    },
    /// One that is larger: it may be `uint64`.
    Unsigned,
    /// One that is larger still.
    Huge,
    Float,
    /// No number, or one with a zero in front.
    Text,
}

impl Shape {
    fn of(field: &[u8]) -> Self {
        let trimmed = field.trim_ascii();
        let (negative, digits) = match trimmed {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        if let [b'0', b'0'..=b'9', ..] = digits {
            return Self::Text;
        }
        let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        if count == digits.len() && (1..19).contains(&count) {
            return Self::Integer { negative };
        }
        let Ok(text) = std::str::from_utf8(trimmed) else {
            return Self::Text;
        };
        if count < digits.len() || count == 0 {
            return match text.parse::<f64>() {
                Ok(_) => Self::Float,
                Err(_) => Self::Text,
            };
        }
        match (text.parse::<i64>(), text.parse::<u64>()) {
            (Ok(_), _) => Self::Integer { negative },
            (_, Ok(_)) => Self::Unsigned,
            _ => Self::Huge,
        }
    }
}

/// The field that decided, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Witness {
    row: usize,
    text: String,
    /// The name of its file, if there are several.
    file: Option<String>,
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' in row {}", self.text, self.row)?;
        match &self.file {
            Some(file) => write!(f, " of {file}"),
            None => Ok(()),
        }
    }
}

/// What has been seen of a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Whether a field was not missing, and whether one of these was not quoted.
    any: bool,
    unquoted: bool,
    negative: bool,
    float: bool,
    /// The first integer of these kinds.
    unsigned: Option<Witness>,
    huge: Option<Witness>,
    /// The first field that is no number.
    text: Option<Witness>,
}

/// The most letters of a field that a message has.
const LETTERS: usize = 40;

impl Seen {
    /// Looks at a field that is not missing.
    pub(crate) fn see(&mut self, field: &Field<'_>, row: usize) {
        self.any = true;
        self.unquoted |= !field.quoted;
        if self.text.is_some() {
            return;
        }
        let to = match Shape::of(field.plain()) {
            Shape::Integer { negative } => {
                self.negative |= negative;
                return;
            }
            Shape::Float => {
                self.float = true;
                return;
            }
            Shape::Unsigned => &mut self.unsigned,
            Shape::Huge => &mut self.huge,
            Shape::Text => &mut self.text,
        };
        to.get_or_insert_with(|| {
            let bytes = field.bytes();
            let text = String::from_utf8_lossy(&bytes);
            Witness {
                row,
                text: text.chars().take(LETTERS).collect(),
                file: None,
            }
        });
    }

    /// The same with a text that is in no file.
    pub(crate) fn see_text(&mut self, text: &str) {
        self.see(&Field::of(text), 0);
    }

    /// Adds what was seen of the rows behind `rows` rows.
    pub(crate) fn add(&mut self, later: &Self, rows: usize) {
        self.any |= later.any;
        self.unquoted |= later.unquoted;
        self.negative |= later.negative;
        self.float |= later.float;
        for (own, other) in [
            (&mut self.unsigned, &later.unsigned),
            (&mut self.huge, &later.huge),
            (&mut self.text, &later.text),
        ] {
            let moved = other.as_ref().map(|witness| Witness {
                row: witness.row + rows,
                ..witness.clone()
            });
            *own = own.take().or(moved);
        }
    }

    /// Says in which file it was seen.
    pub(crate) fn name_file(&mut self, name: &str) {
        let all = [&mut self.unsigned, &mut self.huge, &mut self.text];
        for witness in all.into_iter().flatten() {
            witness.file = Some(name.to_owned());
        }
    }

    /// The type of a column of this name.
    ///
    /// # Errors
    /// If its integers have no common type.
    pub(crate) fn decide(&self, name: &str) -> Result<Type> {
        if self.any && (self.text.is_some() || !self.unquoted) {
            return Ok(Type::Text);
        }
        if self.float {
            return Ok(Type::Float64);
        }
        let beyond = |witness: &Witness| {
            Error::new(format!(
                "column '{name}' has the integer {witness}, which is beyond {}: --types \
                 '{name}=text' keeps its digits, and --types '{name}=float64' rounds it",
                match self.huge {
                    Some(_) => "64 bits",
                    None => "int64, and others that are negative",
                }
            ))
        };
        match (&self.huge, &self.unsigned) {
            (Some(huge), _) => Err(beyond(huge)),
            (None, Some(large)) if self.negative => Err(beyond(large)),
            (None, Some(_)) => Ok(Type::UInt64),
            (None, None) => Ok(Type::Int64),
        }
    }

    /// Why a column that was decided to be text is text.
    pub(crate) fn why_text(&self) -> String {
        match &self.text {
            Some(witness) => format!("it has {witness}"),
            None => "all of its values are quoted".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(fields: &[&str]) -> Result<Type, String> {
        let mut seen = Seen::default();
        for (row, text) in fields.iter().enumerate() {
            let mut one = Seen::default();
            let mut parts = Vec::new();
            super::super::records::Records::new(text.as_bytes(), b',', 1).next(&mut parts);
            one.see(&parts[0], 0);
            seen.add(&one, row);
        }
        seen.decide("c").map_err(|e| e.to_string())
    }

    #[test]
    fn all_fields_decide() {
        for (fields, expected) in [
            (&["1", "-2", " 30 ", "0", "-0", "+5"][..], Type::Int64),
            (&["1", "0.5", "-.5", "1e3", "nan", "-inf"], Type::Float64),
            (
                &["9223372036854775807", "-9223372036854775808"],
                Type::Int64,
            ),
            (
                &["9223372036854775808", "18446744073709551615"],
                Type::UInt64,
            ),
            (&["18446744073709551616", "0.5"], Type::Float64),
            (&["60", "00060"], Type::Text),
            (&["-007"], Type::Text),
            (&["00.5"], Type::Text),
            (&["1", "x"], Type::Text),
            (&["1", "-"], Type::Text),
            (&["1", "\"\""], Type::Text),
            (&["\"1\"", "\"2\""], Type::Text),
            (&["\"1\"", "2"], Type::Int64),
            (&["18446744073709551616", "x"], Type::Text),
            (&[], Type::Int64),
        ] {
            assert_eq!(decided(fields), Ok(expected), "{fields:?}");
        }
    }

    #[test]
    fn integers_without_a_common_type_are_named() {
        for (fields, part) in [
            (
                &["1", "18446744073709551616"][..],
                "'18446744073709551616' in row 1",
            ),
            (&["-9223372036854775809"], "beyond 64 bits"),
            (
                &["-1", "5", "9223372036854775808"],
                "in row 2, which is beyond int64, and others",
            ),
        ] {
            let told = decided(fields).unwrap_err();
            assert!(
                told.contains(part) && told.contains("--types 'c=text'"),
                "{told}"
            );
        }
    }
}
