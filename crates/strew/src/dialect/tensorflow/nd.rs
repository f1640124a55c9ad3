//! `scatter_nd`, `tensor_scatter_nd_*`, `gather_nd`: tuples along the last axis of the index name
//! windows.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_axes;
use crate::dialect::framework::gather_forms;
use crate::dialect::framework::index_tuples::{expect_windows, tuples};
use crate::dialect::framework::operator::{Argument, Arguments, Integers, Kind, Operator};
use crate::dialect::framework::scatter_forms::into_copy;
use crate::dialect::tensorflow::{
    BadIndicesPolicy, MAX, MIN, POLICY, call, expect_index, expect_number, expect_same,
};
use strew_engine::checks::expect_shape;
use strew_engine::scatter::bounds::Bounds;
use strew_engine::scatter::destinations::Destinations;
use strew_engine::scatter::reduction::Reduction;
use strew_engine::scatter::{Scatter, Start, Target};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor};

const INDICES: Argument = Argument::needed(
    "indices",
    Kind::Tensor,
    "index tuples along the last axis: int16, int32 or int64, not negative",
);

const COPY_ARGUMENTS: [Argument; 4] = [
    Argument::needed(
        "tensor",
        Kind::Tensor,
        "the tensor to start from, any dtype; bool only to be updated",
    ),
    INDICES,
    Argument::needed(
        "updates",
        Kind::Tensor,
        "windows, of shape indices.shape[:-1] + tensor.shape[indices.shape[-1]:] and tensor's dtype",
    ),
    POLICY,
];

pub(super) const SCATTER_ND: Operator = Operator {
    name: "tensorflow.scatter_nd",
    summary: "Adds updates into a new tensor of zeros by index tuples along the last axis",
    arguments: &[
        INDICES,
        Argument::needed(
            "updates",
            Kind::Tensor,
            "windows, of shape indices.shape[:-1] + shape[indices.shape[-1]:], any dtype",
        ),
        Argument::needed("shape", Kind::Integers, "shape of the output"),
        POLICY,
    ],
    returns: &["out"],
    lower: |args| {
        let indices = args.tensor("indices")?;
        let updates = args.tensor("updates")?;
        let shape = args.integers("shape")?;
        lower_new(indices, updates, &shape, policy(args))
    },
};

pub(super) const GATHER_ND: Operator = Operator {
    name: "tensorflow.gather_nd",
    summary: "The windows of params that index tuples name",
    arguments: &[
        Argument::needed("params", Kind::Tensor, "the tensor to read from, any dtype"),
        INDICES,
        Argument::needed(
            "batch_dims",
            Kind::Int,
            "how many of the first axes params and indices share",
        )
        .or("0"),
        POLICY,
    ],
    returns: &["out"],
    lower: |args| {
        let params = args.tensor("params")?;
        let indices = args.tensor("indices")?;
        let batch_dims = args.optional_int("batch_dims").unwrap_or(0);
        lower_gather(params, indices, batch_dims, policy(args))
    },
};

fn policy(args: &mut Arguments<'_>) -> Result<Bounds, Problem> {
    let word = args.optional_text("bad_indices_policy");
    BadIndicesPolicy::parse(word.as_deref()).map(BadIndicesPolicy::bounds)
}

/// Operators that start from a copy of `tensor`.
fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    combine: Combine,
) -> Result<Call<'a>> {
    let tensor = args.tensor("tensor")?;
    let indices = args.tensor("indices")?;
    let updates = args.tensor("updates")?;
    let described =
        policy(args).and_then(|bounds| describe(combine, tensor, indices, updates, bounds));
    call(operator, described)
}

pub(super) const TENSOR_SCATTER_ND_UPDATE: Operator = Operator {
    name: "tensorflow.tensor_scatter_nd_update",
    summary: "A copy of tensor with cells replaced by updates, by index tuples along the last axis",
    arguments: &COPY_ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "tensorflow.tensor_scatter_nd_update", Combine::Assign),
};

