//! Derivatives of torch_scatter's operators.
//!
//! Source of the rules: torch_scatter 2.1.2, `csrc/scatter.cpp` and runs on CPU; where that is
//! wrong, the mathematics. See also `COMPARE.md`.

use crate::dialect::framework::call::Call;
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::operator::{Value, int};
use crate::dialect::torch_scatter::Reduce;
use crate::grad::forward::{Forward, Own, Rule, to_positions};
use crate::grad::route::{Route, own, packed};
use crate::grad::table::fold_rule;
use crate::grad::tangents::from_positions;
use crate::grad::{context, expect_field, expect_like, gathered, lowered, torch_class, typed};
use strew_engine::checks::{axis, expect_dtype, expect_shape};
use strew_engine::describe::bounds::Bounds;
use strew_engine::plan::Plan;
use strew_engine::threads::groups::hand_back;
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{
    AsTensor, DType, Dims, DynTensor, DynView, Element, Index, Tensor, shaped,
};

/// The gradient of [`scatter`](crate::torch_scatter::scatter) with respect to `src`, given that of
/// its result.
///
/// * `grad`: of the result's shape, which is `src`'s but for `dim`, and of `src`'s type. The other
///   arguments are the operator's own.
/// * `min` and `max`: the first winner takes all, as in torch_scatter. Who has the positions
///   already takes [`scatter_arg_vjp`].
/// * `mul`: any number of zeros; torch_scatter gives 0 to a zero whose other factors are none.
///
/// ```
/// use strew::grad::torch_scatter::scatter_vjp;
/// use strew::torch_scatter::Reduce;
///
/// let (src, index) = ([3.0f32, 0.0, 5.0, 5.0], [0i64, 0, 1, 1]);
/// let to_src = scatter_vjp(&[1.0, 2.0], &src, &index, -1, Reduce::Mul)?;
/// assert_eq!(to_src.as_slice(), [0.0, 3.0, 10.0, 10.0]);
/// let to_src = scatter_vjp(&[1.0, 2.0], &src, &index, -1, Reduce::Max)?;
/// assert_eq!(to_src.as_slice(), [1.0, 0.0, 2.0, 0.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As the operator's; [`Class::Runtime`](crate::Class::Runtime) for a type without gradients, or a
/// `grad` of another type or shape than the result.
pub fn scatter_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    scatter_vjp_dyn(
        &grad.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &index.as_tensor().of_rust(),
        dim,
        word(reduce),
    )
    .map(typed)
}

/// [`scatter_vjp`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// # Errors
/// As [`scatter_vjp`]; [`Class::Value`](crate::Class::Value) for an unknown `reduce`.
pub fn scatter_vjp_dyn(
    grad: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    reduce: &str,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_vjp";
    let case = Case::for_grad(NAME, grad, src, index, dim, reduce)?;
    let work = || {
        let to_src = match case.rule()? {
            // The gradient of a sum is a gather: it needs no plan of the index.
            Rule::Sum => gathered(case.call.scatter()?.destinations(), grad)?,
            _ => case.forward()?.vjp(grad)?.src,
        };
        shaped(to_src, src.shape())
    };
    work().map_err(|problem| context(NAME, torch_class).error(problem))
}

/// The tangent of [`scatter`](crate::torch_scatter::scatter)'s result, given that of `src`.
///
/// * `src_tangent`: of `src`'s type and shape. The other arguments are the operator's own.
///
/// ```
/// use strew::grad::torch_scatter::scatter_jvp;
/// use strew::torch_scatter::Reduce;
///
/// let out = scatter_jvp(&[1.0, 10.0], &[3.0, 0.0], &[0i64, 0], -1, None, Reduce::Mul)?;
/// assert_eq!(out.as_slice(), [30.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_vjp`].
pub fn scatter_jvp<T: Element, I: Index>(
    src_tangent: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    dim_size: Option<usize>,
    reduce: Reduce,
) -> Result<Tensor<T>> {
    scatter_jvp_dyn(
        &src_tangent.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &index.as_tensor().of_rust(),
        dim,
        dim_size.map(int),
        word(reduce),
    )
    .map(typed)
}

/// [`scatter_jvp`] with element types known at run time, and `reduce` as torch_scatter's word.
///
/// # Errors
/// As [`scatter_vjp_dyn`].
pub fn scatter_jvp_dyn(
    src_tangent: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    dim_size: Option<i64>,
    reduce: &str,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_jvp";
    let case = Case::new(NAME, src, index, dim, dim_size, reduce)?;
    let work = || {
        expect_like(
            "src_tangent",
            src_tangent,
            "src's",
            src.dtype(),
            src.shape(),
        )?;
        let made = case.forward()?.jvp(None, src_tangent)?;
        shaped(made, case.call.scatter()?.destinations().shape())
    };
    work().map_err(|problem| context(NAME, torch_class).error(problem))
}

