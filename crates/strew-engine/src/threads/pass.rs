//! What every run shares: its outputs, one pass over the updates, the parts of the threads, and
//! its faults.
//!
//! A `Pass` goes over the blocks of a walk, joins them, and reports progress after each.

use crate::describe::split::Split;
use crate::strides::reader::Reader;
use crate::strides::space::{Cut, Space};
use crate::threads::owners::{self, Owned};
use crate::threads::split::obstacle;
use smallvec::SmallVec;
use strew_kernel::bucket::cached::CachedBucketLists;
use strew_kernel::error::Problem;
use strew_kernel::runtime::monitor::Progress;
use strew_kernel::tensor::{DynView, DynViewMut};
use strew_kernel::update::in_place::Direct;
use strew_kernel::update::lazy_init::LazyInit;
use strew_kernel::walk::Walk;
use strew_kernel::walk::cursor::{Block, Cursor};
use strew_kernel::walk::geometry::{Geometry, OutOfBounds, Term};

/// Parts of a destination, at most.
pub(crate) const MOST_OWNERS: usize = 512;

/// Minimum bytes of a piece of a hot row. With shorter pieces, the hardware would read those of
/// other threads, too. They are short in tests, so that short rows have several.
const PIECE: usize = if cfg!(debug_assertions) { 8 } else { 128 };

/// The updates cut into stretches, one after the other in their order.
pub(crate) fn stretches<'i, 's>(
    space: &Space<'i>,
    src: &DynView<'s>,
    count: usize,
) -> Vec<(Space<'i>, DynView<'s>)> {
    let outermost = space.axes.iter().position(|a| a.len > 1);
    let cuts = outermost.and_then(|axis| {
        let len = space.axes[axis].len;
        let parts = count.clamp(1, len);
        let ends = (0..parts).map(|n| (n * len / parts, (n + 1) * len / parts));
        ends.map(|(from, to)| {
            space
                .stretch(axis, from, to - from)
                .zip(src.narrow(axis, from, to - from))
        })
        .collect()
    });
    cuts.unwrap_or_else(|| vec![(space.clone(), src.clone())])
}

/// Why a run stopped.
#[derive(Debug)]
pub enum Fault {
    /// Some index value names no cell.
    OutOfBounds,
    Problem(Problem),
}

impl Fault {
    /// As a problem. `find` looks for the index value that names no cell.
    pub(crate) fn into_problem(self, find: impl FnOnce() -> Problem) -> Problem {
        match self {
            Self::Problem(problem) => problem,
            Self::OutOfBounds => find(),
        }
    }

    /// The fault that made the others stop, if there is one.
    pub(crate) fn first(mut faults: Vec<Self>) -> Result<(), Self> {
        let interrupted = |fault: &Self| matches!(fault, Self::Problem(Problem::Interrupted));
        let cause = faults.iter().position(|fault| !interrupted(fault));
        match faults.is_empty() {
            true => Ok(()),
            false => Err(faults.swap_remove(cause.unwrap_or(0))),
        }
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
pub struct Outputs<'o> {
    pub dst: DynViewMut<'o>,
    /// Positions of winners: one per cell, of the destination's shape.
    pub arg: Option<DynViewMut<'o>>,
    pub before: Before<'o>,
    /// Where in which block of the destination the updates go, if that is known.
    pub lists: Option<&'o CachedBucketLists>,
}

/// What is to be done about a destination before the first update.
#[derive(Clone, Copy)]
pub enum Before<'o> {
    /// Nothing: it is as it should be.
    Nothing,
    /// It holds anything, and should be zeros (`Begin::Zeros`).
    Zeros,
    /// Likewise, it should be this (`Begin::Blocks`).
    Blocks(&'o LazyInit<'o>),
}

/// What the index values of a row add to its offset.
pub(crate) fn terms(space: &Space<'_>, cut: &Cut) -> SmallVec<[Term; 2]> {
    let terms = space.lookups.iter().zip(&cut.lookup_aux);
    terms
        .map(|(lookup, &aux)| Term {
            limit: lookup.limit,
            from: lookup.from,
            len: space.dst[lookup.axis].0,
            dst: space.dst[lookup.axis].1,
            aux,
            drop: space.bounds.drops(),
            own: lookup.own,
        })
        .collect()
}

