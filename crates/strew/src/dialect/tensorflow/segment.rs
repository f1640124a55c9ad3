//! `tf.math.segment_*`, whose segment numbers ascend, and `tf.math.unsorted_segment_*`.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_i32_or_i64, expect_size, wrong_value};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::segment_ids::{ascending, segments_to};
use crate::dialect::tensorflow::{call, expect_number};
use strew_engine::checks::expect_shape;
use strew_engine::describe::bounds::{Bounds, Negative};
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{DType, Dims};

/// How the rows of a segment become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Sum,
    Mean,
    Prod,
    Min,
    Max,
    SqrtN,
}

const DATA: &str = "the rows to reduce: any dtype but bool, real for a minimum or maximum";

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        segment_ids: tensor<I> =>
            "the segment of each row: 1-d, int32 or int64, ascending from 0 or more";
    ) -> out;

    /// The sum of the rows of each segment: `out[k]` is that of the rows `data[i]` for which
    /// `segment_ids[i] == k`. There is one row more than the last number; segments without rows are
    /// 0.
    ///
    /// * `data`: any type but `bool`. 16-bit floats accumulate in `f32`; integers wrap.
    /// * `segment_ids`: integers, as many as `data` has rows, ascending from 0 or more.
    ///
    /// ```
    /// let out = strew::tensorflow::segment_sum(&[1, 2, 4], &[0i32, 0, 2])?;
    /// assert_eq!(out.as_slice(), [3, 0, 4]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for element types, [`Class::Value`](crate::Class::Value)
    /// for shapes and numbers that do not ascend, [`Class::Index`](crate::Class::Index) for a
    /// negative one.
    pub fn segment_sum, pub fn segment_sum_dyn = sorted(Fold::Sum);
    const SEGMENT_SUM = "tensorflow.math.segment_sum":
        "The sum of the rows of each segment, of which the numbers ascend";

    /// The mean of the rows of each segment; see [`segment_sum`]. Integers are rounded toward zero.
    ///
    /// # Errors
    /// As [`segment_sum`].
    pub fn segment_mean, pub fn segment_mean_dyn = sorted(Fold::Mean);
    const SEGMENT_MEAN = "tensorflow.math.segment_mean":
        "The mean of the rows of each segment, of which the numbers ascend";

    /// The product of the rows of each segment; see [`segment_sum`]. Segments without rows are 1.
    ///
    /// # Errors
    /// As [`segment_sum`].
    pub fn segment_prod, pub fn segment_prod_dyn = sorted(Fold::Prod);
    const SEGMENT_PROD = "tensorflow.math.segment_prod":
        "The product of the rows of each segment, of which the numbers ascend";

    /// The minimum of the rows of each segment; see [`segment_sum`]. NaN is the result where there
    /// is one.
    ///
    /// # Errors
    /// As [`segment_sum`].
    pub fn segment_min, pub fn segment_min_dyn = sorted(Fold::Min);
    const SEGMENT_MIN = "tensorflow.math.segment_min":
        "The minimum of the rows of each segment, of which the numbers ascend";

    /// The maximum of the rows of each segment; see [`segment_min`].
    ///
    /// # Errors
    /// As [`segment_sum`].
    pub fn segment_max, pub fn segment_max_dyn = sorted(Fold::Max);
    const SEGMENT_MAX = "tensorflow.math.segment_max":
        "The maximum of the rows of each segment, of which the numbers ascend";
}

