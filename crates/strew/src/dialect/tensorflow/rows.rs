//! `tf.compat.v1.scatter_*`: an index names a row of the variable.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_axes;
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use crate::dialect::framework::scatter_forms::in_place;
use crate::dialect::tensorflow::{MAX, MIN, call, expect_index, expect_number, expect_same};
use strew_engine::checks::{expect_no_zero, expect_shape};
use strew_engine::scatter::Scatter;
use strew_engine::scatter::bounds::Bounds;
use strew_engine::scatter::destinations::Destinations;
use strew_engine::scatter::reduction::Reduction;
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{AsTensor, DynView, DynViewMut, Element, Index, TensorViewMut};

const ARGUMENTS: [Argument; 3] = [
    Argument::needed(
        "ref",
        Kind::Target,
        "the variable to change: rank 1 or more, any dtype; bool only to be updated",
    ),
    Argument::needed(
        "indices",
        Kind::Tensor,
        "row numbers of ref: any shape, int16, int32 or int64",
    ),
    Argument::needed(
        "updates",
        Kind::Tensor,
        "rows, of shape indices.shape + ref.shape[1:] and ref's dtype; 0-d for all of them",
    ),
];

fn from_table<'a>(
    args: &mut Arguments<'a>,
    operator: &'static str,
    combine: Combine,
) -> Result<Call<'a>> {
    let ref_ = args.target("ref")?;
    let indices = args.tensor("indices")?;
    let updates = args.tensor("updates")?;
    call(operator, describe(combine, ref_, indices, updates))
}

pub(super) const SCATTER_UPDATE: Operator = Operator {
    name: "tensorflow.scatter_update",
    summary: "Replaces rows of ref, in place, by the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["ref"],
    lower: |args| from_table(args, "tensorflow.scatter_update", Combine::Assign),
};

/// Replaces rows of `ref_` in place: `ref_[indices[i], ..] = updates[i, ..]`. Of several updates of
/// a row, the last one stays, in row-major order.
///
/// * `indices`: integers, any shape, values in `0..ref_.shape[0]`.
/// * `updates`: shape `indices.shape + ref_.shape[1..]`; or 0-d, for all of the rows.
///
/// ```
/// let mut x = [1, 2, 3];
/// strew::tensorflow::scatter_update(&mut x, &[0i32, 0], &[10, 100])?;
/// assert_eq!(x, [100, 2, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`](crate::Class::Type) for element types, [`Class::Index`](crate::Class::Index) for
/// an index out of range, [`Class::Value`](crate::Class::Value) for shapes and overlapping memory.
/// `ref_` is then unchanged.
pub fn scatter_update<'a, T: Element, I: Index>(
    ref_: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<()> {
    scatter_update_dyn(
        ref_.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
    )
}

/// [`scatter_update`] with element types known at run time, and the same errors.
pub fn scatter_update_dyn<'a>(
    ref_: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<()> {
    call(
        "tensorflow.scatter_update",
        describe(Combine::Assign, ref_, indices, updates),
    )?
    .run_in_place()
}

pub(super) const SCATTER_ADD: Operator = Operator {
    name: "tensorflow.scatter_add",
    summary: "Adds to rows of ref, in place, the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["ref"],
    lower: |args| from_table(args, "tensorflow.scatter_add", Combine::Sum),
};

/// Adds to rows of `ref_` in place; see [`scatter_update`]. All updates of a row count.
///
/// ```
/// let mut x = [1, 2, 3];
/// strew::tensorflow::scatter_add(&mut x, &[0i32, 0], &[10, 100])?;
/// assert_eq!(x, [111, 2, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_update`]; [`Class::Type`](crate::Class::Type) for `bool`.
pub fn scatter_add<'a, T: Element, I: Index>(
    ref_: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<()> {
    scatter_add_dyn(
        ref_.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
    )
}

/// [`scatter_add`] with element types known at run time, and the same errors.
pub fn scatter_add_dyn<'a>(
    ref_: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<()> {
    call(
        "tensorflow.scatter_add",
        describe(Combine::Sum, ref_, indices, updates),
    )?
    .run_in_place()
}

pub(super) const SCATTER_SUB: Operator = Operator {
    name: "tensorflow.scatter_sub",
    summary: "Subtracts from rows of ref, in place, the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["ref"],
    lower: |args| from_table(args, "tensorflow.scatter_sub", Combine::Sub),
};

/// Subtracts from rows of `ref_` in place; see [`scatter_add`].
///
/// # Errors
/// As [`scatter_add`].
pub fn scatter_sub<'a, T: Element, I: Index>(
    ref_: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<()> {
    scatter_sub_dyn(
        ref_.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
    )
}

/// [`scatter_sub`] with element types known at run time, and the same errors.
pub fn scatter_sub_dyn<'a>(
    ref_: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<()> {
    call(
        "tensorflow.scatter_sub",
        describe(Combine::Sub, ref_, indices, updates),
    )?
    .run_in_place()
}

