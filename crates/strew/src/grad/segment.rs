//! Derivatives of the operators on segments: torch_scatter's `segment_coo`, `segment_csr`,
//! `gather_coo` and `gather_csr`, PyTorch's `segment_reduce`.
//!
//! Segments are seen as a plan: see `entries.rs`.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::operator::{Arguments, Value, find};
use crate::dialect::torch::reduce::Reduce as TorchReduce;
use crate::dialect::torch::segment::Segments;
use crate::dialect::torch_scatter::{Reduce, segment};
use crate::grad::entries::{DROP, Entries};
use crate::grad::forward::{Forward, Own, Rule};
use crate::grad::route::{Packed, Route, own};
use crate::grad::tangents::from_positions;
use crate::grad::{context, expect_field, expect_like, typed};
use strew_engine::scatter::destinations::{Destinations, Place};
use strew_engine::scatter::reduction::Reduction;
use strew_engine::scatter::{Output, Scatter, Start, Target};
use strew_kernel::error::{Class, Error, Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DynTensor, DynView, Element, Scalar, Tensor, TensorView, shaped};

/// The gradient of [`segment_coo`](crate::torch_scatter::segment_coo) with respect to `src`, given
/// that of its result.
///
/// * `grad`: of the result's shape and of `src`'s type. `min` and `max`: the first winner takes
///   all.
///
/// ```
/// use strew::grad::torch_scatter::segment_coo_vjp;
/// use strew::torch_scatter::Reduce;
///
/// let to_src = segment_coo_vjp(&[4.0, 1.0], &[3.0, 5.0, 2.0], &[0i64, 0, 1], Reduce::Mean)?;
/// assert_eq!(to_src.as_slice(), [2.0, 2.0, 1.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`] for a type without gradients, or a `grad` of another type
/// or shape than the result.
pub fn segment_coo_vjp<'a, T: Element, I: Element>(
    grad: impl Into<TensorView<'a, T>>,
    src: impl Into<TensorView<'a, T>>,
    index: impl Into<TensorView<'a, I>>,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    let (grad, src, index) = (grad.into(), src.into(), index.into());
    let (grad, src, index) = (grad.into_dyn(), src.into_dyn(), index.into_dyn());
    Ok(typed(segment_coo_vjp_dyn(
        &grad,
        &src,
        &index,
        word(reduce),
    )?))
}

/// [`segment_coo_vjp`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// # Errors
/// As [`segment_coo_vjp`]; [`Class::Value`] for an unknown `reduce`.
pub fn segment_coo_vjp_dyn(
    grad: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    reduce: &str,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.segment_coo_vjp";
    let axis = index.rank().saturating_sub(1);
    let size = grad.shape().get(axis).map(|&n| Value::Int(int(n)));
    let case = Case::segments(NAME, "coo", src, ("index", index), size, reduce)?;
    case.done(|| {
        case.vjp(grad, src, || {
            segment::segment_coo_dyn(
                src.clone(),
                index,
                None,
                grad.shape().get(axis).map(|&n| int(n)),
                reduce,
                true,
            )
        })
    })
}

/// The tangent of [`segment_coo`](crate::torch_scatter::segment_coo)'s result, given that of `src`.
///
/// * `src_tangent`: of `src`'s type and shape.
///
/// # Errors
/// As [`segment_coo_vjp`].
pub fn segment_coo_jvp<'a, T: Element, I: Element>(
    src_tangent: impl Into<TensorView<'a, T>>,
    src: impl Into<TensorView<'a, T>>,
    index: impl Into<TensorView<'a, I>>,
    dim_size: Option<usize>,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    let (tangent, src, index) = (src_tangent.into(), src.into(), index.into());
    let (tangent, src, index) = (tangent.into_dyn(), src.into_dyn(), index.into_dyn());
    let size = dim_size.map(int);
    Ok(typed(segment_coo_jvp_dyn(
        &tangent,
        &src,
        &index,
        size,
        word(reduce),
    )?))
}

/// [`segment_coo_jvp`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// # Errors
/// As [`segment_coo_vjp_dyn`].
pub fn segment_coo_jvp_dyn(
    src_tangent: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    dim_size: Option<i64>,
    reduce: &str,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.segment_coo_jvp";
    let size = dim_size.map(Value::Int);
    let case = Case::segments(NAME, "coo", src, ("index", index), size, reduce)?;
    case.done(|| {
        case.jvp(src_tangent, src, || {
            segment::segment_coo_dyn(src.clone(), index, None, dim_size, reduce, true)
        })
    })
}

