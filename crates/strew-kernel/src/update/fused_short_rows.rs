//! Lines of short dense rows whose index is used as it is.
//!
//! For sums, a row of 2 to 8 elements is compiled as one element of that size. Rows of 9 to 31
//! elements share one loop whose length is known only at run time, and extremes have that one for
//! 2 to 31. Longer rows go through blocks of offsets, whose
//! cost they hide. It relies on the contract of `LineLoop`.
//!
//! # Unsafe
//!
//! - Buys: rows of 9 to 31 elements in one loop
//! - Measured: by blocks of offsets: 64 MB of float32 rows, ten to a cell, of 9 elements 1.96, of
//!   16 1.75, of 31 1.41; sorted 1.64, 1.70, 1.39
//! - Holds: as `update/fused.rs`, whose loops these are

use crate::cpu::prefetch::prefetch;
use crate::ops::combine::Join;
use crate::ops::number::Convert;
use crate::rows::row_pairs::join_few;
use crate::update::fused::{fused_lines, owned_rows};
use crate::walk::line::{Line, LineLoop, Lines, once};
use std::marker::PhantomData;

/// The loop over lines of rows of `len` elements; `None` if there is none and blocks of rows are
/// used.
pub(crate) fn fused_short_rows<J: Join>(len: usize) -> Option<LineLoop> {
    match len {
        2 => Some(fused_lines::<Short<J, 2>>),
        3 => Some(fused_lines::<Short<J, 3>>),
        4 => Some(fused_lines::<Short<J, 4>>),
        5 => Some(fused_lines::<Short<J, 5>>),
        6 => Some(fused_lines::<Short<J, 6>>),
        7 => Some(fused_lines::<Short<J, 7>>),
        8 => Some(fused_lines::<Short<J, 8>>),
        9..SHORT => Some(longer_lines::<J>),
        _ => None,
    }
}

/// Rows with as many elements or more go through blocks of offsets.
const SHORT: usize = 32;

/// As [`fused_short_rows`], by one loop for all lengths: for reductions that are not worth the size
/// of a loop for each.
pub(crate) fn fused_rows_of_any_length<J: Join>(len: usize) -> Option<LineLoop> {
    (2..SHORT).contains(&len).then_some(longer_lines::<J>)
}

/// A row of `N` elements without gaps, as one element.
struct Short<J, const N: usize>(PhantomData<J>);

impl<J: Join, const N: usize> Join for Short<J, N> {
    const LEN: usize = N;
    const CHAINS: usize = J::CHAINS;
    const HOT: bool = J::HOT;
    const WIDE: bool = J::WIDE;
    type Cell = [J::Cell; N];
    type Value = [J::Value; N];
    type Wide = [J::Value; N];
    #[inline(always)]
    fn join(cells: &mut Self::Cell, values: Self::Wide) {
        for (cell, value) in cells.iter_mut().zip(values) {
            J::join(cell, value.convert());
        }
    }
}

/// Lines of rows whose common length is known only at run time.
///
/// # Safety
/// As for [`LineLoop`], for rows of `J::Cell` and `J::Value` without
/// gaps, each of fewer than 32 elements.
unsafe fn longer_lines<J: Join>(lines: &Lines<'_>) -> bool {
    // SAFETY: the caller keeps the contract of `LineLoop` for these lines, so it holds for each of
    // them.
    (0..lines.count).map(|n| lines.nth(n)).all(|line| unsafe {
        if !line.term.is_whole() && !line.term.own {
            return vectorized_if!(J::WIDE, |_isa| owned::<J>(&line));
        }
        let line = line.of_part();
        match line.narrow {
            true => vectorized_if!(J::WIDE, |_isa| longer_rows::<J, i32>(&line)),
            false => vectorized_if!(J::WIDE, |_isa| longer_rows::<J, i64>(&line)),
        }
    })
}

/// Bytes of the source between the row that is joined and the row that is prefetched.
const FETCHED: usize = 4096;

/// Rows between the index value that is prefetched and the row that is joined.
const INDEX_AHEAD: isize = 1024;

/// Rows between the cells that are prefetched and the row that is joined.
const ROWS_AHEAD: usize = 16;

/// Prefetches the cache lines of a row, at most five. A loop would take longer.
#[inline(always)]
fn fetch(at: *const u8, bytes: usize) {
    prefetch(at, 1);
    for line in 1..4 {
        if bytes > 64 * line {
            prefetch(at.wrapping_add(64 * line), 1);
        }
    }
    prefetch(at.wrapping_add(bytes - 1), 1);
}

/// Joins every row of a line, which holds fewer than 32 elements; false at an index value that is
/// not below the limit.
///
/// # Safety
/// As for `longer_lines`, with index values of type `I`.
#[inline(always)]
unsafe fn longer_rows<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    let (index, limit) = (line.index.cast::<I>(), line.term.limit as u64);
    let (mut dst, mut src) = (line.dst, line.src);
    let (step, apart) = (line.step, line.term.dst);
    let (count, len) = (line.count, line.width);
    let (read, written) = (len * size_of::<J::Value>(), len * size_of::<J::Cell>());
    // SAFETY: the caller keeps `LineLoop`'s obligations, for rows below the count and values below
    // the limit.
    unsafe {
        for i in 0..count {
            let later = line.number(once(index.add((i + ROWS_AHEAD).min(count - 1))));
            let cell = (later as isize).wrapping_mul(apart);
            fetch(dst.wrapping_offset(cell), written);
            fetch(src.wrapping_add(FETCHED), read);
            let value = line.number(once(index.add(i)));
            if value.cast_unsigned() >= limit {
                return false;
            }
            join::<J>(len, dst.offset(value as isize * apart), src);
            src = src.wrapping_offset(step.src);
            dst = dst.wrapping_offset(step.dst);
        }
    }
    true
}

/// Joins a row of `len` elements.
///
/// # Safety
/// Both sides hold `len` elements, and `len` is below 32.
#[inline(always)]
unsafe fn join<J: Join>(len: usize, cell: *mut u8, from: *const u8) {
    // SAFETY: the caller promises `len` elements on both sides and `len` < 32, which is what
    // `join_few` requires.
    unsafe { join_few::<J::Cell, J::Value, J::Wide>(len, cell.cast(), from.cast(), J::join) }
}

/// Joins only the rows whose index values are in the term's part.
///
/// # Safety
/// As for `longer_lines`.
#[inline(always)]
unsafe fn owned<J: Join>(line: &Line<'_>) -> bool {
    let len = line.width;
    // SAFETY: the caller promises a line; `owned_rows` calls the closures with places of its rows
    // only, each of `width` elements.
    unsafe {
        owned_rows(
            line,
            ROWS_AHEAD,
            #[inline(always)]
            |k, row, cell, from| {
                if k % 4 == 0 {
                    let later = (row + INDEX_AHEAD).wrapping_mul(line.stretch.stride);
                    prefetch(line.index.wrapping_offset(later), 1);
                }
                fetch(cell, len * size_of::<J::Cell>());
                fetch(from, len * size_of::<J::Value>());
            },
            #[inline(always)]
            |cell, from| join::<J>(len, cell, from),
        )
    }
}
