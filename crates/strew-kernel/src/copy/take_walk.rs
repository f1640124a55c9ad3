//! Runs a [`Walk`] in the other direction: copies its destination cells to its source rows
//! (gather).
//!
//! ```text
//! for each block of checked offsets:
//!     for each row: output[src offset] = input[dst offset]
//! ```
//!
//! Cost: one read and one write per element. Rows of up to 64 bytes have
//! [loops](super::short_rows) of their own. Those of up to 16 bytes, single elements too, need no
//! blocks: [one loop](super::short_lines) reads an index value, checks it and copies. Large outputs
//! of longer rows that are whole, dense lines are written past the caches.
//! The engine uses it for every gather that needs the index decoded as the run goes. It
//! relies on the walk's proof for both offsets. The input plays the walk's destination, and the
//! output plays its source.
//!
//! # Unsafe
//!
//! - Buys: gathers by the walk of a scatter
//! - Measured: checks: GE 1.18
//! - Holds: the same proof with the sides exchanged

use crate::copy::short_lines::{TakeLoop, take_loop};
use crate::copy::short_rows::short_row_loop;
use crate::copy::strided::{copy_rows_past_caches, past_caches};
use crate::rows::copy_loop::copy_loop;
use crate::rows::row_pairs::{Loop, Rows};
use crate::tensor::{DynView, DynViewMut, apart};
use crate::walk::Walk;
use crate::walk::cursor::{Block, Cursor, Read};
use crate::walk::geometry::{Geometry, OutOfBounds};
use crate::walk::line::{Lines, RULED};
use crate::walk::offsets::{At, Dims};
use crate::walk::stack_buf::StackBuf;

/// Copies cells of an input, which a walk gives as its destinations, to an output, which it gives
/// as its source.
pub struct TakeWalk<'a> {
    walk: Walk<'a>,
    input: *const u8,
    output: *mut u8,
    /// The output on the left and the input on the right.
    window: Dims,
    copy: Loop,
    /// The bytes of a row without gaps, if there are few.
    short: Option<usize>,
}

/// Maximum number of rows of lines between two checks for an interrupt.
const LINE: usize = 1 << 14;

impl<'a> TakeWalk<'a> {
    /// Binds the geometry to its memory; `None` if any offset that it can produce lies outside, if
    /// the types differ, or if the output overlaps itself or the input.
    pub fn new(
        geometry: &Geometry<'a>,
        input: &'a DynView<'_>,
        output: &'a mut DynViewMut<'_>,
    ) -> Option<Self> {
        let fits = input.dtype() == output.dtype() && apart(input, output);
        let at = output.as_mut_ptr();
        let walk = Walk::prove(geometry, input.layout(), at, output.layout())?;
        let swapped = walk.window_dst_src().into_iter().map(|dim| dim.swapped());
        let window: Dims = swapped.collect();
        let size = input.dtype().size();
        let bytes = walk.count().saturating_mul(walk.width() * size);
        let copy: Loop = match short_row_loop(&window, size) {
            Some(copy) => copy,
            None if past_caches(&window, size, bytes) => copy_rows_past_caches,
            None => copy_loop(input.dtype()),
        };
        let short = match *window {
            [] => Some(size),
            [dim] if (dim.left, dim.right) == (size.cast_signed(), size.cast_signed()) => {
                dim.len.checked_mul(size)
            }
            _ => None,
        };
        fits.then(|| Self {
            short,
            input: input.as_ptr(),
            output: at,
            window,
            copy,
            walk,
        })
    }

