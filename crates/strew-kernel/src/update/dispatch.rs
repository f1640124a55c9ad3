//! The one table from element type and reduction to loops.
//!
//! Moving loops are compiled for each element size, combining loops for each dtype. A run looks its
//! loops up once; nothing is looked up inside a loop.
//!
//! # Unsafe
//!
//! - Buys: one loop per type and reduction
//! - Measured: that of `rows/row_pairs.rs` and `update/fused.rs`, whose loops these are
//! - Holds: passes the caller's promise on; types without padding

use crate::ops::boolean::Bool;
use crate::ops::combine::{
    Div, Join, MinMaxBranch, MinMaxSelect, Overwrite, Prod, Sub, Sum, SumFromUnset,
};
use crate::ops::for_dtype::{for_bits, for_dtype};
use crate::ops::hot::same_bits;
use crate::ops::number::{Mean, Number};
use crate::ops::order::Ordered;
use crate::ops::reduction::{Combine, Nan};
use crate::rows::copy_loop::copy_loop;
use crate::rows::row_pairs::{Cold, Loop, Rows, each, join};
use crate::tensor::DType;
use crate::update::fused::fused_lines;
use crate::update::fused_short_rows::{fused_rows_of_any_length, fused_short_rows};
use crate::walk::line::LineLoop;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// The loops that join source elements (right) into cells (left): rows whose offsets are known, and
/// lines of single elements whose index is still to be read.
#[derive(Clone, Copy)]
pub(crate) struct Loops {
    pub(crate) rows: Loop,
    pub(crate) lines: LineLoop,
}

impl Loops {
    pub(crate) fn of<J: Join>() -> Self {
        Self {
            rows: join::<J>,
            lines: fused_lines::<J>,
        }
    }
}

/// The loop over lines of single elements of a minimum or maximum that changes its cells seldom, if
/// there is one.
pub(crate) fn seldom_line_loop(dtype: DType, combine: Combine) -> Option<LineLoop> {
    fn of<T: Ordered>(max: bool) -> LineLoop {
        match max {
            true => fused_lines::<MinMaxBranch<T, true>>,
            false => fused_lines::<MinMaxBranch<T, false>>,
        }
    }
    let max = match combine {
        Combine::Min(Nan::Propagate) => false,
        Combine::Max(Nan::Propagate) => true,
        _ => return None,
    };
    // The types that are reduced most: each takes as much code as a loop that always writes.
    match dtype {
        DType::F32 => Some(of::<f32>(max)),
        DType::F64 => Some(of::<f64>(max)),
        DType::I32 => Some(of::<i32>(max)),
        DType::I64 => Some(of::<i64>(max)),
        _ => None,
    }
}

/// The loops of a reduction. The cells of sums and products are accumulators
/// ([`DType::accumulator`]), all others are elements. `None` for the minimum and maximum of complex
/// numbers.
pub(crate) fn combine_loops(dtype: DType, combine: Combine) -> Option<Loops> {
    type Min<T> = MinMaxSelect<T, false, false>;
    type Max<T> = MinMaxSelect<T, true, false>;
    Some(match combine {
        Combine::Assign => for_bits!(dtype, T => Loops::of::<Overwrite<T>>()),
        Combine::Sum => {
            for_dtype!(same_bits(dtype), T => Loops::of::<Sum<T>>(), complex C => Loops::of::<Sum<C>>())
        }
        Combine::Prod => {
            for_dtype!(same_bits(dtype), T => Loops::of::<Prod<T>>(), complex C => Loops::of::<Prod<C>>())
        }
        Combine::Sub => {
            for_dtype!(same_bits(dtype), T => Loops::of::<Sub<T>>(), complex C => Loops::of::<Sub<C>>())
        }
        Combine::Div => {
            for_dtype!(dtype, T => Loops::of::<Div<T>>(), complex C => Loops::of::<Div<C>>())
        }
        Combine::Min(Nan::Propagate) => {
            for_dtype!(dtype, T => Loops::of::<Min<T>>(), complex C => return None)
        }
        Combine::Max(Nan::Propagate) => {
            for_dtype!(dtype, T => Loops::of::<Max<T>>(), complex C => return None)
        }
        Combine::Min(Nan::Ignore) => for_dtype!(
            dtype,
            T => Loops::of::<MinMaxSelect<T, false, { !<T as Ordered>::PLAIN }>>(),
            complex C => return None
        ),
        Combine::Max(Nan::Ignore) => for_dtype!(
            dtype,
            T => Loops::of::<MinMaxSelect<T, true, { !<T as Ordered>::PLAIN }>>(),
            complex C => return None
        ),
    })
}

