//! `scatter_*`: an index names a row of the parameter.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::{expect_axes, expect_i32_or_i64};
use crate::dialect::framework::declaration::*;
use crate::dialect::mindspore::{
    DEVICE, DEVICES, Device, MAX, MIN, PARAMETER, call, expect_divisors, expect_promoted,
    into_parameter,
};
use strew_engine::checks::expect_shape;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::DType;

operators! {
    <'a, T: Element, I: Index, U: Element> dyn<'a> (
        input_x: target<T> => PARAMETER;
        indices: tensor<I> => "row numbers of input_x: any shape, int32 or int64";
        updates: tensor<U> =>
            "rows, of shape indices.shape + input_x.shape[1:]; input_x's dtype or one that is promoted to it";
        + device: choice<Device> = "cpu" => DEVICE, DEVICES;
    ) -> in place input_x;

    /// Multiplies rows of `input_x` in place: `input_x[indices[i, ..], ..] *= updates[i, .., ..]`,
    /// one after the other in row-major order, so that a row that is named twice gets both factors.
    ///
    /// * `input_x`: any integer or floating-point type; never converted.
    /// * `indices`: integers, any shape (0-d and empty too), values in `0..input_x.shape[0]`.
    /// * `updates`: shape `indices.shape + input_x.shape[1..]`. A type of lower priority is
    ///   promoted to `input_x`'s as it is read: `bool` to every one; `int8` and `uint8` to wider
    ///   signed integers and floats; signed integers to wider ones and to `float16`, `float32`,
    ///   `float64`; narrower floats to `float32` and `float64`.
    ///
    /// Integers wrap. 16-bit floats accumulate in `f32` and are rounded once.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let mut x = array![[1.0f32, 1.0, 1.0], [2.0, 2.0, 2.0]];
    /// let factors = array![[2.0f32, 2.0, 2.0], [3.0, 3.0, 3.0]];
    /// strew::mindspore::scatter_mul(&mut x, &[0i32, 1], &factors)?;
    /// assert_eq!(x, array![[2.0, 2.0, 2.0], [6.0, 6.0, 6.0]]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Type`](crate::Class::Type) for an index type,
    /// [`Class::TypeAndRuntime`](crate::Class::TypeAndRuntime) for updates that would have to
    /// promote `input_x`, [`Class::Value`](crate::Class::Value) for shapes,
    /// [`Class::Runtime`](crate::Class::Runtime) for an index out of range and for overlapping
    /// memory. `input_x` is then unchanged.
    pub fn scatter_mul, pub fn scatter_mul_dyn = lower(Combine::Prod);
    const SCATTER_MUL = "mindspore.scatter_mul":
        "Multiplies rows of input_x, in place, by the rows of updates that indices sends there";

    /// Adds to rows of `input_x` in place: [`scatter_mul`] with `+=`.
    ///
    /// ```
    /// let mut x = [1, 2, 3];
    /// strew::mindspore::scatter_add(&mut x, &[0i32, 0], &[10, 100])?;
    /// assert_eq!(x, [111, 2, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_mul`].
    pub fn scatter_add, pub fn scatter_add_dyn = lower(Combine::Sum);
    const SCATTER_ADD = "mindspore.scatter_add":
        "Adds to rows of input_x, in place, the rows of updates that indices sends there";

    /// Subtracts from rows of `input_x` in place: [`scatter_mul`] with `-=`.
    ///
    /// ```
    /// let mut x = [1, 2, 3];
    /// strew::mindspore::scatter_sub(&mut x, &[0i32, 0], &[10, 100])?;
    /// assert_eq!(x, [-109, 2, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_mul`].
    pub fn scatter_sub, pub fn scatter_sub_dyn = lower(Combine::Sub);
    const SCATTER_SUB = "mindspore.scatter_sub":
        "Subtracts from rows of input_x, in place, the rows of updates that indices sends there";

    /// Divides rows of `input_x` in place: [`scatter_mul`] with `/=`; integers are rounded toward
    /// zero.
    ///
    /// ```
    /// let mut x = [7, -7, 3];
    /// strew::mindspore::scatter_div(&mut x, &[0i32, 1], &[2, 2])?;
    /// assert_eq!(x, [3, -3, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_mul`]; [`Class::Value`](crate::Class::Value) if `updates` holds a zero.
    pub fn scatter_div, pub fn scatter_div_dyn = lower(Combine::Div);
    const SCATTER_DIV = "mindspore.scatter_div":
        "Divides rows of input_x, in place, by the rows of updates that indices sends there";

    /// Raises elements of rows of `input_x` in place to those of `updates` that are larger:
    /// [`scatter_mul`] with the maximum. A NaN on either side is the result.
    ///
    /// ```
    /// let mut x = [1, 2, 3];
    /// strew::mindspore::scatter_max(&mut x, &[0i32, 1, 0], &[5, 1, 4])?;
    /// assert_eq!(x, [5, 2, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_mul`].
    pub fn scatter_max, pub fn scatter_max_dyn = lower(MAX);
    const SCATTER_MAX = "mindspore.scatter_max":
        "Raises rows of input_x, in place, to the rows of updates that indices sends there";

    /// Lowers elements of rows of `input_x` in place to those of `updates` that are smaller; see
    /// [`scatter_max`].
    ///
    /// # Errors
    /// As [`scatter_mul`].
    pub fn scatter_min, pub fn scatter_min_dyn = lower(MIN);
    const SCATTER_MIN = "mindspore.scatter_min":
        "Lowers rows of input_x, in place, to the rows of updates that indices sends there";

    /// Replaces rows of `input_x` in place; of several updates of a row, the last one stays.
    ///
    /// ```
    /// let mut x = [1, 2, 3];
    /// strew::mindspore::scatter_update(&mut x, &[0i32, 0], &[10, 100])?;
    /// assert_eq!(x, [100, 2, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_mul`].
    pub fn scatter_update, pub fn scatter_update_dyn = lower(Combine::Assign);
    const SCATTER_UPDATE = "mindspore.scatter_update":
        "Replaces rows of input_x, in place, by the rows of updates that indices sends there";
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
        let (to, shape) = (input_x.dtype(), input_x.shape());
        let destinations = destinations(to, shape, indices, &updates, device?.bounds())?;
        expect_divisors(combine, &updates)?;
        into_parameter(combine, input_x, destinations, updates)
    };
    call(operator, describe())
}

/// The cells that the updates go to, of an `input_x` of this type and shape.
#[inline(always)] // As a scatter: it is made where it stays.
pub(crate) fn destinations<'a>(
    to: DType,
    shape: &[usize],
    indices: DynView<'a>,
    updates: &DynView<'_>,
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    expect_i32_or_i64("indices", &indices)?;
    expect_promoted(to, updates.dtype())?;
    expect_axes("input_x", shape)?;
    let mut wanted = indices.dims();
    wanted.extend_from_slice(&shape[1..]);
    expect_shape(
        "updates",
        updates.shape(),
        updates.shape() == &*wanted,
        || format!("it must be indices.shape + input_x.shape[1:] = {wanted:?}"),
    )?;
    Destinations::rows(shape, "indices", &[indices], &[0], None, bounds)
}
