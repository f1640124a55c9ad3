//! Which rows of a destination have been touched: one bit for each row.
//!
//! The words are zeroed lazily by the operating system, so memory follows the touched rows. Marking
//! has no branch that depends on the data.

use crate::error::Problem;
use crate::tensor::List;
use crate::walk::cursor::Block;
use crate::walk::stack_buf::StackBuf;

/// A bit for each row.
pub struct RowBitmap {
    bits: List<u64>,
    rows: usize,
    /// The number of rows that have not been touched.
    left: usize,
}

impl RowBitmap {
    /// A bitmap of `rows` untouched rows.
    pub fn new(rows: usize) -> Result<Self, Problem> {
        let what = || format!("marks for {rows} rows");
        Ok(Self {
            bits: List::zeroed_sparse(&what, rows.div_ceil(64))?,
            rows,
            left: rows,
        })
    }

    /// Marks every row as untouched.
    pub(crate) fn clear(&mut self) {
        self.bits.fill(0);
        self.left = self.rows;
    }

    /// Touches the rows of these numbers. Writes the items of the rows that were untouched to
    /// `first` and returns their number.
    ///
    /// # Panics
    /// If a number is not below the number of rows, or if `first` has no room for all items.
    pub(crate) fn touch<T>(
        &mut self,
        numbers: impl Iterator<Item = usize>,
        items: impl Iterator<Item = T>,
        first: &mut [T],
    ) -> usize {
        let bits = &mut *self.bits;
        let mut count = 0;
        for (number, item) in numbers.zip(items) {
            let word = &mut bits[number / 64];
            let bit = 1 << (number % 64);
            // Without a branch: the processor could not predict it.
            first[count] = item;
            count += usize::from(*word & bit == 0);
            *word |= bit;
        }
        self.left -= count;
        count
    }

    /// Touches a row, and returns whether it was untouched.
    ///
    /// # Panics
    /// If the number is not below the number of rows.
    #[inline(always)]
    pub(crate) fn touch_one(&mut self, row: usize) -> bool {
        let word = &mut self.bits[row / 64];
        let bit = 1 << (row % 64);
        let first = *word & bit == 0;
        *word |= bit;
        self.left -= usize::from(first);
        first
    }

    /// Touches the rows of a block.
    pub fn mark(&mut self, block: &Block) {
        let bits = &mut *self.bits;
        for number in block.aux().iter().map(|n| n.cast_unsigned()) {
            let word = &mut bits[number / 64];
            let bit = 1 << (number % 64);
            self.left -= usize::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// Touches the rows of a block by their offsets: row `n` begins at `first + (n << shift)`
    /// bytes.
    pub fn mark_places(&mut self, block: &Block, first: isize, shift: u32) {
        let bits = &mut *self.bits;
        for &place in block.dst() {
            let number = place.wrapping_sub(first).cast_unsigned() >> shift;
            let word = &mut bits[number / 64];
            let bit = 1 << (number % 64);
            self.left -= usize::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether a row has been touched.
    pub(crate) fn is_touched(&mut self, row: usize) -> bool {
        self.bits[row / 64] & (1 << (row % 64)) != 0
    }

    /// Whether every row has been touched.
    pub fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Touches the rows of a block. Returns the offsets of the rows that were untouched.
    pub fn first<'l>(&mut self, block: &Block, room: &'l mut StackBuf<isize>) -> &'l [isize] {
        let offsets = room.fill_with(0, block.len());
        let numbers = block.aux().iter().map(|n| n.cast_unsigned());
        let count = self.touch(numbers, block.dst().iter().copied(), offsets);
        &offsets[..count]
    }
}
