//! `paddle.geometric.segment_*`: reductions of rows whose segment numbers ascend.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_i32_or_i64, wrong_value};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::segment_ids::{ascending, segments_to};
use crate::dialect::paddle::{call, class, expect_number};
use strew_engine::checks::expect_shape;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::{Combine, Nan};

/// How the rows of a segment become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Sum,
    Mean,
    Min,
    Max,
}

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => "the rows to reduce: any dtype but bool, real for a minimum or maximum";
        segment_ids: tensor<I> =>
            "the segment of each row: int32 or int64, 1-d (or all other dimensions 1), ascending from 0 or more";
    ) -> out;

    /// The sum of the rows of each segment: `out[k]` is that of the rows `data[i]` for which
    /// `segment_ids[i] == k`. There is one row more than the last number; segments without rows are
    /// 0.
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
    pub fn segment_sum, pub fn segment_sum_dyn = lower(Fold::Sum);
    const SEGMENT_SUM = "paddle.geometric.segment_sum":
        "The sum of the rows of each segment, of which the numbers ascend";

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
    pub fn segment_mean, pub fn segment_mean_dyn = lower(Fold::Mean);
    const SEGMENT_MEAN = "paddle.geometric.segment_mean":
        "The mean of the rows of each segment, of which the numbers ascend";

    /// The minimum of the rows of each segment; see [`segment_sum`]. NaN is the result where there
    /// is one.
    ///
    /// ```
    /// let out = strew::paddle::segment_min(&[5, 2, 4], &[0i32, 0, 2])?;
    /// assert_eq!(out.as_slice(), [2, 0, 4]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`segment_sum`].
    pub fn segment_min, pub fn segment_min_dyn = lower(Fold::Min);
    const SEGMENT_MIN = "paddle.geometric.segment_min":
        "The minimum of the rows of each segment, of which the numbers ascend";

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
    pub fn segment_max, pub fn segment_max_dyn = lower(Fold::Max);
    const SEGMENT_MAX = "paddle.geometric.segment_max":
        "The maximum of the rows of each segment, of which the numbers ascend";
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
