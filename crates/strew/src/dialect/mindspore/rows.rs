//! `scatter_*`: an index names a row of the parameter.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_axes, expect_i32_or_i64};
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::framework::scatter_forms::in_place;
use crate::dialect::mindspore::{
    DEVICE, Device, MAX, MIN, call, device_bounds, expect_divisors, expect_promoted,
};
use strew_engine::checks::expect_shape;
use strew_engine::scatter::Scatter;
use strew_engine::scatter::bounds::Bounds;
use strew_engine::scatter::destinations::Destinations;
use strew_engine::scatter::reduction::Reduction;
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{AsTensor, DType, DynView, DynViewMut, Element, Index, TensorViewMut};

const ARGUMENTS: [Argument; 4] = [
    Argument::needed(
        "input_x",
        Kind::Target,
        "the parameter to change: rank 1 or more, any integer or floating-point dtype",
    ),
    Argument::needed(
        "indices",
        Kind::Tensor,
        "row numbers of input_x: any shape, int32 or int64",
    ),
    Argument::needed(
        "updates",
        Kind::Tensor,
        "rows, of shape indices.shape + input_x.shape[1:]; input_x's dtype or one that is promoted to it",
    ),
    DEVICE,
];

fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    combine: Combine,
) -> Result<Call<'a>> {
    let input_x = args.target("input_x")?;
    let indices = args.tensor("indices")?;
    let updates = args.tensor("updates")?;
    let described =
        device_bounds(args).and_then(|bounds| describe(combine, input_x, indices, updates, bounds));
    call(operator, described)
}

pub(super) const SCATTER_MUL: Operator = Operator {
    name: "mindspore.scatter_mul",
    summary: "Multiplies rows of input_x, in place, by the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_mul", Combine::Prod),
};

/// Multiplies rows of `input_x` in place: `input_x[indices[i, ..], ..] *= updates[i, .., ..]`, one
/// after the other in row-major order, so that a row that is named twice gets both factors.
///
/// * `input_x`: any integer or floating-point type; never converted.
/// * `indices`: integers, any shape (0-d and empty too), values in `0..input_x.shape[0]`.
/// * `updates`: shape `indices.shape + input_x.shape[1..]`. A type of lower priority is promoted
///   to `input_x`'s as it is read: `bool` to every one; `int8` and `uint8` to wider signed
///   integers and floats; signed integers to wider ones and to `float16`, `float32`, `float64`;
///   narrower floats to `float32` and `float64`.
///
/// Integers wrap. 16-bit floats accumulate in `f32` and are rounded once.
///
/// ```
/// use ndarray::array;
///
/// let mut x = array![[1.0f32, 1.0, 1.0], [2.0, 2.0, 2.0]];
/// strew::mindspore::scatter_mul(&mut x, &[0i32, 1], &array![[2.0f32, 2.0, 2.0], [3.0, 3.0, 3.0]])?;
/// assert_eq!(x, array![[2.0, 2.0, 2.0], [6.0, 6.0, 6.0]]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for an index type,
/// [`Class::TypeAndRuntime`](crate::Class::TypeAndRuntime) for updates that would have to promote
/// `input_x`, [`Class::Value`](crate::Class::Value) for shapes,
/// [`Class::Runtime`](crate::Class::Runtime) for an index out of range and for overlapping memory.
/// `input_x` is then unchanged.
pub fn scatter_mul<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_mul_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_mul`] with element types known at run time, and the same errors.
pub fn scatter_mul_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Prod, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_mul", described)?.run_in_place()
}

pub(super) const SCATTER_ADD: Operator = Operator {
    name: "mindspore.scatter_add",
    summary: "Adds to rows of input_x, in place, the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_add", Combine::Sum),
};

/// Adds to rows of `input_x` in place: [`scatter_mul`] with `+=`.
///
/// ```
/// let mut x = [1, 2, 3];
/// strew::mindspore::scatter_add(&mut x, &[0i32, 0], &[10, 100])?;
/// assert_eq!(x, [111, 2, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_mul`].
pub fn scatter_add<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_add_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_add`] with element types known at run time, and the same errors.
pub fn scatter_add_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Sum, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_add", described)?.run_in_place()
}

pub(super) const SCATTER_SUB: Operator = Operator {
    name: "mindspore.scatter_sub",
    summary: "Subtracts from rows of input_x, in place, the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_sub", Combine::Sub),
};

/// Subtracts from rows of `input_x` in place: [`scatter_mul`] with `-=`.
///
/// ```
/// let mut x = [1, 2, 3];
/// strew::mindspore::scatter_sub(&mut x, &[0i32, 0], &[10, 100])?;
/// assert_eq!(x, [-109, 2, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_mul`].
pub fn scatter_sub<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_sub_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_sub`] with element types known at run time, and the same errors.
pub fn scatter_sub_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Sub, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_sub", described)?.run_in_place()
}

pub(super) const SCATTER_DIV: Operator = Operator {
    name: "mindspore.scatter_div",
    summary: "Divides rows of input_x, in place, by the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_div", Combine::Div),
};

/// Divides rows of `input_x` in place: [`scatter_mul`] with `/=`; integers are rounded toward zero.
///
/// ```
/// let mut x = [7, -7, 3];
/// strew::mindspore::scatter_div(&mut x, &[0i32, 1], &[2, 2])?;
/// assert_eq!(x, [3, -3, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_mul`]; [`Class::Value`](crate::Class::Value) if `updates` holds a zero.
pub fn scatter_div<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_div_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_div`] with element types known at run time, and the same errors.
pub fn scatter_div_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Div, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_div", described)?.run_in_place()
}

pub(super) const SCATTER_MAX: Operator = Operator {
    name: "mindspore.scatter_max",
    summary: "Raises rows of input_x, in place, to the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_max", MAX),
};

/// Raises elements of rows of `input_x` in place to those of `updates` that are larger:
/// [`scatter_mul`] with the maximum. A NaN on either side is the result.
///
/// ```
/// let mut x = [1, 2, 3];
/// strew::mindspore::scatter_max(&mut x, &[0i32, 1, 0], &[5, 1, 4])?;
/// assert_eq!(x, [5, 2, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_mul`].
pub fn scatter_max<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_max_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_max`] with element types known at run time, and the same errors.
pub fn scatter_max_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(MAX, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_max", described)?.run_in_place()
}

pub(super) const SCATTER_MIN: Operator = Operator {
    name: "mindspore.scatter_min",
    summary: "Lowers rows of input_x, in place, to the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_min", MIN),
};

/// Lowers elements of rows of `input_x` in place to those of `updates` that are smaller; see
/// [`scatter_max`].
///
/// # Errors
/// As [`scatter_mul`].
pub fn scatter_min<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_min_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_min`] with element types known at run time, and the same errors.
pub fn scatter_min_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(MIN, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_min", described)?.run_in_place()
}

