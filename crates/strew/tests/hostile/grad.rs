//! Derivatives: arguments that do not fit.

use crate::support::derivatives::arguments;
use crate::{counted, ints, says};
use strew::{Bounds, Class, DType, DynView, Plan, Reduce, Value, grad};

#[track_caller]
fn refused<R>(result: strew::Result<R>, class: Class, message: &str) {
    match result {
        Ok(_) => panic!("taken, though: {message}"),
        Err(error) => says(&error, class, message),
    }
}

/// The backward of `mxnet.scatter_nd` into `grad`'s shape.
fn scatter_nd(
    data: &DynView<'_>,
    indices: &DynView<'_>,
    grad: &DynView<'_>,
    name: &'static str,
) -> strew::Result<grad::Gradients> {
    let sizes: Vec<i64> = grad.shape().iter().map(|&n| n as i64).collect();
    let values = [
        ("data", Value::Tensor(data.clone())),
        ("indices", Value::Tensor(indices.clone())),
        ("shape", Value::Integers(sizes.into())),
        ("name", Value::Text(name.into())),
    ];
    grad::vjp(arguments("mxnet.scatter_nd", values)?, grad)
}

/// The backward of `openvino.slice_scatter` to the first row.
fn slice_scatter(
    data: &DynView<'_>,
    updates: &DynView<'_>,
    step: i64,
) -> strew::Result<grad::Gradients> {
    let values = [
        ("data", Value::Tensor(data.clone())),
        ("updates", Value::Tensor(updates.clone())),
        ("start", Value::Integers(vec![0].into())),
        ("stop", Value::Integers(vec![1].into())),
        ("step", Value::Integers(vec![step].into())),
    ];
    grad::vjp(arguments("openvino.slice_scatter", values)?, data)
}

/// The backward of `mindspore.scatter_mul`.
fn scatter_mul(
    grad: &DynView<'_>,
    input_x: &DynView<'_>,
    indices: &DynView<'_>,
    updates: &DynView<'_>,
) -> strew::Result<grad::Gradients> {
    let mut cells = input_x.to_tensor().unwrap();
    let values = [
        ("input_x", Value::Target(cells.view_mut())),
        ("indices", Value::Tensor(indices.clone())),
        ("updates", Value::Tensor(updates.clone())),
    ];
    grad::vjp(arguments("mindspore.scatter_mul", values)?, grad)
}

/// An argument's type and shape.
type Like<'a> = (DType, &'a [usize]);

/// The backward of a sum of three elements into two, with one argument that is as it is given.
#[track_caller]
fn torch(grad: Like<'_>, result: Like<'_>, index: &[i64], reduce: &str, message: &str) {
    let (grad, result) = (counted(grad.0, grad.1), counted(result.0, result.1));
    let (input, src) = (counted(DType::F32, &[2]), counted(DType::F32, &[3]));
    let index = ints(DType::I64, &[index.len()], index);
    let found = grad::torch::scatter_reduce_vjp_dyn(
        &grad.view(),
        &input.view(),
        0,
        &index.view(),
        &src.view(),
        &result.view(),
        reduce,
        true,
    );
    let message = format!("grad.torch.scatter_reduce_vjp: {message}");
    refused(found, Class::Runtime, &message);
}

#[test]
fn scatter_reduce() {
    let fine = (DType::F32, &[2][..]);
    let index = &[0, 1, 1];
    for (grad, result, message) in [
        (
            (DType::F32, &[3][..]),
            fine,
            "grad has shape [3]: it must be input's shape, [2]",
        ),
        (
            (DType::F64, &[2]),
            fine,
            "grad has dtype float64: it must be input's dtype, float32",
        ),
        (
            fine,
            (DType::F32, &[2, 1]),
            "result has shape [2, 1]: it must be input's shape, [2]",
        ),
        (
            fine,
            (DType::F16, &[2]),
            "result has dtype float16: it must be input's dtype, float32",
        ),
    ] {
        torch(grad, result, index, "amax", message);
    }
    for reduce in ["sum", "mean", "prod", "amax", "amin"] {
        let wrong = "index[1] = 2: index 2 is out of bounds for dimension 0 with size 2";
        torch(fine, fine, &[0, 2, 1], reduce, wrong);
        let wrong = "index[2] = -1: index -1 is out of bounds for dimension 0 with size 2";
        torch(fine, fine, &[0, 1, -1], reduce, wrong);
    }
    torch(
        fine,
        fine,
        &[0, 0, 0, 0],
        "sum",
        "index has shape [4]: Expected index [4] to be no larger than self [2] apart from dimension 0 and to be no larger size than src [3]",
    );
    torch(
        fine,
        fine,
        &[0],
        "max!",
        "reduce = \"max!\": reduce argument must be either sum, prod, mean, amax or amin",
    );
}

