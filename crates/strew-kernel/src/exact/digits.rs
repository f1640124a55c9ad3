//! An exact sum as digits: multiples of powers of 2^32.
//!
//! ```text
//! sum = sum over p of entry[p] * 2^(32 p - 1074)
//! ```
//!
//! An entry is a signed integer of 64 bits, so that many values can be added before a carry is due.

use crate::exact::number::{FRACTION, IMPLICIT, LOWEST, Number, SPECIAL};
use std::ops::Range;

/// Number of planes. Finite values have bits in the first 66. The other two hold the carries of up
/// to 2^63 additions.
pub const PLANES: usize = 68;

/// Additions that may pass between two carries. A piece is below 2^32, so that the sums of a plane
/// stay below 2^62.
pub(crate) const LIMIT: u64 = 1 << 30;

/// Flag of a cell to which a NaN was added.
pub(crate) const NAN: u8 = 1;
/// Flag of a cell to which +infinity was added.
pub(crate) const PLUS_INFINITY: u8 = 2;
/// Flag of a cell to which -infinity was added.
pub(crate) const MINUS_INFINITY: u8 = 4;

/// The number of the first plane that a finite value has bits in, and what is added to the entries
/// there and in the next two.
#[inline(always)]
pub(crate) fn pieces(value: f64) -> Option<(usize, [i64; 3])> {
    let bits = value.to_bits();
    let exponent = bits >> 52 & SPECIAL;
    if exponent == SPECIAL {
        return None;
    }
    let mantissa = bits & FRACTION | if exponent == 0 { 0 } else { IMPLICIT };
    // Finite values have exponents up to 2046, and therefore first planes up to 63.
    let position = exponent.max(1) - 1;
    let shifted = u128::from(mantissa) << (position % 32);
    let sign = bits as i64 >> 63;
    let piece = |piece: u32| (i64::from(piece) ^ sign) - sign;
    let pieces = [
        shifted as u32,
        (shifted >> 32) as u32,
        (shifted >> 64) as u32,
    ];
    Some(((position / 32) as usize, pieces.map(piece)))
}

/// The flag of a value that is not finite.
pub(crate) fn flag_of(value: f64) -> u8 {
    if value.is_nan() {
        NAN
    } else if value > 0.0 {
        PLUS_INFINITY
    } else {
        MINUS_INFINITY
    }
}

/// The result of a cell with these flags, unless it is finite.
pub(crate) fn special(flags: u8) -> Option<f64> {
    match flags {
        0 => None,
        PLUS_INFINITY => Some(f64::INFINITY),
        MINUS_INFINITY => Some(f64::NEG_INFINITY),
        _ => Some(f64::NAN),
    }
}

/// The sum whose entries outside the touched planes are zero. `None` for zero.
pub(crate) fn number_of(entry: impl Fn(usize) -> i64, mut touched: Range<usize>) -> Option<Number> {
    while touched.len() > 3 && entry(touched.start) == 0 {
        touched.start += 1;
    }
    while touched.len() > 3 && entry(touched.end - 1) == 0 {
        touched.end -= 1;
    }
    let exponent = LOWEST + 32 * touched.start as i32;
    if touched.len() > 3 {
        return long_number(entry, touched);
    }
    // Entries are at most 2^62, so that three of them fit.
    let sum = touched
        .rev()
        .fold(0i128, |sum, number| (sum << 32) + i128::from(entry(number)));
    Number::new(sum, exponent)
}

/// [`number_of`] more planes than three.
#[inline(never)]
fn long_number(entry: impl Fn(usize) -> i64, touched: Range<usize>) -> Option<Number> {
    // Digits of 32 bits, the lowest first, in two's complement. Two more take the last carry.
    let mut digits = [0u32; PLANES + 2];
    let low = touched.start;
    let len = (touched.len() + 2).min(digits.len());
    let mut carry = 0i64;
    for (number, digit) in (low..).zip(&mut digits[..len]) {
        let entry = if touched.contains(&number) {
            entry(number)
        } else {
            0
        };
        let sum = carry.wrapping_add(entry);
        *digit = sum as u32;
        carry = sum >> 32;
    }
    let negative = carry < 0;
    if negative {
        let mut add = true;
        for digit in &mut digits[..len] {
            (*digit, add) = (!*digit).overflowing_add(u32::from(add));
        }
    }
    let top = digits.iter().rposition(|&digit| digit != 0)?;
    let digit = |below: usize| top.checked_sub(below).map_or(0, |place| digits[place]);
    let four = (0..4).fold(0, |high, below| high << 32 | u128::from(digit(below)));
    // The first bit of the fifth digit follows the last bit of the four.
    let zeros = four.leading_zeros();
    let fifth = u64::from(digit(4)) << zeros;
    let lower = digits[..top.saturating_sub(4)]
        .iter()
        .any(|&digit| digit != 0);
    Some(Number {
        negative,
        high: four << zeros | u128::from(fifth >> 32),
        exponent: LOWEST + 32 * (low as i32 + top as i32 - 3) - zeros as i32,
        rest: fifth as u32 != 0 || lower,
    })
}

/// What a carry takes from an entry: the nearest multiple of 2^32, in units of 2^32.
#[inline(always)]
pub(crate) fn carry_of(entry: i64) -> i64 {
    entry.wrapping_add(1 << 31) >> 32
}
