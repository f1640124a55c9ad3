//! Index values that name no cell: in the first, a middle and the last block, for every operator.

use crate::naive::Array;
use crate::naive::number::write;
use crate::support::ways::call;
use crate::support::{Placement, Random, Strided};
use crate::{counted, ints, says, text};
use strew::{Class, DType, Strategy, Value};

const COUNT: usize = 1700;
/// First, within the first block, at its end, in a middle block, at the end.
const PLACES: [usize; 6] = [0, 1, 511, 512, 1000, COUNT - 1];
const BAD: [i64; 6] = [-1, 5, i64::MIN, i64::MAX, -6, 1 << 40];

fn index_with(place: usize, bad: i64) -> Strided {
    let mut values: Vec<i64> = (0..COUNT).map(|n| (n % 5) as i64).collect();
    values[place] = bad;
    ints(DType::I64, &[COUNT], &values)
}

/// Every reduction, with every strategy that can run it.
#[test]
fn torch_in_place() {
    let mut random = Random(1);
    for (place, bad) in PLACES.into_iter().flat_map(|p| BAD.map(|b| (p, b))) {
        let index = index_with(place, bad);
        for (dtype, reduce) in [
            (DType::F32, "sum"),
            (DType::F16, "sum"),
            (DType::I64, "mean"),
            (DType::F64, "amax"),
            (DType::BF16, "amin"),
            (DType::C64, "prod"),
        ] {
            let src = counted(dtype, &[COUNT]);
            let memory = Placement::random(&mut random, 1);
            let input = counted(dtype, &[5]).read();
            for force in [None].into_iter().chain(Strategy::ALL.map(Some)) {
                for include_self in [true, false] {
                    let mut changed = Strided::new(&input, &memory);
                    let before = changed.bytes().to_vec();
                    let values = vec![
                        ("input", changed.target()),
                        ("dim", Value::Int(0)),
                        ("index", index.input()),
                        ("src", src.input()),
                        ("reduce", text(reduce)),
                        ("include_self", Value::Bool(include_self)),
                    ];
                    let call = call("torch.scatter_reduce_", values).unwrap();
                    let call = call.with_strategy(force);
                    if call.execution().is_err() {
                        drop(call);
                    } else {
                        says(
                            &call.run().unwrap_err(),
                            Class::Runtime,
                            &format!(
                                "torch.scatter_reduce_: index[{place}] = {bad}: index {bad} is out of bounds for dimension 0 with size 5"
                            ),
                        );
                    }
                    assert_eq!(changed.bytes(), before);
                }
            }
        }
    }
}

#[test]
fn torch_names_the_first_bad_value_and_its_place() {
    let mut values = vec![0; 24];
    (values[11], values[17]) = (9, -3);
    let index = ints(DType::I32, &[2, 3, 4], &values);
    let (input, src) = (
        counted(DType::U8, &[2, 7, 4]),
        counted(DType::U8, &[2, 3, 4]),
    );
    let values = vec![
        ("input", input.input()),
        ("dim", Value::Int(-2)),
        ("index", index.input()),
        ("src", src.input()),
        ("reduce", text("sum")),
    ];
    let error = call("torch.scatter_reduce", values)
        .unwrap()
        .run()
        .unwrap_err();
    says(
        &error,
        Class::Runtime,
        "torch.scatter_reduce: index[0, 2, 3] = 9: index 9 is out of bounds for dimension 1 with size 7",
    );
}

#[test]
fn mindspore_in_place() {
    for (place, bad) in PLACES.into_iter().flat_map(|p| BAD.map(|b| (p, b))) {
        let indices = index_with(place, bad);
        for (dtype, from) in [
            (DType::F32, DType::I8),
            (DType::F16, DType::F16),
            (DType::U8, DType::U8),
        ] {
            let updates = counted(from, &[COUNT, 3]);
            let mut changed = counted(dtype, &[5, 3]);
            let before = changed.bytes().to_vec();
            let values = vec![
                ("input_x", changed.target()),
                ("indices", indices.input()),
                ("updates", updates.input()),
            ];
            let error = call("mindspore.scatter_mul", values)
                .unwrap()
                .run()
                .unwrap_err();
            says(
                &error,
                Class::Runtime,
                &format!(
                    "mindspore.scatter_mul: indices[{place}] = {bad}: index {bad} is out of bounds for dimension 0 with size 5"
                ),
            );
            assert_eq!(changed.bytes(), before);
        }
    }
}

