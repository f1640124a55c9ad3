//! Updates put into the order of their destinations, block of memory by block of memory.
//!
//! Random access to a destination that is larger than the caches misses at every update. To write
//! the updates down first, sorted roughly by where they go, is sequential work, and so little of the
//! destination is touched at a time afterwards that it stays in a cache. Within a block the updates
//! keep their order.

use super::combine::Direct;
use super::copy::{fence, write_past_caches};
use super::lane::Lane;
use super::loops::Bits;
use super::rows::{Ahead, At, Rows};
use super::touched::Touched;
use super::walk::{Block, ROWS, Walk};
use crate::error::Problem;
use crate::tensor::{Buffer, Layout, try_vec};

/// A block of the destination has two to the power of so many bytes: half of a second-level cache.
const BLOCK_BITS: u32 = 20;

/// Entries per chunk: what is allotted to a block at a time.
const CHUNK: usize = 1024;

/// Entries that are gathered before they are written: their offsets fill a cache line.
const LINE: usize = 16;

/// How a destination is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    /// The lowest offset.
    low: isize,
    count: usize,
}

impl Blocks {
    pub(crate) fn of(dst: &Layout) -> Self {
        let (low, high) = dst.extent();
        Self {
            low,
            ..Self::over(high.wrapping_sub(low).cast_unsigned())
        }
    }

    /// A destination that reaches over so many bytes.
    pub(crate) fn over(bytes: usize) -> Self {
        Self {
            low: 0,
            count: (bytes >> BLOCK_BITS) + 1,
        }
    }

    pub(crate) fn count(self) -> usize {
        self.count
    }

    /// Bytes that a list of `updates` elements of `size` bytes takes, at most.
    pub(crate) fn bytes(self, updates: usize, size: usize) -> usize {
        self.chunks(updates)
            .saturating_mul(CHUNK * (size_of::<u32>() + size) + size_of::<u32>())
    }

    /// Each block may have one chunk that is not full.
    fn chunks(self, updates: usize) -> usize {
        updates / CHUNK + self.count + 1
    }

    fn split(self, offset: isize) -> (usize, u32) {
        let from_low = offset.wrapping_sub(self.low).cast_unsigned();
        // What is left of the offset has BLOCK_BITS bits.
        (
            from_low >> BLOCK_BITS,
            from_low as u32 & ((1 << BLOCK_BITS) - 1),
        )
    }
}

/// The chunks of one block.
#[derive(Clone, Copy)]
struct Chain {
    /// Number of the first chunk and of the last one.
    first: u32,
    last: u32,
    /// Entries in all.
    len: usize,
}

/// A list of updates, sorted by block.
pub(crate) struct Partition {
    blocks: Blocks,
    size: usize,
    chains: Vec<Chain>,
    /// For each chunk, the next one of its block.
    next: Vec<u32>,
    /// Offsets within the block, chunk by chunk.
    offsets: Buffer,
    /// The elements of the source that go there.
    values: Buffer,
    /// The last entries of each block, not yet written: offsets, then elements.
    pending: Buffer,
}

const NONE: u32 = u32::MAX;

impl Partition {
    /// An empty list for up to `updates` elements of `size` bytes.
    pub(crate) fn new(blocks: Blocks, updates: usize, size: usize) -> Result<Self, Problem> {
        let chunks = blocks.chunks(updates);
        let what = || format!("a list of {updates} updates by their destinations");
        let mut chains = try_vec("the blocks of a list of updates", blocks.count)?;
        let none = Chain {
            first: NONE,
            last: NONE,
            len: 0,
        };
        chains.resize(blocks.count, none);
        let line = LINE * (size_of::<u32>() + size);
        Ok(Self {
            blocks,
            size,
            chains,
            next: try_vec("the chunks of a list of updates", chunks)?,
            offsets: Buffer::zeroed(&what, chunks.saturating_mul(CHUNK * size_of::<u32>()))?,
            values: Buffer::zeroed(&what, chunks.saturating_mul(CHUNK * size))?,
            pending: Buffer::zeroed(&what, blocks.count.saturating_mul(line))?,
        })
    }

    /// Appends the updates of a block of rows, which are one element each.
    ///
    /// # Panics
    /// If there are more than were announced.
    pub(crate) fn push(&mut self, walk: &Walk<'_>, rows: &Block) {
        assert!(walk.width() == 1 && walk.src_layout().dtype().size() == self.size);
        match self.size {
            1 => self.push_sized::<1>(walk, rows),
            2 => self.push_sized::<2>(walk, rows),
            4 => self.push_sized::<4>(walk, rows),
            8 => self.push_sized::<8>(walk, rows),
            _ => self.push_sized::<16>(walk, rows),
        }
    }

    fn push_sized<const SIZE: usize>(&mut self, walk: &Walk<'_>, rows: &Block) {
        assert_eq!(SIZE, self.size);
        let (src, at) = (walk.src(), rows.src());
        let line = LINE * (size_of::<u32>() + SIZE);
        for (i, &offset) in rows.dst().iter().enumerate() {
            if i % 8 == 0 {
                rows.ahead().prefetch(i);
            }
            let (block, within) = self.blocks.split(offset);
            let place = self.chains[block].len % LINE;
            // SAFETY: there is such a block (the indexing above panics otherwise), and the room of
            // each is a line of so many offsets and elements; the walk proved that the source has an
            // element where the row is, and the two do not overlap.
            unsafe {
                let pending = self.pending.as_mut_ptr().add(block * line);
                pending.cast::<u32>().add(place).write(within);
                let to = pending.add(LINE * size_of::<u32>() + place * SIZE);
                let from = src.offset(at.get(i)).cast::<[u8; SIZE]>();
                to.cast::<[u8; SIZE]>().write(from.read());
            }
            self.chains[block].len += 1;
            if place + 1 == LINE {
                self.flush::<SIZE>(block, LINE);
            }
        }
    }

