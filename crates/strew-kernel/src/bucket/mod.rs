//! Sorts updates by block of the destination, then joins them block by block.
//!
//! ```text
//! for each update:                          // sequential writes
//!     append (offset in block, element) to the list of its block
//! for each block:                           // random access within the block
//!     for each of its updates, in order: join it with its cell
//! ```
//!
//! Random access to a destination larger than the caches misses at every update. The lists are
//! written and read sequentially, and one block, of at most 1 MiB, stays in the second-level cache.
//! Cost: `4 + element size` bytes written and read per update, past the caches, beside the update
//! itself. The engine chooses lists for single-element windows in two cases: the destination is
//! much larger than the caches, or several threads run. Each thread lists a stretch of the index,
//! so that the index is read once in all. Updates of one block keep their order, so the result has
//! the sequential loop's bits.
//!
//! | file | holds |
//! |---|---|
//! | this one | [`BucketList`], the lists of one run |
//! | [`cached`] | the same lists kept by a plan, without the elements |
//! | [`apply`] | the loop that joins the listed updates |
//!
//! The two kinds of list share their blocks and the loop, not their storage. A run does not know
//! how many updates a block gets, so its lists grow chunk by chunk. A plan has counted them: its
//! entries need no chunks, and name their cells with 2 bytes instead of 4.
//!
//! # Unsafe
//!
//! - Buys: random updates block by block
//! - Measured: checks: W1c 1.15; through the caches: W1c 1.07
//! - Holds: indexing that panics, capacity that is asserted

pub mod apply;
pub mod cached;

use crate::cpu::nontemporal::{fence, write_past_caches};
use crate::cpu::prefetch::prefetch;
use crate::cpu::vectorized::compiled;
use crate::error::Problem;
use crate::runtime::machine::L2;
use crate::tensor::{Buffer, Layout, try_vec};
use crate::walk::cursor::Block;
use crate::walk::offsets::At;
use crate::walk::stack_buf::StackBuf;
use crate::walk::{ROWS, Walk};
use std::ops::Range;

/// Bytes of a block, at most: a second-level cache holds it.
pub const BLOCK: usize = L2;

/// Bytes of a block, at least. Small ones in tests, so that small destinations have several.
const LEAST_BLOCK: usize = if cfg!(debug_assertions) { 64 } else { 4096 };

/// Blocks for each thread, at least, so that the threads' shares of the updates are equal to about
/// an eighth.
const BLOCKS_EACH: usize = 8;

/// Entries per chunk, at most and at least. A block's list grows by one chunk at a time.
const CHUNK: [usize; 2] = [1024, 64];

/// Entries that are gathered before they are written: their offsets fill a cache line.
const LINE: usize = 16;

/// How a destination is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// The lowest offset.
    low: isize,
    count: usize,
    /// The base-2 logarithm of a block's bytes.
    bits: u32,
}

impl Blocks {
    fn of(dst: &Layout, threads: usize) -> Self {
        let (low, high) = dst.extent();
        Self {
            low,
            ..Self::over(high.wrapping_sub(low).cast_unsigned(), threads)
        }
    }

    /// A destination that spans this many bytes, whose blocks are shared among `threads` threads.
    pub fn over(bytes: usize, threads: usize) -> Self {
        let each = bytes / threads.saturating_mul(BLOCKS_EACH).max(1);
        let size = match threads {
            0 | 1 => BLOCK,
            _ => each.clamp(LEAST_BLOCK, BLOCK),
        };
        Self {
            low: 0,
            count: (bytes >> size.ilog2()) + 1,
            bits: size.ilog2(),
        }
    }

    /// Bytes of a block.
    pub fn size(self) -> usize {
        1 << self.bits
    }

    /// The offset at which a block begins.
    fn first(self, block: usize) -> isize {
        self.low + (block << self.bits).cast_signed()
    }

    /// Upper limit of the bytes of `lists` lists of `updates` entries in all, `size` bytes each
    /// beside their offsets.
    pub fn bytes(self, updates: usize, size: usize, lists: usize) -> usize {
        let each = updates.div_ceil(lists.max(1));
        let chunk = self.chunk(each);
        let entries = chunk * (size_of::<u32>() + size) + size_of::<u32>();
        (self.chunks(each).saturating_mul(entries)).saturating_mul(lists.max(1))
    }

