//! Single elements and short rows whose index is used as it is: one loop reads it, checks it and joins.
//!
//! Offsets that are written down and read again cost as much as what is then done with a single
//! element. Here a value goes from the index through its check to the cell in registers. A row of 2
//! to 8 elements without gaps is an element of that size.

use super::decode::Stretch;
use super::lane::Lane;
use super::loops::Join;
use super::number::Convert;
use super::rows::{Ahead, prefetch};
use super::sift::Wanted;
use super::simd::{Baseline, Isa};
use super::walk::{ROWS, Step, Term};
use crate::tensor::DType;
use std::marker::PhantomData;

/// A run of rows, one element or [short row](Short) each, along an axis.
#[derive(Clone, Copy)]
pub(crate) struct Line<'l> {
    /// The destination's element of the first row, if its index value is 0, and the source's.
    pub(super) dst: *mut u8,
    pub(super) src: *const u8,
    /// From row to row.
    pub(super) step: Step,
    pub(super) term: Term,
    pub(super) count: usize,
    /// The index, of which the values follow each other without gaps,
    pub(super) stretch: Stretch<'l, 'l>,
    /// and where the first one is.
    pub(super) index: *const u8,
    /// Whether they have 32 bits; else they have 64.
    pub(super) narrow: bool,
    /// What later lines will read.
    pub(super) ahead: Ahead,
    pub(super) memory: PhantomData<&'l mut [u8]>,
}

/// Lines that are evenly spaced.
pub(crate) struct Lines<'l> {
    pub(super) first: Line<'l>,
    pub(super) count: usize,
    /// Lines until the walk turns to its next rows: at least as many as there are here.
    pub(super) left: usize,
    /// Lines from one turn to the next.
    pub(super) turn: usize,
    /// Bytes from a line to the next one: in the destination, the source and the index.
    pub(super) next: [isize; 3],
}

/// Lines between the one that is joined and the one that is fetched: the hardware's own prefetching
/// goes neither from one line to the next nor past the end of a page.
const LINES_AHEAD: usize = 4;

impl<'l> Lines<'l> {
    /// How many rows they are.
    pub(super) fn rows(&self) -> usize {
        self.first.count * self.count
    }

    /// Line `n`, which is one of them.
    fn nth(&self, n: usize) -> Line<'l> {
        let first = &self.first;
        let [dst, src, index] = self.next.map(|bytes| bytes * n.cast_signed());
        let line = Line {
            dst: first.dst.wrapping_offset(dst),
            src: first.src.wrapping_offset(src),
            index: first.index.wrapping_offset(index),
            stretch: Stretch {
                at: first.stretch.at + index,
                ..first.stretch
            },
            ..*first
        };
        // After the last line before a turn come rows to the right of the first ones.
        let turns = n + LINES_AHEAD >= self.left;
        let far = |here: *const u8, next: isize, step: isize| {
            let lines = LINES_AHEAD.cast_signed() - if turns { self.turn.cast_signed() } else { 0 };
            let rows = if turns { line.count.cast_signed() } else { 0 };
            let bytes = next
                .wrapping_mul(lines)
                .wrapping_add(step.wrapping_mul(rows));
            (here.wrapping_offset(bytes), step)
        };
        let [_, src, index] = self.next;
        Line {
            ahead: Ahead {
                streams: [
                    far(line.index, index, line.stretch.stride),
                    far(line.src, src, line.step.src),
                ],
                second: None,
                near: false,
            },
            ..line
        }
    }
}

