//! Exact sums of segments: `float64` results in registers, with a test of every addition.
//!
//! ```text
//! sum = 0
//! for each update:
//!     new = sum + update
//!     sum = new if new - sum = update and new - update = sum, else NaN
//! cell = sum, rounded once; where that is NaN: the exact sum of the segment's updates once more
//! ```
//!
//! An addition that passes the test was exact: the difference of its result and the larger operand
//! is computed exactly. 53 bits are enough for sums of ordinary elements of at most 24. The others
//! are summed with integers of [`exact`](crate::exact).
//!
//! Sums of `float64` have a second number, which is the sum of what the additions to the first one
//! have rounded away. It passes the same test.
//!
//! Cost: five operations per element instead of one, for `float64` twelve. The sum of a cell that
//! failed is made again, at about 20 times the cost per element.
//! It is used for new rows of floats.
//!
//! # Unsafe
//!
//! - Buys: the loops of `segment/rows.rs`, and cells that are read where they were written
//! - Measured: that of those loops
//! - Holds: the caller's promise, passed on

use crate::cpu::LINE;
use crate::cpu::isa::{Baseline, Isa};
use crate::cpu::prefetch::prefetch;
use crate::exact::one_sum::OneSum;
use crate::exact::table::Rounded;

use crate::ops::number::{Convert, Number};
use crate::segment::elements;
use crate::segment::fold::{Column, Place, Seed};
use crate::segment::job::{Job, Segment};
use crate::segment::panel::write;
use crate::segment::rows::rows;
use crate::tensor::DType;
use std::marker::PhantomData;

/// Whether new rows of a type are summed here.
#[must_use]
pub fn sums_rows_exactly(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

/// The exact sum of elements that have at most 24 bits.
pub(crate) struct ExactSum<T>(PhantomData<T>);

impl<T: Number + PartialEq + Convert<f64> + Rounded> Column for ExactSum<T> {
    type Value = T;
    type Running = f64;

    #[inline(always)]
    fn start(_: Seed) -> Option<f64> {
        Some(0.0)
    }

    #[inline(always)]
    fn widen<const W: usize>(values: [T; W], _: impl Isa) -> [f64; W] {
        values.map(
            #[inline(always)]
            |value| value.convert(),
        )
    }

    #[inline(always)]
    fn narrow<const W: usize>(sums: [f64; W], _: impl Isa) -> [T; W] {
        sums.map(
            #[inline(always)]
            |sum| T::of(sum),
        )
    }

    #[inline(always)]
    fn join(sum: f64, winner: Place, update: f64, _: Place) -> (f64, Place) {
        let new = sum + update;
        let exact = (new - sum == update) & (new - update == sum);
        (if exact { new } else { f64::NAN }, winner)
    }
}

/// The exact sum of `float64` elements.
pub(crate) struct ExactPair;

/// A sum as two numbers.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    sum: f64,
    /// What is missing from it. NaN: unknown.
    rest: f64,
}

impl Pair {
    #[inline(always)]
    fn plus(self, value: f64) -> Self {
        let sum = self.sum + value;
        // What the addition has rounded away is exact, by Knuth's two-sum. It is NaN if `sum` is
        // not finite.
        let added = sum - self.sum;
        let lost = (self.sum - (sum - added)) + (value - added);
        let rest = self.rest + lost;
        let exact = (rest - self.rest == lost) & (rest - lost == self.rest);
        let rest = if exact { rest } else { f64::NAN };
        Self { sum, rest }
    }
}

impl Column for ExactPair {
    type Value = f64;
    type Running = Pair;

    #[inline(always)]
    fn start(_: Seed) -> Option<Pair> {
        Some(Pair {
            sum: 0.0,
            rest: 0.0,
        })
    }

    #[inline(always)]
    fn widen<const W: usize>(values: [f64; W], _: impl Isa) -> [Pair; W] {
        values.map(
            #[inline(always)]
            |sum| Pair { sum, rest: 0.0 },
        )
    }

    #[inline(always)]
    fn narrow<const W: usize>(sums: [Pair; W], _: impl Isa) -> [f64; W] {
        // The only addition that rounds.
        sums.map(
            #[inline(always)]
            |pair| pair.sum + pair.rest,
        )
    }

    #[inline(always)]
    fn join(before: Pair, winner: Place, update: Pair, _: Place) -> (Pair, Place) {
        (before.plus(update.sum), winner)
    }
}

