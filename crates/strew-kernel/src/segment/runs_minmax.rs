//! Minima and maxima of runs, alone or with the position of each winning element.
//!
//! Of equal elements the first stays. NaN never wins, or always where it propagates. Where only
//! values are wanted and a row starts from nothing, the running value starts from the identity. A
//! result that still equals the identity is checked once more: a run of infinities gives it too,
//! and a run of NaN has no winner.
//!
//! Cost: each row of a run is read once. Rows are done by tiles of `TILE` columns whose running
//! values stay in the nearest cache.
//!
//! # Unsafe
//!
//! - Buys: extremes of runs in registers
//! - Measured: checks: S-max 1.00, S1-max 1.03, with positions S-arg 1.19, S1-arg 0.91
//! - Holds: `segment/runs.rs` checked each run against both sides before the job was made

use crate::ops::number::Number;
use crate::ops::order::{Ordered, finite_start_of, identity_of, replaces_element};
use crate::segment::minmax_lanes;
use crate::segment::run_job::{Job, Run, RunStart};
use crate::segment::runs_sum::{TILE, left};
use crate::update::row_pairs::fetch_behind;

/// The position of nobody.
const NOBODY: i64 = -1;

/// # Safety
/// As for [`Loops`](crate::segment::runs::Loops), without positions.
pub(crate) unsafe fn run<T: Number + Ordered, const MAX: bool, const NAN: bool>(job: &Job<'_>) {
    // SAFETY: the caller keeps the contract of `Loops` without positions, that of both loops.
    unsafe {
        vectorized!(|_| match job.len {
            1 => elements::<T, MAX, NAN>(job),
            _ => rows::<T, MAX, NAN>(job),
        });
    }
}

/// # Safety
/// As for [`Loops`](crate::segment::runs::Loops), with positions.
pub(crate) unsafe fn run_with_arg<T: Number + Ordered, const MAX: bool>(job: &Job<'_>) {
    // SAFETY: the caller keeps the contract of `Loops` with positions, that of `winners`.
    unsafe { vectorized!(|_| winners::<T, MAX>(job)) };
}

/// The better of the two; with `NAN`, that is better than all.
#[inline(always)]
fn better<T: Ordered, const MAX: bool, const NAN: bool>(best: T, value: T) -> T {
    // A choice instead of a branch: it vectorises.
    if replaces_element::<T, MAX, NAN>(value, best) {
        value.canonical()
    } else {
        best
    }
}

/// What a running value starts from.
///
/// # Safety
/// `cell` must be readable if it starts from it.
#[inline(always)]
unsafe fn start<T: Ordered, const MAX: bool>(job: &Job<'_>, cell: *const T) -> T {
    match job.fold.start {
        // SAFETY: the caller promises a readable cell where the run starts from it.
        RunStart::Current => unsafe { cell.read() },
        RunStart::Nothing | RunStart::Replaced => identity_of::<T, MAX>(),
        RunStart::FiniteExtreme => finite_start_of::<T, MAX>(),
    }
}

/// What the cell becomes.
///
/// # Safety
/// The run's rows must be readable at this coordinate, `at` bytes from their beginning.
#[inline(always)]
unsafe fn shown<T: Number + Ordered, const MAX: bool, const NAN: bool>(
    best: T,
    job: &Job<'_>,
    run: &Run,
    at: isize,
) -> T {
    let (nothing, masked) = match job.fold.start {
        RunStart::Current => return best,
        RunStart::FiniteExtreme => (finite_start_of::<T, MAX>(), true),
        RunStart::Nothing | RunStart::Replaced => (identity_of::<T, MAX>(), false),
    };
    if NAN && run.count > 0 {
        return best;
    }
    // Nothing beats the start but what is better: the running value is no NaN.
    if replaces_element::<T, MAX, false>(best, nothing) {
        return best;
    }
    let is_number = |k: usize| {
        let at = run.src + at + k.cast_signed() * job.src_row;
        // SAFETY: the caller promises the run's rows, and this is one of them.
        !unsafe { job.src.offset(at).cast::<T>().read() }.nan()
    };
    match !masked && (0..run.count).any(is_number) {
        true => best,
        false => T::narrow(T::ZERO),
    }
}

