//! PyTorch's `segment_reduce`: arguments that do not fit.

use crate::support::ways::{call, with_threads};
use crate::{counted, ints, refuses, says, text};
use strew::{Class, DType, Scalar, Value};

const NAME: &str = "torch.segment_reduce";

/// Groups of a vector of four numbers.
#[track_caller]
fn refuse(groups: &[(&str, &[i64])], more: &[(&'static str, i64)], class: Class, message: &str) {
    let data = counted(DType::F32, &[4]);
    let arrays: Vec<_> = groups
        .iter()
        .map(|(_, values)| ints(DType::I64, &[values.len()], values))
        .collect();
    let mut values = vec![("data", data.input()), ("reduce", text("sum"))];
    for ((name, _), array) in groups.iter().zip(&arrays) {
        values.push((*name, array.input()));
    }
    values.extend(more.iter().map(|&(name, value)| (name, Value::Int(value))));
    refuses(NAME, values, class, &format!("{NAME}: {message}"));
}

#[test]
fn lengths_that_do_not_fit() {
    let runtime = Class::Runtime;
    let negative = "lengths[1] = -1: lengths contains negative value!";
    refuse(
        &[("lengths", &[5, -1])],
        &[],
        runtime,
        "lengths[0] = 5: with those before it, there are 5 elements, but data has 4",
    );
    refuse(&[("lengths", &[3, -1, 2])], &[], runtime, negative);
    let few = "lengths = 3 in all: Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1), 4, when !unsafe";
    refuse(&[("lengths", &[1, 2])], &[], runtime, few);
    let none = few.replace("3 in all", "0 in all");
    refuse(&[("lengths", &[])], &[], runtime, &none);
    let huge = format!(
        "lengths[1] = {0}: with those before it, there are {1} elements, but data has 4",
        i64::MAX,
        i64::MAX as u64 + 1
    );
    refuse(&[("lengths", &[1, i64::MAX])], &[], runtime, &huge);
}

#[test]
fn lengths_that_are_too_long_are_never_unsafe() {
    let data = counted(DType::F32, &[2, 4]);
    for (values, message) in [
        (
            [1, 3, 1, 4],
            "lengths[1, 1] = 4: with those before it, there are 5 elements, but data has 4",
        ),
        (
            [1, 3, -2, 4],
            "lengths[1, 0] = -2: lengths contains negative value!",
        ),
    ] {
        let lengths = ints(DType::I32, &[2, 2], &values);
        let values = vec![
            ("data", data.input()),
            ("reduce", text("max")),
            ("lengths", lengths.input()),
            ("axis", Value::Int(1)),
            ("unsafe", Value::Bool(true)),
        ];
        refuses(NAME, values, Class::Runtime, &format!("{NAME}: {message}"));
    }
    let lengths = ints(DType::I32, &[2, 2], &[1, 1, 0, 0]);
    let values = vec![
        ("data", data.input()),
        ("reduce", text("sum")),
        ("lengths", lengths.input()),
        ("axis", Value::Int(-1)),
        ("unsafe", Value::Bool(true)),
    ];
    let made = call(NAME, values).and_then(strew::Call::run).unwrap();
    let made = made.tensor.unwrap().typed::<f32>().unwrap();
    assert_eq!(made.as_slice(), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn offsets_that_do_not_fit() {
    let runtime = Class::Runtime;
    let falls = "offsets[2] = 1: it must not be less than the value before it, 3";
    refuse(&[("offsets", &[0, 3, 1, 4])], &[], runtime, falls);
    let outside = |at: usize, value: i64| {
        format!(
            "offsets[{at}] = {value}: it must be from 0 to 4, the size of data along dimension 0"
        )
    };
    refuse(&[("offsets", &[0, 5])], &[], runtime, &outside(1, 5));
    refuse(&[("offsets", &[-1, 4])], &[], runtime, &outside(0, -1));
    refuse(
        &[("offsets", &[0, i64::MAX])],
        &[],
        runtime,
        &outside(1, i64::MAX),
    );
    let none = "offsets has shape [0]: it must say where the last group ends";
    refuse(&[("offsets", &[])], &[], runtime, none);
    // Lengths beside them are not looked at.
    refuse(
        &[("lengths", &[4]), ("offsets", &[0, 5])],
        &[],
        runtime,
        &outside(1, 5),
    );
}

#[test]
fn what_is_missing_or_refused() {
    let runtime = Class::Runtime;
    refuse(
        &[],
        &[],
        runtime,
        "lengths (or offsets) is missing: it must be given",
    );
    let indices = "indices = a tensor: indices based reduction is not supported yet";
    refuse(
        &[("indices", &[0, 0, 1, 1]), ("lengths", &[4])],
        &[],
        runtime,
        indices,
    );
    let axis = "axis = 1: Dimension out of range (expected to be in range of [-1, 0], but got 1)";
    refuse(&[("lengths", &[4])], &[("axis", 1)], Class::Index, axis);
}

#[test]
fn shapes_and_types() {
    let (matrix, vector, number) = (
        counted(DType::F32, &[2, 4]),
        counted(DType::F32, &[4]),
        counted(DType::F32, &[]),
    );
    for (data, shape, axis, message) in [
        (
            &matrix,
            &[2][..],
            1,
            "lengths has shape [2]: Expected axis to be the last dimension of lengths but got 1",
        ),
        (
            &matrix,
            &[2, 1],
            0,
            "lengths has shape [2, 1]: Expected axis to be the last dimension of lengths but got 0",
        ),
        (
            &matrix,
            &[1, 2],
            1,
            "lengths has shape [1, 2]: its sizes but the last must be data's, [2]",
        ),
        (
            &vector,
            &[],
            0,
            "lengths has shape []: Expected axis to be the last dimension of lengths but got 0",
        ),
        (
            &number,
            &[1],
            0,
            "lengths has shape [1]: Expected axis to be the last dimension of lengths but got 0",
        ),
    ] {
        let lengths = ints(DType::I64, shape, &vec![4; shape.iter().product()]);
        let values = vec![
            ("data", data.input()),
            ("reduce", text("sum")),
            ("lengths", lengths.input()),
            ("axis", Value::Int(axis)),
        ];
        refuses(NAME, values, Class::Runtime, &format!("{NAME}: {message}"));
    }
    for (dtype, reduce, index, class, message) in [
        (
            DType::I32,
            "mean",
            DType::I64,
            Class::NotImplemented,
            "mean is not defined for dtype int32",
        ),
        (
            DType::Bool,
            "mean",
            DType::I64,
            Class::NotImplemented,
            "mean is not defined for dtype bool",
        ),
        (
            DType::C64,
            "max",
            DType::I64,
            Class::NotImplemented,
            "the maximum is not defined for dtype complex64",
        ),
        (
            DType::F32,
            "sum",
            DType::I16,
            Class::Runtime,
            "lengths has dtype int16: it must be int32 or int64",
        ),
        (
            DType::F32,
            "median",
            DType::I64,
            Class::Runtime,
            "reduce = \"median\": reduce argument must be either sum, prod, mean, amax or amin",
        ),
    ] {
        let (data, lengths) = (counted(dtype, &[4]), ints(index, &[1], &[4]));
        let values = vec![
            ("data", data.input()),
            ("reduce", text(reduce)),
            ("lengths", lengths.input()),
        ];
        refuses(NAME, values, class, &format!("{NAME}: {message}"));
    }
}

#[test]
fn an_initial_value_that_is_none() {
    let (data, lengths) = (counted(DType::F16, &[4]), ints(DType::I64, &[1], &[4]));
    let run = |initial: f64| {
        let values = vec![
            ("data", data.input()),
            ("reduce", text("max")),
            ("lengths", lengths.input()),
            ("initial", Value::Scalar(Scalar::Float(initial))),
        ];
        with_threads(2, || call(NAME, values).and_then(strew::Call::run))
    };
    let message = "initial = 1000000.0: value cannot be converted to type float16 without overflow";
    says(
        &run(1e6).unwrap_err(),
        Class::Runtime,
        &format!("{NAME}: {message}"),
    );
    assert!(run(f64::INFINITY).is_ok());
}
