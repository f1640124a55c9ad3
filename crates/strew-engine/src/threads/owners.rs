//! Where a destination is cut among threads that own a stretch of it each.
//!
//! ```text
//! sample the index, sort it, and count the equal values
//! find the lowest level at which the counts fit into as many parts as there are threads:
//!     a part takes rows, one after the other, up to the level
//!     a hot row of more than the level is a part of its own, or several that share its columns
//! ```
//!
//! Updates of one cell are joined by one thread, in their order. So no level is below the count of
//! the hottest cell: a float sum of which half the updates go to one cell takes at least half the
//! time of one thread. More parts than that would read the index for nothing. Columns of a row are
//! cells of their own, and long rows can be cut between them.
//!
//! Cost: one random read of the index per value of the sample, and a sort of the sample.

use std::ops::RangeInclusive;

/// Values of the sample per part. The counts of 64 parts are then mostly within 20% of their mean.
const PER_PART: usize = 256;

/// Values of the sample, at least.
const LEAST: usize = 512;

/// Index values per value of a longer sample, at least.
const EVERY: usize = 128;

/// The number of values of an index of `len` values to look at, to cut it into `parts`.
pub(crate) fn sampled(len: usize, parts: usize) -> usize {
    let wanted = parts.saturating_mul(PER_PART);
    wanted.min(len / EVERY).max(LEAST)
}

/// Rows that one part takes, or several that share their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    /// The row after the last one. The last part takes all rows that are left.
    pub(crate) end: i64,
    pub(crate) pieces: usize,
}

/// Cuts the rows that a sorted sample names into up to `parts` parts of about equal counts. A hot
/// row may be cut into up to `pieces`.
pub(crate) fn cut(sorted: &[i64], parts: usize, pieces: usize) -> Vec<Owned> {
    let runs = sorted.chunk_by(|a, b| a == b);
    let counts: Vec<(i64, usize)> = runs.map(|run| (run[0], run.len())).collect();
    let hottest = counts.iter().map(|&(_, count)| count).max().unwrap_or(0);
    let levels = hottest
        .div_ceil(pieces.max(1))
        .max(sorted.len() / parts.max(1))..=sorted.len();
    let fits = |level| parts_of(&pack(&counts, level, pieces)) <= parts;
    pack(&counts, lowest(levels, fits), pieces)
}

fn parts_of(owned: &[Owned]) -> usize {
    owned.iter().map(|owned| owned.pieces).sum()
}

/// The lowest level that fits, where those above it fit too. The last one is taken to fit.
fn lowest(levels: RangeInclusive<usize>, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (*levels.start(), *levels.end());
    while low < high {
        let middle = usize::midpoint(low, high);
        match fits(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    high
}

/// The parts that rows with these counts take, up to a level each.
fn pack(counts: &[(i64, usize)], level: usize, pieces: usize) -> Vec<Owned> {
    let (mut owned, mut held) = (Vec::new(), 0);
    let close = |end, pieces| Owned { end, pieces };
    for &(row, count) in counts {
        if held > 0 && held + count > level {
            owned.push(close(row, 1));
            held = 0;
        }
        match count > level {
            true => owned.push(close(
                row + 1,
                count.div_ceil(level.max(1)).min(pieces.max(1)),
            )),
            false => held += count,
        }
    }
    if held > 0 || owned.is_empty() {
        owned.push(close(i64::MAX, 1));
    }
    owned
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest part of the counts, and the number of parts.
    fn largest(sorted: &[i64], owned: &[Owned]) -> (usize, usize) {
        let (mut from, mut most) = (i64::MIN, 0);
        for part in owned {
            let count = sorted
                .iter()
                .filter(|&v| (from..part.end).contains(v))
                .count();
            most = most.max(count.div_ceil(part.pieces));
            from = part.end;
        }
        (most, parts_of(owned))
    }

    #[test]
    fn equal_rows_are_cut_into_equal_parts() {
        let sorted: Vec<i64> = (0..6400).collect();
        for parts in [1, 2, 3, 64, 6400, 10_000] {
            let owned = cut(&sorted, parts, 1);
            let (most, made) = largest(&sorted, &owned);
            assert!(most <= 6400usize.div_ceil(parts), "{parts}: {most}");
            assert!(made <= parts, "{parts}: {made}");
        }
        assert_eq!(
            cut(&[], 4, 1),
            [Owned {
                end: i64::MAX,
                pieces: 1
            }]
        );
    }

    #[test]
    fn a_hot_row_is_alone_and_sets_the_level() {
        // Half of all go to row 500.
        let mut sorted: Vec<i64> = (0..1000).chain(std::iter::repeat_n(500, 1000)).collect();
        sorted.sort_unstable();
        let owned = cut(&sorted, 16, 1);
        let (most, made) = largest(&sorted, &owned);
        // The rows before it, the row, and the rows after it: a part more would be no faster.
        assert_eq!((most, made), (1001, 3));
        assert_eq!(
            owned.iter().map(|o| o.end).collect::<Vec<_>>(),
            [500, 501, i64::MAX]
        );
        // All go to one row.
        assert_eq!(cut(&[7; 600], 16, 1).len(), 1);
    }

    #[test]
    fn the_columns_of_a_hot_row_are_shared_out() {
        let mut sorted: Vec<i64> = (0..1000).chain(std::iter::repeat_n(500, 1000)).collect();
        sorted.sort_unstable();
        let owned = cut(&sorted, 16, 64);
        let (most, made) = largest(&sorted, &owned);
        let mean = sorted.len() / 16;
        assert!(most * 5 <= mean * 6 && made <= 16, "{most} {made}");
        let hot = owned.iter().find(|o| o.end == 501);
        assert!(hot.is_some_and(|o| o.pieces >= 7), "{owned:?}");
        // As many as its columns allow.
        let (most, _) = largest(&sorted, &cut(&sorted, 16, 4));
        assert_eq!(most, 251);
    }

    #[test]
    fn parts_of_a_sample_are_within_a_fifth_of_their_mean() {
        let mut state = 1u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 33
        };
        let all: Vec<i64> = (0..1 << 21).map(|_| (next() % 200_000) as i64).collect();
        let every = all.len().div_ceil(sampled(all.len(), 64));
        let mut sorted: Vec<i64> = all.iter().copied().step_by(every).collect();
        sorted.sort_unstable();
        let mut all = all;
        all.sort_unstable();
        let owned = cut(&sorted, 64, 1);
        let (mut from, mut most) = (0, 0);
        for part in &owned {
            let end = all.partition_point(|&v| v < part.end);
            most = most.max(end - from);
            from = end;
        }
        let mean = all.len() / 64;
        assert!(most * 5 <= mean * 6, "{most} {mean}");
    }
}
