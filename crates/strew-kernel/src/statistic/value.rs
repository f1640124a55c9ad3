//! The types that statistics are computed in.

use crate::ops::order::{Compared, first_nan_replaces};
use crate::statistic::cell::Cell;
use crate::statistic::point::Point;
use crate::statistic::select::Bits;
use crate::tensor::Element;
use num_complex::Complex64;
use std::ops::Not;

/// A type that values are computed in.
pub trait Value: Element + Compared + Cell + PartialEq {
    const COMPLEX: bool;
    /// Means are sums of the type itself.
    const FLOAT: bool;
    const ZERO: Self;
    const ONE: Self;
    /// No value is less.
    const LOWEST: Self;
    /// No value is greater.
    const HIGHEST: Self;
    /// The sum that means are made of. Integers do not wrap in it.
    type Total: Cell;
    /// The sum of no values.
    const NOTHING: Self::Total;
    /// What variances are made of: a real number, or a complex one.
    type Point: Point + Cell;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The square, of complex numbers that of the magnitude.
    fn square(self) -> Self;
    /// Stands for the value in comparisons: NaN last, complex numbers by their real parts first.
    type Key: Bits + Not<Output = Self::Key> + Send + Sync;
    fn key(self) -> Self::Key;
    /// A value with this key.
    fn of_key(key: Self::Key) -> Self;
    /// Whether [`of_key`](Self::of_key) of its key has its bits: not if it is NaN or has a -0.0.
    fn is_its_key(self) -> bool;
    /// Whether one of the values is NaN, and whether each [is its key](Self::is_its_key).
    fn are_their_keys(all: &[Self]) -> (bool, bool) {
        let nan = all.iter().fold(false, |nan, value| nan | value.nan());
        (
            nan,
            all.iter().fold(true, |are, value| are & value.is_its_key()),
        )
    }
    /// The lesser of two, the first if neither is; NaN is stronger.
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        let wins = first_nan_replaces::<Self, false>(other, self);
        if wins { other } else { self }
    }
    /// The greater of two, as `lesser` has it.
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        let wins = first_nan_replaces::<Self, true>(other, self);
        if wins { other } else { self }
    }
    /// The sum of the value and a total.
    fn add_to(self, total: Self::Total) -> Self::Total;
    fn add_totals(a: Self::Total, b: Self::Total) -> Self::Total;
    /// The mean of `count` values with this total; NaN of none.
    fn mean_of(total: Self::Total, count: u64) -> Complex64;
    fn complex(self) -> Complex64;
    /// The difference from a point, rounded once.
    fn apart(self, from: Self::Point) -> Self::Point;
    fn of(value: Complex64) -> Self;
    /// The real and the imaginary part; of a real number two whose sum it is exactly, the second
    /// one mostly 0.
    fn pieces(self) -> [f64; 2];
    /// The values as `f64`, if that is what they are.
    fn floats(_all: &[Self]) -> Option<&[f64]> {
        None
    }
    /// Writes values as elements of their own type.
    fn write_all(values: &[Self], cells: &mut [u8]);
}

macro_rules! eight_bytes {
    () => {
        fn write_all(values: &[Self], cells: &mut [u8]) {
            let (cells, _) = cells.as_chunks_mut();
            for (cell, value) in cells.iter_mut().zip(values) {
                *cell = value.to_ne_bytes();
            }
        }
    };
}

/// The bit that is the sign of a float, and that makes signed integers unsigned.
const SIGN: u64 = 1 << 63;

macro_rules! integers {
    ($($t:ty, $flip:expr, |$value:ident| $fits:expr);*) => {$(
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        impl Value for $t {
            const COMPLEX: bool = false;
            const FLOAT: bool = false;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = Self::MIN;
            const HIGHEST: Self = Self::MAX;
            type Total = i128;
            const NOTHING: i128 = 0;
            type Point = f64;
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn square(self) -> Self { self.wrapping_mul(self) }
            type Key = u64;
            fn key(self) -> u64 { self as u64 ^ $flip }
            fn of_key(key: u64) -> Self { (key ^ $flip) as Self }
            fn is_its_key(self) -> bool { true }
            fn are_their_keys(_: &[Self]) -> (bool, bool) { (false, true) }
            fn add_to(self, total: i128) -> i128 { total.wrapping_add(self.into()) }
            fn add_totals(a: i128, b: i128) -> i128 { a.wrapping_add(b) }
            fn mean_of(total: i128, count: u64) -> Complex64 {
                match count {
                    0 => f64::NAN.into(),
                    count => (total as f64 / count as f64).into(),
                }
            }
            fn complex(self) -> Complex64 { (self as f64).into() }
            #[inline(always)]
            fn apart(self, from: f64) -> f64 {
                let $value = self;
                match $fits {
                    true => self as f64 - from,
                    false => (i128::from(self) - from as i128) as f64,
                }
            }
            fn of(value: Complex64) -> Self { value.re as Self }
            fn pieces(self) -> [f64; 2] {
                let $value = self;
                if $fits {
                    return [self as f64, 0.0];
                }
                let high = self >> 32 << 32;
                [high as f64, (self - high) as f64]
            }
            eight_bytes!();
        }
    )*};
}

