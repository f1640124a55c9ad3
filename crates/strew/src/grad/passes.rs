//! Passes over all updates and cells: each shared out among threads, and gone through once.

use crate::grad::field::Graded;
use crate::grad::route::Route;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use strew_engine::threads::crew::each_piece;
use strew_engine::threads::share::threads;
use strew_kernel::cpu::nontemporal::fence;
use strew_kernel::cpu::vectorized::{compiled, copy_past_caches};
use strew_kernel::error::Problem;
use strew_kernel::runtime::machine::L3;
use strew_kernel::tensor::{DType, DynTensor, Element, Tensor, try_vec};

/// Elements that are computed in the nearest cache before they are written past the caches.
const STAGE: usize = 1024;

/// Results of at least this many bytes do not stay in a cache.
const LARGE: usize = L3;

/// Rows to prefetch ahead.
pub(super) const AHEAD: usize = 16;

/// Elements between two checks for an interrupt.
const PIECE: usize = 1 << 20;

/// Row numbers that are read as one block.
const BLOCK: usize = 256;

/// The place of contiguous elements of one row.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    /// Where it begins among all cells,
    pub(super) cell: usize,
    /// and among all updates.
    pub(super) update: usize,
    /// The row along the route's axis: of the update, or of the cell if there is no update.
    pub(super) row: usize,
}

/// The rows of updates or of cells: `outer` times `count` of `inner` elements.
#[derive(Clone, Copy)]
struct Rows {
    outer: usize,
    count: usize,
    inner: usize,
}

impl Rows {
    fn of(shape: &[usize], axis: usize) -> Self {
        Self {
            outer: shape[..axis].iter().product(),
            count: shape[axis],
            inner: shape[axis + 1..].iter().product(),
        }
    }

    /// Which of the `outer` a row belongs to, and its number there.
    #[inline(always)]
    fn split(self, row: usize) -> (usize, usize) {
        match self.outer {
            1 => (0, row),
            _ => (row / self.count, row % self.count),
        }
    }
}

/// A tensor with elements for every update. `make` sets contiguous elements of it. `ask` prefetches
/// what `make` will read of the row that begins at a cell. Updates that go nowhere get zeros.
pub(super) fn each_update<T: Graded>(
    route: &Route,
    ask: impl Fn(usize) + Sync,
    make: impl Fn(Spot, &mut [T]) + Sync,
) -> Result<Tensor<T>, Problem> {
    let rows = Rows::of(route.updates(), route.axis());
    let (numbers, size) = (route.numbers(), route.size());
    let cell = |outer: usize, row: usize| {
        let number = numbers.get(row);
        (number < size).then(|| (outer * size + number) * rows.inner)
    };
    each_row(
        route.updates(),
        rows,
        #[inline(always)]
        |at| {
            let (outer, row) = rows.split(at);
            if let Some(cell) = cell(outer, row) {
                ask(cell);
            }
        },
        #[inline(always)]
        |at, column, to: &mut [T]| {
            let (outer, row) = rows.split(at);
            match cell(outer, row) {
                Some(cell) => make(
                    Spot {
                        cell: cell + column,
                        update: at * rows.inner + column,
                        row,
                    },
                    to,
                ),
                None => to.fill(T::nothing()),
            }
        },
    )
}

/// A tensor with elements for every cell, which `make` sets as in [`each_update`].
pub(super) fn each_cell<T: Element>(
    route: &Route,
    make: impl Fn(Spot, &mut [T]) + Sync,
) -> Result<Tensor<T>, Problem> {
    let rows = Rows::of(route.cells(), route.axis());
    each_row(
        route.cells(),
        rows,
        #[inline(always)]
        |_| {},
        #[inline(always)]
        |at, column, to: &mut [T]| {
            let spot = Spot {
                cell: at * rows.inner + column,
                update: 0,
                row: rows.split(at).1,
            };
            make(spot, to);
        },
    )
}