    /// Writes the last `count` entries of a block to its last chunk.
    fn flush<const SIZE: usize>(&mut self, block: usize, count: usize) {
        let chain = &mut self.chains[block];
        let from = chain.len - count;
        if from.is_multiple_of(CHUNK) {
            assert!(self.next.len() < self.next.capacity());
            // No more chunks than were announced, and so many entries would not fit in memory.
            let chunk = self.next.len() as u32;
            self.next.push(NONE);
            match chain.last {
                NONE => chain.first = chunk,
                last => self.next[last as usize] = chunk,
            }
            chain.last = chunk;
        }
        let entry = chain.last as usize * CHUNK + from % CHUNK;
        let line = LINE * (size_of::<u32>() + SIZE);
        // SAFETY: the chunk was announced, so that offsets and values have room for its entries, of
        // which `entry` is the first of a line; the pending line is one of the blocks'.
        unsafe {
            let pending = self.pending.as_ptr().add(block * line);
            let offsets = self.offsets.as_mut_ptr().add(entry * size_of::<u32>());
            write_past_caches(pending, offsets, LINE * size_of::<u32>());
            let values = self.values.as_mut_ptr().add(entry * SIZE);
            write_past_caches(pending.add(LINE * size_of::<u32>()), values, LINE * SIZE);
        }
    }

    /// No more updates come.
    pub(crate) fn close(&mut self) {
        for block in 0..self.chains.len() {
            let count = self.chains[block].len % LINE;
            if count > 0 {
                match self.size {
                    1 => self.flush::<1>(block, count),
                    2 => self.flush::<2>(block, count),
                    4 => self.flush::<4>(block, count),
                    8 => self.flush::<8>(block, count),
                    _ => self.flush::<16>(block, count),
                }
            }
        }
        fence();
    }

    /// Updates in all that go to these blocks.
    pub(crate) fn len(&self, blocks: std::ops::Range<usize>) -> usize {
        self.chains[blocks].iter().map(|c| c.len).sum()
    }

    /// The entries of a block, some at a time, in order: their offsets in the destination, and where
    /// their elements are.
    fn each(&self, block: usize, mut each: impl FnMut(&[isize], *const u8)) {
        let base = self.blocks.low + (block << BLOCK_BITS).cast_signed();
        let chain = self.chains[block];
        let (mut chunk, mut left) = (chain.first, chain.len);
        let mut room = Lane::new();
        while left > 0 {
            let first = chunk as usize * CHUNK;
            for from in (first..first + left.min(CHUNK)).step_by(ROWS) {
                let count = (first + left.min(CHUNK) - from).min(ROWS);
                let at = room.fill_with(0isize, count);
                // SAFETY: entries of a chunk that was written.
                let offsets = unsafe {
                    let offsets = self.offsets.as_ptr().cast::<u32>().add(from);
                    std::slice::from_raw_parts(offsets, count)
                };
                for (at, &within) in at.iter_mut().zip(offsets) {
                    *at = base + within as isize;
                }
                each(at, self.values.as_ptr().wrapping_add(from * self.size));
            }
            left -= left.min(CHUNK);
            chunk = self.next[chunk as usize];
        }
    }
}

/// Joins the updates of lists into blocks of a destination.
pub(crate) struct Replay<'d> {
    dst: *mut u8,
    direct: &'d Direct,
}

// SAFETY: whoever calls `block` promises that no two threads have the same block.
unsafe impl Sync for Replay<'_> {}

impl<'d> Replay<'d> {
    pub(crate) fn new(walk: &'d Walk<'_>, direct: &'d Direct) -> Self {
        Self {
            dst: walk.dst(),
            direct,
        }
    }

    /// Joins the updates of one block, list after list. With `marks`, cells that are touched for the
    /// first time start from a value.
    ///
    /// # Safety
    /// The lists' offsets must be those of the walk, its element type theirs, and nobody else may
    /// write to the block meanwhile.
    pub(crate) unsafe fn block(
        &self,
        lists: &[Partition],
        block: usize,
        mut marks: Option<(&mut Touched, &Bits)>,
    ) {
        if let Some((marks, _)) = &mut marks {
            marks.clear();
        }
        for list in lists {
            list.each(block, |at, values| {
                if let Some((marks, value)) = &mut marks {
                    let size = list.size.trailing_zeros();
                    let base = list.blocks.low + (block << BLOCK_BITS).cast_signed();
                    let mut room = Lane::new();
                    let first = room.fill_with(0isize, at.len());
                    let cells = at.iter().map(|at| (at - base).cast_unsigned() >> size);
                    let count = marks.touch(cells, at.iter().copied(), first);
                    // SAFETY: as below.
                    unsafe { self.direct.set_at(self.dst, &first[..count], value) };
                }
                let rows = Rows {
                    left: self.dst,
                    left_at: at,
                    right: values,
                    right_at: At::Steps(0, list.size.cast_signed()),
                    window: &[],
                    ahead: Ahead::NONE,
                };
                // SAFETY: the offsets are those of a walk that proved them, the values elements of
                // its type without gaps, and the caller keeps others away.
                unsafe { self.direct.join(&rows) };
            });
        }
    }

    /// Marks for the cells of a block.
    pub(crate) fn marks(size: usize) -> Result<Touched, Problem> {
        Touched::new((1 << BLOCK_BITS) / size)
    }
}
