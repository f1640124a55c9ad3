//! Tensors as text: nested lists for people, JSON for machines.

use half::{bf16, f16};
use std::fmt::Write as _;
use std::io::{self, Write};
use strew::{DType, DynTensor};

/// Tensors of more elements than this are abbreviated for people.
const MANY: usize = 1000;
/// How many items an abbreviated axis shows at each end.
const EDGE: usize = 3;
/// Lines are broken here.
const LINE: usize = 79;

/// Nested lists like NumPy's, with commas: what is not abbreviated can be used as a literal again.
pub(crate) fn text(tensor: &DynTensor) -> String {
    let mut layout = Layout {
        tensor,
        abbreviate: tensor.layout().len() > MANY,
        width: 0,
    };
    let mut width = 0;
    layout.each(0, 0, &mut |element| width = width.max(element.len()));
    layout.width = width;
    let mut out = String::new();
    layout.write(0, 0, &mut out);
    out
}

struct Layout<'a> {
    tensor: &'a DynTensor,
    abbreviate: bool,
    width: usize,
}

impl Layout<'_> {
    /// The items of an axis that are shown; `None` stands for those that are not.
    fn items(&self, axis: usize) -> Vec<Option<usize>> {
        let size = self.tensor.shape()[axis];
        if !self.abbreviate || size <= 2 * EDGE {
            return (0..size).map(Some).collect();
        }
        let tail = (size - EDGE..size).map(Some);
        (0..EDGE).map(Some).chain([None]).chain(tail).collect()
    }

    fn rank(&self) -> usize {
        self.tensor.shape().len()
    }

    /// Calls `see` with every element that is shown below this item, in order.
    fn each(&self, axis: usize, at: usize, see: &mut impl FnMut(String)) {
        if axis == self.rank() {
            see(element(self.tensor, at));
            return;
        }
        for item in self.items(axis).into_iter().flatten() {
            self.each(axis + 1, at * self.tensor.shape()[axis] + item, see);
        }
    }

    fn write(&self, axis: usize, at: usize, out: &mut String) {
        if axis == self.rank() {
            let width = if self.rank() == 0 { 0 } else { self.width };
            let _ = write!(out, "{:>width$}", element(self.tensor, at));
            return;
        }
        let innermost = axis + 1 == self.rank();
        let indent = " ".repeat(axis + 1);
        let mut column = axis + 1;
        out.push('[');
        for (n, item) in self.items(axis).into_iter().enumerate() {
            if innermost {
                // The next item, its comma, and the brackets that may close behind it.
                let next = item.map_or(3, |_| self.width);
                if n > 0 && column + 1 + next + 1 + self.rank() > LINE {
                    let _ = write!(out, ",\n{indent}");
                    column = axis + 1;
                } else if n > 0 {
                    out.push_str(", ");
                    column += 2;
                }
                column += next;
            } else if n > 0 {
                out.push(',');
                out.extend(std::iter::repeat_n('\n', self.rank() - axis - 1));
                out.push_str(&indent);
            }
            match item {
                Some(item) => self.write(axis + 1, at * self.tensor.shape()[axis] + item, out),
                None => out.push_str("..."),
            }
        }
        out.push(']');
    }
}

/// Element number `at`, as a person would write it.
fn element(tensor: &DynTensor, at: usize) -> String {
    with_element(tensor, at, false)
}

/// All elements as nested JSON arrays. NaN and the infinities are strings, complex numbers pairs.
pub(crate) fn write_json(tensor: &DynTensor, to: &mut impl Write) -> io::Result<()> {
    let shape = tensor.shape();
    if shape.contains(&0) {
        // Brackets down to the axis that is empty.
        let empty = shape.iter().position(|&n| n == 0).unwrap_or(0);
        return write_empty(&shape[..=empty], to);
    }
    let len = tensor.layout().len();
    // Behind element n - 1, as many lists end, and begin again, as axes wrap around there.
    let wraps = |n: usize| {
        let mut span = 1;
        let inner = shape.iter().rev().take_while(|&&size| {
            span *= size;
            n.is_multiple_of(span)
        });
        inner.count()
    };
    for n in 0..len {
        let fresh = wraps(n);
        if n > 0 {
            to.write_all("]".repeat(fresh).as_bytes())?;
            to.write_all(b",")?;
        }
        to.write_all("[".repeat(fresh).as_bytes())?;
        to.write_all(with_element(tensor, n, true).as_bytes())?;
    }
    to.write_all("]".repeat(shape.len()).as_bytes())
}

