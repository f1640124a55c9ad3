//! Elements along an axis are joined with some columns of their rows at a time. The columns are
//! copied close together meanwhile: a tile.
//!
//! The rows of a column then do not compete for the same places of a cache. It pays where those
//! rows are far apart and each tile gets at least a quarter as many updates as it has cells.

use crate::describe::strategy::Strategy;
use crate::strategy::execution::Execution;
use crate::strategy::record::{Did, did};
use crate::strides::reader::Reader;
use crate::strides::request::{Cells, Run};
use crate::strides::space::{Cut, Space};
use crate::threads::pass::{Fault, Pass, terms, unfit, unnumbered};
use crate::thresholds::{
    TILE, TILE_LARGEST, TILE_NARROWEST, TILE_WIDEST, TILED_CELLS_PER_UPDATE, TILED_SPREAD,
};
use smallvec::SmallVec;
use strew_kernel::copy::tile::Tile;
use strew_kernel::cpu::nontemporal::fence;
use strew_kernel::ops::identity::identity;
use strew_kernel::runtime::monitor::Progress;
use strew_kernel::tensor::{DType, DynView, DynViewMut, Layout};
use strew_kernel::update::in_place::Direct;
use strew_kernel::walk::Walk;
use strew_kernel::walk::geometry::{Axis, Geometry, Step, Term};

/// What `explain` says that it does.
pub(crate) const HOW: &str = "takes some columns at a time";

/// What stands in its way.
pub(crate) fn obstacle(run: &Run<'_, '_>) -> Option<&'static str> {
    if run.request.cells == Cells::Identity {
        return Some("tiles go on from what is there");
    }
    columns(run.space, run.cut, run.types.dst.size()).err()
}

/// Why it pays; `None` if it does not.
pub(crate) fn pays(run: &Run<'_, '_>) -> Option<&'static str> {
    let (space, cut, size) = (run.space, run.cut, run.types.dst.size());
    let (Ok(width), [lookup]) = (columns(space, cut, size), &space.lookups[..]) else {
        return None;
    };
    let (rows, stride) = space.dst[lookup.axis];
    let on_a_column = cut.rows.iter().filter(|a| a.step.dst == 0);
    let updates: usize = on_a_column.map(|a| a.len).product();
    let pays = run.request.cells != Cells::Identity
        && width >= TILE_NARROWEST
        && rows.saturating_mul(width * size) <= TILE_LARGEST
        && rows.saturating_mul(stride.unsigned_abs()) >= TILED_SPREAD
        && updates.saturating_mul(TILED_CELLS_PER_UPDATE) >= rows;
    pays.then_some(
        "the rows of a column are far apart, and would compete for the same places of a cache",
    )
}

