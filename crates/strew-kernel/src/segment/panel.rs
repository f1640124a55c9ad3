//! Running results of some columns of a segment, side by side: from their start to their cells.
//!
//! # Unsafe
//!
//! - Buys: cells read and written without checks, whole lines past the caches
//! - Measured: that of `segment/rows.rs` and `segment/elements.rs`, whose results these are
//! - Holds: the caller's promise, passed on

use crate::cpu::LINE;
use crate::cpu::isa::{Baseline, Isa};
use crate::ops::number::{Mean, Number};
use crate::segment::fold::{Column, EARLIER, FREE, Finish, NOBODY, Place, Seed, is_common};
use crate::segment::job::{Job, Segment};

/// The position of nobody. Positions are not negative.
pub(crate) const NONE: i64 = -1;

/// The running results of `W` columns, and the numbers of their winners.
#[derive(Clone, Copy)]
pub(crate) struct Panel<R: Column, const W: usize> {
    pub(crate) running: [R::Running; W],
    pub(crate) winners: [Place; W],
}

impl<R: Column, const W: usize> Panel<R, W> {
    /// The start of the cells of a row from `column` on.
    ///
    /// # Safety
    /// As for [`Loops`](crate::segment::job::Loops); the row has `W` columns from this one on.
    #[inline(always)]
    pub(crate) unsafe fn start(job: &Job<'_>, row: usize, column: usize, isa: impl Isa) -> Self {
        let running = match R::start(job.fold.seed) {
            Some(start) => [start; W],
            // SAFETY: the caller's promise.
            None => R::widen(unsafe { read(job, row, column) }, isa),
        };
        let nobody = match job.fold.seed {
            Seed::Identity => FREE,
            Seed::Current | Seed::FiniteExtreme => NOBODY,
        };
        Self {
            running,
            winners: [nobody; W],
        }
    }

    /// Joins an update's elements.
    #[inline(always)]
    pub(crate) fn join(&mut self, values: [R::Value; W], number: Place, isa: impl Isa) {
        let updates = R::widen(values, isa);
        for (column, update) in updates.into_iter().enumerate() {
            let (running, winner) = (self.running[column], self.winners[column]);
            let joined = R::join(running, winner, update, number);
            (self.running[column], self.winners[column]) = joined;
        }
    }

    /// Finishes the results, and writes their cells.
    ///
    /// # Safety
    /// As for [`start`](Self::start).
    #[inline(always)]
    pub(crate) unsafe fn finish(
        self,
        job: &Job<'_>,
        segment: Segment,
        column: usize,
        positions: [i64; W],
        isa: impl Isa,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match R::HOT {
                true => self.finish_here(job, segment, column, positions, isa),
                false => self.finish_apart(job, segment, column, positions),
            }
        }
    }

    /// [`finish`](Self::finish), compiled once for the loops of all instruction sets.
    ///
    /// # Safety
    /// As for [`start`](Self::start).
    #[inline(never)]
    unsafe fn finish_apart(
        self,
        job: &Job<'_>,
        segment: Segment,
        column: usize,
        positions: [i64; W],
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.finish_here(job, segment, column, positions, Baseline) }
    }

    /// [`finish`](Self::finish), compiled into its loop.
    ///
    /// # Safety
    /// As for [`start`](Self::start).
    #[inline(always)]
    unsafe fn finish_here(
        self,
        job: &Job<'_>,
        segment: Segment,
        column: usize,
        positions: [i64; W],
        isa: impl Isa,
    ) {
        let count = segment.count as u64;
        let running = match job.fold.finish {
            Finish::Mean(mean) if R::MEANS && count > 0 => match is_common::<R::Value>() {
                true => R::means(self.running, mean, count),
                false => means::<R, W>(self.running, mean, count),
            },
            _ => self.running,
        };
        let mut values = R::narrow(running, isa);
        let zero = R::Value::narrow(R::Value::ZERO);
        // SAFETY: the caller's promise.
        unsafe {
            if R::POSITIONS {
                if job.fold.seed != Seed::Current {
                    for (value, winner) in values.iter_mut().zip(self.winners) {
                        let nobody = (winner == FREE) | (winner == NOBODY);
                        *value = if nobody { zero } else { *value };
                    }
                }
                write_positions(job, segment.row, column, &positions);
            } else if let Some(start) = R::start(job.fold.seed)
                && !R::ORDERED
                && job.zeroes(segment.count)
            {
                let [start] = R::narrow([start], isa);
                if job.fold.finish != Finish::ZeroIfNoNumber {
                    for value in &mut values {
                        *value = if *value == start { zero } else { *value };
                    }
                } else if values.iter().fold(false, |any, v| any | (*v == start)) {
                    values = without_numbers::<R, W>(job, segment, column, values, start);
                }
            }
            write(job, segment.row, column, values, isa);
        }
    }
}

