//! Segments of single elements.
//!
//! ```text
//! updates that follow each other:
//!     for each four segments: join(each) side by side as far as all of them go, if that is long;
//!     then the rest of each
//! others:
//!     for each segment, for each update: prefetch a later update; running = join(running, update)
//! ```
//!
//! Within one segment, each join waits for the one before it; those of four segments do not. Of an
//! extreme, whose bits do not depend on the order, a long segment is joined in lanes.
//!
//! # Unsafe
//!
//! - Buys: updates in order as slices; four segments side by side
//! - Measured: long runs one element after the other instead of as a slice: 11 (amax of 8M sorted
//!   float32 into 1,000 cells, 1 thread); rows one after the other: 3.1 (planned sums of 16M sorted
//!   float32, 1,000 a cell, 1 thread)
//! - Holds: `Segments` checked rows and places. Slices are made only of updates that follow each
//!   other

use crate::cpu::LINE;
use crate::cpu::isa::{Isa, is_bare};
use crate::cpu::prefetch::prefetch;
use crate::groups::row_ids::UpdateOrder;
use crate::segment::fold::{Column, FREE, Place};
use crate::segment::job::{Job, Segment};
use crate::segment::minmax_lanes;
use crate::segment::panel::{NONE, Panel, position};

/// Segments that are reduced side by side.
const CHAINS: usize = 4;

/// Updates of each of four segments from which on they are reduced side by side. With fewer, the
/// processor begins the next segment before it has ended this one.
const LONG: usize = 64;

/// Elements of a long segment between the one that is prefetched and the one that is joined.
const FAR: usize = 1024;

/// Updates between the one that is prefetched and the one that is joined.
const AHEAD: usize = 32;

/// The loops for updates that follow each other.
///
/// # Safety
/// As for [`Loops`](crate::segment::job::Loops), of rows of one element, in the source's order, one
/// after the other. Where winners are numbered, segments are short enough for that.
#[inline(always)]
pub(crate) unsafe fn in_order<R: Column>(job: &Job<'_>, isa: impl Isa) {
    if !R::HOT || is_bare(isa) {
        // SAFETY: the caller's promise: the segments are the job's.
        return (job.segments.iter()).for_each(|&one| unsafe { slice::<R>(job, one, isa) });
    }
    let long = |segment: &Segment| segment.count >= LONG;
    let (fours, rest) = job.segments.as_chunks::<CHAINS>();
    // SAFETY: the caller's promise: the segments are the job's.
    unsafe {
        for four in fours {
            if R::ORDERED && four.iter().all(long) {
                side_by_side::<R>(job, four, isa);
            } else {
                four.iter().for_each(|&one| slice::<R>(job, one, isa));
            }
        }
        rest.iter().for_each(|&one| slice::<R>(job, one, isa));
    }
}

/// The updates of a segment as a slice.
///
/// # Safety
/// As for [`in_order`].
#[inline(always)]
unsafe fn values<'j, R: Column>(job: &Job<'j>, segment: Segment) -> &'j [R::Value] {
    let first = job.src.cast::<R::Value>().wrapping_add(segment.start);
    // SAFETY: the caller promises the segment's updates, one after the other.
    unsafe { std::slice::from_raw_parts(first, segment.count) }
}

/// Reduces a segment.
///
/// # Safety
/// As for [`in_order`]; the segment is the job's.
#[inline(always)]
unsafe fn slice<R: Column>(job: &Job<'_>, segment: Segment, isa: impl Isa) {
    // SAFETY: the caller's promise.
    unsafe {
        let panel = Panel::<R, 1>::start(job, segment.row, 0, isa);
        let values = values::<R>(job, segment);
        rest(job, segment, panel, (values, 0), isa);
    }
}

/// Joins the updates from number `from` on, and finishes the segment.
///
/// # Safety
/// As for [`slice`].
#[inline(always)]
unsafe fn rest<R: Column>(
    job: &Job<'_>,
    segment: Segment,
    mut panel: Panel<R, 1>,
    (values, from): (&[R::Value], usize),
    isa: impl Isa,
) {
    let mut values = &values[from..];
    if !R::ORDERED && values.len() >= minmax_lanes::ENOUGH {
        panel.running[0] = R::join_all(panel.running[0], values);
        values = &[];
    }
    let mut number = from;
    // The first number wins.
    while R::POSITIONS
        && panel.winners[0] == FREE
        && let [first, later @ ..] = values
    {
        panel.join([*first], number as Place, isa);
        (values, number) = (later, number + 1);
    }
    if R::EIGHTS {
        let (eights, rest) = values.as_chunks::<8>();
        for &eight in eights {
            for update in R::widen(eight, isa) {
                join_later(&mut panel, update, number as Place);
                number += 1;
            }
        }
        values = rest;
    }
    for &value in values {
        let [update] = R::widen([value], isa);
        join_later(&mut panel, update, number as Place);
        number += 1;
    }
    // SAFETY: the caller's promise.
    unsafe { finish(job, segment, panel, |place| place, isa) };
}

