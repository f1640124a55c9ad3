//! Copies rows of several elements, 2 to 64 bytes without gaps.
//!
//! ```text
//! let n = the largest power of two that a row holds
//! for each row:
//!     prefetch the input row 16 rows on, unless a near cache holds the input
//!     copy the first n bytes; copy the last n bytes if the row has more than n
//! ```
//!
//! Cost: one or two loads and stores per row. There is no loop over a row's elements, which would
//! take longer than they do. Both directions of a gather use it: the row numbers of a plan
//! ([`take`](super::take)) and an index that is decoded as the run goes
//! ([`take_walk`](super::take_walk)).
//!
//! # Unsafe
//!
//! - Buys: gathers of short rows
//! - Measured: by the loops for rows of any length: 2M rows of 2 float32 elements 1.4, of 4 1.2
//! - Holds: rows that the caller proved; both copies lie inside the row

use crate::cpu::prefetch::prefetch;
use crate::rows::row_pairs::{Loop, Rows};
use crate::walk::offsets::Dim;

/// Rows between the row that is prefetched and the row that is copied.
const AHEAD: usize = 16;

/// The loop for rows of this window, with elements of `size` bytes; `None` if they are single
/// elements, longer, or have gaps.
pub(crate) fn short_row_loop(window: &[Dim], size: usize) -> Option<Loop> {
    let bytes = match *window {
        [dim] if (dim.left, dim.right) == (size.cast_signed(), size.cast_signed()) => {
            dim.len.checked_mul(size)?
        }
        _ => return None,
    };
    Some(match bytes {
        2 => copy_rows::<2, false>,
        3 => copy_rows::<2, true>,
        4 => copy_rows::<4, false>,
        5..8 => copy_rows::<4, true>,
        8 => copy_rows::<8, false>,
        9..16 => copy_rows::<8, true>,
        16 => copy_rows::<16, false>,
        17..32 => copy_rows::<16, true>,
        32 => copy_rows::<32, false>,
        33..64 => copy_rows::<32, true>,
        64 => copy_rows::<64, false>,
        _ => return None,
    })
}

/// Copies rows of `N` bytes, or of `N` to `2 * N` bytes where a row has `MORE`.
///
/// # Safety
/// The conditions of [`Loop`], for rows of that many bytes without gaps. The rows on the left
/// overlap none on the right.
unsafe fn copy_rows<const N: usize, const MORE: bool>(rows: &Rows<'_>) {
    // Local copies: a field of `rows` would be read again after every write.
    let (left, right, right_at, ahead) = (rows.left, rows.right, rows.right_at, rows.ahead);
    let last = match *rows.window {
        [dim] if MORE => dim.len * dim.left.cast_unsigned() - N,
        _ => 0,
    };
    let lines = (last + N).div_ceil(64);
    for (i, &at) in rows.left_at.iter().enumerate() {
        if i % 8 == 0 {
            ahead.prefetch_all(i);
        }
        if !ahead.near && i + AHEAD < rows.left_at.len() {
            prefetch(right.wrapping_offset(right_at.get(i + AHEAD)), lines);
        }
        // SAFETY: the caller promises rows of `N` bytes, or of `last + N` bytes where a row has
        // more, on both sides; they do not overlap. An array of bytes may lie anywhere.
        unsafe {
            let (from, to) = (right.offset(right_at.get(i)), left.offset(at));
            let first = from.cast::<[u8; N]>().read();
            if MORE {
                let rest = from.add(last).cast::<[u8; N]>().read();
                to.add(last).cast::<[u8; N]>().write(rest);
            }
            to.cast::<[u8; N]>().write(first);
        }
    }
}
