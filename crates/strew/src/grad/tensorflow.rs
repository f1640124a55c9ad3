//! Derivatives of TensorFlow's operators.
//!
//! Source of the rules: TensorFlow 2.21, the gradients that its `python/ops/array_grad.py` and
//! `math_grad.py` register and its tests; where one is wrong, the mathematics. See also
//! `COMPARE.md`.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::operator::{Value, int};
use crate::dialect::tensorflow::nd::gather_nd_dyn;
use crate::dialect::tensorflow::{BadIndicesPolicy, class};
use crate::grad::field::{Field, for_field, load, store};
use crate::grad::forward::{Forward, Own, Rule};
use crate::grad::passes::{Spot, each_cell};
use crate::grad::products::map;
use crate::grad::route::Route;
use crate::grad::{context, expect_field, expect_like, lowered, renamed, typed};
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor, shaped};

/// What `tensor_scatter_nd_*` does with an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// `tensor_scatter_nd_update`.
    Update,
    /// `tensor_scatter_nd_add`.
    Add,
    /// `tensor_scatter_nd_sub`.
    Sub,
    /// `tensor_scatter_nd_min`.
    Min,
    /// `tensor_scatter_nd_max`.
    Max,
}

/// What `segment_*` and `unsorted_segment_*` make of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// `segment_sum`, `unsorted_segment_sum`.
    Sum,
    /// `segment_mean`, `unsorted_segment_mean`.
    Mean,
    /// `segment_prod`, `unsorted_segment_prod`.
    Prod,
    /// `segment_min`, `unsorted_segment_min`.
    Min,
    /// `segment_max`, `unsorted_segment_max`.
    Max,
    /// `unsorted_segment_sqrt_n`.
    SqrtN,
}

/// The gradient of [`scatter_nd`](crate::tensorflow::scatter_nd) with respect to `updates`, given
/// that of its result: what [`gather_nd`](crate::tensorflow::gather_nd) picks of it.
///
/// * `grad`: of the result's shape. `indices`: the operator's own.
///
/// ```
/// use strew::grad::tensorflow::scatter_nd_vjp;
///
/// let to_updates = scatter_nd_vjp(&[1.0f32, 2.0, 4.0], &ndarray::array![[2i32], [0], [2]])?;
/// assert_eq!(to_updates.as_slice(), [4.0, 1.0, 4.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Type`](crate::Class::Type) for a type without gradients.
pub fn scatter_nd_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    indices: impl AsTensor<I>,
) -> Result<Tensor<T>> {
    let (grad, indices) = (grad.as_tensor().of_rust(), indices.as_tensor().of_rust());
    scatter_nd_vjp_dyn(&grad, &indices, BadIndicesPolicy::Error).map(typed)
}

/// [`scatter_nd_vjp`] with element types known at run time. An update that is left out has the
/// gradient 0. The errors are the same.
pub fn scatter_nd_vjp_dyn(
    grad: &DynView<'_>,
    indices: &DynView<'_>,
    bad_indices_policy: BadIndicesPolicy,
) -> Result<DynTensor> {
    const NAME: &str = "grad.tensorflow.scatter_nd_vjp";
    expect_field("grad", grad.dtype()).map_err(|problem| context(NAME, class).error(problem))?;
    gather_nd_dyn(grad.clone(), indices.clone(), 0, bad_indices_policy).map_err(renamed(NAME))
}

/// The gradients of `tensor_scatter_nd_*` with respect to `tensor` and to `updates`, given that of
/// the result.
///
/// * `grad`: of `tensor`'s type and shape. The other arguments are the operator's own.
/// * [`Join::Min`] and [`Join::Max`]: those that equal the result share, `tensor`'s own value with
///   them.
/// * [`Join::Update`]: of several updates of a cell the last one stays, so only it takes the
///   gradient. (TensorFlow gives each of them all of it.)
///
/// ```
/// use strew::grad::tensorflow::{Join, tensor_scatter_nd_vjp};
///
/// let (indices, updates) = (ndarray::array![[1i32], [1]], [3.0f32, 5.0]);
/// let (to_tensor, to_updates) =
///     tensor_scatter_nd_vjp(&[1.0, 2.0], &[0.0, 5.0], &indices, &updates, Join::Max)?;
/// assert_eq!(to_tensor.as_slice(), [1.0, 1.0]);
/// assert_eq!(to_updates.as_slice(), [0.0, 1.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Type`](crate::Class::Type) for a type without gradients.
pub fn tensor_scatter_nd_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    tensor: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    updates: impl AsTensor<T>,
    join: Join,
) -> Result<(Tensor<T>, Tensor<T>)> {
    let (to_tensor, to_updates) = tensor_scatter_nd_vjp_dyn(
        &grad.as_tensor().of_rust(),
        &tensor.as_tensor().of_rust(),
        &indices.as_tensor().of_rust(),
        &updates.as_tensor().of_rust(),
        join,
        BadIndicesPolicy::Error,
    )?;
    Ok((typed(to_tensor), typed(to_updates)))
}

