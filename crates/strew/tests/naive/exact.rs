//! Sums and means of floats that are rounded once, digit by digit.

use super::number::{Num, read, write};
use super::{Array, Outcome, coordinates};
use strew::DType;

/// Binary digits, the lowest first. Digit `n` counts 2^(n - 1074).
const DIGITS: usize = 2300;

/// A sum of floats as binary digits, which may be of any size and sign until they are carried.
struct Sum {
    digits: Vec<i64>,
    /// The sum of NaN and infinities.
    special: Option<f64>,
}

/// A format: digits of the fraction, lowest and highest exponent.
#[derive(Clone, Copy)]
struct Format {
    fraction: i32,
    least: i32,
    most: i32,
}

impl Sum {
    fn of(values: &[f64]) -> Self {
        let mut sum = Self {
            digits: vec![0; DIGITS],
            special: None,
        };
        for &value in values {
            if !value.is_finite() {
                sum.special = Some(sum.special.unwrap_or(0.0) + value);
                continue;
            }
            let bits = value.abs().to_bits();
            let (field, fraction) = ((bits >> 52) as usize, bits & ((1 << 52) - 1));
            let (mantissa, lowest) = match field {
                0 => (fraction, 0),
                _ => (fraction | 1 << 52, field - 1),
            };
            for n in 0..53 {
                let digit = (mantissa >> n & 1) as i64;
                sum.digits[lowest + n] += if value < 0.0 { -digit } else { digit };
            }
        }
        sum
    }

    /// Makes all digits 0 or 1; returns what is left of the last one.
    fn carry(&mut self) -> i64 {
        let mut carry = 0;
        for digit in &mut self.digits {
            let sum = *digit + carry;
            (*digit, carry) = (sum.rem_euclid(2), sum.div_euclid(2));
        }
        carry
    }

    /// The sum divided by `count`, rounded to nearest, ties to even.
    fn divided(mut self, count: u64, format: Format) -> f64 {
        if let Some(special) = self.special {
            return special;
        }
        let negative = self.carry() < 0;
        if negative {
            self.digits.iter_mut().for_each(|digit| *digit = -*digit);
            // The digits were those of the sum plus 2^DIGITS.
            assert_eq!(self.carry(), -1);
        }
        // Long division, to 100 digits behind the lowest one.
        let mut rest = 0u128;
        let mut quotient = Vec::new();
        for place in (-100..DIGITS as i32).rev() {
            let digit = usize::try_from(place).map_or(0, |place| self.digits[place]);
            rest = rest * 2 + digit as u128;
            quotient.push((place - 1074, rest >= count.into()));
            rest %= u128::from(count);
        }
        let Some(first) = quotient.iter().find(|(_, one)| *one) else {
            return if negative { -0.0 } else { 0.0 };
        };
        let last = first.0.max(format.least) - format.fraction;
        let mut kept = 0u64;
        for &(_, one) in quotient.iter().filter(|(place, _)| *place >= last) {
            kept = kept * 2 + u64::from(one);
        }
        let half = quotient
            .iter()
            .any(|&(place, one)| place == last - 1 && one);
        let below = quotient.iter().any(|&(place, one)| place < last - 1 && one) || rest > 0;
        kept += u64::from(half && (below || kept % 2 == 1));
        // Two products, as the power alone may be no normal number.
        let size = match last < -500 {
            true => kept as f64 * power(last + 600) * power(-600),
            false => kept as f64 * power(last),
        };
        let highest = (2.0 - power(-format.fraction)) * power(format.most);
        let size = if size > highest { f64::INFINITY } else { size };
        if negative { -size } else { size }
    }
}

/// 2 to the power `e`, which may be infinite.
fn power(e: i32) -> f64 {
    2f64.powi(e)
}

/// The sum of values divided by `count`, as an element of a float type.
fn rounded(dtype: DType, values: &[f64], count: u64) -> Num {
    let format = |fraction, most| Format {
        fraction,
        least: 1 - most,
        most,
    };
    let of = |format| Sum::of(values).divided(count, format);
    match dtype {
        DType::F64 => Num::F64(of(format(52, 1023))),
        DType::F16 => Num::F32(of(format(10, 15)) as f32),
        DType::BF16 => Num::F32(of(format(7, 127)) as f32),
        _ => Num::F32(of(format(23, 127)) as f32),
    }
}

/// The parts of an element: one, or those of a complex number.
fn parts(dtype: DType, bits: u128) -> Vec<f64> {
    match read(dtype, bits) {
        Num::F32(value) => vec![value.into()],
        Num::F64(value) => vec![value],
        Num::C32(parts) => parts.map(f64::from).to_vec(),
        Num::C64(parts) => parts.to_vec(),
        other => panic!("{other:?} is exact anyway"),
    }
}

/// `torch.scatter_reduce` by the exact sum or mean. Arrays have a dimension.
pub(crate) fn scatter_reduce(
    input: &Array,
    dim: usize,
    index: &Array,
    src: &Array,
    mean: bool,
    include_self: bool,
) -> Outcome {
    let dtype = input.dtype;
    let mut out = Outcome::untouched(input.clone());
    let mut all: Vec<Vec<u128>> = vec![Vec::new(); input.data.len()];
    for c in coordinates(&index.shape) {
        let mut cell = c.clone();
        cell[dim] = index.int(index.flat(&c)) as usize;
        all[input.flat(&cell)].push(src.data[src.flat(&c)]);
    }
    for (cell, mut values) in all.into_iter().enumerate() {
        if values.is_empty() {
            continue;
        }
        out.touched[cell] = true;
        if include_self {
            values.push(input.data[cell]);
        }
        let count = if mean { values.len() as u64 } else { 1 };
        let parts: Vec<Vec<f64>> = values.iter().map(|&bits| parts(dtype, bits)).collect();
        let part = |n: usize, dtype| {
            let values: Vec<f64> = parts.iter().map(|parts| parts[n]).collect();
            rounded(dtype, &values, count)
        };
        let made = match dtype {
            DType::C64 => match (part(0, DType::F32), part(1, DType::F32)) {
                (Num::F32(re), Num::F32(im)) => Num::C32([re, im]),
                other => panic!("{other:?}"),
            },
            DType::C128 => match (part(0, DType::F64), part(1, DType::F64)) {
                (Num::F64(re), Num::F64(im)) => Num::C64([re, im]),
                other => panic!("{other:?}"),
            },
            real => part(0, real),
        };
        out.array.data[cell] = write(dtype, made);
    }
    out
}

#[test]
fn exact_sums_are_those_of_integers() {
    let sum = |values: &[f64]| {
        Sum::of(values).divided(
            1,
            Format {
                fraction: 52,
                least: -1022,
                most: 1023,
            },
        )
    };
    assert_eq!(sum(&[0.1; 10]), 1.0);
    assert_eq!(sum(&[1e300, 1.0, -1e300]), 1.0);
    assert_eq!(sum(&[5e-324, 5e-324, -1.5e-323]), -5e-324);
    assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
    assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
}