    /// Entries per chunk of a list of this number of updates: half of those that a block gets.
    fn chunk(self, updates: usize) -> usize {
        let [most, least] = CHUNK;
        let half = updates / self.count / 2;
        1 << half.clamp(least, most).ilog2()
    }

    /// The number of chunks. Each block may have one chunk that is not full.
    fn chunks(self, updates: usize) -> usize {
        updates / self.chunk(updates) + self.count + 1
    }

    fn split(self, offset: isize) -> (usize, u32) {
        let from_low = offset.wrapping_sub(self.low).cast_unsigned();
        // What is left of the offset has no more bits than BLOCK.
        (
            from_low >> self.bits,
            from_low as u32 & ((1 << self.bits) - 1),
        )
    }
}

/// The chunks of one block.
#[derive(Clone, Copy)]
struct Chain {
    /// Number of the first chunk.
    first: u32,
    /// Number of the last chunk.
    last: u32,
    /// Entries in all.
    len: usize,
}

/// A list of updates, sorted by block.
pub struct BucketList {
    blocks: Blocks,
    /// The destination's.
    layout: Layout,
    size: usize,
    chains: Vec<Chain>,
    chunks: Chunks,
    /// The last entries of each block, not yet written: offsets, then elements.
    pending: Buffer,
    /// All entries are written.
    closed: bool,
}

/// The listed updates, chunk by chunk.
struct Chunks {
    /// The base-2 logarithm of a chunk's entries.
    bits: u32,
    /// For each chunk, the next one of its block.
    next: Vec<u32>,
    /// Offsets within the block.
    offsets: Buffer,
    /// The elements of the source that go there.
    values: Buffer,
}

const NONE: u32 = u32::MAX;

/// Bytes of the last entries of a block.
const fn line(size: usize) -> usize {
    LINE * (size_of::<u32>() + size)
}

impl BucketList {
    /// An empty list for up to `updates` elements that go to a destination, whose blocks are shared
    /// among `threads` threads.
    pub fn new(dst: &Layout, updates: usize, threads: usize) -> Result<Self, Problem> {
        let (blocks, size) = (Blocks::of(dst, threads), dst.dtype().size());
        let (chunks, chunk) = (blocks.chunks(updates), blocks.chunk(updates));
        let what = || format!("a list of {updates} updates by their destinations");
        let mut chains = try_vec("the blocks of a list of updates", blocks.count)?;
        let none = Chain {
            first: NONE,
            last: NONE,
            len: 0,
        };
        chains.resize(blocks.count, none);
        Ok(Self {
            blocks,
            layout: dst.clone(),
            size,
            chains,
            chunks: Chunks {
                bits: chunk.ilog2(),
                next: try_vec("the chunks of a list of updates", chunks)?,
                offsets: Buffer::scratch(&what, chunks.saturating_mul(chunk * size_of::<u32>()))?,
                values: Buffer::scratch(&what, chunks.saturating_mul(chunk * size))?,
            },
            pending: Buffer::zeroed(&what, blocks.count.saturating_mul(line(size)))?,
            closed: false,
        })
    }

    /// Appends the updates of a block of rows, which are one element each.
    ///
    /// # Panics
    /// If there are more than were announced, if the walk is one over something else, if the block
    /// is of another walk, or if the list is [closed](Self::close).
    pub fn push(&mut self, walk: &Walk<'_>, rows: &Block) {
        assert!(rows.walk() == walk.id() && !self.closed);
        assert!(walk.width() == 1 && *walk.dst_layout() == self.layout);
        assert_eq!(walk.src_layout().dtype(), self.layout.dtype());
        match self.size {
            1 => self.push_sized::<1>(walk, rows),
            2 => self.push_sized::<2>(walk, rows),
            4 => self.push_sized::<4>(walk, rows),
            8 => self.push_sized::<8>(walk, rows),
            _ => self.push_sized::<16>(walk, rows),
        }
    }

