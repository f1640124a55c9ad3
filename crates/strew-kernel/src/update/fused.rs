//! Lines of single elements and [short rows](crate::update::fused_short_rows) whose index is used
//! as it is: one loop reads the index value, checks it and joins.
//!
//! ```text
//! for i in 0..count:
//!     row = index[i];  if row >= limit: return false
//!     join(dst[row], src[i])
//! ```
//!
//! An offset that is written to a block and read back costs as much as a single element's join.
//! Here a value goes from the index through its check to the cell in registers. Cost: one read of
//! index and source for each update, and one read and one write of its cell.
//!
//! The variants are chosen line by line: dense, dense with the destination in a near cache
//! (`fast_rows`), one cell in each column, the rows of one part only (`owned_*`), and strided.
//!
//! It relies on the contract of `LineLoop`: the walk has proven the
//! destination for every index value below the limit. Each index value is read once, so the value
//! that is checked is the value that is used.
//!
//! # Unsafe
//!
//! - Buys: single elements and short rows in one loop
//! - Measured: checks: W1a 1.09, W1b 1.10, W2f 0.89, W3b 1.42, W3c 1.02; no fetching: W1a 1.05, W1b
//!   1.34, W3b 1.85; long lines treated like short ones: W1a 1.06, W1a-int 1.11 (an index of 64
//!   bits: 1.27); a thread's own elements treated as rows: W1b by owner 1.4
//! - Holds: each index value is compared with the limit before its cell is touched; the walk proved
//!   all cells below it

use crate::cpu::isa::{Baseline, Isa};
use crate::cpu::prefetch::prefetch;
use crate::ops::combine::Join;
use crate::ops::number::Convert;
use crate::runtime::machine::L3;
use crate::update::fused_repeats::repeated_rows;
use crate::walk::decode::Stretch;
use crate::walk::filter::Payload;
use crate::walk::geometry::{Step, Term};
use crate::walk::line::{Line, Lines, once};
use crate::walk::stack_buf::StackBuf;
use std::ops::Range;

/// Joins every line in order; false if a line met an index value that is not below the limit.
///
/// # Safety
/// As for [`LineLoop`](crate::walk::line::LineLoop), with cells `J::Cell` and source elements
/// `J::Value`.
pub(crate) unsafe fn fused_lines<J: Join>(lines: &Lines<'_>) -> bool {
    // SAFETY: the caller keeps the contract of `LineLoop` for these lines, so it holds for each of
    // them.
    (0..lines.count).all(|n| unsafe { fused_line::<J>(&lines.nth(n)) })
}

/// Joins one line, with the loop that its steps and its index type choose.
///
/// # Safety
/// As for [`fused_lines`], of this line.
pub(crate) unsafe fn fused_line<J: Join>(line: &Line<'_>) -> bool {
    let cell = size_of::<J::Cell>().cast_signed();
    let dense = line.step.src == size_of::<J::Value>().cast_signed();
    let columns = J::LEN == 1;
    let own = !columns && line.term.own;
    let all = line.term.is_whole() || own;
    // SAFETY: the caller keeps the contract of `fused_lines` for this line. The steps and the index
    // type that the arms require are those that `match` has found.
    unsafe {
        if !all {
            return owned_line::<J>(line);
        }
        let line = &if own { line.of_part() } else { *line };
        if !J::HOT {
            let dense = dense && line.step.dst == 0 && line.term.dst == cell;
            return match line.narrow {
                true if dense => dense_rows::<J, i32>(line, Baseline),
                false if dense => dense_rows::<J, i64>(line, Baseline),
                true => strided_line::<J, i32>(line),
                false => strided_line::<J, i64>(line),
            };
        }
        match (line.narrow, line.step.dst, line.term.dst) {
            (true, 0, to) if dense && to == cell => dense_line::<J, i32>(line),
            (false, 0, to) if dense && to == cell => dense_line::<J, i64>(line),
            (true, step, _) if dense && columns && step == cell => column_line::<J, i32>(line),
            (false, step, _) if dense && columns && step == cell => column_line::<J, i64>(line),
            (true, ..) => strided_line::<J, i32>(line),
            (false, ..) => strided_line::<J, i64>(line),
        }
    }
}