/// Rows of one element: the running value stays in a register.
///
/// # Safety
/// As for [`Loops`](crate::segment::runs::Loops), without positions, of rows of one element.
#[inline(always)]
unsafe fn elements<T: Number + Ordered, const MAX: bool, const NAN: bool>(job: &Job<'_>) {
    let dense = job.src_row == size_of::<T>().cast_signed();
    for run in job.runs {
        if left(job, run) {
            continue;
        }
        // SAFETY: the caller's promise: the cell is there, and so are `count` elements, which lie
        // one after the other if they are dense.
        unsafe {
            let cell = job.dst.offset(run.dst).cast::<T>();
            let mut best = start::<T, MAX>(job, cell);
            let first = job.src.wrapping_offset(run.src).cast::<T>();
            if dense && run.count > 0 {
                let values = std::slice::from_raw_parts(first, run.count);
                if values.len() >= minmax_lanes::ENOUGH {
                    best = minmax_lanes::extreme::<T, MAX>(best, values, better::<T, MAX, NAN>);
                } else {
                    for &value in values {
                        best = better::<T, MAX, NAN>(best, value);
                    }
                }
            } else {
                for k in 0..run.count.cast_signed() {
                    best = better::<T, MAX, NAN>(best, first.byte_offset(k * job.src_row).read());
                }
            }
            cell.write(shown::<T, MAX, NAN>(best, job, run, 0));
        }
    }
}

/// Rows of several elements; see [`sums`](crate::segment::runs_sum).
///
/// # Safety
/// As for [`Loops`](crate::segment::runs::Loops), without positions.
#[inline(always)]
unsafe fn rows<T: Number + Ordered, const MAX: bool, const NAN: bool>(job: &Job<'_>) {
    let dense = job.steps[0] == size_of::<T>().cast_signed();
    let [src_step, dst_step, _] = job.steps;
    let mut room = [T::narrow(T::ZERO); TILE];
    for run in job.runs {
        if left(job, run) {
            continue;
        }
        for from in (0..job.len).step_by(TILE) {
            let len = TILE.min(job.len - from);
            let best = &mut room[..len];
            let column = from.cast_signed();
            // SAFETY: the caller's promise: `column` up to `column + len` are coordinates of the
            // innermost axis of the run's rows on both sides, which lie side by side in the source
            // if they are dense.
            unsafe {
                let cells = job.dst.offset(run.dst + column * dst_step);
                let cell = |i: usize| cells.offset(i.cast_signed() * dst_step).cast::<T>();
                for (i, best) in best.iter_mut().enumerate() {
                    *best = start::<T, MAX>(job, cell(i));
                }
                let row = |k: usize| {
                    let at = k.cast_signed() * job.src_row + column * src_step;
                    job.src.offset(run.src + at).cast::<T>()
                };
                if dense {
                    let row = |k: usize| std::slice::from_raw_parts(row(k), len);
                    let mut k = 0;
                    while run.count - k >= 4 {
                        let [a, b, c, d] = [row(k), row(k + 1), row(k + 2), row(k + 3)];
                        fetch_behind(a.as_ptr().cast(), 4 * size_of_val(a));
                        for i in 0..len {
                            let two =
                                better::<T, MAX, NAN>(better::<T, MAX, NAN>(best[i], a[i]), b[i]);
                            best[i] = better::<T, MAX, NAN>(better::<T, MAX, NAN>(two, c[i]), d[i]);
                        }
                        k += 4;
                    }
                    for k in k..run.count {
                        fetch_behind(row(k).as_ptr().cast(), size_of_val(row(k)));
                        for (best, &value) in best.iter_mut().zip(row(k)) {
                            *best = better::<T, MAX, NAN>(*best, value);
                        }
                    }
                } else {
                    for k in 0..run.count {
                        let first = row(k);
                        for (i, best) in best.iter_mut().enumerate() {
                            let value = first.byte_offset(i.cast_signed() * src_step).read();
                            *best = better::<T, MAX, NAN>(*best, value);
                        }
                    }
                }
                for (i, &best) in best.iter().enumerate() {
                    let at = (column + i.cast_signed()) * src_step;
                    cell(i).write(shown::<T, MAX, NAN>(best, job, run, at));
                }
            }
        }
    }
}

