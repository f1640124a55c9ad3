//! `tensor_scatter_*`: tuples along the last axis of the index name windows of a copy.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_dtype_of;
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::framework::scatter_forms::into_copy;
use crate::dialect::mindspore::scatter_nd::{
    INDICES, UPDATES, destinations, expect_whole_divisors,
};
use crate::dialect::mindspore::{DEVICE, Device, MAX, MIN, call, device_bounds};
use strew_engine::checks::expect_dtype;
use strew_engine::scatter::Scatter;
use strew_engine::scatter::bounds::Bounds;
use strew_engine::scatter::reduction::Reduction;
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{AsTensor, DType, DynTensor, DynView, Element, Index, Tensor};

const TENSOR_ARGUMENTS: [Argument; 4] = [
    Argument::needed(
        "input_x",
        Kind::Tensor,
        "the tensor to start from: rank 1 or more, any dtype",
    ),
    INDICES,
    Argument::needed("updates", Kind::Tensor, UPDATES),
    DEVICE,
];

/// Operators that start from a copy of `input_x`.
fn copy_from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    combine: Combine,
) -> Result<Call<'a>> {
    let input_x = args.tensor("input_x")?;
    let indices = args.tensor("indices")?;
    let updates = args.tensor("updates")?;
    let described = device_bounds(args)
        .and_then(|bounds| describe_copy(combine, input_x, indices, updates, bounds));
    call(operator, described)
}

pub(super) const TENSOR_SCATTER_ADD: Operator = Operator {
    name: "mindspore.tensor_scatter_add",
    summary: "A copy of input_x with updates added, by index tuples along the last axis",
    arguments: &TENSOR_ARGUMENTS,
    returns: &["out"],
    lower: |args| copy_from_table(args, "mindspore.tensor_scatter_add", Combine::Sum),
};

