//! 16-bit floats to 32 bits, in integer steps that vectorise on every instruction set.
//!
//! The `half` crate's conversion asks for the machine's instruction at every element, which
//! costs some forty times as much in a loop.

use half::{bf16, f16};

/// The value, exactly.
#[inline(always)]
pub(super) fn f16_to_f32(value: f16) -> f32 {
    let bits = u32::from(value.to_bits());
    let exponent = bits & 0x7c00;
    // Mantissa and exponent to their places, the exponent's bias from 15 to 127.
    let shifted = ((bits & 0x7fff) << 13) + (112 << 23);
    // The exponent of infinity and NaN is all ones in both.
    let special = shifted + (112 << 23);
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
pub(super) fn bf16_to_f32(value: bf16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