/// The results divided as the mean says.
#[inline(never)] // Divisions take most of the time: one copy does for all loops.
fn means<R: Column, const W: usize>(
    running: [R::Running; W],
    mean: Mean,
    count: u64,
) -> [R::Running; W] {
    R::means(running, mean, count)
}

/// The position of a winner, which `update` gives for its number. `earlier` is that of a winner
/// before those that are numbered now.
#[inline(always)]
pub(crate) fn position(winner: Place, earlier: i64, update: impl Fn(usize) -> usize) -> i64 {
    match winner {
        FREE | NOBODY => NONE,
        EARLIER => earlier,
        number => update(number as usize) as i64,
    }
}

/// The positions of winners whose numbers count from place `first` on. `earlier` are those that
/// were known before.
#[inline(never)] // It is the same for every instruction set.
pub(crate) fn positions<const W: usize>(
    job: &Job<'_>,
    first: usize,
    winners: &[Place; W],
    earlier: &[i64; W],
) -> [i64; W] {
    std::array::from_fn(|i| position(winners[i], earlier[i], |k| job.order.get(first + k)))
}

/// Writes the positions of a row from `column` on.
///
/// # Safety
/// As for [`Panel::start`], of a fold that has positions.
#[inline(always)]
unsafe fn write_positions<const W: usize>(
    job: &Job<'_>,
    row: usize,
    column: usize,
    positions: &[i64; W],
) {
    let none = job.fold.none.unwrap_or(NONE);
    for (&position, column) in positions.iter().zip(column..) {
        let cell = job.positions.at(row, column).cast::<i64>();
        // SAFETY: the caller promises the row's cells.
        unsafe { cell.write(if position == NONE { none } else { position }) };
    }
}

/// The extremes of a row from `column` on, but 0 where they equal the start and no update is a
/// number.
///
/// # Safety
/// As for [`Panel::start`].
#[cold]
#[inline(never)]
unsafe fn without_numbers<R: Column, const W: usize>(
    job: &Job<'_>,
    segment: Segment,
    column: usize,
    mut values: [R::Value; W],
    start: R::Value,
) -> [R::Value; W] {
    for (value, column) in values.iter_mut().zip(column..) {
        let at = column.cast_signed() * job.src_step;
        let mut places = segment.start..segment.start + segment.count;
        let is_number = |place: usize| {
            let update = job.update(place).wrapping_offset(at).cast::<R::Value>();
            // SAFETY: the caller promises every update of the segment, and the column.
            R::is_number(unsafe { update.read() })
        };
        if *value == start && !places.any(is_number) {
            *value = R::Value::narrow(R::Value::ZERO);
        }
    }
    values
}

/// Reads the cells of a row from `column` on.
///
/// # Safety
/// As for [`Panel::start`].
#[inline(always)]
unsafe fn read<T: Copy, const W: usize>(job: &Job<'_>, row: usize, column: usize) -> [T; W] {
    let cells = job.output.at(row, column);
    match job.output.step == size_of::<T>().cast_signed() {
        // SAFETY: the caller promises the cells, which follow each other if their step is an
        // element's size.
        true => unsafe { cells.cast::<[T; W]>().read() },
        false => std::array::from_fn(|i| {
            let cell = job.output.at(row, column + i).cast::<T>();
            // SAFETY: the caller promises each of the cells.
            unsafe { cell.read() }
        }),
    }
}

/// Writes the cells of a row from `column` on.
///
/// # Safety
/// As for [`Panel::start`].
#[inline(always)]
pub(crate) unsafe fn write<T: Copy, const W: usize>(
    job: &Job<'_>,
    row: usize,
    column: usize,
    values: [T; W],
    isa: impl Isa,
) {
    let (size, step) = (size_of::<T>(), job.output.step);
    let cells = job.output.at(row, column);
    let lines = (W * size).is_multiple_of(LINE) && cells.addr().is_multiple_of(LINE);
    // SAFETY: the caller's promise: the cells are writable, and follow each other if their step is
    // an element's size. Whole lines are written past the caches, from where one begins.
    unsafe {
        if step != size.cast_signed() {
            for (value, column) in values.into_iter().zip(column..) {
                job.output.at(row, column).cast::<T>().write(value);
            }
        } else if job.past_caches && lines {
            for at in (0..W * size).step_by(LINE) {
                let from = values.as_ptr().cast::<u8>();
                isa.write_line_past_caches(from.add(at), cells.add(at));
            }
        } else {
            cells.cast::<[T; W]>().write(values);
        }
    }
}
