//! The types that gradients are computed in, and the ways there and back.

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use std::convert::identity;
use std::ops::{Add, Deref, Div, Mul, Sub};
use strew_engine::describe::widen::widened;
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::Problem;
use strew_kernel::ops::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use strew_kernel::tensor::{DType, DynTensor, DynView, Element, Tensor, shaped};
use strew_kernel::update::finalize::finalize;

/// An accumulator: what a gradient is computed in before it is rounded to its element type, once.
pub(super) trait Field:
    Graded<Wide = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    /// The complex conjugate; a real number is its own.
    fn conj(self) -> Self;
    /// Divided by a count.
    fn over(self, count: i64) -> Self;
    /// Divided by the square root of a count.
    fn over_root(self, count: i64) -> Self;
    fn nan(self) -> bool;
    /// Equal as a minimum or maximum is: zeros of both signs are, and so are NaN and NaN.
    #[inline(always)]
    fn ties(self, other: Self) -> bool {
        // No branch: it vectorises.
        (self == other) | (self.nan() & other.nan())
    }
    #[inline(always)]
    fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

macro_rules! reals {
    ($($t:ty),*) => {$(
        impl Field for $t {
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            #[inline(always)]
            fn conj(self) -> $t { self }
            #[allow(clippy::cast_precision_loss)]
            #[inline(always)]
            fn over(self, count: i64) -> $t { self / count as $t }
            #[allow(clippy::cast_precision_loss)]
            #[inline(always)]
            fn over_root(self, count: i64) -> $t { self / (count as $t).sqrt() }
            #[inline(always)]
            fn nan(self) -> bool { self.is_nan() }
        }
    )*};
}

macro_rules! complexes {
    ($($t:ty as $part:ty),*) => {$(
        impl Field for $t {
            const ZERO: $t = <$t>::new(0.0, 0.0);
            const ONE: $t = <$t>::new(1.0, 0.0);
            #[inline(always)]
            fn conj(self) -> $t { <$t>::conj(&self) }
            #[allow(clippy::cast_precision_loss)]
            #[inline(always)]
            fn over(self, count: i64) -> $t {
                <$t>::new(self.re / count as $part, self.im / count as $part)
            }
            #[allow(clippy::cast_precision_loss)]
            #[inline(always)]
            fn over_root(self, count: i64) -> $t {
                let root = (count as $part).sqrt();
                <$t>::new(self.re / root, self.im / root)
            }
            #[inline(always)]
            fn nan(self) -> bool { self.is_nan() }
        }
    )*};
}

reals!(f32, f64);

complexes!(Complex32 as f32, Complex64 as f64);

/// An element type that has gradients.
pub(super) trait Graded: Element {
    /// What they are computed in.
    type Wide: Field;
    fn widen(self) -> Self::Wide;
    /// Rounds.
    fn narrow(wide: Self::Wide) -> Self;
    /// Zero.
    #[inline(always)]
    fn nothing() -> Self {
        Self::narrow(Self::Wide::ZERO)
    }
}

macro_rules! graded {
    ($($t:ty as $wide:ty: $widen:expr, $narrow:expr;)*) => {$(
        impl Graded for $t {
            type Wide = $wide;
            #[inline(always)]
            fn widen(self) -> $wide { $widen(self) }
            #[inline(always)]
            fn narrow(wide: $wide) -> $t { $narrow(wide) }
        }
    )*};
}

graded! {
    f16 as f32: f16_to_f32, f32_to_f16;
    bf16 as f32: bf16_to_f32, f32_to_bf16;
    f32 as f32: identity, identity;
    f64 as f64: identity, identity;
    Complex32 as Complex32: identity, identity;
    Complex64 as Complex64: identity, identity;
}

/// Calls a generic function with an element type of real numbers that has gradients.
macro_rules! for_real {
    ($dtype:expr, $T:ident => $body:expr, $other:ident => $rest:expr) => {
        match $dtype {
            strew_kernel::tensor::DType::F16 => {
                type $T = half::f16;
                $body
            }
            strew_kernel::tensor::DType::BF16 => {
                type $T = half::bf16;
                $body
            }
            strew_kernel::tensor::DType::F32 => {
                type $T = f32;
                $body
            }
            strew_kernel::tensor::DType::F64 => {
                type $T = f64;
                $body
            }
            $other => $rest,
        }
    };
}
pub(crate) use for_real;

/// Calls a generic function with an element type that has gradients.
macro_rules! for_graded {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::grad::field::for_real!($dtype, $T => $body, other => match other {
            strew_kernel::tensor::DType::C64 => {
                type $T = num_complex::Complex32;
                $body
            }
            strew_kernel::tensor::DType::C128 => {
                type $T = num_complex::Complex64;
                $body
            }
            other => Err($crate::grad::field::no_gradient("grad", other)),
        })
    };
}
pub(crate) use for_graded;

