//! torch_scatter's `segment_coo`, `segment_csr`, `gather_coo` and `gather_csr`: arguments that do not fit.

use crate::support::Strided;
use crate::support::ways::{call, ways};
use crate::{counted, ints, refuses, says, text};
use strew::{Class, DType, Value};

/// Runs an operator in every way there is, without and with an `out` of that shape, which must be as it was.
#[track_caller]
fn refuse(name: &str, src: &Strided, pointing: (&str, &Strided), out: &[usize], message: &str) {
    let name = format!("torch_scatter.{name}");
    let message = format!("{name}: {message}");
    let inputs = || vec![("src", src.input()), (pointing.0, pointing.1.input())];
    for way in ways() {
        let run = |values| {
            let call = call(&name, values)?;
            call.with_strategy(way.force.filter(|&s| s == strew::Strategy::Runs))
                .with_split(way.split.map(|split| (split, way.threads)))
                .run()
        };
        let check = |error: strew::Error| match error.problem() {
            // Not every axis can be shared out.
            strew::Problem::Strategy { .. } => {}
            _ => says(&error, Class::Runtime, &message),
        };
        check(run(inputs()).unwrap_err());
        let mut changed = counted(src.view().dtype(), out);
        let before = changed.bytes().to_vec();
        let mut values = inputs();
        values.push(("out", changed.target()));
        check(run(values).unwrap_err());
        assert_eq!(changed.bytes(), before);
    }
}

#[test]
fn an_index_that_descends() {
    let src = counted(DType::F32, &[600]);
    for place in [1, 255, 256, 257, 599] {
        let mut values = vec![3; 600];
        values[place] = 2;
        let index = ints(DType::I64, &[600], &values);
        let message =
            format!("index[{place}] = 2: it must not be less than the value before it, 3");
        for name in ["segment_sum_coo", "segment_mean_coo", "segment_max_coo"] {
            refuse(name, &src, ("index", &index), &[5], &message);
        }
        let rows = counted(DType::F32, &[4]);
        refuse("gather_coo", &rows, ("index", &index), &[600], &message);
    }
    let src = counted(DType::I16, &[2, 3]);
    let index = ints(DType::I32, &[2, 3], &[0, 1, 2, 1, 0, 2]);
    let message = "index[1, 1] = 0: it must not be less than the value before it, 1";
    refuse("segment_min_coo", &src, ("index", &index), &[2, 3], message);
    // A negative value after a larger one descends; the first of a line has none before it.
    let index = ints(DType::I32, &[1, 3], &[0, -1, 2]);
    let message = "index[0, 1] = -1: it must not be less than the value before it, 0";
    refuse("segment_min_coo", &src, ("index", &index), &[2, 3], message);
}

#[test]
fn an_index_that_is_out_of_range() {
    let src = counted(DType::F64, &[3, 2]);
    for (bad, values) in [(-1, [-1, 0, 1]), (i64::MIN, [i64::MIN, 0, 1])] {
        let index = ints(DType::I64, &[3], &values);
        let message =
            format!("index[0] = {bad}: index {bad} is out of bounds for dimension 0 with size 2");
        refuse(
            "segment_add_coo",
            &src,
            ("index", &index),
            &[2, 2],
            &message,
        );
    }
    for (at, values, bad) in [
        (2, [0, 1, 7], 7),
        (1, [0, i64::MAX, i64::MAX], i64::MAX),
        (0, [-3, 0, 0], -3),
    ] {
        let index = ints(DType::I64, &[3], &values);
        let message = format!(
            "index[{at}] = {bad}: index {bad} is out of bounds for dimension 0 with size 3"
        );
        refuse("gather_coo", &src, ("index", &index), &[3, 2], &message);
    }
    let index = ints(DType::I64, &[3], &[0, 1, 7]);
    let values = vec![
        ("src", src.input()),
        ("index", index.input()),
        ("dim_size", Value::Int(7)),
    ];
    let message = "torch_scatter.segment_coo: index[2] = 7: index 7 is out of bounds for dimension 0 with size 7";
    refuses("torch_scatter.segment_coo", values, Class::Runtime, message);
}