/// The gradient of [`segment_csr`](crate::torch_scatter::segment_csr) with respect to `src`, given
/// that of its result.
///
/// * `grad`: of the result's shape and of `src`'s type. `min` and `max`: the first winner takes
///   all. An element that several rows take gets something of each.
///
/// ```
/// use strew::grad::torch_scatter::segment_csr_vjp;
/// use strew::torch_scatter::Reduce;
///
/// // The second element is in both rows.
/// let to_src = segment_csr_vjp(&[1.0, 10.0], &[3.0, 5.0, 2.0], &[0i64, 2, 1, 3], Reduce::Sum);
/// assert!(to_src.is_err());
/// let to_src = segment_csr_vjp(&[1.0, 0.0, 10.0], &[3.0, 5.0, 2.0], &[0i64, 2, 1, 3], Reduce::Sum)?;
/// assert_eq!(to_src.as_slice(), [1.0, 11.0, 10.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`] for a type without gradients, or a `grad` of another type
/// or shape than the result.
pub fn segment_csr_vjp<'a, T: Element, I: Element>(
    grad: impl Into<TensorView<'a, T>>,
    src: impl Into<TensorView<'a, T>>,
    indptr: impl Into<TensorView<'a, I>>,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    let (grad, src, indptr) = (grad.into(), src.into(), indptr.into());
    let (grad, src, indptr) = (grad.into_dyn(), src.into_dyn(), indptr.into_dyn());
    Ok(typed(segment_csr_vjp_dyn(
        &grad,
        &src,
        &indptr,
        word(reduce),
    )?))
}

/// [`segment_csr_vjp`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// # Errors
/// As [`segment_csr_vjp`]; [`Class::Value`] for an unknown `reduce`.
pub fn segment_csr_vjp_dyn(
    grad: &DynView<'_>,
    src: &DynView<'_>,
    indptr: &DynView<'_>,
    reduce: &str,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.segment_csr_vjp";
    let case = Case::segments(NAME, "csr", src, ("indptr", indptr), None, reduce)?;
    case.done(|| {
        case.vjp(grad, src, || {
            segment::segment_csr_dyn(src.clone(), indptr, None, reduce, true)
        })
    })
}

/// The tangent of [`segment_csr`](crate::torch_scatter::segment_csr)'s result, given that of `src`.
///
/// * `src_tangent`: of `src`'s type and shape.
///
/// # Errors
/// As [`segment_csr_vjp`].
pub fn segment_csr_jvp<'a, T: Element, I: Element>(
    src_tangent: impl Into<TensorView<'a, T>>,
    src: impl Into<TensorView<'a, T>>,
    indptr: impl Into<TensorView<'a, I>>,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    let (tangent, src, indptr) = (src_tangent.into(), src.into(), indptr.into());
    let (tangent, src, indptr) = (tangent.into_dyn(), src.into_dyn(), indptr.into_dyn());
    Ok(typed(segment_csr_jvp_dyn(
        &tangent,
        &src,
        &indptr,
        word(reduce),
    )?))
}

/// [`segment_csr_jvp`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// # Errors
/// As [`segment_csr_vjp_dyn`].
pub fn segment_csr_jvp_dyn(
    src_tangent: &DynView<'_>,
    src: &DynView<'_>,
    indptr: &DynView<'_>,
    reduce: &str,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.segment_csr_jvp";
    let case = Case::segments(NAME, "csr", src, ("indptr", indptr), None, reduce)?;
    case.done(|| {
        case.jvp(src_tangent, src, || {
            segment::segment_csr_dyn(src.clone(), indptr, None, reduce, true)
        })
    })
}

/// The gradient of [`gather_coo`](crate::torch_scatter::gather_coo) with respect to `src`, which
/// has `rows` rows, given that of its result: the sum of what each row was copied to. The operator
/// is linear: its tangent is the operator itself.
///
/// ```
/// let to_src = strew::grad::torch_scatter::gather_coo_vjp(&[1.0, 2.0, 4.0], &[0i64, 0, 2], 3)?;
/// assert_eq!(to_src.as_slice(), [3.0, 0.0, 4.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`] for a type without gradients.
pub fn gather_coo_vjp<'a, T: Element, I: Element>(
    grad: impl Into<TensorView<'a, T>>,
    index: impl Into<TensorView<'a, I>>,
    rows: usize,
) -> Result<Tensor<T>> {
    let (grad, index) = (grad.into().into_dyn(), index.into().into_dyn());
    Ok(typed(gather_coo_vjp_dyn(&grad, &index, rows)?))
}

