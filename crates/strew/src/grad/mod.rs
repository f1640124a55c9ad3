//! Derivatives of the operators: plain functions, made of scatters and gathers.
//!
//! [`vjp`] is the *vector-Jacobian product* of any operator of the table: it takes the gradient of
//! the result back to the arguments, as an autograd's backward does. [`jvp`] is the *Jacobian-vector
//! product*: it takes tangents of the arguments to the tangent of the result. Nothing is recorded: a
//! function is given all that it needs. `torch`, `torch_scatter` and `plan` have functions for those
//! who keep the result of a call, or its positions, or its plan: they do not compute them again.
//!
//! ```
//! use strew::grad;
//! use strew::torch::{Reduce, scatter_reduce};
//!
//! let (input, index, src) = ([2.0, 1.0], [0i64, 0, 1], [3.0, 0.0, 5.0]);
//! let out = scatter_reduce(&input, 0, &index, &src, Reduce::Prod, true)?;
//! assert_eq!(out.as_slice(), [0.0, 5.0]);
//!
//! // A zero is no obstacle: its gradient is the product of the other factors.
//! let (to_input, to_src) =
//!     grad::torch::scatter_reduce_vjp(&[1.0, 1.0], &input, 0, &index, &src, &out, Reduce::Prod, true)?;
//! assert_eq!(to_input.as_slice(), [0.0, 5.0]);
//! assert_eq!(to_src.as_slice(), [0.0, 6.0, 1.0]);
//! # Ok::<(), strew::Error>(())
//! ```
//!
//! # The Jacobian of a scatter
//!
//! It has one entry for each update, its *weight* w: how the update's cell goes with it; and one
//! for each cell, how the cell goes with what it held before. The gradient of an update is its
//! cell's gradient times its weight; the tangent of a cell is the sum of its updates' tangents
//! times their weights, in the updates' order, added to its own.
//!
//! | reduction | weight of an update | and of the cell's own value, where it counts |
//! |---|---|---|
//! | sum | 1 | 1 |
//! | mean | 1/n, where n is how many are averaged | 1/n |
//! | product | the product of the other factors: P/f without a zero, with P the product; P of the others for the only zero; else 0 | the same |
//! | amax, amin | 1/n for each of the n that equal the result, else 0; zeros of both signs are equal, and so are NaN | the same |
//! | min, max | 1 for the first that no other beats, else 0 | the same; it comes before all updates |
//! | assign | 1 for the last one, else 0 | 0 |
//!
//! Where a cell's own value does not count (`include_self=False`), its weight is 0 if an update
//! goes to the cell; where none goes, it is 1. Indices have no gradient.
//!
//! * A weight of 0 that says "this one was not chosen" (amax, amin, min, max, assign,
//!   `include_self=False`) takes nothing: the gradient is +0 whatever the cell's is. In a mean and
//!   for amax and amin the gradient is divided by n, which is more exact than a multiplication by
//!   1/n.
//! * A factor's weight is a number like others: 0 times an infinite gradient is NaN.
//! * Complex numbers are as in PyTorch: a gradient is multiplied by the weight's conjugate, a
//!   tangent by the weight.
//! * 16-bit floats are computed in `f32` and rounded once. Other types have no gradients and are
//!   refused.
//! * Results have the same bits on any number of threads.
//!
//! A quotient of a cell has the weight 1/(the product of the updates) for the cell's own value, and
//! minus itself by the update for an update. Segments have the same weights. Deviations and
//! softmaxes, which are no folds, have rules of their own.
//!
//! A sum, a mean and an assignment are linear, so their Jacobian-vector product is the operator
//! itself, on tangents. Of all reductions here only the product has a second derivative:
//! [`double_vjp`].

// A derivative has the arguments of its operator, and gradients.
#![allow(clippy::too_many_arguments)]
// What the frameworks share: with some of them only, a part of it has no user.
#![cfg_attr(not(feature = "frameworks"), allow(dead_code))]

mod composite;
pub(crate) mod cotangents;
pub(crate) mod entries;
pub(crate) mod field;
pub(crate) mod forward;
pub(crate) mod passes;
pub mod plan;
pub(crate) mod products;
mod quotient;
pub(crate) mod route;
mod seen;
mod segment;
mod table;
pub(crate) mod tangents;
#[cfg(feature = "torch")]
pub mod torch;
#[cfg(feature = "torch_scatter")]
pub mod torch_scatter;

