//! `mxnet.scatter_nd`: arguments that do not fit.

use crate::{counted, ints, refuses, text};
use strew::{Class, DType, Value};

#[track_caller]
fn refuse(data: &[usize], indices: &[usize], shape: &[i64], message: &str) {
    let zeros = vec![0; indices.iter().product()];
    let (data, indices) = (counted(DType::F32, data), ints(DType::I64, indices, &zeros));
    let values = vec![
        ("data", data.input()),
        ("indices", indices.input()),
        ("shape", Value::Integers(shape.to_vec().into())),
    ];
    let message = format!("mxnet.scatter_nd: {message}");
    refuses("mxnet.scatter_nd", values, Class::Value, &message);
}

#[test]
fn shapes() {
    refuse(
        &[1],
        &[1],
        &[2],
        "indices has shape [1]: it must have at least two dimensions, (M, Y0, ..)",
    );
    refuse(
        &[1],
        &[],
        &[2],
        "indices has shape []: it must have at least two dimensions, (M, Y0, ..)",
    );
    refuse(
        &[1],
        &[2, 1],
        &[2],
        "indices has shape [2, 1]: its first dimension M must be from 1 to 1, the smaller of 10 and the rank of shape [2]",
    );
    refuse(
        &[1],
        &[0, 1],
        &[2, 3],
        "indices has shape [0, 1]: its first dimension M must be from 1 to 2, the smaller of 10 and the rank of shape [2, 3]",
    );
    refuse(
        &[1],
        &[1, 1],
        &[],
        "indices has shape [1, 1]: its first dimension M must be from 1 to 0, the smaller of 10 and the rank of shape []",
    );
    let ones = vec![1; 11];
    let usizes = vec![1usize; 11];
    refuse(
        &[1],
        &[11, 1],
        &ones,
        &format!(
            "indices has shape [11, 1]: its first dimension M must be from 1 to 10, the smaller of 10 and the rank of shape {usizes:?}"
        ),
    );
    for (data, indices, shape, wanted) in [
        (&[2][..], &[1, 2][..], &[3, 4][..], &[2, 4][..]),
        (&[2, 3], &[1, 2], &[3, 4], &[2, 4]),
        (&[1, 4], &[1, 2], &[3, 4], &[2, 4]),
        (&[4, 2], &[1, 2], &[3, 4], &[2, 4]),
    ] {
        refuse(
            data,
            indices,
            shape,
            &format!(
                "data has shape {data:?}: it must be indices.shape[1:] + shape[1:] = {wanted:?}"
            ),
        );
    }
    refuse(&[1], &[1, 1], &[-1], "shape[0] = -1: it must be at least 0");
    refuse(
        &[1],
        &[1, 1],
        &[3, i64::MIN],
        "shape[1] = -9223372036854775808: it must be at least 0",
    );
}

#[test]
fn dtypes() {
    for dtype in [DType::Bool, DType::C64, DType::C128] {
        let (data, indices) = (counted(DType::I8, &[1]), counted(dtype, &[1, 1]));
        let values = vec![
            ("data", data.input()),
            ("indices", indices.input()),
            ("shape", Value::Integers(vec![3].into())),
            ("name", text("x")),
        ];
        let message = format!(
            "mxnet.scatter_nd 'x': indices has dtype {dtype}: it must be an integer or floating-point type"
        );
        refuses("mxnet.scatter_nd", values, Class::Type, &message);
    }
}

#[test]
fn shape_as_a_tensor() {
    let (data, indices) = (counted(DType::I8, &[1]), ints(DType::I8, &[1, 1], &[0]));
    for (shape, class, message) in [
        (
            counted(DType::F32, &[1]),
            Class::Type,
            "shape has dtype float32: it must be an integer type",
        ),
        (
            counted(DType::I64, &[1, 1]),
            Class::Value,
            "shape has shape [1, 1]: it must have exactly one dimension",
        ),
        (
            counted(DType::I64, &[]),
            Class::Value,
            "shape has shape []: it must have exactly one dimension",
        ),
    ] {
        let values = vec![
            ("data", data.input()),
            ("indices", indices.input()),
            ("shape", shape.input()),
        ];
        refuses(
            "mxnet.scatter_nd",
            values,
            class,
            &format!("mxnet.scatter_nd: {message}"),
        );
    }
}
