//! Derivatives of what a [`Plan`] does, on the analysis that it has made already.
//!
//! Updates that the plan leaves out have the gradient 0.

use crate::grad::forward::{Forward, Gradients, Own, Rule};
use crate::grad::route::{Route, own};
use crate::grad::{context, expect_field, expect_like, typed};
use strew_engine::checks::{axis, expect_shape};
use strew_engine::plan::Plan;
use strew_engine::plan::reduce::Reduce;
use strew_kernel::error::{Class, Problem, Result};
use strew_kernel::tensor::{AsTensor, Dims, DynTensor, DynView, Element, Tensor};

/// The gradient of [`Plan::scatter`] with respect to `src`, given that of its result.
///
/// * `grad`, `result`: of the result's type and shape; `result` is what the plan made, which `Amin`
///   and `Amax` compare with.
/// * `Min` and `Max` give all to the first winner, `Amin` and `Amax` share it among ties, `Assign`
///   gives it to the last update.
///
/// ```
/// use strew::{Bounds, Plan, Reduce, grad};
///
/// let plan = Plan::new(&[2i64, 0, 2], Some(3), Bounds::STRICT)?;
/// let src = [1.0, 5.0, 2.0];
/// let out = plan.scatter(&src, 0, Reduce::Mean)?;
/// let to_src = grad::plan::scatter_vjp(&plan, &[1.0, 1.0, 1.0], &src, &out, 0, Reduce::Mean)?;
/// assert_eq!(to_src.as_slice(), [0.5, 1.0, 0.5]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the plan's; [`Class::Type`] for a type without gradients, and for a `grad` or `result` of
/// another; [`Class::Value`] for another shape.
pub fn scatter_vjp<T: Element>(
    plan: &Plan,
    grad: impl AsTensor<T>,
    src: impl AsTensor<T>,
    result: impl AsTensor<T>,
    dim: i64,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    scatter_vjp_dyn(
        plan,
        &grad.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &result.as_tensor().of_rust(),
        dim,
        reduce,
    )
    .map(typed)
}

/// [`scatter_vjp`] with an element type known at run time. The errors are the same.
pub fn scatter_vjp_dyn(
    plan: &Plan,
    grad: &DynView<'_>,
    src: &DynView<'_>,
    result: &DynView<'_>,
    dim: i64,
    reduce: Reduce,
) -> Result<DynTensor> {
    named("grad.plan.scatter_vjp", || {
        let forward = forward(plan, src, Some(result), dim, reduce, Own::Nothing)?;
        expect_cells("grad", grad, &forward)?;
        Ok(forward.vjp(grad)?.src)
    })
}

/// The tangent of [`Plan::scatter`]'s result, given that of `src`.
///
/// * `src_tangent`: of `src`'s type and shape. `result`: as for [`scatter_vjp`].
///
/// # Errors
/// As [`scatter_vjp`].
pub fn scatter_jvp<T: Element>(
    plan: &Plan,
    src_tangent: impl AsTensor<T>,
    src: impl AsTensor<T>,
    result: impl AsTensor<T>,
    dim: i64,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    scatter_jvp_dyn(
        plan,
        &src_tangent.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &result.as_tensor().of_rust(),
        dim,
        reduce,
    )
    .map(typed)
}

/// [`scatter_jvp`] with an element type known at run time. The errors are the same.
pub fn scatter_jvp_dyn(
    plan: &Plan,
    src_tangent: &DynView<'_>,
    src: &DynView<'_>,
    result: &DynView<'_>,
    dim: i64,
    reduce: Reduce,
) -> Result<DynTensor> {
    named("grad.plan.scatter_jvp", || {
        let forward = forward(plan, src, Some(result), dim, reduce, Own::Nothing)?;
        expect_updates("src_tangent", src_tangent, src)?;
        forward.jvp(None, src_tangent)
    })
}

