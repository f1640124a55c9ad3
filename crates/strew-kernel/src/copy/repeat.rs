//! Copies each row of a source to a run of destination rows (`gather_csr`, `repeat`).
//!
//! ```text
//! for each (row, start, end) that is pushed:
//!     for to in start..end: note the pair (to, row)
//!     when 256 pairs are noted: copy them with the loop for this element size
//! ```
//!
//! Cost: one write per destination byte, and one read per source row for each row of its run; a
//! long run reads a source row that is in the cache. The engine uses it where runs are given by
//! pointers or by one row number per update. It relies on the checks in [`RepeatRows::new`]
//! (shapes, overlap) and [`RepeatRows::push`] (rows).
//!
//! # Unsafe
//!
//! - Buys: rows copied to runs
//! - Measured: checks: S-spread 1.00, S4-spread 1.06
//! - Holds: `push` checked the rows of both sides

use crate::copy::strided::window;
use crate::error::Problem;
use crate::groups::batch::{Batch, alike};
use crate::rows::copy_loop::copy_loop;
use crate::rows::row_pairs::{Loop, Rows};
use crate::tensor::{DynView, DynViewMut, apart};
use crate::walk::geometry::OutOfBounds;
use crate::walk::offsets::{At, Dims, PrefetchHints};

/// Pairs of rows that are found before they are copied.
const BLOCK: usize = 256;

/// Copies rows of a source, each to a run of a destination's rows.
pub struct RepeatRows<'r> {
    copy: Loop,
    src: DynView<'r>,
    dst: DynViewMut<'r>,
    axis: usize,
    /// The axes behind that of the rows.
    window: Dims,
    batch: Batch,
    left_at: Vec<isize>,
    right_at: Vec<isize>,
    done: usize,
}

impl<'r> RepeatRows<'r> {
    /// Rows lie along `axis`; all other axes of source and destination are the same.
    ///
    /// # Errors
    /// [`Problem::Layout`] if they are not, or if the destination overlaps itself or the source.
    pub fn new(src: &DynView<'r>, mut dst: DynViewMut<'r>, axis: usize) -> Result<Self, Problem> {
        let refuse = |why: &str| Problem::Layout {
            argument: "src".into(),
            why: why.into(),
        };
        if src.dtype() != dst.dtype() || !alike(src.shape(), dst.shape(), axis) {
            return Err(refuse("it does not fit the output"));
        }
        if !apart(src, &mut dst) {
            return Err(refuse("the output overlaps it or itself"));
        }
        Ok(Self {
            copy: copy_loop(dst.dtype()),
            src: src.clone(),
            axis,
            window: window(dst.layout(), src.layout(), axis + 1..src.rank()),
            batch: Batch::over(&src.shape()[..axis]),
            left_at: Vec::with_capacity(BLOCK),
            right_at: Vec::with_capacity(BLOCK),
            done: 0,
            dst,
        })
    }

    /// The coordinate on the axes before that of the rows. Runs that are pushed belong to it.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Moves on to the next coordinate; false behind the last.
    pub fn advance(&mut self) -> bool {
        self.batch.advance()
    }

    /// Row `row` of the source goes to the destination's rows from `start` up to `end`, to none if
    /// that is not behind it.
    ///
    /// # Errors
    /// [`OutOfBounds`] if there are no such rows.
    pub fn push(&mut self, row: usize, start: usize, end: usize) -> Result<(), OutOfBounds> {
        let source = self.src.shape()[self.axis];
        let rows = self.dst.shape()[self.axis];
        if row >= source || start > rows || end > rows {
            return Err(OutOfBounds);
        }
        let (from, to) = (self.src.layout().strides(), self.dst.layout().strides());
        let right = self.batch.offset(from) + row.cast_signed() * from[self.axis];
        let (left, step) = (self.batch.offset(to), to[self.axis]);
        for to in start..end {
            self.left_at.push(left + to.cast_signed() * step);
            self.right_at.push(right);
            if self.left_at.len() == BLOCK {
                self.flush();
            }
        }
        Ok(())
    }

    /// Copies the rows that have been handed over. What is not flushed is not done.
    pub fn flush(&mut self) {
        let elements: usize = self.window.iter().map(|dim| dim.len).product();
        self.done += self.left_at.len().saturating_mul(elements);
        if !self.left_at.is_empty() && !self.dst.is_empty() {
            let rows = Rows {
                left: self.dst.as_mut_ptr(),
                left_at: &self.left_at,
                right: self.src.as_ptr(),
                right_at: At::Each(&self.right_at),
                window: &self.window,
                ahead: PrefetchHints::NONE,
            };
            // SAFETY: `push` has checked the rows of both sides. The batch is a coordinate of the
            // axes before them. The window is the axes behind them, which `new` found equal on both
            // sides. `new` also checked that the destination overlaps neither itself nor the
            // source.
            unsafe { (self.copy)(&rows) };
        }
        self.left_at.clear();
        self.right_at.clear();
    }

    /// How many elements have been copied since this was asked last.
    pub fn take_done(&mut self) -> usize {
        std::mem::take(&mut self.done)
    }
}
