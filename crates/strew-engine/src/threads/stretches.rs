//! The updates of each part of an index that ascends.
//!
//! ```text
//! each thread checks that a stretch of the index ascends
//! cut the destination among owners
//! each owner finds by bisection where its own updates begin and end, and takes these alone
//! ```
//!
//! Cost: the index is read twice, whatever number of threads there is.

use crate::strides::space::Space;
use crate::threads::ascending::indexed_axis;
use crate::threads::crew::Crew;
use crate::threads::pass::{Fault, MOST_OWNERS, Part};
use strew_kernel::tensor::DynView;

/// An index that was found to ascend, and to name rows that are there.
pub(crate) struct Ascending<'i> {
    /// The axis of the updates along which it varies.
    axis: usize,
    /// Its values along this axis.
    index: DynView<'i>,
}

impl<'i> Ascending<'i> {
    /// Checks the whole index, a stretch on each thread; `None` if it does not ascend.
    pub(crate) fn check(space: &Space<'i>, crew: &Crew<'_>) -> Result<Option<Self>, Fault> {
        let Some(axis) = indexed_axis(space) else {
            return Ok(None);
        };
        let lookup = &space.lookups[0];
        let mut others = (0..space.axes.len()).rev().filter(|&other| other != axis);
        let line = others.try_fold(lookup.index.clone(), |index, other| index.select(other, 0));
        let Some(index) = line else {
            return Ok(None);
        };
        let len = index.len();
        let threads = crew.threads().min(MOST_OWNERS).min(len.max(1));
        // Neighbours have a value in common.
        let stretches = (0..threads).filter_map(|n| {
            let (from, to) = (n * len / threads, (n + 1) * len / threads);
            index.narrow(0, from, (to + 1).min(len) - from)
        });
        let stretches: Vec<_> = stretches.filter(|stretch| !stretch.is_empty()).collect();
        let found = crew.each(stretches, |stretch, _| {
            Ok(stretch.ascends_below(lookup.limit))
        })?;
        let ascends = found.into_iter().all(|ascends| ascends);
        Ok(ascends.then_some(Self { axis, index }))
    }

    /// A part of a run by owner with those updates alone that go to its rows.
    pub(crate) fn own<'p>(&self, mut part: Part<'p, 'i>) -> Part<'p, 'i> {
        let lookup = &part.space.lookups[0];
        let rows = part.space.dst[lookup.axis].0;
        let from = self.first_from(lookup.from);
        let to = self.first_from(lookup.from.saturating_add(rows));
        // Another thread may change the index meanwhile.
        let len = to.saturating_sub(from);
        let index = lookup.index.narrow(self.axis, from, len);
        // They lie in the index that was checked. Otherwise the part would look at all updates.
        if let (Some(index), Some(src)) = (index, part.src.narrow(self.axis, from, len)) {
            part.space.axes[self.axis].len = len;
            part.space.lookups[0].index = index;
            part.space.lookups[0].own = true;
            part.src = src;
        }
        part
    }

    /// The number of the first update that goes to this row or to one behind it.
    fn first_from(&self, row: usize) -> usize {
        let stride = self.index.layout().strides()[0];
        let before = |at: usize| {
            let mut value = [0];
            let read = self
                .index
                .read_integers(at.cast_signed() * stride, 0, &mut value);
            read && usize::try_from(value[0]).is_ok_and(|value| value < row)
        };
        let (mut low, mut high) = (0, self.index.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match before(middle) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}
