//! Index values of a run, read and checked by the rule of their axis.

use crate::describe::bounds::Rule;
use crate::strides::space::{Cut, Lookup};
use strew_kernel::walk::cursor::Read;
use strew_kernel::walk::decode::Stretch;
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

    fn wraps(&self, lookup: usize) -> bool {
        self.rules[lookup].wraps()
    }

    fn keeps_inside(&self, lookup: usize) -> bool {
        self.rules[lookup].keeps_inside()
    }

    fn resolve(&self, lookup: usize, values: &mut [i64]) -> Result<(), OutOfBounds> {
        self.rules[lookup].apply(values)
    }
}
