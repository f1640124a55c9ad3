//! Tables of the destination's shape: made, merged into the destination, and rounded to its
//! elements.
//!
//! A table holds one accumulator for each cell (16-bit floats accumulate in `f32`). [`merge`] joins
//! a table of the destination's own type into it, for parts of the updates that were reduced apart.
//! [`finalize`] rounds each accumulator once, [`finalize_changed`] those that are not a cell's own
//! value. Cost: one pass over the table and the destination.
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
use crate::tensor::{DType, DynTensor, DynViewMut};
use crate::update::dispatch::{
    FinishLoop, combine_loops, finish_changed_loop, finish_loop, widen_loop,
};
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

/// A tensor of accumulators of the shape of `dst`, which hold its elements.
///
/// # Errors
/// [`Problem::Memory`].
pub fn wide_of(dst: &DynViewMut<'_>) -> Result<DynTensor, Problem> {
    let acc = dst.dtype().accumulator();
    let mut made = DynTensor::scratch(acc, dst.shape())?;
    if dst.is_empty() {
        return Ok(made);
    }
    let rows = Rows {
        left: made.as_bytes_mut().as_mut_ptr(),
        left_at: &[0],
        right: dst.as_view().as_ptr(),
        right_at: At::Steps(0, 0),
        window: &packed(&whole(dst.layout()), acc.size()),
        ahead: PrefetchHints::NONE,
    };
    // SAFETY: the window covers on the left the tensor, which has as many accumulators in row-major
    // order without gaps, and the whole destination on the right.
    unsafe { widen_loop(dst.dtype())(&rows) };
    Ok(made)
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
    finish_all(from, dst, finish_loop)
}

/// Sets those elements of `dst` to the accumulators of `from` that are not their value. The others
/// keep their bits, those of a NaN, too.
///
/// # Panics
/// If shapes or types differ.
pub fn finalize_changed(from: &DynTensor, dst: &mut DynViewMut<'_>) -> Result<(), Problem> {
    finish_all(from, dst, finish_changed_loop)
}

/// Goes over all of `dst` and `from` with the loop for the type of `dst`.
fn finish_all(
    from: &DynTensor,
    dst: &mut DynViewMut<'_>,
    of: fn(DType) -> FinishLoop,
) -> Result<(), Problem> {
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
    unsafe { of(dtype)(&rows, None) };
    Ok(())
}
