//! Derivatives of `segment_reduce`.

use crate::dialect::framework::operator::Value;
use crate::dialect::torch::reduce::Reduce;
use crate::dialect::torch::segment::Segments;
use crate::grad::forward::Rule;
use crate::grad::segment::Case;
use crate::grad::{lowered, typed};
use strew_kernel::error::Result;
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Scalar, Tensor};

/// The gradient of [`segment_reduce`](crate::torch::segment_reduce) with respect to `data`, given
/// that of its result.
///
/// * `grad`, `result`: of the result's shape and of `data`'s type; `result` is what the operator
///   made, which `amax` and `amin` compare with. All that equal it share; `initial` takes no share.
/// * The other arguments are the operator's own.
///
/// ```
/// use strew::grad::torch::segment_reduce_vjp;
/// use strew::torch::{Reduce, Segments};
///
/// let groups = Segments::Lengths(&[3i64]);
/// let to_data =
///     segment_reduce_vjp(&[6.0], &[5.0, 1.0, 5.0], &[5.0], Reduce::Amax, groups, 0, None)?;
/// assert_eq!(to_data.as_slice(), [3.0, 0.0, 3.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a type without gradients, or a
/// `grad` or `result` of another type or shape than the result.
pub fn segment_reduce_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    data: impl AsTensor<T>,
    result: impl AsTensor<T>,
    reduce: Reduce,
    segments: Segments<impl AsTensor<I>>,
    axis: i64,
    initial: Option<Scalar>,
) -> Result<Tensor<T>> {
    let (grad, data, result) = (grad.as_tensor(), data.as_tensor(), result.as_tensor());
    let (grad, data, result) = (grad.of_rust(), data.of_rust(), result.of_rust());
    let (lengths, offsets) = apart(&segments);
    segment_reduce_vjp_dyn(
        &grad,
        &data,
        &result,
        reduce.name(),
        lengths.as_ref(),
        offsets.as_ref(),
        axis,
        false,
        initial,
    )
    .map(typed)
}

/// [`segment_reduce_vjp`] with element types known at run time, and `reduce` as PyTorch's word. The
/// errors are the same.
pub fn segment_reduce_vjp_dyn(
    grad: &DynView<'_>,
    data: &DynView<'_>,
    result: &DynView<'_>,
    reduce: &str,
    lengths: Option<&DynView<'_>>,
    offsets: Option<&DynView<'_>>,
    axis: i64,
    unchecked: bool,
    initial: Option<Scalar>,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch.segment_reduce_vjp";
    let groups = (lengths, offsets);
    let case = Case::reduce(NAME, data, reduce, groups, axis, unchecked, initial)?;
    case.done(|| {
        case.expect_cells("result", result)?;
        case.folded_vjp(grad, data, Some(result))
    })
}

/// The tangent of [`segment_reduce`](crate::torch::segment_reduce)'s result, given that of `data`;
/// see [`segment_reduce_vjp`].
///
/// # Errors
/// As [`segment_reduce_vjp`].
pub fn segment_reduce_jvp<T: Element, I: Index>(
    data_tangent: impl AsTensor<T>,
    data: impl AsTensor<T>,
    result: impl AsTensor<T>,
    reduce: Reduce,
    segments: Segments<impl AsTensor<I>>,
    axis: i64,
    initial: Option<Scalar>,
) -> Result<Tensor<T>> {
    let (tangent, data, result) = (
        data_tangent.as_tensor(),
        data.as_tensor(),
        result.as_tensor(),
    );
    let (tangent, data, result) = (tangent.of_rust(), data.of_rust(), result.of_rust());
    let (lengths, offsets) = apart(&segments);
    segment_reduce_jvp_dyn(
        &tangent,
        &data,
        &result,
        reduce.name(),
        lengths.as_ref(),
        offsets.as_ref(),
        axis,
        false,
        initial,
    )
    .map(typed)
}

/// [`segment_reduce_jvp`] with element types known at run time, and `reduce` as PyTorch's word. The
/// errors are the same.
pub fn segment_reduce_jvp_dyn(
    data_tangent: &DynView<'_>,
    data: &DynView<'_>,
    result: &DynView<'_>,
    reduce: &str,
    lengths: Option<&DynView<'_>>,
    offsets: Option<&DynView<'_>>,
    axis: i64,
    unchecked: bool,
    initial: Option<Scalar>,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch.segment_reduce_jvp";
    let groups = (lengths, offsets);
    let case = Case::reduce(NAME, data, reduce, groups, axis, unchecked, initial)?;
    case.done(|| {
        case.expect_cells("result", result)?;
        case.folded_jvp("data_tangent", data_tangent, data, Some(result))
    })
}

fn apart<'a, I: Index>(
    segments: &'a Segments<impl AsTensor<I>>,
) -> (Option<DynView<'a>>, Option<DynView<'a>>) {
    match segments {
        Segments::Lengths(view) => (Some(view.as_tensor().of_rust()), None),
        Segments::Offsets(view) => (None, Some(view.as_tensor().of_rust())),
    }
}

impl<'a> Case<'a> {
    fn reduce(
        name: &'static str,
        data: &DynView<'a>,
        reduce: &'a str,
        (lengths, offsets): (Option<&DynView<'a>>, Option<&DynView<'a>>),
        axis: i64,
        unchecked: bool,
        initial: Option<Scalar>,
    ) -> Result<Self> {
        let mut values = vec![
            ("data", Value::Tensor(data.clone())),
            ("reduce", Value::Text(reduce.into())),
            ("axis", Value::Int(axis)),
            ("unsafe", Value::Bool(unchecked)),
        ];
        let groups = [("lengths", lengths), ("offsets", offsets)];
        let groups = groups
            .into_iter()
            .filter_map(|(name, view)| Some((name, view?)));
        values.extend(groups.map(|(name, view)| (name, Value::Tensor(view.clone()))));
        values.extend(initial.map(|initial| ("initial", Value::Scalar(initial))));
        let call = lowered(name, "torch.segment_reduce", values)?;
        let rule = match reduce {
            "prod" => Rule::Prod,
            "mean" => Rule::Mean,
            "sum" => Rule::Sum,
            _ => Rule::Ties,
        };
        let mut case = Self::new(name, call, rule, "data", data)?;
        case.initial = initial.filter(|_| rule == Rule::Prod);
        Ok(case)
    }
}
