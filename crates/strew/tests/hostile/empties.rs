//! Arrays without elements: of no size, of sizes whose product is too large, on every side.

use crate::naive::Array;
use crate::support::Strided;
use crate::support::ways::{call, made, positions};
use crate::{counted, ints, refuses, text};
use strew::{Class, DType, DynView, DynViewMut, Layout, Value};

/// Next to a size of 0, sizes that no memory could hold.
const VAST: usize = 1 << 40;

fn vast<'a>(dtype: DType, shape: &[usize]) -> DynView<'a> {
    assert!(shape.contains(&0));
    let layout = Layout::contiguous(dtype, shape).unwrap();
    // SAFETY: there is no element.
    unsafe { DynView::from_raw_parts(std::ptr::null(), layout).unwrap() }
}

fn vast_mut<'a>(dtype: DType, shape: &[usize]) -> DynViewMut<'a> {
    assert!(shape.contains(&0));
    let layout = Layout::contiguous(dtype, shape).unwrap();
    // SAFETY: there is no element.
    unsafe { DynViewMut::from_raw_parts(std::ptr::null_mut(), layout).unwrap() }
}

#[test]
fn vast_sizes_next_to_nothing() {
    for shape in [[VAST, VAST, 0], [0, VAST, VAST], [VAST, 0, VAST]] {
        assert_eq!(vast(DType::F64, &shape).len(), 0);
        let sizes: Vec<i64> = shape.iter().map(|&n| n as i64).collect();
        let data_shape = [&[1], &shape[1..]].concat();
        if shape[1..].contains(&0) {
            let indices = ints(DType::I64, &[1, 1], &[0]);
            let values = vec![
                ("data", Value::Tensor(vast(DType::F64, &data_shape))),
                ("indices", indices.input()),
                ("shape", Value::Integers(sizes.clone().into())),
            ];
            let out = call("mxnet.scatter_nd", values).unwrap();
            out.execution().unwrap();
            assert_eq!(out.run().unwrap().tensor.unwrap().shape(), shape);
        }
        for (updates, stop) in [(shape, i64::MAX), ([0, shape[1], shape[2]], 0)] {
            let values = vec![
                ("data", Value::Tensor(vast(DType::I8, &shape))),
                ("updates", Value::Tensor(vast(DType::I8, &updates))),
                ("start", Value::Integers(vec![0].into())),
                ("stop", Value::Integers(vec![stop].into())),
                ("step", Value::Integers(vec![1].into())),
            ];
            let out = call("openvino.slice_scatter", values).unwrap();
            out.execution().unwrap();
            assert_eq!(out.run().unwrap().tensor.unwrap().shape(), shape);
        }
        for reduce in ["sum", "mean", "amax"] {
            let index = vast(DType::I64, &shape);
            let values = vec![
                ("input", Value::Target(vast_mut(DType::F16, &shape))),
                ("dim", Value::Int(1)),
                ("index", Value::Tensor(index)),
                ("src", Value::Tensor(vast(DType::F16, &shape))),
                ("reduce", text(reduce)),
            ];
            let call = call("torch.scatter_reduce_", values).unwrap();
            call.execution().unwrap();
            call.run().unwrap();
        }
        let index = ints(DType::I32, &[1], &[0]);
        let values = vec![
            ("src", Value::Tensor(vast(DType::F32, &shape))),
            (
                "index",
                Value::Tensor(index.view().broadcast_to(&[shape[2]]).unwrap()),
            ),
            ("dim_size", Value::Int(0)),
        ];
        let call = call("torch_scatter.scatter_max", values).unwrap();
        let shape = [shape[0], shape[1], 0];
        assert_eq!(call.run().unwrap().arg.unwrap().shape(), shape);
    }
    let indices = ints(DType::I32, &[2], &[0, 0]);
    let values = vec![
        (
            "input_x",
            Value::Target(vast_mut(DType::F16, &[3, VAST, 0, VAST])),
        ),
        ("indices", indices.input()),
        (
            "updates",
            Value::Tensor(vast(DType::I8, &[2, VAST, 0, VAST])),
        ),
    ];
    call("mindspore.scatter_mul", values)
        .unwrap()
        .run()
        .unwrap();
}

