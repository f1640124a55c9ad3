//! `tensor_scatter_elements` and `scatter`: elements that each have an index along one axis.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{
    expect_axes, expect_dtype_of, expect_i32_or_i64, expect_rank_of, wrong_value,
};
use crate::dialect::framework::operator::{Argument, Kind, Operator};
use crate::dialect::framework::scatter_forms::{elements, into_copy};
use crate::dialect::mindspore::call;
use strew_engine::checks::{axis, expect_shape};
use strew_engine::scatter::Scatter;
use strew_engine::scatter::bounds::{Bounds, Negative, OutOfRange};
use strew_engine::scatter::reduction::Reduction;
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor};

/// Negative indices count from the end once; updates whose index is out of range are left out.
const BOUNDS: Bounds = Bounds {
    negative: Negative::Wrap,
    out_of_range: OutOfRange::Drop,
    ignored: None,
};

pub(super) const TENSOR_SCATTER_ELEMENTS: Operator = Operator {
    name: "mindspore.tensor_scatter_elements",
    summary: "A copy of input_x with updates written, or added, to the cells that indices name along axis",
    arguments: &[
        Argument::needed(
            "input_x",
            Kind::Tensor,
            "the tensor to start from: rank 1 or more, any dtype",
        ),
        Argument::needed(
            "indices",
            Kind::Tensor,
            "where along axis each update goes: int32 or int64, of input_x's rank; negative counts from the end, and what is out of range is left out",
        ),
        Argument::needed(
            "updates",
            Kind::Tensor,
            "an element for each of indices: its shape, input_x's dtype",
        ),
        Argument::needed(
            "axis",
            Kind::Int,
            "the axis that indices point along; negative counts from the end",
        )
        .or("0"),
        Argument::needed(
            "reduction",
            Kind::Text,
            "how updates join what is there: none replaces it",
        )
        .or("none")
        .of(&["none", "add"]),
    ],
    returns: &["out"],
    lower: |args| {
        let input_x = args.tensor("input_x")?;
        let indices = args.tensor("indices")?;
        let updates = args.tensor("updates")?;
        let axis = args.optional_int("axis").unwrap_or(0);
        let reduction = args.optional_text("reduction");
        let reduction = reduction.as_deref().unwrap_or("none");
        lower(input_x, indices, updates, axis, reduction)
    },
};

pub(super) const SCATTER: Operator = Operator {
    name: "mindspore.scatter",
    summary: "A copy of input with elements of src written into the cells that index names along axis",
    arguments: &[
        Argument::needed(
            "input",
            Kind::Tensor,
            "the tensor to start from: rank 1 or more, any dtype",
        ),
        Argument::needed(
            "axis",
            Kind::Int,
            "the axis that index points along; negative counts from the end",
        ),
        Argument::needed(
            "index",
            Kind::Tensor,
            "where along axis each element goes: int32 or int64, of input's rank; negative counts from the end, and what is out of range is left out",
        ),
        Argument::needed(
            "src",
            Kind::Tensor,
            "an element for each of index: its shape, input's dtype",
        ),
    ],
    returns: &["out"],
    lower: |args| {
        let input = args.tensor("input")?;
        let axis = args.int("axis")?;
        let index = args.tensor("index")?;
        lower_scatter(input, axis, index, args.tensor("src")?)
    },
};

/// A copy of `input_x` with elements of `updates` written (`"none"`) or added (`"add"`) to the
/// cells that `indices` name along `axis`, in row-major order: of several that are written, the
/// last one stays.
///
/// * `indices`: integers, of `input_x`'s rank, no larger than it apart from `axis`. Negative
///   ones count from the end; updates whose index is out of range are left out, as MindSpore does
///   on the CPU.
/// * `updates`: shape of `indices`.
///
/// ```
/// use ndarray::array;
///
/// let out = strew::mindspore::tensor_scatter_elements(
///     &array![[1, 2], [3, 4]],
///     &array![[1i32, 0], [1, 7]],
///     &array![[10, 20], [30, 40]],
///     0,
///     "add",
/// )?;
/// assert_eq!(out.as_slice(), [1, 22, 43, 4]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for an index type,
/// [`Class::TypeAndRuntime`](crate::Class::TypeAndRuntime) for updates of another type,
/// [`Class::Value`](crate::Class::Value) for an axis, shapes and an unknown reduction.
pub fn tensor_scatter_elements<T: Element, I: Index>(
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
    axis: i64,
    reduction: &str,
) -> Result<Tensor<T>> {
    let (input_x, indices) = (input_x.as_tensor().of_rust(), indices.as_tensor().of_rust());
    lower(
        input_x,
        indices,
        updates.as_tensor().of_rust(),
        axis,
        reduction,
    )?
    .run_typed()
}

