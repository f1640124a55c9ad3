//! Which loops over rows are compiled in every form.
//!
//! A loop is compiled for each pair of a reduction and an element type. That of a hot pair has
//! forms for single elements and for short rows. That of a cold one is one loop over a row. Both are
//! compiled for AVX2 and for the baseline, and those that gain a tenth by it for AVX-512. With
//! every form for every pair the kernel has 14 MB of machine code.
//!
//! | pair | bench rows that earn the forms |
//! |---|---|
//! | sums of 4- and 8-byte numbers | W1, W2, W3, W8, P1, P2 |
//! | sums of 16-bit floats | W2a-f16, W7, P13 |
//! | products of floats | W6, W8-prod |
//! | products of 8-byte integers | none: AVX-512 takes 0.6 of the time of AVX2, which cannot multiply them |
//! | minima and maxima of 4- and 8-byte floats and signed integers | W1a-amax, W2d, W8-amax, P5, P16, P17 |
//! | rows of float32 by group | W2a, W2d, W6: AVX2 takes 1.07 to 1.10 of AVX-512's time (Zen 5) |
//! | assignment of elements of every size | W4, W5, W9-nd, P7, P18; gathers |
//!
//! Rows of 2 to 31 elements, and extremes that seldom change, have lists of their own in
//! `update/dispatch.rs`.
//!
//! Signed and unsigned integers share the loops of sums, products, differences and assignment: the
//! bits are the same.

use crate::ops::boolean::Bool;
use crate::tensor::DType;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// Which reductions of an element type are hot.
pub(crate) trait Hot: Sized {
    const SUM: bool;
    const PRODUCT: bool;
    const EXTREME: bool;
    /// Whether its sums gain a tenth or more by AVX-512.
    const WIDE_SUM: bool = false;
    /// The same of its products.
    const WIDE_PRODUCT: bool = false;
    /// Whether rows that are reduced by group gain by AVX-512.
    const WIDE_ROWS: bool = false;
}

/// The type whose loops are used for sums, products, differences and assignment: that of as many
/// bits without a sign.
pub(crate) fn same_bits(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        other => other,
    }
}

macro_rules! hot {
    ($($t:ty: $sum:literal, $product:literal, $extreme:literal $(, $wide:ident)*;)*) => {$(
        impl Hot for $t {
            const SUM: bool = $sum;
            const PRODUCT: bool = $product;
            const EXTREME: bool = $extreme;
            $(const $wide: bool = true;)*
        }
    )*};
}

//           sum, product, minimum and maximum
hot! {
    f32:       true,  true,  true, WIDE_SUM, WIDE_ROWS;
    f64:       true,  true,  true, WIDE_SUM;
    i32:       true,  false, true;
    i64:       true,  true,  true, WIDE_PRODUCT;
    u32:       true,  false, false;
    u64:       true,  true,  false, WIDE_PRODUCT;
    f16:       true,  false, false;
    bf16:      true,  false, false;
    i8:        false, false, false;
    i16:       false, false, false;
    u8:        false, false, false;
    u16:       false, false, false;
    Bool:      false, false, false;
    Complex32: false, false, false;
    Complex64: false, false, false;
}
