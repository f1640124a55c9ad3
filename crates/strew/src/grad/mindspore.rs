//! Derivatives of MindSpore's operators.
//!
//! Source of the rules: the `ops.scatter_mul` document, which says that every factor of a row
//! counts, and the mathematics of that product.

use crate::dialect::mindspore::class;
use crate::dialect::mindspore::rows::destinations;
use crate::grad::forward::{Forward, Own, Rule};
use crate::grad::route::Route;
use crate::grad::{context, expect_field, expect_like, typed};
use strew_engine::scatter::bounds::Bounds;
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor, shaped};

/// The gradients of [`scatter_mul`](crate::mindspore::scatter_mul) with respect to `input_x` and to
/// `updates`, given that of its result.
///
/// * `grad`: of `input_x`'s type and shape. `input_x` is what it was *before* the operator changed
///   it. The other arguments are the operator's own; `updates` may be of a float type that is
///   promoted to `input_x`'s, and its gradient is of that type.
/// * A row that is named several times is the product of all its factors. Any number of zeros may
///   be among them.
///
/// ```
/// use strew::grad::mindspore::scatter_mul_vjp;
///
/// let (to_x, to_updates) = scatter_mul_vjp(&[1.0, 1.0], &[2.0, 5.0], &[0i32, 0], &[3.0, 0.0])?;
/// assert_eq!(to_x.as_slice(), [0.0, 1.0]);
/// assert_eq!(to_updates.as_slice(), [0.0, 6.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::TypeAndRuntime`](crate::Class::TypeAndRuntime) for a type without
/// gradients.
pub fn scatter_mul_vjp<T: Element, I: Index, U: Element>(
    grad: impl AsTensor<T>,
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<(Tensor<T>, Tensor<U>)> {
    let (to_x, to_updates) = scatter_mul_vjp_dyn(
        &grad.as_tensor().of_rust(),
        &input_x.as_tensor().of_rust(),
        &indices.as_tensor().of_rust(),
        &updates.as_tensor().of_rust(),
    )?;
    Ok((typed(to_x), typed(to_updates)))
}

/// [`scatter_mul_vjp`] with element types known at run time, and the same errors.
pub fn scatter_mul_vjp_dyn(
    grad: &DynView<'_>,
    input_x: &DynView<'_>,
    indices: &DynView<'_>,
    updates: &DynView<'_>,
) -> Result<(DynTensor, DynTensor)> {
    let work = || {
        let forward = forward(input_x, indices, updates)?;
        expect_like("grad", grad, "input_x's", input_x.dtype(), input_x.shape())?;
        let made = forward.vjp(grad)?;
        let to_x = made.own.expect("there is an input");
        Ok((
            shaped(to_x, input_x.shape())?,
            shaped(made.src, updates.shape())?,
        ))
    };
    let refuse = |problem| context("grad.mindspore.scatter_mul_vjp", class).error(problem);
    work().map_err(refuse)
}

/// The tangent of [`scatter_mul`](crate::mindspore::scatter_mul)'s result, given those of `input_x`
/// and of `updates`.
///
/// * `input_x_tangent`, `updates_tangent`: of the types and shapes of `input_x` and `updates`; see
///   [`scatter_mul_vjp`].
///
/// ```
/// use strew::grad::mindspore::scatter_mul_jvp;
///
/// let out = scatter_mul_jvp(&[1.0], &[0.0, 1.0], &[2.0], &[0i64, 0], &[3.0, 4.0])?;
/// assert_eq!(out.as_slice(), [18.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_mul_vjp`].
pub fn scatter_mul_jvp<T: Element, I: Index, U: Element>(
    input_x_tangent: impl AsTensor<T>,
    updates_tangent: impl AsTensor<U>,
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
) -> Result<Tensor<T>> {
    scatter_mul_jvp_dyn(
        &input_x_tangent.as_tensor().of_rust(),
        &updates_tangent.as_tensor().of_rust(),
        &input_x.as_tensor().of_rust(),
        &indices.as_tensor().of_rust(),
        &updates.as_tensor().of_rust(),
    )
    .map(typed)
}

/// [`scatter_mul_jvp`] with element types known at run time, and the same errors.
pub fn scatter_mul_jvp_dyn(
    input_x_tangent: &DynView<'_>,
    updates_tangent: &DynView<'_>,
    input_x: &DynView<'_>,
    indices: &DynView<'_>,
    updates: &DynView<'_>,
) -> Result<DynTensor> {
    let work = || {
        let forward = forward(input_x, indices, updates)?;
        let (dtype, shape) = (input_x.dtype(), input_x.shape());
        expect_like(
            "input_x_tangent",
            input_x_tangent,
            "input_x's",
            dtype,
            shape,
        )?;
        let (dtype, shape) = (updates.dtype(), updates.shape());
        expect_like("updates_tangent", updates_tangent, "updates'", dtype, shape)?;
        let made = forward.jvp(Some(input_x_tangent), updates_tangent)?;
        shaped(made, input_x.shape())
    };
    let refuse = |problem| context("grad.mindspore.scatter_mul_jvp", class).error(problem);
    work().map_err(refuse)
}

/// The double backward of [`scatter_mul`](crate::mindspore::scatter_mul): what the cotangents of
/// the two gradients that [`scatter_mul_vjp`] makes are as gradients with respect to `grad`,
/// `input_x` and `updates`.
///
/// * `input_x_cotangent`, `updates_cotangent`: of the types and shapes of `input_x` and `updates`.
///
/// # Errors
/// As [`scatter_mul_vjp`].
pub fn scatter_mul_double_vjp<T: Element, I: Index, U: Element>(
    grad: impl AsTensor<T>,
    input_x: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<U>,
    input_x_cotangent: impl AsTensor<T>,
    updates_cotangent: impl AsTensor<U>,
) -> Result<(Tensor<T>, Tensor<T>, Tensor<U>)> {
    let (to_grad, to_x, to_updates) = scatter_mul_double_vjp_dyn(
        &grad.as_tensor().of_rust(),
        &input_x.as_tensor().of_rust(),
        &indices.as_tensor().of_rust(),
        &updates.as_tensor().of_rust(),
        &input_x_cotangent.as_tensor().of_rust(),
        &updates_cotangent.as_tensor().of_rust(),
    )?;
    Ok((typed(to_grad), typed(to_x), typed(to_updates)))
}

/// [`scatter_mul_double_vjp`] with element types known at run time, and the same errors.
pub fn scatter_mul_double_vjp_dyn(
    grad: &DynView<'_>,
    input_x: &DynView<'_>,
    indices: &DynView<'_>,
    updates: &DynView<'_>,
    input_x_cotangent: &DynView<'_>,
    updates_cotangent: &DynView<'_>,
) -> Result<(DynTensor, DynTensor, DynTensor)> {
    let work = || {
        let forward = forward(input_x, indices, updates)?;
        let (dtype, shape) = (input_x.dtype(), input_x.shape());
        expect_like("grad", grad, "input_x's", dtype, shape)?;
        expect_like(
            "input_x_cotangent",
            input_x_cotangent,
            "input_x's",
            dtype,
            shape,
        )?;
        let (dtype, shape) = (updates.dtype(), updates.shape());
        expect_like(
            "updates_cotangent",
            updates_cotangent,
            "updates'",
            dtype,
            shape,
        )?;
        let (to_grad, rest) =
            forward.double_vjp(grad, Some(input_x_cotangent), updates_cotangent)?;
        let to_x = rest.own.expect("there is an input");
        Ok((
            shaped(to_grad, input_x.shape())?,
            shaped(to_x, input_x.shape())?,
            shaped(rest.src, updates.shape())?,
        ))
    };
    let refuse = |problem| context("grad.mindspore.scatter_mul_double_vjp", class).error(problem);
    work().map_err(refuse)
}

/// Checks the arguments as the operator does.
fn forward<'a>(
    input_x: &DynView<'a>,
    indices: &DynView<'_>,
    updates: &DynView<'a>,
) -> Result<Forward<'a>, Problem> {
    let to = destinations(
        input_x.dtype(),
        input_x.shape(),
        indices.clone(),
        updates,
        Bounds::STRICT,
    )?;
    expect_field("input_x", input_x.dtype())?;
    expect_field("updates", updates.dtype())?;
    Ok(Forward {
        route: Route::to(&to)?,
        rule: Rule::Prod,
        own: Own::Counted(input_x.clone()),
        src: updates.clone(),
        result: None,
    })
}
