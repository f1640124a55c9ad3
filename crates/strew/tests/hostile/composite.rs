//! torch_scatter's functions of groups: arguments that do not fit, and targets that stay as they were.

use crate::support::ways::{call, with_threads};
use crate::{counted, ints, refuses, says};
use strew::{Class, DType, Scalar, Value};

const ALL: [&str; 4] = [
    "torch_scatter.scatter_std",
    "torch_scatter.scatter_logsumexp",
    "torch_scatter.scatter_softmax",
    "torch_scatter.scatter_log_softmax",
];

#[test]
fn an_index_that_is_out_of_range() {
    for name in ALL {
        for (shape, index_shape, dim, at, axis) in [
            (&[4][..], &[4][..], 0, "[2]", 0),
            (&[3, 4], &[4], 1, "[2]", 1),
            (&[4, 3], &[4], 0, "[2]", 0),
            (&[1, 4], &[1, 4], 1, "[0, 2]", 1),
        ] {
            for bad in [3, -1, i64::MAX, i64::MIN] {
                let (src, index) = (
                    counted(DType::F32, shape),
                    ints(DType::I64, index_shape, &[0, 1, bad, 2]),
                );
                let values = vec![
                    ("src", src.input()),
                    ("index", index.input()),
                    ("dim", Value::Int(dim)),
                    ("dim_size", Value::Int(3)),
                ];
                let message = format!(
                    "{name}: index{at} = {bad}: index {bad} is out of bounds for dimension {axis} with size 3"
                );
                refuses(name, values, Class::Runtime, &message);
            }
        }
    }
}

#[test]
fn an_error_leaves_out_alone() {
    for name in &ALL[..2] {
        let (src, index) = (
            counted(DType::F16, &[4, 2]),
            ints(DType::I64, &[4], &[0, 1, 0, 2]),
        );
        for threads in [1, 2, 8] {
            let mut out = counted(DType::F16, &[2, 2]);
            let before = out.bytes().to_vec();
            let values = vec![
                ("src", src.input()),
                ("index", index.input()),
                ("dim", Value::Int(0)),
                ("out", out.target()),
            ];
            let error = with_threads(threads, || call(name, values).unwrap().run().unwrap_err());
            let message = format!(
                "{name}: index[3] = 2: index 2 is out of bounds for dimension 0 with size 2"
            );
            says(&error, Class::Runtime, &message);
            assert_eq!(out.bytes(), before);
        }
    }
}

#[test]
fn types() {
    let index = ints(DType::I64, &[2], &[0, 1]);
    let run = |name: &str, dtype, index: &crate::Strided| {
        let src = counted(dtype, &[2]);
        let values = vec![("src", src.input()), ("index", index.input())];
        call(name, values).and_then(strew::Call::run)
    };
    for name in &ALL[1..] {
        for dtype in [DType::I32, DType::Bool, DType::C64, DType::U64] {
            let message =
                format!("{name}: src has dtype {dtype}: it must be a floating-point type");
            says(
                &run(name, dtype, &index).unwrap_err(),
                Class::Value,
                &message,
            );
        }
    }
    for dtype in [DType::Bool, DType::C128] {
        let message = format!(
            "{}: the standard deviation is not defined for dtype {dtype}",
            ALL[0]
        );
        let error = run(ALL[0], dtype, &index).unwrap_err();
        says(&error, Class::NotImplemented, &message);
    }
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_integer()) {
        let made = run(ALL[0], dtype, &index).unwrap().tensor.unwrap();
        assert_eq!(made.dtype(), DType::F32);
    }
    let short = ints(DType::I16, &[2], &[0, 1]);
    for name in ALL {
        let message =
            format!("{name}: index has dtype int16: Expected dtype int32/int64 for index");
        let error = run(name, DType::F32, &short).unwrap_err();
        says(&error, Class::Runtime, &message);
    }
}

