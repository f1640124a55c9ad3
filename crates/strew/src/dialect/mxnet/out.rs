//! `req`: results that go into memory of the caller's, in place of what it holds or on top of it.

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::{Call, Work};
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::into_out::{Delivered, Made};
use crate::dialect::framework::operator::{Integers, int};
use crate::dialect::mxnet::{call, context, destinations, expect_slices, expect_wide};
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::context::Context;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::gather::Gather;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::{Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{AsTensor, DType, DynView, DynViewMut, Element, TensorViewMut};

/// What becomes of what `out` holds: MXNet's `OpReqType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Req {
    /// It is replaced; where no slice goes, by zeros.
    #[default]
    Write,
    /// Every slice is added to it, also those that go to the same cells.
    Add,
}

pub(super) const OUT: &str =
    "memory for the result, of its shape and data's dtype; None: new memory";

pub(super) const REQ: &str = "whether the result replaces what out holds or is added to it";

pub(super) const REQS: &[&str] = &["write", "add"];

/// Memory for the result, and what becomes of what it holds.
pub(super) type Out<'a> = (DynViewMut<'a>, Req);

/// `out` and `req`, as they were passed.
pub(super) fn wanted<'a>(
    out: Option<DynViewMut<'a>>,
    req: &str,
) -> Result<Option<Out<'a>>, Problem> {
    let refuse = |value: &str, expected: &str| Err(wrong_value("req", value, expected));
    match (req, out) {
        ("write", out) => Ok(out.map(|out| (out, Req::Write))),
        ("add", Some(out)) => Ok(Some((out, Req::Add))),
        ("add", None) => refuse("add", "there must be an out that it is added to"),
        (other, _) => refuse(other, "it must be write or add"),
    }
}

/// [`scatter_nd`](crate::dialect::mxnet::scatter_nd) into memory of the caller's, of the shape of
/// the result.
///
/// * [`Req::Write`]: `out` becomes the result, zeros included.
/// * [`Req::Add`]: every slice is added to what `out` holds, in row-major order: of duplicates all
///   count.
///
/// ```
/// use ndarray::array;
/// use strew::mxnet::{Req, scatter_nd_into};
///
/// let mut out = [10, 20, 30];
/// scatter_nd_into(&mut out, &[1, 2, 4], &array![[1, 1, 0]], Req::Add)?;
/// assert_eq!(out, [14, 23, 30]);
/// scatter_nd_into(&mut out, &[1, 2, 4], &array![[1, 1, 0]], Req::Write)?;
/// assert_eq!(out, [4, 2, 0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_nd`](crate::dialect::mxnet::scatter_nd); [`Class::Value`](crate::Class::Value) for
/// an `out` that shares memory with an argument. `out` is then unchanged.
pub fn scatter_nd_into<'a, T: Element, I: Element>(
    out: impl Into<TensorViewMut<'a, T>>,
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    req: Req,
) -> Result<()> {
    let (data, indices) = (data.as_tensor().of_rust(), indices.as_tensor().of_rust());
    scatter_nd_into_dyn(out.into().into_dyn(), data, indices, req)
}

/// [`scatter_nd_into`] with element types known at run time.
///
/// # Errors
/// As [`scatter_nd_into`]; [`Class::Type`](crate::Class::Type) if `out` has another type than
/// `data`.
pub fn scatter_nd_into_dyn<'a>(
    out: DynViewMut<'a>,
    data: DynView<'a>,
    indices: DynView<'a>,
    req: Req,
) -> Result<()> {
    let shape = sizes(&out);
    let context = context("mxnet.scatter_nd");
    lower_scatter(
        context,
        data,
        indices,
        &Integers::from(&shape[..]),
        (out, req),
    )?
    .run_in_place()
}

/// [`gather_nd`](crate::dialect::mxnet::gather_nd) into memory of the caller's, of the shape of the
/// result; see [`scatter_nd_into`].
///
/// ```
/// use ndarray::array;
/// use strew::mxnet::{Req, gather_nd_into};
///
/// let mut out = [10, 20];
/// gather_nd_into(&mut out, &[1, 2, 4], &array![[2i64, -3]], Req::Add)?;
/// assert_eq!(out, [14, 21]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_nd_into`].
pub fn gather_nd_into<'a, T: Element, I: Element>(
    out: impl Into<TensorViewMut<'a, T>>,
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    req: Req,
) -> Result<()> {
    let (data, indices) = (data.as_tensor().of_rust(), indices.as_tensor().of_rust());
    gather_nd_into_dyn(out.into().into_dyn(), data, indices, req)
}