    fn push_sized<const SIZE: usize>(&mut self, walk: &Walk<'_>, rows: &Block) {
        let src = walk.src();
        // Where a source lies is asked before the loop, not in it. SAFETY: the rows are the walk's,
        // which proved that the source has an element at each row's offset. The list's memory is
        // its own.
        unsafe {
            match rows.src() {
                At::Each(at) => self.push_from::<SIZE>(rows, |i| src.wrapping_offset(at[i])),
                At::Steps(first, step) => {
                    let first = src.wrapping_offset(first);
                    let from = |i: usize| first.wrapping_offset(i.cast_signed().wrapping_mul(step));
                    self.push_from::<SIZE>(rows, from);
                }
            }
        }
    }

    /// Appends updates whose elements are where `from` says.
    ///
    /// # Safety
    /// `from(i)` must be readable for `SIZE` bytes for each row `i`, and apart from this list.
    #[inline(always)]
    unsafe fn push_from<const SIZE: usize>(
        &mut self,
        rows: &Block,
        from: impl Fn(usize) -> *const u8,
    ) {
        assert_eq!(SIZE, self.size);
        // What stays in `self` is read again after everything that is written.
        let (blocks, chunks) = (self.blocks, &mut self.chunks);
        let (chains, pending) = (&mut self.chains[..], self.pending.as_mut_ptr());
        let ahead = rows.ahead();
        for (i, &offset) in rows.dst().iter().enumerate() {
            if i % 8 == 0 {
                ahead.prefetch(i);
            }
            let (block, within) = blocks.split(offset);
            let chain = &mut chains[block];
            let place = chain.len % LINE;
            // SAFETY: the block exists, because the indexing above panics otherwise. `pending` has
            // room for `LINE` offsets and elements of each block, and `place < LINE`. The caller
            // promises a readable element for each row, apart from this list.
            let last = unsafe {
                let last = pending.add(block * line(SIZE));
                last.cast::<u32>().add(place).write(within);
                let to = last.add(LINE * size_of::<u32>() + place * SIZE);
                to.cast::<[u8; SIZE]>()
                    .write(from(i).cast::<[u8; SIZE]>().read());
                last
            };
            chain.len += 1;
            if place + 1 == LINE {
                // SAFETY: `last` is this block's line in `pending`, and `SIZE` is the element size.
                unsafe { chunks.append::<SIZE>(chain, last, LINE) };
            }
        }
    }

    /// Writes the entries that are still pending. No update may be pushed afterwards.
    pub fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        match self.size {
            1 => self.close_sized::<1>(),
            2 => self.close_sized::<2>(),
            4 => self.close_sized::<4>(),
            8 => self.close_sized::<8>(),
            _ => self.close_sized::<16>(),
        }
        fence();
    }

    fn close_sized<const SIZE: usize>(&mut self) {
        assert_eq!(SIZE, self.size);
        for (block, chain) in self.chains.iter_mut().enumerate() {
            let count = chain.len % LINE;
            if count > 0 {
                // SAFETY: `pending` has a line for each block, and `SIZE` is the element size.
                unsafe {
                    let last = self.pending.as_ptr().add(block * line(SIZE));
                    self.chunks.append::<SIZE>(chain, last, count);
                }
            }
        }
    }

    /// Whether this is of updates for such a destination, all of them written, and like another
    /// list.
    pub(crate) fn is_for(&self, dst: &Layout, like: &Self) -> bool {
        let alike = self.blocks.bits == like.blocks.bits;
        self.closed && self.layout == *dst && alike
    }

    /// How the destination is cut into blocks.
    pub(crate) fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// The number of updates that go to these blocks.
    pub(crate) fn len(&self, blocks: Range<usize>) -> usize {
        self.chains[blocks].iter().map(|c| c.len).sum()
    }

    /// Calls `each` with the entries of a block, some at a time, in order: their offsets in the
    /// destination, and the address of their elements.
    ///
    /// # Panics
    /// If the list is not [closed](Self::close).
    pub(crate) fn each(&self, block: usize, mut each: impl FnMut(&[isize], *const u8)) {
        assert!(self.closed);
        let base = self.blocks.first(block);
        let chain = self.chains[block];
        let (mut chunk, mut left) = (chain.first, chain.len);
        let mut room = StackBuf::new();
        while left > 0 {
            let first = (chunk as usize) << self.chunks.bits;
            let len = left.min(1 << self.chunks.bits);
            chunk = self.chunks.next[chunk as usize];
            for from in (first..first + len).step_by(ROWS) {
                let count = (first + len - from).min(ROWS);
                // Hardware cannot predict where the next chunk is; the chain names it.
                let coming = match from + ROWS < first + len {
                    true => from + ROWS,
                    false => (chunk as usize).wrapping_shl(self.chunks.bits),
                };
                let at = room.fill_with(0isize, count);
                // SAFETY: the list is closed, so that `count` entries from `from` on were written.
                // They lie in one chunk.
                unsafe { self.chunks.read(from, base, coming, self.size, at) };
                each(at, self.chunks.value(from, self.size));
            }
            left -= len;
        }
    }
}

