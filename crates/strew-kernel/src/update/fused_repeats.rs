//! Lines whose index value seldom changes: the cell stays in a register while it does not.
//!
//! ```text
//! row = index[0]; value = dst[row]
//! for i in 0..count:
//!     if index[i] != row: dst[row] = value; row = index[i] (checked); value = dst[row]
//!     value = join(value, src[i])
//! dst[row] = value
//! ```
//!
//! A cell that is written and read again for the next update costs about ten cycles, during which
//! no other update can join it. An addition in a register costs two to four. A sample of the line's
//! first `SAMPLE` index values decides whether a line comes here.
//!
//! # Unsafe
//!
//! - Buys: a cell stays in a register while the index repeats
//! - Measured: the loop that accesses the cell each time: 16M sorted float32 values into 1,000
//!   cells 5.6, into 300,000 cells 2.9, int32 1.0 and 1.3
//! - Holds: as `update/fused.rs`; the cell that is kept has a number that was compared with the
//!   limit

use crate::cpu::isa::Isa;
use crate::cpu::prefetch::prefetch;
use crate::ops::combine::Join;
use crate::ops::number::Convert;
use crate::walk::line::{Line, once};

/// Index values of the sample. The loop reads them soon in any case.
const SAMPLE: usize = 128;

/// Minimum number of rows of a line that is sampled.
const SHORTEST: usize = 4 * SAMPLE;

/// Rows between the index and source elements that are prefetched and those that are joined.
const AHEAD: usize = 1024;

impl Line<'_> {
    /// Whether the cells of a dense line change at most `most` times in a sample of its first rows.
    /// It is a guess for the whole line.
    ///
    /// # Safety
    /// The index must hold as many readable values as the line has rows.
    pub(crate) unsafe fn repeats(&self, most: usize) -> bool {
        // SAFETY: the caller promises as many index values as the line has rows; `narrow` is their
        // type.
        unsafe {
            match self.narrow {
                true => repeats::<i32>(self, most),
                false => repeats::<i64>(self, most),
            }
        }
    }
}

/// # Safety
/// As for [`Line::repeats`], of an index of this type.
unsafe fn repeats<I: Copy + Into<i64>>(line: &Line<'_>, most: usize) -> bool {
    if line.count < SHORTEST {
        return false;
    }
    let index = line.index.cast::<I>();
    let mut changes = 0;
    for i in 0..SAMPLE {
        // SAFETY: the caller promises as many index values as the line has rows, which are at least
        // `SHORTEST`, more than `SAMPLE`.
        let (here, next): (i64, i64) =
            unsafe { (once(index.add(i)).into(), once(index.add(i + 1)).into()) };
        changes += usize::from(here != next);
        // Most lines are told by their first few rows.
        if changes > most {
            return false;
        }
    }
    true
}

/// The cell that is joined now.
struct Running<J: Join> {
    cells: *mut J::Cell,
    limit: u64,
    /// Its number, below the limit.
    row: i64,
    value: J::Cell,
}

impl<J: Join> Running<J> {
    /// Begins with a cell; `None` if there is none of this number.
    ///
    /// # Safety
    /// `cells` must point to `limit` cells that can be read and written as long as the result
    /// lives.
    #[inline(always)]
    unsafe fn new(cells: *mut J::Cell, limit: usize, row: i64) -> Option<Self> {
        let limit = limit as u64;
        // SAFETY: the caller promises `limit` cells that can be read.
        let value = unsafe { read(cells, limit, row)? };
        Some(Self {
            cells,
            limit,
            row,
            value,
        })
    }

    /// Joins a value into the cell of this number; false if there is none.
    #[inline(always)]
    fn join(&mut self, row: i64, value: J::Wide) -> bool {
        if row != self.row {
            // SAFETY: what `new` was promised; the running row's number is below the limit.
            let next = unsafe { turn(self.cells, self.limit, self.row, self.value, row) };
            let Some(next) = next else {
                return false;
            };
            (self.row, self.value) = (row, next);
        }
        J::join(&mut self.value, value);
        true
    }

    /// Writes the cell to where it belongs.
    #[inline(always)]
    fn write(self) {
        // SAFETY: what `new` was promised; the row's number is below the limit.
        unsafe { self.cells.offset(self.row as isize).write(self.value) }
    }
}

/// The cell of this number, if there is one.
///
/// # Safety
/// `limit` cells can be read.
unsafe fn read<C: Copy>(cells: *mut C, limit: u64, row: i64) -> Option<C> {
    // SAFETY: the caller promises `limit` cells that can be read, and the number is below the
    // limit.
    (row.cast_unsigned() < limit).then(|| unsafe { cells.offset(row as isize).read() })
}

/// Writes a cell whose number is below the limit, and gives the one of another number. By itself:
/// it would be in every loop once for each row that is unrolled.
///
/// # Safety
/// `limit` cells can be read and written.
#[cold]
#[inline(never)]
unsafe fn turn<C: Copy>(cells: *mut C, limit: u64, row: i64, value: C, next: i64) -> Option<C> {
    // SAFETY: the caller promises `limit` cells that can be read and written, and a `row` below the
    // limit.
    unsafe {
        cells.offset(row as isize).write(value);
        read(cells, limit, next)
    }
}

/// The rows of a dense line, in order; false if it met an index value that is not below the limit,
/// and stopped.
///
/// # Safety
/// As for [`LineLoop`](crate::walk::line::LineLoop), if the source's elements follow each other and
/// the cells are one row of the destination.
#[inline(always)]
pub(crate) unsafe fn repeated_rows<J: Join, I: Copy + Into<i64>>(
    line: &Line<'_>,
    isa: impl Isa,
) -> bool {
    let index = line.index.cast::<I>();
    let src = line.src.cast::<J::Value>();
    let later = (line.index_ahead::<I>(AHEAD), src.wrapping_add(AHEAD));
    let lines = |size: usize| (8 * size).div_ceil(64);
    // A constant number of rows is unrolled without a counter. Rows of several elements are not
    // unrolled.
    let unrolled = match J::LEN {
        1 if J::Value::EIGHT => 8,
        1 => 4,
        _ => 1,
    };
    let whole = line.count - line.count % unrolled;
    // SAFETY: the caller promises a dense line: index and source hold `count` values, and the row
    // of the destination holds `limit` cells. `Running` checks every index value against the limit.
    unsafe {
        let Some(mut running) = Running::<J>::new(
            line.dst.cast(),
            line.term.limit,
            line.number_of(J::LEN, once(index)),
        ) else {
            return false;
        };
        for from in (0..whole).step_by(unrolled) {
            if from % 8 == 0 {
                prefetch(later.0.wrapping_add(from).cast(), lines(size_of::<I>()));
                let source = later.1.wrapping_add(from).cast();
                prefetch(source, lines(size_of::<J::Value>()));
            }
            if J::Value::EIGHT && unrolled == 8 {
                let values = src.add(from).cast::<[J::Value; 8]>().read();
                for (k, value) in J::Value::eight(values, isa).into_iter().enumerate() {
                    if !running.join(line.number_of(J::LEN, once(index.add(from + k))), value) {
                        return false;
                    }
                }
            } else {
                for i in from..from + unrolled {
                    if !running.join(
                        line.number_of(J::LEN, once(index.add(i))),
                        src.add(i).read().convert(),
                    ) {
                        return false;
                    }
                }
            }
        }
        for i in whole..line.count {
            if !running.join(
                line.number_of(J::LEN, once(index.add(i))),
                src.add(i).read().convert(),
            ) {
                return false;
            }
        }
        running.write();
    }
    true
}
