//! Updates into a private table of accumulators, one row per touched row of the destination.
//!
//! For what the destination's own cells cannot hold meanwhile: counts, and sums of 16-bit floats
//! in `f32`. Nothing is written to the destination before every update has been seen.

use super::Combine;
use super::convert::Converter;
use super::lane::Lane;
use super::loops::{Bits, FinishLoop, combine_loop, copy_loop, finish_loop, identity, widen_loop};
use super::rows::{Ahead, At, Dims, Loop, Rows};
use super::walk::{Block, ROWS, Walk};
use crate::error::Problem;
use crate::tensor::Buffer;

/// Accumulators and counts of the rows that updates go to.
pub(crate) struct Table {
    cells: Buffer,
    /// Updates per row; 0 is untouched.
    counts: Buffer,
    slots: usize,
    row_bytes: usize,
    /// Where a touched row starts from if not from the destination.
    identity: Option<Bits>,
    combine: Loop,
    load: Loop,
    fill: Loop,
    finish: FinishLoop,
    converter: Option<Converter>,
    /// Table left, source (or the converter's scratch) right.
    window: Dims,
    /// Table left, destination right.
    load_window: Dims,
    /// Table left, a single value right.
    fill_window: Dims,
    /// Destination left, table right.
    finish_window: Dims,
}

impl Table {
    /// An empty table of `slots` rows for a walk whose combine is a sum or a product.
    ///
    /// With `from_identity`, a row starts from the reduction's identity, else from the
    /// destination's row.
    pub(crate) fn new(
        walk: &Walk<'_>,
        combine: Combine,
        from_identity: bool,
        slots: usize,
    ) -> Result<Self, Problem> {
        let dtype = walk.dst_layout().dtype();
        let unsupported = || Problem::Unsupported {
            what: format!("{combine:?} in a table"),
            dtype,
        };
        if !matches!(combine, Combine::Sum | Combine::Prod) {
            return Err(unsupported());
        }
        let acc = dtype.accumulator();
        let row_bytes = walk.width().saturating_mul(acc.size());
        let cells = Buffer::zeroed(
            &|| format!("a table of {slots} rows of {} accumulators", walk.width()),
            row_bytes.saturating_mul(slots),
        )?;
        let counts = Buffer::zeroed(
            &|| format!("a table of {slots} counts"),
            slots.saturating_mul(size_of::<u64>()),
        )?;
        let converter = Converter::new(walk.src_layout(), dtype, walk.width(), |size| {
            walk.window_packed_src(size)
        })?;
        let mut window = walk.window_packed_src(acc.size());
        let mut fill_window = window.clone();
        for dim in &mut fill_window {
            dim.right = 0;
        }
        if converter.is_some() {
            for (dim, packed) in window.iter_mut().zip(walk.window_dst_packed(dtype.size())) {
                dim.right = packed.right;
            }
        }
        Ok(Self {
            cells,
            counts,
            slots,
            row_bytes,
            identity: if from_identity {
                Some(identity(dtype, combine).ok_or_else(unsupported)?)
            } else {
                None
            },
            combine: combine_loop(dtype, combine).ok_or_else(unsupported)?,
            load: widen_loop(dtype),
            fill: copy_loop(acc),
            finish: finish_loop(dtype),
            converter,
            window,
            load_window: walk.window_packed_dst(acc.size()),
            fill_window,
            finish_window: walk.window_dst_packed(acc.size()),
        })
    }

    /// The counts, one per row of the table.
    fn counts(&mut self) -> &mut [u64] {
        // SAFETY: the buffer holds `slots` initialised u64, aligned to 64, borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.counts.as_mut_ptr().cast(), self.slots) }
    }