/// A loop over lines; false if it met a value that is not below the term's limit, and stopped.
///
/// # Safety
/// So many values of the index and elements of the source can be read; whatever values below the
/// limit come, the cells are valid and apart from the source; all are aligned for the loop's types.
pub(super) type LineLoop = unsafe fn(&Lines<'_>) -> bool;

/// The kind of index that lines are made of: whether it is narrow.
pub(super) fn narrow(index: DType) -> Option<bool> {
    match index {
        DType::I32 => Some(true),
        DType::I64 => Some(false),
        _ => None,
    }
}

/// Whether a line can do what a term wants: what is not below its limit is an error.
pub(super) fn keeps(term: &Term) -> bool {
    !term.drop
}

/// Whether a line can be made of these index values.
pub(super) fn fits(stretch: &Stretch<'_, '_>) -> bool {
    let dtype = stretch.index.dtype();
    narrow(dtype).is_some() && stretch.stride == dtype.size().cast_signed()
}

pub(super) unsafe fn lines<J: Join>(lines: &Lines<'_>) -> bool {
    // SAFETY: the caller keeps `LineLoop`'s obligations, which are those of each line.
    (0..lines.count).all(|n| unsafe { line::<J>(&lines.nth(n)) })
}

unsafe fn line<J: Join>(line: &Line<'_>) -> bool {
    let cell = size_of::<J::Cell>().cast_signed();
    let dense = line.step.src == size_of::<J::Value>().cast_signed();
    let columns = J::LEN == 1;
    let all = (line.term.from, line.term.len) == (0, line.term.limit);
    // SAFETY: the caller keeps `LineLoop`'s obligations.
    unsafe {
        if !all {
            return owned_line::<J>(line);
        }
        match (line.narrow, line.step.dst, line.term.dst) {
            (true, 0, to) if dense && to == cell => dense_line::<J, i32, false>(line),
            (false, 0, to) if dense && to == cell => dense_line::<J, i64, false>(line),
            (true, step, _) if dense && columns && step == cell => dense_line::<J, i32, true>(line),
            (false, step, _) if dense && columns && step == cell => {
                dense_line::<J, i64, true>(line)
            }
            (true, ..) => strided_line::<J, i32>(line),
            (false, ..) => strided_line::<J, i64>(line),
        }
    }
}

/// How far ahead the streams are fetched, in rows; those of [short rows](Short) nearer.
const fn ahead<J: Join>() -> usize {
    512 / J::LEN
}

/// Cells of a destination that no cache near the core holds are fetched so many rows before they are joined.
const CELLS_AHEAD: usize = 32;

/// A destination that reaches over so many bytes is one.
const FAR: usize = 16 << 20;

/// Lines of the source that eight rows fill.
const fn source_lines<J: Join>() -> usize {
    (8 * size_of::<J::Value>()).div_ceil(64)
}

/// A line of which the source's elements follow each other. Its cells are one row of the destination, or
/// each is in the next one of its `COLUMNS`.
unsafe fn dense_line<J: Join, I: Copy + Into<i64>, const COLUMNS: bool>(line: &Line<'_>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match J::Value::EIGHT || J::LEN > 1 {
            // Only conversions and rows have something to gain from the machine's instructions.
            true => vectorized!(|m| dense_rows::<J, I, COLUMNS>(line, m)),
            false => dense_rows::<J, I, COLUMNS>(line, Baseline),
        }
    }
}

#[inline(always)]
unsafe fn dense_rows<J: Join, I: Copy + Into<i64>, const COLUMNS: bool>(
    line: &Line<'_>,
    isa: impl Isa,
) -> bool {
    let index = line.index.cast::<I>();
    let src = line.src.cast::<J::Value>();
    let later = (
        index.wrapping_add(ahead::<J>()),
        src.wrapping_add(ahead::<J>()),
    );
    let reach = line.term.limit.saturating_mul(line.term.dst.unsigned_abs());
    // So many at a time that are known at compile time need no counter.
    let whole = line.count - line.count % 8;
    // Rows before which cells are fetched, of which there are as many left as are fetched then.
    let fetching = match reach >= FAR {
        true => whole.saturating_sub(CELLS_AHEAD),
        false => 0,
    };
    // SAFETY: the caller's promise for rows below the count.
    unsafe {
        for from in (0..whole).step_by(8) {
            match COLUMNS {
                true => line.ahead.prefetch_second_level(from),
                false => {
                    prefetch(later.0.wrapping_add(from).cast(), 1);
                    prefetch(later.1.wrapping_add(from).cast(), source_lines::<J>());
                    if from < fetching {
                        for k in 0..8 {
                            let i = from + CELLS_AHEAD + k;
                            let value: i64 = index.add(i).read_volatile().into();
                            let cell = (value as isize).wrapping_mul(line.term.dst);
                            prefetch(line.dst.wrapping_offset(cell), 1);
                        }
                    }
                }
            }
            if J::Value::EIGHT {
                let values = src.add(from).cast::<[J::Value; 8]>().read();
                for (k, element) in J::Value::eight(values, isa).into_iter().enumerate() {
                    if !join::<J, I, COLUMNS>(line, from + k, element) {
                        return false;
                    }
                }
            } else {
                for i in from..from + 8 {
                    if !join::<J, I, COLUMNS>(line, i, src.add(i).read().convert()) {
                        return false;
                    }
                }
            }
        }
        (whole..line.count).all(|i| join::<J, I, COLUMNS>(line, i, src.add(i).read().convert()))
    }
}

