//! One run made several: each part has destinations of its own, so parts need not wait for each
//! other, and within a part the order of the updates is kept.

use super::run::Outputs;
use super::space::Space;
use crate::tensor::{DynView, DynViewMut};

/// How a run is shared out among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Along an axis of the updates that walks along an axis of the destination of its own: each
    /// part takes its stretch of both.
    Axis(usize),
    /// Along the destination's axis that the first index component points into: each part reads
    /// the whole index and keeps what is its own.
    Owner,
    /// Along the updates: each part but the first has a table of the destination's shape for its stretch, and the tables are
    /// joined into the destination in their order. Only of reductions whose bits do not depend on how updates are
    /// bracketed: sums and products of integers, minima and maxima.
    Updates,
}

impl Split {
    /// The name by which it is shown.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Axis(_) => "by-axis",
            Self::Owner => "by-owner",
            Self::Updates => "by-updates",
        }
    }
}

/// A stretch shorter than this in bytes would share its cache lines with its neighbours.
const LINE: usize = 64;

/// A piece of a row shorter than this is not worth a thread of its own: the hardware's
/// prefetching brings in the rest of the row as well, so every thread reads all of the source.
const PIECE_OF_ROW: usize = 4096;

/// A part that reads the whole index gets its time back with rows of so many bytes,
const OWNED_ROW: usize = 32;

/// or where random access to the destination misses every cache: beyond so many bytes.
const OWNED_TABLE: usize = 1 << 20;

/// Values of the index that are looked at to cut the destination into parts of equal work, at least and at most,
const SAMPLE: [usize; 2] = [512, 4096];

/// and one of so many in between. With the square root of their number, parts become equal.
const SAMPLED: usize = 1024;

/// One part of a run.
pub(super) struct Part<'p, 'i> {
    pub(super) space: Space<'i>,
    pub(super) src: DynView<'p>,
    pub(super) dst: DynViewMut<'p>,
    pub(super) arg: Option<DynViewMut<'p>>,
}

impl<'p, 'i> Part<'p, 'i> {
    pub(super) fn whole(space: &Space<'i>, src: &DynView<'p>, outputs: Outputs<'p>) -> Self {
        Self {
            space: space.clone(),
            src: src.clone(),
            dst: outputs.dst,
            arg: outputs.arg,
        }
    }

    /// As many parts as asked for, or fewer.
    pub(super) fn split(self, split: Split, parts: usize) -> Vec<Self> {
        match split {
            Split::Axis(k) => {
                let most = self.space.axes[k].len.max(1);
                self.along(k, parts.min(most))
            }
            Split::Owner => self.by_owner(parts.min(SAMPLE[0])),
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

    fn by_owner(mut self, parts: usize) -> Vec<Self> {
        let mut done = Vec::with_capacity(parts);
        for cut in self.cuts(parts) {
            let lookup = &self.space.lookups[0];
            let (axis, from) = (lookup.axis, lookup.from);
            if cut <= from || cut - from >= self.space.dst[axis].0 {
                continue;
            }
            let mut spaces = [self.space.clone(), self.space.clone()];
            spaces[0].dst[axis].0 = cut - from;
            spaces[1].dst[axis].0 -= cut - from;
            for lookup in &mut spaces[1].lookups {
                if lookup.axis == axis {
                    lookup.from = cut;
                }
            }
            let [first, second] = spaces.map(|space| (space, self.src.clone()));
            let (part, rest) = pair(first, second, axis, cut - from, self.dst, self.arg);
            done.push(part);
            self = rest;
        }
        done.push(self);
        done
    }

    /// Where to cut the destination so that a sample of the index falls into equal parts.
    fn cuts(&self, parts: usize) -> Vec<usize> {
        let lookup = &self.space.lookups[0];
        let [least, most] = SAMPLE;
        let values = (lookup.index.len() / SAMPLED).clamp(least, most);
        let mut sample: Vec<i64> = lookup
            .index
            .sample(values)
            .into_iter()
            .filter_map(|v| self.space.bounds.resolve(v, lookup.limit).ok().flatten())
            .collect();
        sample.sort_unstable();
        if sample.is_empty() {
            return Vec::new();
        }
        (1..parts)
            .map(|n| sample[n * sample.len() / parts])
            .filter_map(|v| usize::try_from(v).ok())
            .collect()
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

/// Why a run cannot be shared out in this way, if so.
pub(super) fn obstacle(space: &Space<'_>, split: Split) -> Option<&'static str> {
    match split {
        Split::Owner if space.lookups.is_empty() => Some("there is no index"),
        Split::Owner | Split::Updates => None,
        Split::Axis(k) if k >= space.axes.len() => Some("the updates have no such axis"),
        Split::Axis(k) => {
            let onto = space.axes[k].onto;
            let pointed = |axis| space.lookups.iter().any(|l| l.axis == axis);
            let alone = onto.is_some_and(|axis| !pointed(axis))
                && space.axes.iter().filter(|a| a.onto == onto).count() == 1
                && space.steps(k) != 0;
            (!alone).then_some("the axis does not walk along an axis of the destination of its own")
        }
    }
}

/// The best way to share a run out among `threads`, if there is one.
pub(super) fn choose(space: &Space<'_>, size: usize, threads: usize) -> Option<Split> {
    if threads < 2 {
        return None;
    }
    let axes = &space.axes;
    let bytes_inside = |k: usize| -> usize {
        let inside = axes[k + 1..].iter().map(|a| a.len);
        inside.product::<usize>().saturating_mul(size)
    };
    let varies = |k: usize| axes[k].index.iter().any(|&s| s != 0);
    let good = |&k: &usize| {
        let stretch = (axes[k].len / threads).saturating_mul(bytes_inside(k));
        let least = if varies(k) || space.lookups.is_empty() {
            LINE
        } else {
            PIECE_OF_ROW
        };
        obstacle(space, Split::Axis(k)).is_none() && axes[k].len >= threads && stretch >= least
    };
    // The outermost axis leaves the longest stretches. One along which the index varies is best
    // of all: no part reads what another does.
    let mut splits = (0..axes.len()).filter(good);
    if let Some(k) = splits.clone().find(|&k| varies(k)).or(splits.next()) {
        return Some(Split::Axis(k));
    }
    let owner = space.lookups.first()?;
    let (rows, stride) = space.dst[owner.axis];
    let window = axes
        .iter()
        .rev()
        .take_while(|a| a.index.iter().all(|&s| s == 0));
    let row_bytes = window
        .map(|a| a.len)
        .product::<usize>()
        .saturating_mul(size);
    let reach = stride.unsigned_abs().saturating_mul(rows);
    let pays = row_bytes >= OWNED_ROW || reach >= OWNED_TABLE;
    (rows >= threads && pays).then_some(Split::Owner)
}
