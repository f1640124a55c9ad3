//! Derivatives of PyTorch's operators.
//!
//! Source of the rules: PyTorch 2.15, the backward of `Tensor.scatter_reduce` as runs show it;
//! where that is wrong or refuses, the mathematics. See also `COMPARE.md`.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::operator::Value;
use crate::dialect::torch::reduce::Reduce;
use crate::grad::cotangents::Wanted;
use crate::grad::forward::{Forward, Gradients, Own};
use crate::grad::route::Route;
use crate::grad::table::fold_rule;
use crate::grad::{
    context, expect_field, expect_like, gathered, in_corner, lowered, renamed, torch_class, typed,
};
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{AsTensor, Dims, DynTensor, DynView, Element, Index, Tensor, shaped};

/// The gradients of [`scatter_reduce`](crate::torch::scatter_reduce) with respect to `input` and to
/// `src`, given that of its result.
///
/// * `grad` and `result`: of `input`'s type and shape; `result` is what the operator made, which
///   `amax` and `amin` compare with and `prod` divides. The other arguments are the operator's own.
/// * The gradients have `input`'s and `src`'s shapes. What of `src` lies beyond `index` was not
///   read: its gradient is 0. (PyTorch's backward refuses a `src` that is larger than `index`.)
/// * Ties of `amax` and `amin` share equally: all elements that equal the result, and `input`'s
///   where it counts. Where it does not count (`include_self` false) it has no share, though
///   PyTorch counts it.
/// * Any number of zeros among the factors of `prod`: the gradient is that of the product of the
///   others.
///
/// ```
/// use strew::grad::torch::scatter_reduce_vjp;
/// use strew::torch::Reduce;
///
/// let (to_input, to_src) = scatter_reduce_vjp(
///     &[6.0f32, 1.0],
///     &[4.0, 5.0],
///     0,
///     &[0i64, 0, 0],
///     &[4.0, 3.0, 4.0, 9.0],
///     &[4.0, 5.0],
///     Reduce::Amax,
///     true,
/// )?;
/// assert_eq!(to_input.as_slice(), [2.0, 1.0]);
/// assert_eq!(to_src.as_slice(), [2.0, 0.0, 2.0, 0.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a type without gradients, or a
/// `grad` or `result` of another type or shape than `input`.
pub fn scatter_reduce_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    input: impl AsTensor<T>,
    dim: i64,
    index: impl AsTensor<I>,
    src: impl AsTensor<T>,
    result: impl AsTensor<T>,
    reduce: Reduce,
    include_self: bool,
) -> Result<(Tensor<T>, Tensor<T>)> {
    let (to_input, to_src) = scatter_reduce_vjp_dyn(
        &grad.as_tensor().of_rust(),
        &input.as_tensor().of_rust(),
        dim,
        &index.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &result.as_tensor().of_rust(),
        reduce.name(),
        include_self,
    )?;
    Ok((typed(to_input), typed(to_src)))
}

/// [`scatter_reduce_vjp`] with element types known at run time, and `reduce` as PyTorch's word. The
/// errors are the same.
pub fn scatter_reduce_vjp_dyn(
    grad: &DynView<'_>,
    input: &DynView<'_>,
    dim: i64,
    index: &DynView<'_>,
    src: &DynView<'_>,
    result: &DynView<'_>,
    reduce: &str,
    include_self: bool,
) -> Result<(DynTensor, DynTensor)> {
    const NAME: &str = "grad.torch.scatter_reduce_vjp";
    let case = Case::new(NAME, input, dim, index, src, reduce, include_self)?;
    let both = Wanted {
        own: true,
        src: true,
    };
    let work = || case.vjp(grad, Some(result), both);
    let made = work().map_err(|problem| context(NAME, torch_class).error(problem))?;
    Ok((made.0.expect("it is wanted"), made.1.expect("it is wanted")))
}

/// What is kept of a call of [`scatter_reduce`](crate::torch::scatter_reduce) for its gradients.
#[derive(Clone, Debug)]
pub struct Kept<'a> {
    /// Needed by `prod`, `amax` and `amin` with `include_self`.
    pub input: Option<DynView<'a>>,
    /// Needed by `prod`, `amax` and `amin`.
    pub src: Option<DynView<'a>>,
    /// The shape of `src`.
    pub src_shape: &'a [usize],
    /// What the operator made: needed by `amax` and `amin`, and `prod` is quicker with it.
    pub result: Option<DynView<'a>>,
}