/// The gradients of [`Plan::scatter_into`] with respect to what `out` held before, here `input`,
/// and to `src`, given that of what it holds then, `result`.
///
/// * `grad`, `input`, `result`: of the type and shape of `out`.
///
/// ```
/// use strew::{Bounds, Plan, PlanIntoOptions, Reduce, grad};
///
/// let plan = Plan::new(&[1i32, 1], Some(2), Bounds::STRICT)?;
/// let (input, src) = ([10.0, 20.0], [1.0, 3.0]);
/// let mut out = input;
/// plan.scatter_into(&src, 0, Reduce::Assign, &mut out, PlanIntoOptions::default())?;
/// let (to_input, to_src) =
///     grad::plan::scatter_into_vjp(&plan, &[1.0, 2.0], &input, &src, &out, 0, Reduce::Assign, true)?;
/// assert_eq!((to_input.as_slice(), to_src.as_slice()), (&[1.0, 0.0][..], &[0.0, 2.0][..]));
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_vjp`].
pub fn scatter_into_vjp<T: Element>(
    plan: &Plan,
    grad: impl AsTensor<T>,
    input: impl AsTensor<T>,
    src: impl AsTensor<T>,
    result: impl AsTensor<T>,
    dim: i64,
    reduce: Reduce,
    include_self: bool,
) -> Result<(Tensor<T>, Tensor<T>)> {
    let (to_input, to_src) = scatter_into_vjp_dyn(
        plan,
        &grad.as_tensor().of_rust(),
        &input.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &result.as_tensor().of_rust(),
        dim,
        reduce,
        include_self,
    )?;
    Ok((typed(to_input), typed(to_src)))
}

/// [`scatter_into_vjp`] with an element type known at run time. The errors are the same.
pub fn scatter_into_vjp_dyn(
    plan: &Plan,
    grad: &DynView<'_>,
    input: &DynView<'_>,
    src: &DynView<'_>,
    result: &DynView<'_>,
    dim: i64,
    reduce: Reduce,
    include_self: bool,
) -> Result<(DynTensor, DynTensor)> {
    named("grad.plan.scatter_into_vjp", || {
        let own = counted(input, include_self);
        let forward = forward(plan, src, Some(result), dim, reduce, own)?;
        expect_cells("input", input, &forward)?;
        expect_cells("grad", grad, &forward)?;
        let Gradients { own, src } = forward.vjp(grad)?;
        Ok((own.expect("there is an input"), src))
    })
}

/// The tangent of what [`Plan::scatter_into`] leaves, given those of what was there and of `src`.
///
/// # Errors
/// As [`scatter_vjp`].
pub fn scatter_into_jvp<T: Element>(
    plan: &Plan,
    input_tangent: impl AsTensor<T>,
    src_tangent: impl AsTensor<T>,
    input: impl AsTensor<T>,
    src: impl AsTensor<T>,
    result: impl AsTensor<T>,
    dim: i64,
    reduce: Reduce,
    include_self: bool,
) -> Result<Tensor<T>> {
    scatter_into_jvp_dyn(
        plan,
        &input_tangent.as_tensor().of_rust(),
        &src_tangent.as_tensor().of_rust(),
        &input.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &result.as_tensor().of_rust(),
        dim,
        reduce,
        include_self,
    )
    .map(typed)
}

/// [`scatter_into_jvp`] with an element type known at run time. The errors are the same.
pub fn scatter_into_jvp_dyn(
    plan: &Plan,
    input_tangent: &DynView<'_>,
    src_tangent: &DynView<'_>,
    input: &DynView<'_>,
    src: &DynView<'_>,
    result: &DynView<'_>,
    dim: i64,
    reduce: Reduce,
    include_self: bool,
) -> Result<DynTensor> {
    named("grad.plan.scatter_into_jvp", || {
        let own = counted(input, include_self);
        let forward = forward(plan, src, Some(result), dim, reduce, own)?;
        expect_cells("input", input, &forward)?;
        expect_cells("input_tangent", input_tangent, &forward)?;
        expect_updates("src_tangent", src_tangent, src)?;
        forward.jvp(Some(input_tangent), src_tangent)
    })
}

/// The double backward of [`Plan::scatter`] with [`Reduce::Prod`]: what the cotangent of the
/// gradient that [`scatter_vjp`] makes is as gradients with respect to `grad` and to `src`.
///
/// * `cotangent`: of `src`'s type and shape. Any number of zeros may go to a cell.
///
/// # Errors
/// As [`scatter_vjp`].
pub fn scatter_prod_double_vjp<T: Element>(
    plan: &Plan,
    grad: impl AsTensor<T>,
    src: impl AsTensor<T>,
    dim: i64,
    cotangent: impl AsTensor<T>,
) -> Result<(Tensor<T>, Tensor<T>)> {
    let (to_grad, to_src) = scatter_prod_double_vjp_dyn(
        plan,
        &grad.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        dim,
        &cotangent.as_tensor().of_rust(),
    )?;
    Ok((typed(to_grad), typed(to_src)))
}

/// [`scatter_prod_double_vjp`] with an element type known at run time. The errors are the same.
pub fn scatter_prod_double_vjp_dyn(
    plan: &Plan,
    grad: &DynView<'_>,
    src: &DynView<'_>,
    dim: i64,
    cotangent: &DynView<'_>,
) -> Result<(DynTensor, DynTensor)> {
    named("grad.plan.scatter_prod_double_vjp", || {
        let forward = forward(plan, src, None, dim, Reduce::Prod, Own::Nothing)?;
        expect_cells("grad", grad, &forward)?;
        expect_updates("cotangent", cotangent, src)?;
        let (to_grad, rest) = forward.double_vjp(grad, None, cotangent)?;
        Ok((to_grad, rest.src))
    })
}

/// The gradient of [`Plan::gather`] with respect to `input`, given that of its result: the sums of
/// what each row was picked for, as by [`Plan::scatter`].
///
/// ```
/// use strew::{Bounds, Plan, grad};
///
/// let plan = Plan::new(&[2i64, 0, 2], Some(3), Bounds::STRICT)?;
/// assert_eq!(grad::plan::gather_vjp(&plan, &[1.0, 2.0, 4.0], 0)?.as_slice(), [2.0, 0.0, 5.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_vjp`].
pub fn gather_vjp<T: Element>(plan: &Plan, grad: impl AsTensor<T>, dim: i64) -> Result<Tensor<T>> {
    gather_vjp_dyn(plan, &grad.as_tensor().of_rust(), dim).map(typed)
}

