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
//! Cost: five operations per element instead of one. The sum of a cell that failed is made again,
//! at about 20 times the cost per element.
//! It is used for new rows of `float16`, `bfloat16` and `float32`.
//!
//! # Unsafe
//!
//! - Buys: the loops of `segment/rows.rs`, and cells that are read where they were written
//! - Measured: that of those loops
//! - Holds: the caller's promise, passed on

use crate::cpu::isa::{Baseline, Isa};
use crate::exact::one_sum::OneSum;
use crate::exact::table::Rounded;

use crate::ops::number::{Convert, Number};
use crate::segment::elements;
use crate::segment::fold::{Column, Place, Seed};
use crate::segment::job::{Job, Segment};
use crate::segment::rows::rows;
use crate::tensor::DType;
use std::marker::PhantomData;

/// Whether new rows of a type are summed here.
#[must_use]
pub fn sums_rows_exactly(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32)
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

/// The loops.
///
/// # Safety
/// As for [`Loops`](crate::segment::job::Loops).
pub(crate) unsafe fn run<T>(job: &Job<'_>)
where
    T: Number + PartialEq + Convert<f64> + Rounded,
{
    // Cells are read again, so that they stay in the caches.
    let job = &Job {
        past_caches: false,
        ..*job
    };
    // SAFETY: the caller keeps the contract of `Loops`, which is that of all loops.
    unsafe {
        match job.len {
            1 => elements::listed::<ExactSum<T>>(job, Baseline),
            _ => vectorized!(|isa| rows::<ExactSum<T>>(job, isa)),
        }
        for &segment in job.segments {
            mend::<T>(job, segment);
        }
    }
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
