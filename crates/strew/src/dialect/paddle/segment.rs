//! `paddle.geometric.segment_*`: reductions of rows whose segment numbers ascend.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_i32_or_i64, wrong_value};
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::framework::segment_ids::{ascending, segments_to};
use crate::dialect::paddle::{call, class, expect_number};
use strew_engine::checks::expect_shape;
use strew_engine::scatter::bounds::Bounds;
use strew_engine::scatter::destinations::Destinations;
use strew_engine::scatter::reduction::{Finish, Init, Reduction};
use strew_engine::scatter::{Scatter, Start, Target};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor};

/// How the rows of a segment become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Sum,
    Mean,
    Min,
    Max,
}

const ARGUMENTS: [Argument; 2] = [
    Argument::needed(
        "data",
        Kind::Tensor,
        "the rows to reduce: any dtype but bool, real for a minimum or maximum",
    ),
    Argument::needed(
        "segment_ids",
        Kind::Tensor,
        "the segment of each row: int32 or int64, 1-d (or all other dimensions 1), ascending from 0 or more",
    ),
];

fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    fold: Fold,
) -> Result<Call<'a>> {
    let data = args.tensor("data")?;
    lower(operator, fold, data, args.tensor("segment_ids")?)
}

pub(super) const SEGMENT_SUM: Operator = Operator {
    name: "paddle.geometric.segment_sum",
    summary: "The sum of the rows of each segment, of which the numbers ascend",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "paddle.geometric.segment_sum", Fold::Sum),
};

/// The sum of the rows of each segment: `out[k]` is that of the rows `data[i]` for which
/// `segment_ids[i] == k`. There is one row more than the last number; segments without rows are 0.
///
/// * `data`: any type but `bool`. 16-bit floats accumulate in `f32`; integers wrap.
/// * `segment_ids`: integers, as many as `data` has rows, ascending from 0 or more. 1-d, or
///   of more dimensions that are all 1.
///
/// ```
/// let out = strew::paddle::segment_sum(&[1, 2, 4], &[0i32, 0, 2])?;
/// assert_eq!(out.as_slice(), [3, 0, 4]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Runtime`](crate::Class::Runtime) for a type that has no such operation,
/// [`Class::Index`](crate::Class::Index) for a negative number,
/// [`Class::Value`](crate::Class::Value) for everything else.
pub fn segment_sum<T: Element, I: Index>(
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
) -> Result<Tensor<T>> {
    let (data, ids) = (
        data.as_tensor().of_rust(),
        segment_ids.as_tensor().of_rust(),
    );
    lower("paddle.geometric.segment_sum", Fold::Sum, data, ids)?.run_typed()
}

/// [`segment_sum`] with element types known at run time, and the same errors.
pub fn segment_sum_dyn(data: DynView<'_>, segment_ids: DynView<'_>) -> Result<DynTensor> {
    lower("paddle.geometric.segment_sum", Fold::Sum, data, segment_ids)?.run_dyn()
}

pub(super) const SEGMENT_MEAN: Operator = Operator {
    name: "paddle.geometric.segment_mean",
    summary: "The mean of the rows of each segment, of which the numbers ascend",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "paddle.geometric.segment_mean", Fold::Mean),
};

/// The mean of the rows of each segment; see [`segment_sum`]. Integers are rounded toward zero.
///
/// ```
/// let out = strew::paddle::segment_mean(&[-7, 2, 4], &[0i32, 0, 2])?;
/// assert_eq!(out.as_slice(), [-2, 0, 4]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`segment_sum`].
pub fn segment_mean<T: Element, I: Index>(
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
) -> Result<Tensor<T>> {
    let (data, ids) = (
        data.as_tensor().of_rust(),
        segment_ids.as_tensor().of_rust(),
    );
    lower("paddle.geometric.segment_mean", Fold::Mean, data, ids)?.run_typed()
}

/// [`segment_mean`] with element types known at run time, and the same errors.
pub fn segment_mean_dyn(data: DynView<'_>, segment_ids: DynView<'_>) -> Result<DynTensor> {
    lower(
        "paddle.geometric.segment_mean",
        Fold::Mean,
        data,
        segment_ids,
    )?
    .run_dyn()
}

pub(super) const SEGMENT_MIN: Operator = Operator {
    name: "paddle.geometric.segment_min",
    summary: "The minimum of the rows of each segment, of which the numbers ascend",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "paddle.geometric.segment_min", Fold::Min),
};

