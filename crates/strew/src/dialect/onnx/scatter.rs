//! `ScatterElements-18`, `Scatter-11`, `ScatterND-18`.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{
    expect_axes, expect_dtype_of, expect_i32_or_i64, expect_rank_of, unknown_word,
};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::index_tuples::{expect_windows, tuples};
use crate::dialect::framework::scatter_forms::{elements, into_copy};
use crate::dialect::onnx::{AXIS, DATA, INDICES, OPSET, TUPLES, call, expect_opset, expect_tuples};
use strew_engine::checks::{axis, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::{Combine, Nan};

const REDUCTIONS: &[&str] = &["none", "add", "mul", "max", "min"];

/// The version that brought sums and products, and the one that brought minima and maxima.
const ADD_SINCE: i64 = 16;

const MAX_SINCE: i64 = 18;

const REDUCTION: &str = "how updates join a cell: none replaces it";

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> => INDICES;
        updates: tensor<T> =>
            "an element for each of indices: its shape, data's dtype";
        axis: int = 0 => AXIS;
        reduction: text = "none" => REDUCTION, REDUCTIONS;
        + opset: int = 18 => OPSET;
    ) -> out;

    /// A copy of `data` with each element of `updates` joined to the cell that its index names
    /// along `axis`, in row-major order.
    ///
    /// * `indices`: integers, of `data`'s rank, no larger than it apart from `axis`; negative
    ///   ones count from the end.
    /// * `updates`: shape of `indices`.
    /// * `reduction`: `"none"` (the last update of a cell stays), `"add"`, `"mul"`, `"max"` or
    ///   `"min"` (both of NaN where there is one). Of `bool`, a sum is a logical or, a product a
    ///   logical and.
    ///
    /// ```
    /// let data = [1.0f32, 2.0, 3.0];
    /// let out = strew::onnx::scatter_elements(&data, &[1i64, 1], &[1.5, 2.5], 0, "add")?;
    /// assert_eq!(out.as_slice(), [1.0, 6.0, 3.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Index`](crate::Class::Index)
    /// for an index out of range, [`Class::Value`](crate::Class::Value) for everything else.
    pub fn scatter_elements,
    /// `opset` is the version of the operator set: 11 has no reduction, 16 has `"add"` and `"mul"`.
    pub fn scatter_elements_dyn = lower_elements;
    const SCATTER_ELEMENTS = "onnx.scatter_elements":
        "A copy of data with updates joined to the cells that indices name along axis";
}

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> => INDICES;
        updates: tensor<T> =>
            "an element for each of indices: its shape, data's dtype";
        axis: int = 0 => AXIS;
        + opset: int = 11 => OPSET;
    ) -> out;

    /// [`scatter_elements`] without a reduction, under its deprecated name.
    ///
    /// ```
    /// let out = strew::onnx::scatter(&[1, 2, 3], &[1i64, -1], &[10, 20], 0)?;
    /// assert_eq!(out.as_slice(), [1, 10, 20]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_elements`].
    pub fn scatter,
    /// `opset` is the version of the operator set: 9 takes no negative index.
    pub fn scatter_dyn = lower_scatter;
    const SCATTER = "onnx.scatter":
        "A copy of data with updates written to the cells that indices name along axis; deprecated";
}

/// `Scatter-9` says nothing about negative indices.
const WRAPS_SINCE: i64 = 11;

operators! {
    <T: Element, I: Index> dyn (
        data: tensor<T> => DATA;
        indices: tensor<I> => TUPLES;
        updates: tensor<T> =>
            "windows, of shape indices.shape[:-1] + data.shape[indices.shape[-1]:] and data's dtype";
        reduction: text = "none" => REDUCTION, REDUCTIONS;
        + opset: int = 18 => OPSET;
    ) -> out;

    /// A copy of `data` with each window of `updates` joined to the one that its index tuple names,
    /// in row-major order.
    ///
    /// * `indices`: integers; its last axis holds tuples, of at most as many entries as `data` has
    ///   axes. Negative ones count from the end. A tuple without entries names all of `data`.
    /// * `updates`: shape `indices.shape[..-1] + data.shape[K..]` for tuples of `K` entries.
    /// * `reduction`: as for [`scatter_elements`].
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::onnx::scatter_nd(&[1, 2, 3], &array![[2i64], [-1]], &[10, 20], "add")?;
    /// assert_eq!(out.as_slice(), [1, 2, 33]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_elements`].
    pub fn scatter_nd,
    /// `opset` is the version of the operator set: 11 has no reduction, 16 has `"add"` and `"mul"`.
    pub fn scatter_nd_dyn = lower_nd;
    const SCATTER_ND = "onnx.scatter_nd":
        "A copy of data with updates joined to the windows that index tuples name";
}

fn lower_elements<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    along: i64,
    reduction: &str,
    opset: i64,
) -> Result<Call<'a>> {
    let combine = combine(reduction, opset);
    let described = combine.and_then(|c| describe(data, indices, updates, along, c, WRAP));
    call(operator, described)
}

fn lower_scatter<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    along: i64,
    opset: i64,
) -> Result<Call<'a>> {
    let bounds = match opset < WRAPS_SINCE {
        true => Bounds::STRICT,
        false => WRAP,
    };
    let described = describe(data, indices, updates, along, Combine::Assign, bounds);
    call(operator, described)
}

fn lower_nd<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    reduction: &str,
    opset: i64,
) -> Result<Call<'a>> {
    let combine = combine(reduction, opset);
    let described = combine.and_then(|c| describe_nd(data, indices, updates, c));
    call(operator, described)
}

fn combine(word: &str, opset: i64) -> Result<Combine, Problem> {
    let (combine, since) = match word {
        "none" => (Combine::Assign, 0),
        "add" => (Combine::Sum, ADD_SINCE),
        "mul" => (Combine::Prod, ADD_SINCE),
        "max" => (Combine::Max(Nan::Propagate), MAX_SINCE),
        "min" => (Combine::Min(Nan::Propagate), MAX_SINCE),
        _ => {
            return Err(unknown_word("reduction", word, REDUCTIONS));
        }
    };
    expect_opset(opset, since, "reduction", word, combine == Combine::Assign)?;
    Ok(combine)
}

fn describe<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    along: i64,
    combine: Combine,
    bounds: Bounds,
) -> Result<Scatter<'a>, Problem> {
    expect_i32_or_i64("indices", &indices)?;
    expect_dtype_of("updates", updates.dtype(), "data", data.dtype())?;
    expect_axes("data", data.shape())?;
    expect_rank_of("indices", indices.shape(), "data", data.rank())?;
    expect_shape(
        "updates",
        updates.shape(),
        updates.shape() == indices.shape(),
        || format!("it must be indices' shape, {:?}", indices.shape()),
    )?;
    let along = axis("axis", along, data.rank())?;
    let destinations = elements(data.shape(), "indices", &indices, along, bounds)?;
    let reduction = Reduction::into_self(combine);
    into_copy(data, destinations, reduction, "updates", updates)
}

fn describe_nd<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    combine: Combine,
) -> Result<Scatter<'a>, Problem> {
    expect_tuples(&indices)?;
    expect_dtype_of("updates", updates.dtype(), "data", data.dtype())?;
    for (argument, shape) in [("data", data.shape()), ("indices", indices.shape())] {
        expect_axes(argument, shape)?;
    }
    let destinations = tuples(data.shape(), "indices", &indices, 0..=data.rank(), WRAP)?;
    expect_windows("updates", updates.shape(), &destinations)?;
    let reduction = Reduction::into_self(combine);
    into_copy(data, destinations, reduction, "updates", updates)
}