fn write_empty(shape: &[usize], to: &mut impl Write) -> io::Result<()> {
    to.write_all(b"[")?;
    if let [size, inner @ ..] = shape {
        for n in 0..*size {
            if n > 0 {
                to.write_all(b",")?;
            }
            write_empty(inner, to)?;
        }
    }
    to.write_all(b"]")
}

fn with_element(tensor: &DynTensor, at: usize, json: bool) -> String {
    let size = tensor.dtype().size();
    let bytes = &tensor.as_bytes()[at * size..][..size];
    macro_rules! number {
        ($t:ty) => {
            <$t>::from_ne_bytes(bytes.try_into().unwrap_or_default())
        };
    }
    macro_rules! pair {
        ($t:ty) => {{
            let part = |half: &[u8]| <$t>::from_ne_bytes(half.try_into().unwrap_or_default());
            let (re, im) = bytes.split_at(size / 2);
            let (re, im) = (part(re), part(im));
            match json {
                true => format!("[{},{}]", float(re, json), float(im, json)),
                false => format!("{re}{im:+}j"),
            }
        }};
    }
    match tensor.dtype() {
        DType::Bool => (bytes[0] != 0).to_string(),
        DType::I8 => number!(i8).to_string(),
        DType::I16 => number!(i16).to_string(),
        DType::I32 => number!(i32).to_string(),
        DType::I64 => number!(i64).to_string(),
        DType::U8 => number!(u8).to_string(),
        DType::U16 => number!(u16).to_string(),
        DType::U32 => number!(u32).to_string(),
        DType::U64 => number!(u64).to_string(),
        DType::F16 => float(f32::from(number!(f16)), json),
        DType::BF16 => float(f32::from(number!(bf16)), json),
        DType::F32 => float(number!(f32), json),
        DType::F64 => float(number!(f64), json),
        DType::C64 => pair!(f32),
        DType::C128 => pair!(f64),
    }
}

/// The shortest digits that are read back as the same number. JSON has no NaN and no infinity.
fn float(value: impl std::fmt::Debug, json: bool) -> String {
    let shown = format!("{value:?}");
    match shown.as_str() {
        "NaN" | "inf" | "-inf" if json => format!("\"{shown}\""),
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literal;

    fn tensor(text: &str) -> DynTensor {
        literal::parse(text).unwrap().unwrap()
    }

    fn counting(shape: &[usize]) -> DynTensor {
        let mut made = DynTensor::zeros(DType::I64, shape).unwrap();
        for (n, bytes) in made.as_bytes_mut().chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&(n as i64).to_ne_bytes());
        }
        made
    }

    #[test]
    fn blocks_are_set_apart_like_numpys() {
        assert_eq!(
            text(&counting(&[2, 2, 3])),
            "[[[ 0,  1,  2],\n  [ 3,  4,  5]],\n\n [[ 6,  7,  8],\n  [ 9, 10, 11]]]"
        );
    }

    #[test]
    fn long_rows_are_broken() {
        let shown = text(&counting(&[50]));
        assert!(shown.lines().all(|line| line.len() <= LINE), "{shown}");
        assert_eq!(shown.lines().count(), 3, "{shown}");
        let again = tensor(&shown);
        assert_eq!(again.as_bytes(), counting(&[50]).as_bytes());
    }

    #[test]
    fn many_elements_are_abbreviated() {
        assert_eq!(
            text(&counting(&[1001])),
            "[   0,    1,    2, ...,  998,  999, 1000]"
        );
        let matrix = text(&counting(&[100, 100]));
        assert_eq!(matrix.lines().count(), 7);
        assert!(matrix.contains(",\n ...,\n"), "{matrix}");
    }

    #[test]
    fn json_holds_everything() {
        let json = |t: &DynTensor| {
            let mut out = Vec::new();
            write_json(t, &mut out).unwrap();
            serde_json::from_slice::<serde_json::Value>(&out)
                .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out)))
        };
        assert_eq!(
            json(&counting(&[2, 1, 2])),
            serde_json::json!([[[0, 1]], [[2, 3]]])
        );
        assert_eq!(json(&counting(&[])), serde_json::json!(0));
        assert_eq!(json(&counting(&[2, 0, 3])), serde_json::json!([[], []]));
        assert_eq!(json(&counting(&[0])), serde_json::json!([]));
        let floats = tensor("[nan, -inf, 0.1, 1e30]:float32");
        assert_eq!(json(&floats), serde_json::json!(["NaN", "-inf", 0.1, 1e30]));
        let complex = tensor("[1-2j]:complex64");
        assert_eq!(json(&complex), serde_json::json!([[1.0, -2.0]]));
        assert_eq!(
            json(&tensor("[true, false]")),
            serde_json::json!([true, false])
        );
    }
}
