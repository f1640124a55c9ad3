//! `tensor_scatter_*`: tuples along the last axis of the index name windows of a copy.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::expect_dtype_of;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::scatter_forms::into_copy;
use crate::dialect::mindspore::scatter_nd::{
    INDICES, UPDATES, destinations, expect_whole_divisors,
};
use crate::dialect::mindspore::{DEVICE, DEVICES, Device, MAX, MIN, call};
use strew_engine::checks::expect_dtype;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::DType;

operators! {
    <T: Element, I: Index> dyn (
        input_x: tensor<T> => "the tensor to start from: rank 1 or more, any dtype";
        indices: tensor<I> => INDICES;
        updates: tensor<T> => UPDATES;
        + device: choice<Device> = "cpu" => DEVICE, DEVICES;
    ) -> out;

    /// A copy of `input_x` with windows added: [`scatter_nd_add`](crate::mindspore::scatter_nd_add)
    /// into a new tensor. `updates` have `input_x`'s type.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let indices = array![[2i32], [0], [2]];
    /// let out = strew::mindspore::tensor_scatter_add(&[1, 2, 3], &indices, &[10, 20, 30])?;
    /// assert_eq!(out.as_slice(), [21, 2, 43]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_nd_add`](crate::mindspore::scatter_nd_add).
    pub fn tensor_scatter_add, pub fn tensor_scatter_add_dyn = lower(Combine::Sum);
    const TENSOR_SCATTER_ADD = "mindspore.tensor_scatter_add":
        "A copy of input_x with updates added, by index tuples along the last axis";

    /// [`tensor_scatter_add`] with `-=`. The errors are the same.
    pub fn tensor_scatter_sub, pub fn tensor_scatter_sub_dyn = lower(Combine::Sub);
    const TENSOR_SCATTER_SUB = "mindspore.tensor_scatter_sub":
        "A copy of input_x with updates subtracted, by index tuples along the last axis";

    /// [`tensor_scatter_add`] with `*=`. The errors are the same.
    pub fn tensor_scatter_mul, pub fn tensor_scatter_mul_dyn = lower(Combine::Prod);
    const TENSOR_SCATTER_MUL = "mindspore.tensor_scatter_mul":
        "A copy of input_x multiplied by updates, by index tuples along the last axis";

    /// [`tensor_scatter_add`] with `/=`; integers are rounded toward zero.
    ///
    /// # Errors
    /// As [`scatter_nd_div`](crate::mindspore::scatter_nd_div).
    pub fn tensor_scatter_div, pub fn tensor_scatter_div_dyn = lower(Combine::Div);
    const TENSOR_SCATTER_DIV = "mindspore.tensor_scatter_div":
        "A copy of input_x divided by updates, by index tuples along the last axis";

    /// [`tensor_scatter_add`] with the maximum; NaN on either side is the result. The errors are
    /// the same.
    pub fn tensor_scatter_max, pub fn tensor_scatter_max_dyn = lower(MAX);
    const TENSOR_SCATTER_MAX = "mindspore.tensor_scatter_max":
        "A copy of input_x raised to updates, by index tuples along the last axis";

    /// [`tensor_scatter_add`] with the minimum; NaN on either side is the result. The errors are
    /// the same.
    pub fn tensor_scatter_min, pub fn tensor_scatter_min_dyn = lower(MIN);
    const TENSOR_SCATTER_MIN = "mindspore.tensor_scatter_min":
        "A copy of input_x lowered to updates, by index tuples along the last axis";

    /// A copy of `input_x` with windows replaced; of several updates of a cell, the last one stays.
    ///
    /// # Errors
    /// As [`scatter_nd_add`](crate::mindspore::scatter_nd_add).
    pub fn tensor_scatter_update, pub fn tensor_scatter_update_dyn = lower(Combine::Assign);
    const TENSOR_SCATTER_UPDATE = "mindspore.tensor_scatter_update":
        "A copy of input_x with cells replaced by updates, by index tuples along the last axis";
}

fn lower<'a>(
    operator: &'static str,
    combine: Combine,
    input_x: DynView<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
    device: Result<Device, Problem>,
) -> Result<Call<'a>> {
    let describe = || {
        let bounds = device?.bounds();
        let destinations = destinations(input_x.shape(), &indices, &updates, bounds)?;
        expect_dtype_of("updates", updates.dtype(), "input_x", input_x.dtype())?;
        let difference = combine == Combine::Sub && input_x.dtype() == DType::Bool;
        expect_dtype("input_x", DType::Bool, !difference, "it must not be bool")?;
        expect_whole_divisors(combine, &updates)?;
        let reduction = Reduction::into_self(combine);
        into_copy(input_x, destinations, reduction, "updates", updates)
    };
    call(operator, describe())
}