/// Rows between the index and source elements that are prefetched and those that are joined. The
/// distance is shorter for [short rows](crate::update::fused_short_rows).
pub(crate) const fn ahead<J: Join>() -> usize {
    512 / J::LEN
}

/// Rows between the cell that is prefetched and the row that is joined, for a destination that no
/// near cache holds.
const CELLS_AHEAD: usize = 32;

/// Minimum number of bytes of such a destination.
const FAR: usize = L3 / 2;

/// Bytes from the first cell to the last one.
fn reach(term: &Term) -> usize {
    term.limit.saturating_mul(term.dst.unsigned_abs())
}

/// Bytes from the first cell of the term's part to the last one.
fn part_reach(term: &Term) -> usize {
    term.filter().len.saturating_mul(term.dst.unsigned_abs())
}

/// Lines of the source that eight rows fill.
const fn source_lines<J: Join>() -> usize {
    (8 * size_of::<J::Value>()).div_ceil(64)
}

/// A dense line: the source's elements follow each other, and the cells are one row of the
/// destination.
///
/// # Safety
/// As for [`fused_lines`], if the steps are those of such a line and the index values have type
/// `I`.
unsafe fn dense_line<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    // SAFETY: the caller promises a dense line with index values of type `I`, which is what all of
    // these loops require.
    unsafe {
        // Only conversions and rows have something to gain from the machine's instructions.
        let gains = J::Value::EIGHT || J::LEN > 1;
        match J::CHAINS > 0 && line.repeats(J::CHAINS) {
            true if gains => vectorized_if!(J::WIDE, |m| repeated_rows::<J, I>(line, m)),
            true => repeated_singles::<J, I>(line),
            false if gains => vectorized_if!(J::WIDE, |m| dense_rows::<J, I>(line, m)),
            false if fast(line) => fast_rows::<J, I>(line),
            false => dense_rows::<J, I>(line, Baseline),
        }
    }
}

/// Rows of one element whose cells repeat.
///
/// # Safety
/// As for `dense_line`.
#[inline(never)] // Otherwise the loops for other lines would share its registers.
unsafe fn repeated_singles<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    // SAFETY: the caller keeps the contract of `dense_line`, and all dense loops have the same.
    unsafe { repeated_rows::<J, I>(line, Baseline) }
}

/// The rows of a dense line, eight at a time; false at an index value that is not below the limit.
///
/// # Safety
/// As for `dense_line`.
#[inline(always)]
unsafe fn dense_rows<J: Join, I: Copy + Into<i64>>(line: &Line<'_>, isa: impl Isa) -> bool {
    let index = line.index.cast::<I>();
    let src = line.src.cast::<J::Value>();
    let later = (
        line.index_ahead::<I>(ahead::<J>()),
        src.wrapping_add(ahead::<J>()),
    );
    // A constant number of rows is unrolled without a counter.
    let whole = line.count - line.count % 8;
    // Rows before which cells are prefetched: those with at least `CELLS_AHEAD` rows behind them.
    let fetching = match reach(&line.term) >= FAR {
        true => whole.saturating_sub(CELLS_AHEAD),
        false => 0,
    };
    // SAFETY: the caller promises a dense line: index and source hold `count` values one after the
    // other. `join` checks each index value against the limit.
    unsafe {
        for from in (0..whole).step_by(8) {
            prefetch(later.0.wrapping_add(from).cast(), 1);
            prefetch(later.1.wrapping_add(from).cast(), source_lines::<J>());
            if from < fetching {
                for i in from + CELLS_AHEAD..from + CELLS_AHEAD + 8 {
                    let row = line.number_of(J::LEN, once(index.add(i)));
                    let cell = (row as isize).wrapping_mul(line.term.dst);
                    prefetch(line.dst.wrapping_offset(cell), 1);
                }
            }
            if !eight::<J, I, false>(line, from, isa) {
                return false;
            }
        }
        (whole..line.count).all(|i| {
            let element = src.add(i).read().convert();
            join::<J, false>(line, i, once(index.add(i)), element)
        })
    }
}

