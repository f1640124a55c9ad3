//! What the operators on segments check, and where they write.

use crate::dialect::framework::checks::{expect_axes, expect_dtype_of, expect_torch_index};
use strew_engine::checks::expect_shape;
use strew_engine::describe::destinations::Place;
use strew_engine::describe::{Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DynView, DynViewMut};

pub(super) fn target<'a>(
    src: &DynView<'_>,
    out: Option<DynViewMut<'a>>,
    start: Start<'a>,
) -> Target<'a> {
    match out {
        Some(view) => Target::InPlace {
            argument: "out",
            view,
        },
        None => Target::New {
            dtype: src.dtype(),
            start,
        },
    }
}

/// All axes of the array that says where are its own.
pub(super) fn place(dim: usize) -> Place {
    Place {
        axes: 0..dim + 1,
        tuple: None,
    }
}

/// The last axis of the array that says where, of the type and rank that it may have.
pub(super) fn check_ranks(
    src: &DynView<'_>,
    argument: &'static str,
    index: &DynView<'_>,
) -> Result<usize, Problem> {
    expect_axes("src", src.shape())?;
    let fits = (1..=src.rank()).contains(&index.rank());
    expect_shape(argument, index.shape(), fits, || {
        format!("it must have from 1 to src's {} dimensions", src.rank())
    })?;
    expect_torch_index(argument, index)?;
    Ok(index.rank() - 1)
}

pub(super) fn expand<'a>(
    argument: &'static str,
    index: &DynView<'a>,
    shape: &[usize],
) -> Result<DynView<'a>, Problem> {
    index.broadcast_to(shape).ok_or_else(|| Problem::Shape {
        argument,
        found: index.shape().to_vec(),
        expected: format!("it must expand to {shape:?}, as src's shape asks"),
    })
}

/// `out` has `src`'s type, and its shape apart from one axis.
pub(super) fn check_out(
    src: &DynView<'_>,
    out: &DynViewMut<'_>,
    dim: usize,
) -> Result<(), Problem> {
    expect_dtype_of("out", out.dtype(), "src", src.dtype())?;
    check_out_shape(src, out, dim, false)
}

/// `out` has `src`'s shape apart from one axis, or is larger if that is allowed.
pub(super) fn check_out_shape(
    src: &DynView<'_>,
    out: &DynViewMut<'_>,
    dim: usize,
    larger_too: bool,
) -> Result<(), Problem> {
    let (from, to) = (src.shape(), out.shape());
    let fits = to.len() == from.len()
        && (0..from.len()).all(|k| k == dim || to[k] == from[k] || (larger_too && to[k] > from[k]));
    expect_shape("out", to, fits, || {
        format!("it must be src's shape {from:?} apart from dimension {dim}")
    })
}