/// As [`scatter_reduce_vjp_dyn`], from no more of a call than the derivative needs, and for one of
/// the gradients or both.
///
/// * `to_input`, `to_src`: whether these are wanted; those that are not are `None`.
///
/// # Errors
/// As [`scatter_reduce_vjp`]; [`Class::Runtime`](crate::Class::Runtime) if something is needed and
/// was not kept.
pub fn scatter_reduce_vjp_kept_dyn(
    grad: &DynView<'_>,
    dim: i64,
    index: &DynView<'_>,
    kept: &Kept<'_>,
    reduce: &str,
    include_self: bool,
    (to_input, to_src): (bool, bool),
) -> Result<(Option<DynTensor>, Option<DynTensor>)> {
    const NAME: &str = "grad.torch.scatter_reduce_vjp";
    let refuse = |problem| context(NAME, torch_class).error(problem);
    // Of what is not needed only the shape is looked at.
    let one = DynTensor::zeros(grad.dtype(), &[]).map_err(refuse)?;
    let stand_in = one.view().broadcast_to(kept.src_shape);
    let linear = matches!(reduce, "sum" | "mean" | "exact_sum" | "exact_mean");
    let missing = |argument| refuse(Problem::Missing { argument });
    let src = match &kept.src {
        Some(src) => src.clone(),
        None => stand_in.filter(|_| linear).ok_or_else(|| missing("src"))?,
    };
    let input = match &kept.input {
        Some(input) => input,
        None if linear || !include_self => grad,
        None => return Err(missing("input")),
    };
    let case = Case::new(NAME, input, dim, index, &src, reduce, include_self)?;
    let wanted = Wanted {
        own: to_input,
        src: to_src,
    };
    case.vjp(grad, kept.result.as_ref(), wanted).map_err(refuse)
}

/// The tangent of [`scatter_reduce`](crate::torch::scatter_reduce)'s result, given those of `input`
/// and of `src`.
///
/// * `input_tangent`, `src_tangent`: of `input`'s and of `src`'s type and shape. `result` is as for
///   [`scatter_reduce_vjp`]. The tangent has `input`'s shape.
///
/// ```
/// use strew::grad::torch::scatter_reduce_jvp;
/// use strew::torch::Reduce;
///
/// // The product 2 * 3 * 0 moves by 2 * 3 times what the zero moves by.
/// let out = scatter_reduce_jvp(
///     &[1.0], &[1.0, 0.5], &[2.0], 0, &[0i64, 0], &[3.0, 0.0], &[0.0], Reduce::Prod, true,
/// )?;
/// assert_eq!(out.as_slice(), [3.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_reduce_vjp`].
pub fn scatter_reduce_jvp<T: Element, I: Index>(
    input_tangent: impl AsTensor<T>,
    src_tangent: impl AsTensor<T>,
    input: impl AsTensor<T>,
    dim: i64,
    index: impl AsTensor<I>,
    src: impl AsTensor<T>,
    result: impl AsTensor<T>,
    reduce: Reduce,
    include_self: bool,
) -> Result<Tensor<T>> {
    scatter_reduce_jvp_dyn(
        &input_tangent.as_tensor().of_rust(),
        &src_tangent.as_tensor().of_rust(),
        &input.as_tensor().of_rust(),
        dim,
        &index.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &result.as_tensor().of_rust(),
        reduce.name(),
        include_self,
    )
    .map(typed)
}

