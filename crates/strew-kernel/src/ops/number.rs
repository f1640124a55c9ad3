//! Arithmetic of each element type, as the operators define it.
//!
//! | trait | holds | types |
//! |---|---|---|
//! | `Number` | zero, one, sum, product, difference, quotient, mean | all |
//! | `Convert` | conversion to a wider type, and of an accumulator to its element | the pairs that loops need |
//! | `MaybeUnset` | a value that marks an untouched cell | `f32`, `f64` |
//!
//! Minima and maxima are in [`order`](crate::ops::order).
//!
//! | element | accumulator | sum, product, difference | mean |
//! |---|---|---|---|
//! | integers | the type itself | wrap | rounded down, or toward zero |
//! | `f16`, `bf16` | `f32` | rounded to 16 bits once, at the end | in `f32` |
//! | `f32`, `f64`, complex | the type itself | IEEE arithmetic, no fused multiply-add | sum / count |
//! | bool | the type itself | or, and, exclusive or | the sum |
//!
//! Each function is a few instructions and always inlined.

use crate::cpu::isa::Isa;
use crate::ops::boolean::Bool;
use crate::ops::half::{
    bf16_to_f32, eight_f16_to_f32, eight_f32_to_f16, f16_to_f32, f32_to_bf16, f32_to_f16,
};
use crate::ops::hot::Hot;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// The arithmetic of an element type, done in its accumulator type.
pub(crate) trait Number: Convert<Self::Acc> + Hot {
    /// The accumulator type: `f32` for 16-bit floats, otherwise the type itself. Its values are
    /// rounded back once, at the end.
    type Acc: Convert<Self>;
    const ZERO: Self::Acc;
    const ONE: Self::Acc;
    fn add(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    fn mul(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    fn sub(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The quotient. Of integers: rounded toward zero, `MIN / -1` wraps, and division by 0 gives 0.
    fn div(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The mean of `count > 0` values with this sum. Integers are rounded down.
    fn mean(sum: Self::Acc, count: u64) -> Self::Acc;
    /// The mean of `count > 0` values with this sum. Integers are rounded toward zero.
    #[inline(always)]
    fn mean_toward_zero(sum: Self::Acc, count: u64) -> Self::Acc {
        Self::mean(sum, count)
    }
    /// The sum divided by the square root of the count. Integers and bools stay as they are.
    #[inline(always)]
    fn by_root(sum: Self::Acc, _: u64) -> Self::Acc {
        sum
    }
    #[inline(always)]
    fn widen(self) -> Self::Acc {
        self.convert()
    }
    #[inline(always)]
    fn narrow(acc: Self::Acc) -> Self {
        acc.convert()
    }
}

/// How a sum becomes a mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mean {
    /// Added to the number of updates before the division.
    pub more: u64,
    /// What the sum is divided by, given that number.
    pub divisor: Divisor,
}

/// What a sum is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divisor {
    /// The number of updates. Integers are rounded down.
    Count,
    /// The number of updates. Integers are rounded toward zero.
    CountTowardZero,
    /// The square root of the number of updates. Integers and bools stay as they are.
    Root,
}

impl Mean {
    /// The mean of a cell that `count > 0` updates were added to.
    #[inline(always)]
    pub(crate) fn of<T: Number>(self, sum: T::Acc, count: u64) -> T::Acc {
        let count = count + self.more;
        match self.divisor {
            Divisor::Count => T::mean(sum, count),
            Divisor::CountTowardZero => T::mean_toward_zero(sum, count),
            Divisor::Root => T::by_root(sum, count),
        }
    }
}

macro_rules! integers {
    ($($t:ty: |$sum:ident, $count:ident| $mean:expr, $toward_zero:expr;)*) => {$(
        impl Number for $t {
            type Acc = $t;
            const ZERO: $t = 0;
            const ONE: $t = 1;
            #[inline(always)]
            fn add(a: $t, b: $t) -> $t { a.wrapping_add(b) }
            #[inline(always)]
            fn mul(a: $t, b: $t) -> $t { a.wrapping_mul(b) }
            #[inline(always)]
            fn sub(a: $t, b: $t) -> $t { a.wrapping_sub(b) }
            #[inline(always)]
            fn div(a: $t, b: $t) -> $t { if b == 0 { 0 } else { a.wrapping_div(b) } }
            #[allow(clippy::cast_possible_truncation, clippy::cast_lossless)]
            #[inline(always)]
            fn mean($sum: $t, $count: u64) -> $t { $mean as $t }
            #[allow(clippy::cast_possible_truncation, clippy::cast_lossless)]
            #[inline(always)]
            fn mean_toward_zero($sum: $t, $count: u64) -> $t { $toward_zero as $t }
        }
    )*};
}

// A count never exceeds i64::MAX (the update space is that small); a Euclidean quotient by a
// positive divisor is the one rounded down.
integers! {
    i8: |sum, count| i64::from(sum).div_euclid(count.cast_signed()), i64::from(sum) / count.cast_signed();
    i16: |sum, count| i64::from(sum).div_euclid(count.cast_signed()), i64::from(sum) / count.cast_signed();
    i32: |sum, count| i64::from(sum).div_euclid(count.cast_signed()), i64::from(sum) / count.cast_signed();
    i64: |sum, count| sum.div_euclid(count.cast_signed()), sum / count.cast_signed();
    u8: |sum, count| u64::from(sum) / count, u64::from(sum) / count;
    u16: |sum, count| u64::from(sum) / count, u64::from(sum) / count;
    u32: |sum, count| u64::from(sum) / count, u64::from(sum) / count;
    u64: |sum, count| sum / count, sum / count;
}

macro_rules! floats {
    ($($t:ty as $acc:ty);* $(;)?) => {$(
        impl Number for $t {
            type Acc = $acc;
            const ZERO: $acc = 0.0;
            const ONE: $acc = 1.0;
            #[inline(always)]
            fn add(a: $acc, b: $acc) -> $acc { a + b }
            #[inline(always)]
            fn mul(a: $acc, b: $acc) -> $acc { a * b }
            #[inline(always)]
            fn sub(a: $acc, b: $acc) -> $acc { a - b }
            #[inline(always)]
            fn div(a: $acc, b: $acc) -> $acc { a / b }
            #[allow(clippy::cast_precision_loss)]
            #[inline(always)]
            fn mean(sum: $acc, count: u64) -> $acc { sum / (count as $acc) }
            #[allow(clippy::cast_precision_loss)]
            #[inline(always)]
            fn by_root(sum: $acc, count: u64) -> $acc { sum / (count as $acc).sqrt() }
        }
    )*};
}

floats! {
    f32 as f32;
    f64 as f64;
    f16 as f32;
    bf16 as f32;
}

macro_rules! complexes {
    ($($t:ty as $part:ty),*) => {$(
        impl Number for $t {
            type Acc = $t;
            const ZERO: $t = <$t>::new(0.0, 0.0);
            const ONE: $t = <$t>::new(1.0, 0.0);
            #[inline(always)]
            fn add(a: $t, b: $t) -> $t { a + b }
            #[inline(always)]
            fn mul(a: $t, b: $t) -> $t { a * b }
            #[inline(always)]
            fn sub(a: $t, b: $t) -> $t { a - b }
            #[inline(always)]
            fn div(a: $t, b: $t) -> $t { a / b }
            #[allow(clippy::cast_precision_loss)]
            #[inline(always)]
            fn mean(sum: $t, count: u64) -> $t {
                <$t>::new(sum.re / count as $part, sum.im / count as $part)
            }
            #[allow(clippy::cast_precision_loss)]
            #[inline(always)]
            fn by_root(sum: $t, count: u64) -> $t {
                let root = (count as $part).sqrt();
                <$t>::new(sum.re / root, sum.im / root)
            }
        }
    )*};
}

complexes!(Complex32 as f32, Complex64 as f64);

impl Number for Bool {
    type Acc = Self;
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    #[inline(always)]
    fn add(a: Self, b: Self) -> Self {
        Self(u8::from(a.get() | b.get()))
    }
    #[inline(always)]
    fn mul(a: Self, b: Self) -> Self {
        Self(u8::from(a.get() & b.get()))
    }
    // Modulo 2, as in OpenVINO.
    #[inline(always)]
    fn sub(a: Self, b: Self) -> Self {
        Self(u8::from(a.get() ^ b.get()))
    }
    // Unreachable from operators: they refuse quotients of bools.
    #[inline(always)]
    fn div(a: Self, _: Self) -> Self {
        a
    }
    #[inline(always)]
    fn mean(sum: Self, _: u64) -> Self {
        sum
    }
}

/// A type with a value that no sum of its own is, to mark cells that nothing was added to: a
/// signalling NaN, which arithmetic turns into a quiet one. See
/// [`Unset`](crate::ops::sentinel::Unset).
pub(crate) trait MaybeUnset: Number {
    const UNSET: Self;
    fn is_unset(self) -> bool;
}

macro_rules! maybe_unset {
    ($($t:ty, $bits:expr);*) => {$(
        impl MaybeUnset for $t {
            const UNSET: $t = <$t>::from_bits($bits);
            #[inline(always)]
            fn is_unset(self) -> bool { self.to_bits() == $bits }
        }
    )*};
}

// All ones in the exponent, a fraction that is not 0, and not its highest bit: that would be quiet.
maybe_unset!(f32, 0x7f91_a5c3; f64, 0x7ff1_a5c3_96f0_0f69);

/// Conversion of an element to itself or to a wider type, or of an accumulator to its element.
pub(crate) trait Convert<D>: Copy + 'static {
    /// Whether [`eight`](Self::eight) is faster than eight calls of [`convert`](Self::convert):
    /// there is an instruction for it.
    const EIGHT: bool = false;
    fn convert(self) -> D;
    #[inline(always)]
    fn eight<M: Isa>(values: [Self; 8], _: M) -> [D; 8] {
        values.map(Self::convert)
    }
}

impl<T: Copy + 'static> Convert<T> for T {
    #[inline(always)]
    fn convert(self) -> T {
        self
    }
}