#[test]
fn torch_scatter_new_and_into_out() {
    for (place, bad) in PLACES.into_iter().flat_map(|p| BAD.map(|b| (p, b))) {
        let index = index_with(place, bad);
        let src = counted(DType::I16, &[COUNT]);
        for name in [
            "scatter_sum",
            "scatter_mul",
            "scatter_mean",
            "scatter_min",
            "scatter_max",
        ] {
            let message = format!(
                "torch_scatter.{name}: index[{place}] = {bad}: index {bad} is out of bounds for dimension 0 with size 5"
            );
            let values = vec![
                ("src", src.input()),
                ("index", index.input()),
                ("dim_size", Value::Int(5)),
            ];
            let call_ = call(&format!("torch_scatter.{name}"), values).unwrap();
            says(&call_.run().unwrap_err(), Class::Runtime, &message);

            let mut out = counted(DType::I16, &[5]);
            let before = out.bytes().to_vec();
            let values = vec![
                ("src", src.input()),
                ("index", index.input()),
                ("out", out.target()),
            ];
            let call_ = call(&format!("torch_scatter.{name}"), values).unwrap();
            says(&call_.run().unwrap_err(), Class::Runtime, &message);
            assert_eq!(out.bytes(), before);
        }
    }
    // Without a size, a negative index is still one: the largest makes the size.
    for (all, place, bad, size) in [
        ([-1, -2], 0, -1, 0),
        ([3, -2], 1, -2, 4),
        ([-7, 0], 0, -7, 1),
    ] {
        let (index, src) = (ints(DType::I32, &[2], &all), counted(DType::F32, &[2]));
        let values = vec![("src", src.input()), ("index", index.input())];
        let error = call("torch_scatter.scatter", values)
            .unwrap()
            .run()
            .unwrap_err();
        says(
            &error,
            Class::Runtime,
            &format!(
                "torch_scatter.scatter: index[{place}] = {bad}: index {bad} is out of bounds for dimension 0 with size {size}"
            ),
        );
    }
}

/// In a tensor with an index of its own for each element, of which many lines are taken at once.
#[test]
fn a_bad_value_in_a_later_line() {
    const SHAPE: [usize; 3] = [2, 150, 130];
    let src = counted(DType::F32, &SHAPE);
    let count = SHAPE.iter().product();
    for dim in 0..SHAPE.len() {
        for (i, j, k) in [(0, 1, 0), (0, 126, 129), (1, 0, 7), (1, 149, 129)] {
            for (bad, dtype) in [(-1, DType::I64), (5, DType::I32)] {
                let mut values = vec![3; count];
                values[(i * SHAPE[1] + j) * SHAPE[2] + k] = bad;
                let index = ints(dtype, &SHAPE, &values);
                let values = vec![
                    ("src", src.input()),
                    ("index", index.input()),
                    ("dim", Value::Int(dim as i64)),
                    ("dim_size", Value::Int(5)),
                ];
                let call = call("torch_scatter.scatter", values).unwrap();
                let message = format!(
                    "torch_scatter.scatter: index[{i}, {j}, {k}] = {bad}: index {bad} is out of bounds for dimension {dim} with size 5"
                );
                says(&call.run().unwrap_err(), Class::Runtime, &message);
            }
        }
    }
}

/// In a line so long that its values are taken sixteen at a time, and two of them together.
#[test]
fn a_bad_value_in_a_long_line() {
    const COUNT: usize = 8199;
    let src = counted(DType::I32, &[COUNT]);
    for place in [0, 1, 14, 15, 16, 5001, 8190, 8191, 8192, 8198] {
        for (bad, dtype) in [
            (-1, DType::I32),
            (5, DType::I32),
            (i64::from(i32::MIN), DType::I32),
            (-1, DType::I64),
            (5, DType::I64),
            (i64::MIN, DType::I64),
            (1 << 32, DType::I64),
        ] {
            let mut values = vec![3; COUNT];
            values[place] = bad;
            let index = ints(dtype, &[COUNT], &values);
            let values = vec![
                ("src", src.input()),
                ("index", index.input()),
                ("dim", Value::Int(0)),
                ("dim_size", Value::Int(5)),
            ];
            let call = call("torch_scatter.scatter", values).unwrap();
            let message = format!(
                "torch_scatter.scatter: index[{place}] = {bad}: index {bad} is out of bounds for dimension 0 with size 5"
            );
            says(&call.run().unwrap_err(), Class::Runtime, &message);
        }
    }
}

