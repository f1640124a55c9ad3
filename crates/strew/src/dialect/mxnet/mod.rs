//! Apache MXNet: index tuples run along the *first* axis of `indices`.
//!
//! Source of the semantics: MXNet 1.9.1, `src/operator/tensor/indexing_op.h` and the operator's
//! document; see also `COMPARE.md`.

pub(crate) mod out;

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::{self, Call, Describe, Work};
use crate::dialect::framework::checks::expect_dtype_of;
use crate::dialect::framework::declaration::*;
use crate::dialect::framework::operator::int;
use crate::dialect::framework::scatter_forms::in_place;
use smallvec::SmallVec;
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::context::Context;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::gather::Gather;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::{Class, Problem};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Dims};

pub use out::*;
/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[SCATTER_ND, SCATTER_SET_ND, GATHER_ND, BACKWARD_GATHER_ND];

const INDICES: &str =
    "index tuples, of shape (M, Y0, ..), M <= 10; any real dtype, floats are truncated toward zero";

const WRAPPING: &str =
    "index tuples, of shape (M, Y0, ..), M <= 10; any real dtype; negative counts from the end";

const SHAPE: &str = "shape of the output";

rows! {
    (
        data: tensor<T> => "updates, of shape indices.shape[1:] + shape[M:], any dtype";
        indices: tensor => INDICES;
        shape: integers => SHAPE;
        name: optional_word => "a label for errors and plans";
        out: optional_target => out::OUT;
        req: text = "write" => out::REQ, out::REQS;
    ) -> out;

    const SCATTER_ND = "mxnet.scatter_nd":
        "Scatters data into a new tensor of zeros by index tuples along the first axis; of duplicates the last stays"
        = lower_table;
}

operators! {
    <'a, T: Element, I: Element> dyn<'a> (
        lhs: target<T> => "the tensor to change, any dtype";
        rhs: tensor<T> => "updates, of shape indices.shape[1:] + shape[M:] and lhs's dtype";
        indices: tensor<I> => INDICES;
        shape: integers => "lhs's shape";
    ) -> in place lhs;

    /// Writes slices of `rhs` into `lhs`, in place, where [`scatter_nd`] would write them: other
    /// cells stay as they are. `shape` must be `lhs`'s.
    ///
    /// MXNet names this operator `_scatter_set_nd`.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let mut lhs = array![[1.0f32, 1.0], [1.0, 1.0]];
    /// strew::mxnet::scatter_set_nd(&mut lhs, &[2.0f32, 3.0], &array![[1, 0], [0, 1]], &[2, 2])?;
    /// assert_eq!(lhs, array![[1.0, 3.0], [2.0, 1.0]]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_nd`]; [`Class::Type`] if `rhs` has another type. `lhs` is then unchanged.
    pub fn scatter_set_nd, pub fn scatter_set_nd_dyn = lower_set;
    const SCATTER_SET_ND = "mxnet.scatter_set_nd":
        "Writes slices of rhs into lhs, in place, by index tuples along the first axis; of duplicates the last stays";
}

/// Scatters `data` into a new tensor of zeros: the cells that the tuples `indices[:, y]` name get
/// the slices `data[y]`. Of duplicates the last one, in row-major order, stays.
///
/// * `data`: shape `indices.shape[1:] + shape[M..]`, any element type.
/// * `indices`: shape `(M, Y0, .., Yk-1)` with `1 <= M <= min(10, shape.len())`; any integer type,
///   or floats, which are truncated toward zero.
/// * `name` labels errors.
///
/// MXNet does not check indices; here a negative or too large one is an error. MXNet calls the
/// result of duplicates non-deterministic; here the last one always stays.
///
/// ```
/// let out = strew::mxnet::scatter_nd(
///     &[2.0f32, 3.0, 0.0],
///     &ndarray::array![[1, 1, 0], [0, 1, 0]],
///     &[2, 2],
///     None,
/// )?;
/// assert_eq!(out.as_slice(), [0.0, 0.0, 2.0, 3.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Value`] for shapes that do not fit, [`Class::Type`] for a bool or complex index,
/// [`Class::Index`] for an index that names no cell.
pub fn scatter_nd<T: Element, I: Element>(
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    shape: &[usize],
    name: Option<&str>,
) -> Result<Tensor<T>> {
    // A size beyond i64 is beyond memory as well.
    let sizes: SmallVec<[i64; 4]> = shape.iter().map(|&n| int(n)).collect();
    let (data, indices) = (data.as_tensor().of_rust(), indices.as_tensor().of_rust());
    lower(data, indices, &Integers::from(&sizes[..]), name)?.run_typed()
}