impl Chunks {
    /// Writes the last `count` entries of a block to its last chunk.
    ///
    /// # Safety
    /// `pending` is the block's [`line`], and the elements have this size.
    unsafe fn append<const SIZE: usize>(
        &mut self,
        chain: &mut Chain,
        pending: *const u8,
        count: usize,
    ) {
        let from = chain.len - count;
        let within = (1 << self.bits) - 1;
        if from & within == 0 {
            assert!(self.next.len() < self.next.capacity());
            // The assertion bounds the chunks by the number announced, and entries for `u32::MAX`
            // chunks would not fit in memory.
            let chunk = self.next.len() as u32;
            self.next.push(NONE);
            match chain.last {
                NONE => chain.first = chunk,
                last => self.next[last as usize] = chunk,
            }
            chain.last = chunk;
        }
        let entry = ((chain.last as usize) << self.bits) + (from & within);
        // SAFETY: the chunk is one of those announced, so `offsets` and `values` have room for its
        // entries, and `entry` begins a line. The caller promises that `pending` is a whole line of
        // offsets and elements of this size.
        unsafe {
            let offsets = self.offsets.as_mut_ptr().add(entry * size_of::<u32>());
            write_past_caches(pending, offsets, LINE * size_of::<u32>());
            let values = self.values.as_mut_ptr().add(entry * SIZE);
            write_past_caches(pending.add(LINE * size_of::<u32>()), values, LINE * SIZE);
        }
    }

    /// The address of an entry's element.
    fn value(&self, entry: usize, size: usize) -> *const u8 {
        self.values.as_ptr().wrapping_add(entry.wrapping_mul(size))
    }

    /// Writes the destination offsets of the entries from `from` on to `at`. The entries lie in one
    /// chunk, and their block begins at `base`. Prefetches the entries from `coming` on.
    ///
    /// # Safety
    /// At least `at.len()` entries must have been written from `from` on, all in one chunk.
    unsafe fn read(&self, from: usize, base: isize, coming: usize, size: usize, at: &mut [isize]) {
        let first = self.offsets.as_ptr().cast::<u32>();
        // SAFETY: the caller promises `at.len()` written entries from `from` on in one chunk, and
        // the offsets of a chunk lie one after the other.
        let offsets = unsafe { std::slice::from_raw_parts(first.add(from), at.len()) };
        compiled(
            #[inline(always)]
            || {
                let (lines, rest) = at.as_chunks_mut::<LINE>();
                let (line_offsets, rest_offsets) = offsets.as_chunks::<LINE>();
                for (n, (at, offsets)) in lines.iter_mut().zip(line_offsets).enumerate() {
                    let coming = coming.wrapping_add(n * LINE);
                    prefetch(first.wrapping_add(coming).cast(), 1);
                    prefetch(self.value(coming, size), (LINE * size).div_ceil(64));
                    for (at, &within) in at.iter_mut().zip(offsets) {
                        *at = base + within as isize;
                    }
                }
                for (at, &within) in rest.iter_mut().zip(rest_offsets) {
                    *at = base + within as isize;
                }
            },
        );
    }
}