/// Columns of a tile of this cut, or why it has no tiles.
pub(crate) fn columns(space: &Space<'_>, cut: &Cut, size: usize) -> Result<usize, &'static str> {
    let ([lookup], [outer @ .., last]) = (&space.lookups[..], &cut.rows[..]) else {
        return Err("tiles take one index and two axes");
    };
    if cut.width() != 1 || last.step.dst == 0 || space.arg.is_some() {
        return Err("only single elements, without positions, that lie in columns are tiled");
    }
    // Columns of a tile are cells of their own whatever the index says: the last axis walks along
    // one of the destination along which no other axis walks.
    let alone = space
        .axes
        .iter()
        .rev()
        .find(|a| a.len > 1)
        .and_then(|a| a.onto);
    let walked = space.axes.iter().filter(|a| a.onto == alone && a.len > 1);
    if alone.is_none_or(|axis| axis == lookup.axis) || walked.count() != 1 {
        return Err("the columns are not cells of their own");
    }
    if outer.iter().all(|a| a.step.dst != 0) {
        return Err("no column gets more than one update");
    }
    let rows = space.dst[lookup.axis].0.max(1);
    let fit = TILE / rows.saturating_mul(size).max(1);
    Ok(fit.clamp(TILE_NARROWEST, TILE_WIDEST).min(last.len))
}

/// Whether the tiles of a cut cover the destination.
pub(crate) fn tiles_all(space: &Space<'_>, cut: &Cut, dst: &Layout) -> bool {
    let [lookup] = &space.lookups[..] else {
        return false;
    };
    let columns = cut.rows.iter().filter(|axis| axis.step.dst != 0);
    let columns = columns.map(|axis| axis.len).fold(1, usize::saturating_mul);
    columns.checked_mul(space.dst[lookup.axis].0) == Some(dst.len())
}

/// A tile, and how much of the destination it takes at a time.
pub(crate) struct Columns {
    /// How many columns.
    width: usize,
    tile: Tile,
}

/// A tile for this part of a run; `None`: better without.
pub(crate) fn tile(
    execution: &Execution,
    space: &Space<'_>,
    cut: &Cut,
    dtype: DType,
) -> Option<Columns> {
    let tiled =
        execution.strategy() == Strategy::Tiled && execution.request.cells != Cells::Identity;
    let width = columns(space, cut, dtype.size()).ok().filter(|_| tiled)?;
    let term = terms(space, cut)[0];
    let tile = Tile::new(dtype, &term, cut.rows.last()?, width);
    // Without memory for a tile there is the longer way.
    Some(Columns {
        width,
        tile: tile.ok()?,
    })
}

/// Runs the updates tile by tile. Those of one cell are all in one tile, in their order.
pub(crate) fn run(
    execution: &Execution,
    space: &Space<'_>,
    cut: &Cut,
    src: &DynView<'_>,
    mut dst: DynViewMut<'_>,
    tiles: Columns,
    mut progress: Progress<'_>,
) -> Result<(), Fault> {
    did(Did::Strategy(Strategy::Tiled));
    let Columns { width, mut tile } = tiles;
    let dtype = dst.dtype();
    let rules = space.rules();
    let all = terms(space, cut);
    let whole = unnumbered(cut, &all);
    let walk = Walk::new(&whole, &mut dst, src).ok_or_else(unfit)?;
    let (term, last) = (all[0], cut.rows[cut.rows.len() - 1]);
    let start = start(execution, dtype);
    if execution.request.visible {
        progress.writes_are_visible();
    }

    let mut rows = axes_of_tile(cut, dtype.size());
    let inner = rows.len() - 1;
    let mut origin: SmallVec<[usize; 4]> = SmallVec::from_elem(0, rows.len());
    loop {
        let columns = width.min(last.len - origin[inner]);
        rows[inner].len = columns;
        match &start {
            Some(value) => tile.fill(value),
            None => tile.load(&walk, &origin, columns),
        }
        let reader = Reader {
            lookups: &space.lookups,
            rules: &rules,
            cut,
            origin: &origin,
        };
        join_tile(
            execution,
            reader,
            src,
            &mut tile,
            &rows,
            term,
            &mut progress,
        )?;
        tile.store(&walk, &origin, columns);
        if !next(&mut origin, cut, columns) {
            fence();
            return Ok(());
        }
    }
}

/// Joins the updates of the tile that begins at the reader's origin. `rows` are its axes, and
/// `term` says where an index value leads in the destination.
fn join_tile(
    execution: &Execution,
    reader: Reader<'_, '_>,
    src: &DynView<'_>,
    tile: &mut Tile,
    rows: &[Axis],
    mut term: Term,
    progress: &mut Progress<'_>,
) -> Result<(), Fault> {
    term.dst = tile.pitch();
    let geometry = Geometry {
        rows,
        terms: &[term],
        window: &[],
        cells: &[],
        numbers: false,
        start: Step {
            src: source_at(reader.cut, reader.origin),
            ..Step::default()
        },
        cell_start: 0,
    };
    let mut memory = tile.view_mut();
    let walk = Walk::new(&geometry, &mut memory, src).ok_or_else(unfit)?;
    let mut direct = Direct::new(
        &walk,
        execution.request.combine,
        execution.request.cells.are_unset(),
    )?;
    let mut pass = Pass {
        reader,
        walk: &walk,
        progress,
    };
    pass.join(&mut direct)
}

/// What every cell of the destination is known to hold, if it is.
fn start(execution: &Execution, dtype: DType) -> Option<[u8; 16]> {
    match execution.request.cells {
        Cells::Blank => identity(dtype, execution.request.combine),
        _ => None,
    }
}

/// The axes of the rows of a tile: all of those that stay on their columns, and one place on the
/// others. Elements of `size` bytes lie one after the other along the last.
fn axes_of_tile(cut: &Cut, size: usize) -> SmallVec<[Axis; 2]> {
    let mut rows = cut.rows.clone();
    for axis in &mut rows {
        if axis.step.dst != 0 {
            axis.len = 1;
            axis.step.dst = 0;
        }
    }
    let inner = rows.len() - 1;
    rows[inner].step.dst = size.cast_signed();
    rows
}

/// Byte offset in the source of the updates of a tile that begins at `origin`.
fn source_at(cut: &Cut, origin: &[usize]) -> isize {
    let steps = origin.iter().zip(&cut.rows);
    let moved: isize = steps.map(|(&at, a)| at.cast_signed() * a.step.src).sum();
    cut.start.src + moved
}

/// Moves on by some columns, or to the next place on the axes that walk along the destination.
fn next(origin: &mut [usize], cut: &Cut, columns: usize) -> bool {
    let inner = origin.len() - 1;
    origin[inner] += columns;
    for k in (0..origin.len()).rev() {
        let axis = &cut.rows[k];
        if axis.step.dst == 0 {
            continue;
        }
        if k != inner {
            origin[k] += 1;
        }
        if origin[k] < axis.len {
            return true;
        }
        origin[k] = 0;
    }
    false
}