/// [`scatter_nd`] with element types known at run time, and the same errors.
pub fn scatter_nd_dyn(
    data: DynView<'_>,
    indices: DynView<'_>,
    shape: &[i64],
    name: Option<&str>,
) -> Result<DynTensor> {
    lower(data, indices, &Integers::from(shape), name)?.run_dyn()
}

operators! {
    <T: Element, I: Element> dyn (
        data: tensor<T> => "the tensor to read from, any dtype";
        indices: tensor<I> => WRAPPING;
        ~ out: optional_target => out::OUT;
        ~ req: text = "write" => out::REQ, out::REQS;
    ) -> out;

    /// The slices of `data` that the tuples `indices[:, y]` name. Bits are copied.
    ///
    /// * `indices`: shape `(M, Y0, .., Yk-1)` with `1 <= M <= min(10, data.rank())`; any integer
    ///   type, or floats, which are truncated toward zero. Negative ones count from the end.
    /// * The result has the shape `indices.shape[1:] + data.shape[M..]`.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::mxnet::gather_nd(&array![[1, 2], [3, 4]], &array![[0i64, -1], [1, 0]])?;
    /// assert_eq!(out.as_slice(), [2, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_nd`].
    pub fn gather_nd, pub fn gather_nd_dyn = lower_gather_table;
    const GATHER_ND = "mxnet.gather_nd":
        "The slices of data that index tuples along the first axis name";
}

operators! {
    <T: Element, I: Element> dyn (
        data: tensor<T> =>
            "updates, of shape indices.shape[1:] + shape[M:]; any dtype but int8 and uint8";
        indices: tensor<I> => WRAPPING;
        shape: integers => SHAPE;
        ~ out: optional_target => out::OUT;
        ~ req: text = "write" => out::REQ, out::REQS;
    ) -> out;

    /// The gradient of [`gather_nd`]: slices of `data` are added into a new tensor of zeros, so
    /// that those that go to the same cells all count. Negative indices count from the end, as
    /// there.
    ///
    /// MXNet names this operator `_backward_gather_nd`.
    ///
    /// ```
    /// use ndarray::array;
    ///
    /// let out = strew::mxnet::backward_gather_nd(&[1, 2, 3], &array![[0, 1, 0]], &[2])?;
    /// assert_eq!(out.as_slice(), [4, 2]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`scatter_nd`]; [`Class::Type`] for `i8` and `u8`.
    pub fn backward_gather_nd, pub fn backward_gather_nd_dyn = lower_backward_table;
    const BACKWARD_GATHER_ND = "mxnet.backward_gather_nd":
        "Adds data into a new tensor of zeros by index tuples along the first axis: gather_nd's gradient";
}

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::IndexOutOfBounds { .. } => Class::Index,
        Problem::DType { .. } | Problem::Kind { .. } => Class::Type,
        _ => Class::Value,
    }
}

fn lower_table<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
    name: Option<&str>,
    out: Option<DynViewMut<'a>>,
    req: &str,
) -> Result<Call<'a>> {
    let context = labelled(operator, name);
    match out::wanted(out, req) {
        Ok(None) => call(context, describe(data, indices, shape)),
        Ok(Some(out)) => out::lower_scatter(context, data, indices, shape, out),
        Err(problem) => Err(context.error(problem)),
    }
}

fn lower_gather_table<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    out: Option<DynViewMut<'a>>,
    req: &str,
) -> Result<Call<'a>> {
    match out::wanted(out, req) {
        Ok(None) => lower_gather(operator, data, indices),
        Ok(Some(out)) => out::lower_gather(data, indices, out),
        Err(problem) => Err(context(operator).error(problem)),
    }
}

fn lower_backward_table<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
    out: Option<DynViewMut<'a>>,
    req: &str,
) -> Result<Call<'a>> {
    match out::wanted(out, req) {
        Ok(None) => lower_backward(operator, data, indices, shape),
        Ok(Some(out)) => out::lower_backward(data, indices, shape, out),
        Err(problem) => Err(context(operator).error(problem)),
    }
}

fn lower<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
    name: Option<&str>,
) -> Result<Call<'a>> {
    call(
        labelled("mxnet.scatter_nd", name),
        describe(data, indices, shape),
    )
}

fn labelled(operator: &'static str, name: Option<&str>) -> Context {
    Context {
        operator: match name {
            Some(name) => format!("{operator} '{}'", name.escape_debug()).into(),
            None => operator.into(),
        },
        class,
    }
}

