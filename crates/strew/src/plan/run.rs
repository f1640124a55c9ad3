//! The strategies, each a short walk over blocks.

use super::blocks::Crew;
use super::check::{all_left_out, check};
use super::cost::Strategy;
use super::decode::Reader;
use super::explain::Execution;
use super::space::{Cut, Space};
use super::split::{Part, Split};
use super::zeros::{row_shift, tiles_all};
use crate::error::Problem;
use crate::kernel::{
    Arg, Begin, Block, Cursor, DefaultFloats, Direct, Fresh, Geometry, Lane, Lists, OutOfBounds,
    Table, Term, Touched, Walk, clear, identity,
};
use crate::monitor::{Monitor, Progress, Watch};
use crate::tensor::{DynView, DynViewMut, try_vec};
use crate::threads::Team;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a run stopped.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Some index value names no cell.
    OutOfBounds,
    Problem(Problem),
}

impl Fault {
    /// The fault that made the others stop, if there is one.
    pub(super) fn first(faults: impl IntoIterator<Item = Result<(), Self>>) -> Result<(), Self> {
        let interrupted = |f: &Self| matches!(f, Self::Problem(Problem::Interrupted));
        let faults: Vec<Self> = faults.into_iter().filter_map(Result::err).collect();
        let cause = faults.iter().position(|f| !interrupted(f)).unwrap_or(0);
        faults.into_iter().nth(cause).map_or(Ok(()), Err)
    }
}

impl From<OutOfBounds> for Fault {
    fn from(_: OutOfBounds) -> Self {
        Self::OutOfBounds
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Where a run writes.
pub(crate) struct Outputs<'o> {
    pub(crate) dst: DynViewMut<'o>,
    /// Positions of winners: one per cell, of the destination's shape.
    pub(crate) arg: Option<DynViewMut<'o>>,
    pub(crate) before: Before<'o>,
    /// Where in which block of the destination the updates go, if that is known.
    pub(crate) lists: Option<&'o Lists>,
}

/// What is to be done about a destination before the first update.
#[derive(Clone, Copy)]
pub(crate) enum Before<'o> {
    /// Nothing: it is as it should be.
    Nothing,
    /// It holds anything, and should be zeros: of a run that [begins those](Execution::begins_zeros).
    Zeros,
    /// Likewise, it should be this: of a run that [begins blocks](Execution::begins_blocks).
    Blocks(&'o Fresh<'o>),
}

impl Execution {
    /// Runs the updates `src` into the destination.
    ///
    /// On a fault nothing that the caller can see has been written, unless the index was changed
    /// by somebody else during the run.
    pub(crate) fn run(
        &self,
        space: &Space<'_>,
        src: &DynView<'_>,
        outputs: Outputs<'_>,
    ) -> Result<(), Fault> {
        if space.is_empty() {
            return Ok(());
        }
        if space.rules().iter().any(|r| r.size == 0) {
            // Not a single index can be right.
            return all_left_out(space);
        }
        let watch = Watch::take();
        let monitor = watch.monitor();
        let shared = self
            .split()
            .and_then(|(split, threads)| Some((split, threads, Team::new(threads)?)));
        if self.checks_first() {
            let team = shared.as_ref().map(|(_, threads, team)| (team, *threads));
            let told = self.request.split.is_some();
            check(space, team, told, self.passes(), monitor)?;
        }
        let stop = AtomicBool::new(false);
        let Some((split, threads, team)) = shared else {
            return self.run_serial(space, &self.cut, src, outputs, monitor, &stop);
        };
        if (self.strategy(), split) == (Strategy::Partition, Split::Owner) {
            let crew = Crew {
                team: Some(&team),
                threads,
                monitor,
                stop: &stop,
            };
            let known = (outputs.before, outputs.lists);
            return self.by_block(space, src, outputs.dst, known, &crew);
        }
        if split == Split::Updates {
            return self.run_by_updates(space, src, outputs, (&team, threads), monitor, &stop);
        }
        if let Some(axis) = self.tried_along(space, &outputs) {
            let run = (space, src, outputs.dst);
            return self.run_tried(axis, run, (&team, threads), monitor, &stop);
        }
        let sharing = (split, &team, threads);
        self.run_shared(space, src, outputs, sharing, monitor, &stop)
    }

