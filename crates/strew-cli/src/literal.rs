//! Small tensors written on the line: `[[0, 1], [1, 0]]:int64`, `[1.5, nan]:float32`, `3`.

use crate::failure::{Failure, Result};
use half::{bf16, f16};
use strew::{DType, DynTensor};

/// Deeper than this nobody writes by hand, and the parser calls itself once for each level.
const DEEPEST: usize = 32;

/// The tensor that the text stands for; `None` if it is no literal.
///
/// Without a type, integers are `int64`, numbers with a point, an exponent, `inf` or `nan` are
/// `float64`, `true` and `false` are `bool`, and numbers that end in `j` are `complex128`, as in
/// NumPy.
pub(crate) fn parse(text: &str) -> Option<Result<DynTensor>> {
    let (body, dtype) = match text.rsplit_once(':') {
        Some((body, name)) => (body.trim(), Some(name.trim())),
        None => (text.trim(), None),
    };
    if !body.starts_with('[') && kind_of(body).is_none() {
        return None;
    }
    Some(build(body, dtype))
}

fn build(body: &str, dtype: Option<&str>) -> Result<DynTensor> {
    let named = dtype.map(|name| {
        name.parse::<DType>()
            .map_err(|e| Failure::new(e.to_string()))
    });
    let mut nested = Nested {
        rest: body,
        leaves: Vec::new(),
        shape: Vec::new(),
        levels: 0,
    };
    nested.value(0)?;
    if !nested.rest.trim().is_empty() {
        return Err(Failure::new(format!(
            "'{}' follows the literal's end",
            nested.rest
        )));
    }
    let dtype = match named.transpose()? {
        Some(dtype) => dtype,
        None => nested.default_dtype()?,
    };
    let mut tensor =
        DynTensor::zeros(dtype, &nested.shape).map_err(|p| Failure::new(p.to_string()))?;
    let bytes = tensor.as_bytes_mut().chunks_exact_mut(dtype.size());
    for (leaf, bytes) in nested.leaves.iter().zip(bytes) {
        encode(leaf, dtype, bytes)
            .ok_or_else(|| Failure::new(format!("'{leaf}' is not a value of type {dtype}")))?;
    }
    Ok(tensor)
}

/// What a leaf looks like, in the order in which one takes in the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Leaf {
    Bool,
    Int,
    Float,
    Complex,
}

fn kind_of(leaf: &str) -> Option<Leaf> {
    if matches!(leaf, "true" | "false" | "True" | "False") {
        Some(Leaf::Bool)
    } else if leaf.parse::<i128>().is_ok() {
        Some(Leaf::Int)
    } else if leaf.parse::<f64>().is_ok() {
        Some(Leaf::Float)
    } else {
        complex(leaf).map(|_| Leaf::Complex)
    }
}

/// Real and imaginary part of `2j`, `1-2j`, `1e-3+4j`.
fn complex(leaf: &str) -> Option<(&str, &str)> {
    let body = leaf.strip_suffix('j')?;
    let sign = body
        .char_indices()
        .rev()
        .find(|&(at, c)| at > 0 && "+-".contains(c) && !body[..at].ends_with(['e', 'E']));
    let (re, im) = body.split_at(sign.map_or(0, |(at, _)| at));
    let re = if re.is_empty() { "0" } else { re };
    let number = |part: &str| part.parse::<f64>().is_ok();
    (number(re) && number(im)).then_some((re, im))
}

/// A literal that is being taken apart.
struct Nested<'a> {
    rest: &'a str,
    leaves: Vec<&'a str>,
    shape: Vec<usize>,
    /// How deep the leaves lie; 0 while none was seen.
    levels: usize,
}

impl Nested<'_> {
    fn value(&mut self, depth: usize) -> Result<()> {
        self.rest = self.rest.trim_start();
        if depth > DEEPEST {
            return Err(Failure::new(format!(
                "it is nested deeper than {DEEPEST} levels"
            )));
        }
        let Some(inside) = self.rest.strip_prefix('[') else {
            return self.leaf(depth);
        };
        self.rest = inside;
        let mut count = 0;
        loop {
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(']') {
                self.rest = rest;
                break;
            }
            // An axis is known by its place from the front, so the outer ones come first.
            if self.shape.len() == depth {
                self.shape.push(usize::MAX);
            }
            self.value(depth + 1)?;
            count += 1;
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
            } else if !self.rest.starts_with(']') {
                let place = match self.rest {
                    "" => "the end".to_owned(),
                    rest => format!("'{}'", rest.chars().take(12).collect::<String>()),
                };
                return Err(Failure::new(format!("',' or ']' is missing at {place}")));
            }
        }
        if self.shape.len() == depth {
            self.shape.push(count);
        }
        let ragged = self.levels > 0 && count == 0;
        match &mut self.shape[depth] {
            size if *size == usize::MAX && !ragged => *size = count,
            size if *size == count && !ragged => {}
            _ => return Err(Failure::new("its lists are of different lengths")),
        }
        Ok(())
    }

    fn leaf(&mut self, depth: usize) -> Result<()> {
        let end = self.rest.find([',', ']', '[']).unwrap_or(self.rest.len());
        let (leaf, rest) = self.rest.split_at(end);
        let leaf = leaf.trim_end();
        if kind_of(leaf).is_none() {
            return Err(Failure::new(format!(
                "'{leaf}' is not a number, true or false"
            )));
        }
        let empty_before = self.leaves.is_empty() && self.shape.len() != depth;
        if empty_before || !(self.leaves.is_empty() || self.levels == depth) {
            return Err(Failure::new("its lists are of different depths"));
        }
        self.levels = depth;
        self.leaves.push(leaf);
        self.rest = rest;
        Ok(())
    }

    fn default_dtype(&self) -> Result<DType> {
        let mut kinds: Vec<Leaf> = self.leaves.iter().filter_map(|l| kind_of(l)).collect();
        kinds.sort_unstable();
        match (kinds.first(), kinds.last()) {
            (Some(Leaf::Bool), Some(Leaf::Bool)) => Ok(DType::Bool),
            (Some(Leaf::Bool), _) => Err(Failure::new(
                "it mixes truth values and numbers; say which type it is, as in [true, 2]:int64",
            )),
            (_, Some(Leaf::Int)) => Ok(DType::I64),
            (_, Some(Leaf::Complex)) => Ok(DType::C128),
            _ => Ok(DType::F64),
        }
    }
}

