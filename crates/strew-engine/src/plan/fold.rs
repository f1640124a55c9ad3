//! A reduction of the user's own: [`Fold`], which [`Plan::fold`] runs.
//!
//! ```text
//! for each cell:  state = identity()
//!                 for each of its updates, in their order:  join(state, update)
//!                 cell = finish(state)
//! ```
//!
//! Two designs were weighed. This one never merges two states: a cell's updates join it one after
//! the other, on one thread. So the reduction needs no law about merging, and its bits cannot
//! depend on threads. The other one would also have `merge(state, state)`, for a private table per
//! thread. It would be faster for few cells with very many updates, but only an exactly associative
//! merge would keep the bits, and floating-point sums are not associative.
//!
//! A run goes one of two ways, and both give a cell its updates in the same order:
//!
//! * in order: a table has the state of every cell. One pass over the source.
//! * grouped: row by row of the destination, by the plan's lists. A few states at a time.
//!
//! Threads get disjoint cells: positions before the axis where there are enough, else rows.

use crate::plan::way::Way;
use crate::plan::{Plan, way};
use crate::threads::crew::each_piece;
use crate::threads::groups::partition_point;
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::{Problem, Result};
use strew_kernel::groups::csr::Csr;
use strew_kernel::tensor::{AsTensor, Element, Tensor, TensorView, try_vec};

/// Columns of a row whose states are kept at a time.
const COLUMNS: usize = 256;

/// Elements between two looks for an interrupt.
const LOOK: usize = 1 << 16;

/// A reduction of your own, of updates of type `T`: [`Plan::fold`] runs it.
///
/// Two laws:
///
/// 1. [`identity`](Self::identity) gives the same state each time.
/// 2. [`join`](Self::join) and [`finish`](Self::finish) depend on their arguments alone.
///
/// [`join`](Self::join) need be neither associative nor commutative: states are never merged, and
/// each cell gets its updates one after the other, in their order.
///
/// ```
/// # mod strew { pub use strew_engine::plan::*; pub use strew_kernel::error::Error; }
/// use strew::{Fold, Plan};
///
/// /// The difference between the largest and the smallest value; 0 without values.
/// struct Range;
///
/// impl Fold<f64> for Range {
///     type State = Option<(f64, f64)>;
///     type Output = f64;
///
///     fn identity(&self) -> Self::State {
///         None
///     }
///
///     fn join(&self, state: &mut Self::State, update: f64) {
///         let (low, high) = state.unwrap_or((update, update));
///         *state = Some((low.min(update), high.max(update)));
///     }
///
///     fn finish(&self, state: Self::State) -> f64 {
///         state.map_or(0.0, |(low, high)| high - low)
///     }
/// }
///
/// let plan = Plan::builder(&[2usize, 0, 2, 2]).build()?;
/// let ranges = plan.fold(&[1.5, 5.0, 2.0, 6.0], 0, &Range)?;
/// assert_eq!(ranges.as_slice(), [0.0, 0.0, 4.5]);
/// # Ok::<(), strew::Error>(())
/// ```
pub trait Fold<T>: Sync {
    /// What is kept of the updates that a cell has got so far.
    type State;

    /// The element type of the result.
    type Output: Element;

    /// The state of a cell without updates.
    fn identity(&self) -> Self::State;

    /// One more update joins a cell.
    fn join(&self, state: &mut Self::State, update: T);

    /// The element that a cell becomes, also without updates.
    fn finish(&self, state: Self::State) -> Self::Output;
}

