//! Derivatives of OpenVINO's operators.
//!
//! Source of the rules: the `SliceScatter-15` document. A slice names no cell twice, so there is
//! nothing to decide.

use crate::dialect::framework::operator::Integers;
use crate::dialect::openvino::class;
use crate::dialect::openvino::slice::{Selected, Slice};
use crate::grad::{context, expect_field, typed};
use strew_engine::checks::expect_shape;
use strew_engine::scatter::destinations::Destinations;
use strew_engine::scatter::reduction::Reduction;
use strew_engine::scatter::{Scatter, Start, Target};
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{AsTensor, Dims, DynTensor, DynView, Element, Tensor};

/// The gradients of [`slice_scatter`](crate::openvino::slice_scatter) with respect to `data` and to
/// `updates`, given that of its result.
///
/// * `grad`: of `data`'s shape. `start`, `stop`, `step`, `axes`: the operator's own. The gradient
///   of `data` is `grad` with the slice set to 0, that of `updates` is the slice.
///
/// ```
/// use strew::grad::openvino::slice_scatter_vjp;
///
/// let (to_data, to_updates) = slice_scatter_vjp(&[1.0, 2.0, 3.0, 4.0], &[3], &[0], &[-2], None)?;
/// assert_eq!(to_data.as_slice(), [1.0, 0.0, 3.0, 0.0]);
/// assert_eq!(to_updates.as_slice(), [4.0, 2.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Type`](crate::Class::Type) for a type without gradients.
pub fn slice_scatter_vjp<T: Element>(
    grad: impl AsTensor<T>,
    start: &[i64],
    stop: &[i64],
    step: &[i64],
    axes: Option<&[i64]>,
) -> Result<(Tensor<T>, Tensor<T>)> {
    let (to_data, to_updates) = slice_scatter_vjp_dyn(
        &grad.as_tensor().of_rust(),
        start.into(),
        stop.into(),
        step.into(),
        axes.map(Integers::from),
    )?;
    Ok((typed(to_data), typed(to_updates)))
}

/// [`slice_scatter_vjp`] with element types known at run time, and start, stop, step and axes as
/// lists or as tensors of any integer type. The errors are the same.
pub fn slice_scatter_vjp_dyn(
    grad: &DynView<'_>,
    start: Integers<'_>,
    stop: Integers<'_>,
    step: Integers<'_>,
    axes: Option<Integers<'_>>,
) -> Result<(DynTensor, DynTensor)> {
    let slice = Slice {
        start,
        stop,
        step,
        axes,
    };
    let refuse = |problem| context("grad.openvino.slice_scatter_vjp", class).error(problem);
    vjp(grad, &slice).map_err(refuse)
}

fn vjp(grad: &DynView<'_>, slice: &Slice<'_>) -> Result<(DynTensor, DynTensor), Problem> {
    expect_shape("grad", grad.shape(), grad.rank() >= 1, || {
        "it must have at least one dimension".into()
    })?;
    expect_field("grad", grad.dtype())?;
    let Selected { first, step, count } = slice.select(grad.shape())?;
    let mut part = grad.clone();
    for axis in 0..grad.rank() {
        let sliced = part.slice(axis, first[axis], step[axis], count[axis]);
        part = sliced.ok_or_else(|| Problem::Layout {
            argument: "slice".into(),
            why: format!("it leaves axis {axis}"),
        })?;
    }
    let to_updates = duplicate(&part)?;

    // A zero that is there for every update.
    let zero = DynTensor::zeros(grad.dtype(), &Dims::from_elem(1, grad.rank()))?;
    let zeros = zero.view().broadcast_to(&count);
    let zeros = zeros.ok_or_else(|| Problem::Layout {
        argument: "slice".into(),
        why: format!("{count:?} is no shape"),
    })?;
    let to = Destinations::affine(grad.shape(), &first, &step, &count)?;
    let target = Target::New {
        dtype: grad.dtype(),
        start: Start::CopyOf(grad.clone()),
    };
    let assign = Reduction::into_self(Combine::Assign);
    let made = Scatter::new(to, assign, "updates", zeros, target)?.run()?;
    let to_data = made.tensor.expect("a scatter into a new tensor makes one");
    Ok((to_data, to_updates))
}

/// The tangent of [`slice_scatter`](crate::openvino::slice_scatter)'s result, given those of `data`
/// and of `updates`: as an assignment is linear, the operator itself.
///
/// # Errors
/// As [`slice_scatter_vjp`].
pub fn slice_scatter_jvp<T: Element>(
    data_tangent: impl AsTensor<T>,
    updates_tangent: impl AsTensor<T>,
    start: &[i64],
    stop: &[i64],
    step: &[i64],
    axes: Option<&[i64]>,
) -> Result<Tensor<T>> {
    let refuse = |problem| context("grad.openvino.slice_scatter_jvp", class).error(problem);
    expect_field("data_tangent", T::DTYPE).map_err(refuse)?;
    crate::dialect::openvino::slice::slice_scatter(
        data_tangent,
        updates_tangent,
        start,
        stop,
        step,
        axes,
    )
}