/// The position is that in the index as it was passed, not as it was expanded.
#[test]
fn torch_scatter_names_the_place_in_the_callers_index() {
    let src = counted(DType::F32, &[2, 3, 4]);
    for (shape, dim, position) in [
        (&[4][..], 2, "[1]"),
        (&[3], 1, "[1]"),
        (&[2, 3], 1, "[0, 1]"),
        (&[2, 3, 1], 1, "[0, 1, 0]"),
        (&[1, 3], 0, "[0, 1]"),
    ] {
        let mut values = vec![0; shape.iter().product()];
        values[1] = 8;
        let index = ints(DType::I64, shape, &values);
        let values = vec![
            ("src", src.input()),
            ("index", index.input()),
            ("dim", Value::Int(dim)),
            ("dim_size", Value::Int(2)),
        ];
        let error = call("torch_scatter.scatter_max", values)
            .unwrap()
            .run()
            .unwrap_err();
        says(
            &error,
            Class::Runtime,
            &format!(
                "torch_scatter.scatter_max: index{position} = 8: index 8 is out of bounds for dimension {dim} with size 2"
            ),
        );
    }
    // A 0-d index has no position.
    let index = ints(DType::I64, &[], &[4]);
    let values = vec![
        ("src", src.input()),
        ("index", index.input()),
        ("dim_size", Value::Int(4)),
    ];
    let error = call("torch_scatter.scatter", values)
        .unwrap()
        .run()
        .unwrap_err();
    says(
        &error,
        Class::Runtime,
        "torch_scatter.scatter: index = 4: index 4 is out of bounds for dimension 2 with size 4",
    );
}

#[test]
fn mxnet_integers() {
    for (place, bad) in PLACES.into_iter().flat_map(|p| BAD.map(|b| (p, b))) {
        let mut values: Vec<i64> = (0..2 * COUNT).map(|n| (n % 5) as i64).collect();
        values[COUNT + place] = bad;
        let indices = ints(DType::I64, &[2, COUNT], &values);
        let data = counted(DType::F32, &[COUNT]);
        let values = vec![
            ("data", data.input()),
            ("indices", indices.input()),
            ("shape", Value::Integers(vec![6, 5].into())),
            ("name", text("edges")),
        ];
        says(
            &call("mxnet.scatter_nd", values).unwrap().run().unwrap_err(),
            Class::Index,
            &format!(
                "mxnet.scatter_nd 'edges': indices[1, {place}] = {bad}: index {bad} is out of bounds for dimension 1 with size 5"
            ),
        );
    }
}

#[test]
fn mxnet_unsigned_and_floats() {
    let floats = [
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
        (-1.0, "-1"),
        (5.0, "5"),
    ];
    let mut cases = vec![
        (DType::U64, u128::from(u64::MAX), "18446744073709551615"),
        (DType::U64, 1 << 63, "9223372036854775808"),
        (DType::U8, 255, "255"),
        (DType::I8, 0x80, "-128"),
        (DType::F64, 1e300f64.to_bits().into(), ""),
    ];
    for (value, shown) in floats {
        for dtype in [DType::F16, DType::BF16, DType::F32] {
            cases.push((
                dtype,
                write(dtype, crate::naive::Num::F32(value as f32)),
                shown,
            ));
        }
        cases.push((DType::F64, value.to_bits().into(), shown));
    }
    for (dtype, bits, shown) in cases {
        let shown = match shown {
            "" => format!("{}", 1e300f64),
            shown => shown.to_owned(),
        };
        for place in [0, 600, 1299] {
            let mut indices = Array::filled(dtype, &[1, 1300], 0);
            indices.data[place] = bits;
            let (indices, data) = (Strided::plain(&indices), counted(DType::I32, &[1300]));
            let values = vec![
                ("data", data.input()),
                ("indices", indices.input()),
                ("shape", Value::Integers(vec![5].into())),
            ];
            says(
                &call("mxnet.scatter_nd", values).unwrap().run().unwrap_err(),
                Class::Index,
                &format!(
                    "mxnet.scatter_nd: indices[0, {place}] = {shown}: index {shown} is out of bounds for dimension 0 with size 5"
                ),
            );
        }
    }
}
