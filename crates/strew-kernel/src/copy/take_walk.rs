//! Runs a [`Walk`] in the other direction: copies its destination cells to its source rows
//! (gather).
//!
//! ```text
//! for each block of checked offsets:
//!     for each row: output[src offset] = input[dst offset]
//! ```
//!
//! Cost: one read and one write per element. Rows of up to 64 bytes have
//! [loops](super::short_rows) of their own. Large outputs of longer rows that are whole, dense
//! lines are written past the caches.
//! The engine uses it for every gather that needs the index decoded as the run goes. It
//! relies on the walk's proof for both offsets. The input plays the walk's destination, and the
//! output plays its source.
//!
//! # Unsafe
//!
//! - Buys: gathers by the walk of a scatter
//! - Measured: checks: GE 1.18
//! - Holds: the same proof with the sides exchanged

use crate::copy::short_rows::short_row_loop;
use crate::copy::strided::{copy_rows_past_caches, past_caches};
use crate::tensor::{DynView, DynViewMut, apart};
use crate::update::dispatch::copy_loop;
use crate::update::row_pairs::{Loop, Rows};
use crate::walk::Walk;
use crate::walk::cursor::Block;
use crate::walk::geometry::Geometry;
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
}

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
        fits.then(|| Self {
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
