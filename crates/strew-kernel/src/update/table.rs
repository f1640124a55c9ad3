//! Updates into a private table of accumulators: one row for each touched row of the destination.
//!
//! ```text
//! add(block, slots): start the rows that are touched for the first time; count; join
//! finish:            round each touched row into the destination, divided by its count for a mean
//! ```
//!
//! It is for what the destination's own cells cannot hold meanwhile: counts, and sums of 16-bit
//! floats in `f32`. Nothing is written to the destination before every update has been seen.
//!
//! Cost: a row of accumulators and 1 bit or 8 bytes of count for each slot, and one more pass over
//! the touched rows in the end. A table belongs to the walk that it was made for, and asserts that.
//!
//! # Unsafe
//!
//! - Buys: sums in a private table
//! - Measured: checks: W2a-mean 0.99, M12 1.05
//! - Holds: slots are asserted to be rows of the table

use crate::error::Problem;
use crate::ops::identity::{Bits, identity};
use crate::ops::number::Mean;
use crate::ops::reduction::Combine;
use crate::rows::copy_loop::copy_loop;
use crate::rows::row_pairs::{Loop, Rows};
use crate::tensor::{Buffer, List};
use crate::update::converted::Converter;
use crate::update::dispatch::{FinishLoop, combine_loop, finish_loop, widen_loop};
use crate::update::row_bitmap::RowBitmap;
use crate::walk::cursor::Block;
use crate::walk::offsets::{At, Dim, Dims, PrefetchHints};
use crate::walk::stack_buf::StackBuf;
use crate::walk::{ROWS, Walk, WalkId};

/// Accumulators, and counts or a bitmap, of the rows that updates go to.
pub struct Table {
    /// The walk whose window and element types chose the loops.
    walk: WalkId,
    cells: Buffer,
    touch: Touch,
    slots: usize,
    row_bytes: usize,
    begin: Begin,
    identity: Bits,
    combine: Loop,
    load: Loop,
    fill: Loop,
    finish: FinishLoop,
    converter: Option<Converter>,
    /// The window with the table left and the source (or the converter's scratch) right.
    window: Dims,
    /// The window with the table left and the destination right.
    load_window: Dims,
    /// The window with the table left and a single value right.
    fill_window: Dims,
    /// The window with the destination left and the table right.
    finish_window: Dims,
}

/// The start value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// The destination's row, when it is touched.
    Destination,
    /// The reduction's identity, when it is touched.
    Identity,
    /// The reduction's identity, in every row. Touched and untouched rows are treated alike.
    Everywhere,
}

/// What is known about the rows that have been touched.
enum Touch {
    /// Nothing: all rows count as touched.
    All,
    Marks(RowBitmap),
    /// The number of updates of each row.
    Counts(List<u64>),
}

