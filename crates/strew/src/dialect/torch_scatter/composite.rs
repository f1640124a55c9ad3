//! `scatter_std`, `scatter_logsumexp`, `scatter_softmax`, `scatter_log_softmax`: what is made of
//! the values of each group by more than one reduction.
//!
//! Source of the semantics: torch_scatter 2.1.2, `torch_scatter/composite/*.py`, its tests, and
//! runs on CPU; see also `COMPARE.md`.

use crate::dialect::framework::call::{Call, Describe};
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::composite::Composed;
use crate::dialect::framework::declaration::*;
use crate::dialect::torch_scatter::checks::check_out_shape;
use crate::dialect::torch_scatter::{DIM, DIM_SIZE, INDEX, OUT, context, groups, groups_along};
use crate::dialect::typed;
use strew_engine::checks::expect_dtype;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::plan::composite::Composite;
use strew_kernel::error::{Class, Problem};
use strew_kernel::tensor::DType;

const FLOATS: &str = "the values: rank 1 or more, a floating-point dtype";

const EPSILON: &str = "what is added to a sum before its logarithm is taken";

rows! {
    (
        src: tensor<T> => "the values: rank 1 or more, integers or a floating-point dtype";
        index: tensor => INDEX;
        dim: int = -1 => DIM;
        out: optional_target =>
            "sums of squared differences that count too, overwritten with the result: src's shape but for dim, the result's dtype";
        dim_size: optional_int => DIM_SIZE;
        unbiased: bool = true => "whether to divide by one less than there are elements";
    ) -> out;

    const SCATTER_STD = "torch_scatter.scatter_std":
        "The standard deviation of the elements of src that share an index along dim"
        = lower_std;
}

operators! {
    <T: Element, I: Index> dyn<'a> (
        src: tensor<T> => FLOATS;
        index: tensor<I> => INDEX;
        dim: int = -1 => DIM;
        + out: optional_target => OUT;
        dim_size: optional_size => DIM_SIZE;
        eps: float = 1e-12 => EPSILON;
    ) -> output out;

    /// The logarithm of the summed exponentials of the elements of `src` that share an index along
    /// `dim`.
    ///
    /// torch_scatter's `scatter_logsumexp`; `index`, `dim` and `dim_size` are as for
    /// [`scatter`](crate::dialect::torch_scatter::scatter). With m the largest element of a group it is
    /// `ln(sum of exp(x - m) + eps) + m`, where NaN does not count. torch_scatter's `eps` is 1e-12.
    ///
    /// Groups without elements are 0, and so are those of nothing but -inf and NaN; one that holds inf
    /// is the type's largest finite value. 16-bit floats are computed in `f32` and rounded once.
    ///
    /// ```
    /// use strew::torch_scatter::scatter_logsumexp;
    ///
    /// let out = scatter_logsumexp(&[0.0f64, 0.0, 5.0], &[0i64, 0, 2], -1, None, 1e-12)?;
    /// assert!((out.as_slice()[0] - 2f64.ln()).abs() < 1e-11);
    /// assert_eq!(out.as_slice()[1], 0.0);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Value`] for a `src` that is not of floats, else as [`scatter_std`].
    pub fn scatter_logsumexp,
    /// With `out`, reduces into it and returns nothing; see [`scatter_logsumexp_out`].
    pub fn scatter_logsumexp_dyn = lower_logsumexp;
    const SCATTER_LOGSUMEXP = "torch_scatter.scatter_logsumexp":
        "The logarithm of the summed exponentials of the elements of src that share an index along dim";
}

operators! {
    <T: Element, I: Index> dyn<'a> (
        src: tensor<T> => FLOATS;
        index: tensor<I> => INDEX;
        dim: int = -1 => DIM;
        dim_size: optional_size => DIM_SIZE;
    ) -> output out;

    /// The softmax of the elements of `src` that share an index along `dim`: `exp(x)`, divided by the
    /// sum of the exponentials of its group.
    ///
    /// torch_scatter's `scatter_softmax`; `index`, `dim` and `dim_size` are as for
    /// [`scatter`](crate::dialect::torch_scatter::scatter). The result has `src`'s shape. The largest
    /// element of a group, as [`scatter_max`](crate::dialect::torch_scatter::scatter_max) gives it, is
    /// subtracted from its elements first. A group of nothing but -inf is NaN, and so is one that holds
    /// NaN or inf. 16-bit floats are computed in `f32` and rounded once.
    ///
    /// ```
    /// use strew::torch_scatter::scatter_softmax;
    ///
    /// let out = scatter_softmax(&[7.0f32, 1.0, 7.0], &[0i64, 2, 0], -1, None)?;
    /// assert_eq!(out.as_slice(), [0.5, 1.0, 0.5]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_logsumexp`].
    pub fn scatter_softmax, pub fn scatter_softmax_dyn = lower_softmax;
    const SCATTER_SOFTMAX = "torch_scatter.scatter_softmax":
        "The softmax of the elements of src that share an index along dim";
}