/// Rows of any length, with positions.
///
/// # Safety
/// As for [`Loops`](crate::segment::runs::Loops), with positions.
#[inline(always)]
unsafe fn winners<T: Number + Ordered, const MAX: bool>(job: &Job<'_>) {
    let dense = job.steps[0] == size_of::<T>().cast_signed();
    let [src_step, dst_step, arg_step] = job.steps;
    let first_wins = matches!(job.fold.start, RunStart::Nothing | RunStart::Replaced);
    let kept = job.fold.start == RunStart::Current;
    let better = |best: (T, i64), value: T, number: i64| {
        let first = first_wins & (best.1 == NOBODY) & !value.nan();
        let wins = replaces_element::<T, MAX, false>(value, best.0) | first;
        // Two choices instead of a branch: they vectorise.
        (
            if wins { value.canonical() } else { best.0 },
            if wins { number } else { best.1 },
        )
    };
    let shown = |(value, number): (T, i64)| match number {
        NOBODY if kept => (value, job.fold.none),
        NOBODY => (T::narrow(T::ZERO), job.fold.none),
        _ => (value, number),
    };
    if job.len == 1 {
        for run in job.runs {
            // SAFETY: the caller's promise: the cells are there, and so are `count` elements.
            unsafe {
                let cell = job.dst.offset(run.dst).cast::<T>();
                let mut best = (start::<T, MAX>(job, cell), NOBODY);
                let first = job.src.wrapping_offset(run.src).cast::<T>();
                for k in 0..run.count {
                    let value = first.byte_offset(k.cast_signed() * job.src_row).read();
                    best = better(best, value, (run.first + k) as i64);
                }
                let (value, number) = shown(best);
                cell.write(value);
                job.arg.offset(run.arg).cast::<i64>().write(number);
            }
        }
        return;
    }
    let mut values = [T::narrow(T::ZERO); TILE];
    let mut numbers = [NOBODY; TILE];
    for run in job.runs {
        for from in (0..job.len).step_by(TILE) {
            let len = TILE.min(job.len - from);
            let (values, numbers) = (&mut values[..len], &mut numbers[..len]);
            let column = from.cast_signed();
            // SAFETY: the caller's promise: `column` up to `column + len` are coordinates of the
            // innermost axis of the run's rows in all three arrays, which lie side by side in the
            // source if they are dense.
            unsafe {
                let cells = job.dst.offset(run.dst + column * dst_step);
                let cell = |i: usize| cells.offset(i.cast_signed() * dst_step).cast::<T>();
                for (i, value) in values.iter_mut().enumerate() {
                    *value = start::<T, MAX>(job, cell(i));
                }
                numbers.fill(NOBODY);
                for k in 0..run.count {
                    let at = k.cast_signed() * job.src_row + column * src_step;
                    let first = job.src.offset(run.src + at).cast::<T>();
                    let number = (run.first + k) as i64;
                    let bests = values.iter_mut().zip(numbers.iter_mut());
                    if dense {
                        let row = std::slice::from_raw_parts(first, len);
                        fetch_behind(first.cast(), size_of_val(row));
                        for ((best, at), &value) in bests.zip(row) {
                            (*best, *at) = better((*best, *at), value, number);
                        }
                    } else {
                        for (i, (best, at)) in bests.enumerate() {
                            let value = first.byte_offset(i.cast_signed() * src_step).read();
                            (*best, *at) = better((*best, *at), value, number);
                        }
                    }
                }
                let args = job.arg.offset(run.arg + column * arg_step);
                for (i, (&value, &number)) in values.iter().zip(numbers.iter()).enumerate() {
                    let (value, number) = shown((value, number));
                    cell(i).write(value);
                    let arg = args.offset(i.cast_signed() * arg_step).cast::<i64>();
                    arg.write(number);
                }
            }
        }
    }
}