/// Whether a near cache holds the destination and the line is long enough for [`fast_rows`] to pay.
fn fast(line: &Line<'_>) -> bool {
    line.count >= 8192 && reach(&line.term) <= 64 << 10
}

/// Rows of a [fast] line at a time: what has 32 bits fills a line of memory.
const AT_ONCE: usize = 16;

/// Rows from those that are joined to those that are fetched: a page or more, as the hardware's own
/// prefetching ends with each page.
const PAGE_AHEAD: usize = 1024;

/// The rows of a dense line that is [fast]: the core's loads and stores bound it, so there are as
/// few as can be.
///
/// # Safety
/// As for `dense_line`.
#[inline(never)] // It needs all registers.
unsafe fn fast_rows<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    let index = line.index.cast::<I>();
    let src = line.src.cast::<J::Value>();
    let later = (
        line.index_ahead::<I>(PAGE_AHEAD),
        src.wrapping_add(PAGE_AHEAD),
    );
    let lines = |size: usize| (AT_ONCE * size).div_ceil(64);
    let whole = line.count - line.count % AT_ONCE;
    // SAFETY: the caller promises a dense line: index and source hold `count` values one after the
    // other. `join` checks each index value against the limit.
    unsafe {
        for from in (0..whole).step_by(AT_ONCE) {
            prefetch(later.0.wrapping_add(from).cast(), lines(size_of::<I>()));
            prefetch(
                later.1.wrapping_add(from).cast(),
                lines(size_of::<J::Value>()),
            );
            // Written out: the compiler counts the steps of some joins as too many to do that.
            macro_rules! two_by_two {
                ($($i:literal)*) => {$(
                    let i = from + $i;
                    let rows = match J::STORES {
                        true => two(index.add(i)),
                        false => [once(index.add(i)), once(index.add(i + 1))],
                    };
                    let elements = match size_of::<J::Value>() {
                        _ if !J::STORES => [once(src.add(i)), once(src.add(i + 1))],
                        4 => two(src.add(i)),
                        _ => src.add(i).cast::<[J::Value; 2]>().read(),
                    };
                    let elements = elements.map(Convert::convert);
                    for k in 0..2 {
                        if !join::<J, false>(line, i + k, rows[k], elements[k]) {
                            return false;
                        }
                    }
                )*};
            }
            two_by_two!(0 2 4 6 8 10 12 14);
        }
        (whole..line.count).all(|i| {
            let element = src.add(i).read().convert();
            join::<J, false>(line, i, once(index.add(i)), element)
        })
    }
}

/// A column line: the source's elements follow each other, and each cell is in the next column of
/// the destination.
///
/// # Safety
/// As for [`fused_lines`], if the steps are those of such a line and the index values have type
/// `I`.
unsafe fn column_line<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    // SAFETY: the caller promises a column line with index values of type `I`, which is what both
    // calls require.
    unsafe {
        match J::Value::EIGHT {
            true => vectorized_if!(J::WIDE, |m| column_rows::<J, I>(line, m)),
            false => column_rows::<J, I>(line, Baseline),
        }
    }
}

/// # Safety
/// As for `column_line`.
#[inline(always)]
unsafe fn column_rows<J: Join, I: Copy + Into<i64>>(line: &Line<'_>, isa: impl Isa) -> bool {
    let index = line.index.cast::<I>();
    let src = line.src.cast::<J::Value>();
    let whole = line.count - line.count % 8;
    // SAFETY: the caller promises a column line: index and source hold `count` values one after the
    // other. `join` checks each index value against the limit.
    unsafe {
        for from in (0..whole).step_by(8) {
            line.ahead.prefetch_second_level(from);
            if !eight::<J, I, true>(line, from, isa) {
                return false;
            }
        }
        (whole..line.count).all(|i| {
            let element = src.add(i).read().convert();
            join::<J, true>(line, i, once(index.add(i)), element)
        })
    }
}