/// [`gather_nd_into`] with element types known at run time.
///
/// # Errors
/// As [`scatter_nd_into_dyn`].
pub fn gather_nd_into_dyn<'a>(
    out: DynViewMut<'a>,
    data: DynView<'a>,
    indices: DynView<'a>,
    req: Req,
) -> Result<()> {
    lower_gather(data, indices, (out, req))?.run_in_place()
}

/// [`backward_gather_nd`](crate::dialect::mxnet::backward_gather_nd) into memory of the caller's,
/// of the shape of the result; see [`scatter_nd_into`].
///
/// ```
/// use ndarray::array;
/// use strew::mxnet::{Req, backward_gather_nd_into};
///
/// let mut out = [10, 20];
/// backward_gather_nd_into(&mut out, &[1, 2, 4], &array![[1i64, -1, 0]], Req::Write)?;
/// assert_eq!(out, [4, 3]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_nd_into`].
pub fn backward_gather_nd_into<'a, T: Element, I: Element>(
    out: impl Into<TensorViewMut<'a, T>>,
    data: impl AsTensor<T>,
    indices: impl AsTensor<I>,
    req: Req,
) -> Result<()> {
    let (data, indices) = (data.as_tensor().of_rust(), indices.as_tensor().of_rust());
    backward_gather_nd_into_dyn(out.into().into_dyn(), data, indices, req)
}

/// [`backward_gather_nd_into`] with element types known at run time.
///
/// # Errors
/// As [`scatter_nd_into_dyn`].
pub fn backward_gather_nd_into_dyn<'a>(
    out: DynViewMut<'a>,
    data: DynView<'a>,
    indices: DynView<'a>,
    req: Req,
) -> Result<()> {
    let shape = sizes(&out);
    lower_backward(data, indices, &Integers::from(&shape[..]), (out, req))?.run_in_place()
}

fn sizes(out: &DynViewMut<'_>) -> Vec<i64> {
    let size = |&n: &usize| int(n);
    out.shape().iter().map(size).collect()
}

pub(super) fn lower_scatter<'a>(
    context: Context,
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
    out: Out<'a>,
) -> Result<Call<'a>> {
    let describe = || {
        let to = destinations(&indices, &shape.sizes("shape")?, Bounds::STRICT)?;
        expect_slices("data", &data, &indices, &to)?;
        scattered(Combine::Assign, to, data, out)
    };
    call(context, describe())
}

pub(super) fn lower_backward<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
    out: Out<'a>,
) -> Result<Call<'a>> {
    let describe = || {
        expect_wide(data.dtype())?;
        let to = destinations(&indices, &shape.sizes("shape")?, WRAP)?;
        expect_slices("data", &data, &indices, &to)?;
        scattered(Combine::Sum, to, data, out)
    };
    call(context("mxnet.backward_gather_nd"), describe())
}

pub(super) fn lower_gather<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    (out, req): Out<'a>,
) -> Result<Call<'a>> {
    let describe = || {
        let places = destinations(&indices, data.shape(), WRAP)?;
        expect_out(&out, places.updates_shape(), data.dtype())?;
        let combine = match req {
            Req::Write => Combine::Assign,
            Req::Add => Combine::Sum,
        };
        let made = Made::Gather(Gather::new(places, data)?, "data");
        Ok(Delivered::new(made, out, combine))
    };
    call(context("mxnet.gather_nd"), describe())
}

fn scattered<'a>(
    combine: Combine,
    to: Destinations<'a>,
    data: DynView<'a>,
    (out, req): Out<'a>,
) -> Result<Work<'a>, Problem> {
    let dtype = data.dtype();
    expect_out(&out, to.shape(), dtype)?;
    match req {
        Req::Add => {
            let target = Target::InPlace {
                argument: "out",
                view: out,
            };
            let sum = Reduction::into_self(Combine::Sum);
            Ok(Scatter::new(to, sum, "data", data, target)?.into())
        }
        Req::Write => {
            let start = Start::Zero;
            let target = Target::New { dtype, start };
            let reduction = Reduction::into_self(combine);
            let made = Scatter::new(to, reduction, "data", data, target)?;
            Ok(Delivered::new(Made::Scatter(made), out, Combine::Assign).into())
        }
    }
}

fn expect_out(out: &DynViewMut<'_>, shape: &[usize], dtype: DType) -> Result<(), Problem> {
    expect_shape("out", out.shape(), out.shape() == shape, || {
        format!("it must be the result's, {shape:?}")
    })?;
    let fits = out.dtype() == dtype;
    expect_dtype(
        "out",
        out.dtype(),
        fits,
        format_args!("it must be data's, {dtype}"),
    )
}