/// A tensor whose elements `make` sets. `make` gets contiguous elements and the position of the
/// first.
pub(super) fn each_element<T: Element>(
    shape: &[usize],
    make: impl Fn(usize, &mut [T]) + Sync,
) -> Result<Tensor<T>, Problem> {
    let mut made = scratch::<T>(shape)?;
    let total = made.as_slice().len();
    let pieces = pieces(made.as_mut_slice(), 1);
    share(pieces, total, |piece, step| {
        let mut first = piece.first;
        piece.out.chunks_mut(PIECE).all(|out| {
            make(first, out);
            first += out.len();
            step(out.len())
        })
    })?;
    Ok(made)
}

/// Whether the condition holds for any element.
pub(super) fn any_element<T: Element>(
    elements: &[T],
    is_so: impl Fn(T) -> bool + Sync,
) -> Result<bool, Problem> {
    let part = elements.len().div_ceil(threads(size_of_val(elements)));
    let parts = elements.chunks(part.max(1)).collect();
    let any = AtomicBool::new(false);
    share(parts, elements.len(), |part, step| {
        for piece in part.chunks(PIECE) {
            // No element ends the loop: it vectorises.
            let each = piece.iter();
            let found = each.fold(false, |any, &element| any | is_so(element));
            any.fetch_or(found, Ordering::Relaxed);
            if any.load(Ordering::Relaxed) {
                break;
            }
            if !step(piece.len()) {
                return false;
            }
        }
        true
    })?;
    Ok(any.into_inner())
}

/// A tensor of rows: `make` sets a stretch of a row, given the row's number and the stretch's first
/// column.
#[inline(always)]
fn each_row<T: Element>(
    shape: &[usize],
    rows: Rows,
    ask: impl Fn(usize) + Sync,
    make: impl Fn(usize, usize, &mut [T]) + Sync,
) -> Result<Tensor<T>, Problem> {
    let mut made = scratch::<T>(shape)?;
    let out = made.as_mut_slice();
    if out.is_empty() {
        return Ok(made);
    }
    let (total, past) = (out.len(), size_of_val(out) >= LARGE);
    let pieces = pieces(out, rows.inner);
    share(pieces, total, |piece, step| {
        // The type that matters: more versions of every loop would take long to compile.
        let goes_on = if const { matches!(T::DTYPE, DType::F32) } {
            compiled(
                #[inline(always)]
                || fill(piece, rows, past, &ask, &make, step),
            )
        } else {
            fill(piece, rows, past, &ask, &make, step)
        };
        fence();
        goes_on
    })?;
    Ok(made)
}

/// Makes the rows of a piece; false after an interrupt.
#[inline(always)]
fn fill<T: Element>(
    piece: &mut Piece<'_, T>,
    rows: Rows,
    past: bool,
    ask: &impl Fn(usize),
    make: &impl Fn(usize, usize, &mut [T]),
    step: &mut dyn FnMut(usize) -> bool,
) -> bool {
    let Rows { inner, .. } = rows;
    let Some(&any) = piece.out.first() else {
        return true;
    };
    let mut stage = [any; STAGE];
    // As many whole rows as there is room for, or a part of one.
    let at_once = (STAGE / inner).max(1);
    let width = inner.min(STAGE);
    let count = piece.out.len() / inner;
    let mut done = 0;
    for from in (0..count).step_by(at_once) {
        let some = at_once.min(count - from);
        for column in (0..inner).step_by(width) {
            let len = width.min(inner - column);
            let start = from * inner + column;
            let out = &mut piece.out[start..start + some * len];
            let to = match past {
                true => &mut stage[..out.len()],
                false => &mut *out,
            };
            for (k, to) in to.chunks_exact_mut(len).enumerate() {
                let row = from + k;
                if column == 0 && row + AHEAD < count {
                    ask(piece.first + row + AHEAD);
                }
                make(piece.first + row, column, to);
            }
            if past {
                copy_past_caches(&stage[..out.len()], out);
            }
        }
        done += some * inner;
        if done >= PIECE {
            if !step(done) {
                return false;
            }
            done = 0;
        }
    }
    step(done)
}

