//! Outputs that no machine holds: errors, never an abort, and never a wait.

use crate::support::ways::call;
use crate::{counted, ints, says, text};
use strew::{Class, DType, DynView, Error, Layout, Problem, Value};

/// That many bytes were asked for; how many there are is the machine's to say.
#[track_caller]
fn too_large(error: &Error, operator: &str, what: &str, bytes: u128) {
    let Problem::Memory { available, .. } = error.problem() else {
        panic!("{error}");
    };
    says(
        error,
        Class::Memory,
        &format!(
            "{operator}: {what} needs {bytes} bytes, and {available} are available: make it smaller, or raise the limit (STREW_MEMORY_LIMIT, in bytes)"
        ),
    );
}

#[test]
fn mxnet_shape() {
    let (data, indices) = (counted(DType::F64, &[1]), ints(DType::U8, &[2, 1], &[0, 0]));
    for (shape, bytes) in [
        ([1 << 44, 1], 1u128 << 47),
        ([1 << 40, 1 << 40], 1 << 83),
        ([i64::MAX, i64::MAX], u128::MAX),
        ([i64::MAX, 2], 16 * (i64::MAX as u128)),
    ] {
        let values = vec![
            ("data", data.input()),
            ("indices", indices.input()),
            ("shape", Value::Integers(shape.to_vec().into())),
        ];
        let call = call("mxnet.scatter_nd", values).unwrap();
        let what = format!("a tensor of shape {shape:?} and dtype float64");
        too_large(&call.run().unwrap_err(), "mxnet.scatter_nd", &what, bytes);
    }
    let huge = [usize::MAX];
    let error = strew::mxnet::scatter_nd([1.0f32], &ndarray::array![[0i64]], &huge, None);
    let what = format!("a tensor of shape [{}] and dtype float32", i64::MAX);
    let bytes = 4 * i64::MAX as u128;
    too_large(&error.unwrap_err(), "mxnet.scatter_nd", &what, bytes);
}

#[test]
fn torch_scatter_size_from_the_index() {
    for (dtype, largest) in [
        (DType::U8, i64::MAX - 1),
        (DType::F32, i64::MAX - 1),
        (DType::C128, 1 << 44),
    ] {
        for reduce in ["sum", "mul", "mean", "min"] {
            if dtype.is_complex() && reduce == "min" {
                continue;
            }
            let (src, index) = (counted(dtype, &[2]), ints(DType::I64, &[2], &[0, largest]));
            let values = vec![
                ("src", src.input()),
                ("index", index.input()),
                ("reduce", text(reduce)),
            ];
            let call = call("torch_scatter.scatter", values).unwrap();
            let size = largest as u128 + 1;
            let what = format!("a tensor of shape [{size}] and dtype {dtype}");
            let bytes = size * dtype.size() as u128;
            too_large(
                &call.run().unwrap_err(),
                "torch_scatter.scatter",
                &what,
                bytes,
            );
        }
    }
    let (src, index) = (counted(DType::I8, &[1, 1]), ints(DType::I64, &[1], &[0]));
    let values = vec![
        ("src", src.input()),
        ("index", index.input()),
        ("dim_size", Value::Int(1 << 50)),
    ];
    // The positions of winners are larger than the winners.
    let call = call("torch_scatter.scatter_min", values).unwrap();
    let what = format!("a tensor of shape [1, {}] and dtype int64", 1u64 << 50);
    too_large(
        &call.run().unwrap_err(),
        "torch_scatter.scatter_min",
        &what,
        1 << 53,
    );
}

/// An expanded input stands for more than memory holds; its copy would have to hold it.
#[test]
fn copies_of_expanded_inputs() {
    let one = [1.0f32];
    let layout = Layout::new(DType::F32, &[1 << 30, 1 << 20], &[0, 0]).unwrap();
    // SAFETY: every element is the one float.
    let view = unsafe { DynView::from_raw_parts(one.as_ptr().cast(), layout).unwrap() };
    let (index, src) = (
        ints(DType::I32, &[1, 1], &[0]),
        counted(DType::F32, &[1, 1]),
    );
    let values = vec![
        ("input", Value::Tensor(view.clone())),
        ("dim", Value::Int(0)),
        ("index", index.input()),
        ("src", src.input()),
        ("reduce", text("sum")),
    ];
    let call_ = call("torch.scatter_reduce", values).unwrap();
    let what = "a tensor of shape [1073741824, 1048576] and dtype float32";
    too_large(
        &call_.run().unwrap_err(),
        "torch.scatter_reduce",
        what,
        1 << 52,
    );
    let none = counted(DType::F32, &[0, 1 << 20]);
    let values = vec![
        ("data", Value::Tensor(view)),
        ("updates", none.input()),
        ("start", Value::Integers(vec![0].into())),
        ("stop", Value::Integers(vec![0].into())),
        ("step", Value::Integers(vec![1].into())),
    ];
    let call_ = call("openvino.slice_scatter", values).unwrap();
    too_large(
        &call_.run().unwrap_err(),
        "openvino.slice_scatter",
        what,
        1 << 52,
    );
}

/// A list of integers that is an expanded tensor of 2^60 values is not read.
#[test]
fn expanded_lists() {
    let one = [1i64];
    let layout = Layout::new(DType::I64, &[1 << 60], &[0]).unwrap();
    // SAFETY: every element is the one word.
    let view = unsafe { DynView::from_raw_parts(one.as_ptr().cast(), layout).unwrap() };
    let data = counted(DType::F32, &[1]);
    let indices = ints(DType::I8, &[1, 1], &[0]);
    let message = "shape has shape [1152921504606846976]: it must have at most 65536 values";
    let values = vec![
        ("data", data.input()),
        ("indices", indices.input()),
        ("shape", Value::Tensor(view.clone())),
    ];
    let error = call("mxnet.scatter_nd", values).unwrap_err();
    says(
        &error,
        Class::Value,
        &format!("mxnet.scatter_nd: {message}"),
    );
    let values = vec![
        ("data", data.input()),
        ("updates", data.input()),
        ("start", Value::Tensor(view)),
        ("stop", Value::Integers(vec![0].into())),
        ("step", Value::Integers(vec![1].into())),
    ];
    let error = call("openvino.slice_scatter", values).unwrap_err();
    let message = message.replace("shape has", "start has");
    says(
        &error,
        Class::Value,
        &format!("openvino.slice_scatter: {message}"),
    );
}

/// A forced dense table for a destination that is large, but not itself in memory.
#[test]
fn forced_tables() {
    let index = ints(DType::I64, &[1], &[0]);
    let src = counted(DType::F32, &[1]);
    let mut input = counted(DType::F32, &[1 << 20]);
    let before = input.bytes().to_vec();
    let values = vec![
        ("input", input.target()),
        ("dim", Value::Int(0)),
        ("index", index.input()),
        ("src", src.input()),
        ("reduce", text("sum")),
    ];
    let call = call("torch.scatter_reduce_", values).unwrap();
    let plan = call
        .with_strategy("dense-table".parse().ok())
        .execution()
        .unwrap();
    assert_eq!(plan.working_memory(), (4 + 8) << 20);
    assert_eq!(input.bytes(), before);
}
