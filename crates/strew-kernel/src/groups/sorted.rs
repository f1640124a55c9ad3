//! The CSR lists of row numbers that already ascend, found while the row numbers are read.
//!
//! ```text
//! for each block of 64 row numbers: one bit for each that differs from the one before
//! for each set bit:                 push (row, position)
//! ```
//!
//! Cost: one pass over the row numbers, and 8 bytes for each touched row. Stretches of the updates
//! are scanned on several threads and joined afterwards. A row number that is smaller than the one
//! before ends the scan, and the engine takes another way.

use crate::error::Problem;
use crate::groups::row_ids::SPARSE;
use crate::runtime::chunks::cut_up;
use crate::runtime::threads::share;
use crate::tensor::List;
use std::ops::Range;

/// Row numbers that are scanned at a time, one bit for each.
const BLOCK: usize = u64::BITS as usize;

/// The touched rows of one part of the updates, and where the updates of each begin.
#[derive(Debug)]
pub struct SortedPart {
    rows: List<u32>,
    starts: List<u32>,
    last: i64,
}

impl SortedPart {
    /// No update yet, and room for `rows` touched rows.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn with_room(rows: usize) -> Result<Self, Problem> {
        let what = "the rows of updates in order";
        Ok(Self {
            rows: List::with_room(what, rows)?,
            starts: List::with_room(what, rows)?,
            last: -1,
        })
    }

    /// Adds the rows of the updates from number `first` on; 32 bits must hold both numbers.
    ///
    /// False if they do not ascend or there is no room. Nothing may be added after that.
    pub fn add<N: Copy>(&mut self, first: usize, rows: &[N], row: impl Fn(N) -> i64) -> bool {
        for (rows, first) in rows.chunks(BLOCK).zip((first..).step_by(BLOCK)) {
            let last = std::mem::replace(&mut self.last, row(rows[rows.len() - 1]));
            let Some(mut begins) = vectorized!(|_| begins(last, rows, &row)) else {
                return false;
            };
            if self.rows.room() < begins.count_ones() as usize {
                return false;
            }
            while begins != 0 {
                let k = begins.trailing_zeros() as usize;
                self.rows.push(row(rows[k]) as u32);
                self.starts.push((first + k) as u32);
                begins &= begins - 1;
            }
        }
        true
    }
}

/// One bit for each update of a block that goes to another row than the update before. `last` is
/// the row before the first. `None` if the rows do not ascend.
#[inline(always)]
fn begins<N: Copy>(last: i64, rows: &[N], row: &impl Fn(N) -> i64) -> Option<u64> {
    let first = row(rows[0]);
    let mut begins = u64::from(first != last);
    // The row number of an update that is left out is below 0.
    let mut ascends = first >= last.max(0);
    for (k, (&before, &number)) in rows.iter().zip(&rows[1..]).enumerate() {
        let (before, number) = (row(before), row(number));
        begins |= u64::from(number != before) << (k + 1);
        ascends &= number >= before;
    }
    ascends.then_some(begins)
}

/// The lists of a [`Csr`](crate::groups::csr::Csr) of sorted updates.
pub(crate) struct Lists {
    pub(crate) rows: Option<List<u32>>,
    pub(crate) starts: List<u32>,
}

/// Joins the scans of consecutive parts. Rows are listed unless most of `size` are touched.
///
/// `None` if the row numbers do not ascend across parts, or one is not below `size`.
///
/// # Errors
/// [`Problem::Memory`].
pub(crate) fn joined(
    ascents: &[SortedPart],
    size: usize,
    updates: usize,
) -> Result<Option<Lists>, Problem> {
    let Some((parts, end)) = adjacent(ascents) else {
        return Ok(None);
    };
    if end > size {
        return Ok(None);
    }
    let touched: usize = parts.iter().map(|part| part.rows.len()).sum();
    let sparse = touched.saturating_mul(SPARSE) <= size;
    let groups = if sparse { touched } else { size };
    let mut starts = List::scratch("the groups of a plan", groups + 1)?;
    let mut listed = List::scratch("the rows of a plan", if sparse { touched } else { 0 })?;
    let all = if sparse { touched } else { end };
    starts[all..].fill(updates as u32);
    let groups_of = parts.iter().map(|part| match sparse {
        true => part.rows.len(),
        false => part.span.len(),
    });
    let begins = cut_up(&mut starts[..all], groups_of);
    let listings = parts
        .iter()
        .map(|part| if sparse { part.rows.len() } else { 0 });
    let listings = cut_up(&mut listed, listings);
    let work = parts.iter().zip(begins).zip(listings);
    share(parts.len(), work, |((part, begins), listings)| {
        if sparse {
            begins.copy_from_slice(part.starts);
            listings.copy_from_slice(part.rows);
            return;
        }
        // Rows without updates end where the next one begins.
        let mut from = 0;
        for (&row, &start) in part.rows.iter().zip(part.starts) {
            let to = row as usize - part.span.start + 1;
            begins[from..to].fill(start);
            from = to;
        }
    });
    Ok(Some(Lists {
        rows: sparse.then_some(listed),
        starts,
    }))
}