impl Plan {
    /// Reduces the updates of each row by a reduction of your own.
    ///
    /// `src` has [`len`](Self::len) coordinates along axis `dim` (negative: from the end). The
    /// result has its shape but for `dim`, where it has [`size`](Self::size). Each element of `src`
    /// joins the cell that its row and its other coordinates name. Updates that are left out join
    /// none.
    ///
    /// What is promised:
    ///
    /// * **Order.** Each cell gets its updates in the order of the index. Between cells there is no
    ///   order.
    /// * **Threads.** Cells are shared out among as many threads as a run may have. One cell stays
    ///   on one thread.
    /// * **Bits.** The result is that of the sequential loop, on any number of threads and by
    ///   either [`Way`], if the [laws](Fold) hold.
    ///
    /// An `src` that is not contiguous is copied. A panic of the reduction is passed on.
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter); [`Class::Interrupt`](strew_kernel::error::Class::Interrupt)
    /// if a [`Monitor`](strew_kernel::runtime::monitor::Monitor) stops it.
    pub fn fold<T: Element, F: Fold<T>>(
        &self,
        src: impl AsTensor<T>,
        dim: i64,
        fold: &F,
    ) -> Result<Tensor<F::Output>> {
        self.folded(&src.as_tensor(), dim, fold)
            .map_err(|problem| self.context().error(problem))
    }

    fn folded<T: Element, F: Fold<T>>(
        &self,
        src: &TensorView<'_, T>,
        dim: i64,
        fold: &F,
    ) -> Result<Tensor<F::Output>, Problem> {
        let axis = self.axis_of("src", src.shape(), dim, self.len())?;
        let mut made = Tensor::zeros(&self.shape(src.shape(), axis))?;
        let copy: Tensor<T>;
        let elements = match src.as_slice() {
            Some(elements) => elements,
            None => {
                copy = super::typed(duplicate(src)?);
                copy.as_slice()
            }
        };
        let inner: usize = src.shape()[axis + 1..].iter().product();
        let cells = made.as_mut_slice();
        if cells.is_empty() {
            return Ok(made);
        }
        let stack = self.size() * inner;
        let threads = self.threads_for(size_of_val(elements));
        let states = stack.saturating_mul(size_of::<F::State>());
        let groups = match self.fold_way(states) {
            Way::InOrder => None,
            Way::Grouped => Some(self.groups()?),
        };
        let job = FoldJob {
            plan: self,
            groups,
            elements,
            inner,
            fold,
        };
        let pieces = job.pieces(cells, threads);
        each_piece(
            pieces,
            threads,
            false,
            elements.len(),
            |piece, look| match job.groups {
                None => job.in_order(piece, look),
                Some(groups) => job.grouped(groups, piece, look),
            },
        )?;
        Ok(made)
    }

    /// The way of a fold. The states of one matrix of cells have `states` bytes.
    fn fold_way(&self, states: usize) -> Way {
        let listed = self.index.groups.get().is_some() || (self.is_sorted() && self.dropped() == 0);
        self.way.unwrap_or_else(|| way::choose_fold(states, listed))
    }
}

/// A run of a fold. Sources and cells are stacks of matrices: one for each position before the
/// axis.
struct FoldJob<'j, T, F> {
    plan: &'j Plan,
    /// The lists of a grouped run.
    groups: Option<&'j Csr>,
    elements: &'j [T],
    /// Elements of a row.
    inner: usize,
    fold: &'j F,
}

/// Cells of one thread: the same rows of some consecutive matrices.
struct Piece<'c, O> {
    first_matrix: usize,
    first_row: usize,
    matrices: Vec<&'c mut [O]>,
}

/// Tells how many elements were handled; false if the run is to stop.
type Look<'l> = dyn FnMut(usize) -> bool + 'l;