#[test]
fn types_without_gradients() {
    for dtype in DType::ALL {
        if dtype.is_float() || dtype.is_complex() {
            continue;
        }
        let (cells, src) = (counted(dtype, &[2]), counted(dtype, &[1]));
        let index = ints(DType::I64, &[1], &[0]);
        let indices = ints(DType::I64, &[1, 1], &[0]);
        let (c, s, i) = (cells.view(), src.view(), index.view());
        let why =
            format!("has dtype {dtype}: only floating-point and complex types have gradients");
        refused(
            grad::torch::scatter_reduce_vjp_dyn(&c, &c, 0, &i, &s, &c, "sum", true),
            Class::Runtime,
            &format!("grad.torch.scatter_reduce_vjp: input {why}"),
        );
        refused(
            grad::torch::scatter_reduce_jvp_dyn(&c, &s, &c, 0, &i, &s, &c, "sum", true),
            Class::Runtime,
            &format!("grad.torch.scatter_reduce_jvp: input {why}"),
        );
        refused(
            grad::torch_scatter::scatter_vjp_dyn(&c, &s, &i, 0, "sum"),
            Class::Runtime,
            &format!("grad.torch_scatter.scatter_vjp: src {why}"),
        );
        refused(
            scatter_nd(&s, &indices.view(), &c, "None"),
            Class::Type,
            &format!("grad.mxnet.scatter_nd 'None': data {why}"),
        );
        refused(
            slice_scatter(&c, &s, 1),
            Class::Type,
            &format!("grad.openvino.slice_scatter: data {why}"),
        );
        if dtype != DType::Bool {
            refused(
                scatter_mul(&c, &c, &i, &s),
                Class::TypeAndRuntime,
                &format!("grad.mindspore.scatter_mul: input_x {why}"),
            );
        }
        let plan = Plan::new([0i64], Some(2), Bounds::STRICT).unwrap();
        refused(
            grad::plan::scatter_vjp_dyn(&plan, &c, &s, &c, 0, Reduce::Sum),
            Class::Type,
            &format!("grad.plan.scatter_vjp: src {why}"),
        );
        refused(
            grad::plan::gather_vjp_dyn(&plan, &s, 0),
            Class::Type,
            &format!("grad.plan.gather_vjp: grad {why}"),
        );
    }
}

#[test]
fn torch_scatter() {
    let (src, index) = (
        counted(DType::F32, &[3, 2]),
        ints(DType::I64, &[3], &[0, 4, 1]),
    );
    let (s, i) = (src.view(), index.view());
    let name = "grad.torch_scatter.scatter_vjp";
    for reduce in ["sum", "mul", "mean", "min", "max"] {
        let grad = counted(DType::F32, &[3, 2]);
        refused(
            grad::torch_scatter::scatter_vjp_dyn(&grad.view(), &s, &i, 0, reduce),
            Class::Runtime,
            &format!("{name}: index[1] = 4: index 4 is out of bounds for dimension 0 with size 3"),
        );
    }
    let grad = counted(DType::F32, &[5, 3]);
    refused(
        grad::torch_scatter::scatter_vjp_dyn(&grad.view(), &s, &i, 0, "sum"),
        Class::Runtime,
        &format!("{name}: grad has shape [5, 3]: it must be the result's shape, [5, 2]"),
    );
    let grad = counted(DType::F16, &[5, 2]);
    refused(
        grad::torch_scatter::scatter_vjp_dyn(&grad.view(), &s, &i, 0, "sum"),
        Class::Runtime,
        &format!("{name}: grad has dtype float16: it must be the result's dtype, float32"),
    );
    refused(
        grad::torch_scatter::scatter_vjp_dyn(&grad.view(), &s, &i, 2, "sum"),
        Class::Index,
        &format!(
            "{name}: dim = 2: Dimension out of range (expected to be in range of [-2, 1], but got 2)"
        ),
    );
    refused(
        grad::torch_scatter::scatter_vjp_dyn(&grad.view(), &s, &i, 0, "median"),
        Class::Value,
        &format!("{name}: reduce = \"median\": it must be sum, add, mul, mean, min or max"),
    );
    let arg = ints(DType::I64, &[2], &[0, -7]);
    let grad = counted(DType::F32, &[2]);
    refused(
        grad::torch_scatter::scatter_arg_vjp_dyn(&grad.view(), &arg.view(), 0, 3),
        Class::Runtime,
        "grad.torch_scatter.scatter_arg_vjp: arg[1] = -7: no position is negative",
    );
    let arg = ints(DType::I64, &[3], &[0, 1, 2]);
    refused(
        grad::torch_scatter::scatter_arg_vjp_dyn(&grad.view(), &arg.view(), 0, 3),
        Class::Runtime,
        "grad.torch_scatter.scatter_arg_vjp: arg has shape [3]: it must be grad's shape, [2]",
    );
    let arg = ints(DType::I32, &[2], &[0, 1]);
    refused(
        grad::torch_scatter::scatter_arg_jvp_dyn(&grad.view(), &arg.view(), 0),
        Class::Runtime,
        "grad.torch_scatter.scatter_arg_jvp: arg has dtype int32: it must be int64",
    );
}

