//! `tensor_scatter_elements` and `scatter`: elements that each have an index along one axis.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{
    expect_axes, expect_dtype_of, expect_i32_or_i64, expect_rank_of, wrong_value,
};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::scatter_forms::{elements, into_copy};
use crate::dialect::mindspore::call;
use strew_engine::checks::{axis, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::bounds::{Bounds, Negative, OutOfRange};
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;

/// Negative indices count from the end once; updates whose index is out of range are left out.
const BOUNDS: Bounds = Bounds {
    negative: Negative::Wrap,
    out_of_range: OutOfRange::Drop,
    ignored: None,
};

operators! {
    <T: Element, I: Index> dyn (
        input_x: tensor<T> => "the tensor to start from: rank 1 or more, any dtype";
        indices: tensor<I> =>
            "where along axis each update goes: int32 or int64, of input_x's rank; negative counts from the end, and what is out of range is left out";
        updates: tensor<T> => "an element for each of indices: its shape, input_x's dtype";
        axis: int = 0 => "the axis that indices point along; negative counts from the end";
        reduction: text = "none" => "how updates join what is there: none replaces it", &["none", "add"];
    ) -> out;

    /// A copy of `input_x` with elements of `updates` written (`"none"`) or added (`"add"`) to the
    /// cells that `indices` name along `axis`, in row-major order: of several that are written, the
    /// last one stays.
    ///
    /// * `indices`: integers, of `input_x`'s rank, no larger than it apart from `axis`. Negative
    ///   ones count from the end; updates whose index is out of range are left out, as MindSpore
    ///   does on the CPU.
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
    pub fn tensor_scatter_elements, pub fn tensor_scatter_elements_dyn = lower;
    const TENSOR_SCATTER_ELEMENTS = "mindspore.tensor_scatter_elements":
        "A copy of input_x with updates written, or added, to the cells that indices name along axis";
}

operators! {
    <T: Element, I: Index> dyn (
        input: tensor<T> => "the tensor to start from: rank 1 or more, any dtype";
        axis: int => "the axis that index points along; negative counts from the end";
        index: tensor<I> =>
            "where along axis each element goes: int32 or int64, of input's rank; negative counts from the end, and what is out of range is left out";
        src: tensor<T> => "an element for each of index: its shape, input's dtype";
    ) -> out;

    /// A copy of `input` with elements of `src` written into the cells that `index` names along
    /// `axis`: [`tensor_scatter_elements`] with PyTorch's order of arguments.
    ///
    /// ```
    /// let out = strew::mindspore::scatter(&[1, 2, 3], 0, &[-1i64, 5], &[10, 20])?;
    /// assert_eq!(out.as_slice(), [1, 2, 10]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`tensor_scatter_elements`].
    pub fn scatter, pub fn scatter_dyn = lower_scatter;
    const SCATTER = "mindspore.scatter":
        "A copy of input with elements of src written into the cells that index names along axis";
}

fn lower<'a>(
    operator: &'static str,
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
    call(operator, described)
}

fn lower_scatter<'a>(
    operator: &'static str,
    input: DynView<'a>,
    along: i64,
    index: DynView<'a>,
    src: DynView<'a>,
) -> Result<Call<'a>> {
    let names = ["input", "index", "src"];
    let described = describe(Combine::Assign, names, input, along, index, src);
    call(operator, described)
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