/// Joins eight rows of a dense line; false if the index value of one is not below the limit.
///
/// # Safety
/// As for [`LineLoop`](crate::walk::line::LineLoop), if there are such rows.
#[inline(always)]
unsafe fn eight<J: Join, I: Copy + Into<i64>, const COLUMNS: bool>(
    line: &Line<'_>,
    from: usize,
    isa: impl Isa,
) -> bool {
    let index = line.index.cast::<I>();
    let src = line.src.cast::<J::Value>();
    // SAFETY: the caller promises that the line has the rows `from..from + 8`, so index and source
    // have as many values from there on.
    unsafe {
        if J::Value::EIGHT {
            let values = src.add(from).cast::<[J::Value; 8]>().read();
            for (k, element) in J::Value::eight(values, isa).into_iter().enumerate() {
                if !join::<J, COLUMNS>(line, from + k, once(index.add(from + k)), element) {
                    return false;
                }
            }
        } else {
            for i in from..from + 8 {
                let element = src.add(i).read().convert();
                if !join::<J, COLUMNS>(line, i, once(index.add(i)), element) {
                    return false;
                }
            }
        }
    }
    true
}

/// Joins row `i` of a dense line, whose index value is `row`; false if that is not below the limit.
///
/// # Safety
/// As for [`LineLoop`](crate::walk::line::LineLoop), if there is such a row.
#[inline(always)]
unsafe fn join<J: Join, const COLUMNS: bool>(
    line: &Line<'_>,
    i: usize,
    row: impl Into<i64>,
    element: J::Wide,
) -> bool {
    let row = line.number_of(J::LEN, row);
    let inside = row.cast_unsigned() < line.term.limit as u64;
    if inside {
        let row = row as isize;
        let cell = line.dst.cast::<J::Cell>();
        // SAFETY: the walk has proven a cell for every index value below the limit, for every row
        // of the line; the caller promises such a line, and `row` is below the limit.
        unsafe {
            let cell = match COLUMNS {
                true => cell.byte_offset(row * line.term.dst).add(i),
                false => cell.offset(row),
            };
            J::join(&mut *cell, element);
        }
    }
    inside
}

/// Two values in a row, each read [once]; those of 32 bits together, since a core loads only so
/// many times in a cycle.
///
/// # Safety
/// They can be read.
#[inline(always)]
unsafe fn two<T: Copy>(at: *const T) -> [T; 2] {
    // SAFETY: the caller promises both values. Two values of 32 bits are read as one of 64 bits,
    // which holds all of their bits.
    unsafe {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if size_of::<T>() == 4 {
            let mut both = at.cast::<u64>().read_unaligned();
            // This does nothing, which the compiler does not know: it would load each half by
            // itself.
            std::arch::asm!("/* {0} */", inout(reg) both, options(nomem, nostack, preserves_flags));
            return std::mem::transmute_copy(&both);
        }
        [once(at), once(at.add(1))]
    }
}

/// Joins only the rows whose index values are in the term's part.
///
/// # Safety
/// As for [`fused_lines`].
#[inline(never)] // Otherwise the loop that uses all rows would share its registers.
unsafe fn owned_line<J: Join>(line: &Line<'_>) -> bool {
    let (cell, value) = (size_of::<J::Cell>(), size_of::<J::Value>());
    // Of others it is not worth the code: of rare reductions, and of elements whose conversion
    // takes longer.
    let common = J::HOT && J::CHAINS > 0 && cell == value && matches!(cell, 4 | 8);
    let dense = line.step.dst == 0
        && line.term.dst == cell.cast_signed()
        && line.step.src == value.cast_signed();
    // SAFETY: the caller keeps the contract of `fused_lines`. `owned_dense` is called only for a
    // dense line with cells and source elements of one size, 4 or 8 bytes. `owned_rows` calls the
    // closures with places of rows of the line only.
    unsafe {
        if common && dense && part_reach(&line.term) < FAR {
            return owned_dense::<J>(line);
        }
        owned_rows(
            line,
            CELLS_AHEAD,
            #[inline(always)]
            |k, row, cell, source| {
                prefetch(cell, 1);
                // Rows that other threads take lie between those of this one.
                if J::LEN > 1 {
                    prefetch(source, 1);
                }
                if k % 4 == 0 {
                    let later = row.wrapping_add(ahead::<J>().cast_signed());
                    prefetch(line.index.wrapping_offset(later * line.stretch.stride), 1);
                    if J::LEN == 1 {
                        prefetch(line.src.wrapping_offset(later * line.step.src), 1);
                    }
                }
            },
            #[inline(always)]
            |cell, element| {
                let element = element.cast::<J::Value>().read();
                J::join(&mut *cell.cast(), element.convert());
            },
        )
    }
}