    /// Runs the parts of a run, each on a thread.
    pub(super) fn run_shared(
        &self,
        space: &Space<'_>,
        src: &DynView<'_>,
        outputs: Outputs<'_>,
        (split, team, threads): (Split, &Team, usize),
        monitor: Option<&dyn Monitor>,
        stop: &AtomicBool,
    ) -> Result<(), Fault> {
        let before = outputs.before;
        let parts = Part::whole(space, src, outputs).split(split, threads);
        share(team, parts, monitor, |part, monitor| {
            self.run_part(part, before, monitor, stop)
        })
    }

    /// Runs one part, on this thread.
    fn run_part(
        &self,
        part: Part<'_, '_>,
        before: Before<'_>,
        monitor: Option<&dyn Monitor>,
        stop: &AtomicBool,
    ) -> Result<(), Fault> {
        let Part {
            space,
            src,
            dst,
            arg,
        } = part;
        let outputs = Outputs {
            dst,
            arg,
            before,
            lists: None,
        };
        let done = self.run_serial(&space, &space.cut(), &src, outputs, monitor, stop);
        if done.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        done
    }

    pub(super) fn run_serial(
        &self,
        space: &Space<'_>,
        cut: &Cut,
        src: &DynView<'_>,
        outputs: Outputs<'_>,
        monitor: Option<&dyn Monitor>,
        stop: &AtomicBool,
    ) -> Result<(), Fault> {
        let Outputs {
            mut dst,
            arg,
            before,
            lists,
        } = outputs;
        if self.strategy() == Strategy::Partition {
            let crew = Crew {
                team: None,
                threads: 1,
                monitor,
                stop,
            };
            return self.by_block(space, src, dst, (before, lists), &crew);
        }
        if let Some(wide) = self.wide(space, cut) {
            return self.run_wide(wide, space, src, dst, monitor, stop);
        }
        let begins = matches!(before, Before::Zeros);
        let tile = self.tile(space, cut, dst.dtype());
        let marks_all = begins && tile.is_none() && self.marks_untouched(cut, dst.layout());
        if begins && !marks_all && !(tile.is_some() && tiles_all(space, cut, dst.layout())) {
            clear(&mut dst);
        }
        if let Some(tile) = tile {
            let _floats = DefaultFloats::enter();
            let progress = self.progress(cut, monitor, stop);
            return self.tiled(space, cut, src, dst, tile, progress);
        }
        let rules = space.rules();
        let reader = Reader {
            lookups: &space.lookups,
            rules: &rules,
            cut,
            origin: &[],
        };
        let terms = terms(space, cut);
        let cells = match self.strategy() {
            _ if marks_all => &cut.cells,
            Strategy::InOrder
            | Strategy::Tiled
            | Strategy::Partition
            | Strategy::Grouped
            | Strategy::Runs => &[][..],
            Strategy::DenseTable | Strategy::CompactTable => &cut.cells,
        };
        let geometry = Geometry {
            cells,
            numbers: arg.is_some()
                || (marks_all && row_shift(cut).is_none())
                || match self.strategy() {
                    Strategy::InOrder | Strategy::Tiled => self.marks,
                    Strategy::Partition | Strategy::Grouped | Strategy::Runs => false,
                    Strategy::DenseTable | Strategy::CompactTable => true,
                },
            ..unnumbered(cut, &terms)
        };
        let walk = Walk::new(&geometry, &mut dst, src).ok_or_else(unfit)?;
        let _floats = DefaultFloats::enter();
        let mut pass = Pass {
            reader,
            walk: &walk,
            progress: &mut self.progress(cut, monitor, stop),
        };
        match self.strategy() {
            // A part that has no tiles goes in order.
            Strategy::InOrder | Strategy::Tiled if marks_all => self.assign_all(&mut pass, cut),
            Strategy::InOrder | Strategy::Tiled => self.in_order(&mut pass, arg, cut.cell_count),
            Strategy::DenseTable => self.dense_table(&mut pass, cut.cell_count),
            Strategy::CompactTable => self.compact_table(&mut pass),
            Strategy::Partition => unreachable!("it ran above"),
            Strategy::Grouped | Strategy::Runs => unreachable!("it has no walk"),
        }
    }