/// The minimum of the rows of each segment; see [`segment_sum`]. NaN is the result where there is
/// one.
///
/// ```
/// let out = strew::paddle::segment_min(&[5, 2, 4], &[0i32, 0, 2])?;
/// assert_eq!(out.as_slice(), [2, 0, 4]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`segment_sum`].
pub fn segment_min<T: Element, I: Index>(
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
) -> Result<Tensor<T>> {
    let (data, ids) = (
        data.as_tensor().of_rust(),
        segment_ids.as_tensor().of_rust(),
    );
    lower("paddle.geometric.segment_min", Fold::Min, data, ids)?.run_typed()
}

/// [`segment_min`] with element types known at run time, and the same errors.
pub fn segment_min_dyn(data: DynView<'_>, segment_ids: DynView<'_>) -> Result<DynTensor> {
    lower("paddle.geometric.segment_min", Fold::Min, data, segment_ids)?.run_dyn()
}

pub(super) const SEGMENT_MAX: Operator = Operator {
    name: "paddle.geometric.segment_max",
    summary: "The maximum of the rows of each segment, of which the numbers ascend",
    arguments: &ARGUMENTS,
    returns: &["out"],
    lower: |args| from_table(args, "paddle.geometric.segment_max", Fold::Max),
};

/// The maximum of the rows of each segment; see [`segment_min`].
///
/// ```
/// let out = strew::paddle::segment_max(&[5, 2, 4], &[0i32, 0, 2])?;
/// assert_eq!(out.as_slice(), [5, 0, 4]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`segment_sum`].
pub fn segment_max<T: Element, I: Index>(
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
) -> Result<Tensor<T>> {
    let (data, ids) = (
        data.as_tensor().of_rust(),
        segment_ids.as_tensor().of_rust(),
    );
    lower("paddle.geometric.segment_max", Fold::Max, data, ids)?.run_typed()
}

/// [`segment_max`] with element types known at run time, and the same errors.
pub fn segment_max_dyn(data: DynView<'_>, segment_ids: DynView<'_>) -> Result<DynTensor> {
    lower("paddle.geometric.segment_max", Fold::Max, data, segment_ids)?.run_dyn()
}

fn lower<'a>(
    operator: &'static str,
    fold: Fold,
    data: DynView<'a>,
    ids: DynView<'a>,
) -> Result<Call<'a>> {
    call(operator, class, describe(fold, data, ids))
}

fn describe<'a>(fold: Fold, data: DynView<'a>, ids: DynView<'a>) -> Result<Scatter<'a>, Problem> {
    expect_number(fold.what(), data.dtype())?;
    let (rows, count) = (data.shape().first().copied(), ids.len());
    expect_shape("segment_ids", ids.shape(), rows == Some(count), || {
        format!(
            "it must have as many elements as data has rows, {}",
            rows.unwrap_or_default()
        )
    })?;
    let upright = ids.shape().first() == Some(&count);
    expect_shape("segment_ids", ids.shape(), upright, || {
        "it must be 1-d, or all of its other dimensions must be 1".into()
    })?;
    let mut ids = ids;
    while let Some(flat) = (ids.rank() > 1).then(|| ids.select(1, 0)).flatten() {
        ids = flat;
    }
    expect_i32_or_i64("segment_ids", &ids)?;
    let wrong = |at: usize, id: i64, why: &str| {
        Err(wrong_value(format_args!("segment_ids[{at}]"), id, why))
    };
    let last = match ascending(&ids) {
        Ok(Some(last @ ..0)) => return wrong(count - 1, last, "Segment ids must be >= 0"),
        Ok(last) => last,
        Err((at, id)) => {
            let why = "The segment ids should be sorted: each must be at least the one before";
            return wrong(at, id, why);
        }
    };
    let mut shape = data.dims();
    shape[0] = segments_to(&ids, last)?;
    let reduction = Reduction {
        combine: fold.combine(),
        init: match fold {
            Fold::Sum | Fold::Mean => Init::Current,
            Fold::Min | Fold::Max => Init::Identity,
        },
        finish: match fold {
            Fold::Mean => Finish::MeanTowardZero { count_self: false },
            _ => Finish::None,
        },
    };
    let strict = Bounds::STRICT;
    let destinations = Destinations::rows(&shape, "segment_ids", &[ids], &[0], None, strict)?;
    let target = Target::New {
        dtype: data.dtype(),
        start: Start::Zero,
    };
    Scatter::new(destinations, reduction, "data", data, target)
}

impl Fold {
    fn combine(self) -> Combine {
        match self {
            Self::Sum | Self::Mean => Combine::Sum,
            Self::Min => Combine::Min(Nan::Propagate),
            Self::Max => Combine::Max(Nan::Propagate),
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Sum => "the sum",
            Self::Mean => "the mean",
            Self::Min => "the minimum",
            Self::Max => "the maximum",
        }
    }
}
