//! `ScatterElements-18`, `Scatter-11`, `ScatterND-18`.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{
    expect_axes, expect_dtype_of, expect_i32_or_i64, expect_rank_of, unknown_word,
};
use crate::dialect::framework::index_tuples::{expect_windows, tuples};
use crate::dialect::framework::operator::{Argument, Kind, Operator};
use crate::dialect::framework::scatter_forms::{elements, into_copy};
use crate::dialect::onnx::{AXIS, DATA, INDICES, TUPLES, call, expect_opset, expect_tuples, opset};
use strew_engine::checks::{axis, expect_shape};
use strew_engine::scatter::Scatter;
use strew_engine::scatter::bounds::Bounds;
use strew_engine::scatter::reduction::Reduction;
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor};

const REDUCTIONS: &[&str] = &["none", "add", "mul", "max", "min"];

/// The version that brought sums and products, and the one that brought minima and maxima.
const ADD_SINCE: i64 = 16;

const MAX_SINCE: i64 = 18;

const UPDATES: Argument = Argument::needed(
    "updates",
    Kind::Tensor,
    "an element for each of indices: its shape, data's dtype",
);

const REDUCTION: Argument = Argument::needed(
    "reduction",
    Kind::Text,
    "how updates join a cell: none replaces it",
)
.or("none")
.of(REDUCTIONS);

pub(super) const SCATTER_ELEMENTS: Operator = Operator {
    name: "onnx.scatter_elements",
    summary: "A copy of data with updates joined to the cells that indices name along axis",
    arguments: &[DATA, INDICES, UPDATES, AXIS, REDUCTION, opset("18")],
    returns: &["out"],
    lower: |args| {
        let data = args.tensor("data")?;
        let indices = args.tensor("indices")?;
        let updates = args.tensor("updates")?;
        let axis = args.optional_int("axis").unwrap_or(0);
        let reduction = args.optional_text("reduction");
        let opset = args.optional_int("opset").unwrap_or(MAX_SINCE);
        let reduction = reduction.as_deref().unwrap_or("none");
        lower_elements(data, indices, updates, axis, reduction, opset)
    },
};

pub(super) const SCATTER: Operator = Operator {
    name: "onnx.scatter",
    summary: "A copy of data with updates written to the cells that indices name along axis; deprecated",
    arguments: &[DATA, INDICES, UPDATES, AXIS, opset("11")],
    returns: &["out"],
    lower: |args| {
        let data = args.tensor("data")?;
        let indices = args.tensor("indices")?;
        let updates = args.tensor("updates")?;
        let axis = args.optional_int("axis").unwrap_or(0);
        let opset = args.optional_int("opset").unwrap_or(WRAPS_SINCE);
        lower_scatter(data, indices, updates, axis, opset)
    },
};

/// `Scatter-9` says nothing about negative indices.
const WRAPS_SINCE: i64 = 11;

pub(super) const SCATTER_ND: Operator = Operator {
    name: "onnx.scatter_nd",
    summary: "A copy of data with updates joined to the windows that index tuples name",
    arguments: &[
        DATA,
        TUPLES,
        Argument::needed(
            "updates",
            Kind::Tensor,
            "windows, of shape indices.shape[:-1] + data.shape[indices.shape[-1]:] and data's dtype",
        ),
        REDUCTION,
        opset("18"),
    ],
    returns: &["out"],
    lower: |args| {
        let data = args.tensor("data")?;
        let indices = args.tensor("indices")?;
        let updates = args.tensor("updates")?;
        let reduction = args.optional_text("reduction");
        let opset = args.optional_int("opset").unwrap_or(MAX_SINCE);
        let reduction = reduction.as_deref().unwrap_or("none");
        lower_nd(data, indices, updates, reduction, opset)
    },
};

/// A copy of `data` with each element of `updates` joined to the cell that its index names along
/// `axis`, in row-major order.
///
/// * `indices`: integers, of `data`'s rank, no larger than it apart from `axis`; negative
///   ones count from the end.
/// * `updates`: shape of `indices`.
/// * `reduction`: `"none"` (the last update of a cell stays), `"add"`, `"mul"`, `"max"` or `"min"`
///   (both of NaN where there is one). Of `bool`, a sum is a logical or, a product a logical and.
///
/// ```
/// let out = strew::onnx::scatter_elements(&[1.0f32, 2.0, 3.0], &[1i64, 1], &[1.5, 2.5], 0, "add")?;
/// assert_eq!(out.as_slice(), [1.0, 6.0, 3.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Index`](crate::Class::Index) for
/// an index out of range, [`Class::Value`](crate::Class::Value) for everything else.
pub fn scatter_elements<T: Element, I: Index>(
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
    axis: i64,
    reduction: &str,
) -> Result<Tensor<T>> {
    let (data, indices) = (data.as_tensor().of_rust(), indices.as_tensor().of_rust());
    let updates = updates.as_tensor().of_rust();
    lower_elements(data, indices, updates, axis, reduction, MAX_SINCE)?.run_typed()
}

/// [`scatter_elements`] with element types known at run time, as of a version of the operator set:
/// 11 has no reduction, 16 has `"add"` and `"mul"`. The errors are the same.
pub fn scatter_elements_dyn(
    data: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    axis: i64,
    reduction: &str,
    opset: i64,
) -> Result<DynTensor> {
    lower_elements(data, indices, updates, axis, reduction, opset)?.run_dyn()
}

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
pub fn scatter<T: Element, I: Index>(
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
    axis: i64,
) -> Result<Tensor<T>> {
    let (data, indices) = (data.as_tensor().of_rust(), indices.as_tensor().of_rust());
    lower_scatter(
        data,
        indices,
        updates.as_tensor().of_rust(),
        axis,
        WRAPS_SINCE,
    )?
    .run_typed()
}

/// [`scatter`] with element types known at run time, as of a version of the operator set: 9 takes
/// no negative index. The errors are the same.
pub fn scatter_dyn(
    data: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    axis: i64,
    opset: i64,
) -> Result<DynTensor> {
    lower_scatter(data, indices, updates, axis, opset)?.run_dyn()
}

/// A copy of `data` with each window of `updates` joined to the one that its index tuple names, in
/// row-major order.
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
pub fn scatter_nd<T: Element, I: Index>(
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
    reduction: &str,
) -> Result<Tensor<T>> {
    let (data, indices) = (data.as_tensor().of_rust(), indices.as_tensor().of_rust());
    lower_nd(
        data,
        indices,
        updates.as_tensor().of_rust(),
        reduction,
        MAX_SINCE,
    )?
    .run_typed()
}

/// [`scatter_nd`] with element types known at run time, as of a version of the operator set: 11 has
/// no reduction, 16 has `"add"` and `"mul"`. The errors are the same.
pub fn scatter_nd_dyn(
    data: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    reduction: &str,
    opset: i64,
) -> Result<DynTensor> {
    lower_nd(data, indices, updates, reduction, opset)?.run_dyn()
}

fn lower_elements<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    along: i64,
    reduction: &str,
    opset: i64,
) -> Result<Call<'a>> {
    let combine = combine(reduction, opset);
    let described = combine.and_then(|c| describe(data, indices, updates, along, c, WRAP));
    call("onnx.scatter_elements", described)
}

fn lower_scatter<'a>(
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
    call("onnx.scatter", described)
}

fn lower_nd<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    reduction: &str,
    opset: i64,
) -> Result<Call<'a>> {
    let combine = combine(reduction, opset);
    let described = combine.and_then(|c| describe_nd(data, indices, updates, c));
    call("onnx.scatter_nd", described)
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