/// [`scatter_reduce_jvp`] with element types known at run time, and `reduce` as PyTorch's word. The
/// errors are the same.
pub fn scatter_reduce_jvp_dyn(
    input_tangent: &DynView<'_>,
    src_tangent: &DynView<'_>,
    input: &DynView<'_>,
    dim: i64,
    index: &DynView<'_>,
    src: &DynView<'_>,
    result: &DynView<'_>,
    reduce: &str,
    include_self: bool,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch.scatter_reduce_jvp";
    let case = Case::new(NAME, input, dim, index, src, reduce, include_self)?;
    let work = || {
        case.expect_input("input_tangent", input_tangent)?;
        case.expect_src("src_tangent", src_tangent)?;
        case.expect_input("result", result)?;
        let forward = case.forward(Some(result.clone()))?;
        let made = forward.jvp(Some(input_tangent), &case.corner(src_tangent)?)?;
        shaped(made, input.shape())
    };
    work().map_err(|problem| context(NAME, torch_class).error(problem))
}

/// The double backward of [`scatter_reduce`](crate::torch::scatter_reduce) with `prod`: what the
/// cotangents of the two gradients that [`scatter_reduce_vjp`] makes are as gradients with respect
/// to `grad`, `input` and `src`.
///
/// * `input_cotangent`, `src_cotangent`: of `input`'s and of `src`'s type and shape. The three
///   results have `input`'s, `input`'s and `src`'s shapes.
/// * Any number of zeros may go to a cell, where PyTorch refuses more than one.
///
/// ```
/// use strew::grad::torch::scatter_reduce_prod_double_vjp;
///
/// // Of f = 3xy, at x = y = 0, the gradients are 3gy and 3gx: their own derivatives are 3g.
/// let (to_grad, to_input, to_src) = scatter_reduce_prod_double_vjp(
///     &[2.0], &[3.0], 0, &[0i64, 0], &[0.0, 0.0], true, &[0.0], &[1.0, 10.0],
/// )?;
/// assert_eq!(to_grad.as_slice(), [0.0]);
/// assert_eq!(to_input.as_slice(), [0.0]);
/// assert_eq!(to_src.as_slice(), [60.0, 6.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_reduce_vjp`].
pub fn scatter_reduce_prod_double_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    input: impl AsTensor<T>,
    dim: i64,
    index: impl AsTensor<I>,
    src: impl AsTensor<T>,
    include_self: bool,
    input_cotangent: impl AsTensor<T>,
    src_cotangent: impl AsTensor<T>,
) -> Result<(Tensor<T>, Tensor<T>, Tensor<T>)> {
    let (to_grad, to_input, to_src) = scatter_reduce_prod_double_vjp_dyn(
        &grad.as_tensor().of_rust(),
        &input.as_tensor().of_rust(),
        dim,
        &index.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        include_self,
        &input_cotangent.as_tensor().of_rust(),
        &src_cotangent.as_tensor().of_rust(),
    )?;
    Ok((typed(to_grad), typed(to_input), typed(to_src)))
}

/// [`scatter_reduce_prod_double_vjp`] with element types known at run time, and the same errors.
pub fn scatter_reduce_prod_double_vjp_dyn(
    grad: &DynView<'_>,
    input: &DynView<'_>,
    dim: i64,
    index: &DynView<'_>,
    src: &DynView<'_>,
    include_self: bool,
    input_cotangent: &DynView<'_>,
    src_cotangent: &DynView<'_>,
) -> Result<(DynTensor, DynTensor, DynTensor)> {
    const NAME: &str = "grad.torch.scatter_reduce_prod_double_vjp";
    let case = Case::new(NAME, input, dim, index, src, "prod", include_self)?;
    let work = || {
        case.expect_input("grad", grad)?;
        case.expect_input("input_cotangent", input_cotangent)?;
        case.expect_src("src_cotangent", src_cotangent)?;
        let forward = case.forward(None)?;
        let corner = case.corner(src_cotangent)?;
        let (to_grad, rest) = forward.double_vjp(grad, Some(input_cotangent), &corner)?;
        let (to_input, to_src) = case.gradients(rest)?;
        Ok((shaped(to_grad, input.shape())?, to_input, to_src))
    };
    work().map_err(|problem| context(NAME, torch_class).error(problem))
}

/// A call that the operator itself would take.
struct Case<'a> {
    input: &'a DynView<'a>,
    src: &'a DynView<'a>,
    /// What of `src` is read.
    read: DynView<'a>,
    reduce: Reduce,
    include_self: bool,
    call: Call<'a>,
}

