//! Derivatives of `segment_coo`, `segment_csr`, `gather_coo` and `gather_csr`.

use crate::dialect::framework::bounds::DROP;
use crate::dialect::framework::operator::{Value, int};
use crate::dialect::torch_scatter::{Reduce, segment};
use crate::grad::forward::Rule;
use crate::grad::route::own;
use crate::grad::segment::Case;
use crate::grad::tangents::from_positions;
use crate::grad::torch_scatter::{rule, word};
use crate::grad::{expect_like, lowered, typed};
use strew_engine::scatter::destinations::{Destinations, Place};
use strew_engine::scatter::reduction::Reduction;
use strew_engine::scatter::{Output, Scatter, Start, Target};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{AsTensor, DynTensor, DynView, Element, Index, Tensor};

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
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a type without gradients, or a
/// `grad` of another type or shape than the result.
pub fn segment_coo_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    let (grad, src, index) = (grad.as_tensor(), src.as_tensor(), index.as_tensor());
    let (grad, src, index) = (grad.of_rust(), src.of_rust(), index.of_rust());
    segment_coo_vjp_dyn(&grad, &src, &index, word(reduce)).map(typed)
}

/// [`segment_coo_vjp`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// # Errors
/// As [`segment_coo_vjp`]; [`Class::Value`](crate::Class::Value) for an unknown `reduce`.
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
pub fn segment_coo_jvp<T: Element, I: Index>(
    src_tangent: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim_size: Option<usize>,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    let (tangent, src, index) = (src_tangent.as_tensor(), src.as_tensor(), index.as_tensor());
    let (tangent, src, index) = (tangent.of_rust(), src.of_rust(), index.of_rust());
    let size = dim_size.map(int);
    segment_coo_jvp_dyn(&tangent, &src, &index, size, word(reduce)).map(typed)
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
/// let (grad, src) = ([1.0, 0.0, 10.0], [3.0, 5.0, 2.0]);
/// let to_src = segment_csr_vjp(&grad, &src, &[0i64, 2, 1, 3], Reduce::Sum)?;
/// assert_eq!(to_src.as_slice(), [1.0, 11.0, 10.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a type without gradients, or a
/// `grad` of another type or shape than the result.
pub fn segment_csr_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    src: impl AsTensor<T>,
    indptr: impl AsTensor<I>,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    let (grad, src, indptr) = (grad.as_tensor(), src.as_tensor(), indptr.as_tensor());
    let (grad, src, indptr) = (grad.of_rust(), src.of_rust(), indptr.of_rust());
    segment_csr_vjp_dyn(&grad, &src, &indptr, word(reduce)).map(typed)
}

/// [`segment_csr_vjp`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// # Errors
/// As [`segment_csr_vjp`]; [`Class::Value`](crate::Class::Value) for an unknown `reduce`.
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
pub fn segment_csr_jvp<T: Element, I: Index>(
    src_tangent: impl AsTensor<T>,
    src: impl AsTensor<T>,
    indptr: impl AsTensor<I>,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    let (tangent, src, indptr) = (src_tangent.as_tensor(), src.as_tensor(), indptr.as_tensor());
    let (tangent, src, indptr) = (tangent.of_rust(), src.of_rust(), indptr.of_rust());
    segment_csr_jvp_dyn(&tangent, &src, &indptr, word(reduce)).map(typed)
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
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a type without gradients.
pub fn gather_coo_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    index: impl AsTensor<I>,
    rows: usize,
) -> Result<Tensor<T>> {
    let (grad, index) = (grad.as_tensor().of_rust(), index.as_tensor().of_rust());
    gather_coo_vjp_dyn(&grad, &index, rows).map(typed)
}

/// [`gather_coo_vjp`] with element types known at run time, and the same errors.
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
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a type without gradients.
pub fn gather_csr_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    indptr: impl AsTensor<I>,
) -> Result<Tensor<T>> {
    let (grad, indptr) = (grad.as_tensor().of_rust(), indptr.as_tensor().of_rust());
    gather_csr_vjp_dyn(&grad, &indptr).map(typed)
}

/// [`gather_csr_vjp`] with element types known at run time, and the same errors.
pub fn gather_csr_vjp_dyn(grad: &DynView<'_>, indptr: &DynView<'_>) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.gather_csr_vjp";
    let mut case = Case::segments(NAME, "csr", grad, ("indptr", indptr), None, "sum")?;
    case.last_stays = true;
    case.done(|| case.folded_jvp("grad", grad, grad, None))
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
        let values = [
            ("src", Value::Tensor(src.clone())),
            (argument, Value::Tensor(index.clone())),
            ("reduce", Value::Text(reduce.into())),
        ];
        let size = dim_size.map(|size| ("dim_size", size));
        let operator = format!("torch_scatter.segment_{family}");
        let call = lowered(name, &operator, values.into_iter().chain(size))?;
        Self::new(name, call, rule(reduce), "src", src)
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