/// [`tensor_scatter_nd_vjp`] with element types known at run time, and the same errors.
pub fn tensor_scatter_nd_vjp_dyn(
    grad: &DynView<'_>,
    tensor: &DynView<'_>,
    indices: &DynView<'_>,
    updates: &DynView<'_>,
    join: Join,
    bad_indices_policy: BadIndicesPolicy,
) -> Result<(DynTensor, DynTensor)> {
    const NAME: &str = "grad.tensorflow.tensor_scatter_nd_vjp";
    let (operator, rule) = tensor_scatter_nd(join);
    let policy = match bad_indices_policy {
        BadIndicesPolicy::Error => "ERROR",
        BadIndicesPolicy::Ignore => "IGNORE",
    };
    let values = || {
        vec![
            ("tensor", Value::Tensor(tensor.clone())),
            ("indices", Value::Tensor(indices.clone())),
            ("updates", Value::Tensor(updates.clone())),
            ("bad_indices_policy", Value::Text(policy.into())),
        ]
    };
    let refuse = |problem| context(NAME, class).error(problem);
    let call = lowered(NAME, operator, values())?;
    let check = || {
        expect_field("tensor", tensor.dtype())?;
        expect_like("grad", grad, "tensor's", tensor.dtype(), tensor.shape())
    };
    check().map_err(refuse)?;
    let result = match rule {
        Rule::Ties => made(lowered(NAME, operator, values())?)?,
        _ => None,
    };
    let work = || {
        let forward = Forward {
            route: Route::to(call.scatter()?.destinations())?,
            rule,
            own: match join {
                Join::Update => Own::Replaced,
                _ => Own::Counted(tensor.clone()),
            },
            src: updates.clone(),
            result: result.as_ref().map(DynTensor::view),
        };
        let gradients = forward.vjp(grad)?;
        let to_tensor = gradients.own.expect("there is a tensor");
        let to_updates = shaped(gradients.src, updates.shape())?;
        let to_updates = match join {
            Join::Sub => negated(&to_updates)?,
            _ => to_updates,
        };
        Ok((shaped(to_tensor, tensor.shape())?, to_updates))
    };
    work().map_err(refuse)
}

/// The operator that joins updates so, and the rule of its gradient.
fn tensor_scatter_nd(join: Join) -> (&'static str, Rule) {
    match join {
        Join::Update => ("tensorflow.tensor_scatter_nd_update", Rule::Last),
        Join::Add => ("tensorflow.tensor_scatter_nd_add", Rule::Sum),
        Join::Sub => ("tensorflow.tensor_scatter_nd_sub", Rule::Sum),
        Join::Min => ("tensorflow.tensor_scatter_nd_min", Rule::Ties),
        Join::Max => ("tensorflow.tensor_scatter_nd_max", Rule::Ties),
    }
}

/// The gradient of `segment_*` with respect to `data`, given that of its result.
///
/// * `grad`: of the result's type and shape. `data`, `segment_ids`: the operator's own.
/// * [`Fold::Min`] and [`Fold::Max`]: rows that equal the result share. [`Fold::Prod`]: any number
///   of zeros.
///
/// ```
/// use strew::grad::tensorflow::{Fold, segment_vjp};
///
/// let to_data = segment_vjp(&[1.0f32, 2.0], &[3.0, 3.0, 5.0], &[0i32, 0, 1], Fold::Min)?;
/// assert_eq!(to_data.as_slice(), [0.5, 0.5, 2.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Type`](crate::Class::Type) for a type without gradients,
/// [`Class::Value`](crate::Class::Value) for [`Fold::SqrtN`], which needs no order.
pub fn segment_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
    fold: Fold,
) -> Result<Tensor<T>> {
    let (grad, data) = (grad.as_tensor().of_rust(), data.as_tensor().of_rust());
    let ids = segment_ids.as_tensor().of_rust();
    segment_vjp_dyn(&grad, &data, &ids, fold).map(typed)
}

/// [`segment_vjp`] with element types known at run time, and the same errors.
pub fn segment_vjp_dyn(
    grad: &DynView<'_>,
    data: &DynView<'_>,
    segment_ids: &DynView<'_>,
    fold: Fold,
) -> Result<DynTensor> {
    const NAME: &str = "grad.tensorflow.segment_vjp";
    let operator = match fold {
        Fold::Sum => "tensorflow.math.segment_sum",
        Fold::Mean => "tensorflow.math.segment_mean",
        Fold::Prod => "tensorflow.math.segment_prod",
        Fold::Min => "tensorflow.math.segment_min",
        Fold::Max => "tensorflow.math.segment_max",
        Fold::SqrtN => {
            return Err(context(NAME, class).error(wrong_value(
                "fold",
                "SqrtN",
                "only segments in any order have it: unsorted_segment_vjp",
            )));
        }
    };
    of_segments(NAME, operator, grad, data, segment_ids, fold)
}

