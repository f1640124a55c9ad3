//! When elements along an axis are run tile by tile, and how many columns a tile has.
//!
//! A tile is some columns of the destination, copied close together, so that the rows of a column
//! do not compete for the same places of a cache. It pays where those rows are far apart and each
//! tile gets at least a quarter as many updates as it has cells.

use crate::scatter::space::{Cut, Space};
use strew_kernel::runtime::machine::{L1, L2};
use strew_kernel::tensor::Layout;

/// A tile has at most so many bytes, that a first-level cache holds, if its rows then still have
/// [`NARROWEST`] columns.
pub(crate) const TILE: usize = L1;

/// A larger one would not stay in a second-level cache.
pub(crate) const LARGEST: usize = L2;

/// Columns of a tile, at least and at most.
pub(crate) const NARROWEST: usize = 128;

pub(crate) const WIDEST: usize = 512;

/// Rows of the destination that are closer together than this in all stay in a cache as they are.
pub(crate) const SPREAD: usize = L2 / 4;

/// A tile is copied to and fro for its updates: as many as it has cells, or a quarter of that.
pub(crate) const CELLS_PER_UPDATE: usize = 4;

/// Whether tiles pay.
pub(crate) fn pay(space: &Space<'_>, cut: &Cut, size: usize) -> bool {
    let (Ok(width), [lookup]) = (columns(space, cut, size), &space.lookups[..]) else {
        return false;
    };
    let (rows, stride) = space.dst[lookup.axis];
    let on_a_column = cut.rows.iter().filter(|a| a.step.dst == 0);
    let updates: usize = on_a_column.map(|a| a.len).product();
    width >= NARROWEST
        && rows.saturating_mul(width * size) <= LARGEST
        && rows.saturating_mul(stride.unsigned_abs()) >= SPREAD
        && updates.saturating_mul(CELLS_PER_UPDATE) >= rows
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
    // one of the destination that nobody else does.
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
    Ok(fit.clamp(NARROWEST, WIDEST).min(last.len))
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
