//! Strict minima and maxima of groups, with the position of the winning update.
//!
//! ```text
//! for each group, for each tile of columns:
//!     best = start; number = NOBODY
//!     for each update of the group: (best, number) = better((best, number), (value, update))
//!     write best, and number or `none`
//! ```
//!
//! Of the updates of a cell, the first that beats all before it stays, as in the loop over the
//! updates in order. Value and position are chosen without a branch, so that rows vectorise.
//!
//! Cost: each update's row is read once; 8 bytes of position are written for each cell. Positions
//! have 32 bits meanwhile, so there must be fewer than 2^32 - 1 updates.
//!
//! # Unsafe
//!
//! - Buys: positions of winners, group by group
//! - Measured: checks: P-arg 1.16, P1-arg 1.01; no fetching: P-arg 2.96
//! - Holds: as `segment/reduce.rs`

use crate::cpu::prefetch::prefetch;
use crate::error::Problem;
use crate::ops::for_dtype::for_dtype;
use crate::ops::number::Number;
use crate::ops::order::{Ordered, finite_start_of, replaces_start};
use crate::ops::reduction::Combine;
use crate::segment::accumulator::Fold;
use crate::segment::csr::Csr;
use crate::segment::job::{AHEAD_SINGLE, Loops, MOST_LINES};
use crate::segment::job::{Job, rows_ahead};
use crate::segment::row_ids::Order;
use crate::tensor::DType;

/// The position of nobody. Others are below: there are no more updates than this.
const NOBODY: u32 = u32::MAX;

/// Cells whose values and positions stay in the nearest cache beside a piece of a row.
const TILE: usize = 256;

/// The loops for a new tensor of one extreme, which starts from the type's extreme finite value.
///
/// # Errors
/// [`Problem::Unsupported`] for what has no winners; [`Problem::Strategy`] for more updates than
/// are numbered here.
pub(crate) fn loops(dtype: DType, folds: &[Fold], groups: &Csr) -> Result<Loops, Problem> {
    let unsupported = || Problem::Unsupported {
        what: "the position of this reduction".into(),
        dtype,
    };
    if u32::try_from(groups.updates()).is_err() {
        return Err(Problem::Strategy {
            strategy: "grouped",
            why: "positions have 32 bits there, and there are more updates",
        });
    }
    match folds.first().map(|fold| fold.combine) {
        Some(Combine::Min(_)) => {
            Ok(for_dtype!(dtype, T => run::<T, false>, complex C => return Err(unsupported())))
        }
        Some(Combine::Max(_)) => {
            Ok(for_dtype!(dtype, T => run::<T, true>, complex C => return Err(unsupported())))
        }
        _ => Err(unsupported()),
    }
}

/// # Safety
/// As for [`Loops`].
unsafe fn run<T: Ordered + Number, const MAX: bool>(job: &Job<'_>) {
    // SAFETY: the caller keeps the contract of `Loops`, which is that of both loops.
    unsafe {
        if job.inner.len > 1 {
            return vectorized!(|_| rows::<T, MAX>(job));
        }
        match job.groups.order() {
            Order::Same => singles::<T, MAX>(job, |k| k),
            Order::Narrow(order) => singles::<T, MAX>(job, |k| order[k] as usize),
            Order::Wide(order) => singles::<T, MAX>(job, |k| order[k] as usize),
        }
    }
}

/// The better of two, with its position.
#[inline(always)]
fn better<T: Ordered, const MAX: bool>(best: (T, u32), value: T, number: u32) -> (T, u32) {
    let wins = replaces_start::<T, MAX>(value, best.0);
    // Two choices instead of a branch: they vectorise.
    (
        if wins { value.canonical() } else { best.0 },
        if wins { number } else { best.1 },
    )
}

/// What a cell shows: 0 and `none` where nobody has won.
#[inline(always)]
fn shown<T: Number>((value, number): (T, u32), none: i64) -> (T, i64) {
    match number {
        NOBODY => (T::narrow(T::ZERO), none),
        number => (value, number.into()),
    }
}