/// What a run goes over, if nobody asks for numbers of the destination's rows.
pub(crate) fn unnumbered<'g>(cut: &'g Cut, terms: &'g [Term]) -> Geometry<'g> {
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
pub(crate) fn unfit() -> Fault {
    Fault::Problem(Problem::Layout {
        argument: "destination".into(),
        why: "its updates would leave it, or it overlaps itself or them".into(),
    })
}

/// A walk with its index and its monitor: what every pass goes over.
pub(crate) struct Pass<'p, 'a, 'm> {
    pub(crate) reader: Reader<'p, 'p>,
    pub(crate) walk: &'p Walk<'a>,
    pub(crate) progress: &'p mut Progress<'m>,
}

impl Pass<'_, '_, '_> {
    /// Joins all updates into their cells.
    pub(crate) fn join(&mut self, direct: &mut Direct) -> Result<(), Fault> {
        self.join_from(Cursor::new(self.walk), direct)
    }

    /// Likewise, those from a place on.
    pub(crate) fn join_from(
        &mut self,
        mut cursor: Cursor<'_, '_>,
        direct: &mut Direct,
    ) -> Result<(), Fault> {
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

    pub(crate) fn each(&mut self, work: impl FnMut(&mut Block)) -> Result<(), Fault> {
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
    pub(crate) fn step(&mut self, rows: usize) -> Result<bool, Fault> {
        match rows == 0 || self.progress.step(rows.saturating_mul(self.walk.width())) {
            true => Ok(rows > 0),
            false => Err(Problem::Interrupted.into()),
        }
    }
}

/// One part of a run.
pub(crate) struct Part<'p, 'i> {
    pub(crate) space: Space<'i>,
    pub(crate) src: DynView<'p>,
    pub(crate) dst: DynViewMut<'p>,
    pub(crate) arg: Option<DynViewMut<'p>>,
}

impl<'p, 'i> Part<'p, 'i> {
    pub(crate) fn whole(space: &Space<'i>, src: &DynView<'p>, outputs: Outputs<'p>) -> Self {
        Self {
            space: space.clone(),
            src: src.clone(),
            dst: outputs.dst,
            arg: outputs.arg,
        }
    }

    /// As many parts as asked for, or fewer.
    pub(crate) fn split(self, split: Split, parts: usize) -> Vec<Self> {
        match split {
            Split::Axis(k) => {
                let most = self.space.axes[k].len.max(1);
                self.along(k, parts.min(most))
            }
            Split::Owner => self.by_owner(parts.min(MOST_OWNERS)),
            Split::Updates => unreachable!("its parts share the destination"),
        }
    }

    fn along(mut self, k: usize, parts: usize) -> Vec<Self> {
        let mut done = Vec::with_capacity(parts);
        for left in (2..=parts).rev() {
            let size = self.space.axes[k].len;
            match self.cut_axis(k, (size / left).max(1).min(size)) {
                Ok((part, rest)) => {
                    done.push(part);
                    self = rest;
                }
                Err(whole) => {
                    self = *whole;
                    break;
                }
            }
        }
        done.push(self);
        done
    }

    /// Cuts the updates at `mid` of axis `k`, and the destination between the two.
    fn cut_axis(self, k: usize, mid: usize) -> Result<(Self, Self), Box<Self>> {
        let axis = &self.space.axes[k];
        let (len, Some(onto)) = (axis.len, axis.onto) else {
            return Err(Box::new(self));
        };
        if mid == 0 || mid >= len {
            return Err(Box::new(self));
        }
        let step = self.space.steps(k);
        let start = self.space.start[onto].cast_signed();
        // The first coordinate of the second half, or behind the first half, whichever is higher.
        let place = start + mid.cast_signed() * step;
        let cut = if step > 0 { place } else { place + 1 };
        let cut = cut.cast_unsigned();
        let halves = |from: usize, len: usize| -> Option<(Space<'i>, DynView<'p>)> {
            let mut space = self.space.clone();
            space.axes[k].len = len;
            for lookup in &mut space.lookups {
                lookup.index = lookup.index.narrow(k, from, len)?;
            }
            let at = start + from.cast_signed() * step;
            let low = if at.cast_unsigned() >= cut { cut } else { 0 };
            space.start[onto] = at.cast_unsigned() - low;
            space.dst[onto].0 = if low == 0 {
                cut
            } else {
                self.space.dst[onto].0 - cut
            };
            Some((space, self.src.narrow(k, from, len)?))
        };
        let (Some(first), Some(second)) = (halves(0, mid), halves(mid, len - mid)) else {
            return Err(Box::new(self));
        };
        let (first, second) = if step > 0 {
            (first, second)
        } else {
            (second, first)
        };
        Ok(pair(first, second, onto, cut, self.dst, self.arg))
    }

    fn by_owner(self, parts: usize) -> Vec<Self> {
        let columns = self.columns();
        let owned = self.owned(parts, columns.map_or(1, |(_, pieces)| pieces));
        let mut done = Vec::with_capacity(parts);
        let mut add = |part: Self, pieces| match columns {
            Some((axis, _)) if pieces > 1 => done.extend(part.along(axis, pieces)),
            _ => done.push(part),
        };
        let (mut rest, mut last) = (self, 1);
        for Owned { end, pieces } in owned {
            last = pieces;
            match rest.cut_rows(end) {
                Ok((part, others)) => {
                    add(part, pieces);
                    (rest, last) = (others, 1);
                }
                Err(whole) => rest = *whole,
            }
        }
        add(rest, last);
        done
    }

    /// Cuts the destination before a row.
    fn cut_rows(self, row: i64) -> Result<(Self, Self), Box<Self>> {
        let lookup = &self.space.lookups[0];
        let (axis, from) = (lookup.axis, lookup.from);
        let rows = self.space.dst[axis].0;
        let cut = usize::try_from(row)
            .ok()
            .and_then(|row| row.checked_sub(from));
        let Some(cut) = cut.filter(|cut| (1..rows).contains(cut)) else {
            return Err(Box::new(self));
        };
        let mut spaces = [self.space.clone(), self.space];
        spaces[0].dst[axis].0 = cut;
        spaces[1].dst[axis].0 -= cut;
        for lookup in &mut spaces[1].lookups {
            if lookup.axis == axis {
                lookup.from += cut;
            }
        }
        let [first, second] = spaces.map(|space| (space, self.src.clone()));
        Ok(pair(first, second, axis, cut, self.dst, self.arg))
    }

    /// The axis of the updates along which a hot row can be cut, and into how many pieces.
    fn columns(&self) -> Option<(usize, usize)> {
        let last = self.space.axes.len().checked_sub(1)?;
        let axis = &self.space.axes[last];
        let window = axis.index.iter().all(|&step| step == 0);
        let pieces = axis.len.saturating_mul(self.dst.dtype().size()) / PIECE;
        let cuts = window && obstacle(&self.space, Split::Axis(last)).is_none();
        (cuts && pieces > 1).then_some((last, pieces))
    }

    /// The parts into which a sample of the index cuts the destination.
    fn owned(&self, parts: usize, pieces: usize) -> Vec<Owned> {
        let lookup = &self.space.lookups[0];
        let mut sample: Vec<i64> = lookup
            .index
            .sample(owners::sampled(lookup.index.len(), parts))
            .into_iter()
            .filter_map(|v| self.space.bounds.resolve(v, lookup.limit).ok().flatten())
            .collect();
        sample.sort_unstable();
        owners::cut(&sample, parts, pieces)
    }
}

/// Two parts with the destination, and the arg output, cut between them.
fn pair<'p, 'i>(
    first: (Space<'i>, DynView<'p>),
    second: (Space<'i>, DynView<'p>),
    axis: usize,
    at: usize,
    dst: DynViewMut<'p>,
    arg: Option<DynViewMut<'p>>,
) -> (Part<'p, 'i>, Part<'p, 'i>) {
    let (low, high) = dst.split_at(axis, at).expect("the cut is on the axis");
    let (low_arg, high_arg) = match arg.map(|a| a.split_at(axis, at)) {
        Some(halves) => {
            let (low, high) = halves.expect("the arg output has the destination's shape");
            (Some(low), Some(high))
        }
        None => (None, None),
    };
    let part = |(space, src), dst, arg| Part {
        space,
        src,
        dst,
        arg,
    };
    (part(first, low, low_arg), part(second, high, high_arg))
}
