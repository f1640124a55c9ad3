//! `Gather-13`, `GatherElements-13`, `GatherND-13`.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_i32_or_i64;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::gather_forms;
use crate::dialect::onnx::{AXIS, DATA, INDICES, OPSET, TUPLES, call, expect_tuples};

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> => INDICES;
        axis: int = 0 => AXIS;
        - opset: int = 13 => OPSET;
    ) -> out;

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
    /// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Index`](crate::Class::Index)
    /// for an index out of range, [`Class::Value`](crate::Class::Value) for everything else.
    pub fn gather, pub fn gather_dyn = lower_gather;
    const GATHER = "onnx.gather":
        "Slices of data along axis";
}

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> => INDICES;
        axis: int = 0 => AXIS;
        - opset: int = 13 => OPSET;
    ) -> out;

    /// The elements of `data` that `indices` name along `axis`. Bits are copied.
    ///
    /// * `indices`: integers, of `data`'s rank, no larger than it apart from `axis`; negative
    ///   ones count from the end. The result has its shape.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let indices = array![[0i64, 0], [1, 0]];
    /// let out = strew::onnx::gather_elements(&array![[1, 2], [3, 4]], &indices, 1)?;
    /// assert_eq!(out.as_slice(), [1, 1, 4, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`gather`].
    pub fn gather_elements, pub fn gather_elements_dyn = lower_elements;
    const GATHER_ELEMENTS = "onnx.gather_elements":
        "The elements of data that indices name along axis";
}

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> => TUPLES;
        batch_dims: int = 0 => "how many of the first axes data and indices share";
        - opset: int = 13 => OPSET;
    ) -> out;

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
    pub fn gather_nd, pub fn gather_nd_dyn = lower_nd;
    const GATHER_ND = "onnx.gather_nd":
        "The windows of data that index tuples name";
}

fn lower_gather<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    axis: i64,
) -> Result<Call<'a>> {
    let described = expect_i32_or_i64("indices", &indices)
        .and_then(|()| gather_forms::slices(data, &indices, axis, 0, WRAP));
    call(operator, described)
}

fn lower_elements<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    axis: i64,
) -> Result<Call<'a>> {
    let described = expect_i32_or_i64("indices", &indices)
        .and_then(|()| gather_forms::elements(data, &indices, axis, WRAP));
    call(operator, described)
}

fn lower_nd<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    batch_dims: i64,
) -> Result<Call<'a>> {
    let described = expect_tuples(&indices)
        .and_then(|()| gather_forms::windows("data", data, &indices, batch_dims, WRAP));
    call(operator, described)
}
