//! Single elements whose index is used as it is: one loop reads it, checks it and joins.
//!
//! Offsets that are written down and read again cost as much as what is then done with a single
//! element. Here a value goes from the index through its check to the cell in registers.

use super::decode::Stretch;
use super::loops::Join;
use super::rows::Ahead;
use super::walk::{Step, Term};
use crate::tensor::DType;

/// A run of rows, one element each, along an axis.
pub(crate) struct Line<'l> {
    /// The destination's element of the first row, if its index value is 0, and the source's.
    pub(super) dst: *mut u8,
    pub(super) src: *const u8,
    /// From row to row.
    pub(super) step: Step,
    pub(super) term: Term,
    pub(super) count: usize,
    /// The first value of the index; the others follow without gaps.
    pub(super) index: *const u8,
    /// Whether they have 32 bits; else they have 64.
    pub(super) narrow: bool,
    pub(super) memory: std::marker::PhantomData<&'l mut [u8]>,
}

/// A loop over a line; false if it met a value that is not below the term's limit, and stopped.
///
/// # Safety
/// So many values of the index and elements of the source can be read; whatever values below the
/// limit come, the cells are valid and apart from the source; all are aligned for the loop's types.
pub(super) type LineLoop = unsafe fn(&Line<'_>) -> bool;

/// The kind of index that lines are made of: whether it is narrow.
pub(super) fn narrow(index: DType) -> Option<bool> {
    match index {
        DType::I32 => Some(true),
        DType::I64 => Some(false),
        _ => None,
    }
}

/// Whether a line can be made of these index values.
pub(super) fn fits(stretch: &Stretch<'_, '_>) -> bool {
    let dtype = stretch.index.dtype();
    narrow(dtype).is_some() && stretch.stride == dtype.size().cast_signed()
}

pub(super) unsafe fn line<J: Join>(line: &Line<'_>) -> bool {
    let dense = line.step.src == size_of::<J::Value>().cast_signed()
        && line.term.dst == size_of::<J::Cell>().cast_signed()
        && line.step.dst == 0;
    // SAFETY: the caller keeps `LineLoop`'s obligations.
    unsafe {
        match (line.narrow, dense) {
            (true, true) => dense_line::<J, i32>(line),
            (false, true) => dense_line::<J, i64>(line),
            (true, false) => strided_line::<J, i32>(line),
            (false, false) => strided_line::<J, i64>(line),
        }
    }
}

/// Rows between two looks ahead.
const STRIDE: usize = 8;

/// How far ahead the streams are fetched, in rows.
const AHEAD: usize = 512;

unsafe fn dense_line<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    let (index, cells) = (line.index.cast::<I>(), line.dst.cast::<J::Cell>());
    let src = line.src.cast::<J::Value>();
    let limit = line.term.limit as u64;
    let ahead = Ahead([
        (
            index.wrapping_add(AHEAD).cast(),
            size_of::<I>().cast_signed(),
        ),
        (src.wrapping_add(AHEAD).cast(), line.step.src),
    ]);
    let mut from = 0;
    while from < line.count {
        ahead.prefetch(from);
        for i in from..line.count.min(from + STRIDE) {
            // SAFETY: the caller's promise; the value is below the limit when the cell is touched.
            unsafe {
                let value: i64 = index.add(i).read().into();
                if value.cast_unsigned() >= limit {
                    return false;
                }
                J::join(&mut *cells.offset(value as isize), src.add(i).read());
            }
        }
        from += STRIDE;
    }
    true
}

unsafe fn strided_line<J: Join, I: Copy + Into<i64>>(line: &Line<'_>) -> bool {
    let index = line.index.cast::<I>();
    let limit = line.term.limit as u64;
    let Step { dst, src, .. } = line.step;
    for i in 0..line.count {
        // SAFETY: as above.
        unsafe {
            let value: i64 = index.add(i).read().into();
            if value.cast_unsigned() >= limit {
                return false;
            }
            let row = i.cast_signed();
            let cell = line.dst.offset(row * dst + value as isize * line.term.dst);
            let element = line.src.offset(row * src).cast::<J::Value>().read();
            J::join(&mut *cell.cast::<J::Cell>(), element);
        }
    }
    true
}