#[test]
fn the_others() {
    let (x, u) = (counted(DType::F32, &[2, 2]), counted(DType::F32, &[1, 2]));
    let at = ints(DType::I64, &[1], &[2]);
    let name = "grad.mindspore.scatter_mul";
    refused(
        scatter_mul(&x.view(), &x.view(), &at.view(), &u.view()),
        Class::Runtime,
        &format!("{name}: indices[0] = 2: index 2 is out of bounds for dimension 0 with size 2"),
    );
    let at = ints(DType::I64, &[1], &[1]);
    refused(
        scatter_mul(&u.view(), &x.view(), &at.view(), &u.view()),
        Class::Value,
        &format!("{name}: grad has shape [1, 2]: it must be the result's shape, [2, 2]"),
    );
    let indices = ints(DType::I64, &[1, 2], &[1, 5]);
    refused(
        scatter_nd(&x.view(), &indices.view(), &x.view(), "embedding"),
        Class::Index,
        "grad.mxnet.scatter_nd 'embedding': indices[0, 1] = 5: index 5 is out of bounds for dimension 0 with size 2",
    );
    let indices = ints(DType::I64, &[3, 1], &[0, 0, 0]);
    refused(
        scatter_nd(&x.view(), &indices.view(), &x.view(), "embedding"),
        Class::Value,
        "grad.mxnet.scatter_nd 'embedding': indices has shape [3, 1]: its first dimension M must be from 1 to 2, the smaller of 10 and the rank of shape [2, 2]",
    );
    refused(
        slice_scatter(&x.view(), &u.view(), 0),
        Class::Value,
        "grad.openvino.slice_scatter: step[0] = 0: it must not be 0",
    );
    let plan = Plan::new([0i64, 1, 1], Some(2), Bounds::STRICT).unwrap();
    let (grad, src) = (counted(DType::F32, &[2]), counted(DType::F32, &[3]));
    let (g, s) = (grad.view(), src.view());
    refused(
        grad::plan::scatter_vjp_dyn(&plan, &g, &g, &g, 0, Reduce::Sum),
        Class::Value,
        "grad.plan.scatter_vjp: src has shape [2]: its size along dimension 0 must be 3",
    );
    refused(
        grad::plan::scatter_vjp_dyn(&plan, &s, &s, &g, 0, Reduce::Sum),
        Class::Value,
        "grad.plan.scatter_vjp: grad has shape [3]: it must be the result's shape, [2]",
    );
    refused(
        grad::plan::scatter_vjp_dyn(&plan, &g, &s, &g, 1, Reduce::Sum),
        Class::Index,
        "grad.plan.scatter_vjp: dim = 1: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    );
    let (grad, src) = (counted(DType::C64, &[2]), counted(DType::C64, &[3]));
    let (g, s) = (grad.view(), src.view());
    refused(
        grad::plan::scatter_vjp_dyn(&plan, &g, &s, &g, 0, Reduce::Amax),
        Class::Type,
        "grad.plan.scatter_vjp: amax is not defined for dtype complex64",
    );
}

#[test]
fn more_cells_than_memory() {
    let (src, at) = (
        counted(DType::F32, &[3, 2]),
        ints(DType::I64, &[3], &[0, 4, 4]),
    );
    for reduce in ["sum", "mul", "mean", "min", "max"] {
        for size in [1 << 50, i64::MAX / 2, i64::MAX] {
            let (s, at) = (src.view(), at.view());
            let error = grad::torch_scatter::scatter_jvp_dyn(&s, &s, &at, 0, Some(size), reduce)
                .unwrap_err();
            assert_eq!(error.class(), Class::Memory, "{error}");
        }
    }
    // A gradient that is the same everywhere takes no memory, and neither do the cells of it.
    let one = counted(DType::F32, &[1, 1]);
    let grad = one.view().broadcast_to(&[1 << 50, 2]).unwrap();
    for reduce in ["sum", "mean"] {
        let (s, at) = (src.view(), at.view());
        let found = grad::torch_scatter::scatter_vjp_dyn(&grad, &s, &at, 0, reduce).unwrap();
        let found = found.typed::<f32>().unwrap();
        let last = if reduce == "sum" { 1.0 } else { 0.5 };
        assert_eq!(found.as_slice(), [1.0, 1.0, last, last, last, last]);
    }
}
