//! `scatter_nd`, `scatter_nd_*`: tuples along the last axis of the index name windows, in a new
//! tensor and in place.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_i32_or_i64;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::index_tuples::{expect_windows, tuples};
use crate::dialect::mindspore::{
    DEVICE, DEVICES, Device, MAX, MIN, PARAMETER, call, expect_divisors, expect_promoted,
    into_parameter,
};
use strew_engine::checks::expect_shape;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;

pub(super) const INDICES: &str = "index tuples along its last axis, rank 2 or more: int32 or int64";

pub(super) const UPDATES: &str =
    "windows, of shape indices.shape[:-1] + input_x.shape[indices.shape[-1]:]; input_x's dtype";

operators! {
    <T: Element, I: Index> dyn (
        indices: tensor<I> => INDICES;
        updates: tensor<T> =>
            "windows, of shape indices.shape[:-1] + shape[indices.shape[-1]:], any dtype";
        shape: integers => "shape of the output";
        + device: choice<Device> = "cpu" => DEVICE, DEVICES;
    ) -> out;

    /// A new tensor of zeros of this shape, to which `updates` are added: those that go to the same
    /// cells all count.
    ///
    /// * `indices`: integers, of rank 2 or more; its last axis holds tuples, of at most
    ///   `shape.len()` entries, in `0..shape[k]`.
    /// * `updates`: shape `indices.shape[..-1] + shape[K..]` for tuples of `K` entries.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let indices = array![[0i32, 1], [1, 1], [0, 1]];
    /// let out = strew::mindspore::scatter_nd(&indices, &[3.2f32, 1.1, 5.3], &[2, 2])?;
    /// assert_eq!(out.as_slice(), [0.0, 8.5, 0.0, 1.1]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for an index type, [`Class::Value`](crate::Class::Value)
    /// for shapes, [`Class::Runtime`](crate::Class::Runtime) for an index out of range.
    pub fn scatter_nd, pub fn scatter_nd_dyn = lower_new;
    const SCATTER_ND = "mindspore.scatter_nd":
        "Adds updates into a new tensor of zeros by index tuples along the last axis";
}

