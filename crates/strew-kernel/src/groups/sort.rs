//! A parallel, stable counting sort of updates by row.
//!
//! ```text
//! each thread: count its stretch's updates for each block of rows
//! prefix sum over (block, stretch)
//! each thread: write (row, update) pairs of its stretch to their blocks
//! each thread: sort its blocks by counting rows in a table that a near cache holds
//! each thread: write `starts` and the list of touched rows of its blocks
//! ```
//!
//! Blocks are cut among the threads so that each gets about as many updates. Cost: two passes over
//! the row numbers, 8 bytes written and read for each update in between, and 4 bytes of order for
//! each update. [`Csr::new`](crate::groups::csr::Csr::new) uses it where `fits` says so.

use crate::error::Problem;
use crate::groups::row_ids::SPARSE;
use crate::runtime::chunks::{cut_up, threads};
use crate::runtime::threads::share;
use crate::tensor::{List, try_vec};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Bits of the rows of one block whose counts fit the nearest cache.
const NEAR_BITS: u32 = 10;

/// Bits of the number of blocks below which the threads get too unequal parts.
const FEW_BITS: u32 = 8;

/// Bits of the number of blocks whose write positions near caches hold. With more rows, blocks get
/// larger instead.
const MANY_BITS: u32 = 10;

/// Maximum number of rows for each update for which counting in tables pays.
const COUNTED: usize = 16;

/// The updates sorted by row, and where the updates of each row begin; see
/// [`Csr`](crate::groups::csr::Csr).
pub(crate) struct Sorted {
    pub(crate) order: List<u32>,
    pub(crate) rows: Option<List<u32>>,
    pub(crate) starts: List<u32>,
}

/// Whether this sort takes `updates` updates of `size` rows: 31 bits must hold both numbers, and
/// the tables must not be large against the updates.
pub(crate) fn fits(updates: usize, size: usize) -> bool {
    i32::try_from(updates).is_ok() && i32::try_from(size).is_ok() && size / COUNTED <= updates
}

/// Upper bound in bytes of the working memory, without the result.
pub(crate) fn room(updates: usize, size: usize) -> usize {
    let threads = threads(updates);
    let bits = block_bits(size);
    let tables = (1usize << bits) + 2 * size.div_ceil(1 << bits) + 1;
    updates.saturating_mul(size_of::<u64>()) + threads * tables * size_of::<u32>()
}

/// Bits of a row's number within its block.
fn block_bits(size: usize) -> u32 {
    let all = usize::BITS - size.saturating_sub(1).leading_zeros();
    let near = all.saturating_sub(FEW_BITS).min(NEAR_BITS);
    near.max(all.saturating_sub(MANY_BITS))
}

/// Sorts the updates whose rows are below `size`, of which there are `kept`, on `threads` threads.
pub(crate) fn sort(
    rows: &[u32],
    size: usize,
    kept: usize,
    threads: usize,
) -> Result<Sorted, Problem> {
    let what = "the order of a plan's updates";
    let mut order = List::scratch(what, kept)?;
    if kept == 0 {
        let mut starts = List::with_room(what, 1)?;
        starts.push(0);
        return Ok(Sorted {
            order,
            rows: Some(List::with_room(what, 0)?),
            starts,
        });
    }
    let blocks = Blocks::list(rows, size, kept, threads)?;
    let cuts = cuts(&blocks.starts, threads);
    let mut counts = zeros(threads << blocks.bits)?;
    let mut touched = zeros(blocks.starts.len() - 1)?;
    let orders = cut_up(&mut order, cuts.iter().map(|of| blocks.updates(of).len()));
    let touches = cut_up(&mut touched, cuts.iter().map(Range::len));
    let parts = cuts.iter().zip(orders).zip(touches);
    let parts = parts.zip(counts.chunks_mut(1 << blocks.bits));
    share(threads, parts, |(((of, order), touched), counts)| {
        let first = blocks.starts[of.start];
        for (block, touched) in of.clone().zip(touched) {
            let pairs = &blocks.pairs[blocks.updates(&(block..block + 1))];
            *touched = sort_block(pairs, blocks.starts[block], counts, (order, first));
        }
    });
    let (rows, starts) = blocks.groups(&cuts, &touched, size)?;
    Ok(Sorted {
        order,
        rows,
        starts,
    })
}