pub use table::{Gradients, double_vjp, jvp, vjp};

use crate::dialect::framework::call::Call;
pub(crate) use crate::dialect::framework::call::context;
use crate::dialect::framework::operator::{Arguments, Value, find};
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::gather::Gather;
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::{Class, Error, Problem, Result};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::tensor::{DType, Dims, DynTensor, DynView, Element, Strides, Tensor, shaped};

/// The classes of the problems of PyTorch's and torch_scatter's derivatives.
pub(crate) fn torch_class(problem: &Problem) -> Class {
    match problem {
        Problem::Axis { .. } => Class::Index,
        Problem::Unsupported { .. } => Class::NotImplemented,
        _ => Class::Runtime,
    }
}

/// The operator's checked call. Its errors are reported for the derivative `name`.
pub(crate) fn lowered<'a>(
    name: &'static str,
    operator: &str,
    values: impl IntoIterator<Item = (&'static str, Value<'a>)>,
) -> Result<Call<'a>> {
    let mut arguments = Arguments::new(find(operator).expect("it is listed"));
    for (argument, value) in values {
        let set = arguments.set_named(argument, value);
        set.map_err(renamed(name))?;
    }
    arguments.lower().map_err(renamed(name))
}

/// Gives an operator's error to the derivative `name`.
pub(crate) fn renamed(name: &'static str) -> impl Fn(Error) -> Error {
    move |error| Error::new(name, error.class(), error.problem().clone())
}

/// Refuses a type that has no gradients.
pub(crate) fn expect_field(argument: &'static str, dtype: DType) -> Result<(), Problem> {
    match dtype.is_float() || dtype.is_complex() {
        true => Ok(()),
        false => Err(field::no_gradient(argument, dtype)),
    }
}

/// Refuses an argument that is not of the type and shape of another.
pub(crate) fn expect_like(
    argument: &'static str,
    found: &DynView<'_>,
    of: &str,
    dtype: DType,
    shape: &[usize],
) -> Result<(), Problem> {
    let fits = found.dtype() == dtype;
    let wanted = format_args!("it must be {of} dtype, {dtype}");
    expect_dtype(argument, found.dtype(), fits, wanted)?;
    expect_shape(argument, found.shape(), found.shape() == shape, || {
        format!("it must be {of} shape, {shape:?}")
    })
}

/// The elements row by row: those of the caller where they lie so, else a copy.
fn in_row_order<'a>(view: &DynView<'a>) -> Result<route::Packed<'a>, Problem> {
    Ok(match view.layout().is_contiguous() {
        true => route::Packed::View(view.clone()),
        false => route::Packed::Copy(view.to_tensor()?),
    })
}

/// The tensor of a typed function, whose arguments had this type.
pub(crate) fn typed<T: Element>(made: DynTensor) -> Tensor<T> {
    made.typed()
        .expect("the output's type is that of the arguments")
}

/// What the cells hold that updates go to: one value for each update, in the updates' shape.
pub(crate) fn gathered(
    places: &Destinations<'_>,
    cells: &DynView<'_>,
) -> Result<DynTensor, Problem> {
    if places.updates_shape().contains(&0) {
        return DynTensor::zeros(cells.dtype(), places.updates_shape());
    }
    let made = Gather::new(places.by_ref(), cells.at_least_1d())?.run()?;
    Ok(made.tensor.expect("a gather makes a tensor"))
}

/// A tensor of zeros with the elements of `part` in its leading corner.
pub(crate) fn in_corner(part: DynTensor, shape: &[usize]) -> Result<DynTensor, Problem> {
    let whole = Dims::from_slice(if shape.is_empty() { &[1] } else { shape });
    if part.shape() == &*whole {
        return shaped(part, shape);
    }
    let (first, steps) = (
        Dims::from_elem(0, whole.len()),
        Strides::from_elem(1, whole.len()),
    );
    let corner = Destinations::affine(&whole, &first, &steps, part.shape())?;
    let target = Target::New {
        dtype: part.dtype(),
        start: Start::Zero,
    };
    let copy = Reduction::into_self(Combine::Assign);
    let made = Scatter::new(corner, copy, "src", part.view(), target)?.run()?;
    let made = made.tensor.expect("a scatter into a new tensor makes one");
    shaped(made, shape)
}