    /// How far one part of the run has come, once its index has been checked if that comes first.
    pub(super) fn progress<'p>(
        &self,
        cut: &Cut,
        monitor: Option<&'p dyn Monitor>,
        stop: &'p AtomicBool,
    ) -> Progress<'p> {
        let updates = (cut.count() as u64).saturating_mul(cut.width() as u64);
        let done = if self.checks_first() { updates } else { 0 };
        let total = updates.saturating_mul(self.passes() as u64);
        Progress::new(monitor, stop, done, total)
    }

    fn in_order(
        &self,
        pass: &mut Pass<'_, '_, '_>,
        arg: Option<DynViewMut<'_>>,
        rows: usize,
    ) -> Result<(), Fault> {
        let walk = pass.walk;
        let combine = self.request.combine;
        if let Some(mut arg) = arg {
            let loops = Arg::new(walk, combine, &arg)?;
            self.begin_writing(pass);
            return pass.each(|block| loops.run(walk, block, &mut arg));
        }
        let mut direct = Direct::new(walk, combine, self.request.unset)?;
        self.begin_writing(pass);
        let value = match self.request.from_identity {
            true => identity(walk.dst_layout().dtype(), combine),
            false => None,
        };
        let Some(value) = value else {
            return pass.join(&mut direct);
        };
        // Without memory for the marks there is the longer way.
        let marks = self.marks.then(|| Touched::new(rows).ok()).flatten();
        let Some(mut touched) = marks else {
            pass.each(|block| direct.reset(walk, block, &value))?;
            return pass.each(|block| direct.run(walk, block));
        };
        let mut cursor = Cursor::new(walk);
        let numbered = direct.has_numbered_line(&cursor, &pass.reader);
        let mut block = Block::new();
        block.make_room(&cursor);
        while !touched.is_full() {
            let (marks, reader) = (&mut touched, &pass.reader);
            let line = match numbered {
                true => direct.run_line_afresh(&mut cursor, reader, marks, &value)?,
                false => None,
            };
            let done = match line {
                Some(rows) => rows,
                None => {
                    let rows = cursor.next(&mut block, reader)?;
                    if rows > 0 {
                        direct.reset_first(walk, &block, marks, &value);
                        direct.run(walk, &block);
                    }
                    rows
                }
            };
            if !pass.step(done)? {
                return Ok(());
            }
        }
        // All cells hold a value of their own by now, and nobody needs their numbers any more.
        cursor.forget_numbers();
        pass.join_from(cursor, &mut direct)
    }

    fn dense_table(&self, pass: &mut Pass<'_, '_, '_>, rows: usize) -> Result<(), Fault> {
        let walk = pass.walk;
        let request = &self.request;
        let begin = match (request.blank, request.from_identity) {
            (true, _) => Begin::Everywhere,
            (false, true) => Begin::Identity,
            (false, false) => Begin::Destination,
        };
        let counts = request.mean.is_some();
        let mut table = Table::new(walk, request.combine, begin, counts, rows)?;
        pass.each(|block| {
            let mut slots = Lane::new();
            let slots = slots.fill_with(0usize, block.aux().len());
            for (slot, &number) in slots.iter_mut().zip(block.aux()) {
                *slot = number.cast_unsigned();
            }
            table.add(walk, block, slots);
        })?;
        self.begin_writing(pass);
        table.finish(walk, request.mean, |slot| slot);
        Ok(())
    }

    fn compact_table(&self, pass: &mut Pass<'_, '_, '_>) -> Result<(), Fault> {
        let walk = pass.walk;
        let request = &self.request;
        let mut numbers: Vec<isize> = try_vec("the list of touched rows", walk.count())?;
        pass.each(|block| numbers.extend_from_slice(block.aux()))?;
        numbers.sort_unstable();
        numbers.dedup();
        let rows = numbers.len();
        // No row is there that is not touched.
        let begin = match request.blank || request.from_identity {
            true => Begin::Everywhere,
            false => Begin::Destination,
        };
        let counts = request.mean.is_some();
        let mut table = Table::new(walk, request.combine, begin, counts, rows)?;
        let mut changed = false;
        pass.each(|block| {
            let mut slots = Lane::new();
            let slots = slots.fill_with(0usize, block.aux().len());
            for (slot, number) in slots.iter_mut().zip(block.aux()) {
                match numbers.binary_search(number) {
                    Ok(found) => *slot = found,
                    Err(_) => changed = true,
                }
            }
            if !changed {
                table.add(walk, block, slots);
            }
        })?;
        if changed {
            return Err(Fault::OutOfBounds);
        }
        self.begin_writing(pass);
        table.finish(walk, request.mean, |slot| numbers[slot].cast_unsigned());
        Ok(())
    }

    pub(super) fn begin_writing(&self, pass: &mut Pass<'_, '_, '_>) {
        if self.request.visible {
            pass.progress.writes_are_visible();
        }
    }
}

