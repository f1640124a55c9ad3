//! Conversion of 16-bit floats to 32 bits and back.
//!
//! There are two versions. One element is converted in a few integer steps that vectorise on every
//! instruction set. Eight elements are converted by one instruction where the loop is compiled for
//! an instruction set with F16C, and otherwise by the integer steps.
//!
//! ```text
//! f16 -> f32    shift mantissa and exponent into place, add 112 to the exponent; infinity, NaN and subnormals are selected apart
//! bf16 -> f32   shift left by 16 bits
//! f32 -> f16    add half of the last place that stays, shift; subnormals by one addition of 0.5
//! f32 -> bf16   the same with 16 bits
//! f64 -> both   the f32 rounded to odd, then as above
//! ```
//!
//! Widening is exact. Narrowing rounds to the nearest value, ties to even. A signalling NaN becomes
//! quiet, except from bf16 to f32.
//!
//! The `half` crate's own conversions test for the instruction at every element, which makes a loop
//! some forty times slower.
//!
//! # Unsafe
//!
//! - Buys: 16-bit floats eight at a time
//! - Measured: the `half` crate one by one: W1a-f16 4.06, W2a-f16 5.49, S-f16 3.48; its slices of
//!   eight: 3.18, 2.88, 5.74; the integer steps of this file: 4.11, 4.86, 11.2
//! - Holds: the instruction set is a type that exists only after it was detected

use crate::cpu::isa::Isa;
use crate::tensor::scalar::odd;
use half::{bf16, f16};
#[cfg(target_arch = "x86_64")]
use std::mem::transmute;

/// The value, exactly. A signalling NaN becomes quiet.
#[inline(always)]
pub fn f16_to_f32(value: f16) -> f32 {
    let bits = u32::from(value.to_bits());
    let exponent = bits & 0x7c00;
    // Mantissa and exponent to their places, the exponent's bias from 15 to 127.
    let shifted = ((bits & 0x7fff) << 13) + (112 << 23);
    // The exponent of infinity and NaN is all ones in both; a NaN becomes a quiet one.
    let special = (shifted + (112 << 23)) | (u32::from(bits & 0x3ff != 0) << 22);
    // A subnormal has no hidden bit: give it one, and take it away by a subtraction.
    let hidden = f32::from_bits(shifted + (1 << 23)) - f32::from_bits(113 << 23);
    let magnitude = if exponent == 0x7c00 {
        special
    } else if exponent == 0 {
        hidden.to_bits()
    } else {
        shifted
    };
    f32::from_bits(magnitude | ((bits & 0x8000) << 16))
}

/// The value, exactly.
#[inline(always)]
pub fn bf16_to_f32(value: bf16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()) << 16)
}

/// The nearest value; of two, the even one.
#[inline(always)]
pub fn f32_to_f16(value: f32) -> f16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // Add half of the last place that stays, or one less if that place is even: ties go to even.
    let rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    let normal = rounded.wrapping_sub(112 << 23) >> 13;
    // Below 2^-14 the last place is 2^-24, that of f32 at 1/2: an addition rounds to it.
    let subnormal = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(126 << 23);
    let special = 0x7e00 | ((magnitude >> 13) & 0x3ff);
    let result = if magnitude > 0x7f80_0000 {
        special
    } else if magnitude >= 0x477f_f000 {
        // From 65520 on, infinity is nearest.
        0x7c00
    } else if magnitude < (113 << 23) {
        subnormal
    } else {
        normal
    };
    // Both operands are below 2^16.
    f16::from_bits((result | ((bits >> 16) & 0x8000)) as u16)
}

/// The nearest value; of two, the even one.
#[inline(always)]
pub fn f32_to_bf16(value: f32) -> bf16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let nan = (bits & 0x7fff_ffff) > 0x7f80_0000;
    // The upper 16 bits are 0 after the shift.
    bf16::from_bits(if nan { (bits >> 16) | 0x40 } else { rounded } as u16)
}

/// The nearest value; of two, the even one. The crate `half` rounds to `f32` first.
#[inline(always)]
pub fn f64_to_f16(value: f64) -> f16 {
    f32_to_f16(odd(value))
}

/// The nearest value; of two, the even one. The crate `half` drops the last 32 bits first.
#[inline(always)]
pub fn f64_to_bf16(value: f64) -> bf16 {
    f32_to_bf16(odd(value))
}

/// [`f16_to_f32`] of eight values, by one instruction where the loop's instruction set has it.
#[inline(always)]
pub(crate) fn eight_f16_to_f32<M: Isa>(values: [f16; 8], _: M) -> [f32; 8] {
    #[cfg(target_arch = "x86_64")]
    if M::F16C {
        use std::arch::x86_64::{__m128i, __m256, _mm256_cvtph_ps};
        // SAFETY: a value of an `Isa` with `F16C` exists only after the instruction was detected.
        // Array and vector have the same size, and every bit pattern is a value of both.
        return unsafe {
            let wide = _mm256_cvtph_ps(transmute::<[f16; 8], __m128i>(values));
            transmute::<__m256, [f32; 8]>(wide)
        };
    }
    values.map(f16_to_f32)
}

