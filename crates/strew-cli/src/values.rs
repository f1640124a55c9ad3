//! The values of an operator's arguments, as they are written on the line.

use crate::failure::{Failure, Result};
use crate::literal;
use crate::read::{self, Loaded, Place, Purpose, stdin};
use strew::{Argument, Complex64, Kind, Scalar, Value};

/// A value that was given for an argument.
#[derive(Debug)]
pub(crate) enum Given {
    Tensor(Loaded),
    Target(Loaded),
    Integers(Vec<i64>),
    Int(i64),
    Bool(bool),
    Text(String),
    Scalar(Scalar),
    Tensors(Vec<Option<Loaded>>),
}

impl Given {
    /// What the text stands for; `None` if it asks for the argument's default.
    pub(crate) fn read(argument: &Argument, text: &str) -> Result<Option<Self>> {
        if text == "None" && argument.default == Some("None") {
            return Ok(None);
        }
        let given = match argument.kind {
            Kind::Tensor => tensor(text, Purpose::Read).map(Self::Tensor),
            Kind::Target => tensor(text, Purpose::Change).map(Self::Target),
            Kind::Integers => integers(text),
            Kind::Int => text
                .parse()
                .map(Self::Int)
                .map_err(|_| Failure::new(format!("'{text}' is not an integer of 64 bits"))),
            Kind::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Ok(Self::Bool(true)),
                "false" | "0" => Ok(Self::Bool(false)),
                _ => Err(Failure::new(format!("'{text}' is neither true nor false"))),
            },
            Kind::Scalar => scalar(text).map(Self::Scalar),
            Kind::Tensors => tensors(text).map(Self::Tensors),
            _ => Ok(Self::Text(text.to_owned())),
        };
        given
            .map(Some)
            .map_err(|failure| failure.for_argument(argument.name))
    }

    /// The value as the library takes it.
    pub(crate) fn value(&mut self) -> Result<Value<'_>> {
        Ok(match self {
            Self::Tensor(loaded) => Value::Tensor(loaded.view()?),
            Self::Target(loaded) => Value::Target(
                loaded
                    .view_mut()
                    .ok_or_else(|| Failure::new("it was not read to be changed"))?,
            ),
            Self::Integers(list) => Value::Integers(list.clone().into()),
            Self::Int(value) => Value::Int(*value),
            Self::Bool(value) => Value::Bool(*value),
            Self::Text(word) => Value::Text(word.clone().into()),
            Self::Scalar(number) => Value::Scalar(*number),
            Self::Tensors(list) => {
                let views = list
                    .iter()
                    .map(|one| one.as_ref().map(Loaded::view).transpose());
                Value::Tensors(views.collect::<Result<_>>()?)
            }
        })
    }
}

/// Whether the text names a tensor of a file.
pub(crate) fn is_file(text: &str) -> bool {
    Place::parse(text).is_some()
}

pub(crate) fn tensor(text: &str, purpose: Purpose) -> Result<Loaded> {
    if let Some(loaded) = read::load(text, purpose)? {
        return Ok(loaded);
    }
    match literal::parse(text) {
        Some(literal) => literal.map(Loaded::owned),
        None => Err(Failure::new(format!(
            "'{text}' is no tensor: write file.npy, file.npz:member, file.safetensors:name, \
             file.parquet:column, - for standard input, or a literal as in [[0, 1], [1, 0]]:int64"
        ))),
    }
}

/// `2`, `1.5`, `true`, `1-2j`.
pub(crate) fn scalar(text: &str) -> Result<Scalar> {
    let number = text.trim();
    if let Ok(value) = number.parse::<i64>() {
        return Ok(value.into());
    }
    if let Ok(value) = number.parse::<u64>() {
        return Ok(value.into());
    }
    if let Ok(value) = number.parse::<f64>() {
        return Ok(value.into());
    }
    if let Ok(value) = number.to_ascii_lowercase().parse::<bool>() {
        return Ok(value.into());
    }
    match (number.ends_with('j'), number.parse::<Complex64>()) {
        (true, Ok(value)) => Ok(value.into()),
        _ => Err(Failure::new(format!("'{text}' is not a number"))),
    }
}

/// Tensors with commas between them, or `None` for one that is left out.
fn tensors(text: &str) -> Result<Vec<Option<Loaded>>> {
    let one = |item: &str| match item {
        "None" => Ok(None),
        item => tensor(item, Purpose::Read).map(Some),
    };
    items(text).into_iter().map(one).collect()
}

/// The items of a list with commas between them; commas within brackets are no such ones.
pub(crate) fn items(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut items) = (0usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    items.push(text[from..].trim());
    items
}

/// `2,2`, `[2, 2]`, nothing at all, or a tensor.
fn integers(text: &str) -> Result<Given> {
    let open = text.trim();
    let inner = open
        .strip_prefix('[')
        .and_then(|t| t.strip_suffix(']'))
        .unwrap_or(open);
    let listed: Option<Vec<i64>> = match inner.trim() {
        "" => Some(Vec::new()),
        items => {
            let items = items.strip_suffix(',').unwrap_or(items).split(',');
            items.map(|item| item.trim().parse().ok()).collect()
        }
    };
    if let Some(list) = listed {
        return Ok(Given::Integers(list));
    }
    if Place::parse(text).is_some() || stdin::is_meant(text) || open.starts_with('[') {
        return tensor(text, Purpose::Read).map(Given::Tensor);
    }
    Err(Failure::new(format!(
        "'{text}' is no list of integers: write them as in 2,2, or name a file"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(scalar("-3").unwrap(), Scalar::Int(-3));
        assert_eq!(
            scalar("18446744073709551615").unwrap(),
            Scalar::Uint(u64::MAX)
        );
        assert_eq!(scalar("1.5").unwrap(), Scalar::Float(1.5));
        assert_eq!(scalar("True").unwrap(), Scalar::Bool(true));
        assert_eq!(
            scalar("1-2j").unwrap(),
            Scalar::Complex(Complex64::new(1.0, -2.0))
        );
        assert!(scalar("x").is_err() && scalar("").is_err());
    }

    #[test]
    fn lists_of_tensors() {
        let list = tensors("[[0, 1], [1, 0]],None,[true]").unwrap();
        let there: Vec<bool> = list.iter().map(Option::is_some).collect();
        assert_eq!(there, [true, false, true]);
        assert!(tensors("[0],").is_err() && tensors("").is_err());
    }

    #[test]
    fn lists_of_integers() {
        let list = |text: &str| match integers(text) {
            Ok(Given::Integers(list)) => list,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(list("2,2"), [2, 2]);
        assert_eq!(list("-3"), [-3]);
        assert_eq!(list("[0, -3]"), [0, -3]);
        assert_eq!(list(" 1 , 2, "), [1, 2]);
        assert!(list("").is_empty() && list("[]").is_empty());
        assert!(matches!(integers("[1, 2]:int32"), Ok(Given::Tensor(_))));
        for wrong in ["x", "1.5", "1,,2", "[1", "9223372036854775808"] {
            assert!(integers(wrong).is_err(), "{wrong}");
        }
    }
}
