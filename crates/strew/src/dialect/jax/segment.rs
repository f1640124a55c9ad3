//! `jax.ops.segment_*`.

use crate::dialect::framework::bounds::DROP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_integers, expect_size};
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::jax::call;
use strew_engine::checks::expect_shape;
use strew_engine::scatter::destinations::Destinations;
use strew_engine::scatter::reduction::Reduction;
use strew_engine::scatter::{Scatter, Start, Target};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor};

const ARGUMENTS: [Argument; 3] = [
    Argument::needed("data", Kind::Tensor, "the rows to reduce: any dtype"),
    Argument::needed(
        "segment_ids",
        Kind::Tensor,
        "the segment of each row: 1-d, any integer dtype; what is out of range is left out",
    ),
    Argument::needed(
        "num_segments",
        Kind::Int,
        "how many segments there are; None: one more than the largest number",
    )
    .or("None"),
];

fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    combine: Combine,
) -> Result<Call<'a>> {
    let data = args.tensor("data")?;
    let ids = args.tensor("segment_ids")?;
    let num_segments = args.optional_int("num_segments");
    lower(operator, combine, data, ids, num_segments)
}

pub(super) const SEGMENT_SUM: Operator = Operator {
    name: "jax.ops.segment_sum",
    summary: "The sum of the rows of each segment",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.ops.segment_sum", Combine::Sum),
};

/// The sum of the rows of each segment; those without rows are 0.
///
/// * `segment_ids`: any integer type, as many as `data` has rows. Rows whose number is negative or
///   not below `num_segments` are left out.
/// * `num_segments`: `None`: one more than the largest number.
///
/// ```
/// let out = strew::jax::segment_sum(&[1, 2, 4], &[2i32, -1, 2], None)?;
/// assert_eq!(out.as_slice(), [0, 0, 5]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Value`](crate::Class::Value) for
/// shapes.
pub fn segment_sum<T: Element, I: Index>(
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
    num_segments: Option<i64>,
) -> Result<Tensor<T>> {
    let (data, ids) = (
        data.as_tensor().of_rust(),
        segment_ids.as_tensor().of_rust(),
    );
    lower("jax.ops.segment_sum", Combine::Sum, data, ids, num_segments)?.run_typed()
}

/// [`segment_sum`] with element types known at run time, and the same errors.
pub fn segment_sum_dyn(
    data: DynView<'_>,
    segment_ids: DynView<'_>,
    num_segments: Option<i64>,
) -> Result<DynTensor> {
    lower(
        "jax.ops.segment_sum",
        Combine::Sum,
        data,
        segment_ids,
        num_segments,
    )?
    .run_dyn()
}

pub(super) const SEGMENT_PROD: Operator = Operator {
    name: "jax.ops.segment_prod",
    summary: "The product of the rows of each segment",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.ops.segment_prod", Combine::Prod),
};

/// The product of the rows of each segment; see [`segment_sum`]. Those without rows are 1.
///
/// # Errors
/// As [`segment_sum`].
pub fn segment_prod<T: Element, I: Index>(
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
    num_segments: Option<i64>,
) -> Result<Tensor<T>> {
    let (data, ids) = (
        data.as_tensor().of_rust(),
        segment_ids.as_tensor().of_rust(),
    );
    lower(
        "jax.ops.segment_prod",
        Combine::Prod,
        data,
        ids,
        num_segments,
    )?
    .run_typed()
}

/// [`segment_prod`] with element types known at run time, and the same errors.
pub fn segment_prod_dyn(
    data: DynView<'_>,
    segment_ids: DynView<'_>,
    num_segments: Option<i64>,
) -> Result<DynTensor> {
    lower(
        "jax.ops.segment_prod",
        Combine::Prod,
        data,
        segment_ids,
        num_segments,
    )?
    .run_dyn()
}

pub(super) const SEGMENT_MIN: Operator = Operator {
    name: "jax.ops.segment_min",
    summary: "The minimum of the rows of each segment",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.ops.segment_min", Combine::Min(Nan::Propagate)),
};

/// The minimum of the rows of each segment; see [`segment_sum`]. NaN is the result where there is
/// one; segments without rows are infinity, or the largest integer.
///
/// # Errors
/// As [`segment_sum`]; [`Class::Type`](crate::Class::Type) for complex numbers.
pub fn segment_min<T: Element, I: Index>(
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
    num_segments: Option<i64>,
) -> Result<Tensor<T>> {
    let (data, ids) = (
        data.as_tensor().of_rust(),
        segment_ids.as_tensor().of_rust(),
    );
    lower(
        "jax.ops.segment_min",
        Combine::Min(Nan::Propagate),
        data,
        ids,
        num_segments,
    )?
    .run_typed()
}

/// [`segment_min`] with element types known at run time, and the same errors.
pub fn segment_min_dyn(
    data: DynView<'_>,
    segment_ids: DynView<'_>,
    num_segments: Option<i64>,
) -> Result<DynTensor> {
    lower(
        "jax.ops.segment_min",
        Combine::Min(Nan::Propagate),
        data,
        segment_ids,
        num_segments,
    )?
    .run_dyn()
}

pub(super) const SEGMENT_MAX: Operator = Operator {
    name: "jax.ops.segment_max",
    summary: "The maximum of the rows of each segment",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "jax.ops.segment_max", Combine::Max(Nan::Propagate)),
};

/// The maximum of the rows of each segment; see [`segment_min`].
///
/// # Errors
/// As [`segment_min`].
pub fn segment_max<T: Element, I: Index>(
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
    num_segments: Option<i64>,
) -> Result<Tensor<T>> {
    let (data, ids) = (
        data.as_tensor().of_rust(),
        segment_ids.as_tensor().of_rust(),
    );
    lower(
        "jax.ops.segment_max",
        Combine::Max(Nan::Propagate),
        data,
        ids,
        num_segments,
    )?
    .run_typed()
}

/// [`segment_max`] with element types known at run time, and the same errors.
pub fn segment_max_dyn(
    data: DynView<'_>,
    segment_ids: DynView<'_>,
    num_segments: Option<i64>,
) -> Result<DynTensor> {
    lower(
        "jax.ops.segment_max",
        Combine::Max(Nan::Propagate),
        data,
        segment_ids,
        num_segments,
    )?
    .run_dyn()
}

fn lower<'a>(
    operator: &'static str,
    combine: Combine,
    data: DynView<'a>,
    ids: DynView<'a>,
    num_segments: Option<i64>,
) -> Result<Call<'a>> {
    call(operator, describe(combine, data, ids, num_segments))
}

fn describe<'a>(
    combine: Combine,
    data: DynView<'a>,
    ids: DynView<'a>,
    num_segments: Option<i64>,
) -> Result<Scatter<'a>, Problem> {
    expect_integers("segment_ids", &ids)?;
    let rows = ids.rank() == 1 && data.shape().first() == ids.shape().first();
    expect_shape("segment_ids", ids.shape(), rows, || {
        format!(
            "it must be a number for each row of data, {:?}",
            data.shape()
        )
    })?;
    let mut shape = data.dims();
    shape[0] = match num_segments {
        Some(count) => expect_size("num_segments", count)?,
        None => DROP.cells(&ids, "segment_ids")?,
    };
    let destinations = Destinations::rows(&shape, "segment_ids", &[ids], &[0], None, DROP)?;
    let target = Target::New {
        dtype: data.dtype(),
        start: Start::Identity,
    };
    let reduction = Reduction::into_self(combine);
    Scatter::new(destinations, reduction, "data", data, target)
}
