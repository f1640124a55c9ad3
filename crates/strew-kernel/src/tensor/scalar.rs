//! Single numbers, converted to whichever element type an operator needs.

use crate::error::Problem;
use crate::tensor::dtype::DType;
use crate::tensor::owned::DynTensor;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use std::fmt;

/// A number whose element type is decided by the tensor that it is put into.
///
/// ```
/// # mod strew { pub use strew_kernel::tensor::Scalar; }
/// use strew::Scalar;
///
/// assert_eq!(Scalar::from(1.5f32), Scalar::Float(1.5));
/// assert_eq!(Scalar::from(7u8), Scalar::Int(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer beyond `i64`.
    Uint(u64),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Complex64),
}

macro_rules! from {
    ($($t:ty => $variant:ident),* $(,)?) => {$(
        impl From<$t> for Scalar {
            fn from(value: $t) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from! {
    bool => Bool, i8 => Int, i16 => Int, i32 => Int, i64 => Int, u8 => Int, u16 => Int, u32 => Int,
    f16 => Float, bf16 => Float, f32 => Float, f64 => Float, Complex64 => Complex,
}

impl From<u64> for Scalar {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Uint(value), Self::Int)
    }
}

impl From<Complex32> for Scalar {
    fn from(value: Complex32) -> Self {
        Self::Complex(Complex64::new(value.re.into(), value.im.into()))
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Uint(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Complex(value) => write!(f, "{:?}{:+?}j", value.re, value.im),
        }
    }
}

impl Scalar {
    fn beyond(self, argument: &str, dtype: DType) -> Problem {
        Problem::Value {
            argument: argument.into(),
            value: self.to_string(),
            expected: format!("value cannot be converted to type {dtype} without overflow"),
        }
    }

    fn element(self, dtype: DType) -> Option<[u8; 16]> {
        let mut bytes = [0; 16];
        let mut put = |from: &[u8]| bytes[..from.len()].copy_from_slice(from);
        macro_rules! integer {
            ($t:ty) => {
                put(&(self.integer(<$t>::MIN.into(), <$t>::MAX.into())? as $t).to_ne_bytes())
            };
        }
        match dtype {
            DType::Bool => put(&[u8::from(self.is_true())]),
            DType::I8 => integer!(i8),
            DType::I16 => integer!(i16),
            DType::I32 => integer!(i32),
            DType::I64 => integer!(i64),
            DType::U8 => integer!(u8),
            DType::U16 => integer!(u16),
            DType::U32 => integer!(u32),
            DType::U64 => integer!(u64),
            DType::F16 => {
                let value = f16::from_f32(odd(self.real()?));
                put(&self.finite(value.is_infinite(), value)?.to_ne_bytes());
            }
            DType::BF16 => {
                let value = bf16::from_f32(odd(self.real()?));
                put(&self.finite(value.is_infinite(), value)?.to_ne_bytes());
            }
            DType::F32 => put(&self.single()?.to_ne_bytes()),
            DType::F64 => put(&self.real()?.to_ne_bytes()),
            DType::C64 => {
                let Complex64 { re, im } = self.complex();
                let parts = [Self::Float(re).single()?, Self::Float(im).single()?];
                put(&parts.map(f32::to_ne_bytes).concat());
            }
            DType::C128 => {
                let Complex64 { re, im } = self.complex();
                put(&[re, im].map(f64::to_ne_bytes).concat());
            }
        }
        Some(bytes)
    }

    fn is_true(self) -> bool {
        match self {
            Self::Bool(value) => value,
            Self::Int(value) => value != 0,
            Self::Uint(value) => value != 0,
            Self::Float(value) => value != 0.0,
            Self::Complex(value) => value != Complex64::ZERO,
        }
    }

    /// The integer, if a type of this range takes it.
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    fn integer(self, low: i128, high: i128) -> Option<i128> {
        let whole = |value: i128| {
            let least = if low == 0 { -high } else { low };
            (least..=high).contains(&value).then_some(value)
        };
        match self {
            Self::Bool(value) => Some(value.into()),
            Self::Int(value) => whole(value.into()),
            Self::Uint(value) => whole(value.into()),
            Self::Float(_) | Self::Complex(_) => {
                let value = self.real()?;
                let fits = value >= low as f64 && value <= high as f64;
                // 2^63 and 2^64 are the floats that the largest integers are rounded to.
                (fits && value.trunc() as i128 <= high).then_some(value.trunc() as i128)
            }
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    fn single(self) -> Option<f32> {
        match self {
            // Rounded once.
            Self::Int(value) => Some(value as f32),
            Self::Uint(value) => Some(value as f32),
            _ => {
                let value = self.real()? as f32;
                self.finite(value.is_infinite(), value)
            }
        }
    }

    fn complex(self) -> Complex64 {
        match self {
            Self::Complex(value) => value,
            other => Complex64::new(other.real().unwrap_or_default(), 0.0),
        }
    }

    /// A float made of the number, unless it is infinite only because the type cannot hold more.
    fn finite<T>(self, infinite: bool, value: T) -> Option<T> {
        let was = self.real().is_some_and(f64::is_infinite);
        (!infinite || was).then_some(value)
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Scalar {
    /// The number as a 0-d tensor of a type, by PyTorch's rules: fractions are cut off, everything
    /// but zero is true, and an unsigned type takes a negative integer modulo 2^k.
    ///
    /// # Errors
    /// [`Problem::Value`] if the type cannot hold it, [`Problem::Memory`].
    pub fn tensor(self, argument: &str, dtype: DType) -> Result<DynTensor, Problem> {
        let Some(bytes) = self.element(dtype) else {
            return Err(self.beyond(argument, dtype));
        };
        DynTensor::filled(dtype, &[], &bytes[..dtype.size()])
    }

    /// The same, but an unsigned type takes no negative number.
    ///
    /// # Errors
    /// As [`Scalar::tensor`].
    pub fn unwrapped(self, argument: &str, dtype: DType) -> Result<DynTensor, Problem> {
        let unsigned = matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64);
        let negative = match self {
            Self::Int(value) => value < 0,
            Self::Float(value) => value <= -1.0,
            Self::Complex(value) => value.re <= -1.0,
            Self::Bool(_) | Self::Uint(_) => false,
        };
        match unsigned && negative {
            true => Err(self.beyond(argument, dtype)),
            false => self.tensor(argument, dtype),
        }
    }

    /// The number without an imaginary part, if that is zero.
    #[allow(clippy::cast_precision_loss)]
    pub fn real(self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(value))),
            Self::Int(value) => Some(value as f64),
            Self::Uint(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            Self::Complex(value) => (value.im == 0.0).then_some(value.re),
        }
    }
}

/// The number rounded to odd: if `f32` cannot hold it, the neighbour whose last bit is 1. Rounding
/// the result to a 16-bit float gives the same as rounding the number itself, without double
/// rounding.
#[allow(clippy::cast_possible_truncation)]
#[inline(always)]
pub(crate) fn odd(value: f64) -> f32 {
    let near = value as f32;
    let bits = near.to_bits();
    if f64::from(near) == value || !near.is_finite() || bits & 1 == 1 {
        return near;
    }
    match f64::from(near).abs() < value.abs() {
        true => f32::from_bits(bits + 1),
        false => f32::from_bits(bits - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scalar: impl Into<Scalar>, dtype: DType) -> Option<Vec<u8>> {
        let bytes = scalar.into().element(dtype);
        bytes.map(|bytes| bytes[..dtype.size()].to_vec())
    }

    #[test]
    fn a_number_becomes_an_element() {
        assert_eq!(of(1.9, DType::I8), Some(vec![1]));
        assert_eq!(of(-1.9, DType::I8), Some(vec![0xff]));
        assert_eq!(of(-1i64, DType::U8), Some(vec![0xff]));
        assert_eq!(of(-255i64, DType::U8), Some(vec![1]));
        assert_eq!(of(u64::MAX, DType::U64), Some(vec![0xff; 8]));
        assert_eq!(of(f64::NAN, DType::Bool), Some(vec![1]));
        assert_eq!(of(true, DType::F32), Some(1f32.to_ne_bytes().to_vec()));
        assert_eq!(
            of(2, DType::F16),
            Some(f16::from_f32(2.0).to_ne_bytes().to_vec())
        );
        // Just above the middle of two float16 values, and at the middle as a float32.
        assert_eq!(
            of(1.000_488_281_250_01, DType::F16),
            Some(f16::from_bits(0x3c01).to_ne_bytes().to_vec())
        );
        assert_eq!(
            of(f64::INFINITY, DType::BF16),
            Some(bf16::INFINITY.to_ne_bytes().to_vec())
        );
        let complex = Complex64::new(1.0, -2.0);
        let parts = [1f32.to_ne_bytes(), (-2f32).to_ne_bytes()].concat();
        assert_eq!(of(complex, DType::C64), Some(parts));
        assert_eq!(
            of(Complex64::new(3.0, 0.0), DType::I16),
            Some(3i16.to_ne_bytes().to_vec())
        );
    }

    #[test]
    fn a_number_that_a_type_cannot_hold_becomes_none() {
        for (scalar, dtype) in [
            (Scalar::Int(128), DType::I8),
            (Scalar::Int(-256), DType::U8),
            (Scalar::Float(-1.0), DType::U8),
            (Scalar::Float(f64::NAN), DType::I64),
            (Scalar::Float(9_223_372_036_854_775_808.0), DType::I64),
            (Scalar::Uint(u64::MAX), DType::I64),
            (Scalar::Float(1e39), DType::F32),
            (Scalar::Float(65520.0), DType::F16),
            (Scalar::Int(65536), DType::F16),
            (Scalar::Complex(Complex64::new(1.0, 1.0)), DType::F64),
            (Scalar::Complex(Complex64::new(1e39, 0.0)), DType::C64),
        ] {
            assert_eq!(of(scalar, dtype), None, "{scalar} as {dtype}");
        }
    }
}
