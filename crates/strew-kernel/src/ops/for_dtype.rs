//! From a dtype that is known at run time to a Rust type that is known at compile time.
//!
//! ```text
//! for_dtype!(dtype, T => expression over the real type T, complex C => expression over the complex type C)
//! ```
//!
//! The macro is one `match`; both expressions are compiled once for each of their types (13 real, 2
//! complex). The loops of a run are looked up with it once, outside of every loop over elements.
//! Reductions without a complex version write `complex C => return None`.

/// Evaluates `$do` where `$t` is the Rust type of a real dtype, or `$complex` where `$c` is that of
/// a complex dtype.
macro_rules! for_dtype {
    ($dtype:expr, $t:ident => $do:expr, complex $c:ident => $complex:expr) => {{
        use $crate::ops::boolean::Bool;
        macro_rules! with {
            ($real:ty) => {{
                type $t = $real;
                $do
            }};
        }
        macro_rules! with_complex {
            ($complex_type:ty) => {{
                #[allow(dead_code)]
                type $c = $complex_type;
                $complex
            }};
        }
        match $dtype {
            DType::Bool => with!(Bool),
            DType::I8 => with!(i8),
            DType::I16 => with!(i16),
            DType::I32 => with!(i32),
            DType::I64 => with!(i64),
            DType::U8 => with!(u8),
            DType::U16 => with!(u16),
            DType::U32 => with!(u32),
            DType::U64 => with!(u64),
            DType::F16 => with!(half::f16),
            DType::BF16 => with!(half::bf16),
            DType::F32 => with!(f32),
            DType::F64 => with!(f64),
            DType::C64 => with_complex!(num_complex::Complex32),
            DType::C128 => with_complex!(num_complex::Complex64),
        }
    }};
}

/// Evaluates `$do` where `$t` is a type whose size and alignment are those of a dtype, for loops
/// that move elements bit by bit.
macro_rules! for_bits {
    ($dtype:expr, $t:ident => $do:expr) => {{
        macro_rules! with {
            ($bits:ty) => {{
                type $t = $bits;
                $do
            }};
        }
        match ($dtype.size(), $dtype.align()) {
            (1, _) => with!(u8),
            (2, _) => with!(u16),
            (4, _) => with!(u32),
            (8, 8) => with!(u64),
            (8, _) => with!([u32; 2]),
            _ => with!([u64; 2]),
        }
    }};
}

pub(crate) use for_bits;
pub(crate) use for_dtype;
