//! Updates sorted by block of rows, kept by a plan for later runs.
//!
//! A [`BucketList`](crate::bucket::BucketList) finds the block of each update in every run. A plan
//! finds it once:
//!
//! ```text
//! once:     for each piece of 2^20 updates, for each block: count, then list, the rows within it
//! each run: for each update: copy its element to the next entry of its block
//! ```
//!
//! Cost of a run: one element read and written per update, past the caches. The row numbers within
//! a block take 2 bytes each. It relies on the lists being made from the same row numbers that the
//! run reads. They share one `Arc`.
//!
//! # Unsafe
//!
//! - Buys: a plan's elements moved as its lists say
//! - Measured: `bucket/mod.rs` in each run, as without a plan: W1c 1.28, 4M values into 200M cells
//!   1.10
//! - Holds: indexing that panics; the lists were made from the same numbers, so there is room for
//!   each

use crate::bucket::Blocks;
use crate::cpu::nontemporal::{fence, write_past_caches};
use crate::error::Problem;
use crate::groups::row_ids::RowIds;
use crate::tensor::{Buffer, DynView, Layout, try_vec};
use crate::walk::ROWS;
use crate::walk::stack_buf::StackBuf;
use std::ops::Range;
use std::sync::Arc;

/// The base-2 logarithm of a block's rows: a row's number within its block has 16 bits.
const BLOCK_BITS: u32 = u16::BITS;

/// The last entries of more blocks than this have no room in a cache.
const MOST_BLOCKS: usize = 1 << 12;

/// Updates per piece: pieces are listed one after the other.
const PIECE: usize = 1 << 20;

/// Entries that are gathered before they are written.
const LINE: usize = 16;

/// For each block of rows, the updates that go there, in their order.
#[derive(Debug)]
pub struct CachedBucketLists {
    numbers: Arc<RowIds>,
    rows: usize,
    pieces: usize,
    /// The first entry of each piece of each block, block by block: a multiple of [`LINE`].
    starts: Vec<u32>,
    /// The number of entries of each piece of each block.
    counts: Vec<u32>,
    /// The row of each entry within its block.
    within: Vec<u16>,
}

impl CachedBucketLists {
    /// The lists of some row numbers, without those that are not below `rows`. `None` if there are
    /// too many rows or updates.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn new(numbers: &Arc<RowIds>, rows: usize) -> Result<Option<Self>, Problem> {
        let RowIds::Narrow(list) = &**numbers else {
            return Ok(None);
        };
        let Some((blocks, pieces)) = Self::lists(list.len(), rows) else {
            return Ok(None);
        };
        let lists = blocks * pieces;
        let what = "a plan's updates by block";
        let mut counts: Vec<u32> = try_vec(what, lists)?;
        counts.resize(lists, 0);
        let place = |piece: usize, row: u32| (row >> BLOCK_BITS) as usize * pieces + piece;
        let kept = || {
            let pieces = list.chunks(PIECE).enumerate();
            let rows_of =
                pieces.flat_map(|(piece, rows)| rows.iter().map(move |&row| (piece, row)));
            rows_of.filter(|&(_, row)| (row as usize) < rows)
        };
        for (piece, row) in kept() {
            counts[place(piece, row)] += 1;
        }
        let mut starts: Vec<u32> = try_vec(what, lists)?;
        let mut end = 0;
        for count in &counts {
            starts.push(end);
            end += count.next_multiple_of(LINE as u32);
        }
        let mut next: Vec<u32> = try_vec(what, lists)?;
        next.extend_from_slice(&starts);
        let mut within: Vec<u16> = try_vec(what, end as usize)?;
        within.resize(end as usize, 0);
        for (piece, row) in kept() {
            let at = &mut next[place(piece, row)];
            // What is left of the number has BLOCK_BITS bits.
            within[*at as usize] = row as u16;
            *at += 1;
        }
        Ok(Some(Self {
            numbers: Arc::clone(numbers),
            rows,
            pieces,
            starts,
            counts,
            within,
        }))
    }

    /// Whether lists are possible for this many updates and rows.
    pub fn are_made(updates: usize, rows: usize) -> bool {
        Self::lists(updates, rows).is_some()
    }

    /// The numbers of blocks and pieces. `None` for more than [`MOST_BLOCKS`] blocks, or for more
    /// entries than `u32` counts.
    fn lists(updates: usize, rows: usize) -> Option<(usize, usize)> {
        let blocks = rows.div_ceil(1 << BLOCK_BITS);
        let pieces = updates.div_ceil(PIECE);
        // Each may end with a line that is not full.
        let most = updates.saturating_add(blocks.saturating_mul(pieces).saturating_mul(LINE));
        let few = blocks <= MOST_BLOCKS && u32::try_from(most).is_ok();
        few.then_some((blocks, pieces))
    }

    /// Upper limit of the bytes that the lists need while they are made.
    pub fn room(updates: usize, rows: usize) -> usize {
        let (blocks, pieces) = Self::lists(updates, rows).unwrap_or_default();
        let lists = blocks * pieces;
        lists * 3 * size_of::<u32>() + (updates + lists * LINE) * size_of::<u16>()
    }

    /// Bytes of a block of elements of `size` bytes.
    pub fn block(size: usize) -> usize {
        size << BLOCK_BITS
    }

    /// Bytes of the lists, without the row numbers.
    pub fn bytes(&self) -> usize {
        let counted = [&self.starts, &self.counts];
        let counted = counted.iter().map(|list| size_of_val(list.as_slice()));
        counted.sum::<usize>() + size_of_val(self.within.as_slice())
    }

    /// Whether updates without gaps go to a destination without gaps, an element each.
    pub fn fit(&self, src: &DynView<'_>, dst: &Layout) -> bool {
        let updates = src.layout();
        updates.is_contiguous()
            && dst.is_contiguous()
            && updates.dtype() == dst.dtype()
            && (updates.len(), dst.len()) == (self.numbers.len(), self.rows)
    }

    /// How many blocks there are.
    fn blocks(&self) -> usize {
        self.rows.div_ceil(1 << BLOCK_BITS)
    }

    /// Updates in all that go to these blocks.
    fn len(&self, blocks: Range<usize>) -> usize {
        let counts = &self.counts[blocks.start * self.pieces..blocks.end * self.pieces];
        counts.iter().map(|&count| count as usize).sum()
    }
}