    /// The walk whose blocks are to be [run](Self::run).
    pub fn walk(&self) -> &Walk<'a> {
        &self.walk
    }

    /// The loop over lines, if there is one for such rows and such an index.
    fn lines(&self, cursor: &Cursor<'_, '_>, index: &impl Read) -> Option<TakeLoop> {
        match cursor.has_whole_lines(index) {
            true => take_loop(self.short?, !index.is_plain(0)),
            false => take_loop(self.short.filter(|_| cursor.has_lines_by_rule())?, false),
        }
    }

    /// Whether the rows that a cursor gives are lines of few bytes, for
    /// [`run_lines`](Self::run_lines).
    pub fn has_lines(&self, cursor: &Cursor<'_, '_>, index: &impl Read) -> bool {
        self.lines(cursor, index).is_some()
    }

    /// Copies the cells of the next rows, some thousand at most, which are such
    /// [lines](Self::has_lines). Gives how many they were; 0: the walk is over.
    ///
    /// # Errors
    /// [`OutOfBounds`] if an index value is, or if the rows are no lines.
    ///
    /// # Panics
    /// If the cursor is of another walk.
    pub fn run_lines(
        &self,
        cursor: &mut Cursor<'_, '_>,
        index: &impl Read,
    ) -> Result<usize, OutOfBounds> {
        let take = self.lines(cursor, index).ok_or(OutOfBounds)?;
        assert!(cursor.walk().id() == self.walk.id());
        if !cursor.has_whole_lines(index) {
            return self.run_lines_by_rule(cursor, index, take);
        }
        // Nothing is written there.
        let input = self.input.cast_mut();
        let Some(lines) = cursor.lines_to(input, index, LINE)? else {
            return Ok(0);
        };
        // SAFETY: the walk has proven, for every value below the limit, cells inside the input,
        // which it was given as destination, and rows inside the output, which it was given as
        // source. Both are of as many bytes as chose the loop, without gaps. The output is borrowed
        // mutably as long as the walk lives, and does not overlap the input. The index values of
        // the lines lie in the index.
        let done = unsafe { take(&lines) };
        done.then_some(lines.rows()).ok_or(OutOfBounds)
    }

    /// [`run_lines`](Self::run_lines) of an index whose values are not used as they are, or leave
    /// rows out: as if there was no rule, up to the first value that is not inside. From there on the
    /// values that are used are written down first.
    #[inline(never)] // What it has on the stack would be there for every run.
    fn run_lines_by_rule(
        &self,
        cursor: &mut Cursor<'_, '_>,
        index: &impl Read,
        take: TakeLoop,
    ) -> Result<usize, OutOfBounds> {
        let input = self.input.cast_mut();
        let takes = |lines: &Lines<'_>| {
            // SAFETY: as in `run_lines`, with a term that leaves no row out.
            match unsafe { take(lines) } {
                true => Ok(()),
                false => Err(OutOfBounds),
            }
        };
        let mut next = cursor.clone();
        if index.keeps_inside(0)
            && let Ok(Some(mut lines)) = next.lines_to(input, index, LINE)
        {
            lines.keep_all();
            if takes(&lines).is_ok() {
                *cursor = next;
                return Ok(lines.rows());
            }
            // The rows before the first value that is not below the limit have been copied.
            // SAFETY: the index values of the lines lie in the index.
            let copied = unsafe { lines.rows_inside() };
            if copied > 0 {
                cursor.skip(&lines, copied);
                return Ok(copied);
            }
        }
        let mut room = StackBuf::<i64, RULED>::of_size();
        let room = room.fill_with(0, RULED.min(self.walk.count()));
        let Some((line, drops)) = cursor.line_by_rule(input, index, room)? else {
            return Ok(0);
        };
        match drops {
            true => line.kept().try_for_each(|lines| takes(&lines))?,
            false => takes(&Lines::one(line))?,
        }
        Ok(line.count)
    }

    /// Copies the cells of a block of the walk.
    ///
    /// # Panics
    /// If the block is of another walk.
    pub fn run(&self, block: &Block) {
        assert!(block.walk() == self.walk.id());
        let mut room = StackBuf::new();
        let to = room.fill_with(0, block.len());
        for (row, to) in to.iter_mut().enumerate() {
            *to = block.src().get(row);
        }
        // SAFETY: the block holds offsets that this walk has proven to lie, window included, inside
        // the input, which it was given as destination, and inside the output, which it was given
        // as source. Both are of the type that chose the loop; the output is borrowed mutably as
        // long as the walk lives, and overlaps neither itself nor the input.
        unsafe {
            (self.copy)(&Rows {
                left: self.output,
                left_at: to,
                right: self.input,
                right_at: At::Each(block.dst()),
                window: &self.window,
                ahead: block.ahead(),
            });
        }
    }
}
