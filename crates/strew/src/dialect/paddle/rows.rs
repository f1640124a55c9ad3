//! `scatter`, `index_add`, `index_fill`: slices along one axis.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_dtype_of, expect_i32_or_i64};
use crate::dialect::framework::declaration::*;
use crate::dialect::paddle::{
    call, class, expect_number, into_copy, own_axis, slices, value_class, vector,
};
use strew_engine::checks::expect_shape;
use strew_engine::describe::Scatter;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::{Finish, Init, Reduction};
use strew_kernel::error::{Class, Problem};
use strew_kernel::ops::cast::converted;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Held};

const X: &str = "the tensor to start from: rank 1 or more, any dtype";

const AXIS: &str = "the axis that index points along; negative counts from the end";

operators! {
    <T: Element, I: Index> dyn (
        x: tensor<T> => X;
        index: tensor<I> =>
            "where each row goes: int32 or int64, 1-d, 0-d for one row, or 2-d with one column; negative counts from the end";
        updates: tensor<T> =>
            "rows of x's shape and dtype, at least as many as index has; of a 0-d index one row, without an axis for it";
        overwrite: bool = true =>
            "whether the last row for a place stays; if not, it is their sum, without what x holds there";
    ) -> out;

    /// A copy of `x` with rows replaced: `out[index[i]] = updates[i]`, of several the last one.
    /// With `overwrite` false, it is their sum, which starts from zero.
    ///
    /// * `index`: integers, 1-d or 2-d with one column; 0-d for one row, of which `updates` then
    ///   has no axis. Negative ones count from the end.
    /// * `updates`: at least as many rows as `index` has, each of `x`'s shape. Those beyond are not
    ///   read.
    ///
    /// Where `x`, `index` or `updates` has no elements, indices are not checked. 16-bit floats
    /// accumulate in `f32`; integers wrap.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let x = array![[1, 1], [2, 2], [3, 3]];
    /// let updates = array![[1, 1], [2, 2], [3, 3], [4, 4]];
    /// let out = strew::paddle::scatter(&x, &[2i64, 1, 0, 1], &updates, true)?;
    /// assert_eq!(out.as_slice(), [3, 3, 4, 4, 1, 1]);
    /// let out = strew::paddle::scatter(&x, &[2i64, 1, 0, 1], &updates, false)?;
    /// assert_eq!(out.as_slice(), [3, 3, 6, 6, 1, 1]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`] for an index out of range, [`Class::Runtime`] for a sum of `bool`,
    /// [`Class::Value`] for everything else.
    pub fn scatter, pub fn scatter_dyn = lower_scatter;
    const SCATTER = "paddle.scatter":
        "A copy of x with rows replaced by updates, or by their sum";
}

operators! {
    <T: Element, I: Index> dyn (
        x: tensor<T> => "the tensor to start from: rank 1 or more, any dtype but bool";
        index: tensor<I> =>
            "where along axis each slice goes: 1-d, int32 or int64; negative counts from the end";
        axis: int => AXIS;
        value: tensor<T> => "slices of x's shape and dtype, as many along axis as index has";
    ) -> out;

    /// A copy of `x` with slices of `value` added, in their order: `out[.., index[i], ..] +=
    /// value[.., i, ..]`.
    ///
    /// * `index`: integers, 1-d; negative ones count from the end.
    /// * `value`: `x`'s shape, but for `axis`, where it is as long as `index`.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::paddle::index_add(&array![[1, 2, 3]], &[-1i32, -1], 1, &array![[10, 20]])?;
    /// assert_eq!(out.as_slice(), [1, 2, 33]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`] for a wrong axis, [`Class::Runtime`] for `bool`, [`Class::Value`] for
    /// everything else, also an index out of range.
    pub fn index_add, pub fn index_add_dyn = lower_add;
    const INDEX_ADD = "paddle.index_add":
        "A copy of x with slices of value added to those that index names along axis";
}

operators! {
    <T: Element, I: Index> dyn (
        x: tensor<T> => X;
        index: tensor<I> =>
            "which slices along axis: 1-d, int32 or int64; negative counts from the end";
        axis: int => AXIS;
        value: scalar =>
            "the number, made an element of x's dtype: fractions are cut off, and integers wrap";
    ) -> out;

    /// A copy of `x` with one number in the slices that `index` names along `axis`.
    ///
    /// * `index`: integers, 1-d; negative ones count from the end.
    /// * `value` becomes an element of `x`'s type: fractions are cut off, and integers wrap.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::paddle::index_fill(&array![[1, 2, 3], [4, 5, 6]], &[0i32, -1], 1, -1.5)?;
    /// assert_eq!(out.as_slice(), [-1, 2, -1, -1, 5, -1]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`] for an index out of range, [`Class::Value`] for everything else.
    pub fn index_fill, pub fn index_fill_dyn = lower_fill;
    const INDEX_FILL = "paddle.index_fill":
        "A copy of x with one number in the slices that index names along axis";
}