/// Updates for a destination without cells: no index can be right.
#[test]
fn an_axis_of_size_0_and_an_index_for_it() {
    let (index, src) = (
        ints(DType::I64, &[1, 1], &[0]),
        counted(DType::F32, &[1, 1]),
    );
    for shape in [vec![0, 3], vec![0, VAST]] {
        for (reduce, include_self) in [("sum", true), ("mean", false), ("amin", true)] {
            let values = vec![
                ("input", Value::Target(vast_mut(DType::F32, &shape))),
                ("dim", Value::Int(0)),
                ("index", index.input()),
                ("src", src.input()),
                ("reduce", text(reduce)),
                ("include_self", Value::Bool(include_self)),
            ];
            refuses(
                "torch.scatter_reduce_",
                values,
                Class::Runtime,
                "torch.scatter_reduce_: index[0, 0] = 0: index 0 is out of bounds for dimension 0 with size 0",
            );
        }
    }
    let (cube, one) = (
        ints(DType::I64, &[1, 1, 1], &[0]),
        counted(DType::F32, &[1, 1, 1]),
    );
    let values = vec![
        (
            "input",
            Value::Target(vast_mut(DType::F32, &[0, VAST, VAST])),
        ),
        ("dim", Value::Int(0)),
        ("index", cube.input()),
        ("src", one.input()),
        ("reduce", text("sum")),
    ];
    refuses(
        "torch.scatter_reduce_",
        values,
        Class::Runtime,
        "torch.scatter_reduce_: index[0, 0, 0] = 0: index 0 is out of bounds for dimension 0 with size 0",
    );
    let values = vec![
        ("data", src.input()),
        ("indices", index.input()),
        ("shape", Value::Integers(vec![0, 1].into())),
    ];
    refuses(
        "mxnet.scatter_nd",
        values,
        Class::Index,
        "mxnet.scatter_nd: indices[0, 0] = 0: index 0 is out of bounds for dimension 0 with size 0",
    );
    let values = vec![
        ("src", src.input()),
        ("index", index.input()),
        ("dim_size", Value::Int(0)),
    ];
    refuses(
        "torch_scatter.scatter",
        values,
        Class::Runtime,
        "torch_scatter.scatter: index[0, 0] = 0: index 0 is out of bounds for dimension 1 with size 0",
    );
    let values = vec![
        ("input_x", Value::Target(vast_mut(DType::F32, &[0, 1]))),
        ("indices", index.input()),
        ("updates", one.input()),
    ];
    refuses(
        "mindspore.scatter_mul",
        values,
        Class::Runtime,
        "mindspore.scatter_mul: indices[0, 0] = 0: index 0 is out of bounds for dimension 0 with size 0",
    );
}

#[test]
fn an_empty_index_leaves_everything() {
    for (index, src) in [(&[0][..], &[][..]), (&[0], &[5, 5]), (&[3, 0, 2], &[1])] {
        for dtype in [DType::I64, DType::F32, DType::Bool, DType::C128] {
            let input = counted(DType::F16, &[2, 3]);
            let (index, src) = (counted(dtype, index), counted(DType::F16, src));
            let values = vec![
                ("input", input.input()),
                ("dim", Value::Int(1)),
                ("index", index.input()),
                ("src", src.input()),
                ("reduce", text("mean")),
                ("include_self", Value::Bool(false)),
            ];
            let output = call("torch.scatter_reduce", values).unwrap().run().unwrap();
            assert_eq!(made(&output), input.read());
        }
    }
}

/// The index expands to an empty src, so it has no value and no largest one.
#[test]
fn an_empty_src_has_no_groups() {
    for (src, index, dim, expected) in [
        (&[0][..], &[1][..], 0, &[0][..]),
        (&[3, 0], &[3], 0, &[0, 0]),
        (&[2, 0], &[1], 1, &[2, 0]),
    ] {
        let values = vec![7; index.iter().product()];
        let (src, index) = (counted(DType::F32, src), ints(DType::I64, index, &values));
        let values = vec![
            ("src", src.input()),
            ("index", index.input()),
            ("dim", Value::Int(dim)),
        ];
        let output = call("torch_scatter.scatter_min", values)
            .unwrap()
            .run()
            .unwrap();
        assert_eq!(made(&output).shape, expected);
        assert_eq!(positions(&output), [] as [i64; 0]);
    }
}

#[test]
fn zero_dimensional_arrays() {
    let input = Strided::plain(&Array::of_ints(DType::I32, &[], &[40]));
    for (index, src) in [(&[][..], &[][..]), (&[1], &[]), (&[], &[1]), (&[3], &[4])] {
        let zeros = vec![0; index.iter().product()];
        let (index, src) = (ints(DType::I64, index, &zeros), counted(DType::I32, src));
        let values = vec![
            ("input", input.input()),
            ("dim", Value::Int(-1)),
            ("index", index.input()),
            ("src", src.input()),
            ("reduce", text("sum")),
        ];
        let output = call("torch.scatter_reduce", values).unwrap().run().unwrap();
        let sum = if index.read().data.len() == 3 { 46 } else { 41 };
        assert_eq!(made(&output), Array::of_ints(DType::I32, &[], &[sum]));
    }
}