/// The updates listed by block of rows.
struct Blocks {
    /// Bits of a row's number within its block.
    bits: u32,
    /// Where the updates of each block begin in `pairs`, and the number of all.
    starts: Vec<u32>,
    /// The row and the number of each update. [`sort_block`] overwrites the front of each block.
    // Each place is written by one thread. Relaxed atomic stores cost no more than plain ones.
    pairs: List<AtomicU64>,
}

impl Blocks {
    /// Lists the updates whose rows are below `size`, of which there are `kept > 0`.
    fn list(rows: &[u32], size: usize, kept: usize, threads: usize) -> Result<Self, Problem> {
        let bits = block_bits(size);
        let blocks = size.div_ceil(1 << bits);
        // First the number of updates that each stretch has in each block, then where the next one
        // goes.
        let mut next = zeros(threads * blocks)?;
        let stretch = rows.len().div_ceil(threads);
        let stretches = || rows.chunks(stretch).enumerate();
        let of_stretches = stretches().zip(next.chunks_mut(blocks));
        share(threads, of_stretches, |((_, rows), counts)| {
            for &row in rows.iter().filter(|&&row| (row as usize) < size) {
                counts[(row >> bits) as usize] += 1;
            }
        });
        let mut starts = zeros(blocks + 1)?;
        let mut end = 0;
        for block in 0..blocks {
            starts[block] = end;
            for stretch in 0..threads {
                let next = &mut next[stretch * blocks + block];
                end += std::mem::replace(next, end);
            }
        }
        starts[blocks] = end;
        assert!(end as usize == kept, "all are counted");
        let pairs: List<AtomicU64> = List::scratch("a plan's updates by block", kept)?;
        let of_stretches = stretches().zip(next.chunks_mut(blocks));
        share(threads, of_stretches, |((n, rows), next)| {
            let updates = (n * stretch) as u64..;
            for (&row, update) in rows.iter().zip(updates) {
                if (row as usize) < size {
                    let at = &mut next[(row >> bits) as usize];
                    pairs[*at as usize].store(u64::from(row) << 32 | update, Relaxed);
                    *at += 1;
                }
            }
        });
        Ok(Self {
            bits,
            starts,
            pairs,
        })
    }

    /// The updates of some blocks, as a range of `pairs`.
    fn updates(&self, blocks: &Range<usize>) -> Range<usize> {
        self.starts[blocks.start] as usize..self.starts[blocks.end] as usize
    }

    /// The touched rows of sorted blocks, and where their updates begin. `touched` is the number of
    /// those rows in each block.
    fn touched(
        &self,
        blocks: &Range<usize>,
        touched: &[u32],
    ) -> impl Iterator<Item = (usize, u32)> {
        let pairs = blocks.clone().flat_map(|block| {
            let from = self.starts[block] as usize;
            &self.pairs[from..from + touched[block] as usize]
        });
        let pairs = pairs.map(|pair| pair.load(Relaxed));
        pairs.map(|pair| ((pair >> 32) as usize, pair as u32))
    }

    /// The rows that have groups, unless all have, and where the groups begin. `cuts` are the
    /// blocks of each thread, which are sorted; `touched` is the number of rows in each block that
    /// take updates.
    fn groups(
        &self,
        cuts: &[Range<usize>],
        touched: &[u32],
        size: usize,
    ) -> Result<(Option<List<u32>>, List<u32>), Problem> {
        let bits = self.bits;
        let rows = |touched: &[u32]| touched.iter().map(|&n| n as usize).sum::<usize>();
        let all = rows(touched);
        let sparse = all.saturating_mul(SPARSE) <= size;
        let groups = if sparse { all } else { size };
        let mut starts = List::scratch("the groups of a plan", groups + 1)?;
        let mut listed = List::scratch("the rows of a plan", if sparse { all } else { 0 })?;
        starts[groups] = self.starts[self.starts.len() - 1];
        let groups_of = |of: &Range<usize>| match sparse {
            true => rows(&touched[of.clone()]),
            false => (of.end << bits).min(size) - (of.start << bits),
        };
        let begins = cut_up(&mut starts[..groups], cuts.iter().map(groups_of));
        let listings = cuts.iter().map(|of| if sparse { groups_of(of) } else { 0 });
        let listings = cut_up(&mut listed, listings);
        let parts = cuts.iter().zip(begins).zip(listings);
        share(cuts.len(), parts, |((of, begins), listings)| {
            let found = self.touched(of, touched);
            if sparse {
                for ((row, start), (begin, listing)) in found.zip(begins.iter_mut().zip(listings)) {
                    (*begin, *listing) = (start, row as u32);
                }
                return;
            }
            let mut from = 0;
            for (row, start) in found {
                let to = row - (of.start << bits) + 1;
                begins[from..to].fill(start);
                from = to;
            }
            begins[from..].fill(self.starts[of.end]);
        });
        Ok((sparse.then_some(listed), starts))
    }
}

