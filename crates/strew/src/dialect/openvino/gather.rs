//! `Gather-8`, `GatherElements-6`, `GatherND-8`.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_integers;
use crate::dialect::framework::gather_forms;
use crate::dialect::framework::operator::{Argument, Kind, Operator};
use crate::dialect::openvino::call;
use strew_engine::scatter::bounds::{Bounds, OutOfRange};
use strew_kernel::error::Result;
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor};

/// What is out of range gives zeros.
const ZEROS: Bounds = Bounds {
    out_of_range: OutOfRange::Drop,
    ..WRAP
};

const DATA: Argument = Argument::needed(
    "data",
    Kind::Tensor,
    "the tensor to read from: rank 1 or more, any dtype",
);

const AXIS: Argument = Argument::needed(
    "axis",
    Kind::Int,
    "the axis that indices point along; negative counts from the end",
);

const BATCH_DIMS: Argument = Argument::needed(
    "batch_dims",
    Kind::Int,
    "how many of the first axes data and indices share",
)
.or("0");

pub(super) const GATHER: Operator = Operator {
    name: "openvino.gather",
    summary: "Gather-8: slices of data along axis; zeros where an index is out of range",
    arguments: &[
        DATA,
        Argument::needed(
            "indices",
            Kind::Tensor,
            "which slices: any shape and integer dtype; negative counts from the end",
        ),
        AXIS,
        BATCH_DIMS,
    ],
    returns: &["out"],
    lower: |args| {
        let data = args.tensor("data")?;
        let indices = args.tensor("indices")?;
        let axis = args.int("axis")?;
        lower_gather(
            data,
            indices,
            axis,
            args.optional_int("batch_dims").unwrap_or(0),
        )
    },
};

pub(super) const GATHER_ELEMENTS: Operator = Operator {
    name: "openvino.gather_elements",
    summary: "GatherElements-6: the elements of data that indices name along axis",
    arguments: &[
        DATA,
        Argument::needed(
            "indices",
            Kind::Tensor,
            "from where along axis each element comes: any integer dtype, of data's rank; negative counts from the end",
        ),
        AXIS,
    ],
    returns: &["out"],
    lower: |args| {
        let data = args.tensor("data")?;
        let indices = args.tensor("indices")?;
        lower_elements(data, indices, args.int("axis")?)
    },
};

pub(super) const GATHER_ND: Operator = Operator {
    name: "openvino.gather_nd",
    summary: "GatherND-8: the windows of data that index tuples name",
    arguments: &[
        DATA,
        Argument::needed(
            "indices",
            Kind::Tensor,
            "index tuples along the last axis: any integer dtype; negative counts from the end",
        ),
        BATCH_DIMS,
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
/// * `indices`: any integer type and shape; negative ones count from the end, and what is out of
///   range gives zeros.
/// * `batch_dims`: how many of the first axes of `data` and `indices` are the same; negative: from
///   `indices`' rank.
///
/// ```
/// let out = strew::openvino::gather(&[10, 20, 30], &[-1i64, 0, 3], 0, 0)?;
/// assert_eq!(out.as_slice(), [30, 10, 0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Value`](crate::Class::Value) for
/// everything else.
pub fn gather<T: Element, I: Index>(
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    axis: i64,
    batch_dims: i64,
) -> Result<Tensor<T>> {
    let (data, indices) = (data.as_tensor().of_rust(), indices.as_tensor().of_rust());
    lower_gather(data, indices, axis, batch_dims)?.run_typed()
}

/// [`gather`] with element types known at run time, and the same errors.
pub fn gather_dyn(
    data: DynView<'_>,
    indices: DynView<'_>,
    axis: i64,
    batch_dims: i64,
) -> Result<DynTensor> {
    lower_gather(data, indices, axis, batch_dims)?.run_dyn()
}

/// The elements of `data` that `indices` name along `axis`. Bits are copied.
///
/// * `indices`: any integer type, of `data`'s rank, no larger than it apart from `axis`; negative
///   ones count from the end. The result has its shape.
///
/// ```
/// use ndarray::array;
///
/// let out = strew::openvino::gather_elements(&array![[1, 2], [3, 4]], &array![[0i32, 1], [-1, 0]], 0)?;
/// assert_eq!(out.as_slice(), [1, 4, 3, 2]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Index`](crate::Class::Index) for
/// an index out of range, [`Class::Value`](crate::Class::Value) for everything else.
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
/// * `indices`: any integer type; tuples of `K` entries, at most as many as `data` has axes from
///   `batch_dims` on. Negative ones count from the end.
/// * The result has the shape `indices.shape[..-1] + data.shape[batch_dims + K..]`.
///
/// ```
/// use ndarray::array;
///
/// let data = array![[1, 2], [3, 4]];
/// let out = strew::openvino::gather_nd(&data, &array![[1i32], [0]], 1)?;
/// assert_eq!(out.as_slice(), [2, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`gather_elements`].
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

fn lower_gather<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    axis: i64,
    batch_dims: i64,
) -> Result<Call<'a>> {
    let described = expect_integers("indices", &indices)
        .and_then(|()| gather_forms::slices(data, &indices, axis, batch_dims, ZEROS));
    call("openvino.gather", described)
}

fn lower_elements<'a>(data: DynView<'a>, indices: DynView<'a>, axis: i64) -> Result<Call<'a>> {
    let described = expect_integers("indices", &indices)
        .and_then(|()| gather_forms::elements(data, &indices, axis, WRAP));
    call("openvino.gather_elements", described)
}

fn lower_nd<'a>(data: DynView<'a>, indices: DynView<'a>, batch_dims: i64) -> Result<Call<'a>> {
    let described = expect_integers("indices", &indices)
        .and_then(|()| gather_forms::windows("data", data, &indices, batch_dims, WRAP));
    call("openvino.gather_nd", described)
}