/// The touched rows of a part that no part before has.
struct OwnRows<'a> {
    /// From the row behind the part before up to the one behind the part's last.
    span: Range<usize>,
    rows: &'a [u32],
    starts: &'a [u32],
}

/// What each part has of its own, and the row behind the last; `None` if they do not ascend.
fn adjacent(ascents: &[SortedPart]) -> Option<(Vec<OwnRows<'_>>, usize)> {
    let mut parts = Vec::with_capacity(ascents.len());
    let mut end = 0;
    for ascent in ascents {
        let (mut rows, mut starts) = (&*ascent.rows, &*ascent.starts);
        let Some(&first) = rows.first() else {
            continue;
        };
        let first = first as usize;
        if first + 1 < end {
            return None;
        }
        // The first row of a part may be the last row of the part before.
        if first + 1 == end {
            (rows, starts) = (&rows[1..], &starts[1..]);
        }
        let from = end;
        end = rows.last().map_or(end, |&row| row as usize + 1);
        parts.push(OwnRows {
            span: from..end,
            rows,
            starts,
        });
    }
    Some((parts, end))
}

#[cfg(test)]
mod tests {
    use super::{Lists, SortedPart, joined};
    use crate::groups::sort::sort;
    use crate::groups::sort::tests::rows;

    fn ascents(rows: &[u32], parts: usize, room: usize) -> Option<Vec<SortedPart>> {
        let each = rows.len().div_ceil(parts).max(1);
        let stretches = rows.chunks(each).zip((0..).step_by(each));
        let ascent = |(rows, first)| {
            let mut ascent = SortedPart::with_room(room).unwrap();
            ascent.add(first, rows, i64::from).then_some(ascent)
        };
        stretches.map(ascent).collect()
    }

    #[test]
    fn rows_in_order_are_listed_as_sorted_ones() {
        for size in [1, 2, 300, 70_000] {
            for count in [0, 1, 7, 4096] {
                let mut rows = rows(count, size);
                rows.retain(|&row| row != u32::MAX);
                rows.sort_unstable();
                let expected = sort(&rows, size, rows.len(), 1).unwrap();
                for parts in [1, 2, 3, 8] {
                    let ascents = ascents(&rows, parts, size).unwrap();
                    let made = joined(&ascents, size, rows.len()).unwrap();
                    let Lists {
                        rows: listed,
                        starts,
                    } = made.unwrap();
                    let listed = listed.as_deref().map(<[u32]>::to_vec);
                    assert_eq!(listed, expected.rows.as_deref().map(<[u32]>::to_vec));
                    assert_eq!(*starts, *expected.starts);
                }
            }
        }
    }

    #[test]
    fn what_is_not_in_order_is_seen() {
        let refused = |rows: &[u32], parts, size| match ascents(rows, parts, 3) {
            None => true,
            Some(ascents) => joined(&ascents, size, rows.len()).unwrap().is_none(),
        };
        assert!(!refused(&[0, 4, 4, 5], 2, 6));
        assert!(refused(&[0, 4, 3, 5], 1, 6));
        assert!(refused(&[0, 4, 3, 5], 2, 6));
        // A row that is not there, and more rows than there is room for.
        assert!(refused(&[0, 4, 4, 6], 2, 6));
        assert!(refused(&[0, 1, 2, 3], 1, 6));
        let mut ascent = SortedPart::with_room(3).unwrap();
        assert!(!ascent.add(0, &[-1, 0], i64::from));
    }
}