fn lower_scatter<'a>(
    operator: &'static str,
    x: DynView<'a>,
    index: DynView<'a>,
    updates: DynView<'a>,
    overwrite: bool,
) -> Result<Call<'a>> {
    let described = describe_scatter(x, index, updates, overwrite);
    call(operator, class, described)
}

fn lower_add<'a>(
    operator: &'static str,
    x: DynView<'a>,
    index: DynView<'a>,
    axis: i64,
    value: DynView<'a>,
) -> Result<Call<'a>> {
    call(operator, value_class, describe_add(x, index, axis, value))
}

fn lower_fill<'a>(
    operator: &'static str,
    x: DynView<'a>,
    index: DynView<'a>,
    axis: i64,
    value: Scalar,
) -> Result<Call<'a>> {
    let class = |problem: &Problem| match problem {
        Problem::Axis { .. } => Class::Value,
        other => class(other),
    };
    call(operator, class, describe_fill(x, index, axis, value))
}

fn describe_scatter<'a>(
    x: DynView<'a>,
    index: DynView<'a>,
    updates: DynView<'a>,
    overwrite: bool,
) -> Result<Scatter<'a>, Problem> {
    let reduction = match overwrite {
        true => Reduction::into_self(Combine::Assign),
        false => {
            expect_number("the sum", x.dtype())?;
            Reduction {
                combine: Combine::Sum,
                init: Init::Identity,
                finish: Finish::None,
            }
        }
    };
    let index = vector(index)?;
    let one = index.rank() == 0;
    let rank = updates.rank() + usize::from(one);
    let fits = x.rank() >= 1 && rank == x.rank();
    expect_shape("updates", updates.shape(), fits, || match one {
        true => format!(
            "of a 0-d index, it must have one dimension less than x, which has {}",
            x.rank()
        ),
        false => format!(
            "it must have as many dimensions as x, {}, at least one",
            x.rank()
        ),
    })?;
    let count = index.len();
    let rows = if one { 1 } else { updates.shape()[0] };
    expect_shape("index", index.shape(), count <= rows, || {
        format!("it must not have more elements than updates has rows, {rows}")
    })?;
    expect_dtype_of("updates", updates.dtype(), "x", x.dtype())?;
    expect_i32_or_i64("index", &index)?;
    let (found, wanted) = (updates.shape(), &x.shape()[1..]);
    let row = if one { found } else { &found[1..] };
    let read = count > 0 && !updates.is_empty() && !x.is_empty();
    expect_shape("updates", found, !read || row == wanted, || {
        format!("its rows must have the shape of x's, {wanted:?}")
    })?;
    if !read {
        let nothing = DynView::nothing(x.dtype());
        return into_copy(x, Destinations::none(&[]), reduction, "updates", nothing);
    }
    let updates = match one {
        true => updates,
        false => updates.narrow(0, 0, count).unwrap_or(updates),
    };
    let shape = x.dims();
    let destinations = Destinations::rows(&shape, "index", &[index], &[0], None, WRAP)?;
    into_copy(x, destinations, reduction, "updates", updates)
}

fn describe_add<'a>(
    x: DynView<'a>,
    index: DynView<'a>,
    axis: i64,
    value: DynView<'a>,
) -> Result<Scatter<'a>, Problem> {
    expect_number("the sum", x.dtype())?;
    let axis = own_axis(axis, x.rank())?;
    expect_vector(&index)?;
    let mut wanted = x.dims();
    wanted[axis] = index.len();
    expect_shape("value", value.shape(), value.shape() == &*wanted, || {
        format!("it must be x's shape, but as long as index along axis {axis}: {wanted:?}")
    })?;
    expect_i32_or_i64("index", &index)?;
    expect_dtype_of("value", value.dtype(), "x", x.dtype())?;
    let destinations = slices(x.shape(), axis, &index)?;
    let reduction = Reduction::into_self(Combine::Sum);
    into_copy(x, destinations, reduction, "value", value)
}

fn describe_fill<'a>(
    x: DynView<'a>,
    index: DynView<'a>,
    axis: i64,
    value: Scalar,
) -> Result<Scatter<'a>, Problem> {
    let natural = match value {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) => DType::I64,
        Scalar::Uint(_) => DType::U64,
        Scalar::Float(_) => DType::F64,
        Scalar::Complex(_) => DType::C128,
    };
    let value = converted(&value.tensor("value", natural)?.view(), x.dtype())?;
    let axis = own_axis(axis, x.rank())?;
    expect_vector(&index)?;
    expect_i32_or_i64("index", &index)?;
    let destinations = slices(x.shape(), axis, &index)?;
    let wide = Held::from(value).map(|one| one.broadcast_to(destinations.updates_shape()));
    let wide = wide.ok_or_else(|| Problem::Layout {
        argument: "value".into(),
        why: format!(
            "it cannot be repeated to shape {:?}",
            destinations.updates_shape()
        ),
    })?;
    let reduction = Reduction::into_self(Combine::Assign);
    into_copy(x, destinations, reduction, "value", wide)
}

fn expect_vector(index: &DynView<'_>) -> Result<(), Problem> {
    expect_shape("index", index.shape(), index.rank() == 1, || {
        "it must have exactly one dimension".into()
    })
}
