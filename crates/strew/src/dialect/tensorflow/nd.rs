//! `scatter_nd`, `tensor_scatter_nd_*`, `gather_nd`: tuples along the last axis of the index name
//! windows.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_axes;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::gather_forms;
use crate::dialect::framework::index_tuples::{expect_windows, tuples};
use crate::dialect::framework::scatter_forms::into_copy;
use crate::dialect::tensorflow::{
    BadIndicesPolicy, MAX, MIN, POLICIES, POLICY, call, expect_index, expect_number, expect_same,
};
use strew_engine::checks::expect_shape;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;

const INDICES: &str = "index tuples along the last axis: int16, int32 or int64, not negative";

operators! {
    <T: Element, I: Index> dyn (
        indices: tensor<I> => INDICES;
        updates: tensor<T> =>
            "windows, of shape indices.shape[:-1] + shape[indices.shape[-1]:], any dtype";
        shape: integers => "shape of the output";
        + bad_indices_policy: choice<BadIndicesPolicy> = "DEFAULT" => POLICY, POLICIES;
    ) -> out;

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
    pub fn scatter_nd, pub fn scatter_nd_dyn = lower_new;
    const SCATTER_ND = "tensorflow.scatter_nd":
        "Adds updates into a new tensor of zeros by index tuples along the last axis";
}

operators! {
    <T: Element, I: Index> dyn (
        params: tensor<T> => "the tensor to read from, any dtype";
        indices: tensor<I> => INDICES;
        batch_dims: int = 0 => "how many of the first axes params and indices share";
        + bad_indices_policy: choice<BadIndicesPolicy> = "DEFAULT" => POLICY, POLICIES;
    ) -> out;

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
    pub fn gather_nd, pub fn gather_nd_dyn = lower_gather;
    const GATHER_ND = "tensorflow.gather_nd":
        "The windows of params that index tuples name";
}

operators! {
    <T: Element, I: Index> dyn (
        tensor: tensor<T> => "the tensor to start from, any dtype; bool only to be updated";
        indices: tensor<I> => INDICES;
        updates: tensor<T> =>
            "windows, of shape indices.shape[:-1] + tensor.shape[indices.shape[-1]:] and tensor's dtype";
        + bad_indices_policy: choice<BadIndicesPolicy> = "DEFAULT" => POLICY, POLICIES;
    ) -> out;

    /// A copy of `tensor` with windows replaced: `out[indices[i, :]] = updates[i]`. Of several
    /// updates of a cell, the last one stays, in row-major order.
    ///
    /// * `indices`: integers; its last axis holds tuples of 1 to `tensor.rank()` entries,
    ///   not negative.
    /// * `updates`: shape `indices.shape[..-1] + tensor.shape[K..]` for tuples of `K` entries.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let indices = array![[2i32], [0]];
    /// let out = strew::tensorflow::tensor_scatter_nd_update(&[1, 2, 3], &indices, &[30, 10])?;
    /// assert_eq!(out.as_slice(), [10, 2, 30]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for element types, [`Class::Index`](crate::Class::Index)
    /// for an index out of range, [`Class::Value`](crate::Class::Value) for shapes.
    pub fn tensor_scatter_nd_update, pub fn tensor_scatter_nd_update_dyn = lower(Combine::Assign);
    const TENSOR_SCATTER_ND_UPDATE = "tensorflow.tensor_scatter_nd_update":
        "A copy of tensor with cells replaced by updates, by index tuples along the last axis";

    /// A copy of `tensor` with windows added; see [`tensor_scatter_nd_update`]. All updates of a
    /// cell count.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let indices = array![[2i32], [2]];
    /// let out = strew::tensorflow::tensor_scatter_nd_add(&[1, 2, 3], &indices, &[30, 10])?;
    /// assert_eq!(out.as_slice(), [1, 2, 43]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`tensor_scatter_nd_update`]; [`Class::Type`](crate::Class::Type) for `bool`.
    pub fn tensor_scatter_nd_add, pub fn tensor_scatter_nd_add_dyn = lower(Combine::Sum);
    const TENSOR_SCATTER_ND_ADD = "tensorflow.tensor_scatter_nd_add":
        "A copy of tensor with updates added, by index tuples along the last axis";

    /// A copy of `tensor` with windows subtracted; see [`tensor_scatter_nd_add`].
    ///
    /// # Errors
    /// As [`tensor_scatter_nd_add`].
    pub fn tensor_scatter_nd_sub, pub fn tensor_scatter_nd_sub_dyn = lower(Combine::Sub);
    const TENSOR_SCATTER_ND_SUB = "tensorflow.tensor_scatter_nd_sub":
        "A copy of tensor with updates subtracted, by index tuples along the last axis";

    /// A copy of `tensor` lowered to windows; see [`tensor_scatter_nd_add`]. A NaN in `updates`
    /// loses against a number, one in `tensor` stays.
    ///
    /// # Errors
    /// As [`tensor_scatter_nd_add`]; [`Class::Type`](crate::Class::Type) for complex numbers.
    pub fn tensor_scatter_nd_min, pub fn tensor_scatter_nd_min_dyn = lower(MIN);
    const TENSOR_SCATTER_ND_MIN = "tensorflow.tensor_scatter_nd_min":
        "A copy of tensor lowered to updates, by index tuples along the last axis";

    /// A copy of `tensor` raised to windows; see [`tensor_scatter_nd_min`].
    ///
    /// # Errors
    /// As [`tensor_scatter_nd_min`].
    pub fn tensor_scatter_nd_max, pub fn tensor_scatter_nd_max_dyn = lower(MAX);
    const TENSOR_SCATTER_ND_MAX = "tensorflow.tensor_scatter_nd_max":
        "A copy of tensor raised to updates, by index tuples along the last axis";
}

fn lower_gather<'a>(
    operator: &'static str,
    params: DynView<'a>,
    indices: DynView<'a>,
    batch_dims: i64,
    policy: Result<BadIndicesPolicy, Problem>,
) -> Result<Call<'a>> {
    let described = policy.and_then(|policy| {
        let bounds = policy.bounds();
        expect_index("indices", &indices)?;
        gather_forms::windows("params", params, &indices, batch_dims, bounds)
    });
    call(operator, described)
}

fn lower<'a>(
    operator: &'static str,
    combine: Combine,
    tensor: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    policy: Result<BadIndicesPolicy, Problem>,
) -> Result<Call<'a>> {
    let describe = || {
        let bounds = policy?.bounds();
        expect_number("tensor", combine, tensor.dtype())?;
        expect_same("updates", updates.dtype(), tensor.dtype())?;
        let destinations = destinations(tensor.shape(), &indices, &updates, bounds)?;
        let reduction = Reduction::into_self(combine);
        into_copy(tensor, destinations, reduction, "updates", updates)
    };
    call(operator, describe())
}

fn lower_new<'a>(
    operator: &'static str,
    indices: DynView<'a>,
    updates: DynView<'a>,
    shape: &Integers<'_>,
    policy: Result<BadIndicesPolicy, Problem>,
) -> Result<Call<'a>> {
    let describe = || {
        let bounds = policy?.bounds();
        let shape = shape.sizes("shape")?;
        let destinations = destinations(&shape, &indices, &updates, bounds)?;
        let target = Target::New {
            dtype: updates.dtype(),
            start: Start::Zero,
        };
        let reduction = Reduction::into_self(Combine::Sum);
        Scatter::new(destinations, reduction, "updates", updates, target)
    };
    call(operator, describe())
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