impl<'a> Case<'a> {
    /// Checks the arguments as the operator does.
    fn new(
        name: &'static str,
        input: &'a DynView<'a>,
        dim: i64,
        index: &'a DynView<'a>,
        src: &'a DynView<'a>,
        reduce: &'a str,
        include_self: bool,
    ) -> Result<Self> {
        let values = [
            ("input", Value::Tensor(input.clone())),
            ("dim", Value::Int(dim)),
            ("index", Value::Tensor(index.clone())),
            ("src", Value::Tensor(src.clone())),
            ("reduce", Value::Text(reduce.into())),
            ("include_self", Value::Bool(include_self)),
        ];
        let call = lowered(name, "torch.scatter_reduce", values)?;
        let reduce = reduce.parse().map_err(renamed(name))?;
        expect_field("input", input.dtype())
            .map_err(|problem| context(name, torch_class).error(problem))?;
        let read = call.scatter().and_then(|scatter| scatter.source());
        let read = read.map_err(|problem| context(name, torch_class).error(problem))?;
        Ok(Self {
            input,
            src,
            read,
            reduce,
            include_self,
            call,
        })
    }

    fn forward(&self, result: Option<DynView<'a>>) -> Result<Forward<'a>, Problem> {
        Ok(Forward {
            route: Route::to(self.call.scatter()?.destinations())?,
            rule: fold_rule(self.call.scatter()?.reduction(), false)
                .expect("no reduction of torch divides"),
            own: match self.include_self {
                true => Own::Counted(self.input.clone()),
                false => Own::Replaced,
            },
            src: self.read.clone(),
            result,
        })
    }

    /// The gradients that are wanted.
    fn vjp(
        &self,
        grad: &DynView<'a>,
        result: Option<&DynView<'a>>,
        wanted: Wanted,
    ) -> Result<(Option<DynTensor>, Option<DynTensor>), Problem> {
        self.expect_input("grad", grad)?;
        if let Some(result) = result {
            self.expect_input("result", result)?;
        }
        let (own, src) = match matches!(self.reduce, Reduce::Sum | Reduce::ExactSum)
            && (self.include_self || !wanted.own)
        {
            // The gradient of a sum is a gather: it needs no plan of the index.
            true => (
                wanted.own.then(|| grad.to_tensor()).transpose()?,
                wanted
                    .src
                    .then(|| gathered(self.call.scatter()?.destinations(), grad))
                    .transpose()?,
            ),
            false => self.forward(result.cloned())?.vjp_of(grad, wanted)?,
        };
        let own = own.map(|own| shaped(own, self.input.shape()));
        let src = src.map(|src| self.whole(src));
        Ok((own.transpose()?, src.transpose()?))
    }

    fn expect_input(&self, argument: &'static str, found: &DynView<'_>) -> Result<(), Problem> {
        let input = self.input;
        expect_like(argument, found, "input's", input.dtype(), input.shape())
    }

    fn expect_src(&self, argument: &'static str, found: &DynView<'_>) -> Result<(), Problem> {
        expect_like(argument, found, "src's", self.src.dtype(), self.src.shape())
    }

    /// What of a tensor of `src`'s shape belongs to elements that are read.
    fn corner<'v>(&self, view: &DynView<'v>) -> Result<DynView<'v>, Problem> {
        if self.read.is_empty() {
            return Ok(DynView::nothing(view.dtype()));
        }
        let corner = view.at_least_1d().corner(self.read.shape());
        corner.ok_or_else(|| Problem::Shape {
            argument: "src",
            found: view.shape().to_vec(),
            expected: "it must hold the corner that index covers".into(),
        })
    }

    fn gradients(&self, made: Gradients) -> Result<(DynTensor, DynTensor), Problem> {
        let own = made.own.expect("there is an input");
        Ok((shaped(own, self.input.shape())?, self.whole(made.src)?))
    }

    /// A gradient of `src` from that of what is read of it.
    fn whole(&self, read: DynTensor) -> Result<DynTensor, Problem> {
        if self.read.is_empty() {
            return DynTensor::zeros(self.src.dtype(), self.src.shape());
        }
        let shape = Dims::from_slice(self.read.shape());
        in_corner(shaped(read, &shape)?, self.src.shape())
    }
}