/// Groups of single elements.
///
/// # Safety
/// As for [`Loops`].
#[inline(always)]
unsafe fn singles<T: Ordered + Number, const MAX: bool>(
    job: &Job<'_>,
    order: impl Fn(usize) -> usize + Copy,
) {
    let groups = job.groups;
    let [(values, value_row, _), (positions, position_row, _)] = *job.outputs else {
        return;
    };
    let element = |update: usize| {
        let at = update.cast_signed() * job.src_row;
        job.src.wrapping_offset(at).cast::<T>()
    };
    let ahead = if groups.in_order() { 0 } else { AHEAD_SINGLE };
    let end = groups.kept();
    for group in job.range.clone() {
        let updates = groups.start(group)..groups.start(group + 1);
        if updates.is_empty() {
            continue;
        }
        let mut best = (finite_start_of::<T, MAX>(), NOBODY);
        for k in updates {
            if ahead > 0 && k + ahead < end {
                prefetch(element(order(k + ahead)).cast(), 1);
            }
            let update = order(k);
            // SAFETY: the caller's promise: this is an update of the group's.
            let value = unsafe { element(update).read() };
            best = better::<T, MAX>(best, value, update as u32);
        }
        let row = groups.row(group).cast_signed();
        let (value, position) = shown(best, job.none);
        // SAFETY: the caller's promise: the cells are the outputs' of the group's row.
        unsafe {
            let cell = values.wrapping_offset(row * value_row);
            cell.cast::<T>().write(value);
            let cell = positions.wrapping_offset(row * position_row);
            cell.cast::<i64>().write(position);
        }
    }
}

/// Groups of rows.
///
/// # Safety
/// As for [`Loops`].
#[inline(always)]
unsafe fn rows<T: Ordered + Number, const MAX: bool>(job: &Job<'_>) {
    let groups = job.groups;
    let [
        (values, value_row, value_step),
        (positions, position_row, position_step),
    ] = *job.outputs
    else {
        return;
    };
    let order = groups.order();
    let end = groups.kept();
    let size = size_of::<T>();
    let dense = job.inner.src == size.cast_signed();
    let random = !(groups.in_order() && dense);
    let one_tile = job.inner.len <= TILE;
    let mut best = [finite_start_of::<T, MAX>(); TILE];
    let mut numbers = [NOBODY; TILE];
    for group in job.range.clone() {
        let updates = groups.start(group)..groups.start(group + 1);
        if updates.is_empty() {
            continue;
        }
        let row = groups.row(group).cast_signed();
        for from in (0..job.inner.len).step_by(TILE) {
            let len = TILE.min(job.inner.len - from);
            let lines = (len * size).div_ceil(64).min(MOST_LINES);
            let ahead = rows_ahead(len * size);
            let (best, numbers) = (&mut best[..len], &mut numbers[..len]);
            best.fill(finite_start_of::<T, MAX>());
            numbers.fill(NOBODY);
            let place = |k: usize| {
                let at =
                    order.get(k).cast_signed() * job.src_row + from.cast_signed() * job.inner.src;
                job.src.wrapping_offset(at)
            };
            for k in updates.clone() {
                let asked = |k: usize| k < end && (one_tile || k < updates.end);
                if random && asked(k + ahead) {
                    let at = place(k + ahead);
                    prefetch(at, lines);
                    // A row that begins within a line ends in one more.
                    prefetch(at.wrapping_add(len * size - 1), 1);
                }
                let number = order.get(k) as u32;
                let first = place(k).cast::<T>();
                let cells = best.iter_mut().zip(numbers.iter_mut());
                // SAFETY: the caller's promise: this is an update of the group's, of which `len`
                // elements from coordinate `from` on can be read, side by side if it is dense.
                unsafe {
                    if dense {
                        let row = std::slice::from_raw_parts(first, len);
                        for ((best, at), &value) in cells.zip(row) {
                            (*best, *at) = better::<T, MAX>((*best, *at), value, number);
                        }
                    } else {
                        for (i, (best, at)) in cells.enumerate() {
                            let value = first.byte_offset(i.cast_signed() * job.inner.src).read();
                            (*best, *at) = better::<T, MAX>((*best, *at), value, number);
                        }
                    }
                }
            }
            for (i, cell) in best
                .iter()
                .copied()
                .zip(numbers.iter().copied())
                .enumerate()
            {
                let column = (from + i).cast_signed();
                let (value, position) = shown(cell, job.none);
                // SAFETY: the caller's promise: the cells are the outputs' of the group's row, at a
                // coordinate of the inner axis.
                unsafe {
                    let cell = values.wrapping_offset(row * value_row + column * value_step);
                    cell.cast::<T>().write(value);
                    let cell =
                        positions.wrapping_offset(row * position_row + column * position_step);
                    cell.cast::<i64>().write(position);
                }
            }
        }
    }
}
