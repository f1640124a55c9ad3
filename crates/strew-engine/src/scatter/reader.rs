//! Index values of a run, read and checked by the rule of their axis.

use crate::scatter::bounds::Rule;
use crate::scatter::space::{Cut, Lookup};
use strew_kernel::walk::cursor::Read;
use strew_kernel::walk::decode::{Scale, Stretch};
use strew_kernel::walk::filter::IndexFilter;
use strew_kernel::walk::geometry::OutOfBounds;

/// Reads index values for a run of rows.
pub(crate) struct Reader<'s, 'a> {
    pub(crate) lookups: &'s [Lookup<'a>],
    pub(crate) rules: &'s [Rule],
    pub(crate) cut: &'s Cut,
    /// The coordinate that rows are counted from; none: the first.
    pub(crate) origin: &'s [usize],
}

impl Read for Reader<'_, '_> {
    fn read(&self, lookup: usize, at: &[usize], values: &mut [i64]) -> Result<(), OutOfBounds> {
        let Stretch {
            index, at, stride, ..
        } = self.stretch(lookup, at, values.len());
        if !index.read_integers(at, stride, values) {
            return Err(OutOfBounds);
        }
        self.rules[lookup].apply(values)
    }

    fn offsets(
        &self,
        lookup: usize,
        at: &[usize],
        limit: usize,
        scale: Scale,
        to: &mut [isize],
    ) -> Result<bool, OutOfBounds> {
        if !self.rules[lookup].is_strict() {
            return Ok(false);
        }
        match scale.stretch(self.stretch(lookup, at, to.len()), limit, to) {
            true => Ok(true),
            false => Err(OutOfBounds),
        }
    }

    fn filter(
        &self,
        lookup: usize,
        at: &[usize],
        filter: IndexFilter,
        values: &mut [i64],
        places: &mut [i64],
    ) -> Result<usize, OutOfBounds> {
        let kept = if self.rules[lookup].is_strict() {
            filter.read(self.stretch(lookup, at, values.len()), values, places)
        } else {
            self.read(lookup, at, values)?;
            filter.in_place(values, places)
        };
        kept.ok_or(OutOfBounds)
    }

    fn stretch(&self, lookup: usize, at: &[usize], count: usize) -> Stretch<'_, '_> {
        let (mut offset, mut stride) = (0, 0);
        for (&k, steps) in at.iter().zip(&self.cut.index) {
            stride = steps[lookup];
            offset += k.cast_signed() * stride;
        }
        for (&k, steps) in self.origin.iter().zip(&self.cut.index) {
            offset += k.cast_signed() * steps[lookup];
        }
        Stretch {
            index: &self.lookups[lookup].index,
            at: offset,
            stride,
            count,
        }
    }

    fn is_plain(&self, lookup: usize) -> bool {
        self.rules[lookup].is_strict()
    }

    fn place(&self, lookup: usize, at: &[usize]) -> (*const u8, isize) {
        let Stretch {
            index, at, stride, ..
        } = self.stretch(lookup, at, 0);
        (index.as_ptr().wrapping_offset(at), stride)
    }
}