/// Does the work of each part on a thread; that of the first one, on this thread, is watched.
pub(super) fn share<'p, 'i>(
    team: &Team,
    parts: Vec<Part<'p, 'i>>,
    monitor: Option<&dyn Monitor>,
    run: impl Fn(Part<'p, 'i>, Option<&dyn Monitor>) -> Result<(), Fault> + Sync,
) -> Result<(), Fault> {
    let mut faults: Vec<Result<(), Fault>> = parts.iter().map(|_| Ok(())).collect();
    let pieces = parts.into_iter().zip(&mut faults);
    team.share(
        pieces,
        |(part, fault)| *fault = run(part, monitor),
        |(part, fault)| *fault = run(part, None),
    );
    Fault::first(faults)
}

/// What the index values of a row add to its offset.
pub(super) fn terms(space: &Space<'_>, cut: &Cut) -> SmallVec<[Term; 2]> {
    let terms = space.lookups.iter().zip(&cut.lookup_aux);
    terms
        .map(|(lookup, &aux)| Term {
            limit: lookup.limit,
            from: lookup.from,
            len: space.dst[lookup.axis].0,
            dst: space.dst[lookup.axis].1,
            aux,
            drop: space.bounds.drops(),
        })
        .collect()
}

/// What a run goes over, if nobody asks for numbers of the destination's rows.
pub(super) fn unnumbered<'g>(cut: &'g Cut, terms: &'g [Term]) -> Geometry<'g> {
    Geometry {
        rows: &cut.rows,
        terms,
        window: &cut.window,
        cells: &[],
        numbers: false,
        start: cut.start,
        cell_start: cut.cell_start,
    }
}

/// The walk would leave its memory: no dialect lets that come so far.
pub(super) fn unfit() -> Fault {
    Fault::Problem(Problem::Layout {
        argument: "destination".into(),
        why: "its updates would leave it, or it overlaps itself or them".into(),
    })
}

/// A walk with its index and its monitor: what every pass goes over.
pub(super) struct Pass<'p, 'a, 'm> {
    pub(super) reader: Reader<'p, 'p>,
    pub(super) walk: &'p Walk<'a>,
    pub(super) progress: &'p mut Progress<'m>,
}

impl Pass<'_, '_, '_> {
    /// Joins all updates into their cells.
    pub(super) fn join(&mut self, direct: &mut Direct) -> Result<(), Fault> {
        self.join_from(Cursor::new(self.walk), direct)
    }

    /// Likewise, those from a place on.
    fn join_from(&mut self, mut cursor: Cursor<'_, '_>, direct: &mut Direct) -> Result<(), Fault> {
        let walk = self.walk;
        if direct.has_lines(&cursor, &self.reader) {
            loop {
                let done = direct.run_lines(&mut cursor, &self.reader)?;
                if !self.step(done)? {
                    return Ok(());
                }
            }
        }
        self.each_from(cursor, |block| direct.run(walk, block))
    }

    pub(super) fn each(&mut self, work: impl FnMut(&mut Block)) -> Result<(), Fault> {
        self.each_from(Cursor::new(self.walk), work)
    }

    /// Goes on from a place.
    fn each_from(
        &mut self,
        mut cursor: Cursor<'_, '_>,
        mut work: impl FnMut(&mut Block),
    ) -> Result<(), Fault> {
        let mut block = Block::new();
        block.make_room(&cursor);
        loop {
            let taken = cursor.next(&mut block, &self.reader)?;
            if taken == 0 {
                return Ok(());
            }
            work(&mut block);
            self.step(taken)?;
        }
    }

    /// So many rows are done; false if there are no more.
    fn step(&mut self, rows: usize) -> Result<bool, Fault> {
        match rows == 0 || self.progress.step(rows.saturating_mul(self.walk.width())) {
            true => Ok(rows > 0),
            false => Err(Problem::Interrupted.into()),
        }
    }
}