pub(super) const SCATTER_MUL: Operator = Operator {
    name: "tensorflow.scatter_mul",
    summary: "Multiplies rows of ref, in place, by the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["ref"],
    lower: |args| from_table(args, "tensorflow.scatter_mul", Combine::Prod),
};

/// Multiplies rows of `ref_` in place; see [`scatter_add`].
///
/// # Errors
/// As [`scatter_add`].
pub fn scatter_mul<'a, T: Element, I: Index>(
    ref_: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<()> {
    scatter_mul_dyn(
        ref_.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
    )
}

/// [`scatter_mul`] with element types known at run time, and the same errors.
pub fn scatter_mul_dyn<'a>(
    ref_: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<()> {
    call(
        "tensorflow.scatter_mul",
        describe(Combine::Prod, ref_, indices, updates),
    )?
    .run_in_place()
}

pub(super) const SCATTER_DIV: Operator = Operator {
    name: "tensorflow.scatter_div",
    summary: "Divides rows of ref, in place, by the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["ref"],
    lower: |args| from_table(args, "tensorflow.scatter_div", Combine::Div),
};

/// Divides rows of `ref_` in place; see [`scatter_add`]. Integers are rounded toward zero.
///
/// # Errors
/// As [`scatter_add`]; [`Class::Value`](crate::Class::Value) if `updates` of integers hold a zero.
pub fn scatter_div<'a, T: Element, I: Index>(
    ref_: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<()> {
    scatter_div_dyn(
        ref_.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
    )
}

/// [`scatter_div`] with element types known at run time, and the same errors.
pub fn scatter_div_dyn<'a>(
    ref_: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<()> {
    call(
        "tensorflow.scatter_div",
        describe(Combine::Div, ref_, indices, updates),
    )?
    .run_in_place()
}

pub(super) const SCATTER_MIN: Operator = Operator {
    name: "tensorflow.scatter_min",
    summary: "Lowers rows of ref, in place, to the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["ref"],
    lower: |args| from_table(args, "tensorflow.scatter_min", MIN),
};

/// Lowers rows of `ref_` in place; see [`scatter_add`]. A NaN in `updates` loses against a number,
/// one in `ref_` stays.
///
/// # Errors
/// As [`scatter_add`]; [`Class::Type`](crate::Class::Type) for complex numbers.
pub fn scatter_min<'a, T: Element, I: Index>(
    ref_: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<()> {
    scatter_min_dyn(
        ref_.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
    )
}

/// [`scatter_min`] with element types known at run time, and the same errors.
pub fn scatter_min_dyn<'a>(
    ref_: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<()> {
    call(
        "tensorflow.scatter_min",
        describe(MIN, ref_, indices, updates),
    )?
    .run_in_place()
}

pub(super) const SCATTER_MAX: Operator = Operator {
    name: "tensorflow.scatter_max",
    summary: "Raises rows of ref, in place, to the rows of updates that indices sends there",
    arguments: &ARGUMENTS,
    returns: &["ref"],
    lower: |args| from_table(args, "tensorflow.scatter_max", MAX),
};

/// Raises rows of `ref_` in place; see [`scatter_min`].
///
/// # Errors
/// As [`scatter_min`].
pub fn scatter_max<'a, T: Element, I: Index>(
    ref_: impl Into<TensorViewMut<'a, T>>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
) -> Result<()> {
    scatter_max_dyn(
        ref_.into().into_dyn(),
        indices.as_tensor().of_rust(),
        updates.as_tensor().of_rust(),
    )
}

/// [`scatter_max`] with element types known at run time, and the same errors.
pub fn scatter_max_dyn<'a>(
    ref_: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<()> {
    call(
        "tensorflow.scatter_max",
        describe(MAX, ref_, indices, updates),
    )?
    .run_in_place()
}

fn describe<'a>(
    combine: Combine,
    ref_: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<Scatter<'a>, Problem> {
    expect_index("indices", &indices)?;
    expect_number("ref", combine, ref_.dtype())?;
    expect_same("updates", updates.dtype(), ref_.dtype())?;
    expect_axes("ref", ref_.shape())?;
    let mut wanted = indices.dims();
    wanted.extend_from_slice(&ref_.shape()[1..]);
    let found = updates.shape();
    let fits = found == &*wanted || found.is_empty();
    expect_shape("updates", found, fits, || {
        format!("it must be indices.shape + ref.shape[1:] = {wanted:?}, or 0-d")
    })?;
    if combine == Combine::Div && updates.dtype().is_integer() {
        expect_no_zero("updates", &updates)?;
    }
    let updates = updates.broadcast_to(&wanted).unwrap_or(updates);
    let destinations = Destinations::rows(
        ref_.shape(),
        "indices",
        &[indices],
        &[0],
        None,
        Bounds::STRICT,
    )?;
    let reduction = Reduction::into_self(combine);
    in_place(("ref", ref_), destinations, reduction, "updates", updates)
}