/// Calls a generic function with the accumulator of an element type that has gradients.
macro_rules! for_field {
    ($dtype:expr, $A:ident => $body:expr) => {
        match $dtype.accumulator() {
            strew_kernel::tensor::DType::F32 => {
                type $A = f32;
                $body
            }
            strew_kernel::tensor::DType::F64 => {
                type $A = f64;
                $body
            }
            strew_kernel::tensor::DType::C64 => {
                type $A = num_complex::Complex32;
                $body
            }
            strew_kernel::tensor::DType::C128 => {
                type $A = num_complex::Complex64;
                $body
            }
            dtype => Err($crate::grad::field::no_gradient("grad", dtype)),
        }
    };
}
pub(crate) use for_field;

/// The problem of an argument whose type has no gradient.
pub(super) fn no_gradient(argument: &'static str, found: DType) -> Problem {
    Problem::DType {
        argument,
        found,
        expected: "only floating-point and complex types have gradients".into(),
    }
}

/// The elements as accumulators, row by row, seen with a shape that has as many.
pub(super) fn load<A: Field>(view: &DynView<'_>, shape: &[usize]) -> Result<Tensor<A>, Problem> {
    let made = match view.dtype() == A::DTYPE {
        true => duplicate(&view.at_least_1d())?,
        false => widened(&view.at_least_1d(), A::DTYPE)?,
    };
    let made = shaped(made, shape)?;
    made.typed()
        .map_err(|made| no_gradient("tensor", made.dtype()))
}

/// Elements row by row: the caller's where they lie so, else a copy.
pub(super) enum Elements<'a, T> {
    There(&'a [T]),
    Copy(Tensor<T>),
}

impl<T: Element> Deref for Elements<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::There(elements) => elements,
            Self::Copy(copy) => copy.as_slice(),
        }
    }
}

/// The elements as a type that holds all of them.
pub(super) fn elements<'a, T: Element>(view: &DynView<'a>) -> Result<Elements<'a, T>, Problem> {
    if let Some(there) = view.typed::<T>().and_then(|view| view.as_slice()) {
        return Ok(Elements::There(there));
    }
    let copy = match view.dtype() == T::DTYPE {
        true => duplicate(&view.at_least_1d())?,
        false => widened(&view.at_least_1d(), T::DTYPE)?,
    };
    let copy = copy.typed();
    copy.map(Elements::Copy)
        .map_err(|copy| no_gradient("tensor", copy.dtype()))
}

/// The accumulators as elements, each rounded once, seen with a shape that has as many.
pub(super) fn store<A: Field>(
    from: Tensor<A>,
    dtype: DType,
    shape: &[usize],
) -> Result<DynTensor, Problem> {
    let from = from.into_dyn();
    if from.dtype() == dtype {
        return shaped(from, shape);
    }
    let mut made = DynTensor::zeros(dtype, from.shape())?;
    if dtype.accumulator() == from.dtype() {
        finalize(&from, &mut made.view_mut())?;
        return shaped(made, shape);
    }
    let wrong = |from: DynTensor| no_gradient("tensor", from.dtype());
    let from = from.typed::<f64>().map_err(wrong)?;
    let made = narrow(from.as_slice(), made)?;
    shaped(made, shape)
}

/// Rounds `f64` to a narrower float.
fn narrow(from: &[f64], to: DynTensor) -> Result<DynTensor, Problem> {
    fn each<T: Element>(
        from: &[f64],
        to: DynTensor,
        round: impl Fn(f64) -> T,
    ) -> Result<DynTensor, Problem> {
        let wrong = |to: DynTensor| no_gradient("tensor", to.dtype());
        let mut to = to.typed::<T>().map_err(wrong)?;
        for (to, &from) in to.as_mut_slice().iter_mut().zip(from) {
            *to = round(from);
        }
        Ok(to.into_dyn())
    }
    match to.dtype() {
        #[allow(clippy::cast_possible_truncation)]
        DType::F32 => each(from, to, |v| v as f32),
        DType::F16 => each(from, to, |v| f16::from_f32(to_odd(v))),
        DType::BF16 => each(from, to, |v| bf16::from_f32(to_odd(v))),
        dtype => Err(no_gradient("tensor", dtype)),
    }
}

/// One of the two neighbours as `f32`: the value itself or else the one whose last bit is set, so
/// that rounding once more rounds as if it were the first time.
#[allow(clippy::cast_possible_truncation)]
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value || near.is_nan() {
        return near;
    }
    let beyond = f64::from(near).abs() > value.abs();
    let toward_zero = near.to_bits() - u32::from(beyond);
    f32::from_bits(toward_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_twice_rounds_once() {
        // Just above the middle between 1 and its upper neighbour in float16: f32 would hide that.
        let above = 1.0 + 0.5f64.powi(11) + 0.5f64.powi(40);
        assert_eq!(f16::from_f32(to_odd(above)), f16::from_bits(0x3c01));
        assert_eq!(f16::from_f32(to_odd(-above)), f16::from_bits(0xbc01));
        let below = 1.0 + 0.5f64.powi(11) - 0.5f64.powi(40);
        assert_eq!(f16::from_f32(to_odd(below)), f16::ONE);
        for value in [0.0, 1.0, 1e300, -1e300, 1e-300, f64::INFINITY] {
            let rounded = f64::from(f16::from_f32(to_odd(value)));
            let expected = if value.abs() > 1e100 {
                value * 1e300
            } else {
                value.round()
            };
            assert_eq!(rounded, expected);
        }
    }
}