fn lower_set<'a>(
    operator: &'static str,
    lhs: DynViewMut<'a>,
    rhs: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
) -> Result<Call<'a>> {
    call(context(operator), describe_set(lhs, rhs, indices, shape))
}

fn lower_gather<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
) -> Result<Call<'a>> {
    let places = destinations(&indices, data.shape(), WRAP);
    let described = places.and_then(|places| Gather::new(places, data));
    call(context(operator), described)
}

fn lower_backward<'a>(
    operator: &'static str,
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
) -> Result<Call<'a>> {
    call(context(operator), describe_backward(data, indices, shape))
}

pub(crate) fn context(operator: &'static str) -> Context {
    call::context(operator, class)
}

pub(crate) fn call<'a>(
    context: Context,
    described: Result<impl Into<Work<'a>>, Problem>,
) -> Result<Call<'a>> {
    context.call(described)
}

fn describe<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
) -> Result<Scatter<'a>, Problem> {
    let destinations = destinations(&indices, &shape.sizes("shape")?, Bounds::STRICT)?;
    into_zeros(Combine::Assign, destinations, data, &indices)
}

fn describe_backward<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
) -> Result<Scatter<'a>, Problem> {
    expect_wide(data.dtype())?;
    let destinations = destinations(&indices, &shape.sizes("shape")?, WRAP)?;
    into_zeros(Combine::Sum, destinations, data, &indices)
}

pub(crate) fn expect_wide(dtype: DType) -> Result<(), Problem> {
    let small = matches!(dtype, DType::I8 | DType::U8);
    expect_dtype("data", dtype, !small, "it must not be int8 or uint8")
}

fn into_zeros<'a>(
    combine: Combine,
    destinations: Destinations<'a>,
    data: DynView<'a>,
    indices: &DynView<'_>,
) -> Result<Scatter<'a>, Problem> {
    expect_slices("data", &data, indices, &destinations)?;
    let target = Target::New {
        dtype: data.dtype(),
        start: Start::Zero,
    };
    Scatter::new(
        destinations,
        Reduction::into_self(combine),
        "data",
        data,
        target,
    )
}

fn describe_set<'a>(
    lhs: DynViewMut<'a>,
    rhs: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
) -> Result<Scatter<'a>, Problem> {
    let shape = shape.sizes("shape")?;
    expect_shape("lhs", lhs.shape(), lhs.shape() == &*shape, || {
        format!("it must be shape, {shape:?}")
    })?;
    expect_dtype_of("rhs", rhs.dtype(), "lhs", lhs.dtype())?;
    let destinations = destinations(&indices, &shape, Bounds::STRICT)?;
    expect_slices("rhs", &rhs, &indices, &destinations)?;
    let reduction = Reduction::into_self(Combine::Assign);
    in_place(("lhs", lhs), destinations, reduction, "rhs", rhs)
}

pub(crate) fn expect_slices(
    argument: &'static str,
    data: &DynView<'_>,
    indices: &DynView<'_>,
    destinations: &Destinations<'_>,
) -> Result<(), Problem> {
    let (depth, wanted) = (indices.shape()[0], destinations.updates_shape());
    expect_shape(argument, data.shape(), data.shape() == wanted, || {
        format!("it must be indices.shape[1:] + shape[{depth}:] = {wanted:?}")
    })
}

/// The cells of an output of this shape that the tuples name.
#[inline(always)] // As a scatter: it is made where it stays.
pub(crate) fn destinations<'a>(
    indices: &DynView<'a>,
    shape: &[usize],
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    let found = indices.shape();
    expect_shape("indices", found, found.len() >= 2, || {
        "it must have at least two dimensions, (M, Y0, ..)".into()
    })?;
    let depth = found[0];
    expect_shape(
        "indices",
        found,
        (1..=shape.len().min(10)).contains(&depth),
        || {
            format!(
                "its first dimension M must be from 1 to {}, the smaller of 10 and the rank of shape {shape:?}",
                shape.len().min(10)
            )
        },
    )?;
    expect_dtype(
        "indices",
        indices.dtype(),
        !indices.dtype().is_complex() && indices.dtype() != DType::Bool,
        "it must be an integer or floating-point type",
    )?;
    let components = (0..depth).filter_map(|m| indices.select(0, m));
    let components: SmallVec<[_; 2]> = components.collect();
    let axes: Dims = (0..depth).collect();
    Destinations::rows(shape, "indices", &components, &axes, Some(0), bounds)
}
