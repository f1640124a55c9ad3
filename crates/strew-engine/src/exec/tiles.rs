//! The run of elements along an axis tile by tile: some columns at a time, all their rows.

use crate::choose::execution::Execution;
use crate::choose::strategy::Strategy;
use crate::choose::tiles::columns;
use crate::exec::pass::{Fault, Pass, terms, unfit, unnumbered};
use crate::exec::record::{Did, did};
use crate::scatter::reader::Reader;
use crate::scatter::space::{Cut, Space};
use smallvec::SmallVec;
use strew_kernel::copy::tile::Tile;
use strew_kernel::cpu::nontemporal::fence;
use strew_kernel::ops::identity::identity;
use strew_kernel::runtime::monitor::Progress;
use strew_kernel::tensor::{DType, DynView, DynViewMut};
use strew_kernel::update::in_place::Direct;
use strew_kernel::walk::Walk;
use strew_kernel::walk::geometry::{Axis, Geometry, Step};

impl Execution {
    /// A tile for this part of a run, and its columns; `None`: better without.
    pub(crate) fn tile(&self, space: &Space<'_>, cut: &Cut, dtype: DType) -> Option<(usize, Tile)> {
        let tiled = self.strategy() == Strategy::Tiled && !self.request.from_identity;
        let width = columns(space, cut, dtype.size()).ok().filter(|_| tiled)?;
        let term = terms(space, cut)[0];
        let tile = Tile::new(dtype, &term, cut.rows.last()?, width);
        // Without memory for a tile there is the longer way.
        Some((width, tile.ok()?))
    }

    /// Runs the updates tile by tile. Those of one cell are all in one tile, in their order.
    pub(crate) fn tiled(
        &self,
        space: &Space<'_>,
        cut: &Cut,
        src: &DynView<'_>,
        mut dst: DynViewMut<'_>,
        (width, mut tile): (usize, Tile),
        mut progress: Progress<'_>,
    ) -> Result<(), Fault> {
        did(Did::Strategy(Strategy::Tiled));
        let dtype = dst.dtype();
        let rules = space.rules();
        let all = terms(space, cut);
        let whole = unnumbered(cut, &all);
        let walk = Walk::new(&whole, &mut dst, src).ok_or_else(unfit)?;
        let (term, last) = (all[0], cut.rows[cut.rows.len() - 1]);
        let start = self.start(dtype);
        if self.request.visible {
            progress.writes_are_visible();
        }

        // A tile has all of the axes that stay on their columns, and one place on the others.
        let mut rows: SmallVec<[Axis; 2]> = cut.rows.clone();
        for axis in &mut rows {
            if axis.step.dst != 0 {
                axis.len = 1;
                axis.step.dst = 0;
            }
        }
        let inner = rows.len() - 1;
        rows[inner].step.dst = dtype.size().cast_signed();
        let mut in_tile = term;
        in_tile.dst = tile.pitch();
        let in_tile = [in_tile];
        let mut origin: SmallVec<[usize; 4]> = SmallVec::from_elem(0, rows.len());
        loop {
            let columns = width.min(last.len - origin[inner]);
            rows[inner].len = columns;
            match &start {
                Some(value) => tile.fill(value),
                None => tile.load(&walk, &origin, columns),
            }
            let steps = origin.iter().zip(&cut.rows);
            let moved: isize = steps.map(|(&at, a)| at.cast_signed() * a.step.src).sum();
            let geometry = Geometry {
                rows: &rows,
                terms: &in_tile,
                window: &[],
                cells: &[],
                numbers: false,
                start: Step {
                    src: cut.start.src + moved,
                    ..Step::default()
                },
                cell_start: 0,
            };
            let mut memory = tile.view_mut();
            let local = Walk::new(&geometry, &mut memory, src).ok_or_else(unfit)?;
            let mut direct = Direct::new(&local, self.request.combine, self.request.unset)?;
            let mut pass = Pass {
                reader: Reader {
                    lookups: &space.lookups,
                    rules: &rules,
                    cut,
                    origin: &origin,
                },
                walk: &local,
                progress: &mut progress,
            };
            pass.join(&mut direct)?;
            tile.store(&walk, &origin, columns);
            if !next(&mut origin, cut, columns) {
                fence();
                return Ok(());
            }
        }
    }

    /// What every cell of the destination is known to hold, if it is.
    fn start(&self, dtype: DType) -> Option<[u8; 16]> {
        match self.request.blank {
            true => identity(dtype, self.request.combine),
            false => None,
        }
    }
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
