//! Joins updates that are listed by block of the destination, one block at a time.
//!
//! ```text
//! cut the blocks into shares with about equally many updates, one per thread
//! for each block of a share:
//!     initialise the block, if the destination is new
//!     for each of its updates, in order: join it with its cell
//! ```
//!
//! Cost: one sequential read of the lists, and random access within one block.
//! No two shares have a cell in common, so the threads need no atomics.
//! It relies on lists made for this destination, which [`BucketShare::cut`] checks.
//!
//! # Unsafe
//!
//! - Buys: both lists merged, block by block
//! - Measured: those of `bucket/mod.rs` and `bucket/cached.rs`, whose other half it is
//! - Holds: offsets that a walk proved, or that are below the number of rows of the lists; a block
//!   belongs to one share

use crate::bucket::cached::CachedBuckets;
use crate::bucket::{Blocks, BucketList};
use crate::error::Problem;
use crate::ops::identity::Bits;
use crate::rows::row_pairs::Rows;
use crate::tensor::Layout;
use crate::update::in_place::Direct;
use crate::update::lazy_init::LazyInit;
use crate::update::row_bitmap::RowBitmap;
use crate::walk::Walk;
use crate::walk::offsets::{At, PrefetchHints};
use crate::walk::stack_buf::StackBuf;
use std::ops::Range;

/// The lists that a run reads.
#[derive(Clone, Copy)]
pub enum BucketSource<'s> {
    /// Lists made in this run. Each holds the updates that follow those of the list before.
    OfThisRun(&'s [BucketList]),
    /// Lists that a plan keeps.
    Cached(&'s CachedBuckets<'s>),
}

impl BucketSource<'_> {
    /// The blocks of a destination.
    ///
    /// # Panics
    /// If the updates are for another destination.
    fn blocks(self, dst: &Layout) -> Blocks {
        match self {
            Self::OfThisRun(lists) => {
                let first = lists.first().expect("a run has a list");
                assert!(lists.iter().all(|list| list.is_for(dst, first)));
                first.blocks()
            }
            Self::Cached(listed) => {
                assert!(listed.is_for(dst));
                listed.blocks()
            }
        }
    }

    /// The number of updates that go to these blocks.
    fn len(self, blocks: Range<usize>) -> usize {
        match self {
            Self::OfThisRun(lists) => lists.iter().map(|list| list.len(blocks.clone())).sum(),
            Self::Cached(listed) => listed.len(blocks),
        }
    }

    /// Calls `each` with the updates of a block, some at a time, in order: their offsets in the
    /// destination, and the address of their elements.
    fn each(self, block: usize, mut each: impl FnMut(&[isize], *const u8)) {
        match self {
            Self::OfThisRun(lists) => lists.iter().for_each(|list| list.each(block, &mut each)),
            Self::Cached(listed) => listed.each(block, each),
        }
    }
}

/// A share of the blocks of a destination, into which the updates of lists are joined.
pub struct BucketShare<'s> {
    source: BucketSource<'s>,
    direct: &'s Direct,
    dst: *mut u8,
    /// The blocks that are left, and how all of them lie.
    left: Range<usize>,
    blocks: Blocks,
    /// Bytes of an element.
    size: usize,
    /// Marks for the cells of a block, and what those start from that are touched first.
    afresh: Option<(RowBitmap, Bits)>,
    /// A destination that nobody has begun yet, and its bytes.
    fresh: Option<(&'s LazyInit<'s>, usize)>,
}

// SAFETY: only this share writes to its blocks, and no cell is in two blocks.
unsafe impl Send for BucketShare<'_> {}

impl<'s> BucketShare<'s> {
    /// Cuts the blocks of the walk's destination into up to `count` shares with about as many
    /// updates each. With `start`, cells that are touched for the first time start from it. A
    /// destination that is `fresh` is begun block by block.
    ///
    /// # Panics
    /// If the updates or `fresh` are for another destination, or the loops for another walk.
    pub fn cut(
        walk: &'s mut Walk<'_>,
        direct: &'s Direct,
        source: BucketSource<'s>,
        count: usize,
        start: Option<Bits>,
        fresh: Option<&'s LazyInit<'s>>,
    ) -> Result<Vec<Self>, Problem> {
        direct.check_walk(walk);
        assert_eq!(walk.width(), 1);
        let dst = walk.dst();
        let blocks = source.blocks(walk.dst_layout());
        let fresh = fresh.map(|fresh| (fresh, fresh.bytes(walk.dst_layout())));
        let size = walk.dst_layout().dtype().size();
        let share = |left: Range<usize>| -> Result<Self, Problem> {
            let afresh = match start {
                Some(start) => Some((RowBitmap::new(blocks.size() / size)?, start)),
                None => None,
            };
            Ok(Self {
                source,
                direct,
                dst,
                left,
                blocks,
                size,
                afresh,
                fresh,
            })
        };
        let total = source.len(0..blocks.count);
        let (mut shares, mut from, mut done) = (Vec::new(), 0, 0);
        for block in 0..blocks.count {
            done += source.len(block..block + 1);
            let full = done.saturating_mul(count) >= total.saturating_mul(shares.len() + 1);
            if full && shares.len() + 1 < count {
                shares.push(share(from..block + 1)?);
                from = block + 1;
            }
        }
        shares.push(share(from..blocks.count)?);
        Ok(shares)
    }

    /// The number of updates that are left.
    #[must_use]
    pub fn updates(&self) -> usize {
        self.source.len(self.left.clone())
    }

    /// Joins the updates of the next block; gives their number, or nothing if no block is left.
    pub fn next(&mut self) -> Option<usize> {
        let block = self.left.next()?;
        if let Some((marks, _)) = &mut self.afresh {
            marks.clear();
        }
        let (base, first) = (self.blocks.first(block), block * self.blocks.size());
        let bytes = |end: usize| first.min(end)..(first + self.blocks.size()).min(end);
        if let Some((fresh, end)) = self.fresh {
            // SAFETY: the destination has no gaps and begins with its first block. Only this share
            // has this block, which is whole elements.
            unsafe { fresh.begin(self.dst, &bytes(end)) };
        }
        let (dst, size) = (self.dst, self.size);
        self.source.each(block, |at, values| {
            if let Some((marks, value)) = &mut self.afresh {
                let mut room = StackBuf::new();
                let first = room.fill_with(0isize, at.len());
                let shift = size.trailing_zeros();
                let cells = at.iter().map(|at| (at - base).cast_unsigned() >> shift);
                let count = marks.touch(cells, at.iter().copied(), first);
                // SAFETY: these are offsets of `at`, which the `join` below proves valid.
                unsafe { self.direct.set_at(dst, &first[..count], value) };
            }
            if let Some((fresh, _)) = self.fresh {
                // SAFETY: `values` has `at.len()` elements without gaps, in the list's memory.
                unsafe { fresh.look(values, at.len()) };
            }
            let rows = Rows {
                left: dst,
                left_at: at,
                right: values,
                right_at: At::Steps(0, size.cast_signed()),
                window: &[],
                ahead: PrefetchHints::NONE,
            };
            // SAFETY: a walk over this destination proved the offsets, or they are below the number
            // of rows of the lists, which `is_for` compared with the destination. Only this share
            // has this block. The values are elements of the same size without gaps, in the list's
            // memory.
            unsafe { self.direct.join(&rows) };
        });
        if let Some((fresh, end)) = self.fresh {
            // SAFETY: the same block as in `begin` above: whole elements that only this share has.
            unsafe { fresh.end(self.dst, &bytes(end)) };
        }
        Some(self.source.len(block..block + 1))
    }
}
