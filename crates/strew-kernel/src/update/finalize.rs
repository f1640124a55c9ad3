//! Tables of the destination's shape: made, merged into the destination, and rounded to its
//! elements.
//!
//! A table holds one accumulator for each cell (16-bit floats accumulate in `f32`). [`merge`] joins
//! a table of the destination's own type into it, for parts of the updates that were reduced apart.
//! [`finalize`] rounds each accumulator once. Cost: one pass over the table and the destination.
//!
//! # Unsafe
//!
//! - Buys: one rounding at the end, and merged tables, as one row
//! - Measured: checks: W1b-f16 0.97
//! - Holds: the window is the whole of two tensors of one shape

use crate::copy::strided::{packed, whole};
use crate::error::Problem;
use crate::ops::identity::identity;
use crate::ops::reduction::Combine;
use crate::rows::row_pairs::Rows;
use crate::tensor::{DynTensor, DynViewMut};
use crate::update::dispatch::{combine_loops, finish_loop};
use crate::walk::offsets::{At, Dim, Dims, PrefetchHints};

/// A tensor of accumulators of the shape of `dst`, filled with the reduction's identity.
pub fn wide_like(dst: &DynViewMut<'_>, combine: Combine) -> Result<DynTensor, Problem> {
    let (dtype, acc) = (dst.dtype(), dst.dtype().accumulator());
    let start = identity(dtype, combine).ok_or_else(|| Problem::Unsupported {
        what: format!("{combine:?} in a table"),
        dtype,
    })?;
    DynTensor::filled(acc, dst.shape(), &start[..acc.size()])
}

/// Joins the cells of a table of the same shape and type into the cells of `dst`.
///
/// # Panics
/// If shapes or types differ.
pub fn merge(dst: &mut DynViewMut<'_>, table: &DynTensor, combine: Combine) -> Result<(), Problem> {
    let dtype = dst.dtype();
    assert!(table.shape() == dst.shape() && table.dtype() == dtype);
    let loops =
        combine_loops(dtype, combine).filter(|_| dtype.accumulator() == dtype || !combine.folds());
    let loops = loops.ok_or_else(|| Problem::Unsupported {
        what: format!("{combine:?} of tables"),
        dtype,
    })?;
    if dst.is_empty() {
        return Ok(());
    }
    let window = packed(&whole(dst.layout()), dtype.size());
    let window: Dims = window.into_iter().map(Dim::swapped).collect();
    let rows = Rows {
        left: dst.as_mut_ptr(),
        left_at: &[0],
        right: table.as_bytes().as_ptr(),
        right_at: At::Steps(0, 0),
        window: &window,
        ahead: PrefetchHints::NONE,
    };
    // SAFETY: the window covers the whole destination on the left, borrowed mutably, and on the
    // right the table, which has as many elements of its type in row-major order without gaps.
    unsafe { (loops.rows)(&rows) };
    Ok(())
}

/// Sets `dst` to the accumulators of `from`, a tensor of the same shape, each rounded once.
///
/// # Panics
/// If shapes or types differ.
pub fn finalize(from: &DynTensor, dst: &mut DynViewMut<'_>) -> Result<(), Problem> {
    let (dtype, acc) = (dst.dtype(), dst.dtype().accumulator());
    assert!(from.shape() == dst.shape() && from.dtype() == acc);
    if dst.is_empty() {
        return Ok(());
    }
    let window = packed(&whole(dst.layout()), acc.size());
    let window: Dims = window.into_iter().map(Dim::swapped).collect();
    let rows = Rows {
        left: dst.as_mut_ptr(),
        left_at: &[0],
        right: from.as_bytes().as_ptr(),
        right_at: At::Steps(0, 0),
        window: &window,
        ahead: PrefetchHints::NONE,
    };
    // SAFETY: the window covers the whole destination on the left, borrowed mutably, and on the
    // right the tensor, which has as many accumulators of its type in row-major order without gaps.
    unsafe { finish_loop(dtype)(&rows, None) };
    Ok(())
}