/// The double backward of [`scatter`](crate::torch_scatter::scatter) with `mul`: what the cotangent
/// of the gradient that [`scatter_vjp`] makes is as gradients with respect to `grad` and to `src`.
///
/// * `cotangent`: of `src`'s type and shape. The results have `grad`'s and `src`'s shapes. Any
///   number of zeros may go to a cell.
///
/// ```
/// use strew::grad::torch_scatter::scatter_mul_double_vjp;
///
/// // Of f = xyz, at x = y = 0: the gradient with respect to x is g y z, whose own with respect to y is g z.
/// let (to_grad, to_src) =
///     scatter_mul_double_vjp(&[2.0], &[0.0, 0.0, 7.0], &[0i64, 0, 0], -1, &[1.0, 0.0, 0.0])?;
/// assert_eq!(to_grad.as_slice(), [0.0]);
/// assert_eq!(to_src.as_slice(), [0.0, 14.0, 0.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_vjp`].
pub fn scatter_mul_double_vjp<T: Element, I: Index>(
    grad: impl AsTensor<T>,
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    cotangent: impl AsTensor<T>,
) -> Result<(Tensor<T>, Tensor<T>)> {
    let (to_grad, to_src) = scatter_mul_double_vjp_dyn(
        &grad.as_tensor().of_rust(),
        &src.as_tensor().of_rust(),
        &index.as_tensor().of_rust(),
        dim,
        &cotangent.as_tensor().of_rust(),
    )?;
    Ok((typed(to_grad), typed(to_src)))
}

/// [`scatter_mul_double_vjp`] with element types known at run time, and the same errors.
pub fn scatter_mul_double_vjp_dyn(
    grad: &DynView<'_>,
    src: &DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    cotangent: &DynView<'_>,
) -> Result<(DynTensor, DynTensor)> {
    const NAME: &str = "grad.torch_scatter.scatter_mul_double_vjp";
    let case = Case::for_grad(NAME, grad, src, index, dim, "mul")?;
    let work = || {
        expect_like("cotangent", cotangent, "src's", src.dtype(), src.shape())?;
        let (to_grad, rest) = case.forward()?.double_vjp(grad, None, cotangent)?;
        Ok((
            shaped(to_grad, grad.shape())?,
            shaped(rest.src, src.shape())?,
        ))
    };
    work().map_err(|problem| context(NAME, torch_class).error(problem))
}

/// The gradient of [`scatter_min`](crate::torch_scatter::scatter_min) and
/// [`scatter_max`](crate::torch_scatter::scatter_max) with respect to `src`, by the positions that
/// they gave: each cell's gradient goes to its winner.
///
/// * `grad`: of the result's shape and any type that has gradients. `arg`: `int64` positions along
///   `dim`, of `grad`'s shape; `along`, the size of `src` along `dim`, stands for none. The
///   gradient has `grad`'s shape but for `dim`, where it has `along`.
///
/// ```
/// use strew::grad::torch_scatter::scatter_arg_vjp;
/// use strew::torch_scatter::scatter_max;
///
/// let (_, arg) = scatter_max(&[3.0, 1.0, 3.0], &[0i64, 2, 0], -1, None)?;
/// let to_src = scatter_arg_vjp(&[1.0, 2.0, 4.0], &arg, -1, 3)?;
/// assert_eq!(to_src.as_slice(), [1.0, 4.0, 0.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`](crate::Class::Index) for a `dim` that is none,
/// [`Class::Runtime`](crate::Class::Runtime) for everything else: types, shapes, a negative
/// position.
pub fn scatter_arg_vjp<T: Element>(
    grad: impl AsTensor<T>,
    arg: impl AsTensor<i64>,
    dim: i64,
    along: usize,
) -> Result<Tensor<T>> {
    let (grad, arg) = (grad.as_tensor().of_rust(), arg.as_tensor().of_rust());
    scatter_arg_vjp_dyn(&grad, &arg, dim, along).map(typed)
}

/// [`scatter_arg_vjp`] with element types known at run time, and the same errors.
pub fn scatter_arg_vjp_dyn(
    grad: &DynView<'_>,
    arg: &DynView<'_>,
    dim: i64,
    along: usize,
) -> Result<DynTensor> {
    let work = || {
        let (axis, shape) = handed_to(grad, arg, dim, along)?;
        to_positions(grad, arg, axis, &shape)
    };
    work().map_err(|problem| context(ARG_VJP, torch_class).error(problem))
}