/// Calls `join` for every update, in the updates' order, with the row's cells and the positions
/// where they and the update begin. `ask` prefetches what `join` will read.
pub(super) fn each_into<C: Element>(
    route: &Route,
    cells: &mut Tensor<C>,
    ask: impl Fn(Spot) + Sync,
    join: impl Fn(&mut [C], Spot) + Sync,
) -> Result<(), Problem> {
    let rows = Rows::of(route.updates(), route.axis());
    let (numbers, size) = (route.numbers(), route.size());
    let total = route.updates().iter().product::<usize>();
    let threads = threads(total * size_of::<C>());
    if total == 0 || size == 0 {
        return Ok(());
    }
    // Each thread owns some rows of cells and reads all updates.
    let owners = owners(cells.as_mut_slice(), rows, size, threads)?;
    share(owners, total, |owner, step| {
        let (low, high) = (owner.rows.start, owner.rows.end);
        let own = (high - low) * rows.inner;
        let outers = owner.outers.clone();
        outers
            .zip(owner.cells.chunks_exact_mut(own))
            .all(|(outer, cells)| {
                let spot = |(update, number): (usize, usize)| Spot {
                    cell: (outer * size + number) * rows.inner,
                    update: (outer * rows.count + update) * rows.inner,
                    row: update,
                };
                let mut mine = [(0, 0); BLOCK];
                (0..rows.count).step_by(BLOCK).all(|from| {
                    let mut found = 0;
                    for update in from..rows.count.min(from + BLOCK) {
                        let number = numbers.get(update);
                        mine[found] = (update, number);
                        found += usize::from((low..high).contains(&number));
                    }
                    let mine = &mine[..found];
                    mine.iter().take(AHEAD).for_each(|&at| ask(spot(at)));
                    for (k, &at) in mine.iter().enumerate() {
                        if let Some(&at) = mine.get(k + AHEAD) {
                            ask(spot(at));
                        }
                        let from = (at.1 - low) * rows.inner;
                        join(&mut cells[from..from + rows.inner], spot(at));
                    }
                    step(found * rows.inner)
                })
            })
    })
}

/// The cells that one thread owns: these rows of some of the `outer`.
struct Owner<'c, C> {
    outers: Range<usize>,
    rows: Range<usize>,
    cells: &'c mut [C],
}

/// Cells of `size` rows for each of the `outer`, shared out among threads. Each owns all rows of
/// some of the `outer`, or, if those are too few, some rows of each.
fn owners<C>(
    cells: &mut [C],
    rows: Rows,
    size: usize,
    threads: usize,
) -> Result<Vec<Owner<'_, C>>, Problem> {
    let (stretches, parts) = match rows.outer >= threads {
        true => (threads, 1),
        false => (rows.outer, (threads / rows.outer).clamp(1, size)),
    };
    let mut owners = try_vec("the parts of a run", stretches * parts)?;
    let mut rest = cells;
    for n in 0..stretches {
        let outers = n * rows.outer / stretches..(n + 1) * rows.outer / stretches;
        for part in 0..parts {
            let (low, high) = (part * size / parts, (part + 1) * size / parts);
            let cells;
            (cells, rest) = rest.split_at_mut(outers.len() * (high - low) * rows.inner);
            owners.push(Owner {
                outers: outers.clone(),
                rows: low..high,
                cells,
            });
        }
    }
    Ok(owners)
}

/// Some of the rows of a new tensor.
struct Piece<'o, T> {
    first: usize,
    out: &'o mut [T],
}

/// Rows of `inner` elements, shared out among as many threads as they are worth.
fn pieces<T>(out: &mut [T], inner: usize) -> Vec<Piece<'_, T>> {
    let threads = threads(size_of_val(out));
    let rows = (out.len() / inner.max(1)).div_ceil(threads).max(1);
    let piece = |(n, out)| Piece {
        first: n * rows,
        out,
    };
    out.chunks_mut(rows * inner.max(1))
        .enumerate()
        .map(piece)
        .collect()
}

fn scratch<T: Element>(shape: &[usize]) -> Result<Tensor<T>, Problem> {
    let made = DynTensor::scratch(T::DTYPE, shape)?;
    Ok(crate::grad::typed(made))
}

/// Runs the pieces, each on its own thread. `work` gets a check for interrupts, and gives whether
/// it finished.
fn share<P: Send>(
    pieces: Vec<P>,
    total: usize,
    work: impl Fn(&mut P, &mut dyn FnMut(usize) -> bool) -> bool + Sync,
) -> Result<(), Problem> {
    let threads = pieces.len();
    each_piece(pieces, threads, false, total, |piece, step| {
        Ok(work(piece, step))
    })
}
