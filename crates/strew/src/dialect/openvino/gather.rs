//! `Gather-8`, `GatherElements-6`, `GatherND-8`.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_integers;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::gather_forms;
use crate::dialect::openvino::call;
use strew_engine::describe::bounds::{Bounds, OutOfRange};

/// What is out of range gives zeros.
const ZEROS: Bounds = Bounds {
    out_of_range: OutOfRange::Drop,
    ..WRAP
};

const DATA: &str = "the tensor to read from: rank 1 or more, any dtype";

const AXIS: &str = "the axis that indices point along; negative counts from the end";

const BATCH_DIMS: &str = "how many of the first axes data and indices share";

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> =>
            "which slices: any shape and integer dtype; negative counts from the end";
        axis: int => AXIS;
        batch_dims: int = 0 => BATCH_DIMS;
    ) -> out;

    /// Slices of `data` along `axis`: `out[.., i, ..] = data[.., indices[i], ..]`. Bits are copied.
    ///
    /// * `indices`: any integer type and shape; negative ones count from the end, and what is out
    ///   of range gives zeros.
    /// * `batch_dims`: how many of the first axes of `data` and `indices` are the same; negative:
    ///   from `indices`' rank.
    ///
    /// ```
    /// let out = strew::openvino::gather(&[10, 20, 30], &[-1i64, 0, 3], 0, 0)?;
    /// assert_eq!(out.as_slice(), [30, 10, 0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Value`](crate::Class::Value)
    /// for everything else.
    pub fn gather, pub fn gather_dyn = lower_gather;
    const GATHER = "openvino.gather":
        "Gather-8: slices of data along axis; zeros where an index is out of range";
}

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> =>
            "from where along axis each element comes: any integer dtype, of data's rank; negative counts from the end";
        axis: int => AXIS;
    ) -> out;

    /// The elements of `data` that `indices` name along `axis`. Bits are copied.
    ///
    /// * `indices`: any integer type, of `data`'s rank, no larger than it apart from `axis`;
    ///   negative ones count from the end. The result has its shape.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let indices = array![[0i32, 1], [-1, 0]];
    /// let out = strew::openvino::gather_elements(&array![[1, 2], [3, 4]], &indices, 0)?;
    /// assert_eq!(out.as_slice(), [1, 4, 3, 2]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Index`](crate::Class::Index)
    /// for an index out of range, [`Class::Value`](crate::Class::Value) for everything else.
    pub fn gather_elements, pub fn gather_elements_dyn = lower_elements;
    const GATHER_ELEMENTS = "openvino.gather_elements":
        "GatherElements-6: the elements of data that indices name along axis";
}

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> =>
            "index tuples along the last axis: any integer dtype; negative counts from the end";
        batch_dims: int = 0 => BATCH_DIMS;
    ) -> out;

    /// The windows of `data` that tuples along the last axis of `indices` name. Bits are copied.
    ///
    /// * `indices`: any integer type; tuples of `K` entries, at most as many as `data` has axes
    ///   from `batch_dims` on. Negative ones count from the end.
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
    pub fn gather_nd, pub fn gather_nd_dyn = lower_nd;
    const GATHER_ND = "openvino.gather_nd":
        "GatherND-8: the windows of data that index tuples name";
}

fn lower_gather<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    axis: i64,
    batch_dims: i64,
) -> Result<Call<'a>> {
    let described = expect_integers("indices", &indices)
        .and_then(|()| gather_forms::slices(data, &indices, axis, batch_dims, ZEROS));
    call(operator, described)
}

fn lower_elements<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    axis: i64,
) -> Result<Call<'a>> {
    let described = expect_integers("indices", &indices)
        .and_then(|()| gather_forms::elements(data, &indices, axis, WRAP));
    call(operator, described)
}

fn lower_nd<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    batch_dims: i64,
) -> Result<Call<'a>> {
    let described = expect_integers("indices", &indices)
        .and_then(|()| gather_forms::windows("data", data, &indices, batch_dims, WRAP));
    call(operator, described)
}