#[test]
fn targets_that_do_not_fit() {
    let index = ints(DType::I64, &[2], &[0, 1]);
    for (dtype, to, shape, message) in [
        (
            DType::F32,
            DType::F64,
            &[2][..],
            "out has dtype float64: it must be the result's dtype, float32",
        ),
        (
            DType::I32,
            DType::I32,
            &[2],
            "out has dtype int32: it must be the result's dtype, float32",
        ),
        (
            DType::F32,
            DType::F32,
            &[2, 1],
            "out has shape [2, 1]: it must be src's shape [2] apart from dimension 0",
        ),
    ] {
        let (src, mut out) = (counted(dtype, &[2]), counted(to, shape));
        let values = vec![
            ("src", src.input()),
            ("index", index.input()),
            ("out", out.target()),
        ];
        refuses(
            ALL[0],
            values,
            Class::Runtime,
            &format!("{}: {message}", ALL[0]),
        );
    }
}

#[test]
fn dims_sizes_and_eps() {
    let (src, index, number) = (
        counted(DType::F32, &[2]),
        ints(DType::I64, &[2], &[0, 1]),
        counted(DType::F32, &[]),
    );
    for name in ALL {
        let inputs = || vec![("src", src.input()), ("index", index.input())];
        let mut values = inputs();
        values.push(("dim", Value::Int(1)));
        let message =
            "dim = 1: Dimension out of range (expected to be in range of [-1, 0], but got 1)";
        refuses(name, values, Class::Index, &format!("{name}: {message}"));
        let mut values = inputs();
        values.push(("dim_size", Value::Int(-1)));
        let message = "dim_size = -1: it must be at least 0";
        refuses(name, values, Class::Runtime, &format!("{name}: {message}"));
        let values = vec![("src", number.input()), ("index", index.input())];
        let message = "src has shape []: it must have at least one dimension";
        refuses(name, values, Class::Index, &format!("{name}: {message}"));
    }
    for name in [ALL[1], ALL[3]] {
        let eps = Scalar::Complex(strew::Complex64::new(0.0, 1.0));
        let values = vec![
            ("src", src.input()),
            ("index", index.input()),
            ("eps", Value::Scalar(eps)),
        ];
        let message = "eps = 0.0+1.0j: it must be a real number";
        refuses(name, values, Class::Type, &format!("{name}: {message}"));
    }
}

#[test]
fn a_result_that_is_too_large() {
    let (src, index) = (
        counted(DType::F32, &[1]),
        ints(DType::I64, &[1], &[1 << 60]),
    );
    for name in ALL {
        let values = vec![("src", src.input()), ("index", index.input())];
        let error = call(name, values).and_then(strew::Call::run).unwrap_err();
        assert_eq!(error.class(), Class::Memory, "{error}");
    }
}

#[test]
fn a_target_that_shares_memory() {
    let mut values = [0.0f32, 1.0, 2.0];
    let at = values.as_mut_ptr();
    let layout = || strew::Layout::new(DType::F32, &[2], &[4]).unwrap();
    let index = ints(DType::I64, &[2], &[0, 1]);
    for name in &ALL[..2] {
        // SAFETY: both are inside the array; that they overlap is what is refused, before anything is read
        // or written.
        let (src, out) = unsafe {
            (
                strew::DynView::from_raw_parts(at.cast_const().cast(), layout()).unwrap(),
                strew::DynViewMut::from_raw_parts(at.wrapping_add(1).cast(), layout()).unwrap(),
            )
        };
        let arguments = vec![
            ("src", Value::Tensor(src)),
            ("index", index.input()),
            ("out", Value::Target(out)),
        ];
        let error = call(name, arguments).unwrap().run().unwrap_err();
        let message = format!(
            "{name}: unsupported operation: out shares memory with src, so the result would depend on the order of writes; copy one of them first"
        );
        says(&error, Class::Runtime, &message);
    }
    assert_eq!(values, [0.0, 1.0, 2.0]);
}