// The unsorted operators return a tensor whose type is known at run time: the mean of integers is
// `f32` or `f64`.
operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        segment_ids: tensor<I> =>
            "the segment of each row: int32 or int64, of data's first dimensions; negative ones are left out";
        num_segments: int => "how many segments there are";
    ) -> dyn out;

    /// The sum of the rows of each of `num_segments` segments; those without rows are 0.
    ///
    /// * `data`: any type but `bool`. 16-bit floats accumulate in `f32`; integers wrap.
    /// * `segment_ids`: integers, below `num_segments`; its shape is `data`'s first dimensions
    ///   (0-d: all of `data` is a row). Rows with a negative one are left out.
    ///
    /// ```
    /// let out = strew::tensorflow::unsorted_segment_sum(&[1, 2, 4], &[2i32, -1, 2], 3)?;
    /// assert_eq!(out.typed::<i32>().unwrap().as_slice(), [0, 0, 5]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for element types, [`Class::Value`](crate::Class::Value)
    /// for shapes, [`Class::Index`](crate::Class::Index) for a number of a segment that there is
    /// not.
    pub fn unsorted_segment_sum, pub fn unsorted_segment_sum_dyn = unsorted(Fold::Sum);
    const UNSORTED_SEGMENT_SUM = "tensorflow.math.unsorted_segment_sum":
        "The sum of the rows of each segment";

    /// The mean of the rows of each segment; see [`unsorted_segment_sum`]. Those of integers of 8
    /// and 16 bits are `f32`, and those of larger ones `f64`. Both are the exact mean, rounded
    /// once.
    ///
    /// ```
    /// let out = strew::tensorflow::unsorted_segment_mean(&[1, 2, 4], &[2i32, 0, 2], 3)?;
    /// assert_eq!(out.typed::<f64>().unwrap().as_slice(), [2.0, 0.0, 2.5]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`unsorted_segment_sum`].
    pub fn unsorted_segment_mean, pub fn unsorted_segment_mean_dyn = unsorted(Fold::Mean);
    const UNSORTED_SEGMENT_MEAN = "tensorflow.math.unsorted_segment_mean":
        "The mean of the rows of each segment; float32 for integers of 8 and 16 bits, float64 for larger ones";

    /// The product of the rows of each segment; see [`unsorted_segment_sum`]. Those without rows
    /// are 1.
    ///
    /// # Errors
    /// As [`unsorted_segment_sum`].
    pub fn unsorted_segment_prod, pub fn unsorted_segment_prod_dyn = unsorted(Fold::Prod);
    const UNSORTED_SEGMENT_PROD = "tensorflow.math.unsorted_segment_prod":
        "The product of the rows of each segment";

    /// The minimum of the rows of each segment; see [`unsorted_segment_sum`]. NaN is the result
    /// where there is one; segments without rows hold the largest finite value, and so do those of
    /// nothing above it.
    ///
    /// # Errors
    /// As [`unsorted_segment_sum`].
    pub fn unsorted_segment_min, pub fn unsorted_segment_min_dyn = unsorted(Fold::Min);
    const UNSORTED_SEGMENT_MIN = "tensorflow.math.unsorted_segment_min":
        "The minimum of the rows of each segment";

    /// The maximum of the rows of each segment; see [`unsorted_segment_min`]: the lowest finite
    /// value where there is no row.
    ///
    /// # Errors
    /// As [`unsorted_segment_sum`].
    pub fn unsorted_segment_max, pub fn unsorted_segment_max_dyn = unsorted(Fold::Max);
    const UNSORTED_SEGMENT_MAX = "tensorflow.math.unsorted_segment_max":
        "The maximum of the rows of each segment";

    /// The sum of the rows of each segment by the square root of their number; see
    /// [`unsorted_segment_sum`]. Only of floats and complex numbers.
    ///
    /// # Errors
    /// As [`unsorted_segment_sum`].
    pub fn unsorted_segment_sqrt_n, pub fn unsorted_segment_sqrt_n_dyn = unsorted(Fold::SqrtN);
    const UNSORTED_SEGMENT_SQRT_N = "tensorflow.math.unsorted_segment_sqrt_n":
        "The sum of the rows of each segment by the square root of their number";
}

fn sorted<'a>(
    operator: &'static str,
    fold: Fold,
    data: DynView<'a>,
    ids: DynView<'a>,
) -> Result<Call<'a>> {
    call(operator, describe_sorted(fold, data, ids))
}

