//! Conversion of single elements between any two element types, for operators whose elements change
//! their type on the way.
//!
//! ```text
//! load(dtype, from) -> Wide (i64, u64, f64 or Complex64: holds every element exactly) -> store(dtype, to)
//! ```
//!
//! The rules are C's: integers wrap, fractions are cut off, and a complex number loses its
//! imaginary part. A value beyond 64 bits, and NaN, becomes -2^63 before it wraps. Floats round to
//! nearest.
//!
//! **Cost.** Two matches on dtypes per element. The hot loops convert with `Convert` instead, which
//! is chosen at compile time.
//!
//! # Unsafe
//!
//! - Buys: an element of any type as any other
//! - Measured: checks: U-cast 1.08
//! - Holds: offsets of a view's own layout; room for the type

use crate::error::Problem;
use crate::ops::half::{f64_to_bf16, f64_to_f16};
use crate::tensor::{DType, DynTensor, DynView, Element, offsets};
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// A number of any element type, without loss.
#[derive(Clone, Copy, PartialEq)]
enum Wide {
    Int(i64),
    Uint(u64),
    Float(f64),
    Complex(Complex64),
}

/// Reads the element at `at`.
///
/// # Safety
/// `at` is aligned for `dtype` and points to an initialised element of that type.
#[inline]
unsafe fn load(dtype: DType, at: *const u8) -> Wide {
    macro_rules! read {
        ($t:ty) => {
            // SAFETY: the caller's promise.
            unsafe { at.cast::<$t>().read() }
        };
    }
    match dtype {
        DType::Bool => Wide::Uint((read!(u8) != 0).into()),
        DType::I8 => Wide::Int(read!(i8).into()),
        DType::I16 => Wide::Int(read!(i16).into()),
        DType::I32 => Wide::Int(read!(i32).into()),
        DType::I64 => Wide::Int(read!(i64)),
        DType::U8 => Wide::Uint(read!(u8).into()),
        DType::U16 => Wide::Uint(read!(u16).into()),
        DType::U32 => Wide::Uint(read!(u32).into()),
        DType::U64 => Wide::Uint(read!(u64)),
        DType::F16 => Wide::Float(read!(f16).to_f64()),
        DType::BF16 => Wide::Float(read!(bf16).to_f64()),
        DType::F32 => Wide::Float(read!(f32).into()),
        DType::F64 => Wide::Float(read!(f64)),
        DType::C64 => {
            let Complex32 { re, im } = read!(Complex32);
            Wide::Complex(Complex64::new(re.into(), im.into()))
        }
        DType::C128 => Wide::Complex(read!(Complex64)),
    }
}