/// [`gather_coo_vjp`] with element types known at run time.
///
/// # Errors
/// As [`gather_coo_vjp`].
pub fn gather_coo_vjp_dyn(
    grad: &DynView<'_>,
    index: &DynView<'_>,
    rows: usize,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.gather_coo_vjp";
    let size = Some(Value::Int(int(rows)));
    let case = Case::segments(NAME, "coo", grad, ("index", index), size, "sum")?;
    case.done(|| case.folded_jvp("grad", grad, grad, None))
}

/// The gradient of [`gather_csr`](crate::torch_scatter::gather_csr) with respect to `src`, given
/// that of its result: the sum of what each row was copied to, and has not been overwritten. The
/// operator is linear: its tangent is the operator itself.
///
/// ```
/// let to_src = strew::grad::torch_scatter::gather_csr_vjp(&[1.0, 2.0, 4.0], &[0i64, 2, 3])?;
/// assert_eq!(to_src.as_slice(), [3.0, 4.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`] for a type without gradients.
pub fn gather_csr_vjp<'a, T: Element, I: Element>(
    grad: impl Into<TensorView<'a, T>>,
    indptr: impl Into<TensorView<'a, I>>,
) -> Result<Tensor<T>> {
    let (grad, indptr) = (grad.into().into_dyn(), indptr.into().into_dyn());
    Ok(typed(gather_csr_vjp_dyn(&grad, &indptr)?))
}

/// [`gather_csr_vjp`] with element types known at run time.
///
/// # Errors
/// As [`gather_csr_vjp`].
pub fn gather_csr_vjp_dyn(grad: &DynView<'_>, indptr: &DynView<'_>) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.gather_csr_vjp";
    let mut case = Case::segments(NAME, "csr", grad, ("indptr", indptr), None, "sum")?;
    case.last_stays = true;
    case.done(|| case.folded_jvp("grad", grad, grad, None))
}

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
/// As the operator's; [`Class::Runtime`] for a type without gradients, or a `grad` or `result` of
/// another type or shape than the result.
pub fn segment_reduce_vjp<'a, T: Element, I: Element>(
    grad: impl Into<TensorView<'a, T>>,
    data: impl Into<TensorView<'a, T>>,
    result: impl Into<TensorView<'a, T>>,
    reduce: TorchReduce,
    segments: Segments<impl Into<TensorView<'a, I>>>,
    axis: i64,
    initial: Option<Scalar>,
) -> Result<Tensor<T>> {
    let (grad, data, result) = (grad.into(), data.into(), result.into());
    let (grad, data, result) = (grad.into_dyn(), data.into_dyn(), result.into_dyn());
    let (lengths, offsets) = apart(segments);
    Ok(typed(segment_reduce_vjp_dyn(
        &grad,
        &data,
        &result,
        reduce.name(),
        lengths.as_ref(),
        offsets.as_ref(),
        axis,
        false,
        initial,
    )?))
}

/// [`segment_reduce_vjp`] with element types known at run time, and `reduce` as PyTorch's word.
///
/// # Errors
/// As [`segment_reduce_vjp`].
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
pub fn segment_reduce_jvp<'a, T: Element, I: Element>(
    data_tangent: impl Into<TensorView<'a, T>>,
    data: impl Into<TensorView<'a, T>>,
    result: impl Into<TensorView<'a, T>>,
    reduce: TorchReduce,
    segments: Segments<impl Into<TensorView<'a, I>>>,
    axis: i64,
    initial: Option<Scalar>,
) -> Result<Tensor<T>> {
    let (tangent, data, result) = (data_tangent.into(), data.into(), result.into());
    let (tangent, data, result) = (tangent.into_dyn(), data.into_dyn(), result.into_dyn());
    let (lengths, offsets) = apart(segments);
    Ok(typed(segment_reduce_jvp_dyn(
        &tangent,
        &data,
        &result,
        reduce.name(),
        lengths.as_ref(),
        offsets.as_ref(),
        axis,
        false,
        initial,
    )?))
}

