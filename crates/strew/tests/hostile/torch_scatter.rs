//! `torch_scatter.scatter`: arguments that do not fit.

use crate::{counted, ints, refuses, text};
use strew::{Class, DType, Value};

const NAME: &str = "torch_scatter.scatter";

#[track_caller]
fn refuse(src: &[usize], index: &[usize], dim: i64, class: Class, message: &str) {
    let zeros = vec![0; index.iter().product()];
    let (src, index) = (counted(DType::F32, src), ints(DType::I64, index, &zeros));
    let values = vec![
        ("src", src.input()),
        ("index", index.input()),
        ("dim", Value::Int(dim)),
    ];
    refuses(NAME, values, class, &format!("{NAME}: {message}"));
}

#[test]
fn dims_and_ranks() {
    refuse(
        &[],
        &[],
        0,
        Class::Index,
        "src has shape []: it must have at least one dimension",
    );
    for (dim, low, high) in [(2, -2, 1), (-3, -2, 1), (i64::MIN, -2, 1)] {
        refuse(
            &[2, 3],
            &[3],
            dim,
            Class::Index,
            &format!(
                "dim = {dim}: Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})"
            ),
        );
    }
}

#[test]
fn an_index_that_does_not_expand() {
    for (src, index, dim, padded) in [
        (&[2, 3][..], &[2][..], 1, &[1, 2][..]),
        (&[2, 3], &[3], 0, &[3, 1]),
        // Never padded on the left.
        (&[2, 3, 4], &[3, 4], 2, &[3, 4, 1]),
        (&[2, 3], &[2, 4], 1, &[2, 4]),
        (&[2, 3], &[1, 2, 3], 1, &[1, 2, 3]),
    ] {
        refuse(
            src,
            index,
            dim,
            Class::Runtime,
            &format!(
                "index has shape {index:?}: padded to {padded:?} it must expand to src's shape {src:?}"
            ),
        );
    }
}

#[test]
fn dtypes() {
    let src = counted(DType::F32, &[2]);
    for dtype in DType::ALL {
        if dtype == DType::I32 || dtype == DType::I64 {
            continue;
        }
        let index = counted(dtype, &[2]);
        let values = vec![("src", src.input()), ("index", index.input())];
        let message =
            format!("{NAME}: index has dtype {dtype}: Expected dtype int32/int64 for index");
        refuses(NAME, values, Class::Runtime, &message);
    }
    let index = ints(DType::I64, &[2], &[0, 0]);
    for (dtype, name, what) in [
        (DType::Bool, "scatter_mean", "mean"),
        (DType::C64, "scatter_min", "the minimum"),
        (DType::C128, "scatter_max", "the maximum"),
    ] {
        let src = counted(dtype, &[2]);
        let name = format!("torch_scatter.{name}");
        let values = vec![("src", src.input()), ("index", index.input())];
        let message = format!("{name}: {what} is not defined for dtype {dtype}");
        refuses(&name, values, Class::NotImplemented, &message);
    }
}

#[test]
fn an_out_that_does_not_fit() {
    let (src, index) = (
        counted(DType::F32, &[2, 3]),
        ints(DType::I64, &[3], &[0, 0, 0]),
    );
    let cases = [
        (
            DType::F64,
            &[2, 3][..],
            "mean",
            "out has dtype float64: it must be src's dtype, float32",
        ),
        (
            DType::F32,
            &[2],
            "sum",
            "out has shape [2]: it must be src's shape [2, 3] apart from dimension 1",
        ),
        (
            DType::F32,
            &[1, 5],
            "sum",
            "out has shape [1, 5]: it must be src's shape [2, 3] apart from dimension 1",
        ),
        (
            DType::F32,
            &[3, 5],
            "min",
            "out has shape [3, 5]: it must be src's shape [2, 3] apart from dimension 1",
        ),
    ];
    for (dtype, shape, reduce, message) in cases {
        let mut out = counted(dtype, shape);
        let before = out.bytes().to_vec();
        let values = vec![
            ("src", src.input()),
            ("index", index.input()),
            ("out", out.target()),
            ("reduce", text(reduce)),
        ];
        refuses(NAME, values, Class::Runtime, &format!("{NAME}: {message}"));
        assert_eq!(out.bytes(), before);
    }
}

#[test]
fn words_and_sizes() {
    let (src, index) = (counted(DType::F32, &[2]), ints(DType::I64, &[2], &[0, 0]));
    for word in ["", "prod", "Sum", "amax"] {
        let values = vec![
            ("src", src.input()),
            ("index", index.input()),
            ("reduce", text(word)),
        ];
        let message =
            format!("{NAME}: reduce = {word:?}: it must be sum, add, mul, mean, min or max");
        refuses(NAME, values, Class::Value, &message);
    }
    for size in [-1, i64::MIN] {
        let values = vec![
            ("src", src.input()),
            ("index", index.input()),
            ("dim_size", Value::Int(size)),
        ];
        let message = format!("{NAME}: dim_size = {size}: it must be at least 0");
        refuses(NAME, values, Class::Runtime, &message);
    }
}

#[test]
fn only_minima_and_maxima_have_positions() {
    let (src, index) = (counted(DType::F32, &[2]), ints(DType::I64, &[2], &[0, 0]));
    let positions = |reduce| {
        strew::torch_scatter::scatter_dyn(src.view(), index.view(), 0, None, None, reduce, true)
    };
    let error = positions("sum").unwrap_err();
    assert_eq!(error.class(), Class::Value);
    assert_eq!(
        error.to_string(),
        format!("{NAME}: reduce = Sum: only min and max have positions")
    );
    assert!(positions("max").unwrap().arg.is_some());
}