impl Table {
    /// An empty table of `slots` rows for a walk whose combine is a sum or a product.
    ///
    /// With `counts`, the table counts the updates of each row.
    pub fn new(
        walk: &Walk<'_>,
        combine: Combine,
        begin: Begin,
        counts: bool,
        slots: usize,
    ) -> Result<Self, Problem> {
        let dtype = walk.dst_layout().dtype();
        let unsupported = || Problem::Unsupported {
            what: format!("{combine:?} in a table"),
            dtype,
        };
        let folded = identity(dtype, combine).filter(|_| combine.folds());
        let identity = folded.ok_or_else(unsupported)?;
        let acc = dtype.accumulator();
        let row_bytes = walk.width().saturating_mul(acc.size());
        let cells = Buffer::zeroed(
            &|| format!("a table of {slots} rows of {} accumulators", walk.width()),
            row_bytes.saturating_mul(slots),
        )?;
        let touch = match (counts, begin) {
            (true, _) => Touch::Counts(List::zeroed_sparse(
                &|| format!("a table of {slots} counts"),
                slots,
            )?),
            (false, Begin::Everywhere) => Touch::All,
            (false, _) => Touch::Marks(RowBitmap::new(slots)?),
        };
        let converter = Converter::new(walk.src_layout(), dtype, walk.width(), |size| {
            walk.window_packed_src(size)
        })?;
        let mut window = walk.window_packed_src(acc.size());
        if converter.is_some() {
            for (dim, packed) in window.iter_mut().zip(walk.window_dst_packed(dtype.size())) {
                dim.right = packed.right;
            }
        }
        let mut table = Self {
            walk: walk.id(),
            cells,
            touch,
            slots,
            row_bytes,
            begin,
            identity,
            combine: combine_loop(dtype, combine).ok_or_else(unsupported)?,
            load: widen_loop(dtype),
            fill: copy_loop(acc),
            finish: finish_loop(dtype),
            converter,
            load_window: walk.window_packed_dst(acc.size()),
            fill_window: window.iter().map(Dim::against_one).collect(),
            window,
            finish_window: walk.window_dst_packed(acc.size()),
        };
        if begin == Begin::Everywhere && table.identity != [0; 16] {
            table.start_all(walk);
        }
        Ok(table)
    }

    /// Sets all rows to the identity.
    fn start_all(&mut self, walk: &Walk<'_>) {
        let mut room = StackBuf::new();
        for from in (0..self.slots).step_by(ROWS) {
            let at = room.fill_with(0isize, (self.slots - from).min(ROWS));
            for (slot, at) in (from..).zip(&mut *at) {
                *at = (slot * self.row_bytes).cast_signed();
            }
            self.start(walk, at, &[]);
        }
    }

    /// Joins a block of updates into the rows `slots`, one for each of the block's rows.
    ///
    /// # Panics
    /// If there is not one slot for each row, if the table has no such slot, or if the walk or the
    /// block is not of the walk that the table was made for.
    pub fn add(&mut self, walk: &Walk<'_>, block: &Block, slots: &[usize]) {
        assert!(walk.id() == self.walk && block.walk() == self.walk);
        assert_eq!(slots.len(), block.dst().len());
        let mut at = StackBuf::new();
        let at = at.fill_with(0isize, slots.len());
        let row_bytes = self.row_bytes;
        let mut outside = false;
        for (at, &slot) in at.iter_mut().zip(slots) {
            outside |= slot >= self.slots;
            *at = slot.wrapping_mul(row_bytes).cast_signed();
        }
        assert!(!outside);
        let mut room = StackBuf::new();
        let first = self.touch(slots, &mut room);
        if !first.is_empty() {
            let (mut new_at, mut new_dst) = (StackBuf::new(), StackBuf::new());
            let new_at = new_at.fill_with(0isize, first.len());
            let new_dst = new_dst.fill_with(0isize, first.len());
            for ((to, dst), &place) in new_at.iter_mut().zip(&mut *new_dst).zip(first) {
                (*to, *dst) = (at[place], block.dst()[place]);
            }
            self.start(walk, new_at, new_dst);
        }
        let at: &[isize] = at;
        let combine = self.combine;
        let mut rows = Rows {
            left: self.cells.as_mut_ptr(),
            left_at: at,
            right: walk.src(),
            right_at: block.src(),
            window: &self.window,
            ahead: block.ahead(),
        };
        let Some(converter) = &mut self.converter else {
            // SAFETY: the assertion above proved each slot to be a row of the table, whose
            // accumulators are of the loop's left type; the source offsets are the walk's.
            return unsafe { combine(&rows) };
        };
        // SAFETY: as above; the scratch holds elements of the destination's type.
        unsafe {
            converter.run(walk.src(), block, |part, scratch, right_at| {
                rows.left_at = &at[part];
                combine(&Rows {
                    right: scratch,
                    right_at,
                    ..rows
                });
            });
        }
    }

