//! Groups of dense rows reduced once: the running results of some columns stay in vector registers.
//!
//! ```text
//! for each group, for each panel of columns: results = start
//!     for each update: prefetch a row ahead; results = join(results, row[panel])
//!     write results
//! ```
//!
//! Cost: each update's row is read once, panel by panel, and no accumulator goes through memory.
//! Rows are prefetched across the end of a group. Groups of very many updates are left to the loops
//! of [`reduce`](crate::segment::reduce), which read a row as a whole. `fits` says which jobs
//! come here.
//!
//! # Unsafe
//!
//! - Buys: one reduction's running row in registers, with little work between groups
//! - Measured: the loop of `segment/reduce.rs` as it was, on an Intel server with a second-level
//!   cache of 2 MiB: W2a by group 1.46, two threads 1.47; rows of 256 float32 elements 1.21 and
//!   1.31
//! - Holds: as `segment/reduce.rs`, whose groups and jobs these are; asserted: as many places as a
//!   group has updates; updates in order are all updates

use crate::cpu::LINE;
use crate::cpu::isa::Isa;
use crate::cpu::prefetch::prefetch_second_level;
use crate::ops::number::Convert;
use crate::ops::reduction::{Combine, Nan};
use crate::segment::accumulator::{Fold, Folds, VECTOR, cleared, first_of, start_of, vectors};
use crate::segment::job::{Job, panels_ahead};
use crate::segment::job::{Loops, MOST_ROWS};
use crate::segment::lookahead::Lookahead;
use std::ops::Range;

/// Whether the loops here are for this job.
pub(crate) fn fits<T: Folds>(job: &Job<'_>) -> bool {
    let size = size_of::<T>().cast_signed();
    let dense = job.inner.src == size && matches!(*job.outputs, [(_, _, step)] if step == size);
    // A strict minimum or maximum is rare.
    let strict = |fold: &Fold| {
        T::STRICT
            && matches!(
                fold.combine,
                Combine::Min(Nan::Ignore) | Combine::Max(Nan::Ignore)
            )
    };
    dense && !job.folds.iter().any(strict) && job.folds.len() == 1 && job.inner.len >= VECTOR
}

/// Prefetches these bytes of a row that will be read after many others. Rows in order are
/// prefetched, too: the hardware does not recognise a stream that is read in tiles.
#[inline(always)]
pub(crate) fn asked_for(row: Option<*const u8>, bytes: Range<usize>) {
    if let Some(row) = row {
        prefetch_second_level(row.wrapping_add(bytes.start), bytes.len().div_ceil(LINE));
        // What begins within a line ends in one more.
        if !row.addr().wrapping_add(bytes.end).is_multiple_of(LINE) {
            prefetch_second_level(row.wrapping_add(bytes.end - 1), 1);
        }
    }
}

/// The loops. Groups of very many updates are left to `large`.
///
/// # Safety
/// As for [`Loops`]; the job is one that [`fits`].
#[inline(always)]
pub(crate) unsafe fn rows<T: Folds>(job: &Job<'_>, large: Loops, isa: impl Isa) {
    let (&[fold], &[take]) = (job.folds, job.takes) else {
        return;
    };
    // SAFETY: the caller keeps the contract of `Loops`, which is that of `reduce`; it makes cells
    // readable.
    unsafe {
        macro_rules! each {
            ($cell:ty, $how:expr, sums) => {
                reduce::<T, $cell>(
                    (job, large, isa),
                    #[inline(always)]
                    |cell| first_of::<T>(fold, cell),
                    $how,
                    #[inline(always)]
                    |sums, count| match take.mean {
                        None => each(sums, T::narrow),
                        Some(more) => {
                            let count = count + more;
                            each(
                                sums,
                                #[inline(always)]
                                |sum| T::narrow(T::mean(sum, count)),
                            )
                        }
                    },
                )
            };
            ($cell:ty, $how:expr, extremes) => {
                reduce::<T, $cell>(
                    (job, large, isa),
                    #[inline(always)]
                    |cell| start_of::<T>(fold, cell),
                    $how,
                    #[inline(always)]
                    |values, _| match take.zero_if_start {
                        false => values,
                        true => each(
                            values,
                            #[inline(always)]
                            |value| cleared::<T>(value, fold, &take),
                        ),
                    },
                )
            };
        }
        // As `fits` says, none is strict.
        match fold.combine {
            Combine::Sum => each!(T::Acc, T::add, sums),
            Combine::Prod => each!(T::Acc, T::mul, sums),
            Combine::Min(_) => each!(T, T::extreme::<false, false>, extremes),
            _ => each!(T, T::extreme::<true, false>, extremes),
        }
    }
}

#[inline(always)]
fn each<T, C: Copy>(results: [C; VECTOR], cell: impl Fn(C) -> T) -> [T; VECTOR] {
    std::array::from_fn(
        #[inline(always)]
        |i| cell(results[i]),
    )
}

/// Where the updates of a group begin, and then those of the next groups.
#[derive(Clone, Copy)]
enum Updates<'p> {
    Listed(&'p [*const u8]),
    /// The address of the first update, and the bytes from one update to the next.
    InOrder(*const u8, isize),
}

impl Updates<'_> {
    #[inline(always)]
    fn get(self, k: usize) -> Option<*const u8> {
        match self {
            Self::Listed(places) => places.get(k).copied(),
            Self::InOrder(first, step) => Some(first.wrapping_offset(k.cast_signed() * step)),
        }
    }
}