/// [`gather_vjp`] with an element type known at run time. The errors are the same.
pub fn gather_vjp_dyn(plan: &Plan, grad: &DynView<'_>, dim: i64) -> Result<DynTensor> {
    named("grad.plan.gather_vjp", || {
        expect_field("grad", grad.dtype())?;
        let axis = along("grad", plan, grad, dim)?;
        plan.scatter_dyn(grad, axis as i64, Reduce::Sum)
            .map_err(own)
    })
}

/// Does some work, whose problem is reported for a function.
fn named<R>(name: &'static str, work: impl FnOnce() -> Result<R, Problem>) -> Result<R> {
    work().map_err(|problem| context(name, class).error(problem))
}

fn class(problem: &Problem) -> Class {
    match problem {
        Problem::Axis { .. } => Class::Index,
        Problem::DType { .. } | Problem::Unsupported { .. } => Class::Type,
        _ => Class::Value,
    }
}

fn counted<'a>(input: &DynView<'a>, include_self: bool) -> Own<'a> {
    match include_self {
        true => Own::Counted(input.clone()),
        false => Own::Replaced,
    }
}

/// The axis along which updates are the plan's.
fn along(
    argument: &'static str,
    plan: &Plan,
    updates: &DynView<'_>,
    dim: i64,
) -> Result<usize, Problem> {
    let axis = axis("dim", dim, updates.rank())?;
    let shape = updates.shape();
    let wanted = plan.len();
    expect_shape(argument, shape, shape.get(axis) == Some(&wanted), || {
        format!("its size along dimension {axis} must be {wanted}")
    })?;
    Ok(axis)
}

fn forward<'a>(
    plan: &Plan,
    src: &DynView<'a>,
    result: Option<&DynView<'a>>,
    dim: i64,
    reduce: Reduce,
    own: Own<'a>,
) -> Result<Forward<'a>, Problem> {
    let axis = along("src", plan, src, dim)?;
    expect_field("src", src.dtype())?;
    let rule = match reduce {
        Reduce::Sum | Reduce::ExactSum => Rule::Sum,
        Reduce::Mean | Reduce::ExactMean => Rule::Mean,
        Reduce::Prod => Rule::Prod,
        Reduce::Min => Rule::First { max: false },
        Reduce::Max => Rule::First { max: true },
        Reduce::Amin | Reduce::Amax => Rule::Ties,
        Reduce::Assign => Rule::Last,
        // A reduction that has no derivative (there is none today).
        other => {
            return Err(Problem::Unsupported {
                what: other.name().into(),
                dtype: src.dtype(),
            });
        }
    };
    let extreme = matches!(rule, Rule::First { .. } | Rule::Ties);
    if extreme && src.dtype().is_complex() {
        return Err(Problem::Unsupported {
            what: reduce.name().into(),
            dtype: src.dtype(),
        });
    }
    let forward = Forward {
        route: Route::along(plan, src.shape(), axis),
        rule,
        own,
        src: src.clone(),
        result: result.cloned(),
    };
    if let Some(result) = result {
        expect_cells("result", result, &forward)?;
    }
    Ok(forward)
}

/// Refuses what is not of the updates' type and shape.
fn expect_updates(
    argument: &'static str,
    found: &DynView<'_>,
    src: &DynView<'_>,
) -> Result<(), Problem> {
    expect_like(argument, found, "src's", src.dtype(), src.shape())
}

/// Refuses what is not of the result's type and shape.
fn expect_cells(
    argument: &'static str,
    found: &DynView<'_>,
    forward: &Forward<'_>,
) -> Result<(), Problem> {
    let shape = Dims::from_slice(forward.route.cells());
    expect_like(argument, found, "the result's", forward.src.dtype(), &shape)
}
