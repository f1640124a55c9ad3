//! Numbers: how each element type reads, computes, rounds and compares.

use strew::DType;

/// An element, read. 16-bit floats are read as `f32`, which holds all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Num {
    Bool(bool),
    Int(i128),
    F32(f32),
    F64(f64),
    C32([f32; 2]),
    C64([f64; 2]),
}

use Num::{Bool, C32, C64, F32, F64, Int};

/// Reads an element's bits.
pub(crate) fn read(dtype: DType, bits: u128) -> Num {
    match dtype {
        DType::Bool => Bool(bits != 0),
        DType::F16 => F32(widen(bits as u16, 10, -14)),
        DType::BF16 => F32(widen(bits as u16, 7, -126)),
        DType::F32 => F32(f32::from_bits(bits as u32)),
        DType::F64 => F64(f64::from_bits(bits as u64)),
        DType::C64 => C32([
            f32::from_bits(bits as u32),
            f32::from_bits((bits >> 32) as u32),
        ]),
        DType::C128 => C64([
            f64::from_bits(bits as u64),
            f64::from_bits((bits >> 64) as u64),
        ]),
        _ => Int(wrap(dtype, bits as i128)),
    }
}

/// The bits of a number as an element of a type; rounds `f32` to 16-bit floats, wraps integers.
pub(crate) fn write(dtype: DType, num: Num) -> u128 {
    match (dtype, num) {
        (DType::Bool, Bool(b)) => u128::from(b),
        (DType::F16, F32(v)) => u128::from(narrow(v.into(), 10, -14)),
        (DType::BF16, F32(v)) => u128::from(narrow(v.into(), 7, -126)),
        (DType::F32, F32(v)) => v.to_bits().into(),
        (DType::F64, F64(v)) => v.to_bits().into(),
        (DType::C64, C32([re, im])) => u128::from(re.to_bits()) | u128::from(im.to_bits()) << 32,
        (DType::C128, C64([re, im])) => u128::from(re.to_bits()) | u128::from(im.to_bits()) << 64,
        (_, Int(v)) => v as u128 & mask(dtype),
        _ => panic!("{num:?} is no {dtype}"),
    }
}

fn mask(dtype: DType) -> u128 {
    match dtype.size() {
        16 => u128::MAX,
        size => (1 << (8 * size)) - 1,
    }
}

fn signed(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// The integer of this type that is equal to `v` modulo 2^k.
fn wrap(dtype: DType, v: i128) -> i128 {
    let low = v & mask(dtype) as i128;
    let bits = 8 * dtype.size();
    if signed(dtype) && low >> (bits - 1) == 1 {
        low - (1 << bits)
    } else {
        low
    }
}

/// Lowest and highest integer of a type.
pub(crate) fn range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size();
    if signed(dtype) {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// A float of 16 bits with `p` bits of fraction and lowest exponent `least`, as `f32`.
fn widen(bits: u16, p: u32, least: i32) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & ((1 << p) - 1));
    let field = i32::from((bits & 0x7fff) >> p);
    let one = f64::from(1u16 << p);
    let value = if field == (1 << (15 - p)) - 1 {
        if fraction == 0.0 {
            f64::INFINITY
        } else {
            f64::NAN
        }
    } else if field == 0 {
        fraction / one * power(least)
    } else {
        (one + fraction) / one * power(field - 1 + least)
    };
    (sign * value) as f32
}

/// The nearest 16-bit float, ties to even.
pub(crate) fn narrow(v: f64, p: u32, least: i32) -> u16 {
    let sign = u16::from(v.is_sign_negative()) << 15;
    let infinity = ((1u16 << (15 - p)) - 1) << p;
    if v.is_nan() {
        return infinity | 1;
    }
    let size = v.abs();
    if size == 0.0 {
        return sign;
    }
    if size.is_infinite() {
        return sign | infinity;
    }
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(least);
    // In units of the last place, which is exact: a whole number after rounding.
    let units = (size / power(exponent - p as i32)).round_ties_even();
    // A subnormal's field is 0; a carry moves on to the next exponent by itself.
    let field = f64::from(exponent - least) * f64::from(1u32 << p);
    let bits = field + units;
    sign | if bits >= f64::from(infinity) {
        infinity
    } else {
        bits as u16
    }
}