pub(super) const SCATTER_UPDATE: Operator = Operator {
    name: "mindspore.scatter_update",
    summary: "Replaces rows of input_x, in place, by the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_update", Combine::Assign),
};

/// Replaces rows of `input_x` in place; of several updates of a row, the last one stays.
///
/// ```
/// let mut x = [1, 2, 3];
/// strew::mindspore::scatter_update(&mut x, &[0i32, 0], &[10, 100])?;
/// assert_eq!(x, [100, 2, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_mul`].
pub fn scatter_update<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_update_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_update`] with element types known at run time, and the same errors.
pub fn scatter_update_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Assign, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_update", described)?.run_in_place()
}

fn describe<'a>(
    combine: Combine,
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    bounds: Bounds,
) -> Result<Scatter<'a>, Problem> {
    let (to, shape) = (input_x.dtype(), input_x.shape());
    let destinations = destinations(to, shape, indices, &updates, bounds)?;
    expect_divisors(combine, &updates)?;
    let reduction = Reduction::into_self(combine);
    in_place(
        ("input_x", input_x),
        destinations,
        reduction,
        "updates",
        updates,
    )
}

/// The cells that the updates go to, of an `input_x` of this type and shape.
#[inline(always)] // As a scatter: it is made where it stays.
pub(crate) fn destinations<'a>(
    to: DType,
    shape: &[usize],
    indices: DynView<'a>,
    updates: &DynView<'_>,
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    expect_i32_or_i64("indices", &indices)?;
    expect_promoted(to, updates.dtype())?;
    expect_axes("input_x", shape)?;
    let mut wanted = indices.dims();
    wanted.extend_from_slice(&shape[1..]);
    expect_shape(
        "updates",
        updates.shape(),
        updates.shape() == &*wanted,
        || format!("it must be indices.shape + input_x.shape[1:] = {wanted:?}"),
    )?;
    Destinations::rows(shape, "indices", &[indices], &[0], None, bounds)
}
