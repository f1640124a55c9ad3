//! `jax.ops.segment_*`.

use crate::dialect::framework::bounds::DROP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_integers, expect_size};
use crate::dialect::framework::declaration::*;
use crate::dialect::jax::call;
use strew_engine::checks::expect_shape;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::ops::reduction::{Combine, Nan};

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => "the rows to reduce: any dtype";
        segment_ids: tensor<I> =>
            "the segment of each row: 1-d, any integer dtype; what is out of range is left out";
        num_segments: optional_int =>
            "how many segments there are; None: one more than the largest number";
    ) -> out;

    /// The sum of the rows of each segment; those without rows are 0.
    ///
    /// * `segment_ids`: any integer type, as many as `data` has rows. Rows whose number is negative
    ///   or not below `num_segments` are left out.
    /// * `num_segments`: `None`: one more than the largest number.
    ///
    /// ```
    /// let out = strew::jax::segment_sum(&[1, 2, 4], &[2i32, -1, 2], None)?;
    /// assert_eq!(out.as_slice(), [0, 0, 5]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Value`](crate::Class::Value)
    /// for shapes.
    pub fn segment_sum, pub fn segment_sum_dyn = lower(Combine::Sum);
    const SEGMENT_SUM = "jax.ops.segment_sum":
        "The sum of the rows of each segment";

    /// The product of the rows of each segment; see [`segment_sum`]. Those without rows are 1.
    ///
    /// # Errors
    /// As [`segment_sum`].
    pub fn segment_prod, pub fn segment_prod_dyn = lower(Combine::Prod);
    const SEGMENT_PROD = "jax.ops.segment_prod":
        "The product of the rows of each segment";

    /// The minimum of the rows of each segment; see [`segment_sum`]. NaN is the result where there
    /// is one; segments without rows are infinity, or the largest integer.
    ///
    /// # Errors
    /// As [`segment_sum`]; [`Class::Type`](crate::Class::Type) for complex numbers.
    pub fn segment_min, pub fn segment_min_dyn = lower(Combine::Min(Nan::Propagate));
    const SEGMENT_MIN = "jax.ops.segment_min":
        "The minimum of the rows of each segment";

    /// The maximum of the rows of each segment; see [`segment_min`].
    ///
    /// # Errors
    /// As [`segment_min`].
    pub fn segment_max, pub fn segment_max_dyn = lower(Combine::Max(Nan::Propagate));
    const SEGMENT_MAX = "jax.ops.segment_max":
        "The maximum of the rows of each segment";
}

fn lower<'a>(
    operator: &'static str,
    combine: Combine,
    data: DynView<'a>,
    ids: DynView<'a>,
    num_segments: Option<i64>,
) -> Result<Call<'a>> {
    let describe = || {
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
    };
    call(operator, describe())
}