/// A copy of `tensor` with windows replaced: `out[indices[i, :]] = updates[i]`. Of several updates
/// of a cell, the last one stays, in row-major order.
///
/// * `indices`: integers; its last axis holds tuples of 1 to `tensor.rank()` entries,
///   not negative.
/// * `updates`: shape `indices.shape[..-1] + tensor.shape[K..]` for tuples of `K` entries.
///
/// ```
/// use ndarray::array;
///
/// let out = strew::tensorflow::tensor_scatter_nd_update(&[1, 2, 3], &array![[2i32], [0]], &[30, 10])?;
/// assert_eq!(out.as_slice(), [10, 2, 30]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for element types, [`Class::Index`](crate::Class::Index) for
/// an index out of range, [`Class::Value`](crate::Class::Value) for shapes.
pub fn tensor_scatter_nd_update<T: Element, I: Index>(
    tensor: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (tensor, indices) = (tensor.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe(Combine::Assign, tensor, indices, updates, Bounds::STRICT);
    call("tensorflow.tensor_scatter_nd_update", described)?.run_typed()
}

/// [`tensor_scatter_nd_update`] with element types known at run time, and the same errors.
pub fn tensor_scatter_nd_update_dyn(
    tensor: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    bad_indices_policy: BadIndicesPolicy,
) -> Result<DynTensor> {
    let bounds = bad_indices_policy.bounds();
    let described = describe(Combine::Assign, tensor, indices, updates, bounds);
    call("tensorflow.tensor_scatter_nd_update", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_ND_ADD: Operator = Operator {
    name: "tensorflow.tensor_scatter_nd_add",
    summary: "A copy of tensor with updates added, by index tuples along the last axis",
    arguments: &COPY_ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "tensorflow.tensor_scatter_nd_add", Combine::Sum),
};

/// A copy of `tensor` with windows added; see [`tensor_scatter_nd_update`]. All updates of a cell
/// count.
///
/// ```
/// use ndarray::array;
///
/// let out = strew::tensorflow::tensor_scatter_nd_add(&[1, 2, 3], &array![[2i32], [2]], &[30, 10])?;
/// assert_eq!(out.as_slice(), [1, 2, 43]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`tensor_scatter_nd_update`]; [`Class::Type`](crate::Class::Type) for `bool`.
pub fn tensor_scatter_nd_add<T: Element, I: Index>(
    tensor: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (tensor, indices) = (tensor.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe(Combine::Sum, tensor, indices, updates, Bounds::STRICT);
    call("tensorflow.tensor_scatter_nd_add", described)?.run_typed()
}

/// [`tensor_scatter_nd_add`] with element types known at run time, and the same errors.
pub fn tensor_scatter_nd_add_dyn(
    tensor: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    bad_indices_policy: BadIndicesPolicy,
) -> Result<DynTensor> {
    let bounds = bad_indices_policy.bounds();
    let described = describe(Combine::Sum, tensor, indices, updates, bounds);
    call("tensorflow.tensor_scatter_nd_add", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_ND_SUB: Operator = Operator {
    name: "tensorflow.tensor_scatter_nd_sub",
    summary: "A copy of tensor with updates subtracted, by index tuples along the last axis",
    arguments: &COPY_ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "tensorflow.tensor_scatter_nd_sub", Combine::Sub),
};

/// A copy of `tensor` with windows subtracted; see [`tensor_scatter_nd_add`].
///
/// # Errors
/// As [`tensor_scatter_nd_add`].
pub fn tensor_scatter_nd_sub<T: Element, I: Index>(
    tensor: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (tensor, indices) = (tensor.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe(Combine::Sub, tensor, indices, updates, Bounds::STRICT);
    call("tensorflow.tensor_scatter_nd_sub", described)?.run_typed()
}

/// [`tensor_scatter_nd_sub`] with element types known at run time, and the same errors.
pub fn tensor_scatter_nd_sub_dyn(
    tensor: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    bad_indices_policy: BadIndicesPolicy,
) -> Result<DynTensor> {
    let bounds = bad_indices_policy.bounds();
    let described = describe(Combine::Sub, tensor, indices, updates, bounds);
    call("tensorflow.tensor_scatter_nd_sub", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_ND_MIN: Operator = Operator {
    name: "tensorflow.tensor_scatter_nd_min",
    summary: "A copy of tensor lowered to updates, by index tuples along the last axis",
    arguments: &COPY_ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "tensorflow.tensor_scatter_nd_min", MIN),
};

/// A copy of `tensor` lowered to windows; see [`tensor_scatter_nd_add`]. A NaN in `updates` loses
/// against a number, one in `tensor` stays.
///
/// # Errors
/// As [`tensor_scatter_nd_add`]; [`Class::Type`](crate::Class::Type) for complex numbers.
pub fn tensor_scatter_nd_min<T: Element, I: Index>(
    tensor: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (tensor, indices) = (tensor.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe(MIN, tensor, indices, updates, Bounds::STRICT);
    call("tensorflow.tensor_scatter_nd_min", described)?.run_typed()
}

/// [`tensor_scatter_nd_min`] with element types known at run time, and the same errors.
pub fn tensor_scatter_nd_min_dyn(
    tensor: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    bad_indices_policy: BadIndicesPolicy,
) -> Result<DynTensor> {
    let bounds = bad_indices_policy.bounds();
    let described = describe(MIN, tensor, indices, updates, bounds);
    call("tensorflow.tensor_scatter_nd_min", described)?.run_dyn()
}

pub(super) const TENSOR_SCATTER_ND_MAX: Operator = Operator {
    name: "tensorflow.tensor_scatter_nd_max",
    summary: "A copy of tensor raised to updates, by index tuples along the last axis",
    arguments: &COPY_ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "tensorflow.tensor_scatter_nd_max", MAX),
};

/// A copy of `tensor` raised to windows; see [`tensor_scatter_nd_min`].
///
/// # Errors
/// As [`tensor_scatter_nd_min`].
pub fn tensor_scatter_nd_max<T: Element, I: Index>(
    tensor: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (tensor, indices) = (tensor.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    let described = describe(MAX, tensor, indices, updates, Bounds::STRICT);
    call("tensorflow.tensor_scatter_nd_max", described)?.run_typed()
}

/// [`tensor_scatter_nd_max`] with element types known at run time, and the same errors.
pub fn tensor_scatter_nd_max_dyn(
    tensor: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    bad_indices_policy: BadIndicesPolicy,
) -> Result<DynTensor> {
    let bounds = bad_indices_policy.bounds();
    let described = describe(MAX, tensor, indices, updates, bounds);
    call("tensorflow.tensor_scatter_nd_max", described)?.run_dyn()
}

/// A new tensor of zeros of this shape, to which `updates` are added: those that go to the same
/// cells all count. A sum of `bool` is a logical or.
///
/// * `indices`: integers; its last axis holds tuples of 1 to `shape.len()` entries,
///   not negative.
/// * `updates`: shape `indices.shape[..-1] + shape[K..]` for tuples of `K` entries.
///
/// ```
/// use ndarray::array;
///
/// let out = strew::tensorflow::scatter_nd(&array![[1i32], [1]], &[10, 20], &[3])?;
/// assert_eq!(out.as_slice(), [0, 30, 0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`tensor_scatter_nd_update`].
pub fn scatter_nd<T: Element, I: Index>(
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
    shape: &[i64],
) -> Result<Tensor<T>> {
    let (indices, updates) = (indices.as_tensor().of_rust(), updates.as_tensor().of_rust());
    lower_new(indices, updates, &Integers::from(shape), Ok(Bounds::STRICT))?.run_typed()
}

/// [`scatter_nd`] with element types known at run time, and the same errors.
pub fn scatter_nd_dyn(
    indices: DynView<'_>,
    updates: DynView<'_>,
    shape: &[i64],
    bad_indices_policy: BadIndicesPolicy,
) -> Result<DynTensor> {
    let bounds = Ok(bad_indices_policy.bounds());
    lower_new(indices, updates, &Integers::from(shape), bounds)?.run_dyn()
}

/// The windows of `params` that tuples along the last axis of `indices` name. Bits are copied.
///
/// * `indices`: integers; tuples of `K` entries, at most as many as `params` has axes
///   from `batch_dims` on, not negative.
/// * The result has the shape `indices.shape[..-1] + params.shape[batch_dims + K..]`.
///
/// ```
/// use ndarray::array;
///
/// let params = array![[1, 2], [3, 4]];
/// assert_eq!(strew::tensorflow::gather_nd(&params, &array![[1i64, 0]], 0)?.as_slice(), [3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`tensor_scatter_nd_update`].
pub fn gather_nd<T: Element, I: Index>(
    params: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    batch_dims: i64,
) -> Result<Tensor<T>> {
    let (params, indices) = (params.as_tensor().of_rust(), indices.as_tensor().of_rust());
    lower_gather(params, indices, batch_dims, Ok(Bounds::STRICT))?.run_typed()
}

/// [`gather_nd`] with element types known at run time, and the same errors.
pub fn gather_nd_dyn(
    params: DynView<'_>,
    indices: DynView<'_>,
    batch_dims: i64,
    bad_indices_policy: BadIndicesPolicy,
) -> Result<DynTensor> {
    let bounds = Ok(bad_indices_policy.bounds());
    lower_gather(params, indices, batch_dims, bounds)?.run_dyn()
}

fn lower_new<'a>(
    indices: DynView<'a>,
    updates: DynView<'a>,
    shape: &Integers<'_>,
    bounds: Result<Bounds, Problem>,
) -> Result<Call<'a>> {
    let described = bounds.and_then(|bounds| describe_new(indices, updates, shape, bounds));
    call("tensorflow.scatter_nd", described)
}

fn lower_gather<'a>(
    params: DynView<'a>,
    indices: DynView<'a>,
    batch_dims: i64,
    bounds: Result<Bounds, Problem>,
) -> Result<Call<'a>> {
    let described = bounds.and_then(|bounds| {
        expect_index("indices", &indices)?;
        gather_forms::windows("params", params, &indices, batch_dims, bounds)
    });
    call("tensorflow.gather_nd", described)
}

fn describe<'a>(
    combine: Combine,
    tensor: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    bounds: Bounds,
) -> Result<Scatter<'a>, Problem> {
    expect_number("tensor", combine, tensor.dtype())?;
    expect_same("updates", updates.dtype(), tensor.dtype())?;
    let destinations = destinations(tensor.shape(), &indices, &updates, bounds)?;
    let reduction = Reduction::into_self(combine);
    into_copy(tensor, destinations, reduction, "updates", updates)
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

fn destinations<'a>(
    shape: &[usize],
    indices: &DynView<'a>,
    updates: &DynView<'_>,
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    expect_index("indices", indices)?;
    for (argument, view) in [("indices", indices.shape()), ("updates", updates.shape())] {
        expect_axes(argument, view)?;
    }
    let nowhere = shape.contains(&0) && !indices.is_empty();
    expect_shape("indices", indices.shape(), !nowhere, || {
        format!("Indices and updates specified for empty output, {shape:?}")
    })?;
    // Of nothing there may be tuples of no entry.
    let least = usize::from(!shape.contains(&0));
    let destinations = tuples(shape, "indices", indices, least..=shape.len(), bounds)?;
    expect_windows("updates", updates.shape(), &destinations)?;
    Ok(destinations)
}
