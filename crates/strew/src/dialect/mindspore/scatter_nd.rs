//! `scatter_nd`, `scatter_nd_*`: tuples along the last axis of the index name windows, in a new
//! tensor and in place.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_i32_or_i64;
use crate::dialect::framework::index_tuples::{expect_windows, tuples};
use crate::dialect::framework::operator::{Argument, Arguments, Integers, Kind, Operator};
use crate::dialect::framework::scatter_forms::in_place;
use crate::dialect::mindspore::{
    DEVICE, Device, MAX, MIN, call, device_bounds, expect_divisors, expect_promoted,
};
use strew_engine::checks::expect_shape;
use strew_engine::scatter::bounds::Bounds;
use strew_engine::scatter::destinations::Destinations;
use strew_engine::scatter::reduction::Reduction;
use strew_engine::scatter::{Scatter, Start, Target};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{
    AsTensor, DynTensor, DynView, DynViewMut, Element, Index, Tensor, TensorViewMut,
};

pub(super) const INDICES: Argument = Argument::needed(
    "indices",
    Kind::Tensor,
    "index tuples along its last axis, rank 2 or more: int32 or int64",
);

pub(super) const UPDATES: &str =
    "windows, of shape indices.shape[:-1] + input_x.shape[indices.shape[-1]:]; input_x's dtype";

const ARGUMENTS: [Argument; 4] = [
    Argument::needed(
        "input_x",
        Kind::Target,
        "the parameter to change: rank 1 or more, any integer or floating-point dtype",
    ),
    INDICES,
    Argument::needed(
        "updates",
        Kind::Tensor,
        "windows, of shape indices.shape[:-1] + input_x.shape[indices.shape[-1]:]; input_x's dtype or one that is promoted to it",
    ),
    DEVICE,
];

pub(super) const SCATTER_ND: Operator = Operator {
    name: "mindspore.scatter_nd",
    summary: "Adds updates into a new tensor of zeros by index tuples along the last axis",
    arguments: &[
        INDICES,
        Argument::needed(
            "updates",
            Kind::Tensor,
            "windows, of shape indices.shape[:-1] + shape[indices.shape[-1]:], any dtype",
        ),
        Argument::needed("shape", Kind::Integers, "shape of the output"),
        DEVICE,
    ],
    returns: &["out"],
    lower: |args| {
        let indices = args.tensor("indices")?;
        let updates = args.tensor("updates")?;
        let shape = args.integers("shape")?;
        let described =
            device_bounds(args).and_then(|bounds| describe_new(indices, updates, &shape, bounds));
        call("mindspore.scatter_nd", described)
    },
};

/// A new tensor of zeros of this shape, to which `updates` are added: those that go to the same
/// cells all count.
///
/// * `indices`: integers, of rank 2 or more; its last axis holds tuples, of at most
///   `shape.len()` entries, in `0..shape[k]`.
/// * `updates`: shape `indices.shape[..-1] + shape[K..]` for tuples of `K` entries.
///
/// ```
/// use ndarray::array;
///
/// let indices = array![[0i32, 1], [1, 1], [0, 1]];
/// let out = strew::mindspore::scatter_nd(&indices, &[3.2f32, 1.1, 5.3], &[2, 2])?;
/// assert_eq!(out.as_slice(), [0.0, 8.5, 0.0, 1.1]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Value`](crate::Class::Value) for
/// shapes, [`Class::Runtime`](crate::Class::Runtime) for an index out of range.
pub fn scatter_nd<T: Element, I: Index>(
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
    shape: &[i64],
) -> Result<Tensor<T>> {
    let (indices, updates) = (indices.as_tensor().of_rust(), updates.as_tensor().of_rust());
    let described = describe_new(indices, updates, &Integers::from(shape), Bounds::STRICT);
    call("mindspore.scatter_nd", described)?.run_typed()
}

/// [`scatter_nd`] with element types known at run time, and the same errors.
pub fn scatter_nd_dyn(
    indices: DynView<'_>,
    updates: DynView<'_>,
    shape: &[i64],
    device: Device,
) -> Result<DynTensor> {
    let described = describe_new(indices, updates, &Integers::from(shape), device.bounds());
    call("mindspore.scatter_nd", described)?.run_dyn()
}

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

pub(super) const SCATTER_ND_ADD: Operator = Operator {
    name: "mindspore.scatter_nd_add",
    summary: "Adds updates to input_x, in place, by index tuples along the last axis",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_nd_add", Combine::Sum),
};

/// Adds windows to `input_x` in place: for each tuple `indices[i, .., :]`,
/// `input_x[indices[i, .., :]] += updates[i, ..]`, one after the other.
///
/// * `input_x`, and which updates are promoted to it: as for [`scatter_mul`](super::scatter_mul).
/// * `indices`: integers, of rank 2 or more; its last axis holds tuples, of at most as many
///   entries as `input_x` has axes.
/// * `updates`: shape `indices.shape[..-1] + input_x.shape[K..]` for tuples of `K` entries.
///
/// ```
/// use ndarray::array;
///
/// let mut x = [1.0f32, 2.0, 3.0];
/// strew::mindspore::scatter_nd_add(&mut x, &array![[2i32], [0], [2]], &[10.0f32, 20.0, 30.0])?;
/// assert_eq!(x, [21.0, 2.0, 43.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_mul`](super::scatter_mul).
pub fn scatter_nd_add<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_nd_add_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_nd_add`] with element types known at run time, and the same errors.
pub fn scatter_nd_add_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Sum, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_nd_add", described)?.run_in_place()
}

pub(super) const SCATTER_ND_SUB: Operator = Operator {
    name: "mindspore.scatter_nd_sub",
    summary: "Subtracts updates from input_x, in place, by index tuples along the last axis",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_nd_sub", Combine::Sub),
};

/// [`scatter_nd_add`] with `-=`. The errors are the same.
pub fn scatter_nd_sub<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_nd_sub_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_nd_sub`] with element types known at run time, and the same errors.
pub fn scatter_nd_sub_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Sub, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_nd_sub", described)?.run_in_place()
}