/// A copy of `input_x` with windows added: [`scatter_nd_add`](crate::mindspore::scatter_nd_add)
/// into a new tensor. `updates` have `input_x`'s type.
///
/// ```
/// use ndarray::array;
///
/// let indices = array![[2i32], [0], [2]];
/// let out = strew::mindspore::tensor_scatter_add(&[1, 2, 3], &indices, &[10, 20, 30])?;
/// assert_eq!(out.as_slice(), [21, 2, 43]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_nd_add`](crate::mindspore::scatter_nd_add).
pub fn tensor_scatter_add<T: Element, I: Index>(
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (input_x, indices) = (input_x.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe_copy(Combine::Sum, input_x, indices, updates, Bounds::STRICT);
    call("mindspore.tensor_scatter_add", described)?.run_typed()
}

/// [`tensor_scatter_add`] with element types known at run time, and the same errors.
pub fn tensor_scatter_add_dyn(
    input_x: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    device: Device,
) -> Result<DynTensor> {
    let described = describe_copy(Combine::Sum, input_x, indices, updates, device.bounds());
    call("mindspore.tensor_scatter_add", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_SUB: Operator = Operator {
    name: "mindspore.tensor_scatter_sub",
    summary: "A copy of input_x with updates subtracted, by index tuples along the last axis",
    arguments: &TENSOR_ARGUMENTS,
    returns: &["out"],
    lower: |args| copy_from_table(args, "mindspore.tensor_scatter_sub", Combine::Sub),
};

/// [`tensor_scatter_add`] with `-=`. The errors are the same.
pub fn tensor_scatter_sub<T: Element, I: Index>(
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (input_x, indices) = (input_x.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe_copy(Combine::Sub, input_x, indices, updates, Bounds::STRICT);
    call("mindspore.tensor_scatter_sub", described)?.run_typed()
}

/// [`tensor_scatter_sub`] with element types known at run time, and the same errors.
pub fn tensor_scatter_sub_dyn(
    input_x: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    device: Device,
) -> Result<DynTensor> {
    let described = describe_copy(Combine::Sub, input_x, indices, updates, device.bounds());
    call("mindspore.tensor_scatter_sub", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_MUL: Operator = Operator {
    name: "mindspore.tensor_scatter_mul",
    summary: "A copy of input_x multiplied by updates, by index tuples along the last axis",
    arguments: &TENSOR_ARGUMENTS,
    returns: &["out"],
    lower: |args| copy_from_table(args, "mindspore.tensor_scatter_mul", Combine::Prod),
};

/// [`tensor_scatter_add`] with `*=`. The errors are the same.
pub fn tensor_scatter_mul<T: Element, I: Index>(
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (input_x, indices) = (input_x.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe_copy(Combine::Prod, input_x, indices, updates, Bounds::STRICT);
    call("mindspore.tensor_scatter_mul", described)?.run_typed()
}

/// [`tensor_scatter_mul`] with element types known at run time, and the same errors.
pub fn tensor_scatter_mul_dyn(
    input_x: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    device: Device,
) -> Result<DynTensor> {
    let described = describe_copy(Combine::Prod, input_x, indices, updates, device.bounds());
    call("mindspore.tensor_scatter_mul", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_DIV: Operator = Operator {
    name: "mindspore.tensor_scatter_div",
    summary: "A copy of input_x divided by updates, by index tuples along the last axis",
    arguments: &TENSOR_ARGUMENTS,
    returns: &["out"],
    lower: |args| copy_from_table(args, "mindspore.tensor_scatter_div", Combine::Div),
};

/// [`tensor_scatter_add`] with `/=`; integers are rounded toward zero.
///
/// # Errors
/// As [`scatter_nd_div`](crate::mindspore::scatter_nd_div).
pub fn tensor_scatter_div<T: Element, I: Index>(
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (input_x, indices) = (input_x.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe_copy(Combine::Div, input_x, indices, updates, Bounds::STRICT);
    call("mindspore.tensor_scatter_div", described)?.run_typed()
}

/// [`tensor_scatter_div`] with element types known at run time, and the same errors.
pub fn tensor_scatter_div_dyn(
    input_x: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    device: Device,
) -> Result<DynTensor> {
    let described = describe_copy(Combine::Div, input_x, indices, updates, device.bounds());
    call("mindspore.tensor_scatter_div", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_MAX: Operator = Operator {
    name: "mindspore.tensor_scatter_max",
    summary: "A copy of input_x raised to updates, by index tuples along the last axis",
    arguments: &TENSOR_ARGUMENTS,
    returns: &["out"],
    lower: |args| copy_from_table(args, "mindspore.tensor_scatter_max", MAX),
};

/// [`tensor_scatter_add`] with the maximum; NaN on either side is the result. The errors are the
/// same.
pub fn tensor_scatter_max<T: Element, I: Index>(
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (input_x, indices) = (input_x.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe_copy(MAX, input_x, indices, updates, Bounds::STRICT);
    call("mindspore.tensor_scatter_max", described)?.run_typed()
}

/// [`tensor_scatter_max`] with element types known at run time, and the same errors.
pub fn tensor_scatter_max_dyn(
    input_x: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    device: Device,
) -> Result<DynTensor> {
    let described = describe_copy(MAX, input_x, indices, updates, device.bounds());
    call("mindspore.tensor_scatter_max", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_MIN: Operator = Operator {
    name: "mindspore.tensor_scatter_min",
    summary: "A copy of input_x lowered to updates, by index tuples along the last axis",
    arguments: &TENSOR_ARGUMENTS,
    returns: &["out"],
    lower: |args| copy_from_table(args, "mindspore.tensor_scatter_min", MIN),
};

/// [`tensor_scatter_add`] with the minimum; NaN on either side is the result. The errors are the
/// same.
pub fn tensor_scatter_min<T: Element, I: Index>(
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (input_x, indices) = (input_x.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe_copy(MIN, input_x, indices, updates, Bounds::STRICT);
    call("mindspore.tensor_scatter_min", described)?.run_typed()
}

/// [`tensor_scatter_min`] with element types known at run time, and the same errors.
pub fn tensor_scatter_min_dyn(
    input_x: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    device: Device,
) -> Result<DynTensor> {
    let described = describe_copy(MIN, input_x, indices, updates, device.bounds());
    call("mindspore.tensor_scatter_min", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_UPDATE: Operator = Operator {
    name: "mindspore.tensor_scatter_update",
    summary: "A copy of input_x with cells replaced by updates, by index tuples along the last axis",
    arguments: &TENSOR_ARGUMENTS,
    returns: &["out"],
    lower: |args| copy_from_table(args, "mindspore.tensor_scatter_update", Combine::Assign),
};

/// A copy of `input_x` with windows replaced; of several updates of a cell, the last one stays.
///
/// # Errors
/// As [`scatter_nd_add`](crate::mindspore::scatter_nd_add).
pub fn tensor_scatter_update<T: Element, I: Index>(
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (input_x, indices) = (input_x.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe_copy(Combine::Assign, input_x, indices, updates, Bounds::STRICT);
    call("mindspore.tensor_scatter_update", described)?.run_typed()
}

/// [`tensor_scatter_update`] with element types known at run time, and the same errors.
pub fn tensor_scatter_update_dyn(
    input_x: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    device: Device,
) -> Result<DynTensor> {
    let described = describe_copy(Combine::Assign, input_x, indices, updates, device.bounds());
    call("mindspore.tensor_scatter_update", described)?.run_dyn()
}

fn describe_copy<'a>(
    combine: Combine,
    input_x: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    bounds: Bounds,
) -> Result<Scatter<'a>, Problem> {
    let destinations = destinations(input_x.shape(), &indices, &updates, bounds)?;
    expect_dtype_of("updates", updates.dtype(), "input_x", input_x.dtype())?;
    let difference = combine == Combine::Sub && input_x.dtype() == DType::Bool;
    expect_dtype("input_x", DType::Bool, !difference, "it must not be bool")?;
    expect_whole_divisors(combine, &updates)?;
    let reduction = Reduction::into_self(combine);
    into_copy(input_x, destinations, reduction, "updates", updates)
}