/// The loops for elements of at most 24 bits.
///
/// # Safety
/// As for [`Loops`](crate::segment::job::Loops).
pub(crate) unsafe fn run<T>(job: &Job<'_>)
where
    T: Number + PartialEq + Convert<f64> + Rounded,
{
    let job = &in_caches(job);
    // SAFETY: the caller keeps the contract of `Loops`, which is that of all loops.
    unsafe {
        match job.len {
            1 => elements::listed::<ExactSum<T>>(job, Baseline),
            _ => vectorized!(|isa| rows::<ExactSum<T>>(job, isa)),
        }
        job.segments
            .iter()
            .for_each(|&segment| mend::<T>(job, segment));
    }
}

/// The loops for `float64`.
///
/// # Safety
/// As for [`Loops`](crate::segment::job::Loops).
pub(crate) unsafe fn run_pairs(job: &Job<'_>) {
    let job = &in_caches(job);
    // SAFETY: the caller keeps the contract of `Loops`, which is that of all loops.
    unsafe {
        match job.len {
            1 => elements::listed::<ExactPair>(job, Baseline),
            _ => vectorized!(|isa| pairs(job, isa)),
        }
        job.segments
            .iter()
            .for_each(|&segment| mend::<f64>(job, segment));
    }
}

/// The job with cells that are read again, so that they stay in the caches.
fn in_caches<'j>(job: &Job<'j>) -> Job<'j> {
    Job {
        past_caches: false,
        ..*job
    }
}

/// Columns of a tile, whose sums stay in registers.
const TILE: usize = 16;

/// Updates between the one that is prefetched and the one that is added.
const AHEAD: usize = 16;

/// Sums rows of `float64`: by tiles, as the two numbers of a sum are in vectors of their own.
///
/// # Safety
/// As for [`Loops`](crate::segment::job::Loops).
#[inline(always)]
unsafe fn pairs(job: &Job<'_>, isa: impl Isa) {
    let dense = job.src_step == size_of::<f64>().cast_signed();
    for &segment in job.segments {
        let mut column = 0;
        // SAFETY: the caller's promise; the columns are the rows', which follow each other.
        unsafe {
            while dense && column + TILE <= job.len {
                tile::<TILE>(job, segment, column, isa);
                column += TILE;
            }
            while column < job.len {
                tile::<1>(job, segment, column, isa);
                column += 1;
            }
        }
    }
}

/// Sums some columns of a segment, and writes their cells.
///
/// # Safety
/// As for [`pairs`]; the segment is the job's, and the columns are the rows', which follow each
/// other if they are several.
#[inline(always)]
unsafe fn tile<const W: usize>(job: &Job<'_>, segment: Segment, column: usize, isa: impl Isa) {
    let (mut sums, mut rests) = ([0.0; W], [0.0; W]);
    let at = column.cast_signed() * job.src_step;
    for place in segment.start..segment.start + segment.count {
        if place + AHEAD < job.places {
            let later = job.update(place + AHEAD).wrapping_offset(at);
            prefetch(later, (W * size_of::<f64>()).div_ceil(LINE));
        }
        let update = job.update(place).wrapping_offset(at).cast::<[f64; W]>();
        // SAFETY: the caller's promise.
        let values = unsafe { update.read() };
        for i in 0..W {
            let before = Pair {
                sum: sums[i],
                rest: rests[i],
            };
            let after = before.plus(values[i]);
            (sums[i], rests[i]) = (after.sum, after.rest);
        }
    }
    // The only addition that rounds.
    let made: [f64; W] = std::array::from_fn(
        #[inline(always)]
        |i| sums[i] + rests[i],
    );
    // SAFETY: the caller's promise.
    unsafe { write(job, segment.row, column, made, isa) };
}

/// Sums the columns of a segment again whose cells are NaN.
///
/// # Safety
/// As for [`run`]; the segment is the job's.
unsafe fn mend<T>(job: &Job<'_>, segment: Segment)
where
    T: Number + PartialEq + Convert<f64> + Rounded,
{
    let spoiled = |column: usize| {
        let cell = job.output.at(segment.row, column).cast::<T>();
        // SAFETY: the caller promises the row's cells.
        let value: f64 = unsafe { cell.read() }.convert();
        value.is_nan()
    };
    if (0..job.len).fold(false, |any, column| any | spoiled(column)) {
        for column in (0..job.len).filter(|&column| spoiled(column)) {
            // SAFETY: the caller's promise.
            unsafe { sum_again::<T>(job, segment, column) };
        }
    }
}

/// Sums a column of a segment with integers, and writes its cell.
///
/// # Safety
/// As for [`run`]; the segment and the column are the job's.
#[cold]
#[inline(never)]
unsafe fn sum_again<T>(job: &Job<'_>, segment: Segment, column: usize)
where
    T: Number + PartialEq + Convert<f64> + Rounded,
{
    let at = column.cast_signed() * job.src_step;
    let mut sum = OneSum::new();
    for place in segment.start..segment.start + segment.count {
        let update = job.update(place).wrapping_offset(at).cast::<T>();
        // SAFETY: the caller promises every update of the segment, and the column.
        sum.add(unsafe { update.read() }.convert());
    }
    let cell = job.output.at(segment.row, column).cast::<T>();
    // SAFETY: the caller promises the row's cells.
    unsafe { cell.write(T::of(sum.round(T::FORMAT))) };
}