/// Joins an update that wins only if it is better.
#[inline(always)]
fn join_later<R: Column>(panel: &mut Panel<R, 1>, update: R::Running, number: Place) {
    let joined = R::join_later(panel.running[0], panel.winners[0], update, number);
    (panel.running[0], panel.winners[0]) = joined;
}

/// Finishes a segment whose winner's number counts from its first place.
///
/// # Safety
/// As for [`Panel::finish`].
#[inline(always)]
unsafe fn finish<R: Column>(
    job: &Job<'_>,
    segment: Segment,
    panel: Panel<R, 1>,
    order: impl Fn(usize) -> usize,
    isa: impl Isa,
) {
    let positions = match R::POSITIONS {
        true => [position(panel.winners[0], NONE, |k| {
            order(segment.start + k)
        })],
        false => [NONE],
    };
    // SAFETY: the caller's promise.
    unsafe { panel.finish(job, segment, 0, positions, isa) };
}

/// Reduces four segments side by side.
///
/// # Safety
/// As for [`in_order`]; the segments are the job's.
#[inline(always)]
unsafe fn side_by_side<R: Column>(job: &Job<'_>, segments: &[Segment; CHAINS], isa: impl Isa) {
    // SAFETY: the caller promises the cells of each segment, and its elements one after the other.
    unsafe {
        let mut panels: [Panel<R, 1>; CHAINS] =
            std::array::from_fn(|n| Panel::start(job, segments[n].row, 0, isa));
        let values = segments.map(|segment| values::<R>(job, segment));
        let common = values.map(<[R::Value]>::len).into_iter().min().unwrap_or(0);
        let ahead = if common < 2 * FAR {
            CHAINS * common
        } else {
            FAR
        };
        let each = LINE / size_of::<R::Value>();
        for from in (0..common).step_by(each) {
            let to = common.min(from + each);
            let lines = values.map(|values| {
                prefetch(values.as_ptr().wrapping_add(from + ahead).cast(), 1);
                &values[from..to]
            });
            for k in 0..to - from {
                for (panel, line) in panels.iter_mut().zip(lines) {
                    panel.join([line[k]], (from + k) as Place, isa);
                }
            }
        }
        for ((panel, values), &segment) in panels.into_iter().zip(values).zip(segments) {
            rest(job, segment, panel, (values, common), isa);
        }
    }
}

/// The loops for updates that do not follow each other.
///
/// # Safety
/// As for [`Loops`](crate::segment::job::Loops), of rows of one element. Where winners are
/// numbered, segments are short enough for that.
#[inline(always)]
pub(crate) unsafe fn listed<R: Column>(job: &Job<'_>, isa: impl Isa) {
    // How the order of most lists is stored is looked up once, not for each element.
    // SAFETY: the caller's promise; these are the order's updates.
    unsafe {
        match job.order {
            UpdateOrder::Narrow(order) if R::HOT => {
                each::<R>(job, |place| order[place] as usize, isa)
            }
            order => each::<R>(job, |place| order.get(place), isa),
        }
    }
}

/// # Safety
/// As for [`listed`]; `order` gives the update at each place of the job's order.
#[inline(always)]
unsafe fn each<R: Column>(job: &Job<'_>, order: impl Fn(usize) -> usize + Copy, isa: impl Isa) {
    let element = |place: usize| {
        let at = order(place).cast_signed() * job.src_row;
        job.src.wrapping_offset(at).cast::<R::Value>()
    };
    for &segment in job.segments {
        // SAFETY: the caller promises the cells of each segment, and its updates.
        unsafe {
            let mut panel = Panel::<R, 1>::start(job, segment.row, 0, isa);
            let mut k = 0;
            let next = |k: usize| {
                let place = segment.start + k;
                if place + AHEAD < job.places {
                    prefetch(element(place + AHEAD).cast(), 1);
                }
                element(place).read()
            };
            // The first number wins.
            while R::POSITIONS && panel.winners[0] == FREE && k < segment.count {
                panel.join([next(k)], k as Place, isa);
                k += 1;
            }
            for k in k..segment.count {
                let [update] = R::widen([next(k)], isa);
                join_later(&mut panel, update, k as Place);
            }
            finish(job, segment, panel, order, isa);
        }
    }
}
