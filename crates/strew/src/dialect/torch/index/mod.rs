//! `index_add`, `index_copy`, `index_fill`, `index_reduce`: slices that a vector names along one
//! axis. This file has what they share.

pub(super) mod add;
pub(super) mod copy;
pub(super) mod fill;
pub(super) mod reduce;

use crate::dialect::framework::checks::is_rust_index;
use crate::dialect::torch::{Input, Refusal, index_error};
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::{Destinations, Place};
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{DType, Dims, DynView, Held};

pub(super) const INDEX: &str =
    "where along dim each slice of source goes: int32 or int64, 1-d or 0-d";

pub(super) const LONG: &str = "the slices along dim that are written: int64, 1-d or 0-d";

pub(super) const SOURCE: &str =
    "the slices, of input's dtype: input's shape, but for dim as many as index has elements";

/// What `index_add` and `index_reduce` want of index and source, in PyTorch's order.
pub(super) fn expect_slices(
    name: &str,
    input: &Input<'_>,
    dim: usize,
    index: &DynView<'_>,
    source: &DynView<'_>,
) -> Result<(), Refusal> {
    expect_shape("index", index.shape(), index.rank() <= 1, || {
        format!(
            "{name}_(): Index is supposed to be a vector, but got dim: {}",
            index.rank()
        )
    })
    .map_err(index_error)?;
    expect_dtype(
        "index",
        index.dtype(),
        matches!(index.dtype(), DType::I32 | DType::I64) || is_rust_index(index),
        format_args!("{name}_(): Expected dtype int32/int64 for index"),
    )?;
    expect_dtype(
        "source",
        source.dtype(),
        source.dtype() == input.dtype(),
        format_args!(
            "{name}_(): self ({}) and source must have the same scalar type",
            input.dtype()
        ),
    )?;
    let (shape, found) = (input.shape(), source.shape());
    expect_shape("source", found, dim == 0 || dim < found.len(), || {
        format!(
            "{name}_(): Indexing dim {dim} is out of bounds of the source tensor with dim {}",
            found.len()
        )
    })?;
    let slices = found.get(dim).copied().unwrap_or(1);
    expect_shape("source", found, index.len() == slices, || {
        format!(
            "{name}_(): Number of indices ({}) should be equal to source.size(dim): ({slices}), for dim: {dim}",
            index.len()
        )
    })?;
    let alike = match (shape.len(), found.len()) {
        (0, _) | (_, 0) => shape == found,
        _ => without(shape, dim) == without(found, dim),
    };
    expect_shape("source", found, alike, || {
        format!(
            "source tensor shape must match self tensor shape, excluding the specified dimension. \
             Got self.shape = {shape:?}"
        )
    })?;
    Ok(())
}

/// The sizes of all axes but one.
pub(super) fn without(shape: &[usize], axis: usize) -> Dims {
    let others = shape.iter().enumerate().filter(|&(a, _)| a != axis);
    others.map(|(_, &size)| size).collect()
}

pub(super) fn at_least_1d(shape: &[usize]) -> Dims {
    Dims::from_slice(if shape.is_empty() { &[1] } else { shape })
}

/// Slices along `dim` that a vector names.
pub(super) fn along<'a>(
    input: Input<'a>,
    dim: usize,
    index: &DynView<'a>,
    updates: &'static str,
    source: Held<'a>,
    reduction: Reduction,
    bounds: Bounds,
) -> Result<Scatter<'a>, Refusal> {
    let (scalar, whole) = (input.shape().is_empty(), at_least_1d(input.shape()));
    let flat = |view: &DynView<'_>| view.rank() == 0;
    let source = match flat(source.view()) {
        true => source.map(|view| Some(view.at_least_1d())),
        false => Some(source),
    };
    let place = Place {
        axes: dim..dim + index.rank(),
        tuple: None,
    };
    let mut vector = index.at_least_1d();
    for _ in 0..dim {
        vector = vector.insert_axis(0);
    }
    while vector.rank() < whole.len() {
        vector = vector.insert_axis(vector.rank());
    }
    let mut slices = whole.clone();
    slices[dim] = index.len();
    let (Some(source), Some(vector)) = (source, vector.broadcast_to(&slices)) else {
        return Err(Refusal::from(Problem::Layout {
            argument: "index".into(),
            why: format!("it cannot be repeated to shape {slices:?}"),
        }));
    };
    let destinations = Destinations::elements(&whole, "index", &vector, dim, place, bounds)?;
    let scatter = Scatter::new(destinations, reduction, updates, source, input.target())?;
    Ok(match scalar {
        true => scatter.shaped(&[]),
        false => scatter,
    })
}
