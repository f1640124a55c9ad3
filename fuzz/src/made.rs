//! Numbers, shapes and elements made of bytes: everyday ones mostly, and those that break things.

use arbitrary::{Arbitrary, Result, Unstructured};
use strew::{DType, DynTensor, bf16, f16};

/// One in so many.
pub(crate) fn chance(from: &mut Unstructured<'_>, one_in: u8) -> Result<bool> {
    // Bytes that have run out are zeros, which mean the ordinary.
    Ok(u8::arbitrary(from)? % one_in == one_in - 1)
}

/// One of several; the first when the bytes have run out.
pub(crate) fn pick<T: Copy>(from: &mut Unstructured<'_>, all: &[T]) -> Result<T> {
    Ok(all[from.choose_index(all.len())?])
}

/// A number below `most`.
pub(crate) fn below(from: &mut Unstructured<'_>, most: usize) -> Result<usize> {
    from.int_in_range(0..=most.saturating_sub(1))
}

/// All bytes that are left.
pub(crate) fn rest<'b>(from: &mut Unstructured<'b>) -> Result<&'b [u8]> {
    from.bytes(from.len())
}

const INTEGERS: [i64; 24] = [
    i64::MIN,
    i64::MIN + 1,
    -(1 << 53) - 1,
    -(1 << 32),
    i32::MIN as i64 - 1,
    i32::MIN as i64,
    -65_537,
    -129,
    -17,
    -8,
    8,
    16,
    63,
    64,
    127,
    128,
    255,
    256,
    65_535,
    i32::MAX as i64,
    u32::MAX as i64,
    1 << 53,
    i64::MAX - 1,
    i64::MAX,
];

/// An integer: a small one, or one at the end of some range.
pub(crate) fn integer(from: &mut Unstructured<'_>) -> Result<i64> {
    Ok(small_or_odd(u8::arbitrary(from)?))
}

/// Small ones for most bytes.
fn small_or_odd(byte: u8) -> i64 {
    match byte {
        0..=191 => i64::from(byte % 8),
        192..=231 => -i64::from(byte % 8),
        _ => INTEGERS[usize::from(byte - 232)],
    }
}

const FLOATS: [f64; 16] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    -0.0,
    0.5,
    -0.5,
    1e-310,
    1e-45,
    65_504.0,
    65_520.0,
    3.4e38,
    1e39,
    f64::MAX,
    f64::MIN,
    9.3e18,
    -1.5,
];

/// A float: small and whole, or odd.
pub(crate) fn float(byte: u8) -> f64 {
    match byte {
        0..=199 => f64::from(byte % 8),
        200..=239 => -f64::from(byte % 8) / 4.0,
        _ => FLOATS[usize::from(byte - 240)],
    }
}

/// The bytes of an element that a byte stands for.
pub(crate) fn element(dtype: DType, byte: u8) -> [u8; 16] {
    let mut bytes = [0; 16];
    let real = |dtype: DType| -> Vec<u8> {
        match dtype {
            DType::F16 => f16::from_f64(float(byte)).to_ne_bytes().into(),
            DType::BF16 => bf16::from_f64(float(byte)).to_ne_bytes().into(),
            DType::F32 => (float(byte) as f32).to_ne_bytes().into(),
            _ => float(byte).to_ne_bytes().into(),
        }
    };
    let part = match dtype {
        DType::Bool => vec![if byte < 240 { byte % 2 } else { byte }],
        DType::C64 => real(DType::F32),
        DType::C128 => real(DType::F64),
        dtype if dtype.is_float() => real(dtype),
        // Integers are cut to their width; -1 is also the largest of an unsigned type.
        _ => small_or_odd(byte).to_le_bytes()[..dtype.size()].into(),
    };
    bytes[..part.len()].copy_from_slice(&part);
    if dtype.is_complex() {
        bytes.copy_within(0..part.len(), part.len());
    }
    bytes
}

/// The bytes of a tensor, in which one NaN is as good as another.
pub(crate) fn without_nans(tensor: &DynTensor) -> Vec<u8> {
    let mut bytes = tensor.as_bytes().to_vec();
    for element in bytes.chunks_exact_mut(tensor.dtype().size()) {
        without_nan(tensor.dtype(), element);
    }
    bytes
}

/// Makes a NaN all ones.
pub(crate) fn without_nan(dtype: DType, element: &mut [u8]) {
    let (part, exponent, top) = match dtype {
        DType::F16 => (2, 0x7c00, 0x7fff),
        DType::BF16 => (2, 0x7f80, 0x7fff),
        DType::F32 | DType::C64 => (4, 0x7f80_0000, 0x7fff_ffff),
        DType::F64 | DType::C128 => (8, 0x7ff0_0000_0000_0000, 0x7fff_ffff_ffff_ffff),
        _ => return,
    };
    for number in element.chunks_exact_mut(part) {
        let mut bits = [0; 8];
        bits[..part].copy_from_slice(number);
        if u64::from_le_bytes(bits) & top > exponent {
            number.fill(u8::MAX);
        }
    }
}