fn unsorted<'a>(
    operator: &'static str,
    fold: Fold,
    data: DynView<'a>,
    ids: DynView<'a>,
    num_segments: i64,
) -> Result<Call<'a>> {
    let short = matches!(
        data.dtype(),
        DType::I8 | DType::I16 | DType::U8 | DType::U16
    );
    let made = call(operator, describe_unsorted(fold, data, ids, num_segments));
    match fold {
        // A quotient of integers that `f32` holds is rounded to the same `f32` by way of `f64`.
        Fold::Mean if short => made.map(|made| made.converted_to(DType::F32)),
        _ => made,
    }
}

fn describe_sorted<'a>(
    fold: Fold,
    data: DynView<'a>,
    ids: DynView<'a>,
) -> Result<Scatter<'a>, Problem> {
    expect_i32_or_i64("segment_ids", &ids)?;
    expect_number("data", fold.combine(), data.dtype())?;
    expect_shape("segment_ids", ids.shape(), ids.rank() == 1, || {
        "it must have exactly one dimension".into()
    })?;
    let rows = data.shape().first() == ids.shape().first();
    expect_shape("data", data.shape(), rows, || {
        format!(
            "its first dimension must be that of segment_ids, {}",
            ids.len()
        )
    })?;
    let last = ascending(&ids).map_err(|(at, id)| {
        let why = "segment ids are not increasing: each must be at least the one before";
        wrong_value(format_args!("segment_ids[{at}]"), id, why)
    })?;
    let mut shape = data.dims();
    shape[0] = segments_to(&ids, last)?;
    let dtype = data.dtype();
    let (start, init) = match fold {
        Fold::Prod => (Start::Identity, Init::Current),
        Fold::Min | Fold::Max => (Start::Zero, Init::Identity),
        Fold::Sum | Fold::Mean | Fold::SqrtN => (Start::Zero, Init::Current),
    };
    let reduction = Reduction {
        combine: fold.combine(),
        init,
        finish: fold.finish(),
    };
    let bounds = Bounds::STRICT;
    let destinations = Destinations::rows(&shape, "segment_ids", &[ids], &[0], None, bounds)?;
    let target = Target::New { dtype, start };
    Scatter::new(destinations, reduction, "data", data, target)
}

fn describe_unsorted<'a>(
    fold: Fold,
    data: DynView<'a>,
    ids: DynView<'a>,
    num_segments: i64,
) -> Result<Scatter<'a>, Problem> {
    expect_i32_or_i64("segment_ids", &ids)?;
    expect_number("data", fold.combine(), data.dtype())?;
    let fits = data.shape().starts_with(ids.shape());
    expect_shape("segment_ids", ids.shape(), fits, || {
        format!(
            "it must be the first dimensions of data, {:?}",
            data.shape()
        )
    })?;
    let count = expect_size("num_segments", num_segments)?;
    let mut shape = Dims::from_slice(&[count]);
    shape.extend_from_slice(&data.shape()[ids.rank()..]);
    let dtype = match fold {
        Fold::Mean if data.dtype().is_integer() => DType::F64,
        _ => data.dtype(),
    };
    let start = match fold {
        Fold::Prod => Start::Identity,
        Fold::Min | Fold::Max => Start::FiniteExtreme,
        Fold::Sum | Fold::Mean | Fold::SqrtN => Start::Zero,
    };
    let reduction = Reduction {
        finish: fold.finish(),
        ..Reduction::into_self(fold.combine())
    };
    let bounds = Bounds {
        negative: Negative::Drop,
        ..Bounds::STRICT
    };
    let destinations = Destinations::rows(&shape, "segment_ids", &[ids], &[0], None, bounds)?;
    let target = Target::New { dtype, start };
    Scatter::new(destinations, reduction, "data", data, target)
}

impl Fold {
    fn combine(self) -> Combine {
        match self {
            Self::Sum | Self::Mean | Self::SqrtN => Combine::Sum,
            Self::Prod => Combine::Prod,
            Self::Min => Combine::Min(Nan::Propagate),
            Self::Max => Combine::Max(Nan::Propagate),
        }
    }

    fn finish(self) -> Finish {
        match self {
            Self::Mean => Finish::MeanTowardZero { count_self: false },
            Self::SqrtN => Finish::DivideByRoot,
            Self::Sum | Self::Prod | Self::Min | Self::Max => Finish::None,
        }
    }
}