#[test]
fn pointers_that_are_outside() {
    let src = counted(DType::F32, &[5, 2]);
    for (at, bad) in [(0, -1), (1, 6), (2, i64::MAX), (3, i64::MIN)] {
        let mut values = [0, 2, 2, 5];
        values[at] = bad;
        let indptr = ints(DType::I64, &[4], &values);
        let message = format!(
            "indptr[{at}] = {bad}: it must be from 0 to 5, the size of src along dimension 0"
        );
        for name in ["segment_sum_csr", "segment_mean_csr", "segment_min_csr"] {
            refuse(name, &src, ("indptr", &indptr), &[3, 2], &message);
        }
    }
    let src = counted(DType::I8, &[2, 1]);
    let indptr = ints(DType::I32, &[2, 2], &[0, 4, 0, 3]);
    let message = "indptr[0, 1] = 4: it must be from 0 to 3, the size of out along dimension 1";
    refuse("gather_csr", &src, ("indptr", &indptr), &[2, 3], message);
    let indptr = ints(DType::I32, &[1, 2], &[0, -2]);
    let message = "indptr[0, 1] = -2: it must be from 0 to 0, the size of out along dimension 1";
    refuse("gather_csr", &src, ("indptr", &indptr), &[2, 0], message);
    // Nothing is read from a source without elements, but a pointer into it is wrong all the same.
    let none = counted(DType::F32, &[0]);
    let indptr = ints(DType::I64, &[2], &[0, 1]);
    let message = "indptr[1] = 1: it must be from 0 to 0, the size of src along dimension 0";
    refuse("segment_sum_csr", &none, ("indptr", &indptr), &[1], message);
}

#[test]
fn a_result_that_is_too_large() {
    let src = counted(DType::F32, &[1]);
    let index = ints(DType::I64, &[1], &[1 << 60]);
    let indptr = ints(DType::I64, &[2], &[0, 1 << 60]);
    for (name, pointing) in [
        ("torch_scatter.segment_coo", ("index", index.input())),
        ("torch_scatter.gather_csr", ("indptr", indptr.input())),
    ] {
        let call = call(name, vec![("src", src.input()), pointing]);
        let error = call.and_then(strew::Call::run).unwrap_err();
        assert_eq!(error.class(), Class::Memory, "{error}");
    }
}

#[test]
fn ranks_and_shapes() {
    let zero = [0i64; 64];
    for (name, pointing, src, index, message) in [
        (
            "segment_coo",
            "index",
            &[][..],
            &[][..],
            "src has shape []: it must have at least one dimension",
        ),
        (
            "segment_csr",
            "indptr",
            &[2],
            &[],
            "indptr has shape []: it must have from 1 to src's 1 dimensions",
        ),
        (
            "segment_coo",
            "index",
            &[2],
            &[1, 2],
            "index has shape [1, 2]: it must have from 1 to src's 1 dimensions",
        ),
        (
            "segment_coo",
            "index",
            &[2, 6],
            &[6],
            "index has shape [6]: it must expand to [2], as src's shape asks",
        ),
        (
            "segment_coo",
            "index",
            &[2, 6],
            &[3, 6],
            "index has shape [3, 6]: it must expand to [2, 6], as src's shape asks",
        ),
        (
            "segment_csr",
            "indptr",
            &[2, 6],
            &[3, 4],
            "indptr has shape [3, 4]: it must expand to [2, 4], as src's shape asks",
        ),
        (
            "gather_coo",
            "index",
            &[2, 6],
            &[1, 4],
            "index has shape [1, 4]: its sizes must be src's [2] but for the last",
        ),
        (
            "gather_csr",
            "indptr",
            &[2, 6],
            &[2, 6],
            "indptr has shape [2, 6]: it must have 7 pointers, one more than src has rows",
        ),
        (
            "gather_csr",
            "indptr",
            &[3],
            &[0],
            "indptr has shape [0]: it must have 4 pointers, one more than src has rows",
        ),
        (
            "gather_coo",
            "index",
            &[],
            &[1],
            "src has shape []: it must have at least one dimension",
        ),
    ] {
        let src = counted(DType::F32, src);
        let index = ints(DType::I64, index, &zero[..index.iter().product()]);
        let name = format!("torch_scatter.{name}");
        let values = vec![("src", src.input()), (pointing, index.input())];
        refuses(&name, values, Class::Runtime, &format!("{name}: {message}"));
    }
}