rows! {
    (
        src: tensor<T> => FLOATS;
        index: tensor => INDEX;
        dim: int = -1 => DIM;
        eps: scalar = 1e-12 => EPSILON;
        dim_size: optional_int => DIM_SIZE;
    ) -> out;

    const SCATTER_LOG_SOFTMAX = "torch_scatter.scatter_log_softmax":
        "The logarithm of the softmax of the elements of src that share an index along dim"
        = lower_log_softmax;
}

/// The standard deviation of the elements of `src` that share an index along `dim`.
///
/// torch_scatter's `scatter_std`; `index`, `dim` and `dim_size` are as for
/// [`scatter`](crate::dialect::torch_scatter::scatter). Of n elements it is the square root of the
/// sum of the squared differences from their mean, divided by `n - 1` (`unbiased`) or by n, at
/// least by 1, and 1e-6 more.
///
/// Groups without elements are 0. 16-bit floats are computed in `f32` and rounded once.
///
/// ```
/// use strew::torch_scatter::scatter_std;
///
/// let out = scatter_std(&[1.0f64, 3.0, 4.0], &[2i64, 2, 0], -1, None, false)?;
/// assert_eq!(out.shape(), [3]);
/// assert!((out.as_slice()[2] - 1.0).abs() < 1e-6);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Index`] for a wrong `dim` and for a 0-d `src`, [`Class::NotImplemented`] for bool and
/// complex numbers, [`Class::Value`] for integers, of which [`scatter_std_dyn`] makes `f32`,
/// [`Class::Runtime`] for everything else: shapes that do not expand, index types, indices out of
/// range.
pub fn scatter_std<T: Element, I: Index>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    dim_size: Option<usize>,
    unbiased: bool,
) -> Result<Tensor<T>> {
    let name = "torch_scatter.scatter_std";
    if T::DTYPE.is_integer() {
        return Err(context(name, class).error(Problem::DType {
            argument: "src",
            found: T::DTYPE,
            expected: "its result is float32, which only scatter_std_dyn can give".into(),
        }));
    }
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    let made = scatter_std_dyn(src, index, dim, None, size(dim_size), unbiased)?;
    Ok(typed(made.tensor))
}

/// [`scatter_std`] with `out=`: what `out` holds is added to the sums of squared differences, and
/// the results are written to it.
///
/// ```
/// use strew::torch_scatter::scatter_std_out;
///
/// let mut out = [2.0f64, 9.0];
/// scatter_std_out(&[1.0, 3.0], &[0i64, 0], -1, &mut out, true)?;
/// assert!((out[0] - 2.0).abs() < 1e-5 && (out[1] - 3.0).abs() < 1e-5);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_std`]; `out` is then unchanged.
pub fn scatter_std_out<'a, T: Element, I: Index>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    out: impl Into<TensorViewMut<'a, T>>,
    unbiased: bool,
) -> Result<()> {
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    let out = Some(out.into().into_dyn());
    scatter_std_dyn(src, index, dim, out, None, unbiased)?;
    Ok(())
}

/// [`scatter_std`] with element types known at run time; of integers, computed in `f64`, the result
/// is `f32`.
///
/// With `out`, writes to it and returns nothing; see [`scatter_std_out`].
///
/// # Errors
/// As [`scatter_std`].
pub fn scatter_std_dyn<'a>(
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
    unbiased: bool,
) -> Result<Output> {
    let name = "torch_scatter.scatter_std";
    lower_std(name, src, index, dim, out, dim_size, unbiased)?.run()
}

/// [`scatter_logsumexp`] with `out=`: what `out` holds counts as one more element, and stays where
/// the result would be infinite or NaN, as it is for groups without elements.
///
/// ```
/// use strew::torch_scatter::scatter_logsumexp_out;
///
/// let mut out = [0.0f64, -10.0];
/// scatter_logsumexp_out(&[0.0], &[0i64], -1, &mut out, 1e-12)?;
/// assert!((out[0] - 2f64.ln()).abs() < 1e-11);
/// assert_eq!(out[1], -10.0);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_logsumexp`]; `out` is then unchanged.
pub fn scatter_logsumexp_out<'a, T: Element, I: Index>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    out: impl Into<TensorViewMut<'a, T>>,
    eps: f64,
) -> Result<()> {
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    let out = Some(out.into().into_dyn());
    scatter_logsumexp_dyn(src, index, dim, out, None, eps)?;
    Ok(())
}

