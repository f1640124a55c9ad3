//! Sums as plain large integers, and values to test with.

use crate::exact::number::Format;

/// The formats of results.
pub(crate) const FORMATS: [Format; 4] = [Format::F64, Format::F32, Format::F16, Format::BF16];

/// Limbs of 32 bits: more than any sum of a test has.
const LIMBS: usize = 74;

/// 2^exponent, from 2^-1074 on.
pub(crate) fn power(exponent: i32) -> f64 {
    if exponent < -1022 {
        f64::from_bits(1 << (exponent + 1074))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

/// A sum: an integer in two's complement that counts 2^-1074, and the special values.
#[derive(Clone)]
pub(crate) struct Big {
    limbs: [u32; LIMBS],
    nan: bool,
    plus: bool,
    minus: bool,
}

impl Default for Big {
    fn default() -> Self {
        Self {
            limbs: [0; LIMBS],
            nan: false,
            plus: false,
            minus: false,
        }
    }
}

impl Big {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.nan = true;
        } else if value.is_infinite() {
            self.plus |= value > 0.0;
            self.minus |= value < 0.0;
        } else {
            let bits = value.abs().to_bits();
            let (field, fraction) = ((bits >> 52) as usize, (bits & (u64::MAX >> 12)) as i128);
            let (mantissa, position) = if field == 0 {
                (fraction, 0)
            } else {
                (fraction + (1 << 52), field - 1)
            };
            let sign = if value < 0.0 { -1 } else { 1 };
            self.add_integer(sign * mantissa, position);
        }
    }

    /// Adds `integer * 2^position` limb by limb.
    pub(crate) fn add_integer(&mut self, integer: i128, position: usize) {
        let mut carry = 0i128;
        let mut rest = integer << (position % 32);
        for limb in &mut self.limbs[position / 32..] {
            let sum = i128::from(*limb) + (rest & 0xffff_ffff) + carry;
            rest >>= 32;
            *limb = sum as u32;
            carry = sum >> 32;
        }
    }

    /// Adds the sum to itself.
    pub(crate) fn double(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs {
            (*limb, carry) = (*limb << 1 | carry, *limb >> 31);
        }
    }

    /// The sum divided by a count, rounded bit by bit to a format.
    pub(crate) fn divide(&self, count: u64, format: Format) -> f64 {
        let Format {
            digits,
            min_exponent: least,
            max_exponent: most,
        } = format;
        if self.nan || self.plus && self.minus {
            return f64::NAN;
        }
        if self.plus || self.minus {
            return if self.plus {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            };
        }
        let negative = self.limbs[LIMBS - 1] >> 31 == 1;
        let mut limbs = self.limbs;
        if negative {
            let mut carry = 1u64;
            for limb in &mut limbs {
                let sum = u64::from(!*limb) + carry;
                (*limb, carry) = (sum as u32, sum >> 32);
            }
        }
        let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else {
            return 0.0;
        };
        // Long division, bit by bit, to 160 bits behind the point of the integer.
        let mut rest = 0u128;
        let mut started = false;
        let mut kept = 0u64;
        let mut last = 0;
        let mut half = false;
        let mut lower = false;
        for place in (-160..32 * (top as i32 + 1)).rev() {
            let bit = place >= 0 && limbs[place as usize / 32] >> (place % 32) & 1 == 1;
            rest = rest * 2 + u128::from(bit);
            let bit = rest >= u128::from(count);
            if bit {
                rest -= u128::from(count);
            }
            let exponent = place - 1074;
            if !started && (bit || exponent < least - digits as i32 + 1) {
                started = true;
                last = exponent.max(least) - digits as i32 + 1;
            }
            if started {
                if exponent >= last {
                    kept = kept * 2 + u64::from(bit);
                } else if exponent == last - 1 {
                    half = bit;
                } else {
                    lower |= bit;
                }
            }
        }
        lower |= rest != 0;
        if half && (lower || kept % 2 == 1) {
            kept += 1;
        }
        // Two factors, because the power alone may be too small.
        let magnitude = if last >= -1022 {
            kept as f64 * power(last.min(960)) * power((last - 960).max(0))
        } else {
            kept as f64 * power(last)
        };
        let largest = if most == 1023 {
            f64::MAX
        } else {
            power(most + 1)
        };
        let magnitude =
            if most == 1023 && magnitude > largest || most < 1023 && magnitude >= largest {
                f64::INFINITY
            } else {
                magnitude
            };
        if negative { -magnitude } else { magnitude }
    }
}

/// Random numbers: SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A number between 0 and 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) * power(-53)
    }

    /// A number of the normal distribution.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Brings pairs into a random order.
    pub(crate) fn shuffle<A, B>(&mut self, a: &mut [A], b: &mut [B]) {
        for last in (1..a.len()).rev() {
            let other = self.below(last + 1);
            a.swap(last, other);
            b.swap(last, other);
        }
    }
}

/// A name and how to make a value.
pub(crate) type Kind = (&'static str, fn(&mut Random) -> f64);

/// Kinds of values.
pub(crate) fn kinds() -> Vec<Kind> {
    vec![
        ("bits", |r| {
            let value = f64::from_bits(r.next());
            if value.is_finite() { value } else { 1.0 }
        }),
        ("bits and special values", |r| match r.below(300) {
            0 => f64::NAN,
            1 | 2 => f64::INFINITY,
            3 | 4 => f64::NEG_INFINITY,
            _ => f64::from_bits(r.next()),
        }),
        ("float32 bits", |r| {
            f64::from(f32::from_bits(r.next() as u32 & !(1 << 30)))
        }),
        ("float16", |r| {
            r.below(4095) as f64 * power(r.below(20) as i32 - 24)
        }),
        ("uniform float32", |r| f64::from(r.uniform() as f32)),
        ("normal float32", |r| f64::from(r.normal() as f32)),
        ("normal", |r| r.normal()),
        ("many magnitudes", |r| {
            let value = (8.0 * r.normal()).exp();
            if r.below(2) == 0 { value } else { -value }
        }),
        ("many magnitudes of float32", |r| {
            f64::from(((8.0 * r.normal()).exp() as f32) * if r.below(2) == 0 { 1.0 } else { -1.0 })
        }),
        ("subnormal", |r| {
            f64::from_bits(r.next() & (1 << 63 | u64::MAX >> 10 >> r.below(50)))
        }),
        ("huge", |r| {
            f64::from_bits(r.next() | 0x7fc0 << 48).clamp(f64::MIN, f64::MAX)
        }),
        ("largest", |r| {
            if r.below(2) == 0 { f64::MAX } else { -f64::MAX }
        }),
        ("around float32's range", |r| {
            let sign = if r.below(2) == 0 { 1.0 } else { -1.0 };
            let exponent = if r.below(2) == 0 { 127 } else { -126 };
            sign * (1.0 + r.uniform()) * power(exponent - r.below(30) as i32)
        }),
        ("cancelling", |r| {
            let value = [1e300, 1e-300, 1.0, 3e38, 1e-45, 65520.0][r.below(6)];
            if r.below(2) == 0 { value } else { -value }
        }),
        ("small integers", |r| r.below(9) as f64 - 4.0),
        ("zeros", |r| if r.below(9) == 0 { 5e-324 } else { -0.0 }),
    ]
}