/// Maximum number of rows between two lines that are prefetched, for parts that pick few rows.
const MOST_AT_ONCE: usize = 16;

/// Likewise, of a source whose elements follow each other, and cells that are one row of the
/// destination and near enough for the processor to have several of them on their way by itself: to
/// ask for them would only be one instruction more.
///
/// # Safety
/// As for [`fused_lines`], if the source's elements follow each other, the cells are one row of the
/// destination, and cells and source elements have the same size, 4 or 8 bytes.
#[inline(always)]
unsafe fn owned_dense<J: Join>(line: &Line<'_>) -> bool {
    let cells = line.dst.cast::<J::Cell>();
    // What is no wider than its place comes with the index value, and need not be looked for.
    let moved = size_of::<J::Value>() == 4;
    let index_size = line.stretch.stride.unsigned_abs();
    // SAFETY: the caller keeps `LineLoop`'s obligations: there are so many elements, such a row,
    // and such a cell; of four bytes, what is beside is the element.
    unsafe {
        picked(
            line,
            moved,
            #[inline(always)]
            |rows, values, besides| {
                let src = line.src.cast::<J::Value>().wrapping_add(rows.start);
                let join = |&cell: &u32, beside: &u32| {
                    let element = match moved {
                        true => std::mem::transmute_copy::<u32, J::Value>(beside),
                        false => src.add(*beside as usize).read(),
                    };
                    J::join(&mut *cells.add(cell as usize), element.convert());
                };
                let ((values, values_left), (besides, besides_left)) =
                    (values.as_chunks::<4>(), besides.as_chunks::<4>());
                // Rows that come next are asked for here, where time goes by: they will be looked
                // at at once.
                let each = (rows.len() / values.len().max(1)).min(MOST_AT_ONCE);
                let mut index = line.index.wrapping_add(rows.end * index_size);
                let mut later = src.wrapping_add(rows.len());
                for (values, besides) in values.iter().zip(besides) {
                    prefetch(index, 1);
                    prefetch(later.cast(), 1);
                    index = index.wrapping_add(each * index_size);
                    later = later.wrapping_add(each);
                    values.iter().zip(besides).for_each(|(v, b)| join(v, b));
                }
                let left = values_left.iter().zip(besides_left);
                left.for_each(|(v, b)| join(v, b));
            },
        )
    }
}

/// Calls `each` with where a row is, in the destination and in the source, for each whose index
/// value is in the term's part; false if a value is not below the limit. Before that calls `look`
/// with how many there were, which row it is, and where the one is that comes so many of them
/// later.
///
/// # Safety
/// As for [`LineLoop`](crate::walk::line::LineLoop), if `each` joins such rows.
#[inline(always)]
pub(crate) unsafe fn owned_rows(
    line: &Line<'_>,
    ahead: usize,
    look: impl Fn(usize, isize, *const u8, *const u8),
    each: impl Fn(*mut u8, *const u8),
) -> bool {
    let Step { dst, src, .. } = line.step;
    // SAFETY: `moved` is false, so no element is read here.
    unsafe {
        picked(
            line,
            false,
            #[inline(always)]
            |rows, values, places| {
                let at = |k: usize| {
                    let row = (rows.start + places[k] as usize).cast_signed();
                    let to = row
                        .wrapping_mul(dst)
                        .wrapping_add((values[k] as isize).wrapping_mul(line.term.dst));
                    (
                        row,
                        line.dst.wrapping_offset(to),
                        line.src.wrapping_offset(row.wrapping_mul(src)),
                    )
                };
                let count = values.len();
                for k in 0..count {
                    let (row, cell, element) = at(k);
                    let (_, later, source) = at((k + ahead).min(count - 1));
                    look(k, row, later, source);
                    each(cell, element);
                }
            },
        )
    }
}