/// [`scatter_arg_vjp_dyn`] for who still has the index by which the groups were made: that of a
/// large result of whole rows makes it faster. A position to which the index does not lead gets
/// nothing then.
///
/// * `index`: of `along` integers, with one axis, or as many as `grad`.
///
/// # Errors
/// As [`scatter_arg_vjp`]; [`Class::Runtime`](crate::Class::Runtime) also, where the index is used,
/// for one of another size, or that names no cell.
pub fn scatter_arg_vjp_by_index_dyn(
    grad: &DynView<'_>,
    arg: &DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    along: usize,
) -> Result<DynTensor> {
    let work = || {
        let (axis, shape) = handed_to(grad, arg, dim, along)?;
        match rows_of(index, grad, arg, axis, &shape)? {
            Some(made) => shaped(made, &shape),
            None => to_positions(grad, arg, axis, &shape),
        }
    };
    work().map_err(|problem| context(ARG_VJP, torch_class).error(problem))
}

const ARG_VJP: &str = "grad.torch_scatter.scatter_arg_vjp";

/// Bytes of a gradient from which on the updates of a cell are looked for by the index.
const LARGE: usize = 16 << 20;

/// The axis that the positions point along, and the shape of the gradients.
fn handed_to(
    grad: &DynView<'_>,
    arg: &DynView<'_>,
    dim: i64,
    along: usize,
) -> Result<(usize, Dims), Problem> {
    let axis = positions("grad", grad, arg, dim)?;
    expect_shape("arg", arg.shape(), arg.shape() == grad.shape(), || {
        format!("it must be grad's shape, {:?}", grad.shape())
    })?;
    let mut shape = Dims::from_slice(grad.shape());
    shape[axis] = along;
    Ok((axis, shape))
}

/// The gradient by groups of updates, as a matrix; `None` where that is not the way.
fn rows_of(
    index: &DynView<'_>,
    grad: &DynView<'_>,
    arg: &DynView<'_>,
    axis: usize,
    shape: &[usize],
) -> Result<Option<DynTensor>, Problem> {
    let (cells, size) = (grad.len(), grad.dtype().size());
    let bytes = shape.iter().fold(size, |n, &len| n.saturating_mul(len));
    let rows = grad.shape()[0];
    // Whole rows of the first axis: their positions are the numbers of their updates.
    let by_row = axis == 0
        && index
            .layout()
            .strides()
            .iter()
            .skip(1)
            .all(|&step| step == 0);
    let plain = grad.layout().is_contiguous() && arg.layout().is_contiguous();
    let known = matches!(size, 2 | 4 | 8) && u32::try_from(shape[0]).is_ok();
    if !(by_row && plain && known) || bytes < LARGE || rows == 0 || cells / rows < 8 {
        return Ok(None);
    }
    expect_shape(
        "index",
        index.shape(),
        index.shape().first() == Some(&shape[0]),
        || format!("it must have {} elements along dimension 0", shape[0]),
    )?;
    let mut line = index.clone();
    while let (true, Some(less)) = (line.rank() > 1, line.select(line.rank() - 1, 0)) {
        line = less;
    }
    let plan = Plan::new_dyn(&line, Some(rows), Bounds::STRICT, None).map_err(own)?;
    let matrix = [rows, cells / rows];
    let (grad, arg) = (packed(grad, &matrix)?, packed(arg, &matrix)?);
    hand_back(plan.groups()?, &grad.view(), &arg.view()).map(Some)
}

/// The tangent of [`scatter_min`](crate::torch_scatter::scatter_min)'s and
/// [`scatter_max`](crate::torch_scatter::scatter_max)'s result, by the positions that they gave:
/// each cell's is its winner's, or 0.
///
/// * `src_tangent`: of `src`'s shape and any type that has gradients. `arg`: as for
///   [`scatter_arg_vjp`], of `src`'s shape but for `dim`; the tangent has its shape.
///
/// ```
/// use strew::grad::torch_scatter::scatter_arg_jvp;
///
/// let out = scatter_arg_jvp(&[1.0, 2.0, 4.0], &[2i64, 3, 1], -1)?;
/// assert_eq!(out.as_slice(), [4.0, 0.0, 2.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_arg_vjp`].
pub fn scatter_arg_jvp<T: Element>(
    src_tangent: impl AsTensor<T>,
    arg: impl AsTensor<i64>,
    dim: i64,
) -> Result<Tensor<T>> {
    let (tangent, arg) = (src_tangent.as_tensor().of_rust(), arg.as_tensor().of_rust());
    scatter_arg_jvp_dyn(&tangent, &arg, dim).map(typed)
}

