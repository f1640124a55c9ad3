//! `tf.compat.v1.scatter_*`: an index names a row of the variable.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_axes;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::scatter_forms::in_place;
use crate::dialect::tensorflow::{MAX, MIN, call, expect_index, expect_number, expect_same};
use strew_engine::checks::{expect_no_zero, expect_shape};
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::ops::reduction::Combine;

operators! {
    <'a, T: Element, I: Index> dyn<'a> (
        ref_["ref"]: target<T> =>
            "the variable to change: rank 1 or more, any dtype; bool only to be updated";
        indices: tensor<I> => "row numbers of ref: any shape, int16, int32 or int64";
        updates: tensor<T> =>
            "rows, of shape indices.shape + ref.shape[1:] and ref's dtype; 0-d for all of them";
    ) -> in place ref;

    /// Replaces rows of `ref_` in place: `ref_[indices[i], ..] = updates[i, ..]`. Of several
    /// updates of a row, the last one stays, in row-major order.
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
    /// [`Class::Type`](crate::Class::Type) for element types, [`Class::Index`](crate::Class::Index)
    /// for an index out of range, [`Class::Value`](crate::Class::Value) for shapes and overlapping
    /// memory. `ref_` is then unchanged.
    pub fn scatter_update, pub fn scatter_update_dyn = lower(Combine::Assign);
    const SCATTER_UPDATE = "tensorflow.scatter_update":
        "Replaces rows of ref, in place, by the rows of updates that indices sends there";

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
    pub fn scatter_add, pub fn scatter_add_dyn = lower(Combine::Sum);
    const SCATTER_ADD = "tensorflow.scatter_add":
        "Adds to rows of ref, in place, the rows of updates that indices sends there";

    /// Subtracts from rows of `ref_` in place; see [`scatter_add`].
    ///
    /// # Errors
    /// As [`scatter_add`].
    pub fn scatter_sub, pub fn scatter_sub_dyn = lower(Combine::Sub);
    const SCATTER_SUB = "tensorflow.scatter_sub":
        "Subtracts from rows of ref, in place, the rows of updates that indices sends there";

    /// Multiplies rows of `ref_` in place; see [`scatter_add`].
    ///
    /// # Errors
    /// As [`scatter_add`].
    pub fn scatter_mul, pub fn scatter_mul_dyn = lower(Combine::Prod);
    const SCATTER_MUL = "tensorflow.scatter_mul":
        "Multiplies rows of ref, in place, by the rows of updates that indices sends there";

    /// Divides rows of `ref_` in place; see [`scatter_add`]. Integers are rounded toward zero.
    ///
    /// # Errors
    /// As [`scatter_add`]; [`Class::Value`](crate::Class::Value) if `updates` of integers hold a
    /// zero.
    pub fn scatter_div, pub fn scatter_div_dyn = lower(Combine::Div);
    const SCATTER_DIV = "tensorflow.scatter_div":
        "Divides rows of ref, in place, by the rows of updates that indices sends there";

    /// Lowers rows of `ref_` in place; see [`scatter_add`]. A NaN in `updates` loses against a
    /// number, one in `ref_` stays.
    ///
    /// # Errors
    /// As [`scatter_add`]; [`Class::Type`](crate::Class::Type) for complex numbers.
    pub fn scatter_min, pub fn scatter_min_dyn = lower(MIN);
    const SCATTER_MIN = "tensorflow.scatter_min":
        "Lowers rows of ref, in place, to the rows of updates that indices sends there";

    /// Raises rows of `ref_` in place; see [`scatter_min`].
    ///
    /// # Errors
    /// As [`scatter_min`].
    pub fn scatter_max, pub fn scatter_max_dyn = lower(MAX);
    const SCATTER_MAX = "tensorflow.scatter_max":
        "Raises rows of ref, in place, to the rows of updates that indices sends there";
}

fn lower<'a>(
    operator: &'static str,
    combine: Combine,
    ref_: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<Call<'a>> {
    let describe = || {
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
    };
    call(operator, describe())
}
