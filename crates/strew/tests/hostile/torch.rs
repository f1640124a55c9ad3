//! `torch.scatter_reduce`: arguments that do not fit.

use crate::{counted, ints, refuses, text};
use strew::{Class, DType, Value};

/// A call in place on float32 of a shape; the destination must not change.
#[track_caller]
fn refuse(
    (input, dim, index, src): (&[usize], i64, &[usize], &[usize]),
    reduce: &str,
    class: Class,
    message: &str,
) {
    let zeros = vec![0; index.iter().product()];
    let index = ints(DType::I64, index, &zeros);
    let src = counted(DType::F32, src);
    let mut changed = counted(DType::F32, input);
    let before = changed.bytes().to_vec();
    let values = vec![
        ("input", changed.target()),
        ("dim", Value::Int(dim)),
        ("index", index.input()),
        ("src", src.input()),
        ("reduce", text(reduce)),
    ];
    let message = format!("torch.scatter_reduce_: {message}");
    refuses("torch.scatter_reduce_", values, class, &message);
    assert_eq!(changed.bytes(), before);
}

#[test]
fn dim_out_of_range() {
    for (rank, dim, low, high) in [
        (2, 2, -2, 1),
        (2, -3, -2, 1),
        (0, 1, -1, 0),
        (1, i64::MIN, -1, 0),
        (3, i64::MAX, -3, 2),
    ] {
        let shape = &[2, 2, 2][..rank];
        refuse(
            (shape, dim, shape, shape),
            "sum",
            Class::Index,
            &format!(
                "dim = {dim}: Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})"
            ),
        );
    }
}

#[test]
fn ranks_and_shapes() {
    refuse(
        (&[3, 4], 0, &[3], &[3, 4]),
        "sum",
        Class::Runtime,
        "index has shape [3]: Index tensor must have the same number of dimensions as self tensor, [3, 4]",
    );
    refuse(
        (&[3, 4], 0, &[3, 4], &[12]),
        "sum",
        Class::Runtime,
        "src has shape [12]: Index tensor must have the same number of dimensions as src tensor, but is [3, 4]",
    );
    for (input, dim, index, src) in [
        (&[3, 4][..], 0, &[3, 5][..], &[3, 5][..]),
        (&[3, 4], 0, &[3, 4], &[3, 3]),
        (&[3, 4], 1, &[2, 9], &[2, 8]),
    ] {
        refuse(
            (input, dim, index, src),
            "mean",
            Class::Runtime,
            &format!(
                "index has shape {index:?}: Expected index {index:?} to be no larger than self {input:?} apart from dimension {dim} and to be no larger size than src {src:?}"
            ),
        );
    }
}

#[test]
fn words() {
    for word in ["", "add", "SUM", "mean ", "prod\0"] {
        refuse(
            (&[2], 0, &[2], &[2]),
            word,
            Class::Runtime,
            &format!(
                "reduce = {word:?}: reduce argument must be either sum, prod, mean, amax or amin"
            ),
        );
        // For an empty index too.
        refuse(
            (&[2], 0, &[0], &[2]),
            word,
            Class::Runtime,
            &format!(
                "reduce = {word:?}: reduce argument must be either sum, prod, mean, amax or amin"
            ),
        );
    }
    let error = "mode".parse::<strew::torch::Reduce>().unwrap_err();
    crate::says(
        &error,
        Class::Runtime,
        "torch.scatter_reduce: reduce = \"mode\": reduce argument must be either sum, prod, mean, amax or amin",
    );
}

#[test]
fn dtypes() {
    let mut changed = counted(DType::F32, &[2]);
    let before = changed.bytes().to_vec();
    let src = counted(DType::F32, &[2]);
    for dtype in DType::ALL {
        if dtype == DType::I32 || dtype == DType::I64 {
            continue;
        }
        let index = counted(dtype, &[1]);
        let values = vec![
            ("input", changed.target()),
            ("dim", Value::Int(0)),
            ("index", index.input()),
            ("src", src.input()),
            ("reduce", text("sum")),
        ];
        let message = format!(
            "torch.scatter_reduce_: index has dtype {dtype}: Expected dtype int32/int64 for index"
        );
        refuses("torch.scatter_reduce_", values, Class::Runtime, &message);
    }
    for dtype in DType::ALL.into_iter().filter(|&t| t != DType::F32) {
        // Checked for an empty index too.
        for index in [ints(DType::I64, &[1], &[0]), ints(DType::I64, &[0], &[])] {
            let src = counted(dtype, &[2]);
            let values = vec![
                ("input", changed.target()),
                ("dim", Value::Int(0)),
                ("index", index.input()),
                ("src", src.input()),
                ("reduce", text("sum")),
            ];
            let message = format!(
                "torch.scatter_reduce_: src has dtype {dtype}: Expected self.dtype to be equal to src.dtype, float32"
            );
            refuses("torch.scatter_reduce_", values, Class::Runtime, &message);
        }
    }
    assert_eq!(changed.bytes(), before);
}

#[test]
fn reductions_that_a_type_has_not() {
    for (dtype, reduce, what) in [
        (DType::Bool, "mean", "mean"),
        (DType::C64, "amax", "the maximum"),
        (DType::C128, "amin", "the minimum"),
    ] {
        let mut changed = counted(dtype, &[2]);
        let before = changed.bytes().to_vec();
        let (index, src) = (ints(DType::I64, &[1], &[1]), counted(dtype, &[1]));
        let values = vec![
            ("input", changed.target()),
            ("dim", Value::Int(0)),
            ("index", index.input()),
            ("src", src.input()),
            ("reduce", text(reduce)),
        ];
        let message = format!("torch.scatter_reduce_: {what} is not defined for dtype {dtype}");
        refuses(
            "torch.scatter_reduce_",
            values,
            Class::NotImplemented,
            &message,
        );
        assert_eq!(changed.bytes(), before);
    }
}

#[test]
fn arguments_of_other_kinds() {
    let name = "torch.scatter_reduce_";
    let mut changed = counted(DType::F32, &[2]);
    refuses(
        name,
        vec![],
        Class::Type,
        "torch.scatter_reduce_: input is missing: it must be given",
    );
    refuses(
        name,
        vec![("input", changed.target()), ("dim", text("0"))],
        Class::Type,
        "torch.scatter_reduce_: dim must be an integer, not a word",
    );
    refuses(
        name,
        vec![("input", changed.input())],
        Class::Type,
        "torch.scatter_reduce_: input must be a tensor that may be written to, not a tensor",
    );
    refuses(
        name,
        vec![("include_self", Value::Int(1))],
        Class::Type,
        "torch.scatter_reduce_: include_self must be true or false, not an integer",
    );
    refuses(
        name,
        vec![("axis", Value::Int(1))],
        Class::Type,
        "torch.scatter_reduce_: argument = axis: it must be one of input, dim, index, src, reduce, include_self",
    );
    refuses(
        name,
        vec![("input", changed.target()), ("dim", Value::Int(0))],
        Class::Type,
        "torch.scatter_reduce_: index is missing: it must be given",
    );
    let operator = strew::find(name).unwrap();
    let error = strew::Arguments::new(operator)
        .set(6, Value::Int(1))
        .unwrap_err();
    crate::says(
        &error,
        Class::Type,
        "torch.scatter_reduce_: argument 7 must be one of 6, not one more",
    );
    assert!(strew::find("torch.scatter_reduce__").is_none());
}
