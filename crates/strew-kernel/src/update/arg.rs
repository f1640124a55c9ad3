//! Minimum and maximum together with the position of the winning update, one update after the
//! other.
//!
//! Each update compares its element with the cell and writes value and position if it wins. Cost:
//! one read of the update and the cell, and 8 more bytes written at every change.
//!
//! # Unsafe
//!
//! - Buys: extremes with positions in one pass
//! - Measured: checks: A 1.02
//! - Holds: the walk proved all offsets of the block; `fits` the positions'

use crate::error::Problem;
use crate::ops::for_dtype::for_dtype;
use crate::ops::order::{Ordered, replaces_element, replaces_start};
use crate::ops::reduction::{Combine, Nan};
use crate::tensor::{DType, DynViewMut};
use crate::walk::cursor::Block;
use crate::walk::{Walk, WalkId};
use smallvec::SmallVec;

/// Rows of values, their winners' positions, and updates.
struct ArgRows<'a> {
    dst: *mut u8,
    src: *const u8,
    arg: *mut u8,
    block: &'a Block,
    /// Axes of the window: length and byte steps in destination, source and arg output.
    window: &'a [(usize, [isize; 3])],
    /// Cells hold elements only, no start value beyond them: any byte but 0 is true.
    elements: bool,
}

/// Joins the updates of a block into their cells and writes the positions of those that stay.
///
/// # Safety
/// At every coordinate of the window, the block's offsets must lie inside `dst`, `src` (elements of
/// the loop's type) and `arg` (`i64`). The three must not overlap.
type ArgLoop = unsafe fn(&ArgRows<'_>);

/// The loops of a strict minimum or maximum that also tells where the winner came from.
pub struct Arg {
    /// The walk whose window and element type chose the loop.
    walk: WalkId,
    run: ArgLoop,
    window: SmallVec<[(usize, [isize; 3]); 4]>,
    elements: bool,
}

impl Arg {
    /// `arg` holds one `i64` per cell of the destination; the walk's `aux` is its byte offset.
    pub fn new(walk: &Walk<'_>, combine: Combine, arg: &DynViewMut<'_>) -> Result<Self, Problem> {
        let dtype = walk.dst_layout().dtype();
        let unsupported = || Problem::Unsupported {
            what: format!("the position of {combine:?}"),
            dtype,
        };
        let run: ArgLoop = match combine {
            Combine::Min(_) => {
                for_dtype!(dtype, T => win::<T, false>, complex C => return Err(unsupported()))
            }
            Combine::Max(_) => {
                for_dtype!(dtype, T => win::<T, true>, complex C => return Err(unsupported()))
            }
            _ => return Err(unsupported()),
        };
        if arg.dtype() != DType::I64 || !fits(walk, arg) || walk.src_layout().dtype() != dtype {
            return Err(unsupported());
        }
        let window = walk
            .window_dst_src()
            .iter()
            .zip(walk.window_aux())
            .map(|(dim, aux)| (dim.len, [dim.left, dim.right, aux]))
            .collect();
        let elements = matches!(
            combine,
            Combine::Min(Nan::Propagate) | Combine::Max(Nan::Propagate)
        );
        Ok(Self {
            walk: walk.id(),
            run,
            window,
            elements,
        })
    }

    /// Joins a block of updates into their cells and notes the positions of winners.
    pub fn run(&self, walk: &Walk<'_>, block: &Block, arg: &mut DynViewMut<'_>) {
        assert!(walk.id() == self.walk && block.walk() == self.walk);
        assert!(fits(walk, arg) && arg.dtype() == DType::I64);
        let rows = ArgRows {
            dst: walk.dst(),
            src: walk.src(),
            arg: arg.as_mut_ptr(),
            block,
            window: &self.window,
            elements: self.elements,
        };
        // SAFETY: the block's offsets are the walk's, whose element type chose the loop; its aux
        // offsets, window included, are below `aux_end` and multiples of 8 by `Walk`'s steps, and
        // `arg` is that long.
        unsafe { (self.run)(&rows) }
    }
}

/// Whether all that the walk can reach of the arg output is there.
fn fits(walk: &Walk<'_>, arg: &DynViewMut<'_>) -> bool {
    let (low, high) = arg.layout().extent();
    low == 0 && walk.aux_end() + size_of::<i64>() - 1 <= high.cast_unsigned()
}

/// # Safety
/// As for `ArgLoop`, with elements `T`.
unsafe fn win<T: Ordered, const MAX: bool>(rows: &ArgRows<'_>) {
    let block = rows.block;
    let width: usize = rows.window.iter().map(|w| w.0).product();
    for (row, &dst) in block.dst().iter().enumerate() {
        let src = block.src().get(row);
        let (aux, position) = (block.aux()[row], block.position()[row] as i64);
        for n in 0..width {
            let (mut rest, mut at) = (n, [dst, src, aux]);
            for &(len, steps) in rows.window.iter().rev() {
                let k = (rest % len).cast_signed();
                rest /= len;
                for (offset, step) in at.iter_mut().zip(steps) {
                    *offset += k * step;
                }
            }
            // SAFETY: the caller promises that every coordinate of the window is inside the three
            // arrays and that they do not overlap.
            unsafe {
                let cell = rows.dst.offset(at[0]).cast::<T>();
                let value = rows.src.offset(at[1]).cast::<T>().read();
                let wins = match rows.elements {
                    true => replaces_element::<T, MAX, false>(value, cell.read()),
                    false => replaces_start::<T, MAX>(value, cell.read()),
                };
                if wins {
                    cell.write(value.canonical());
                    rows.arg.offset(at[2]).cast::<i64>().write(position);
                }
            }
        }
    }
}
