//! The strategies, each a short walk over blocks.

use super::cost::Strategy;
use super::decode::Reader;
use super::explain::Plan;
use super::space::Space;
use crate::error::Problem;
use crate::kernel::{
    Arg, Block, Cursor, DefaultFloats, Direct, OutOfBounds, ROWS, Table, Term, Walk, identity,
};
use crate::monitor::Progress;
use crate::tensor::{DynTensor, DynView, DynViewMut, try_vec};
use smallvec::SmallVec;

/// Why a run stopped.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Some index value names no cell.
    OutOfBounds,
    Problem(Problem),
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
pub(crate) struct Outputs<'o, 'a> {
    pub(crate) dst: &'o mut DynViewMut<'a>,
    /// Positions of winners: contiguous, one per cell.
    pub(crate) arg: Option<&'o mut DynTensor>,
}

impl Plan {
    /// Runs the updates `src` into the destination.
    ///
    /// On a fault nothing that the caller can see has been written, unless the index was changed
    /// by somebody else during the run.
    pub(crate) fn run(
        &self,
        space: &Space<'_>,
        src: &DynView<'_>,
        outputs: Outputs<'_, '_>,
    ) -> Result<(), Fault> {
        if space.is_empty() {
            return Ok(());
        }
        let rules = space.rules();
        if rules.iter().any(|r| r.size == 0) {
            // Not a single index can be right.
            return match space.bounds.drops() {
                true => self.drop_all(space),
                false => Err(Fault::OutOfBounds),
            };
        }
        let reader = Reader {
            lookups: &space.lookups,
            rules: &rules,
            cut: &self.cut,
        };
        let terms: SmallVec<[Term; 2]> = space
            .lookups
            .iter()
            .zip(&self.cut.lookup_aux)
            .map(|(lookup, &aux)| Term {
                limit: space.dst[lookup.axis].0,
                dst: space.dst[lookup.axis].1,
                aux,
                drop: space.bounds.drops(),
            })
            .collect();
        let unfit = || {
            Fault::Problem(Problem::Layout {
                argument: "destination".into(),
                why: "its updates would leave it, or it overlaps itself or them".into(),
            })
        };
        let Outputs { dst, arg } = outputs;
        let cells = match self.strategy() {
            Strategy::InOrder => &[][..],
            Strategy::DenseTable | Strategy::CompactTable => &self.cut.cells,
        };
        let walk = Walk::new(
            &self.cut.rows,
            &terms,
            &self.cut.window,
            cells,
            (self.cut.start, self.cut.cell_start),
            dst,
            src,
        )
        .ok_or_else(unfit)?;
        let _floats = DefaultFloats::enter();
        let updates = (walk.count() as u64).saturating_mul(walk.width() as u64);
        let mut pass = Pass {
            reader,
            walk: &walk,
            progress: Progress::new(updates.saturating_mul(self.passes() as u64)),
        };
        match self.strategy() {
            Strategy::InOrder => self.in_order(&mut pass, arg),
            Strategy::DenseTable => self.dense_table(&mut pass),
            Strategy::CompactTable => self.compact_table(&mut pass),
        }
    }

    /// Every update is left out, but an index that is an error is still one.
    fn drop_all(&self, space: &Space<'_>) -> Result<(), Fault> {
        let rules = space.rules();
        for (lookup, rule) in space.lookups.iter().zip(rules) {
            let mut wrong = false;
            lookup.index.for_each_integers(|values| {
                let bad = |&v: &i64| space.bounds.resolve(v, rule.size).is_err();
                wrong = wrong || values.iter().any(bad);
            });
            if wrong {
                return Err(Fault::OutOfBounds);
            }
        }
        Ok(())
    }

    fn in_order(&self, pass: &mut Pass<'_, '_>, arg: Option<&mut DynTensor>) -> Result<(), Fault> {
        let walk = pass.walk;
        let combine = self.request.combine;
        if let Some(arg) = arg {
            let loops = Arg::new(walk, combine, arg)?;
            if self.checks_first() {
                pass.each(|_| ())?;
            }
            self.begin_writing(pass);
            return pass.each(|block| loops.run(walk, block, arg));
        }
        let mut direct = Direct::new(walk, combine)?;
        if self.checks_first() {
            pass.each(|_| ())?;
        }
        self.begin_writing(pass);
        if self.request.from_identity
            && let Some(value) = identity(walk.dst_layout().dtype(), combine)
        {
            pass.each(|block| direct.reset(walk, block, &value))?;
        }
        pass.each(|block| direct.run(walk, block))
    }

    fn dense_table(&self, pass: &mut Pass<'_, '_>) -> Result<(), Fault> {
        let walk = pass.walk;
        let request = &self.request;
        let rows = self.cut.cell_count;
        let mut table = Table::new(walk, request.combine, request.from_identity, rows)?;
        let mut slots = [0usize; ROWS];
        pass.each(|block| {
            for (slot, &number) in slots.iter_mut().zip(block.aux()) {
                *slot = number.cast_unsigned();
            }
            table.add(walk, block, &slots[..block.aux().len()]);
        })?;
        self.begin_writing(pass);
        table.finish(walk, request.mean, |slot| slot);
        Ok(())
    }

    fn compact_table(&self, pass: &mut Pass<'_, '_>) -> Result<(), Fault> {
        let walk = pass.walk;
        let request = &self.request;
        let mut numbers: Vec<isize> = try_vec("the list of touched rows", walk.count())?;
        pass.each(|block| numbers.extend_from_slice(block.aux()))?;
        numbers.sort_unstable();
        numbers.dedup();
        let rows = numbers.len();
        let mut table = Table::new(walk, request.combine, request.from_identity, rows)?;
        let mut slots = [0usize; ROWS];
        let mut changed = false;
        pass.each(|block| {
            for (slot, number) in slots.iter_mut().zip(block.aux()) {
                match numbers.binary_search(number) {
                    Ok(found) => *slot = found,
                    Err(_) => changed = true,
                }
            }
            if !changed {
                table.add(walk, block, &slots[..block.aux().len()]);
            }
        })?;
        if changed {
            return Err(Fault::OutOfBounds);
        }
        self.begin_writing(pass);
        table.finish(walk, request.mean, |slot| numbers[slot].cast_unsigned());
        Ok(())
    }

    fn begin_writing(&self, pass: &mut Pass<'_, '_>) {
        if self.request.visible {
            pass.progress.writes_are_visible();
        }
    }
}

/// A walk with its index and its monitor: what every pass goes over.
struct Pass<'p, 'a> {
    reader: Reader<'p, 'p>,
    walk: &'p Walk<'a>,
    progress: Progress,
}

impl Pass<'_, '_> {
    fn each(&mut self, mut work: impl FnMut(&Block)) -> Result<(), Fault> {
        let mut cursor = Cursor::new(self.walk);
        let mut block = Block::new();
        let reader = &self.reader;
        loop {
            let taken = cursor.next(&mut block, &mut |lookup, at, values| {
                reader.read(lookup, at, values)
            })?;
            if taken == 0 {
                return Ok(());
            }
            work(&block);
            if !self.progress.step(taken.saturating_mul(self.walk.width())) {
                return Err(Problem::Interrupted.into());
            }
        }
    }
}