/// [`f32_to_f16`] of eight values, by one instruction where the loop's instruction set has it.
#[inline(always)]
pub(crate) fn eight_f32_to_f16<M: Isa>(values: [f32; 8], _: M) -> [f16; 8] {
    #[cfg(target_arch = "x86_64")]
    if M::F16C {
        use std::arch::x86_64::{__m128i, __m256, _MM_FROUND_TO_NEAREST_INT, _mm256_cvtps_ph};
        // SAFETY: as in `eight_f16_to_f32`.
        return unsafe {
            let wide = transmute::<[f32; 8], __m256>(values);
            transmute::<__m128i, [f16; 8]>(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(wide))
        };
    }
    values.map(f32_to_f16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways of each conversion, eight at a time.
    fn same_by_instruction(values: [f16; 8], wide: [f32; 8]) {
        vectorized!(|isa| {
            let ours = eight_f16_to_f32(values, isa).map(f32::to_bits);
            assert_eq!(ours, values.map(|v| f16_to_f32(v).to_bits()), "{values:?}");
            let ours = eight_f32_to_f16(wide, isa).map(f16::to_bits);
            assert_eq!(ours, wide.map(|v| f32_to_f16(v).to_bits()), "{wide:?}");
        });
    }

    #[test]
    fn the_instructions_give_the_same_bits() {
        for bits in (0..=u16::MAX).step_by(8) {
            let values = std::array::from_fn(|k| f16::from_bits(bits + k as u16));
            same_by_instruction(values, values.map(f16_to_f32));
        }
        for bits in (0..u32::MAX - 8 * 4099).step_by(8 * 4099) {
            let wide = std::array::from_fn(|k| f32::from_bits(bits + 4099 * k as u32));
            same_by_instruction([f16::ZERO; 8], wide);
        }
    }

    #[test]
    fn every_value_is_converted_exactly() {
        for bits in 0..=u16::MAX {
            let same = |ours: f32, exact: f32| {
                ours.to_bits() == exact.to_bits() || (ours.is_nan() && exact.is_nan())
            };
            let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(same(f16_to_f32(h), h.to_f32()), "float16 {bits:#06x}");
            assert!(same(bf16_to_f32(b), b.to_f32()), "bfloat16 {bits:#06x}");
        }
    }

    #[test]
    fn float64_values_beside_a_middle_are_rounded_once() {
        for bits in 0..0x7f7fu16 {
            let (h, b) = (f16::from_bits, bf16::from_bits);
            let beside = |low: f64, high: f64| {
                let middle = f64::midpoint(low, high);
                let even = if bits & 1 == 0 { bits } else { bits + 1 };
                [
                    (middle.next_down(), bits),
                    (middle, even),
                    (middle.next_up(), bits + 1),
                ]
            };
            let pairs = beside(b(bits).to_f64(), b(bits + 1).to_f64());
            for (value, expected) in pairs {
                assert_eq!(f64_to_bf16(value).to_bits(), expected, "{value:e}");
                assert_eq!(
                    f64_to_bf16(-value).to_bits(),
                    expected | 0x8000,
                    "{value:e}"
                );
            }
            if bits < 0x7bff {
                for (value, expected) in beside(h(bits).to_f64(), h(bits + 1).to_f64()) {
                    assert_eq!(f64_to_f16(value).to_bits(), expected, "{value:e}");
                    assert_eq!(f64_to_f16(-value).to_bits(), expected | 0x8000, "{value:e}");
                }
            }
        }
        assert_eq!(f64_to_f16(f64::MAX), f16::INFINITY);
        assert_eq!(f64_to_bf16(f64::MIN), bf16::NEG_INFINITY);
        assert!(f64_to_f16(f64::NAN).is_nan() && f64_to_bf16(f64::NAN).is_nan());
    }

    #[test]
    fn every_value_is_rounded_to_nearest() {
        let same = |ours: u16, exact: u16, nan: u16| {
            ours == exact || (ours & 0x7fff > nan && exact & 0x7fff > nan)
        };
        // Around every value of 16 bits and every middle of two, and all over the rest.
        let around = (0..=u32::from(u16::MAX)).flat_map(|high| {
            let (h, b) = (f16::from_bits(high as u16).to_f32().to_bits(), high << 16);
            [h, b, h + 0x1000, b + 0x8000]
        });
        let nearby = around.flat_map(|v| [v.wrapping_sub(1), v, v.wrapping_add(1)]);
        for bits in nearby.chain((0..u32::MAX).step_by(4099)) {
            let value = f32::from_bits(bits);
            let (h, b) = (f32_to_f16(value), f32_to_bf16(value));
            assert!(
                same(h.to_bits(), f16::from_f32(value).to_bits(), 0x7c00),
                "{bits:#x}"
            );
            assert!(
                same(b.to_bits(), bf16::from_f32(value).to_bits(), 0x7f80),
                "{bits:#x}"
            );
        }
    }
}