    /// Notes that rows get one more update each; gives the places in `slots` of those that get
    /// their first one and are to be started.
    fn touch<'l>(&mut self, slots: &[usize], room: &'l mut StackBuf<usize>) -> &'l [usize] {
        match &mut self.touch {
            Touch::All => &[],
            Touch::Marks(touched) if touched.is_full() => &[],
            Touch::Marks(touched) => {
                let places = room.fill_with(0, slots.len());
                let count = touched.touch(slots.iter().copied(), 0.., places);
                &places[..count]
            }
            Touch::Counts(counts) => {
                let counts = &mut **counts;
                if self.begin == Begin::Everywhere {
                    slots.iter().for_each(|&slot| counts[slot] += 1);
                    return &[];
                }
                let places = room.fill_with(0, slots.len());
                let mut count = 0;
                for (place, &slot) in slots.iter().enumerate() {
                    places[count] = place;
                    count += usize::from(counts[slot] == 0);
                    counts[slot] += 1;
                }
                &places[..count]
            }
        }
    }

    /// Sets the rows at the table offsets `at` to their start values. The destination's rows are at
    /// `dst`.
    fn start(&mut self, walk: &Walk<'_>, at: &[isize], dst: &[isize]) {
        #[repr(align(16))]
        struct Aligned(Bits);
        let value = Aligned(self.identity);
        let left = self.cells.as_mut_ptr();
        // SAFETY: `at` are rows of the table, `dst`, if it is read, offsets of the walk; a single
        // accumulator, aligned to 16 and with steps of 0, is the right side of `fill`.
        unsafe {
            if self.begin != Begin::Destination {
                (self.fill)(&Rows {
                    left,
                    left_at: at,
                    right: value.0.as_ptr(),
                    right_at: At::Steps(0, 0),
                    window: &self.fill_window,
                    ahead: PrefetchHints::NONE,
                });
            } else {
                (self.load)(&Rows {
                    left,
                    left_at: at,
                    right: walk.dst(),
                    right_at: At::Each(dst),
                    window: &self.load_window,
                    ahead: PrefetchHints::NONE,
                });
            }
        }
    }

    /// Writes the touched rows to the destination, divided by their counts for a mean.
    ///
    /// `id(slot)` is the number of the destination's row that a slot stands for; rows whose number
    /// is not one of the walk's are left out.
    pub fn finish(&mut self, walk: &Walk<'_>, mean: Option<Mean>, id: impl Fn(usize) -> usize) {
        assert!(walk.id() == self.walk);
        let most = self.slots.min(ROWS);
        let (mut at, mut dst, mut counts) = (StackBuf::new(), StackBuf::new(), StackBuf::new());
        let at = at.fill_with(0isize, most);
        let dst = dst.fill_with(0isize, most);
        let counts = counts.fill_with(0u64, most);
        let mut filled = 0;
        for slot in 0..self.slots {
            let count = match &mut self.touch {
                Touch::All => 1,
                Touch::Marks(touched) => u64::from(touched.is_touched(slot)),
                Touch::Counts(counts) => counts[slot],
            };
            if count > 0
                && let Some(place) = walk.place(id(slot))
            {
                at[filled] = (slot * self.row_bytes).cast_signed();
                dst[filled] = place;
                counts[filled] = count;
                filled += 1;
            }
            if filled == ROWS || (slot + 1 == self.slots && filled > 0) {
                let rows = Rows {
                    left: walk.dst(),
                    left_at: &dst[..filled],
                    right: self.cells.as_ptr(),
                    right_at: At::Each(&at[..filled]),
                    window: &self.finish_window,
                    ahead: PrefetchHints::NONE,
                };
                let counts = mean.map(|mean| (mean, &counts[..filled]));
                // SAFETY: `place` gives offsets whose whole window lies in the destination, `at`
                // are rows of the table; the two do not overlap, as the table is private.
                unsafe { (self.finish)(&rows, counts) };
                filled = 0;
            }
        }
    }
}