/// 2 to the power `e`, for normal results.
fn power(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

impl Num {
    pub(crate) fn zero(dtype: DType) -> Self {
        Self::small(dtype, 0)
    }

    pub(crate) fn one(dtype: DType) -> Self {
        Self::small(dtype, 1)
    }

    fn small(dtype: DType, n: u8) -> Self {
        match dtype {
            DType::Bool => Bool(n != 0),
            DType::F16 | DType::BF16 | DType::F32 => F32(n.into()),
            DType::F64 => F64(n.into()),
            DType::C64 => C32([n.into(), 0.0]),
            DType::C128 => C64([n.into(), 0.0]),
            _ => Int(n.into()),
        }
    }

    /// Sum, in the type of `dtype` (`f32` for 16-bit floats).
    pub(crate) fn add(self, dtype: DType, other: Self) -> Self {
        match (self, other) {
            (Bool(a), Bool(b)) => Bool(a || b),
            (Int(a), Int(b)) => Int(wrap(dtype, a + b)),
            (F32(a), F32(b)) => F32(a + b),
            (F64(a), F64(b)) => F64(a + b),
            (C32(a), C32(b)) => C32([a[0] + b[0], a[1] + b[1]]),
            (C64(a), C64(b)) => C64([a[0] + b[0], a[1] + b[1]]),
            _ => panic!("{self:?} + {other:?}"),
        }
    }

    /// Product, likewise.
    pub(crate) fn mul(self, dtype: DType, other: Self) -> Self {
        match (self, other) {
            (Bool(a), Bool(b)) => Bool(a && b),
            (Int(a), Int(b)) => Int(wrap(dtype, a.wrapping_mul(b))),
            (F32(a), F32(b)) => F32(a * b),
            (F64(a), F64(b)) => F64(a * b),
            (C32(a), C32(b)) => C32([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]),
            (C64(a), C64(b)) => C64([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]),
            _ => panic!("{self:?} * {other:?}"),
        }
    }

    /// Difference, likewise.
    pub(crate) fn sub(self, dtype: DType, other: Self) -> Self {
        match (self, other) {
            (Int(a), Int(b)) => Int(wrap(dtype, a - b)),
            _ => self.minus(other),
        }
    }

    /// Quotient, likewise: of integers toward zero, and 0 by 0.
    pub(crate) fn div(self, dtype: DType, other: Self) -> Self {
        match (self, other) {
            (Int(_), Int(0)) => Int(0),
            (Int(a), Int(b)) => Int(wrap(dtype, a / b)),
            _ => self.quotient(other),
        }
    }

    /// The quotient of floats.
    pub(crate) fn quotient(self, other: Self) -> Self {
        match (self, other) {
            (F32(a), F32(b)) => F32(a / b),
            (F64(a), F64(b)) => F64(a / b),
            // By the square of the divisor's size.
            (C32(a), C32(b)) => {
                let size = b[0] * b[0] + b[1] * b[1];
                let (re, im) = (a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]);
                C32([re / size, im / size])
            }
            (C64(a), C64(b)) => {
                let size = b[0] * b[0] + b[1] * b[1];
                let (re, im) = (a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]);
                C64([re / size, im / size])
            }
            _ => panic!("{self:?} / {other:?}"),
        }
    }

    /// The difference of floats.
    pub(crate) fn minus(self, other: Self) -> Self {
        match (self, other) {
            (F32(a), F32(b)) => F32(a - b),
            (F64(a), F64(b)) => F64(a - b),
            (C32(a), C32(b)) => C32([a[0] - b[0], a[1] - b[1]]),
            (C64(a), C64(b)) => C64([a[0] - b[0], a[1] - b[1]]),
            _ => panic!("{self:?} - {other:?}"),
        }
    }

    /// The complex conjugate.
    pub(crate) fn conj(self) -> Self {
        match self {
            C32([re, im]) => C32([re, -im]),
            C64([re, im]) => C64([re, -im]),
            other => other,
        }
    }

    pub(crate) fn is_zero(self) -> bool {
        match self {
            Bool(a) => !a,
            Int(a) => a == 0,
            F32(a) => a == 0.0,
            F64(a) => a == 0.0,
            C32(a) => a == [0.0; 2],
            C64(a) => a == [0.0; 2],
        }
    }

    /// Equal, as floats are, or both NaN.
    pub(crate) fn ties(self, other: Self) -> bool {
        match (self, other) {
            (F32(a), F32(b)) => a == b || (a.is_nan() && b.is_nan()),
            (F64(a), F64(b)) => a == b || (a.is_nan() && b.is_nan()),
            _ => panic!("{self:?} and {other:?}"),
        }
    }

    /// A float as another type computes with it.
    pub(crate) fn widened(self, to: DType) -> Self {
        match (self, to) {
            (F32(a), DType::F64) => F64(a.into()),
            (other, _) => other,
        }
    }

    /// A float's bits, rounded to another type, once.
    pub(crate) fn written(self, to: DType) -> u128 {
        match (to, self) {
            (DType::F16, F64(v)) => narrow(v, 10, -14).into(),
            (DType::BF16, F64(v)) => narrow(v, 7, -126).into(),
            (DType::F32, F64(v)) => (v as f32).to_bits().into(),
            (to, num) => write(to, num),
        }
    }

    /// The quotient by a count; integers are rounded down.
    pub(crate) fn divide(self, count: u64) -> Self {
        match self {
            Bool(_) => panic!("bool has no mean"),
            Int(a) => Int(a.div_euclid(count.into())),
            F32(a) => F32(a / count as f32),
            F64(a) => F64(a / count as f64),
            C32(a) => C32(a.map(|part| part / count as f32)),
            C64(a) => C64(a.map(|part| part / count as f64)),
        }
    }

    /// The quotient by a count; integers are rounded toward zero.
    pub(crate) fn divide_toward_zero(self, count: u64) -> Self {
        match self {
            Int(a) => Int(a / i128::from(count)),
            other => other.divide(count),
        }
    }

    /// The quotient of floats by the square root of a count.
    pub(crate) fn divide_by_root(self, count: u64) -> Self {
        match self {
            F32(a) => F32(a / (count as f32).sqrt()),
            F64(a) => F64(a / (count as f64).sqrt()),
            C32(a) => C32(a.map(|part| part / (count as f32).sqrt())),
            C64(a) => C64(a.map(|part| part / (count as f64).sqrt())),
            Bool(_) | Int(_) => panic!("only of floats"),
        }
    }

    pub(crate) fn less(self, other: Self) -> bool {
        match (self, other) {
            (Bool(a), Bool(b)) => !a && b,
            (Int(a), Int(b)) => a < b,
            (F32(a), F32(b)) => a < b,
            (F64(a), F64(b)) => a < b,
            _ => panic!("{self:?} < {other:?}"),
        }
    }

    pub(crate) fn is_nan(self) -> bool {
        match self {
            Bool(_) | Int(_) => false,
            F32(a) => a.is_nan(),
            F64(a) => a.is_nan(),
            C32(a) => a.iter().any(|part| part.is_nan()),
            C64(a) => a.iter().any(|part| part.is_nan()),
        }
    }
}

