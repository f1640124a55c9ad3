//! `mindspore.scatter_mul`: arguments that do not fit.

use crate::naive::mindspore::takes;
use crate::{counted, ints, refuses};
use strew::{Class, DType};

#[track_caller]
fn refuse(
    (input, of): (&[usize], DType),
    (indices, index_type): (&[usize], DType),
    (updates, from): (&[usize], DType),
    class: Class,
    message: &str,
) {
    let mut changed = counted(of, input);
    let before = changed.bytes().to_vec();
    let zeros = vec![0; indices.iter().product()];
    let indices = match index_type {
        t if t.is_integer() => ints(t, indices, &zeros),
        t => counted(t, indices),
    };
    let updates = counted(from, updates);
    let values = vec![
        ("input_x", changed.target()),
        ("indices", indices.input()),
        ("updates", updates.input()),
    ];
    let message = format!("mindspore.scatter_mul: {message}");
    refuses("mindspore.scatter_mul", values, class, &message);
    assert_eq!(changed.bytes(), before);
}

const F32: DType = DType::F32;
const I32: DType = DType::I32;

#[test]
fn shapes() {
    refuse(
        (&[], F32),
        (&[1], I32),
        (&[1], F32),
        Class::Value,
        "input_x has shape []: it must have at least one dimension",
    );
    for (indices, updates) in [
        (&[2][..], &[2][..]),
        (&[2], &[3, 2]),
        (&[2], &[2, 2, 1]),
        (&[], &[1, 3]),
        (&[2, 1], &[2, 3]),
        (&[0], &[0]),
    ] {
        let wanted = [indices, &[3]].concat();
        refuse(
            (&[4, 3], F32),
            (indices, I32),
            (updates, F32),
            Class::Value,
            &format!(
                "updates has shape {updates:?}: it must be indices.shape + input_x.shape[1:] = {wanted:?}"
            ),
        );
    }
}

#[test]
fn dtypes() {
    for dtype in DType::ALL {
        if dtype != DType::I32 && dtype != DType::I64 {
            refuse(
                (&[2], F32),
                (&[1], dtype),
                (&[1], F32),
                Class::Type,
                &format!("indices has dtype {dtype}: it must be int32 or int64"),
            );
        }
        if dtype == DType::Bool || dtype.is_complex() {
            refuse(
                (&[2], dtype),
                (&[1], I32),
                (&[1], dtype),
                Class::TypeAndRuntime,
                &format!("input_x has dtype {dtype}: it must be an integer or floating-point type"),
            );
            continue;
        }
        for from in DType::ALL {
            if from != dtype && !takes(dtype).contains(&from) {
                refuse(
                    (&[2], dtype),
                    (&[1], I32),
                    (&[1], from),
                    Class::TypeAndRuntime,
                    &format!(
                        "updates has dtype {from}: Data type conversion is not supported for a 'Parameter': it must be input_x's dtype, {dtype}, or promote to it"
                    ),
                );
            }
        }
    }
}