    /// Joins a block of updates into the rows `slots`, one for each of the block's rows.
    pub(crate) fn add(&mut self, walk: &Walk<'_>, block: &Block, slots: &[usize]) {
        assert_eq!(slots.len(), block.dst().len());
        let (mut at, mut new_at, mut new_dst) = (Lane::new(), Lane::new(), Lane::new());
        let at = at.fill_with(0isize, slots.len());
        let new_at = new_at.fill_with(0isize, slots.len());
        let new_dst = new_dst.fill_with(0isize, slots.len());
        let mut new = 0;
        let row_bytes = self.row_bytes;
        let counts = self.counts();
        for (i, &slot) in slots.iter().enumerate() {
            at[i] = (slot * row_bytes).cast_signed();
            if counts[slot] == 0 {
                (new_at[new], new_dst[new]) = (at[i], block.dst()[i]);
                new += 1;
            }
            counts[slot] += 1;
        }
        self.start(walk, &new_at[..new], &new_dst[..new]);
        let at = &at[..slots.len()];
        let combine = self.combine;
        let mut rows = Rows {
            left: self.cells.as_mut_ptr(),
            left_at: at,
            right: walk.src(),
            right_at: block.src(),
            window: &self.window,
            ahead: Ahead::NONE,
        };
        let Some(converter) = &mut self.converter else {
            // SAFETY: `counts[slot]` above proved each slot to be a row of the table, whose
            // accumulators are of the loop's left type; the source offsets are the walk's.
            return unsafe { combine(&rows) };
        };
        // SAFETY: as above; the scratch holds elements of the destination's type.
        unsafe {
            converter.run(walk.src(), block, |part, scratch, scratch_at| {
                rows.left_at = &at[part];
                combine(&Rows {
                    right: scratch,
                    right_at: At::Each(scratch_at),
                    ..rows
                });
            });
        }
    }

    /// Sets rows that are touched for the first time to what they start from.
    fn start(&mut self, walk: &Walk<'_>, at: &[isize], dst: &[isize]) {
        #[repr(align(16))]
        struct Aligned(Bits);
        let value = Aligned(self.identity.unwrap_or_default());
        let left = self.cells.as_mut_ptr();
        // SAFETY: `at` are rows of the table (see `add`), `dst` offsets of the walk; a single
        // accumulator, aligned to 16 and with steps of 0, is the right side of `fill`.
        unsafe {
            if self.identity.is_some() {
                (self.fill)(&Rows {
                    left,
                    left_at: at,
                    right: value.0.as_ptr(),
                    right_at: At::Steps(0, 0),
                    window: &self.fill_window,
                    ahead: Ahead::NONE,
                });
            } else {
                (self.load)(&Rows {
                    left,
                    left_at: at,
                    right: walk.dst(),
                    right_at: At::Each(dst),
                    window: &self.load_window,
                    ahead: Ahead::NONE,
                });
            }
        }
    }

    /// Writes the touched rows to the destination, divided by their count plus `extra` if it is given.
    ///
    /// `id(slot)` is the number of the destination's row that a slot stands for; rows whose number
    /// is not one of the walk's are left out.
    pub(crate) fn finish(
        &mut self,
        walk: &Walk<'_>,
        mean: Option<u64>,
        id: impl Fn(usize) -> usize,
    ) {
        let most = self.slots.min(ROWS);
        let (mut at, mut dst, mut counts) = (Lane::new(), Lane::new(), Lane::new());
        let at = at.fill_with(0isize, most);
        let dst = dst.fill_with(0isize, most);
        let counts = counts.fill_with(0u64, most);
        let mut filled = 0;
        for slot in 0..self.slots {
            let count = self.counts()[slot];
            if count > 0
                && let Some(place) = walk.place(id(slot))
            {
                at[filled] = (slot * self.row_bytes).cast_signed();
                dst[filled] = place;
                counts[filled] = count + mean.unwrap_or(0);
                filled += 1;
            }
            if filled == ROWS || (slot + 1 == self.slots && filled > 0) {
                let rows = Rows {
                    left: walk.dst(),
                    left_at: &dst[..filled],
                    right: self.cells.as_ptr(),
                    right_at: At::Each(&at[..filled]),
                    window: &self.finish_window,
                    ahead: Ahead::NONE,
                };
                let counts = mean.map(|_| &counts[..filled]);
                // SAFETY: `place` gives offsets whose whole window lies in the destination, `at`
                // are rows of the table; the two do not overlap, as the table is private.
                unsafe { (self.finish)(&rows, counts) };
                filled = 0;
            }
        }
    }
}