operators! {
    <'a, T: Element, I: Index, U: Element> dyn<'a> (
        input_x: target<T> => PARAMETER;
        indices: tensor<I> => INDICES;
        updates: tensor<U> =>
            "windows, of shape indices.shape[:-1] + input_x.shape[indices.shape[-1]:]; input_x's dtype or one that is promoted to it";
        + device: choice<Device> = "cpu" => DEVICE, DEVICES;
    ) -> in place input_x;

    /// Adds windows to `input_x` in place: for each tuple `indices[i, .., :]`,
    /// `input_x[indices[i, .., :]] += updates[i, ..]`, one after the other.
    ///
    /// * `input_x`, and which updates are promoted to it: as for
    ///   [`scatter_mul`](super::scatter_mul).
    /// * `indices`: integers, of rank 2 or more; its last axis holds tuples, of at most as many
    ///   entries as `input_x` has axes.
    /// * `updates`: shape `indices.shape[..-1] + input_x.shape[K..]` for tuples of `K` entries.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let mut x = [1.0f32, 2.0, 3.0];
    /// let indices = array![[2i32], [0], [2]];
    /// strew::mindspore::scatter_nd_add(&mut x, &indices, &[10.0f32, 20.0, 30.0])?;
    /// assert_eq!(x, [21.0, 2.0, 43.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_mul`](super::scatter_mul).
    pub fn scatter_nd_add, pub fn scatter_nd_add_dyn = lower(Combine::Sum);
    const SCATTER_ND_ADD = "mindspore.scatter_nd_add":
        "Adds updates to input_x, in place, by index tuples along the last axis";

    /// [`scatter_nd_add`] with `-=`. The errors are the same.
    pub fn scatter_nd_sub, pub fn scatter_nd_sub_dyn = lower(Combine::Sub);
    const SCATTER_ND_SUB = "mindspore.scatter_nd_sub":
        "Subtracts updates from input_x, in place, by index tuples along the last axis";

    /// [`scatter_nd_add`] with `*=`. The errors are the same.
    pub fn scatter_nd_mul, pub fn scatter_nd_mul_dyn = lower(Combine::Prod);
    const SCATTER_ND_MUL = "mindspore.scatter_nd_mul":
        "Multiplies input_x by updates, in place, by index tuples along the last axis";

    /// [`scatter_nd_add`] with `/=`; integers are rounded toward zero.
    ///
    /// # Errors
    /// As [`scatter_nd_add`]; [`Class::Value`](crate::Class::Value) if `updates` of integers hold a
    /// zero.
    pub fn scatter_nd_div, pub fn scatter_nd_div_dyn = lower(Combine::Div);
    const SCATTER_ND_DIV = "mindspore.scatter_nd_div":
        "Divides input_x by updates, in place, by index tuples along the last axis";

    /// [`scatter_nd_add`] with the maximum; NaN on either side is the result. The errors are the
    /// same.
    pub fn scatter_nd_max, pub fn scatter_nd_max_dyn = lower(MAX);
    const SCATTER_ND_MAX = "mindspore.scatter_nd_max":
        "Raises input_x to updates, in place, by index tuples along the last axis";

    /// [`scatter_nd_add`] with the minimum; NaN on either side is the result. The errors are the
    /// same.
    pub fn scatter_nd_min, pub fn scatter_nd_min_dyn = lower(MIN);
    const SCATTER_ND_MIN = "mindspore.scatter_nd_min":
        "Lowers input_x to updates, in place, by index tuples along the last axis";

    /// Replaces windows of `input_x` in place; of several updates of a cell, the last one stays.
    ///
    /// # Errors
    /// As [`scatter_nd_add`].
    pub fn scatter_nd_update, pub fn scatter_nd_update_dyn = lower(Combine::Assign);
    const SCATTER_ND_UPDATE = "mindspore.scatter_nd_update":
        "Replaces cells of input_x, in place, by updates, by index tuples along the last axis";
}

fn lower<'a>(
    operator: &'static str,
    combine: Combine,
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Result<Device, Problem>,
) -> Result<Call<'a>> {
    let describe = || {
        let bounds = device?.bounds();
        let destinations = destinations(input_x.shape(), &indices, &updates, bounds)?;
        expect_promoted(input_x.dtype(), updates.dtype())?;
        expect_whole_divisors(combine, &updates)?;
        into_parameter(combine, input_x, destinations, updates)
    };
    call(operator, describe())
}

fn lower_new<'a>(
    operator: &'static str,
    indices: DynView<'a>,
    updates: DynView<'a>,
    shape: &Integers<'_>,
    device: Result<Device, Problem>,
) -> Result<Call<'a>> {
    let describe = || {
        let bounds = device?.bounds();
        let shape = shape.sizes("shape")?;
        let destinations = destinations(&shape, &indices, &updates, bounds)?;
        let target = Target::New {
            dtype: updates.dtype(),
            start: Start::Zero,
        };
        let reduction = Reduction::into_self(Combine::Sum);
        Scatter::new(destinations, reduction, "updates", updates, target)
    };
    call(operator, describe())
}

pub(super) fn destinations<'a>(
    shape: &[usize],
    indices: &DynView<'a>,
    updates: &DynView<'_>,
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    expect_i32_or_i64("indices", indices)?;
    expect_shape("indices", indices.shape(), indices.rank() >= 2, || {
        "it must have at least two dimensions".into()
    })?;
    let destinations = tuples(shape, "indices", indices, 1..=shape.len(), bounds)?;
    expect_windows("updates", updates.shape(), &destinations)?;
    Ok(destinations)
}

/// Floats are divided by zero as arithmetic has it; integers are not.
pub(super) fn expect_whole_divisors(
    combine: Combine,
    updates: &DynView<'_>,
) -> Result<(), Problem> {
    match updates.dtype().is_integer() {
        true => expect_divisors(combine, updates),
        false => Ok(()),
    }
}