/// The updates of a group, and its cells.
struct Group<'p, T> {
    updates: Updates<'p>,
    count: usize,
    /// The number of updates between the one that is prefetched and the one that is joined.
    ahead: usize,
    cells: *mut T,
    /// Cells begin with a line, and are written past the caches.
    past_caches: bool,
}

impl<T: Copy> Group<'_, T> {
    /// # Safety
    /// The group has an update of this number.
    #[inline(always)]
    unsafe fn update(&self, k: usize) -> *const T {
        // SAFETY: the caller promises that the group has an update of this number.
        unsafe { self.updates.get(k).unwrap_unchecked() }.cast()
    }

    #[inline(always)]
    fn ask(&self, k: usize, columns: Range<usize>) {
        let bytes = columns.start * size_of::<T>()..columns.end * size_of::<T>();
        asked_for(self.updates.get(k + self.ahead), bytes);
    }

    /// # Safety
    /// There are `VECTOR` cells from this one on, and `begin` may read them.
    #[inline(always)]
    unsafe fn begin<C: Copy>(&self, from: usize, begin: &impl Fn(*const T) -> C) -> [C; VECTOR] {
        std::array::from_fn(
            #[inline(always)]
            // SAFETY: the caller promises `VECTOR` cells from `from` on, and `i` is below `VECTOR`.
            |i| begin(unsafe { self.cells.add(from + i) }),
        )
    }

    /// # Safety
    /// There are `VECTOR` cells from this one on.
    #[inline(always)]
    unsafe fn end(&self, from: usize, results: [T; VECTOR], isa: impl Isa) {
        // SAFETY: the caller's promise; whole lines are written past the caches, from where one
        // begins.
        unsafe {
            let cells = self.cells.add(from);
            if !self.past_caches {
                return vectors(cells).write(results);
            }
            for at in (0..size_of_val(&results)).step_by(LINE) {
                let (from, to) = (results.as_ptr(), cells);
                isa.write_line_past_caches(from.byte_add(at).cast(), to.byte_add(at).cast());
            }
        }
    }
}

/// Reduces the columns of a group, so many vectors of them at a time as there are names, while as
/// many are left.
macro_rules! panels {
    ($from:ident, $len:expr, $group:ident, $begin:ident, $how:ident, $end:ident, $isa:ident, [$($name:ident)*] $($number:literal)*) => {{
        const WIDTH: usize = VECTOR * [$($number),*].len();
        while $from + WIDTH <= $len {
            $(let mut $name = $group.begin($from + VECTOR * $number, &$begin);)*
            for k in 0..$group.count {
                $group.ask(k, $from..$from + WIDTH);
                let values = vectors($group.update(k).cast_mut().add($from));
                $(join(&mut $name, values.add($number).read(), &$how);)*
            }
            $($group.end($from + VECTOR * $number, $end($name, $group.count as u64), $isa);)*
            $from += WIDTH;
        }
    }};
}

#[inline(always)]
fn join<T: Convert<C>, C: Copy>(
    results: &mut [C; VECTOR],
    values: [T; VECTOR],
    how: &impl Fn(C, C) -> C,
) {
    for (result, value) in results.iter_mut().zip(values) {
        *result = how(*result, value.convert());
    }
}

/// # Safety
/// As for [`rows`]; `begin` may read a cell.
#[inline(always)]
unsafe fn reduce<T: Folds + Convert<C>, C: Copy>(
    (job, large, isa): (&Job<'_>, Loops, impl Isa),
    begin: impl Fn(*const T) -> C,
    how: impl Fn(C, C) -> C,
    end: impl Fn([C; VECTOR], u64) -> [T; VECTOR],
) {
    let (groups, len) = (job.groups, job.inner.len);
    let &[(base, row_step, _)] = job.outputs else {
        return;
    };
    let ahead = panels_ahead(len * size_of::<T>());
    let mut lookahead = Lookahead::new();
    for group in job.range.clone() {
        let updates = groups.start(group)..groups.start(group + 1);
        let count = updates.len();
        if count == 0 {
            continue;
        }
        // SAFETY: the caller's promise: the updates of a group, and its cells, are `len` values
        // each, without gaps. There are as many places as a group has updates, listed or in order.
        unsafe {
            if count > MOST_ROWS {
                large(&Job {
                    range: group..group + 1,
                    ..*job
                });
                continue;
            }
            let updates = match groups.in_order() {
                true => {
                    let first = updates.start.cast_signed() * job.src_row;
                    Updates::InOrder(job.src.wrapping_offset(first), job.src_row)
                }
                false => {
                    let places = lookahead.at(updates.start, updates.end + ahead, job);
                    assert!(count <= places.len());
                    Updates::Listed(places)
                }
            };
            let row = groups.row(group).cast_signed();
            let cells = base.wrapping_offset(row * row_step).cast::<T>();
            let group = Group {
                updates,
                count,
                ahead,
                cells,
                past_caches: job.past_caches && cells.addr().is_multiple_of(LINE),
            };
            let mut from = 0;
            panels!(from, len, group, begin, how, end, isa, [a b c d] 0 1 2 3);
            panels!(from, len, group, begin, how, end, isa, [a] 0);
            if from < len {
                (0..count).for_each(|k| group.ask(k, from..len));
            }
            for column in from..len {
                let cell = group.cells.add(column);
                let mut result = begin(cell);
                for k in 0..count {
                    result = how(result, group.update(k).add(column).read().convert());
                }
                let [result, ..] = end([result; VECTOR], count as u64);
                cell.write(result);
            }
        }
    }
}
