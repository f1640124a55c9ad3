//! What the operators on segments check, and where they write.

use crate::dialect::framework::checks::{expect_axes, expect_dtype_of};
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_engine::scatter::destinations::Place;
use strew_engine::scatter::{Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DType, DynView, DynViewMut};

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
    if !index.is_empty() {
        expect_dtype(
            argument,
            index.dtype(),
            matches!(index.dtype(), DType::I32 | DType::I64),
            "Expected dtype int32/int64 for index",
        )?;
    }
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

/// Whether `out` is of `src`'s type, and of its shape but for one axis.
pub(super) fn check_out(
    src: &DynView<'_>,
    out: &DynViewMut<'_>,
    dim: usize,
) -> Result<(), Problem> {
    expect_dtype_of("out", out.dtype(), "src", src.dtype())?;
    let fits = out.rank() == src.rank()
        && (0..src.rank()).all(|k| k == dim || out.shape()[k] == src.shape()[k]);
    expect_shape("out", out.shape(), fits, || {
        format!(
            "it must be src's shape {:?} apart from dimension {dim}",
            src.shape()
        )
    })
}
