//! `scatter_nd`, `scatter_nd_add`: windows that index tuples name.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_dtype_of, expect_i32_or_i64};
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::index_tuples::tuples;
use crate::dialect::paddle::{call, class, expect_number, into_copy};
use strew_engine::checks::expect_shape;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::{Class, Problem};
use strew_kernel::ops::reduction::Combine;

const INDEX: &str =
    "index tuples along the last axis: int32 or int64; negative counts from the end";

operators! {
    <T: Element, I: Index> dyn (
        index: tensor<I> => INDEX;
        updates: tensor<T> =>
            "windows, of shape index.shape[:-1] + shape[index.shape[-1]:] and any dtype but bool";
        shape: integers => "the shape of the result";
    ) -> out;

    /// Zeros of a shape, with each window of `updates` added to the one that its index tuple names:
    /// [`scatter_nd_add`] to zeros.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::paddle::scatter_nd(&array![[1i64], [2], [1]], &[9, 10, 12], &[4])?;
    /// assert_eq!(out.as_slice(), [0, 21, 10, 0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_nd_add`].
    pub fn scatter_nd, pub fn scatter_nd_dyn = lower_new;
    const SCATTER_ND = "paddle.scatter_nd":
        "Zeros of a shape, with updates added to the windows that index tuples name";
}

operators! {
    <T: Element, I: Index> dyn (
        x: tensor<T> => "the tensor to start from: any shape, any dtype but bool";
        index: tensor<I> => INDEX;
        updates: tensor<T> =>
            "windows, of shape index.shape[:-1] + x.shape[index.shape[-1]:] and x's dtype";
    ) -> out;

    /// A copy of `x` with each window of `updates` added to the one that its index tuple names, in
    /// row-major order.
    ///
    /// * `index`: integers; its last axis holds tuples, of at most as many entries as `x` has
    ///   axes. Negative ones count from the end. A tuple without entries names all of `x`.
    /// * `updates`: shape `index.shape[..-1] + x.shape[K..]` for tuples of `K` entries.
    ///
    /// Where `x` or `updates` has no elements, indices are not checked. 16-bit floats accumulate in
    /// `f32`; integers wrap.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let index = array![[1i64], [-1], [1]];
    /// let out = strew::paddle::scatter_nd_add(&[0, 1, 2, 3], &index, &[9, 10, 11])?;
    /// assert_eq!(out.as_slice(), [0, 21, 2, 13]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`] for an index out of range, [`Class::Type`] for updates of another type,
    /// [`Class::Runtime`] for `bool`, [`Class::Value`] for everything else.
    pub fn scatter_nd_add, pub fn scatter_nd_add_dyn = lower_add;
    const SCATTER_ND_ADD = "paddle.scatter_nd_add":
        "A copy of x with updates added to the windows that index tuples name";
}

fn lower_new<'a>(
    operator: &'static str,
    index: DynView<'a>,
    updates: DynView<'a>,
    shape: &Integers<'_>,
) -> Result<Call<'a>> {
    call(operator, class, describe_new(index, updates, shape))
}

fn lower_add<'a>(
    operator: &'static str,
    x: DynView<'a>,
    index: DynView<'a>,
    updates: DynView<'a>,
) -> Result<Call<'a>> {
    let class = |problem: &Problem| match problem {
        Problem::DType {
            argument: "updates",
            ..
        } => Class::Type,
        other => class(other),
    };
    call(operator, class, describe_add(x, index, updates))
}

fn describe_new<'a>(
    index: DynView<'a>,
    updates: DynView<'a>,
    shape: &Integers<'_>,
) -> Result<Scatter<'a>, Problem> {
    let shape = shape.sizes("shape")?;
    expect_number("the sum", updates.dtype())?;
    let mut destinations = windows(&shape, &index, &updates)?;
    let dtype = updates.dtype();
    let mut updates = updates;
    if shape.contains(&0) || updates.is_empty() {
        destinations = Destinations::none(&shape);
        updates = DynView::nothing(dtype);
    }
    let target = Target::New {
        dtype,
        start: Start::Zero,
    };
    let reduction = Reduction::into_self(Combine::Sum);
    Scatter::new(destinations, reduction, "updates", updates, target)
}

fn describe_add<'a>(
    x: DynView<'a>,
    index: DynView<'a>,
    updates: DynView<'a>,
) -> Result<Scatter<'a>, Problem> {
    expect_dtype_of("updates", updates.dtype(), "x", x.dtype())?;
    expect_number("the sum", x.dtype())?;
    let destinations = windows(x.shape(), &index, &updates)?;
    let reduction = Reduction::into_self(Combine::Sum);
    into_copy(x, destinations, reduction, "updates", updates)
}

fn windows<'a>(
    shape: &[usize],
    index: &DynView<'a>,
    updates: &DynView<'a>,
) -> Result<Destinations<'a>, Problem> {
    expect_i32_or_i64("index", index)?;
    let destinations = tuples(shape, "index", index, 0..=shape.len(), WRAP)?;
    let (found, wanted) = (updates.shape(), destinations.updates_shape());
    expect_shape("updates", found, found == wanted, || {
        format!(
            "it must be index.shape[:-1] and the shape behind the axes that a tuple names, {wanted:?}"
        )
    })?;
    Ok(destinations)
}