/// The elements of a run's updates, in the order of lists.
pub struct CachedBuckets<'l> {
    lists: &'l CachedBucketLists,
    size: usize,
    elements: Buffer,
}

impl<'l> CachedBuckets<'l> {
    /// Room for elements of a size.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn new(lists: &'l CachedBucketLists, size: usize) -> Result<Self, Problem> {
        let entries = lists.within.len();
        let what = || format!("a list of {entries} updates by their destinations");
        Ok(Self {
            lists,
            size,
            elements: Buffer::scratch(&what, entries.saturating_mul(size))?,
        })
    }

    /// The work of listing a source's elements, in up to `count` parts.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    ///
    /// # Panics
    /// If the lists are of other updates.
    pub fn parts<'p>(
        &'p mut self,
        src: &'p DynView<'_>,
        count: usize,
    ) -> Result<Vec<CachedBucketsWriter<'p>>, Problem> {
        let lists = self.lists;
        assert!(src.len() == lists.numbers.len() && src.layout().is_contiguous());
        assert_eq!(src.dtype().size(), self.size);
        let to = self.elements.as_mut_ptr();
        let count = count.clamp(1, lists.pieces.max(1));
        let part = |n: usize| {
            let pieces = n * lists.pieces / count..(n + 1) * lists.pieces / count;
            let what = || "the last updates of a list by their destinations".to_owned();
            let pending = Buffer::zeroed(&what, lists.blocks() * LINE * self.size)?;
            let mut next = try_vec("the blocks of a list of updates", lists.blocks())?;
            next.resize(lists.blocks(), 0);
            Ok(CachedBucketsWriter {
                lists,
                size: self.size,
                src: src.as_ptr(),
                to,
                pieces,
                pending,
                next,
            })
        };
        (0..count).map(part).collect()
    }

    /// Whether this is of elements for such a destination.
    pub(crate) fn is_for(&self, dst: &Layout) -> bool {
        dst.is_contiguous() && (dst.len(), dst.dtype().size()) == (self.lists.rows, self.size)
    }

    /// The blocks of the destination.
    pub(super) fn blocks(&self) -> Blocks {
        Blocks {
            low: 0,
            count: self.lists.blocks(),
            bits: CachedBucketLists::block(self.size).ilog2(),
        }
    }

    /// The number of updates that go to these blocks.
    pub(super) fn len(&self, blocks: Range<usize>) -> usize {
        self.lists.len(blocks)
    }

    /// Calls `each` with the entries of a block, some at a time, in order: their offsets in the
    /// destination, and the address of their elements.
    pub(crate) fn each(&self, block: usize, mut each: impl FnMut(&[isize], *const u8)) {
        let lists = self.lists;
        let base = self.blocks().first(block);
        let shift = self.size.trailing_zeros();
        let mut room = StackBuf::new();
        for list in block * lists.pieces..(block + 1) * lists.pieces {
            let first = lists.starts[list] as usize;
            let all = &lists.within[first..first + lists.counts[list] as usize];
            for (n, within) in all.chunks(ROWS).enumerate() {
                let at = room.fill_with(0isize, within.len());
                for (at, &row) in at.iter_mut().zip(within) {
                    *at = base + (isize::from(row.cast_signed()) & 0xffff) * (1 << shift);
                }
                let entry = first + n * ROWS;
                each(at, self.elements.as_ptr().wrapping_add(entry * self.size));
            }
        }
    }
}

