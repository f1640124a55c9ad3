//! In which type NumPy computes.

use strew_kernel::elementwise::ufunc::Ufunc;
use strew_kernel::tensor::DType;

/// The type that both become: `numpy.result_type` of arrays. `bfloat16` is as `float16` is.
pub(super) fn promoted(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    if a.is_complex() || b.is_complex() {
        let double = [a, b].into_iter().any(|part| match part {
            DType::C128 => true,
            DType::C64 => false,
            other => float_for(other) == DType::F64,
        });
        return if double { DType::C128 } else { DType::C64 };
    }
    match (a, b) {
        (DType::Bool, other) | (other, DType::Bool) => other,
        _ if a.is_integer() && b.is_integer() => integer_for(a, b),
        _ if a.is_integer() => wider(b, float_for(a)),
        _ if b.is_integer() => wider(a, float_for(b)),
        _ => wider(a, b),
    }
}

/// The smallest float that an integer or bool becomes; a float is its own.
fn float_for(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::I8 | DType::U8 => DType::F16,
        DType::I16 | DType::U16 => DType::F32,
        DType::I32 | DType::I64 | DType::U32 | DType::U64 => DType::F64,
        float => float,
    }
}

fn integer_for(a: DType, b: DType) -> DType {
    let signed = |dtype| matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    let larger = |a: DType, b: DType| if a.size() >= b.size() { a } else { b };
    match (signed(a), signed(b)) {
        (true, true) | (false, false) => larger(a, b),
        (false, true) => integer_for(b, a),
        (true, false) if a.size() > b.size() => a,
        (true, false) => match b {
            DType::U8 => DType::I16,
            DType::U16 => DType::I32,
            DType::U32 => DType::I64,
            _ => DType::F64,
        },
    }
}

/// The float that holds what both hold. An integer that `float16` holds is also one of
/// `bfloat16`'s.
fn wider(float: DType, other: DType) -> DType {
    match (float, other) {
        (DType::F16 | DType::BF16, DType::F16 | DType::BF16) if float == other => float,
        (DType::BF16, DType::F16) | (DType::F16, DType::BF16) => DType::F32,
        _ if float.size() >= other.size() => float,
        _ => other,
    }
}

/// The type in which a function of cells `a` and updates `b` computes; `None` if it is not defined
/// for them.
pub(super) fn computed_in(ufunc: Ufunc, a: DType, b: DType) -> Option<DType> {
    let both = match (a, b) {
        // An int8 is a bfloat16 without loss, as NumPy's extension has it.
        (DType::BF16, DType::I8 | DType::U8) | (DType::I8 | DType::U8, DType::BF16) => DType::BF16,
        _ => promoted(a, b),
    };
    let number = if both == DType::Bool { DType::I8 } else { both };
    let whole = both == DType::Bool || both.is_integer();
    match ufunc {
        Ufunc::Subtract | Ufunc::Negative => (both != DType::Bool).then_some(both),
        Ufunc::Divide if whole => Some(DType::F64),
        Ufunc::FloorDivide => (!both.is_complex()).then_some(number),
        Ufunc::Power => Some(number),
        Ufunc::BitwiseAnd | Ufunc::BitwiseOr | Ufunc::BitwiseXor | Ufunc::Invert => {
            whole.then_some(both)
        }
        Ufunc::LeftShift | Ufunc::RightShift => whole.then_some(number),
        _ => Some(both),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_meet_as_numpy_s_do() {
        use DType::{Bool, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U32, U64};
        for (a, b, both) in [
            (Bool, I8, I8),
            (U8, I8, I16),
            (U32, I8, I64),
            (U64, I8, F64),
            (I64, U8, I64),
            (I8, F16, F16),
            (I16, F16, F32),
            (I32, F32, F64),
            (F16, F64, F64),
            (C64, F64, C128),
            (C64, I16, C64),
            (C64, I32, C128),
            (Bool, C64, C64),
        ] {
            assert_eq!(promoted(a, b), both, "{a} and {b}");
            assert_eq!(promoted(b, a), both, "{b} and {a}");
        }
    }

    #[test]
    fn not_every_function_takes_every_type() {
        use DType::{Bool, C64, F32, F64, I8, I64, U64};
        for (ufunc, a, b, via) in [
            (Ufunc::Subtract, Bool, Bool, None),
            (Ufunc::Divide, I64, I64, Some(F64)),
            (Ufunc::FloorDivide, Bool, Bool, Some(I8)),
            (Ufunc::FloorDivide, C64, C64, None),
            (Ufunc::BitwiseAnd, I64, U64, None),
            (Ufunc::LeftShift, Bool, Bool, Some(I8)),
            (Ufunc::Invert, F32, F32, None),
            (Ufunc::Power, I64, F64, Some(F64)),
        ] {
            assert_eq!(computed_in(ufunc, a, b), via, "{ufunc:?} of {a} and {b}");
        }
    }
}