/// [`tensor_scatter_elements`] with element types known at run time, and the same errors.
pub fn tensor_scatter_elements_dyn(
    input_x: DynView<'_>,
    indices: DynView<'_>,
    updates: DynView<'_>,
    axis: i64,
    reduction: &str,
) -> Result<DynTensor> {
    lower(input_x, indices, updates, axis, reduction)?.run_dyn()
}

/// A copy of `input` with elements of `src` written into the cells that `index` names along `axis`:
/// [`tensor_scatter_elements`] with PyTorch's order of arguments.
///
/// ```
/// let out = strew::mindspore::scatter(&[1, 2, 3], 0, &[-1i64, 5], &[10, 20])?;
/// assert_eq!(out.as_slice(), [1, 2, 10]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`tensor_scatter_elements`].
pub fn scatter<T: Element, I: Index>(
    input: impl AsTensor<T>,
    axis: i64,
    index: impl AsTensor<I>,
    src: impl AsTensor<T>,
) -> Result<Tensor<T>> {
    let (input, index) = (input.as_tensor().of_rust(), index.as_tensor().of_rust());
    lower_scatter(input, axis, index, src.as_tensor().of_rust())?.run_typed()
}

/// [`scatter`] with element types known at run time, and the same errors.
pub fn scatter_dyn(
    input: DynView<'_>,
    axis: i64,
    index: DynView<'_>,
    src: DynView<'_>,
) -> Result<DynTensor> {
    lower_scatter(input, axis, index, src)?.run_dyn()
}

fn lower<'a>(
    input_x: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    along: i64,
    reduction: &str,
) -> Result<Call<'a>> {
    let combine = match reduction {
        "none" => Ok(Combine::Assign),
        "add" => Ok(Combine::Sum),
        _ => Err(wrong_value(
            "reduction",
            reduction,
            "it must be none or add",
        )),
    };
    let names = ["input_x", "indices", "updates"];
    let described = combine.and_then(|c| describe(c, names, input_x, along, indices, updates));
    call("mindspore.tensor_scatter_elements", described)
}

fn lower_scatter<'a>(
    input: DynView<'a>,
    along: i64,
    index: DynView<'a>,
    src: DynView<'a>,
) -> Result<Call<'a>> {
    let names = ["input", "index", "src"];
    let described = describe(Combine::Assign, names, input, along, index, src);
    call("mindspore.scatter", described)
}

fn describe<'a>(
    combine: Combine,
    [input_name, index_name, src_name]: [&'static str; 3],
    input: DynView<'a>,
    along: i64,
    index: DynView<'a>,
    src: DynView<'a>,
) -> Result<Scatter<'a>, Problem> {
    expect_i32_or_i64(index_name, &index)?;
    expect_dtype_of(src_name, src.dtype(), input_name, input.dtype())?;
    expect_axes(input_name, input.shape())?;
    let along = axis("axis", along, input.rank())?;
    expect_rank_of(index_name, index.shape(), input_name, input.rank())?;
    expect_shape(src_name, src.shape(), src.shape() == index.shape(), || {
        format!("it must be {index_name}'s shape, {:?}", index.shape())
    })?;
    let destinations = elements(input.shape(), index_name, &index, along, BOUNDS)?;
    let reduction = Reduction::into_self(combine);
    into_copy(input, destinations, reduction, src_name, src)
}