/// [`segment_reduce_jvp`] with element types known at run time, and `reduce` as PyTorch's word.
///
/// # Errors
/// As [`segment_reduce_vjp`].
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

fn apart<'a, I: Element>(
    segments: Segments<impl Into<TensorView<'a, I>>>,
) -> (Option<DynView<'a>>, Option<DynView<'a>>) {
    match segments {
        Segments::Lengths(view) => (Some(view.into().into_dyn()), None),
        Segments::Offsets(view) => (None, Some(view.into().into_dyn())),
    }
}

fn int(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

fn word(reduce: Reduce) -> &'static str {
    match reduce {
        Reduce::Sum => "sum",
        Reduce::Mul => "mul",
        Reduce::Mean => "mean",
        Reduce::Min => "min",
        Reduce::Max => "max",
    }
}

fn class(problem: &Problem) -> Class {
    match problem {
        Problem::Axis { .. } => Class::Index,
        Problem::Unsupported { .. } => Class::NotImplemented,
        _ => Class::Runtime,
    }
}

/// A call that the operator itself would take.
struct Case<'a> {
    name: &'static str,
    call: Call<'a>,
    rule: Rule,
    /// What each group starts from, as far as it is a factor.
    initial: Option<Scalar>,
    /// Of several rows that take an element, only the last one does.
    last_stays: bool,
}

impl<'a> Case<'a> {
    fn segments(
        name: &'static str,
        family: &str,
        src: &DynView<'a>,
        (argument, index): (&'static str, &DynView<'a>),
        dim_size: Option<Value<'a>>,
        reduce: &'a str,
    ) -> Result<Self> {
        let values = vec![
            ("src", Value::Tensor(src.clone())),
            (argument, Value::Tensor(index.clone())),
            ("reduce", Value::Text(reduce.into())),
        ];
        let size = dim_size.map(|size| ("dim_size", size));
        let values = values.into_iter().chain(size).collect();
        let call = lowered(name, &format!("torch_scatter.segment_{family}"), values)?;
        let rule = match reduce {
            "mean" => Rule::Mean,
            "min" => Rule::First { max: false },
            "max" => Rule::First { max: true },
            _ => Rule::Sum,
        };
        Self::new(name, call, rule, "src", src)
    }

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

    fn new(
        name: &'static str,
        call: Call<'a>,
        rule: Rule,
        argument: &'static str,
        src: &DynView<'_>,
    ) -> Result<Self> {
        let refuse = |problem| context(name, class).error(problem);
        expect_field(argument, src.dtype()).map_err(refuse)?;
        if let Some(problem) = call.scatter().map_err(refuse)?.fault() {
            return Err(refuse(problem));
        }
        Ok(Self {
            name,
            call,
            rule,
            initial: None,
            last_stays: false,
        })
    }

    fn done(&self, work: impl FnOnce() -> Result<DynTensor, Problem>) -> Result<DynTensor> {
        work().map_err(|problem| context(self.name, class).error(problem))
    }

