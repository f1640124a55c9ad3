//! Numbers that are longer than any float, and their rounding to one.
//!
//! A sum or a mean is rounded once: to the nearest number of the result's format, and of two to the
//! one whose last bit is zero, as IEEE 754 says.

/// Binary exponent of the lowest bit of a float64: that of the smallest subnormal number.
pub(crate) const LOWEST: i32 = -1074;

/// The mask of a float64's fraction bits.
pub(crate) const FRACTION: u64 = (1 << 52) - 1;

/// The bit above the fraction, which normal numbers have and do not store.
pub(crate) const IMPLICIT: u64 = 1 << 52;

/// The exponent field of NaN and infinities.
pub(crate) const SPECIAL: u64 = 0x7ff;

/// A binary floating-point format with subnormal numbers and infinities, as IEEE 754 defines them.
/// All its numbers are float64 numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of a normal number's mantissa, the implicit one included.
    pub(crate) digits: u32,
    /// Exponent of the smallest normal number.
    pub(crate) min_exponent: i32,
    /// Exponent of the largest finite number.
    pub(crate) max_exponent: i32,
}

impl Format {
    /// IEEE binary64.
    pub const F64: Self = Self::ieee(53, 1023);
    /// IEEE binary32.
    pub const F32: Self = Self::ieee(24, 127);
    /// IEEE binary16.
    pub const F16: Self = Self::ieee(11, 15);
    /// The upper half of binary32.
    pub const BF16: Self = Self::ieee(8, 127);

    /// A format whose exponents have IEEE's bias.
    const fn ieee(digits: u32, max_exponent: i32) -> Self {
        Self {
            digits,
            min_exponent: 1 - max_exponent,
            max_exponent,
        }
    }
}

/// A number that is not zero: `±(high + f) * 2^exponent` with 0 <= f < 1.
///
/// The highest bit of `high` is set.
pub(crate) struct Number {
    pub(crate) negative: bool,
    pub(crate) high: u128,
    pub(crate) exponent: i32,
    /// Whether f is above 0.
    pub(crate) rest: bool,
}

impl Number {
    /// `integer * 2^exponent`. `None` for zero.
    pub(crate) fn new(integer: i128, exponent: i32) -> Option<Self> {
        let magnitude = integer.unsigned_abs();
        let zeros = magnitude.leading_zeros();
        (magnitude != 0).then(|| Self {
            negative: integer < 0,
            high: magnitude << zeros,
            exponent: exponent - zeros as i32,
            rest: false,
        })
    }

    /// The quotient by a count that is not zero.
    ///
    /// It keeps at least 64 bits in front of the rest, because the dividend has 128 and the count
    /// at most 64. Since (high + f) / count has the integer part of high / count, the rest of the
    /// quotient is zero only if the remainder and f are.
    pub(crate) fn divide(self, count: u64) -> Self {
        let count = u128::from(count);
        let quotient = self.high / count;
        let zeros = quotient.leading_zeros();
        Self {
            negative: self.negative,
            high: quotient << zeros,
            exponent: self.exponent - zeros as i32,
            rest: self.rest || !self.high.is_multiple_of(count),
        }
    }

    /// The nearest number of a format. Of two, the one whose last bit is zero.
    ///
    /// Needs the first 55 bits of the number and whether any lower bit is set. A quotient has 64.
    pub(crate) fn round(&self, format: Format) -> f64 {
        // Exponents of the number's first bit and of the last bit that the result keeps.
        let first = self.exponent + 127;
        let last = first.max(format.min_exponent) - (format.digits as i32 - 1);
        let kept = match u32::try_from(last - self.exponent).unwrap_or(0) {
            cut @ 1..=127 => {
                let kept = (self.high >> cut) as u64;
                let below = self.high << (128 - cut);
                let half = 1 << 127;
                let above = below > half || below == half && (self.rest || kept & 1 == 1);
                kept + u64::from(above)
            }
            // The first bit is half of the last one that is kept.
            128 => u64::from(self.high > 1 << 127 || self.rest),
            _ => 0,
        };
        let sign = u64::from(self.negative) << 63;
        if kept == 0 {
            return f64::from_bits(sign);
        }
        let first = last + kept.ilog2() as i32;
        if first > format.max_exponent {
            return f64::from_bits(sign | SPECIAL << 52);
        }
        let bits = if first >= 1 - 1023 {
            // A carry out of the top gives 2^53, which loses a zero here.
            let fraction = if kept > FRACTION + IMPLICIT {
                0
            } else {
                kept << (52 - kept.ilog2()) & FRACTION
            };
            ((first + 1023) as u64) << 52 | fraction
        } else {
            kept << (last - LOWEST)
        };
        f64::from_bits(sign | bits)
    }
}