impl<T: Element, F: Fold<T>> FoldJob<'_, T, F> {
    /// Shares the cells out.
    fn pieces<'c>(&self, cells: &'c mut [F::Output], threads: usize) -> Vec<Piece<'c, F::Output>> {
        let stack = self.plan.size() * self.inner;
        let matrices = cells.len() / stack;
        let piece = |first_matrix, first_row| Piece {
            first_matrix,
            first_row,
            matrices: Vec::new(),
        };
        let all = cells.chunks_exact_mut(stack);
        if matrices >= threads {
            let each = matrices.div_ceil(threads);
            let firsts = (0..matrices).step_by(each);
            let mut pieces: Vec<_> = firsts.map(|first| piece(first, 0)).collect();
            for (number, matrix) in all.enumerate() {
                pieces[number / each].matrices.push(matrix);
            }
            return pieces;
        }
        let bounds = self.bounds(threads);
        let mut pieces: Vec<_> = bounds.iter().map(|&row| piece(0, row)).collect();
        for mut matrix in all {
            // From the last piece to the first: each takes what is left from its first row on.
            for piece in pieces.iter_mut().rev() {
                let (before, own) = matrix.split_at_mut(piece.first_row * self.inner);
                piece.matrices.push(own);
                matrix = before;
            }
        }
        pieces
    }

    /// The first row of each part, of about as much work.
    fn bounds(&self, parts: usize) -> Vec<usize> {
        let rows = self.plan.size();
        let mut bounds: Vec<usize> = match self.groups {
            None => (0..parts).map(|part| rows / parts * part).collect(),
            Some(groups) => {
                let work = groups.kept() + groups.len();
                let first = |part: usize| {
                    let before = |group| groups.start(group) + group < work / parts * part;
                    partition_point(groups.len(), before)
                };
                let of = |group| match group < groups.len() {
                    true => groups.row(group),
                    false => rows,
                };
                (0..parts).map(|part| of(first(part))).collect()
            }
        };
        bounds[0] = 0;
        bounds.retain(|&row| row < rows);
        bounds.dedup();
        bounds
    }

    /// The elements of one matrix of the source.
    fn matrix(&self, number: usize) -> &[T] {
        let len = self.plan.len() * self.inner;
        &self.elements[number * len..][..len]
    }

    fn in_order(
        &self,
        piece: &mut Piece<'_, F::Output>,
        look: &mut Look<'_>,
    ) -> Result<bool, Problem> {
        for (number, cells) in piece.matrices.iter_mut().enumerate() {
            let source = self.matrix(piece.first_matrix + number);
            let rows = cells.len() / self.inner;
            let mut states = try_vec("the list of states of a fold", cells.len())?;
            states.extend(cells.iter().map(|_| self.fold.identity()));
            let mut seen = 0;
            for (update, row) in self.plan.numbers().iter().enumerate() {
                let row = row.wrapping_sub(piece.first_row);
                if row < rows {
                    let states = &mut states[row * self.inner..][..self.inner];
                    self.join(states, &source[update * self.inner..][..self.inner]);
                }
                seen += self.inner;
                if seen >= LOOK && !look(std::mem::take(&mut seen)) {
                    return Ok(false);
                }
            }
            self.finish(states, cells);
            if !look(seen) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn grouped(
        &self,
        groups: &Csr,
        piece: &mut Piece<'_, F::Output>,
        look: &mut Look<'_>,
    ) -> Result<bool, Problem> {
        let first = partition_point(groups.len(), |group| groups.row(group) < piece.first_row);
        let mut states = try_vec("the list of states of a fold", self.inner.min(COLUMNS))?;
        for (number, cells) in piece.matrices.iter_mut().enumerate() {
            let source = self.matrix(piece.first_matrix + number);
            let (mut group, mut seen) = (first, 0);
            for (row, cells) in cells.chunks_exact_mut(self.inner).enumerate() {
                let row = piece.first_row + row;
                let mut updates = 0..0;
                if group < groups.len() && groups.row(group) == row {
                    updates = groups.start(group)..groups.start(group + 1);
                    group += 1;
                }
                seen += updates.len() * self.inner;
                for (block, cells) in cells.chunks_mut(COLUMNS).enumerate() {
                    states.extend(cells.iter().map(|_| self.fold.identity()));
                    for k in updates.clone() {
                        let from = groups.update(k) * self.inner + block * COLUMNS;
                        self.join(&mut states, &source[from..][..cells.len()]);
                    }
                    self.finish(states.drain(..), cells);
                }
                if seen >= LOOK && !look(std::mem::take(&mut seen)) {
                    return Ok(false);
                }
            }
            if !look(seen) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn join(&self, states: &mut [F::State], updates: &[T]) {
        for (state, &update) in states.iter_mut().zip(updates) {
            self.fold.join(state, update);
        }
    }

    fn finish(&self, states: impl IntoIterator<Item = F::State>, cells: &mut [F::Output]) {
        for (cell, state) in cells.iter_mut().zip(states) {
            *cell = self.fold.finish(state);
        }
    }
}