/// Rows among which a part's are picked at a time: no more than are asked for ahead, or those that
/// come next would not be.
const PICKED: usize = PAGE_AHEAD;

/// Picks the rows whose index values are in the term's part, some at a time: calls `each` with the
/// rows that were looked at, the cells of those picked, counted from the part's first one, and
/// which rows they are, counted from the first; or their elements, if those are to be `moved`.
/// False if a value is not below the limit.
///
/// # Safety
/// As for [`LineLoop`](crate::walk::line::LineLoop); elements that are moved have four bytes, and
/// follow each other.
#[inline(always)]
pub(crate) unsafe fn picked(
    line: &Line<'_>,
    moved: bool,
    each: impl Fn(Range<usize>, &[u32], &[u32]),
) -> bool {
    let wanted = line.term.filter();
    let (mut values, mut besides) = (
        StackBuf::<_, PICKED>::of_size(),
        StackBuf::<_, PICKED>::of_size(),
    );
    let most = line.count.min(PICKED);
    let values = values.fill_with(0u32, most);
    let besides = besides.fill_with(0u32, most);
    for first in (0..line.count).step_by(PICKED) {
        let rows = first..line.count.min(first + PICKED);
        let stretch = Stretch {
            at: line.stretch.at + first.cast_signed() * line.stretch.stride,
            count: rows.len(),
            ..line.stretch
        };
        let beside = match moved {
            true => Payload::Elements(line.src.wrapping_add(4 * first)),
            false => Payload::Positions,
        };
        // SAFETY: the caller promises a line of `count` rows, of which `rows` are some; `values`
        // and `besides` have room for as many.
        let Some(count) = (unsafe { wanted.narrow(stretch, beside, values, besides) }) else {
            return false;
        };
        each(rows, &values[..count], &besides[..count]);
    }
    true
}

/// One element for all rows, whose cells are one row of the destination: what counts are made of.
///
/// # Safety
/// As for [`fused_lines`], of at least one row, if all rows have the same element, the cells are
/// one row of the destination and the index values have type `I`.
unsafe fn one_element<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    let index = line.index.cast::<I>();
    let later = line.index_ahead::<I>(PAGE_AHEAD);
    // A constant number of rows is unrolled without a counter.
    let whole = line.count - line.count % 8;
    // SAFETY: the caller promises the element, an index value for each row, and cells as `join`
    // requires.
    unsafe {
        let element = line.src.cast::<J::Value>().read().convert();
        for from in (0..whole).step_by(8) {
            prefetch(later.wrapping_add(from).cast(), 1);
            for i in from..from + 8 {
                if !join::<J, false>(line, i, once(index.add(i)), element) {
                    return false;
                }
            }
        }
        (whole..line.count).all(|i| join::<J, false>(line, i, once(index.add(i)), element))
    }
}

/// Any other line: one row at a time.
///
/// # Safety
/// As for [`fused_lines`], with index values of type `I`.
unsafe fn strided_line<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    let index = line.index.cast::<I>();
    let limit = line.term.limit as u64;
    let Step { dst, src, .. } = line.step;
    let cells = dst == 0 && line.term.dst == size_of::<J::Cell>().cast_signed();
    if J::LEN == 1 && cells && src == 0 && line.count > 0 {
        // SAFETY: the caller promises rows whose steps and cells are those that were found, and
        // index values of this type.
        return unsafe { one_element::<J, I>(line) };
    }
    for i in 0..line.count {
        if i % 8 == 0 {
            line.ahead.prefetch_second_level(i);
        }
        // SAFETY: the caller promises index and source elements for rows below `count`, and a cell
        // for every index value below the limit, which is checked before it is used.
        unsafe {
            let value = line.number_of(J::LEN, index.add(i).read_volatile()); // As above.
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