    fn places(&self) -> Result<&Destinations<'a>, Problem> {
        Ok(self.call.scatter()?.destinations())
    }

    fn expect_cells(&self, argument: &'static str, found: &DynView<'_>) -> Result<(), Problem> {
        let dtype = self.call.scatter()?.source()?.dtype();
        expect_like(
            argument,
            found,
            "the result's",
            dtype,
            self.places()?.shape(),
        )
    }

    /// The gradient of an operator that gives its winners' positions.
    fn vjp(
        &self,
        grad: &DynView<'_>,
        src: &DynView<'_>,
        run: impl FnOnce() -> Result<Output>,
    ) -> Result<DynTensor, Problem> {
        let Rule::First { .. } = self.rule else {
            return self.folded_vjp(grad, src, None);
        };
        self.expect_cells("grad", grad)?;
        let at = positions(run())?;
        summed_at(grad, &at.view(), self.axis()?, src.shape())
    }

    fn jvp(
        &self,
        tangent: &DynView<'_>,
        src: &DynView<'_>,
        run: impl FnOnce() -> Result<Output>,
    ) -> Result<DynTensor, Problem> {
        let Rule::First { .. } = self.rule else {
            return self.folded_jvp("src_tangent", tangent, src, None);
        };
        expect_like("src_tangent", tangent, "src's", src.dtype(), src.shape())?;
        let at = positions(run())?;
        let mut made = DynTensor::zeros(tangent.dtype(), self.places()?.shape())?;
        from_positions(tangent, &at.view(), self.axis()?, &mut made)?;
        Ok(made)
    }

    fn axis(&self) -> Result<usize, Problem> {
        Ok(self.places()?.components()[0].axis)
    }

    fn folded_vjp(
        &self,
        grad: &DynView<'_>,
        src: &DynView<'_>,
        result: Option<&DynView<'_>>,
    ) -> Result<DynTensor, Problem> {
        self.expect_cells("grad", grad)?;
        let entries = Entries::of(self.places()?, self.last_stays)?;
        let listed = entries.listed(src)?;
        let initial = self.filled(&entries)?;
        let made = self.forward(&entries, &listed, result, initial.as_ref())?;
        let made = made.vjp(grad)?.src;
        let made = match &entries.picked {
            None => made,
            Some(picked) => {
                let sum = strew_engine::plan::reduce::Reduce::Sum;
                picked.scatter_dyn(&made.view(), 0, sum).map_err(own)?
            }
        };
        shaped(made, src.shape())
    }

    fn folded_jvp(
        &self,
        argument: &'static str,
        tangent: &DynView<'_>,
        src: &DynView<'_>,
        result: Option<&DynView<'_>>,
    ) -> Result<DynTensor, Problem> {
        expect_like(argument, tangent, "the source's", src.dtype(), src.shape())?;
        let entries = Entries::of(self.places()?, self.last_stays)?;
        let (listed, tangents) = (entries.listed(src)?, entries.listed(tangent)?);
        let initial = self.filled(&entries)?;
        let made = self.forward(&entries, &listed, result, initial.as_ref())?;
        let made = made.jvp(None, &tangents.view())?;
        shaped(made, self.places()?.shape())
    }

    /// What each group starts from.
    fn filled(&self, entries: &Entries) -> Result<Option<DynTensor>, Problem> {
        let Some(initial) = self.initial else {
            return Ok(None);
        };
        let dtype = self.call.scatter()?.source()?.dtype();
        let one = initial.tensor("initial", dtype)?;
        let shape = [entries.plan.size(), entries.width];
        DynTensor::filled(dtype, &shape, one.as_bytes()).map(Some)
    }

    fn forward<'f>(
        &self,
        entries: &'f Entries,
        listed: &'f Packed<'_>,
        result: Option<&DynView<'f>>,
        initial: Option<&'f DynTensor>,
    ) -> Result<Forward<'f>, Problem> {
        let updates = [entries.plan.len(), entries.width];
        Ok(Forward {
            route: Route::along(&entries.plan, &updates, 0),
            rule: self.rule,
            own: initial.map_or(Own::Nothing, |initial| Own::Counted(initial.view())),
            src: listed.view(),
            result: result.cloned(),
        })
    }
}

/// Lowers a call, whose errors are the derivative's.
fn lowered<'a>(
    name: &'static str,
    operator: &str,
    values: Vec<(&str, Value<'a>)>,
) -> Result<Call<'a>> {
    let renamed = |e: Error| Error::new(name, e.class(), e.problem().clone());
    let mut arguments = Arguments::new(find(operator).expect("it is listed"));
    for (argument, value) in values {
        arguments.set_named(argument, value).map_err(renamed)?;
    }
    arguments.lower().map_err(renamed)
}

/// The positions of winners, of an operator that has been run.
fn positions(run: Result<Output>) -> Result<DynTensor, Problem> {
    let arg = run.map_err(own)?.arg;
    Ok(arg.expect("it was run with positions"))
}

/// The sums of the cells at each position along `axis` of a new tensor of this shape; what has no
/// position there is left out.
fn summed_at(
    cells: &DynView<'_>,
    at: &DynView<'_>,
    axis: usize,
    shape: &[usize],
) -> Result<DynTensor, Problem> {
    let place = Place {
        axes: 0..shape.len(),
        tuple: None,
    };
    let to = Destinations::elements(shape, "arg", at, axis, place, DROP)?;
    let target = Target::New {
        dtype: cells.dtype(),
        start: Start::Zero,
    };
    let sum = Reduction::into_self(Combine::Sum);
    let made = Scatter::new(to, sum, "grad", cells.clone(), target)?.run()?;
    Ok(made.tensor.expect("a scatter into a new tensor makes one"))
}
