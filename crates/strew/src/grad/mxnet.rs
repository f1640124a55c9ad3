//! Derivatives of MXNet's operators.
//!
//! Source of the rules: MXNet 1.9.1, `scatter_nd`'s document; where that is wrong, the mathematics.
//! See also `COMPARE.md`.

use crate::dialect::mxnet::{class, destinations};
use crate::grad::forward::{Forward, Own, Rule};
use crate::grad::route::Route;
use crate::grad::{context, expect_field, typed};
use strew_engine::scatter::bounds::Bounds;
use strew_kernel::error::Result;
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Tensor, shaped};

/// The gradient of [`scatter_nd`](crate::mxnet::scatter_nd) with respect to `data`, given that of
/// its result.
///
/// * `grad`: of the result's shape. `indices`: the operator's own. The gradient has `data`'s shape,
///   `indices.shape[1:] + grad.shape[M:]`.
/// * Of duplicates the last one stays, so only it takes the gradient, and the others 0. (MXNet
///   gives each of them all of it, which it documents as wrong.)
///
/// ```
/// use strew::grad::mxnet::scatter_nd_vjp;
///
/// let to_data = scatter_nd_vjp(&[1.0f32, 2.0, 4.0], &ndarray::array![[2, 0, 2]], None)?;
/// assert_eq!(to_data.as_slice(), [0.0, 1.0, 4.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Type`](crate::Class::Type) for a type without gradients.
pub fn scatter_nd_vjp<T: Element, I: Element>(
    grad: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    name: Option<&str>,
) -> Result<Tensor<T>> {
    let (grad, indices) = (grad.as_tensor().of_rust(), indices.as_tensor().of_rust());
    scatter_nd_vjp_dyn(&grad, &indices, name).map(typed)
}

/// [`scatter_nd_vjp`] with element types known at run time, and the same errors.
pub fn scatter_nd_vjp_dyn(
    grad: &DynView<'_>,
    indices: &DynView<'_>,
    name: Option<&str>,
) -> Result<DynTensor> {
    const NAME: &str = "grad.mxnet.scatter_nd_vjp";
    let work = || {
        expect_field("grad", grad.dtype())?;
        let to = destinations(indices, grad.shape(), Bounds::STRICT)?;
        let forward = Forward {
            route: Route::to(&to)?,
            rule: Rule::Last,
            own: Own::Nothing,
            src: DynView::nothing(grad.dtype()),
            result: None,
        };
        shaped(forward.vjp(grad)?.src, to.updates_shape())
    };
    work().map_err(|problem| {
        let mut context = context(NAME, class);
        if let Some(name) = name {
            context.operator = format!("{NAME} '{name}'").into();
        }
        context.error(problem)
    })
}

/// The tangent of [`scatter_nd`](crate::mxnet::scatter_nd)'s result, given that of `data`: as an
/// assignment is linear, the operator itself.
///
/// ```
/// use strew::grad::mxnet::scatter_nd_jvp;
///
/// let out = scatter_nd_jvp(&[1.0f32, 2.0], &ndarray::array![[1, 1]], &[2], None)?;
/// assert_eq!(out.as_slice(), [0.0, 2.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_nd_vjp`].
pub fn scatter_nd_jvp<T: Element, I: Element>(
    data_tangent: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    shape: &[usize],
    name: Option<&str>,
) -> Result<Tensor<T>> {
    let refuse = |problem| context("grad.mxnet.scatter_nd_jvp", class).error(problem);
    expect_field("data_tangent", T::DTYPE).map_err(refuse)?;
    crate::dialect::mxnet::scatter_nd(data_tangent, indices, shape, name)
}
