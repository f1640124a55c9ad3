//! Copies rows of 1 to 16 bytes, single elements too, that an index names: the index is read,
//! checked and used in one loop.
//!
//! ```text
//! for i in 0..count:
//!     row = index[i]; if it wraps and is negative: row += limit
//!     if row >= limit: return false
//!     output[i] = input[row]
//! ```
//!
//! Cost: one read of the index, one load and one store per row. Offsets that are written to a block
//! and read back would cost as much as such a row. Rows are not fetched ahead: a core has many of
//! these short copies under way at once. Longer rows go through blocks, whose loops fetch.
//!
//! # Unsafe
//!
//! - Buys: gathers of rows of few bytes
//! - Measured: by blocks of offsets, beside a plain loop: 2M rows of 2 float32 elements 1.8, of 4
//!   1.3
//! - Holds: each index value is compared with the limit before its row is read; the walk proved all
//!   rows below it

use crate::cpu::prefetch::prefetch;
use crate::walk::line::{Line, Lines, once};

/// A loop over lines; false if it met an index value that is not below the limit, and stopped.
///
/// # Safety
/// Each line's `count` index values must be readable, and its rows on the source's side writable.
/// For every value below the limit, the row on the destination's side must be readable and apart
/// from those that are written. All rows have the bytes of the loop, and the index the type that
/// `narrow` says.
pub(crate) type TakeLoop = unsafe fn(&Lines<'_>) -> bool;

/// The loop for rows of `bytes` bytes without gaps; `None` if there is none. `wraps`: negative
/// values count from the limit down.
pub(crate) fn take_loop(bytes: usize, wraps: bool) -> Option<TakeLoop> {
    macro_rules! of {
        ($($bytes:literal)*) => {
            match (bytes, wraps) {
                $(
                    ($bytes, false) => take_lines::<$bytes, false>,
                    ($bytes, true) => take_lines::<$bytes, true>,
                )*
                _ => return None,
            }
        };
    }
    Some(of!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16))
}

/// # Safety
/// As for [`TakeLoop`], with rows of `BYTES` bytes.
unsafe fn take_lines<const BYTES: usize, const WRAPS: bool>(lines: &Lines<'_>) -> bool {
    (0..lines.count).all(|n| {
        let line = lines.nth(n);
        // SAFETY: the caller keeps the contract of `TakeLoop` for these lines, so it holds for each
        // of them; `narrow` is the type of their index values.
        unsafe {
            match line.narrow {
                true => take_line::<BYTES, WRAPS, i32>(&line),
                false => take_line::<BYTES, WRAPS, i64>(&line),
            }
        }
    })
}

/// Rows between the index values that are prefetched and the row that is copied.
const AHEAD: usize = 512;

/// # Safety
/// As for [`TakeLoop`], of this line, with rows of `BYTES` bytes and index values of type `I`.
unsafe fn take_line<const BYTES: usize, const WRAPS: bool, I: Copy + Into<i64>>(
    line: &Line<'_>,
) -> bool {
    // Local copies: a field of `line` would be read again after every write.
    let (index, input, output) = (line.index.cast::<I>(), line.dst, line.src.cast_mut());
    let (step, apart, limit) = (line.step, line.term.dst, line.term.limit);
    let copy = |i: usize| {
        // SAFETY: the caller promises an index value for each row.
        let mut row: i64 = unsafe { once(index.add(i)).into() };
        if WRAPS && row < 0 {
            // No axis is longer than isize::MAX, and a negative number plus it does not overflow.
            row += limit as i64;
        }
        if row.cast_unsigned() >= limit as u64 {
            return false;
        }
        let (at, row) = (i.cast_signed(), row as isize);
        // SAFETY: `row` is below the limit, and row `i` is one of the line's: the caller promises
        // `BYTES` bytes on both sides, which do not overlap. An array of bytes may lie anywhere.
        unsafe {
            let from = input.offset(at * step.dst + row * apart);
            let to = output.offset(at * step.src);
            to.cast::<[u8; BYTES]>()
                .write(from.cast::<[u8; BYTES]>().read());
        }
        true
    };
    // A constant number of rows is unrolled without a counter.
    let whole = line.count - line.count % 8;
    for from in (0..whole).step_by(8) {
        prefetch(index.wrapping_add(from + AHEAD).cast(), 1);
        if !(from..from + 8).all(copy) {
            return false;
        }
    }
    (whole..line.count).all(copy)
}
