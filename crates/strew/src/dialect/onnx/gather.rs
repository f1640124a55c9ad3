//! `Gather-13`, `GatherElements-13`, `GatherND-13`.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_i32_or_i64;
use crate::dialect::framework::gather_forms;
use crate::dialect::framework::operator::{Argument, Kind, Operator};
use crate::dialect::onnx::{AXIS, DATA, INDICES, TUPLES, call, expect_tuples, opset};
use strew_kernel::error::Result;
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor};

pub(super) const GATHER: Operator = Operator {
    name: "onnx.gather",
    summary: "Slices of data along axis",
    arguments: &[DATA, INDICES, AXIS, opset("13")],
    returns: &["out"],
    lower: |args| {
        let data = args.tensor("data")?;
        let indices = args.tensor("indices")?;
        lower_gather(data, indices, args.optional_int("axis").unwrap_or(0))
    },
};

pub(super) const GATHER_ELEMENTS: Operator = Operator {
    name: "onnx.gather_elements",
    summary: "The elements of data that indices name along axis",
    arguments: &[DATA, INDICES, AXIS, opset("13")],
    returns: &["out"],
    lower: |args| {
        let data = args.tensor("data")?;
        let indices = args.tensor("indices")?;
        lower_elements(data, indices, args.optional_int("axis").unwrap_or(0))
    },
};

pub(super) const GATHER_ND: Operator = Operator {
    name: "onnx.gather_nd",
    summary: "The windows of data that index tuples name",
    arguments: &[
        DATA,
        TUPLES,
        Argument::needed(
            "batch_dims",
            Kind::Int,
            "how many of the first axes data and indices share",
        )
        .or("0"),
        opset("13"),
    ],
    returns: &["out"],
    lower: |args| {
        let data = args.tensor("data")?;
        let indices = args.tensor("indices")?;
        lower_nd(data, indices, args.optional_int("batch_dims").unwrap_or(0))
    },
};

/// Slices of `data` along `axis`: `out[.., i, ..] = data[.., indices[i], ..]`. Bits are copied.
///
/// * `indices`: integers, any shape; negative ones count from the end.
///
/// ```
/// let out = strew::onnx::gather(&[10, 20, 30], &[-1i64, 0], 0)?;
/// assert_eq!(out.as_slice(), [30, 10]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Index`](crate::Class::Index) for
/// an index out of range, [`Class::Value`](crate::Class::Value) for everything else.
pub fn gather<T: Element, I: Index>(
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    axis: i64,
) -> Result<Tensor<T>> {
    lower_gather(
        data.as_tensor().of_rust(),
        indices.as_tensor().of_rust(),
        axis,
    )?
    .run_typed()
}

/// [`gather`] with element types known at run time, and the same errors.
pub fn gather_dyn(data: DynView<'_>, indices: DynView<'_>, axis: i64) -> Result<DynTensor> {
    lower_gather(data, indices, axis)?.run_dyn()
}

/// The elements of `data` that `indices` name along `axis`. Bits are copied.
///
/// * `indices`: integers, of `data`'s rank, no larger than it apart from `axis`; negative
///   ones count from the end. The result has its shape.
///
/// ```
/// use ndarray::array;
///
/// let out = strew::onnx::gather_elements(&array![[1, 2], [3, 4]], &array![[0i64, 0], [1, 0]], 1)?;
/// assert_eq!(out.as_slice(), [1, 1, 4, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`gather`].
pub fn gather_elements<T: Element, I: Index>(
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    axis: i64,
) -> Result<Tensor<T>> {
    lower_elements(
        data.as_tensor().of_rust(),
        indices.as_tensor().of_rust(),
        axis,
    )?
    .run_typed()
}

/// [`gather_elements`] with element types known at run time, and the same errors.
pub fn gather_elements_dyn(
    data: DynView<'_>,
    indices: DynView<'_>,
    axis: i64,
) -> Result<DynTensor> {
    lower_elements(data, indices, axis)?.run_dyn()
}

/// The windows of `data` that tuples along the last axis of `indices` name. Bits are copied.
///
/// * `indices`: integers; tuples of `K` entries, at most as many as `data` has axes from
///   `batch_dims` on. Negative ones count from the end.
/// * The result has the shape `indices.shape[..-1] + data.shape[batch_dims + K..]`.
///
/// ```
/// use ndarray::array;
///
/// let out = strew::onnx::gather_nd(&array![[0, 1], [2, 3]], &array![[0i64, 0], [1, 1]], 0)?;
/// assert_eq!(out.as_slice(), [0, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`gather`].
pub fn gather_nd<T: Element, I: Index>(
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    batch_dims: i64,
) -> Result<Tensor<T>> {
    lower_nd(
        data.as_tensor().of_rust(),
        indices.as_tensor().of_rust(),
        batch_dims,
    )?
    .run_typed()
}

/// [`gather_nd`] with element types known at run time, and the same errors.
pub fn gather_nd_dyn(
    data: DynView<'_>,
    indices: DynView<'_>,
    batch_dims: i64,
) -> Result<DynTensor> {
    lower_nd(data, indices, batch_dims)?.run_dyn()
}

fn lower_gather<'a>(data: DynView<'a>, indices: DynView<'a>, axis: i64) -> Result<Call<'a>> {
    let described = expect_i32_or_i64("indices", &indices)
        .and_then(|()| gather_forms::slices(data, &indices, axis, 0, WRAP));
    call("onnx.gather", described)
}

fn lower_elements<'a>(data: DynView<'a>, indices: DynView<'a>, axis: i64) -> Result<Call<'a>> {
    let described = expect_i32_or_i64("indices", &indices)
        .and_then(|()| gather_forms::elements(data, &indices, axis, WRAP));
    call("onnx.gather_elements", described)
}

fn lower_nd<'a>(data: DynView<'a>, indices: DynView<'a>, batch_dims: i64) -> Result<Call<'a>> {
    let described = expect_tuples(&indices)
        .and_then(|()| gather_forms::windows("data", data, &indices, batch_dims, WRAP));
    call("onnx.gather_nd", described)
}