/// The logarithm of the softmax of the elements of `src` that share an index along `dim`.
///
/// torch_scatter's `scatter_log_softmax`; see [`scatter_softmax`]. With m the largest element of a
/// group it is `x - m - ln(sum of exp(x - m) + eps)`. torch_scatter's `eps` is 1e-12.
///
/// ```
/// use strew::torch_scatter::scatter_log_softmax;
///
/// let out = scatter_log_softmax(&[7.0f64, 7.0], &[0i64, 0], -1, None, 1e-12)?;
/// assert!((out.as_slice()[1] + 2f64.ln()).abs() < 1e-11);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_logsumexp`].
pub fn scatter_log_softmax<T: Element, I: Index>(
    src: impl AsTensor<T>,
    index: impl AsTensor<I>,
    dim: i64,
    dim_size: Option<usize>,
    eps: f64,
) -> Result<Tensor<T>> {
    let (src, index) = (src.as_tensor().of_rust(), index.as_tensor().of_rust());
    let made = scatter_log_softmax_dyn(src, index, dim, size(dim_size), eps)?;
    Ok(typed(made.tensor))
}

/// [`scatter_log_softmax`] with element types known at run time, and the same errors.
pub fn scatter_log_softmax_dyn<'a>(
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    dim_size: Option<i64>,
    eps: f64,
) -> Result<Output> {
    let name = "torch_scatter.scatter_log_softmax";
    lower_log_softmax(name, src, index, dim, eps.into(), dim_size)?.run()
}

fn size(dim_size: Option<usize>) -> Option<i64> {
    dim_size.map(int)
}

fn class(problem: &Problem) -> Class {
    match problem {
        Problem::DType {
            argument: "src", ..
        } => Class::Value,
        Problem::Value { argument, .. } if argument == "eps" => Class::Type,
        other => crate::dialect::torch_scatter::class(other),
    }
}

fn lower_std<'a>(
    name: &'static str,
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
    unbiased: bool,
) -> Result<Call<'a>> {
    let what = Composite::Std { unbiased };
    lower(name, what, src, index, dim, out, dim_size)
}

fn lower_logsumexp<'a>(
    name: &'static str,
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
    eps: Scalar,
) -> Result<Call<'a>> {
    let eps = real(name, eps)?;
    lower(
        name,
        Composite::LogSumExp { eps },
        src,
        index,
        dim,
        out,
        dim_size,
    )
}

fn lower_softmax<'a>(
    name: &'static str,
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    dim_size: Option<i64>,
) -> Result<Call<'a>> {
    lower(name, Composite::Softmax, src, index, dim, None, dim_size)
}

fn lower_log_softmax<'a>(
    name: &'static str,
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    eps: Scalar,
    dim_size: Option<i64>,
) -> Result<Call<'a>> {
    let eps = real(name, eps)?;
    lower(
        name,
        Composite::LogSoftmax { eps },
        src,
        index,
        dim,
        None,
        dim_size,
    )
}

fn real(name: &'static str, eps: Scalar) -> Result<f64> {
    let wrong = || wrong_value("eps", eps, "it must be a real number");
    eps.real()
        .ok_or_else(|| context(name, class).error(wrong()))
}

fn lower<'a>(
    name: &'static str,
    what: Composite,
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
) -> Result<Call<'a>> {
    let context = context(name, class);
    context.call(describe(what, src, index, dim, out, dim_size))
}

fn describe<'a>(
    what: Composite,
    src: DynView<'a>,
    index: DynView<'a>,
    dim: i64,
    out: Option<DynViewMut<'a>>,
    dim_size: Option<i64>,
) -> Result<Composed<'a>, Problem> {
    let dtype = src.dtype();
    match what {
        Composite::Std { .. } if dtype == DType::Bool || dtype.is_complex() => {
            return Err(Problem::Unsupported {
                what: what.name().into(),
                dtype,
            });
        }
        Composite::Std { .. } => {}
        _ => expect_dtype(
            "src",
            dtype,
            dtype.is_float(),
            "it must be a floating-point type",
        )?,
    }
    let (dim, expanded, place) = groups(&src, &index, dim)?;
    let mut shape = src.dims();
    match &out {
        None => shape[dim] = groups_along(&src, &index, &expanded, dim_size)?,
        Some(out) => {
            let wanted = what.dtype(dtype);
            let fits = out.dtype() == wanted;
            let why = format_args!("it must be the result's dtype, {wanted}");
            expect_dtype("out", out.dtype(), fits, why)?;
            check_out_shape(&src, out, dim, false)?;
            shape[dim] = out.shape()[dim];
        }
    }
    let bounds = Bounds::STRICT;
    let cells = Destinations::elements(&shape, "index", &expanded, dim, place, bounds)?;
    Composed::new(what, cells, src, out)
}
