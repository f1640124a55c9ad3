//! Tensors of vectors: read from JSON into memory arranged in several ways, and out again.

use super::vectors::Raw;
use ndarray::{ArrayD, IxDyn, ShapeBuilder, Slice};
use num_complex::Complex;
use serde_json::Value as Json;
use strew::{Complex32, Complex64, DType, DynView, DynViewMut, Element, bf16, f16};

/// One element, whatever its type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(Complex64),
}

/// What a call left behind: the elements row by row.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<Scalar>,
}

/// How the elements lie in memory. No result may depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// Row by row, without gaps.
    Rows,
    /// Column by column: the transpose of a contiguous array.
    Columns,
    /// Backwards along every axis, with a gap after each element.
    Gaps,
}

impl Arrangement {
    pub(super) const ALL: [Self; 3] = [Self::Rows, Self::Columns, Self::Gaps];
}

/// An array of some element type that can be passed to an operator.
pub(super) trait Held {
    fn view(&self) -> DynView<'_>;
    fn view_mut(&mut self) -> DynViewMut<'_>;
}

impl<T: Element> Held for ArrayD<T> {
    fn view(&self) -> DynView<'_> {
        strew::TensorView::from(self).into_dyn()
    }

    fn view_mut(&mut self) -> DynViewMut<'_> {
        strew::TensorViewMut::from(self).into_dyn()
    }
}

/// An element type of vectors.
trait Number: Element + Default {
    fn parse(json: &Json) -> Option<Self>;
    fn scalar(self) -> Scalar;
}

fn float(json: &Json) -> Option<f64> {
    match json.as_str() {
        Some("nan") => Some(f64::NAN),
        Some("inf") => Some(f64::INFINITY),
        Some("-inf") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => json.as_f64(),
    }
}

fn pair(json: &Json) -> Option<(f64, f64)> {
    match json.as_array()?.as_slice() {
        [re, im] => Some((float(re)?, float(im)?)),
        _ => None,
    }
}

macro_rules! numbers {
    ($($t:ty: |$json:ident| $parse:expr, |$value:ident| $scalar:expr;)*) => {$(
        impl Number for $t {
            fn parse($json: &Json) -> Option<Self> {
                $parse
            }

            fn scalar(self) -> Scalar {
                let $value = self;
                $scalar
            }
        }
    )*};
}

numbers! {
    bool: |j| j.as_bool(), |v| Scalar::Bool(v);
    i8: |j| j.as_i64()?.try_into().ok(), |v| Scalar::Int(v.into());
    i16: |j| j.as_i64()?.try_into().ok(), |v| Scalar::Int(v.into());
    i32: |j| j.as_i64()?.try_into().ok(), |v| Scalar::Int(v.into());
    i64: |j| j.as_i64(), |v| Scalar::Int(v.into());
    u8: |j| j.as_u64()?.try_into().ok(), |v| Scalar::Int(v.into());
    u16: |j| j.as_u64()?.try_into().ok(), |v| Scalar::Int(v.into());
    u32: |j| j.as_u64()?.try_into().ok(), |v| Scalar::Int(v.into());
    u64: |j| j.as_u64(), |v| Scalar::Int(v.into());
    f16: |j| float(j).map(f16::from_f64), |v| Scalar::Float(v.to_f64());
    bf16: |j| float(j).map(bf16::from_f64), |v| Scalar::Float(v.to_f64());
    f32: |j| float(j).map(narrow), |v| Scalar::Float(v.into());
    f64: |j| float(j), |v| Scalar::Float(v);
    Complex32: |j| pair(j).map(|(re, im)| Complex::new(narrow(re), narrow(im))),
        |v| Scalar::Complex(Complex::new(v.re.into(), v.im.into()));
    Complex64: |j| pair(j).map(|(re, im)| Complex::new(re, im)), |v| Scalar::Complex(v);
}

/// The `f32` that a decimal of a vector stands for.
#[allow(clippy::cast_possible_truncation)]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Runs `$body` with `$t` as the Rust type of the elements.
macro_rules! with_type {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            DType::Bool => {
                type $t = bool;
                $body
            }
            DType::I8 => {
                type $t = i8;
                $body
            }
            DType::I16 => {
                type $t = i16;
                $body
            }
            DType::I32 => {
                type $t = i32;
                $body
            }
            DType::I64 => {
                type $t = i64;
                $body
            }
            DType::U8 => {
                type $t = u8;
                $body
            }
            DType::U16 => {
                type $t = u16;
                $body
            }
            DType::U32 => {
                type $t = u32;
                $body
            }
            DType::U64 => {
                type $t = u64;
                $body
            }
            DType::F16 => {
                type $t = f16;
                $body
            }
            DType::BF16 => {
                type $t = bf16;
                $body
            }
            DType::F32 => {
                type $t = f32;
                $body
            }
            DType::F64 => {
                type $t = f64;
                $body
            }
            DType::C64 => {
                type $t = Complex32;
                $body
            }
            DType::C128 => {
                type $t = Complex64;
                $body
            }
        }
    };
}

impl Raw {
    fn dtype(&self) -> Result<DType, String> {
        let known = DType::ALL.into_iter().find(|t| t.name() == self.dtype);
        known.ok_or_else(|| format!("unknown dtype {:?}", self.dtype))
    }

    fn parse<T: Number>(&self) -> Result<Vec<T>, String> {
        let wanted: usize = self.shape.iter().product();
        if self.data.len() != wanted {
            let found = self.data.len();
            return Err(format!("{found} elements for shape {:?}", self.shape));
        }
        let each = |json| T::parse(json).ok_or_else(|| format!("{json} is no {}", T::DTYPE));
        self.data.iter().map(each).collect()
    }

    /// The elements in memory.
    pub(super) fn hold(&self, arrangement: Arrangement) -> Result<Box<dyn Held>, String> {
        with_type!(self.dtype()?, T => Ok(Box::new(arrange::<T>(self, arrangement)?)))
    }

    /// The elements as they are written.
    pub(super) fn values(&self) -> Result<Values, String> {
        let dtype = self.dtype()?;
        let data = with_type!(dtype, T => self.parse::<T>()?.into_iter().map(T::scalar).collect());
        let shape = self.shape.clone();
        Ok(Values { dtype, shape, data })
    }
}

fn arrange<T: Number>(raw: &Raw, arrangement: Arrangement) -> Result<ArrayD<T>, String> {
    let shape = IxDyn(&raw.shape);
    let rows = ArrayD::from_shape_vec(shape.clone(), raw.parse::<T>()?);
    let rows = rows.map_err(|e| e.to_string())?;
    let mut array = match arrangement {
        Arrangement::Rows => return Ok(rows),
        Arrangement::Columns => ArrayD::default(shape.f()),
        Arrangement::Gaps => {
            let wide: Vec<_> = raw.shape.iter().map(|n| 2 * n + 1).collect();
            let mut wide = ArrayD::default(wide);
            wide.slice_each_axis_inplace(|axis| Slice::from(1..axis.len - 1).step_by(-2));
            wide
        }
    };
    array.assign(&rows);
    Ok(array)
}

/// The elements of a view.
pub(super) fn values(view: &DynView<'_>) -> Result<Values, String> {
    let dtype = view.dtype();
    let data = with_type!(dtype, T => {
        let typed = view.typed::<T>().ok_or_else(|| format!("the elements are no {dtype}"))?;
        typed.to_vec().into_iter().map(T::scalar).collect()
    });
    let shape = view.shape().to_vec();
    Ok(Values { dtype, shape, data })
}