/// [`scatter_arg_jvp`] with element types known at run time, and the same errors.
pub fn scatter_arg_jvp_dyn(
    src_tangent: &DynView<'_>,
    arg: &DynView<'_>,
    dim: i64,
) -> Result<DynTensor> {
    const NAME: &str = "grad.torch_scatter.scatter_arg_jvp";
    let work = || {
        let axis = positions("src_tangent", src_tangent, arg, dim)?;
        let mut wanted = Dims::from_slice(src_tangent.shape());
        wanted[axis] = arg.shape().get(axis).copied().unwrap_or(0);
        expect_shape("arg", arg.shape(), *arg.shape() == wanted[..], || {
            let shape = src_tangent.shape();
            format!("it must be src_tangent's shape {shape:?} apart from dimension {axis}")
        })?;
        let mut made = DynTensor::zeros(src_tangent.dtype(), arg.shape())?;
        from_positions(src_tangent, arg, axis, &mut made)?;
        Ok(made)
    };
    work().map_err(|problem| context(NAME, torch_class).error(problem))
}

/// Checks what a function of positions is given, and finds the axis.
fn positions(
    argument: &'static str,
    values: &DynView<'_>,
    arg: &DynView<'_>,
    dim: i64,
) -> Result<usize, Problem> {
    expect_field(argument, values.dtype())?;
    let found = arg.dtype();
    expect_dtype("arg", found, found == DType::I64, "it must be int64")?;
    expect_shape(argument, values.shape(), values.rank() > 0, || {
        "it must have at least one dimension".into()
    })?;
    let axis = strew_engine::checks::axis("dim", dim, values.rank())?;
    let mut before = 0;
    let mut negative = None;
    arg.all_integers(|block| {
        negative = block.iter().position(|&at| at < 0).map(|k| before + k);
        before += block.len();
        negative.is_none()
    });
    match negative {
        None => Ok(axis),
        Some(mut k) => {
            let mut position = vec![0; arg.rank()];
            for (at, &len) in position.iter_mut().zip(arg.shape()).rev() {
                *at = k % len;
                k /= len;
            }
            Err(wrong_value(
                format_args!("arg{position:?}"),
                arg.show(&position).unwrap_or_default(),
                "no position is negative",
            ))
        }
    }
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

/// The `dim_size` of a result of `of`'s shape. What is wrong with `dim` the operator says.
fn size_along(dim: i64, of: &DynView<'_>, src: &DynView<'_>) -> Option<i64> {
    let axis = axis("dim", dim, src.rank()).ok()?;
    of.shape().get(axis).copied().map(int)
}

/// A call that the operator itself would take.
struct Case<'a> {
    call: Call<'a>,
}

impl<'a> Case<'a> {
    /// Checks the arguments as the operator does.
    fn new(
        name: &'static str,
        src: &DynView<'a>,
        index: &DynView<'a>,
        dim: i64,
        dim_size: Option<i64>,
        reduce: &'a str,
    ) -> Result<Self> {
        let values = [
            ("src", Value::Tensor(src.clone())),
            ("index", Value::Tensor(index.clone())),
            ("dim", Value::Int(dim)),
            ("reduce", Value::Text(reduce.into())),
        ];
        let size = dim_size.map(|size| ("dim_size", Value::Int(size)));
        let call = lowered(
            name,
            "torch_scatter.scatter",
            values.into_iter().chain(size),
        )?;
        expect_field("src", src.dtype())
            .map_err(|problem| context(name, torch_class).error(problem))?;
        Ok(Self { call })
    }

    /// As [`new`](Self::new), for a result of `grad`'s shape.
    fn for_grad(
        name: &'static str,
        grad: &DynView<'_>,
        src: &DynView<'a>,
        index: &DynView<'a>,
        dim: i64,
        reduce: &'a str,
    ) -> Result<Self> {
        let size = size_along(dim, grad, src);
        let case = Self::new(name, src, index, dim, size, reduce)?;
        let fits = case.call.scatter().and_then(|scatter| {
            let shape = scatter.destinations().shape();
            expect_like("grad", grad, "the result's", src.dtype(), shape)
        });
        fits.map_err(|problem| context(name, torch_class).error(problem))?;
        Ok(case)
    }

    fn rule(&self) -> Result<Rule, Problem> {
        let rule = fold_rule(self.call.scatter()?.reduction(), true);
        Ok(rule.expect("no reduction of torch_scatter divides"))
    }

    fn forward(&self) -> Result<Forward<'a>, Problem> {
        let scatter = self.call.scatter()?;
        Ok(Forward {
            route: Route::to(scatter.destinations())?,
            rule: self.rule()?,
            own: Own::Nothing,
            src: scatter.source()?,
            result: None,
        })
    }
}