/// Joins row `i` of a dense line; false if its index value is not below the limit.
///
/// # Safety
/// As for [`LineLoop`], if there is such a row.
#[inline(always)]
unsafe fn join<J: Join, I: Copy + Into<i64>, const COLUMNS: bool>(
    line: &Line<'_>,
    i: usize,
    element: J::Wide,
) -> bool {
    // SAFETY: the caller's promise; the value is below the limit when the cell is touched.
    unsafe {
        // Once: whoever changes the index meanwhile cannot come between the check and the use.
        let value: i64 = line.index.cast::<I>().add(i).read_volatile().into();
        let inside = value.cast_unsigned() < line.term.limit as u64;
        if inside {
            let row = value as isize;
            let cell = line.dst.cast::<J::Cell>();
            let cell = match COLUMNS {
                true => cell.byte_offset(row * line.term.dst).add(i),
                false => cell.offset(row),
            };
            J::join(&mut *cell, element);
        }
        inside
    }
}

/// A line of which only those rows count whose index values are in the term's part.
#[inline(never)] // Or the loop that uses all rows would have to share its registers.
unsafe fn owned_line<J: Join>(line: &Line<'_>) -> bool {
    let Step { dst, src, .. } = line.step;
    let wanted = Wanted {
        limit: line.term.limit,
        from: line.term.from,
        len: line.term.len,
        drop: false,
    };
    let (mut values, mut places) = (Lane::new(), Lane::new());
    let most = line.count.min(ROWS);
    let values = values.fill_with(0i64, most);
    let places = places.fill_with(0i64, most);
    for first in (0..line.count).step_by(ROWS) {
        let stretch = Stretch {
            at: line.stretch.at + first.cast_signed() * line.stretch.stride,
            count: ROWS.min(line.count - first),
            ..line.stretch
        };
        let Some(count) = wanted.of(stretch, values, places) else {
            return false;
        };
        let values = &values[..count];
        for (k, (&cell, &place)) in values.iter().zip(&*places).enumerate() {
            if let Some(&later) = values.get(k + CELLS_AHEAD) {
                let later = (later as isize).wrapping_mul(line.term.dst);
                prefetch(line.dst.wrapping_offset(later), 1);
            }
            let row = (first as i64 + place) as isize;
            let element = line.src.wrapping_offset(row * src);
            if k % 4 == 0 {
                let later = row.wrapping_add(ahead::<J>().cast_signed());
                prefetch(line.index.wrapping_offset(later * line.stretch.stride), 1);
                prefetch(line.src.wrapping_offset(later * src), 1);
            }
            // SAFETY: the caller's promise: the row is below the count, and its value is below the limit
            // and in the part, from whose first one it is counted.
            unsafe {
                let at = row * dst + cell as isize * line.term.dst;
                let element = element.cast::<J::Value>().read();
                J::join(&mut *line.dst.offset(at).cast(), element.convert());
            }
        }
    }
    true
}

unsafe fn strided_line<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    let index = line.index.cast::<I>();
    let limit = line.term.limit as u64;
    let Step { dst, src, .. } = line.step;
    for i in 0..line.count {
        if i % 8 == 0 {
            line.ahead.prefetch_second_level(i);
        }
        // SAFETY: as above.
        unsafe {
            let value: i64 = index.add(i).read_volatile().into(); // As above.
            if value.cast_unsigned() >= limit {
                return false;
            }
            let row = i.cast_signed();
            let cell = line.dst.offset(row * dst + value as isize * line.term.dst);
            let element = line.src.offset(row * src).cast::<J::Value>().read();
            J::join(&mut *cell.cast::<J::Cell>(), element.convert());
        }
    }
    true
}

/// A row of `N` elements without gaps, as one element.
struct Short<J, const N: usize>(PhantomData<J>);

impl<J: Join, const N: usize> Join for Short<J, N> {
    const LEN: usize = N;
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

/// The loop over lines of rows of so many elements; `None` where the loop over rows has to do.
pub(super) fn short_lines<J: Join>(len: usize) -> Option<LineLoop> {
    match len {
        2 => Some(lines::<Short<J, 2>>),
        3 => Some(lines::<Short<J, 3>>),
        4 => Some(lines::<Short<J, 4>>),
        5 => Some(lines::<Short<J, 5>>),
        6 => Some(lines::<Short<J, 6>>),
        7 => Some(lines::<Short<J, 7>>),
        8 => Some(lines::<Short<J, 8>>),
        _ => None,
    }
}
