//! Holds some columns of a destination in a dense private block.
//!
//! ```text
//! load:  copy the columns of all rows into the tile
//!        (the caller updates the tile)
//! store: copy the tile back
//! ```
//!
//! Destination rows that lie a power of two apart share the same few cache sets and evict each
//! other. The tile's rows lie `GAP` bytes more than their width apart, so they use different
//! sets. Cost: one read and one write per element of the columns, beside the updates. Dense columns
//! of whole lines are stored past the caches. It relies on `Walk::columns`, which checks that the
//! columns lie inside the destination.
//!
//! # Unsafe
//!
//! - Buys: columns close together
//! - Measured: checks: W3a 1.58; through the caches: W3a 1.07
//! - Holds: `places` proved that they lie inside both sides

use crate::cpu::nontemporal::write_past_caches;
use crate::error::Problem;
use crate::ops::identity::Bits;
use crate::rows::copy_loop::copy_loop;
use crate::rows::row_pairs::Rows;
use crate::tensor::{DType, DynTensor, DynViewMut};
use crate::walk::geometry::{Axis, Term};
use crate::walk::offsets::{At, Dim, PrefetchHints};
use crate::walk::{Grid, Walk};

/// Bytes that keep rows of a tile from competing with each other.
const GAP: usize = 64;

/// A tile, and how its rows and columns lie in the destination.
pub struct Tile {
    memory: DynTensor,
    grid: Grid,
}

impl Tile {
    /// A tile of the rows that a term names, each of `width` columns along an axis.
    pub fn new(dtype: DType, term: &Term, axis: &Axis, width: usize) -> Result<Self, Problem> {
        let gap = GAP / dtype.size();
        Ok(Self {
            memory: DynTensor::zeros(dtype, &[term.len, width + gap])?,
            grid: Grid {
                rows: term.len,
                row: term.dst,
                column: axis.step.dst,
            },
        })
    }

    /// Bytes from one row of the tile to the next.
    pub fn pitch(&self) -> isize {
        self.memory.layout().strides()[0]
    }

    /// The tile as a destination.
    pub fn view_mut(&mut self) -> DynViewMut<'_> {
        self.memory.view_mut()
    }

    /// Every element becomes `value`.
    pub fn fill(&mut self, value: &Bits) {
        let size = self.memory.dtype().size();
        let bytes = self.memory.as_bytes_mut();
        match value[..size].iter().all(|&b| b == 0) {
            true => bytes.fill(0),
            false => bytes
                .chunks_exact_mut(size)
                .for_each(|element| element.copy_from_slice(&value[..size])),
        }
    }

    /// Takes `width` columns of the destination from the walk's coordinate `origin` on.
    ///
    /// # Panics
    /// If they are not inside the walk, or the tile was made for another one.
    pub fn load(&mut self, walk: &Walk<'_>, origin: &[usize], width: usize) {
        let (at, tile) = self.places(walk, origin, width);
        let window = self.window(width);
        let rows = Rows {
            left: self.memory.view_mut().as_mut_ptr(),
            left_at: &tile,
            right: walk.dst(),
            right_at: At::Each(&at),
            window: &[Dim {
                left: window.right,
                right: window.left,
                ..window
            }],
            ahead: PrefetchHints::NONE,
        };
        // SAFETY: `places` proved that the columns lie inside the destination and the tile, which
        // have elements of the same type.
        unsafe { copy_loop(self.memory.dtype())(&rows) };
    }

    /// Puts the columns back.
    ///
    /// # Panics
    /// As [`load`](Self::load).
    pub fn store(&self, walk: &Walk<'_>, origin: &[usize], width: usize) {
        let (at, tile) = self.places(walk, origin, width);
        let size = self.memory.dtype().size();
        let bytes = width * size;
        let dense = self.grid.column == size.cast_signed() && bytes.is_multiple_of(GAP);
        let from = self.memory.as_bytes().as_ptr();
        if dense
            && at
                .iter()
                .all(|&at| walk.dst().wrapping_offset(at).addr() % GAP == 0)
        {
            for (&at, &tile) in at.iter().zip(&tile) {
                // SAFETY: `places` proved that the columns lie inside the destination and the tile.
                // Both sides are aligned to whole lines, and the columns are dense.
                unsafe {
                    write_past_caches(from.offset(tile), walk.dst().offset(at), bytes);
                }
            }
            return;
        }
        let rows = Rows {
            left: walk.dst(),
            left_at: &at,
            right: from,
            right_at: At::Each(&tile),
            window: &[self.window(width)],
            ahead: PrefetchHints::NONE,
        };
        // SAFETY: `places` proved that the columns lie inside the destination and the tile, which
        // have elements of the same type.
        unsafe { copy_loop(self.memory.dtype())(&rows) };
    }

    /// The destination's columns left, the tile's right.
    fn window(&self, width: usize) -> Dim {
        Dim {
            len: width,
            left: self.grid.column,
            right: self.memory.dtype().size().cast_signed(),
        }
    }

    /// The offsets of the rows in the destination and in the tile.
    fn places(&self, walk: &Walk<'_>, origin: &[usize], width: usize) -> (Vec<isize>, Vec<isize>) {
        let columns = self.memory.shape()[1];
        assert!(width <= columns && walk.dst_layout().dtype() == self.memory.dtype());
        let first = walk
            .columns(origin, width, self.grid)
            .expect("columns of the walk");
        let rows = 0..self.grid.rows.cast_signed();
        (
            rows.clone().map(|n| first + n * self.grid.row).collect(),
            rows.map(|n| n * self.pitch()).collect(),
        )
    }
}