// Floats hold integers up to 2^53.
integers!(
    i64, SIGN, |value| value.wrapping_add(1 << 53).cast_unsigned() <= 1 << 54;
    u64, 0, |value| value <= 1 << 53
);

impl Value for f64 {
    const COMPLEX: bool = false;
    const FLOAT: bool = true;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const LOWEST: Self = Self::NEG_INFINITY;
    const HIGHEST: Self = Self::INFINITY;
    type Total = Self;
    const NOTHING: Self = 0.0;
    type Point = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }
    fn mul(self, other: Self) -> Self {
        self * other
    }
    fn square(self) -> Self {
        self * self
    }
    type Key = u64;
    #[inline(always)]
    fn key(self) -> u64 {
        // 0.0 and -0.0 are equal.
        let bits = (self + 0.0).to_bits();
        let negative = (bits.cast_signed() >> 63).cast_unsigned();
        match self.is_nan() {
            true => u64::MAX,
            false => bits ^ (negative | SIGN),
        }
    }
    #[inline(always)]
    fn of_key(key: u64) -> Self {
        let positive = (key.cast_signed() >> 63).cast_unsigned();
        Self::from_bits(key ^ (!positive | SIGN))
    }
    #[inline(always)]
    fn is_its_key(self) -> bool {
        !self.is_nan() & (self.to_bits() != SIGN)
    }
    fn add_to(self, total: Self) -> Self {
        total + self
    }
    fn add_totals(a: Self, b: Self) -> Self {
        a + b
    }
    #[allow(clippy::cast_precision_loss)]
    fn mean_of(total: Self, count: u64) -> Complex64 {
        match count {
            0 => Self::NAN.into(),
            count => (total / count as Self).into(),
        }
    }
    fn complex(self) -> Complex64 {
        self.into()
    }
    #[inline(always)]
    fn apart(self, from: Self) -> Self {
        self - from
    }
    fn of(value: Complex64) -> Self {
        value.re
    }
    #[inline(always)]
    fn pieces(self) -> [f64; 2] {
        [self, 0.0]
    }
    fn are_their_keys(all: &[Self]) -> (bool, bool) {
        // By the highest bits of integers, which the oldest vector instructions compute: a NaN is
        // beyond infinity, and what is subtracted from 0 has another sign unless it is 0.
        let (mut nan, mut no_zero) = (0, SIGN);
        for value in all {
            let apart = value.to_bits() ^ SIGN;
            nan |= Self::INFINITY
                .to_bits()
                .wrapping_sub(value.to_bits() & !SIGN);
            no_zero &= apart | apart.wrapping_neg();
        }
        let nan = nan & SIGN != 0;
        (nan, !nan & (no_zero & SIGN != 0))
    }
    fn floats(all: &[Self]) -> Option<&[f64]> {
        Some(all)
    }
    eight_bytes!();
}

impl Value for Complex64 {
    const COMPLEX: bool = true;
    const FLOAT: bool = false;
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;
    const LOWEST: Self = Self::new(f64::NEG_INFINITY, f64::NEG_INFINITY);
    const HIGHEST: Self = Self::new(f64::INFINITY, f64::INFINITY);
    type Total = Self;
    const NOTHING: Self = Self::ZERO;
    type Point = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }
    fn mul(self, other: Self) -> Self {
        self * other
    }
    fn square(self) -> Self {
        (self.re * self.re + self.im * self.im).into()
    }
    type Key = u128;
    fn key(self) -> u128 {
        match self.nan() {
            true => u128::MAX,
            false => u128::from(self.re.key()) << 64 | u128::from(self.im.key()),
        }
    }
    #[allow(clippy::cast_possible_truncation)]
    fn of_key(key: u128) -> Self {
        Self::new(f64::of_key((key >> 64) as u64), f64::of_key(key as u64))
    }
    fn is_its_key(self) -> bool {
        self.re.is_its_key() & self.im.is_its_key()
    }
    fn add_to(self, total: Self) -> Self {
        total + self
    }
    fn add_totals(a: Self, b: Self) -> Self {
        a + b
    }
    #[allow(clippy::cast_precision_loss)]
    fn mean_of(total: Self, count: u64) -> Complex64 {
        Self::new(total.re / count as f64, total.im / count as f64)
    }
    fn complex(self) -> Complex64 {
        self
    }
    #[inline(always)]
    fn apart(self, from: Self) -> Self {
        self - from
    }
    fn of(value: Complex64) -> Self {
        value
    }
    fn pieces(self) -> [f64; 2] {
        [self.re, self.im]
    }
    fn write_all(values: &[Self], cells: &mut [u8]) {
        let (cells, _) = cells.as_chunks_mut::<16>();
        for (cell, value) in cells.iter_mut().zip(values) {
            let (re, im) = cell.split_at_mut(8);
            re.copy_from_slice(&value.re.to_ne_bytes());
            im.copy_from_slice(&value.im.to_ne_bytes());
        }
    }
}