/// The loop over lines of rows of `len` elements, for the commonest reductions and types.
pub(crate) fn short_line_loop(dtype: DType, combine: Combine, len: usize) -> Option<LineLoop> {
    fn extremes<T: Ordered + Number>(combine: Combine, len: usize) -> Option<LineLoop> {
        match combine {
            Combine::Min(_) => fused_rows_of_any_length::<MinMaxSelect<T, false, false>>(len),
            Combine::Max(_) => fused_rows_of_any_length::<MinMaxSelect<T, true, false>>(len),
            _ => None,
        }
    }
    match (combine, dtype) {
        (Combine::Sum, DType::F32) => fused_short_rows::<Sum<f32>>(len),
        (Combine::Sum, DType::F64) => fused_short_rows::<Sum<f64>>(len),
        (Combine::Sum, DType::I32 | DType::U32) => fused_short_rows::<Sum<u32>>(len),
        (Combine::Sum, DType::I64 | DType::U64) => fused_short_rows::<Sum<u64>>(len),
        (Combine::Min(Nan::Ignore), DType::F32) => {
            fused_rows_of_any_length::<MinMaxSelect<f32, false, true>>(len)
        }
        (Combine::Max(Nan::Ignore), DType::F32) => {
            fused_rows_of_any_length::<MinMaxSelect<f32, true, true>>(len)
        }
        // A loop for doubles is not worth its code.
        (Combine::Min(Nan::Ignore) | Combine::Max(Nan::Ignore), DType::F64) => None,
        (Combine::Min(_) | Combine::Max(_), DType::F32) => extremes::<f32>(combine, len),
        (Combine::Min(_) | Combine::Max(_), DType::F64) => extremes::<f64>(combine, len),
        (Combine::Min(_) | Combine::Max(_), DType::I32) => extremes::<i32>(combine, len),
        (Combine::Min(_) | Combine::Max(_), DType::I64) => extremes::<i64>(combine, len),
        _ => None,
    }
}

/// The loops of a sum into cells that may hold the sentinel; `None` for types without one.
pub(crate) fn sum_loops_from_unset(dtype: DType) -> Option<Loops> {
    match dtype {
        DType::F32 => Some(Loops::of::<SumFromUnset<f32>>()),
        DType::F64 => Some(Loops::of::<SumFromUnset<f64>>()),
        _ => None,
    }
}

/// [`combine_loops`] for rows.
pub(crate) fn combine_loop(dtype: DType, combine: Combine) -> Option<Loop> {
    combine_loops(dtype, combine).map(|loops| loops.rows)
}

/// The loop that turns elements (right) into accumulators (left).
pub(crate) fn widen_loop(dtype: DType) -> Loop {
    match dtype {
        DType::F16 => widen::<f16>,
        DType::BF16 => widen::<bf16>,
        other => copy_loop(other),
    }
}

/// Converts elements (right) to accumulators (left).
///
/// # Safety
/// As for [`Loop`], with left elements `T::Acc` and right elements `T`.
unsafe fn widen<T: Number>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps the contract of `Loop` for these element types, which is that of
    // `each`.
    unsafe {
        each::<Cold, T::Acc, T, T::Acc>(
            rows,
            #[inline(always)]
            |_, cell, value| *cell = value,
        )
    }
}

/// The loop that converts accumulators (right) to elements (left), rounding once. Counts, one for
/// each row, divide the row first.
///
/// # Safety
/// As for [`Loop`], with elements on the left and their accumulators on the right.
pub(crate) type FinishLoop = unsafe fn(&Rows<'_>, Option<(Mean, &[u64])>);

pub(crate) fn finish_loop(dtype: DType) -> FinishLoop {
    for_dtype!(dtype, T => finish::<T>, complex C => finish::<C>)
}

/// Converts accumulators (right) to elements (left), divided by their counts if there are any.
///
/// # Safety
/// As for [`FinishLoop`], with left elements `T` and right elements `T::Acc`.
unsafe fn finish<T: Number>(rows: &Rows<'_>, means: Option<(Mean, &[u64])>) {
    // SAFETY: the caller keeps the contract of `FinishLoop` for these element types, which is that
    // of `each`.
    unsafe {
        match means {
            Some((mean, counts)) => each::<Cold, T, T::Acc, T::Acc>(
                rows,
                #[inline(always)]
                |row, cell, sum| {
                    *cell = T::narrow(mean.of::<T>(sum, counts[row]));
                },
            ),
            None => each::<Cold, T, T::Acc, T>(
                rows,
                #[inline(always)]
                |_, cell, sum| *cell = sum,
            ),
        }
    }
}

/// A [`FinishLoop`] without counts that sets only elements of which the accumulator is not the
/// value.
pub(crate) fn finish_changed_loop(dtype: DType) -> FinishLoop {
    match dtype {
        DType::F16 => finish_changed::<f16>,
        DType::BF16 => finish_changed::<bf16>,
        other => finish_loop(other),
    }
}

/// Converts accumulators (right) to elements (left) of another value.
///
/// # Safety
/// As for [`FinishLoop`], with left elements `T` and right elements `f32`.
unsafe fn finish_changed<T: Number<Acc = f32>>(rows: &Rows<'_>, _: Option<(Mean, &[u64])>) {
    // SAFETY: the caller keeps the contract of `FinishLoop` for these element types, which is that
    // of `each`.
    unsafe {
        each::<Cold, T, f32, f32>(
            rows,
            #[inline(always)]
            |_, cell, sum| {
                let changed = cell.widen().to_bits() != sum.to_bits();
                *cell = if changed { T::narrow(sum) } else { *cell };
            },
        )
    }
}

/// The loop that sets cells (left) that equal the right side to zero.
pub(crate) fn clear_equal_loop(dtype: DType) -> Option<Loop> {
    Some(for_dtype!(dtype, T => clear_equal::<T>, complex C => return None))
}

/// Sets the cells (left) that equal the right side to zero.
///
/// # Safety
/// As for [`Loop`], with elements `T` on both sides.
unsafe fn clear_equal<T: Number + PartialEq>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps the contract of `Loop` for these element types, which is that of
    // `each`.
    unsafe {
        each::<Cold, T, T, T>(
            rows,
            #[inline(always)]
            |_, cell, start| {
                if *cell == start {
                    *cell = T::narrow(T::ZERO);
                }
            },
        );
    }
}

const _: () = assert!(size_of::<Bool>() == 1 && size_of::<Complex32>() == 8);

const _: () = assert!(align_of::<Complex64>() == 8);