/// Converts the number to `dtype` and writes it to `at`.
///
/// # Safety
/// `at` is aligned for `dtype`, and as many bytes as an element has can be written there.
#[inline]
#[allow(clippy::cast_possible_truncation)]
unsafe fn store(dtype: DType, at: *mut u8, value: Wide) {
    macro_rules! write {
        ($t:ty, $value:expr) => {
            // SAFETY: the caller's promise.
            unsafe { at.cast::<$t>().write($value) }
        };
    }
    match dtype {
        DType::Bool => write!(u8, u8::from(value.is_true())),
        DType::I8 => write!(i8, value.bits() as i8),
        DType::I16 => write!(i16, value.bits() as i16),
        DType::I32 => write!(i32, value.bits() as i32),
        DType::I64 => write!(i64, value.bits().cast_signed()),
        DType::U8 => write!(u8, value.bits() as u8),
        DType::U16 => write!(u16, value.bits() as u16),
        DType::U32 => write!(u32, value.bits() as u32),
        DType::U64 => write!(u64, value.bits()),
        DType::F16 => write!(f16, f64_to_f16(value.real())),
        DType::BF16 => write!(bf16, f64_to_bf16(value.real())),
        DType::F32 => write!(f32, value.single()),
        DType::F64 => write!(f64, value.real()),
        DType::C64 => {
            let Complex64 { re, im } = value.complex();
            write!(Complex32, Complex32::new(re as f32, im as f32));
        }
        DType::C128 => write!(Complex64, value.complex()),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
impl Wide {
    fn is_true(self) -> bool {
        match self {
            Self::Int(value) => value != 0,
            Self::Uint(value) => value != 0,
            Self::Float(value) => value != 0.0,
            Self::Complex(value) => value != Complex64::ZERO,
        }
    }

    /// The integer, modulo 2^64; fractions are cut off.
    fn bits(self) -> u64 {
        match self {
            Self::Int(value) => value.cast_unsigned(),
            Self::Uint(value) => value,
            Self::Float(value) | Self::Complex(Complex64 { re: value, .. }) => match value {
                // 2^64 and -2^63, both exact in f64. Values in between fit u64 or i64.
                0.0..18_446_744_073_709_551_616.0 => value as u64,
                -9_223_372_036_854_775_808.0..0.0 => (value as i64).cast_unsigned(),
                _ => i64::MIN.cast_unsigned(),
            },
        }
    }

    fn real(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Uint(value) => value as f64,
            Self::Float(value) => value,
            Self::Complex(value) => value.re,
        }
    }

    fn single(self) -> f32 {
        match self {
            Self::Int(value) => value as f32,
            Self::Uint(value) => value as f32,
            Self::Float(value) | Self::Complex(Complex64 { re: value, .. }) => value as f32,
        }
    }

    fn complex(self) -> Complex64 {
        match self {
            Self::Complex(value) => value,
            other => Complex64::new(other.real(), 0.0),
        }
    }
}

/// Converts the element at `from` to another type and writes it to `to`, as C does: integers wrap,
/// fractions are cut off, and a real number has no imaginary part. A float that no 64-bit integer
/// holds, NaN included, becomes -2^63 before it wraps.
///
/// # Safety
/// `from` is aligned for `is` and points to an initialised element of that type. `to` is aligned
/// for `becomes`, and an element of that type can be written there. The two may be the same place:
/// the element is read before the write.
pub(crate) unsafe fn cast(is: DType, from: *const u8, becomes: DType, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { store(becomes, to, load(is, from)) }
}

/// A new tensor with the elements converted to another type: integers wrap, fractions are cut off,
/// and a real number has no imaginary part.
///
/// # Errors
/// [`Problem::Memory`] if there is not enough memory for the new tensor.
pub fn converted(view: &DynView<'_>, to: DType) -> Result<DynTensor, Problem> {
    let mut made = DynTensor::zeros(to, view.shape())?;
    let room = made.as_bytes_mut().chunks_exact_mut(to.size());
    for (offset, room) in offsets(view.layout()).zip(room) {
        // SAFETY: `offsets` yields offsets of the view's elements. `room` is one element of the new
        // tensor, whose memory is aligned for every type.
        unsafe {
            let from = view.as_ptr().offset(offset);
            cast(view.dtype(), from, to, room.as_mut_ptr());
        }
    }
    Ok(made)
}

/// Converts elements to another type and writes them to `room`; the rules are those of
/// [`converted`].
///
/// # Panics
/// If `room` is not aligned for the type, or has another length than that of all converted
/// elements.
pub(crate) fn convert_into<T: Element>(values: &[T], to: DType, room: &mut [u8]) {
    assert!(room.as_ptr().addr().is_multiple_of(to.align()));
    assert!(room.len() == values.len() * to.size());
    for (value, room) in values.iter().zip(room.chunks_exact_mut(to.size())) {
        // SAFETY: `value` is a reference to an element. `room` has the size of one element of the
        // other type and lies a multiple of that size behind an aligned address, as the assertions
        // prove.
        unsafe { cast(T::DTYPE, (&raw const *value).cast(), to, room.as_mut_ptr()) };
    }
}

/// Whether both views have the same shape and equal elements, whatever their types. NaN equals NaN.
pub fn same_values(a: &DynView<'_>, b: &DynView<'_>) -> bool {
    let like = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    let pairs = offsets(a.layout()).zip(offsets(b.layout()));
    a.shape() == b.shape()
        && pairs.into_iter().all(|(x, y)| {
            // SAFETY: `offsets` yields offsets of the views' elements.
            let values = unsafe {
                (
                    load(a.dtype(), a.as_ptr().offset(x)),
                    load(b.dtype(), b.as_ptr().offset(y)),
                )
            };
            match values {
                (Wide::Int(x), Wide::Uint(y)) | (Wide::Uint(y), Wide::Int(x)) => {
                    u64::try_from(x) == Ok(y)
                }
                (Wide::Int(x), Wide::Int(y)) => x == y,
                (Wide::Uint(x), Wide::Uint(y)) => x == y,
                (x, y) => {
                    let (x, y) = (x.complex(), y.complex());
                    like(x.re, y.re) && like(x.im, y.im)
                }
            }
        })
}
