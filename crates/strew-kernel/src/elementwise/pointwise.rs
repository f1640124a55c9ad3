//! Parallel passes over elements: updates with the cells of their rows, and cells with each other.
//!
//! Each result depends only on elements at its own place, so a pass may be split at any row. The
//! bits do not depend on the number of threads. Cost: one read of every input and one write of
//! every result. The composites (softmax, log-sum-exp, gradients) use these passes between their
//! reductions.

use crate::cpu::fp_env::DefaultFloats;
use crate::groups::row_ids::RowIds;
use crate::ops::math::Real;
use crate::runtime::threads::share;

/// Elements that are worth a thread: most passes take an exponential of each.
const EACH: usize = 1 << 14;

/// Updates and cells, each as a stack of matrices whose rows lie one after the other.
#[derive(Clone, Copy)]
pub struct Pointwise<'n> {
    /// The row of cells that each row of updates meets; what is not below `rows` meets none.
    pub numbers: &'n RowIds,
    /// Rows of cells in a matrix.
    pub rows: usize,
    /// Elements of a row, of updates and cells alike.
    pub width: usize,
    /// As many as a pass may have.
    pub threads: usize,
}

impl Pointwise<'_> {
    /// Sets each of `made` to what `each` makes of itself, of its update and of what its cell holds
    /// in each of `cells`; to zero where there is no cell.
    ///
    /// # Panics
    /// If one has not as many elements as there are updates or cells.
    pub fn updates<A: Real, const N: usize>(
        &self,
        made: &mut [A],
        updates: &[A],
        cells: [&[A]; N],
        each: impl Fn(A, A, [A; N]) -> A + Sync,
    ) {
        assert_eq!(made.len(), updates.len());
        self.share(made, |first, made| {
            let from = first * self.width;
            let updates = &updates[from..from + made.len()];
            vectorized_twice!(|_| self.meet(first, made, updates, cells, &each));
        });
    }

    #[inline(always)]
    fn meet<A: Real, const N: usize>(
        &self,
        first: usize,
        made: &mut [A],
        updates: &[A],
        cells: [&[A]; N],
        each: &impl Fn(A, A, [A; N]) -> A,
    ) {
        let (count, width) = (self.numbers.len(), self.width);
        let (mut stack, mut row) = (first / count, first % count);
        let lines = made
            .chunks_exact_mut(width)
            .zip(updates.chunks_exact(width));
        for (made, updates) in lines {
            let number = self.numbers.get(row);
            if number < self.rows {
                let at = (stack * self.rows + number) * width;
                let cells = cells.map(|cells| &cells[at..at + width]);
                for (k, (made, &update)) in made.iter_mut().zip(updates).enumerate() {
                    *made = each(*made, update, cells.map(|cells| cells[k]));
                }
            } else {
                made.fill(A::ZERO);
            }
            row += 1;
            if row == count {
                (stack, row) = (stack + 1, 0);
            }
        }
    }

    /// Sets each of `cells` to what `each` makes of itself and of the number of its row's updates.
    ///
    /// # Panics
    /// If there are not as many counts as rows.
    pub fn counted<A: Real>(
        &self,
        cells: &mut [A],
        counts: &[i64],
        each: impl Fn(A, i64) -> A + Sync,
    ) {
        assert_eq!(counts.len(), self.rows);
        self.share(cells, |first, cells| {
            vectorized_twice!(|_| {
                let mut row = first % counts.len();
                for cells in cells.chunks_exact_mut(self.width) {
                    let count = counts[row];
                    cells.iter_mut().for_each(|cell| *cell = each(*cell, count));
                    row = if row + 1 == counts.len() { 0 } else { row + 1 };
                }
            });
        });
    }

    /// Sets each of `cells` to what `each` makes of itself and of its neighbours in `others`.
    ///
    /// # Panics
    /// If one has another number of elements.
    pub fn cells<A: Real, const N: usize>(
        &self,
        cells: &mut [A],
        others: [&[A]; N],
        each: impl Fn(A, [A; N]) -> A + Sync,
    ) {
        self.share(cells, |first, cells| {
            let from = first * self.width;
            let others = others.map(|others| &others[from..from + cells.len()]);
            vectorized_twice!(|_| {
                for (k, cell) in cells.iter_mut().enumerate() {
                    *cell = each(*cell, others.map(|others| others[k]));
                }
            });
        });
    }

    /// Does a pass: `work` is given stretches of whole rows, each with the number of its first.
    fn share<A: Real>(&self, all: &mut [A], work: impl Fn(usize, &mut [A]) + Sync) {
        if all.is_empty() {
            return;
        }
        let threads = self.threads.min(all.len() / EACH).max(1);
        let lines = (all.len() / self.width).div_ceil(threads);
        let pieces = all.chunks_mut(lines * self.width).enumerate();
        share(threads, pieces, |(piece, stretch)| {
            let _floats = DefaultFloats::enter();
            work(piece * lines, stretch);
        });
    }
}