#[test]
fn dtypes_and_words() {
    let src = counted(DType::F32, &[2]);
    for dtype in DType::ALL {
        if dtype == DType::I32 || dtype == DType::I64 {
            continue;
        }
        let index = counted(dtype, &[2]);
        for (name, pointing) in [
            ("segment_coo", "index"),
            ("segment_csr", "indptr"),
            ("gather_coo", "index"),
        ] {
            let name = format!("torch_scatter.{name}");
            let message = format!(
                "{name}: {pointing} has dtype {dtype}: Expected dtype int32/int64 for index"
            );
            let values = vec![("src", src.input()), (pointing, index.input())];
            refuses(&name, values, Class::Runtime, &message);
        }
    }
    let index = ints(DType::I64, &[2], &[0, 0]);
    for (dtype, name, pointing, what) in [
        (DType::Bool, "segment_mean_coo", "index", "mean"),
        (DType::Bool, "segment_mean_csr", "indptr", "mean"),
        (DType::C64, "segment_min_coo", "index", "the minimum"),
        (DType::C128, "segment_max_csr", "indptr", "the maximum"),
    ] {
        let src = counted(dtype, &[2]);
        let name = format!("torch_scatter.{name}");
        let message = format!("{name}: {what} is not defined for dtype {dtype}");
        let values = vec![("src", src.input()), (pointing, index.input())];
        refuses(&name, values, Class::NotImplemented, &message);
    }
    for (name, pointing) in [("segment_coo", "index"), ("segment_csr", "indptr")] {
        let name = format!("torch_scatter.{name}");
        for word in ["", "mul", "prod", "Sum"] {
            let values = vec![
                ("src", src.input()),
                (pointing, index.input()),
                ("reduce", text(word)),
            ];
            let message =
                format!("{name}: reduce = {word:?}: it must be sum, add, mean, min or max");
            refuses(&name, values, Class::Value, &message);
        }
    }
    let error =
        strew::torch_scatter::segment_csr([1.0f32], [0i64, 1], strew::torch_scatter::Reduce::Mul);
    let message =
        "torch_scatter.segment_csr: reduce = \"mul\": it must be sum, add, mean, min or max";
    says(&error.unwrap_err(), Class::Value, message);
    let values = vec![
        ("src", src.input()),
        ("index", index.input()),
        ("dim_size", Value::Int(-1)),
    ];
    let message = "torch_scatter.segment_coo: dim_size = -1: it must be at least 0";
    refuses("torch_scatter.segment_coo", values, Class::Runtime, message);
}

#[test]
fn an_out_that_does_not_fit() {
    let src = counted(DType::F32, &[2, 3]);
    let index = ints(DType::I64, &[1, 3], &[0, 0, 1]);
    let pointers = ints(DType::I64, &[1, 4], &[0, 1, 2, 3]);
    for (name, pointing, dtype, shape, message) in [
        (
            "segment_coo",
            ("index", &index),
            DType::F64,
            &[2, 2][..],
            "out has dtype float64: it must be src's dtype, float32",
        ),
        (
            "segment_coo",
            ("index", &index),
            DType::F32,
            &[2],
            "out has shape [2]: it must be src's shape [2, 3] apart from dimension 1",
        ),
        (
            "segment_csr",
            ("indptr", &pointers),
            DType::F32,
            &[1, 3],
            "out has shape [1, 3]: it must be src's shape [2, 3] apart from dimension 1",
        ),
        (
            "segment_csr",
            ("indptr", &pointers),
            DType::F32,
            &[2, 2],
            "out has shape [2, 2]: its size along dimension 1 must be 3, one less than there are pointers",
        ),
        (
            "gather_csr",
            ("indptr", &pointers),
            DType::F32,
            &[3, 3],
            "out has shape [3, 3]: it must be src's shape [2, 3] apart from dimension 1",
        ),
    ] {
        let mut out = counted(dtype, shape);
        let before = out.bytes().to_vec();
        let name = format!("torch_scatter.{name}");
        let values = vec![
            ("src", src.input()),
            (pointing.0, pointing.1.input()),
            ("out", out.target()),
        ];
        refuses(&name, values, Class::Runtime, &format!("{name}: {message}"));
        assert_eq!(out.bytes(), before);
    }
    let index = ints(DType::I64, &[2, 2], &[0, 1, 0, 1]);
    let mut out = counted(DType::F32, &[2, 3]);
    let values = vec![
        ("src", src.input()),
        ("index", index.input()),
        ("out", out.target()),
    ];
    let message = "torch_scatter.gather_coo: out has shape [2, 3]: its size along dimension 1 must be 2, as many as there are indices";
    refuses("torch_scatter.gather_coo", values, Class::Runtime, message);
}