/// The gradient of `unsorted_segment_*` with respect to `data`, given that of its result; see
/// [`segment_vjp`].
///
/// * `grad`: of `data`'s type, and of the result's shape: its first dimension is `num_segments`.
///   `segment_ids`: the operator's own; rows that are left out have the gradient 0.
///
/// ```
/// use strew::grad::tensorflow::{Fold, unsorted_segment_vjp};
///
/// let to_data = unsorted_segment_vjp(&[1.0f32, 2.0], &[0.0, 3.0, 5.0], &[0i32, 0, -1], Fold::Prod)?;
/// assert_eq!(to_data.as_slice(), [3.0, 0.0, 0.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`segment_vjp`].
pub fn unsorted_segment_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    data: impl AsTensor<T>,
    segment_ids: impl AsTensor<I>,
    fold: Fold,
) -> Result<Tensor<T>> {
    let (grad, data) = (grad.as_tensor().of_rust(), data.as_tensor().of_rust());
    let ids = segment_ids.as_tensor().of_rust();
    unsorted_segment_vjp_dyn(&grad, &data, &ids, fold).map(typed)
}

/// [`unsorted_segment_vjp`] with element types known at run time, and the same errors.
pub fn unsorted_segment_vjp_dyn(
    grad: &DynView<'_>,
    data: &DynView<'_>,
    segment_ids: &DynView<'_>,
    fold: Fold,
) -> Result<DynTensor> {
    const NAME: &str = "grad.tensorflow.unsorted_segment_vjp";
    let operator = match fold {
        Fold::Sum => "tensorflow.math.unsorted_segment_sum",
        Fold::Mean => "tensorflow.math.unsorted_segment_mean",
        Fold::Prod => "tensorflow.math.unsorted_segment_prod",
        Fold::Min => "tensorflow.math.unsorted_segment_min",
        Fold::Max => "tensorflow.math.unsorted_segment_max",
        Fold::SqrtN => "tensorflow.math.unsorted_segment_sqrt_n",
    };
    of_segments(NAME, operator, grad, data, segment_ids, fold)
}

fn of_segments(
    name: &'static str,
    operator: &'static str,
    grad: &DynView<'_>,
    data: &DynView<'_>,
    segment_ids: &DynView<'_>,
    fold: Fold,
) -> Result<DynTensor> {
    let values = || {
        let mut values = vec![
            ("data", Value::Tensor(data.clone())),
            ("segment_ids", Value::Tensor(segment_ids.clone())),
        ];
        if operator.contains("unsorted") {
            let count = grad.shape().first().copied().unwrap_or_default();
            values.push(("num_segments", Value::Int(int(count))));
        }
        values
    };
    let refuse = |problem| context(name, class).error(problem);
    let call = lowered(name, operator, values())?;
    let check = || {
        expect_field("data", data.dtype())?;
        let shape = call.scatter()?.destinations().shape();
        expect_like("grad", grad, "the result's", data.dtype(), shape)
    };
    check().map_err(refuse)?;
    let rule = match fold {
        Fold::Sum | Fold::SqrtN => Rule::Sum,
        Fold::Mean => Rule::Mean,
        Fold::Prod => Rule::Prod,
        Fold::Min | Fold::Max => Rule::Ties,
    };
    let result = match rule {
        Rule::Ties => made(lowered(name, operator, values())?)?,
        _ => None,
    };
    let work = || {
        let forward = Forward {
            route: Route::to(call.scatter()?.destinations())?,
            rule,
            own: Own::Nothing,
            src: data.clone(),
            result: result.as_ref().map(DynTensor::view),
        };
        let gradients = match fold {
            Fold::SqrtN => forward.vjp(&over_roots(&forward.route, grad)?.view())?,
            _ => forward.vjp(grad)?,
        };
        shaped(gradients.src, data.shape())
    };
    work().map_err(refuse)
}

fn made(call: Call<'_>) -> Result<Option<DynTensor>> {
    Ok(call.run()?.tensor)
}

fn negated(gradient: &DynTensor) -> Result<DynTensor, Problem> {
    let dtype = gradient.dtype();
    for_field!(dtype, A => {
        let each: Tensor<A> = load(&gradient.view(), gradient.shape())?;
        store(map(&each, |one| A::ZERO - one)?, dtype, gradient.shape())
    })
}

/// The gradient of each row, divided by the square root of the number of updates that it was made
/// of.
fn over_roots(route: &Route, grad: &DynView<'_>) -> Result<DynTensor, Problem> {
    let (dtype, counts) = (grad.dtype(), route.counts()?);
    for_field!(dtype, A => {
        let grads: Tensor<A> = load(grad, route.cells())?;
        let made: Tensor<A> = each_cell(route, |at: Spot, to: &mut [A]| {
            for (to, grad) in to.iter_mut().zip(&grads.as_slice()[at.cell..]) {
                *to = grad.over_root(counts[at.row].max(1));
            }
        })?;
        store(made, dtype, grad.shape())
    })
}
