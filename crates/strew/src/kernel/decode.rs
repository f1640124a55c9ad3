//! Index values to offsets in one pass: read, checked and scaled without a stop in between.

use crate::tensor::DynView;

/// What an index value becomes: `base` plus the value times `factor`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) base: isize,
    pub(crate) factor: isize,
}

/// Sets `to` to what index values become that begin at byte offset `at` and are
/// `stride` bytes apart. False if one of them is not below `limit`, or outside the view.
pub(crate) fn place_integers(
    index: &DynView<'_>,
    (at, stride): (isize, isize),
    limit: usize,
    scale: Scale,
    to: &mut [isize],
) -> bool {
    vectorized!(place(index, (at, stride), limit, scale, to))
}

#[inline(always)]
fn place(
    index: &DynView<'_>,
    (at, stride): (isize, isize),
    limit: usize,
    scale: Scale,
    to: &mut [isize],
) -> bool {
    // Both comparisons at once, without a branch, so that they vectorise. No axis is longer than
    // isize::MAX.
    let last = limit as i64 - 1;
    let mut outside = 0;
    let Scale { base, factor } = scale;
    let count = to.len();
    let read = if factor.cast_unsigned().is_power_of_two() {
        // Shifts vectorise on every instruction set, products of 64 bits do not.
        let shift = factor.trailing_zeros();
        index.each_integer(at, stride, count, |i, value| {
            outside |= value | (last - value.max(0));
            to[i] = base.wrapping_add((value << shift) as isize);
        })
    } else {
        index.each_integer(at, stride, count, |i, value| {
            outside |= value | (last - value.max(0));
            to[i] = base.wrapping_add((value as isize).wrapping_mul(factor));
        })
    };
    read && outside >= 0
}
