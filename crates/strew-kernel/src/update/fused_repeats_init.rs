//! First-touch initialisation of lines whose index [repeats](crate::update::fused_repeats).
//!
//! Where only the updates count (`include_self=False`), a cell must be set to the reduction's
//! identity when an update first touches it. The index is read twice: the first pass sets the cells,
//! of which there are few, and the second joins the line as any other. The [bitmap](RowBitmap)
//! remembers which rows were touched before.
//!
//! # Unsafe
//!
//! - Buys: cells without an initial value, set line by line
//! - Measured: block by block: 4M sorted float32 values into 10,000 cells, their maximum 6.5, their
//!   product 4.6
//! - Holds: as `update/fused.rs`: each index value is compared with the limit before its cell is
//!   set

use crate::ops::for_dtype::for_bits;
use crate::ops::identity::Bits;
use crate::tensor::DType;
use crate::update::row_bitmap::RowBitmap;
use crate::walk::line::{Line, once};

/// How often the index value may change, among those that are [looked at](Line::repeats), for a
/// line of rows of `len` elements to be gone over twice. The index is a small part of what a line
/// of longer rows reads.
pub(crate) fn seen_again(len: usize) -> usize {
    if len == 1 { 16 } else { 64 }
}

/// Sets the rows that a line touches first, whose number is their index value; false if it met one
/// that is not below the limit, and stopped.
///
/// # Safety
/// As for [`LineLoop`](crate::walk::line::LineLoop), of a line of rows of this type without gaps
/// that differ in nothing but their index.
pub(crate) unsafe fn begin(
    line: &Line<'_>,
    dtype: DType,
    touched: &mut RowBitmap,
    value: &Bits,
) -> bool {
    type Begin = unsafe fn(&Line<'_>, &mut RowBitmap, &Bits) -> bool;
    let begin: Begin = for_bits!(dtype, T => begin_cells::<T>);
    // SAFETY: the caller promises elements of this dtype, so each cell has the size and alignment
    // of the loop's type.
    unsafe { begin(line, touched, value) }
}

/// # Safety
/// As for [`begin`], of cells of this type.
unsafe fn begin_cells<C: Copy>(line: &Line<'_>, touched: &mut RowBitmap, value: &Bits) -> bool {
    // SAFETY: the caller promises cells of type `C`, which has no more bytes than `Bits`; `narrow`
    // is the type of the index values.
    unsafe {
        let value = value.as_ptr().cast::<C>().read_unaligned();
        match line.narrow {
            true => begin_rows::<i32, C>(line, touched, value),
            false => begin_rows::<i64, C>(line, touched, value),
        }
    }
}

/// # Safety
/// As for [`begin`], of cells and an index of these types.
unsafe fn begin_rows<I: Copy + Into<i64>, C: Copy>(
    line: &Line<'_>,
    touched: &mut RowBitmap,
    value: C,
) -> bool {
    let (index, limit) = (line.index.cast::<I>(), line.term.limit as u64);
    let width = line.width;
    let mut last = None;
    for i in 0..line.count {
        // SAFETY: the caller promises as many index values as the line has rows, and `i` is below
        // that.
        let row: i64 = unsafe { once(index.add(i)).into() };
        if last == Some(row) {
            continue;
        }
        last = Some(row);
        if row.cast_unsigned() >= limit {
            return false;
        }
        if touched.touch_one(row as usize) {
            // SAFETY: the caller promises a row of `width` cells without gaps for every index value
            // below the limit, and the value is below it.
            unsafe {
                let first = line.dst.offset(row as isize * line.term.dst).cast::<C>();
                for k in 0..width {
                    first.add(k).write(value);
                }
            }
        }
    }
    true
}