/// The lowest and the highest value of a type, infinities included.
pub(crate) fn extremes(dtype: DType) -> (u128, u128) {
    let floats = |low: f64, high: f64| match dtype {
        DType::F64 => (write(dtype, F64(low)), write(dtype, F64(high))),
        _ => (
            write(dtype, F32(low as f32)),
            write(dtype, F32(high as f32)),
        ),
    };
    match dtype {
        DType::Bool => (0, 1),
        _ if dtype.is_float() => floats(f64::NEG_INFINITY, f64::INFINITY),
        _ => {
            let (low, high) = range(dtype);
            (write(dtype, Int(low)), write(dtype, Int(high)))
        }
    }
}

/// The lowest and the highest finite value of a type.
pub(crate) fn finite_extremes(dtype: DType) -> (u128, u128) {
    match dtype {
        DType::F16 => (0xfbff, 0x7bff),
        DType::BF16 => (0xff7f, 0x7f7f),
        DType::F32 => (f32::MIN.to_bits().into(), f32::MAX.to_bits().into()),
        DType::F64 => (f64::MIN.to_bits().into(), f64::MAX.to_bits().into()),
        _ => extremes(dtype),
    }
}

/// Whether two results are the same: bit for bit, but any NaN is as good as any other, and so is
/// any byte that means true.
pub(crate) fn same(dtype: DType, a: u128, b: u128) -> bool {
    let part = |a: Num, b: Num| (a.is_nan() && b.is_nan()).then_some(true);
    match (read(dtype, a), read(dtype, b)) {
        (Bool(a), Bool(b)) => a == b,
        (C32(x), C32(y)) => {
            (0..2).all(|k| part(F32(x[k]), F32(y[k])).unwrap_or(x[k].to_bits() == y[k].to_bits()))
        }
        (C64(x), C64(y)) => {
            (0..2).all(|k| part(F64(x[k]), F64(y[k])).unwrap_or(x[k].to_bits() == y[k].to_bits()))
        }
        (x, y) => part(x, y).unwrap_or(a == b),
    }
}