impl Convert<f32> for f16 {
    const EIGHT: bool = true;
    #[inline(always)]
    fn convert(self) -> f32 {
        f16_to_f32(self)
    }
    #[inline(always)]
    fn eight<M: Isa>(values: [Self; 8], isa: M) -> [f32; 8] {
        eight_f16_to_f32(values, isa)
    }
}

impl Convert<f16> for f32 {
    const EIGHT: bool = true;
    #[inline(always)]
    fn convert(self) -> f16 {
        f32_to_f16(self)
    }
    #[inline(always)]
    fn eight<M: Isa>(values: [Self; 8], isa: M) -> [f16; 8] {
        eight_f32_to_f16(values, isa)
    }
}

macro_rules! conversions {
    ($($s:ty => $($d:ty: $how:expr),*;)*) => {$($(
        impl Convert<$d> for $s {
            #[inline(always)]
            fn convert(self) -> $d {
                let how: fn($s) -> $d = $how;
                how(self)
            }
        }
    )*)*};
}

conversions! {
    Bool =>
        i8: |v| v.get().into(), i16: |v| v.get().into(), i32: |v| v.get().into(),
        i64: |v| v.get().into(), u8: |v| v.get().into(), u16: |v| v.get().into(),
        u32: |v| v.get().into(), u64: |v| v.get().into(),
        f16: |v| if v.get() { f16::ONE } else { f16::ZERO },
        bf16: |v| if v.get() { bf16::ONE } else { bf16::ZERO },
        f32: |v| v.get().into(), f64: |v| v.get().into();
    i8 => i16: i16::from, i32: i32::from, i64: i64::from,
        f16: |v| f16::from_f32(v.into()), f32: f32::from, f64: f64::from;
    u8 => i16: i16::from, i32: i32::from, i64: i64::from,
        f16: |v| f16::from_f32(v.into()), f32: f32::from, f64: f64::from;
    i16 => i32: i32::from, i64: i64::from,
        f16: |v| f16::from_f32(v.into()), f32: f32::from, f64: f64::from;
    i32 => i64: i64::from,
        f16: |v| f16::from_f64(v.into()), f32: |v| v as f32, f64: f64::from;
    u16 => f64: f64::from;
    u32 => f64: f64::from;
    u64 => f64: |v| v as f64;
    // What f16 can hold is exact in f64; the rest is infinite either way.
    i64 => f16: |v| f16::from_f64(v as f64), f32: |v| v as f32, f64: |v| v as f64;
    f16 => f64: |v| f16_to_f32(v).into();
    bf16 => f32: bf16_to_f32, f64: |v| bf16_to_f32(v).into();
    f32 => f64: f64::from, bf16: f32_to_bf16;
}
