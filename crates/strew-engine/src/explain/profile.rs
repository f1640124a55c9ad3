//! Where the updates of a run go: how many rows take how many, in which part of the destination
//! they lie, and how many each thread gets.
//!
//! One pass over the row numbers. Its memory is 4 bytes for each row of the destination; above
//! `MOST_ROWS` rows only stretches of the destination are counted.

use crate::describe::split::Split;
use strew_kernel::error::Problem;
use strew_kernel::groups::row_ids::RowIds;
use strew_kernel::tensor::try_vec;

/// Above this number of rows, the updates of single rows are not counted.
const MOST_ROWS: usize = 1 << 27;
/// Stretches of the destination whose updates are counted.
const STRETCHES: usize = 4096;
/// Stretches that a picture shows.
const SHOWN: usize = 64;

/// Where the updates go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    rows: usize,
    updates: usize,
    left_out: usize,
    /// Updates of the row that takes most.
    most: u64,
    /// How many rows take 0, 1, 2 to 3, 4 to 7, ... updates; empty if that was not counted.
    by_count: Vec<u64>,
    /// The updates of each stretch of the destination, of equal lengths but the last.
    stretches: Vec<u64>,
}

impl Profile {
    /// Counts updates by the rows that they go to, of `rows` rows; a number beyond them goes
    /// nowhere.
    ///
    /// # Errors
    /// [`Problem::Memory`] if there is no room for the counts.
    pub fn of(numbers: &RowIds, rows: usize) -> Result<Self, Problem> {
        let length = rows.div_ceil(STRETCHES).max(1);
        let mut stretches = vec![0u64; rows.div_ceil(length)];
        let single = if rows <= MOST_ROWS { rows } else { 0 };
        let mut counts: Vec<u32> = try_vec("the table of updates of each row", single)?;
        counts.resize(single, 0);
        let mut left_out = 0;
        for row in numbers.iter() {
            match stretches.get_mut(row / length).filter(|_| row < rows) {
                Some(stretch) => *stretch += 1,
                None => left_out += 1,
            }
            if let Some(count) = counts.get_mut(row) {
                *count = count.saturating_add(1);
            }
        }
        // Of rows that are not counted singly at least one of a stretch takes its mean.
        let most = match counts.iter().max() {
            Some(&most) => u64::from(most),
            None => {
                let most = stretches.iter().max().copied().unwrap_or(0);
                most.div_ceil(length as u64)
            }
        };
        let mut by_count = Vec::new();
        for count in counts {
            let class = (u32::BITS - count.leading_zeros()) as usize;
            if by_count.len() <= class {
                by_count.resize(class + 1, 0);
            }
            by_count[class] += 1;
        }
        Ok(Self {
            rows,
            updates: numbers.len(),
            left_out,
            most,
            by_count,
            stretches,
        })
    }

    /// Rows of the destination.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Rows of updates.
    #[must_use]
    pub fn updates(&self) -> usize {
        self.updates
    }

    /// Updates that go nowhere.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Updates of the row that takes most; above 2^27 rows at least as many as this.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// How many rows take 0, 1, 2 to 3, 4 to 7, ... updates; empty above 2^27 rows.
    #[must_use]
    pub fn by_count(&self) -> &[u64] {
        &self.by_count
    }

    /// The updates of up to 64 stretches of the destination, one behind the other.
    #[must_use]
    pub fn along(&self) -> Vec<u64> {
        let together = self.stretches.len().div_ceil(SHOWN).max(1);
        let shown = self.stretches.chunks(together);
        shown.map(|some| some.iter().sum()).collect()
    }

    /// About how many updates each thread of a run takes that is shared out so.
    #[must_use]
    pub fn parts(&self, split: Option<(Split, usize)>) -> Vec<u64> {
        let placed: u64 = self.stretches.iter().sum();
        match split {
            None => vec![placed],
            // Each has a stretch of the updates.
            Some((Split::Axis(_) | Split::Updates, threads)) => {
                let threads = threads.max(1) as u64;
                let all = self.updates as u64;
                (0..threads)
                    .map(|n| all * (n + 1) / threads - all * n / threads)
                    .collect()
            }
            // The destination is cut so that the parts take about as many updates each. Here a
            // stretch that takes more stays whole; a run may share out the columns of a hot row.
            Some((Split::Owner, threads)) => {
                let mut parts = vec![0u64; threads.max(1)];
                let mut before = 0;
                for count in &self.stretches {
                    let middle = before + count / 2;
                    let part = (middle * threads as u64).checked_div(placed).unwrap_or(0);
                    let last = parts.len() - 1;
                    parts[(part as usize).min(last)] += count;
                    before += count;
                }
                parts
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(numbers: &[usize], rows: usize) -> Profile {
        let mut ids = RowIds::with_room("row numbers", numbers.len(), rows + 1).unwrap();
        numbers.iter().for_each(|&number| ids.push(number));
        Profile::of(&ids, rows).unwrap()
    }

    #[test]
    fn rows_are_counted_by_their_updates() {
        let found = profile(&[0, 2, 2, 2, 5, 5, 6], 6);
        assert_eq!(found.by_count(), [3, 1, 2]);
        assert_eq!((found.updates(), found.left_out()), (7, 1));
        assert_eq!(found.along(), [1, 0, 3, 0, 0, 2]);
        assert_eq!((found.most(), profile(&[], 3).most()), (3, 0));
        assert_eq!(profile(&[], 0).along(), [0u64; 0]);
    }

    #[test]
    fn stretches_of_many_rows() {
        let rows = 3 * STRETCHES + 5;
        let all: Vec<usize> = (0..rows).collect();
        let found = profile(&all, rows);
        assert_eq!(found.along().iter().sum::<u64>(), rows as u64);
        assert!(found.along().len() <= SHOWN);
        let parts = found.parts(Some((Split::Owner, 3)));
        assert_eq!(parts.iter().sum::<u64>(), rows as u64);
        assert!(parts.iter().all(|&part| part.abs_diff(rows as u64 / 3) < 8));
        let parts = found.parts(Some((Split::Updates, 2)));
        assert_eq!(parts.iter().sum::<u64>(), rows as u64);
        assert_eq!(found.parts(None), [rows as u64]);
    }
}