/// `count` zeros.
fn zeros(count: usize) -> Result<Vec<u32>, Problem> {
    let mut zeros = try_vec("counts of a plan's rows", count)?;
    zeros.resize(count, 0);
    Ok(zeros)
}

/// Cuts the blocks, which begin at these updates, into `parts` parts of about as many updates each.
fn cuts(starts: &[u32], parts: usize) -> Vec<Range<usize>> {
    let blocks = starts.len() - 1;
    let kept = starts[blocks] as usize;
    let mut from = 0;
    let cut = |n: usize| {
        let to = match n == parts {
            true => blocks,
            false => starts[..blocks].partition_point(|&start| (start as usize) < kept / parts * n),
        };
        std::mem::replace(&mut from, to)..to
    };
    (1..=parts).map(cut).collect()
}

/// Sorts the updates of one block into `order`.
///
/// The block's first update is number `start` in the order of all updates, and `order` begins with
/// number `first`. Overwrites the front of `pairs` with the touched rows and where their updates
/// begin, and returns how many there are.
fn sort_block(
    pairs: &[AtomicU64],
    start: u32,
    counts: &mut [u32],
    (order, first): (&mut [u32], u32),
) -> u32 {
    let mask = counts.len() as u64 - 1;
    let within = |pair: u64| ((pair >> 32) & mask) as usize;
    counts.fill(0);
    for pair in pairs {
        counts[within(pair.load(Relaxed))] += 1;
    }
    let Some(pair) = pairs.first() else {
        return 0;
    };
    let base = (pair.load(Relaxed) >> 32) & !mask;
    let mut end = start - first;
    for count in counts.iter_mut() {
        end += std::mem::replace(count, end);
    }
    for pair in pairs {
        let pair = pair.load(Relaxed);
        let at = &mut counts[within(pair)];
        order[*at as usize] = pair as u32;
        *at += 1;
    }
    let (mut touched, mut from) = (0, start);
    for (row, &end) in (base..).zip(&*counts) {
        let end = end + first;
        if end > from {
            pairs[touched].store(row << 32 | u64::from(from), Relaxed);
            touched += 1;
            from = end;
        }
    }
    touched as u32
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Sorted, sort};

    /// Row numbers that look random; every one of 16 is none.
    pub(crate) fn rows(count: usize, size: usize) -> Vec<u32> {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 33
        };
        let row = |_| match next() % 16 {
            0 => u32::MAX,
            _ => (next() % size as u64) as u32,
        };
        (0..count).map(row).collect()
    }

    #[test]
    fn updates_come_in_the_order_of_their_rows() {
        for size in [1, 2, 255, 257, 4000, 70_000, 2_100_000] {
            for count in [0, 1, 7, 4096] {
                let rows = rows(count, size);
                let mut expected: Vec<u32> = (0..count as u32).collect();
                expected.retain(|&update| rows[update as usize] != u32::MAX);
                expected.sort_by_key(|&update| rows[update as usize]);
                for threads in [1, 2, 3, 8] {
                    let Sorted {
                        order,
                        rows: listed,
                        starts,
                    } = sort(&rows, size, expected.len(), threads).unwrap();
                    assert_eq!(*order, *expected);
                    let groups = listed.as_ref().map_or(size, |listed| listed.len());
                    assert_eq!(starts.len(), groups + 1);
                    assert_eq!((starts[0], starts[groups]), (0, order.len() as u32));
                    for group in 0..groups {
                        let row = listed.as_ref().map_or(group as u32, |listed| listed[group]);
                        let updates = &order[starts[group] as usize..starts[group + 1] as usize];
                        assert!(updates.iter().all(|&update| rows[update as usize] == row));
                        assert!(listed.is_none() || !updates.is_empty());
                    }
                }
            }
        }
    }
}
