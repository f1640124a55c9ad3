//! Variances of exact sums: quotients of large integers, rounded once.
//!
//! ```text
//! variance = (n * sum of squares - sum^2) / (n * (n - ddof))
//! ```
//!
//! Numerator and denominator are integers by a power of two, so nothing is rounded before the end.
//! A square root is the integer root of 256 bits or more, which gives the first 128 bits of it.

use crate::exact::digits::PLANES;
use crate::exact::number::{FRACTION, Format, IMPLICIT, LOWEST, Number, SPECIAL};
use num_bigint::{BigInt, BigUint, Sign};

/// `integer * 2^exponent`.
#[derive(Clone)]
pub(crate) struct Scaled {
    integer: BigInt,
    exponent: i64,
}

impl Scaled {
    pub(crate) fn zero() -> Self {
        Self {
            integer: BigInt::ZERO,
            exponent: 0,
        }
    }

    /// The sum with these [entries](crate::exact::digits), multiplied by 2^`shift`.
    pub(crate) fn of(entries: &[i64; PLANES], shift: i64) -> Self {
        let low = entries.iter().position(|&entry| entry != 0);
        let (Some(low), Some(high)) = (low, entries.iter().rposition(|&entry| entry != 0)) else {
            return Self::zero();
        };
        // After a carry each entry but the last has at most 32 bits beside its sign.
        let digits = |wanted: Sign| -> Vec<u32> {
            let of = |&entry: &i64| match (entry < 0, wanted) {
                (true, Sign::Minus) | (false, Sign::Plus) => entry.unsigned_abs(),
                _ => 0,
            };
            let last = (of(&entries[high]) >> 32) as u32;
            let all = entries[low..=high].iter().map(|entry| of(entry) as u32);
            all.chain([last]).collect()
        };
        let part = |sign| BigInt::from_slice(sign, &digits(sign));
        Self {
            integer: part(Sign::Plus) + part(Sign::Minus),
            exponent: i64::from(LOWEST) + 32 * low as i64 + shift,
        }
    }

    /// A finite number.
    pub(crate) fn of_float(value: f64) -> Self {
        let bits = value.to_bits();
        let field = bits >> 52 & SPECIAL;
        let mantissa = bits & FRACTION | if field == 0 { 0 } else { IMPLICIT };
        let sign = if value < 0.0 { Sign::Minus } else { Sign::Plus };
        Self {
            integer: BigInt::from_biguint(sign, mantissa.into()),
            exponent: i64::from(LOWEST) + field.max(1) as i64 - 1,
        }
    }

    pub(crate) fn of_count(count: u64) -> Self {
        Self {
            integer: count.into(),
            exponent: 0,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let aligned = |one: Self| one.integer << (one.exponent - exponent);
        Self {
            integer: aligned(self) + aligned(other),
            exponent,
        }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self {
            integer: -other.integer,
            exponent: other.exponent,
        })
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self {
            integer: &self.integer * &other.integer,
            exponent: self.exponent + other.exponent,
        }
    }

    pub(crate) fn is_positive(&self) -> bool {
        self.integer.sign() == Sign::Plus
    }

    /// The number by another one, or the square root of that, as the nearest number of a format.
    /// It is not negative, and the other one is positive.
    pub(crate) fn divided(&self, by: &Self, root: bool, format: Format) -> f64 {
        let (over, under) = (self.integer.magnitude(), by.integer.magnitude());
        if !self.is_positive() {
            return 0.0;
        }
        let mut exponent = self.exponent - by.exponent;
        // These bits of the quotient give 128 of the result.
        let wanted = if root { 256 } else { 128 };
        let mut shift = wanted + under.bits() as i64 - over.bits() as i64;
        if root && (exponent - shift) % 2 != 0 {
            shift += 1;
        }
        exponent -= shift;
        let (over, under) = match shift >= 0 {
            true => (over << shift, under.clone()),
            false => (over.clone(), under << -shift),
        };
        let mut quotient = &over / &under;
        let mut rest = &quotient * &under != over;
        if root {
            let square = quotient;
            quotient = square.sqrt();
            rest |= &quotient * &quotient != square;
            exponent /= 2;
        }
        let below = quotient.bits().saturating_sub(128);
        rest |= quotient.trailing_zeros().is_some_and(|zeros| zeros < below);
        let number = Number {
            negative: false,
            high: low_128(&(quotient >> below)),
            exponent: (exponent + below as i64) as i32,
            rest,
        };
        number.round(format)
    }
}

/// The number that the last 128 bits make.
fn low_128(number: &BigUint) -> u128 {
    let digits = number.iter_u64_digits().take(2);
    digits
        .zip([0, 64])
        .fold(0, |all, (digit, at)| all | u128::from(digit) << at)
}

#[cfg(test)]
mod tests {
    use super::Scaled;
    use crate::exact::number::Format;

    fn quotient(over: f64, under: f64, root: bool) -> f64 {
        let (over, under) = (Scaled::of_float(over), Scaled::of_float(under));
        over.divided(&under, root, Format::F64)
    }

    #[test]
    fn quotients_and_roots_are_those_of_the_processor() {
        let mut state = 1u64;
        let mut value = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits((state >> 12) | (1023 - 200 + (state % 400)) << 52)
        };
        for _ in 0..20_000 {
            let (over, under) = (value(), value());
            assert_eq!(quotient(over, under, false), over / under);
            assert_eq!(quotient(over, 1.0, true), over.sqrt());
        }
        assert_eq!(quotient(f64::MAX, f64::MIN_POSITIVE, false), f64::INFINITY);
        assert_eq!(quotient(f64::from_bits(1), 4.0, false), 0.0);
        assert_eq!(quotient(f64::from_bits(3), 2.0, false), f64::from_bits(2));
        assert_eq!(quotient(f64::from_bits(4), 1.0, true), 2f64.powi(-536));
        assert_eq!(quotient(0.0, 3.0, true), 0.0);
    }
}