/// Writes a leaf as an element; `None` if it is none of this type.
fn encode(leaf: &str, dtype: DType, to: &mut [u8]) -> Option<()> {
    let number = match leaf {
        "true" | "True" => "1",
        "false" | "False" => "0",
        other => other,
    };
    macro_rules! parsed {
        ($t:ty) => {
            to.copy_from_slice(&number.parse::<$t>().ok()?.to_ne_bytes())
        };
    }
    macro_rules! pair {
        ($t:ty) => {{
            let (re, im) = complex(number).unwrap_or((number, "0"));
            let half = to.len() / 2;
            to[..half].copy_from_slice(&re.parse::<$t>().ok()?.to_ne_bytes());
            to[half..].copy_from_slice(&im.parse::<$t>().ok()?.to_ne_bytes());
        }};
    }
    let wide = || number.parse::<f64>().ok();
    match dtype {
        DType::Bool => to[0] = number.parse::<u8>().ok().filter(|&b| b <= 1)?,
        DType::I8 => parsed!(i8),
        DType::I16 => parsed!(i16),
        DType::I32 => parsed!(i32),
        DType::I64 => parsed!(i64),
        DType::U8 => parsed!(u8),
        DType::U16 => parsed!(u16),
        DType::U32 => parsed!(u32),
        DType::U64 => parsed!(u64),
        DType::F16 => to.copy_from_slice(&f16::from_f64(wide()?).to_ne_bytes()),
        DType::BF16 => to.copy_from_slice(&bf16::from_f64(wide()?).to_ne_bytes()),
        DType::F32 => parsed!(f32),
        DType::F64 => parsed!(f64),
        DType::C64 => pair!(f32),
        DType::C128 => pair!(f64),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show;

    fn shown(text: &str) -> String {
        let tensor = parse(text).unwrap_or_else(|| panic!("{text} is no literal"));
        match tensor {
            Ok(t) => format!("{} {:?} {}", t.dtype(), t.shape(), show::text(&t)),
            Err(e) => format!("error: {e}"),
        }
    }

    #[test]
    fn literals_are_tensors() {
        let cases = [
            ("[[0, 1], [1, 0],]", "int64 [2, 2] [[0, 1],\n [1, 0]]"),
            ("[1.5,2]:f32", "float32 [2] [1.5, 2.0]"),
            ("[1.5,2]", "float64 [2] [1.5, 2.0]"),
            ("[nan, -inf, 1e3]", "float64 [3] [   NaN,   -inf, 1000.0]"),
            ("3", "int64 [] 3"),
            ("-7:int8", "int8 [] -7"),
            ("[]:int64", "int64 [0] []"),
            ("[]", "float64 [0] []"),
            ("[[], []]", "float64 [2, 0] [[],\n []]"),
            ("[true, False]", "bool [2] [ true, false]"),
            ("[true, 2]:uint8", "uint8 [2] [1, 2]"),
            (
                "[1+2j, -3j, 1e-1-2j]:complex64",
                "complex64 [3] [  1+2j,   0-3j, 0.1-2j]",
            ),
            (
                "[18446744073709551615]:uint64",
                "uint64 [1] [18446744073709551615]",
            ),
            ("[1]:bf16", "bfloat16 [1] [1.0]"),
        ];
        for (text, wanted) in cases {
            assert_eq!(shown(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_tensor_is_refused() {
        let deep = "[".repeat(40);
        let cases = [
            ("[1, [2]]", "different depths"),
            ("[[1], 2]", "different depths"),
            ("[[1, 2], [3]]", "different lengths"),
            ("[[1], []]", "different lengths"),
            ("[[], [1]]", "different"),
            ("[1 2]", "'1 2' is not a number"),
            ("[1", "is missing"),
            ("[", "is not a number"),
            ("[1]]", "follows"),
            ("[x]", "'x' is not a number"),
            ("[300]:uint8", "'300' is not a value of type uint8"),
            ("[1.5]:int64", "'1.5' is not a value of type int64"),
            ("[2]:bool", "'2' is not a value of type bool"),
            ("[1]:float8", "unknown element type 'float8'"),
            ("[true, 1]", "mixes"),
            ("[99999999999999999999]", "not a value of type int64"),
            (&deep, "deeper"),
        ];
        for (text, part) in cases {
            let found = shown(text);
            assert!(
                found.starts_with("error: ") && found.contains(part),
                "{text}: {found}"
            );
        }
        for no in ["x.npy", "x", "x:int64", ""] {
            assert!(parse(no).is_none(), "{no}");
        }
    }
}