pub(super) const SCATTER_ND_MUL: Operator = Operator {
    name: "mindspore.scatter_nd_mul",
    summary: "Multiplies input_x by updates, in place, by index tuples along the last axis",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_nd_mul", Combine::Prod),
};

/// [`scatter_nd_add`] with `*=`. The errors are the same.
pub fn scatter_nd_mul<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_nd_mul_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_nd_mul`] with element types known at run time, and the same errors.
pub fn scatter_nd_mul_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Prod, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_nd_mul", described)?.run_in_place()
}

pub(super) const SCATTER_ND_DIV: Operator = Operator {
    name: "mindspore.scatter_nd_div",
    summary: "Divides input_x by updates, in place, by index tuples along the last axis",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_nd_div", Combine::Div),
};

/// [`scatter_nd_add`] with `/=`; integers are rounded toward zero.
///
/// # Errors
/// As [`scatter_nd_add`]; [`Class::Value`](crate::Class::Value) if `updates` of integers hold a
/// zero.
pub fn scatter_nd_div<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_nd_div_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_nd_div`] with element types known at run time, and the same errors.
pub fn scatter_nd_div_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Div, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_nd_div", described)?.run_in_place()
}

pub(super) const SCATTER_ND_MAX: Operator = Operator {
    name: "mindspore.scatter_nd_max",
    summary: "Raises input_x to updates, in place, by index tuples along the last axis",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_nd_max", MAX),
};

/// [`scatter_nd_add`] with the maximum; NaN on either side is the result. The errors are the same.
pub fn scatter_nd_max<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_nd_max_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_nd_max`] with element types known at run time, and the same errors.
pub fn scatter_nd_max_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(MAX, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_nd_max", described)?.run_in_place()
}

pub(super) const SCATTER_ND_MIN: Operator = Operator {
    name: "mindspore.scatter_nd_min",
    summary: "Lowers input_x to updates, in place, by index tuples along the last axis",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_nd_min", MIN),
};

/// [`scatter_nd_add`] with the minimum; NaN on either side is the result. The errors are the same.
pub fn scatter_nd_min<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_nd_min_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_nd_min`] with element types known at run time, and the same errors.
pub fn scatter_nd_min_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(MIN, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_nd_min", described)?.run_in_place()
}

pub(super) const SCATTER_ND_UPDATE: Operator = Operator {
    name: "mindspore.scatter_nd_update",
    summary: "Replaces cells of input_x, in place, by updates, by index tuples along the last axis",
    arguments: &ARGUMENTS,
    returns: &["input_x"],
    lower: |args| from_table(args, "mindspore.scatter_nd_update", Combine::Assign),
};

/// Replaces windows of `input_x` in place; of several updates of a cell, the last one stays.
///
/// # Errors
/// As [`scatter_nd_add`].
pub fn scatter_nd_update<'a, T: Element, I: Index, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<()> {
    scatter_nd_update_dyn(
        input_x.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
        Device::Cpu,
    )
}

/// [`scatter_nd_update`] with element types known at run time, and the same errors.
pub fn scatter_nd_update_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Device,
) -> Result<()> {
    let described = describe(Combine::Assign, input_x, indices, updates, device.bounds());
    call("mindspore.scatter_nd_update", described)?.run_in_place()
}

fn describe<'a>(
    combine: Combine,
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    bounds: Bounds,
) -> Result<Scatter<'a>, Problem> {
    let destinations = destinations(input_x.shape(), &indices, &updates, bounds)?;
    expect_promoted(input_x.dtype(), updates.dtype())?;
    expect_whole_divisors(combine, &updates)?;
    let reduction = Reduction::into_self(combine);
    in_place(
        ("input_x", input_x),
        destinations,
        reduction,
        "updates",
        updates,
    )
}

fn describe_new<'a>(
    indices: DynView<'a>,
    updates: DynView<'a>,
    shape: &Integers<'_>,
    bounds: Bounds,
) -> Result<Scatter<'a>, Problem> {
    let shape = shape.sizes("shape")?;
    let destinations = destinations(&shape, &indices, &updates, bounds)?;
    let target = Target::New {
        dtype: updates.dtype(),
        start: Start::Zero,
    };
    let reduction = Reduction::into_self(Combine::Sum);
    Scatter::new(destinations, reduction, "updates", updates, target)
}

pub(super) fn destinations<'a>(
    shape: &[usize],
    indices: &DynView<'a>,
    updates: &DynView<'_>,
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    expect_i32_or_i64("indices", indices)?;
    expect_shape("indices", indices.shape(), indices.rank() >= 2, || {
        "it must have at least two dimensions".into()
    })?;
    let destinations = tuples(shape, "indices", indices, 1..=shape.len(), bounds)?;
    expect_windows("updates", updates.shape(), &destinations)?;
    Ok(destinations)
}

/// Floats are divided by zero as arithmetic has it; integers are not.
pub(super) fn expect_whole_divisors(
    combine: Combine,
    updates: &DynView<'_>,
) -> Result<(), Problem> {
    match updates.dtype().is_integer() {
        true => expect_divisors(combine, updates),
        false => Ok(()),
    }
}
