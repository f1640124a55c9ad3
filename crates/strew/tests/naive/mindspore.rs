//! `mindspore.ops.scatter_mul`: `input_x[indices[i], ..] *= updates[i, ..]`.

use super::array::Fold;
use super::number::{narrow, read};
use super::{Array, Num, Outcome, coordinates};
use strew::DType;

/// The promotion table, row by row: what each parameter takes beside its own type.
pub(crate) fn takes(parameter: DType) -> &'static [DType] {
    use DType::{BF16, Bool, F16, F32, I8, I16, I32, I64, U8};
    match parameter {
        DType::I16 => &[Bool, I8, U8],
        DType::I32 => &[Bool, I8, U8, I16],
        DType::I64 => &[Bool, I8, U8, I16, I32],
        DType::F16 => &[Bool, I8, U8, I16, I32, I64],
        DType::F32 => &[Bool, I8, U8, I16, I32, I64, F16, BF16],
        DType::F64 => &[Bool, I8, U8, I16, I32, I64, F16, BF16, F32],
        DType::Bool | DType::C64 | DType::C128 => &[],
        // int8, the unsigned types and bfloat16 take bool, and nothing more.
        _ => &[Bool],
    }
}

/// A number as an element of a wider type, rounded where the wider type is a float.
fn convert(num: Num, to: DType) -> Num {
    let whole = match num {
        Num::Bool(b) => i128::from(b),
        Num::Int(v) => v,
        Num::F32(v) if to == DType::F64 => return Num::F64(v.into()),
        other => return other,
    };
    match to {
        DType::F16 => read(to, narrow(whole as f64, 10, -14).into()),
        DType::BF16 => read(to, narrow(whole as f64, 7, -126).into()),
        DType::F32 => Num::F32(whole as f32),
        DType::F64 => Num::F64(whole as f64),
        _ => Num::Int(whole),
    }
}

pub(crate) fn scatter_mul(input_x: &Array, indices: &Array, updates: &Array) -> Outcome {
    let dtype = input_x.dtype;
    let mut out = Outcome::untouched(input_x.clone());
    let mut fold = Fold::new(input_x);
    let window = &input_x.shape[1..];
    for (at, i) in coordinates(&indices.shape).enumerate() {
        for w in coordinates(window) {
            let to = out
                .array
                .flat(&[&[indices.int(at) as usize], &w[..]].concat());
            let from = updates.flat(&[&i[..], &w[..]].concat());
            let value = convert(read(updates.dtype, updates.data[from]), dtype);
            fold.prod(to, input_x.num(to), value);
            out.touched[to] = true;
        }
    }
    fold.finish(&mut out.array, None);
    out
}