/// A part of the work of listing elements: those of some pieces of the updates.
pub struct CachedBucketsWriter<'p> {
    lists: &'p CachedBucketLists,
    size: usize,
    src: *const u8,
    to: *mut u8,
    pieces: Range<usize>,
    /// The last elements of each block, not yet written.
    pending: Buffer,
    /// The next entry of each block.
    next: Vec<u32>,
}

// SAFETY: only this part writes the entries of its pieces. The source is borrowed shared.
unsafe impl Send for CachedBucketsWriter<'_> {}

impl CachedBucketsWriter<'_> {
    /// Lists the elements of the next piece. Returns their number, or `None` if no piece is left.
    pub fn next(&mut self) -> Option<usize> {
        let piece = self.pieces.next()?;
        Some(match self.size {
            1 => self.list::<1>(piece),
            2 => self.list::<2>(piece),
            4 => self.list::<4>(piece),
            8 => self.list::<8>(piece),
            _ => self.list::<16>(piece),
        })
    }

    fn list<const SIZE: usize>(&mut self, piece: usize) -> usize {
        assert_eq!(SIZE, self.size);
        let lists = self.lists;
        let RowIds::Narrow(numbers) = &*lists.numbers else {
            unreachable!("there are no lists of others");
        };
        for (block, next) in self.next.iter_mut().enumerate() {
            *next = lists.starts[block * lists.pieces + piece];
        }
        let updates = piece * PIECE..numbers.len().min((piece + 1) * PIECE);
        let count = updates.len();
        let (rows, next) = (lists.rows, &mut self.next[..]);
        let pending = self.pending.as_mut_ptr().cast::<[u8; SIZE]>();
        let to = self.to.cast::<[u8; SIZE]>();
        let src = self.src.cast::<[u8; SIZE]>();
        for (update, &row) in updates.clone().zip(&numbers[updates]) {
            if row as usize >= rows {
                continue;
            }
            let block = (row >> BLOCK_BITS) as usize;
            let entry = next[block] as usize;
            next[block] += 1;
            // SAFETY: the block exists, because the indexing above panics otherwise, and `pending`
            // has a line of elements for each block. `parts` checked that the source has an element
            // for each number. The lists were made from these numbers, so the entry belongs to this
            // block and piece, whose room is whole lines.
            unsafe {
                let line = pending.add(block * LINE);
                line.add(entry % LINE).write(src.add(update).read());
                if entry % LINE == LINE - 1 {
                    let first = to.add(entry + 1 - LINE);
                    write_past_caches(line.cast(), first.cast(), LINE * SIZE);
                }
            }
        }
        for (block, &entry) in next.iter().enumerate() {
            let (entry, left) = (entry as usize, entry as usize % LINE);
            if left > 0 {
                // SAFETY: `pending` has a line for each block. The line goes to the last, partly
                // filled line of this block and piece, whose room is whole lines.
                unsafe {
                    let line = pending.add(block * LINE);
                    write_past_caches(line.cast(), to.add(entry - left).cast(), LINE * SIZE);
                }
            }
        }
        fence();
        count
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_BITS, CachedBucketLists, CachedBuckets, PIECE};
    use crate::groups::row_ids::RowIds;
    use crate::tensor::{Element, Tensor};
    use std::fmt::Debug;
    use std::sync::Arc;

    /// Row numbers of which some are left out, of more than two pieces, in more than two blocks.
    fn numbers(rows: usize) -> (Arc<RowIds>, Vec<Option<usize>>) {
        let count = 2 * PIECE + 12_345;
        let mut numbers = RowIds::with_room("row numbers", count, rows).unwrap();
        let mut wanted = Vec::new();
        let mut state = 7usize;
        for k in 0..count {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let row = (state >> 33) % rows;
            // The last piece leaves out what is in the first block.
            let row = Some(row).filter(|&row| {
                let first = row >> BLOCK_BITS == 0;
                let left_out = first && k >= 2 * PIECE;
                !left_out && !(state >> 20).is_multiple_of(16)
            });
            numbers.push(row.unwrap_or(usize::MAX));
            wanted.push(row);
        }
        (Arc::new(numbers), wanted)
    }

    fn check<T: Element + Debug + PartialEq>(element: impl Fn(usize) -> T) {
        let rows = (3 << BLOCK_BITS) + 100;
        let (numbers, wanted) = numbers(rows);
        let lists = CachedBucketLists::new(&numbers, rows).unwrap().unwrap();
        assert!(lists.bytes() <= CachedBucketLists::room(wanted.len(), rows));
        assert_eq!(
            lists.len(0..lists.blocks()),
            wanted.iter().flatten().count()
        );
        let mut src = Tensor::<T>::zeros(&[wanted.len()]).unwrap();
        for (k, value) in src.as_mut_slice().iter_mut().enumerate() {
            *value = element(k);
        }
        let size = size_of::<T>();
        for threads in [1, 2, 3, 8] {
            let mut listed = CachedBuckets::new(&lists, size).unwrap();
            let view = src.view().into_dyn();
            for mut part in listed.parts(&view, threads).unwrap() {
                while part.next().is_some() {}
            }
            for block in 0..lists.blocks() {
                let updates = wanted.iter().enumerate();
                let mut expected = updates.filter_map(|(k, row)| row.map(|row| (row, element(k))));
                listed.each(block, |at, values| {
                    for (n, &at) in at.iter().enumerate() {
                        // SAFETY: there are as many elements as offsets.
                        let value = unsafe { values.cast::<T>().add(n).read() };
                        let found = (at.unsigned_abs() / size, value);
                        let next = expected.find(|(row, _)| row >> BLOCK_BITS == block);
                        assert_eq!(Some(found), next);
                    }
                });
                assert!(expected.all(|(row, _)| row >> BLOCK_BITS != block));
            }
        }
    }

    #[test]
    fn every_element_is_where_it_belongs() {
        #[allow(clippy::cast_possible_truncation)]
        check(|k| k as u8);
        #[allow(clippy::cast_possible_truncation)]
        check(|k| k as i16);
        #[allow(clippy::cast_precision_loss)]
        check(|k| k as f32);
        check(|k| k as i64);
        #[allow(clippy::cast_precision_loss)]
        check(|k| num_complex::Complex64::new(k as f64, 0.5));
    }

    #[test]
    fn there_are_none_of_too_many_rows() {
        let numbers = |limit: usize, rows: &[usize]| {
            let mut numbers = RowIds::with_room("row numbers", rows.len(), limit).unwrap();
            rows.iter().for_each(|&row| numbers.push(row));
            Arc::new(numbers)
        };
        let narrow = numbers(5, &[1, 2, 3]);
        assert!(CachedBucketLists::new(&narrow, 1 << 28).unwrap().is_some());
        assert!(
            CachedBucketLists::new(&narrow, (1 << 28) + 1)
                .unwrap()
                .is_none()
        );
        assert!(
            CachedBucketLists::new(&numbers(1 << 32, &[1]), 5)
                .unwrap()
                .is_none()
        );
        assert!(
            !CachedBucketLists::are_made(1 << 32, 5) && !CachedBucketLists::are_made(usize::MAX, 5)
        );
        let none = CachedBucketLists::new(&numbers(0, &[]), 0);
        assert_eq!(none.unwrap().unwrap().len(0..0), 0);
    }
}
