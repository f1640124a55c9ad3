//! Turns index values into byte offsets in one pass: read, check, scale.
//!
//! ```text
//! outside = 0
//! for i, value in values:
//!     outside |= value | (limit - 1 - max(value, 0))    // negative if out of bounds
//!     to[i] = base + i * step + value * factor
//! return outside >= 0
//! ```
//!
//! The loop has no branch, so it vectorises. A factor that is a power of two becomes a shift,
//! because not every instruction set multiplies 64-bit lanes. Cost: one read and one store per
//! value. It relies on `DynView::each_integer` for reads that stay inside the index.

use crate::cpu::LINE;
use crate::cpu::prefetch::{prefetch, prefetch_second_level};
use crate::tensor::DynView;
use std::ops::RangeInclusive;

/// What the `i`th index value becomes: `base` plus `i` times `step` plus the value times `factor`.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub base: isize,
    pub step: isize,
    pub factor: isize,
    /// Only the value times `factor` counts, and is added to what is there.
    pub add: bool,
}

/// Index values one after the other.
trait Values {
    /// Calls `each` with each value and its number; false if they cannot be read.
    fn each(self, each: impl FnMut(usize, i64)) -> bool;
}

impl Values for &[i64] {
    #[inline(always)]
    fn each(self, mut each: impl FnMut(usize, i64)) -> bool {
        for (i, &value) in self.iter().enumerate() {
            each(i, value);
        }
        true
    }
}

/// Values of an index, from byte offset `at` on and `stride` bytes apart.
#[derive(Clone, Copy)]
pub struct Stretch<'s, 'a> {
    pub index: &'s DynView<'a>,
    pub at: isize,
    pub stride: isize,
    pub count: usize,
}

impl Values for Stretch<'_, '_> {
    #[inline(always)]
    fn each(self, each: impl FnMut(usize, i64)) -> bool {
        self.index
            .each_integer(self.at, self.stride, self.count, each)
    }
}

/// Values that are looked at together, while as many a little later are fetched.
const FETCHED: usize = 128;

impl Stretch<'_, '_> {
    /// Whether all values are in the range. False also if they cannot be read.
    pub fn all_within(self, range: &RangeInclusive<i64>) -> bool {
        let (low, high) = (*range.start(), *range.end());
        vectorized!(|_| (0..self.count).step_by(FETCHED).all(|from| {
            let piece = Self {
                at: self.at + from.cast_signed() * self.stride,
                count: FETCHED.min(self.count - from),
                ..self
            };
            let bytes = FETCHED.cast_signed() * self.stride;
            if (1..=PAGE).contains(&bytes) {
                let later = self.index.as_ptr().wrapping_offset(piece.at + PAGE);
                prefetch(later, bytes.cast_unsigned() / LINE);
            }
            let mut outside = false;
            let read = piece.each(|_, value| outside |= value < low || value > high);
            read && !outside
        }))
    }
}

/// How far ahead, in bytes: the hardware's own prefetching ends with the page.
const PAGE: isize = 4096;

impl Scale {
    /// A value times `factor`, from `base` on.
    pub(crate) fn of(base: isize, factor: isize) -> Self {
        Self {
            base,
            step: 0,
            factor,
            add: false,
        }
    }

    /// A value times `factor`, added to what is there.
    pub(crate) fn adding(factor: isize) -> Self {
        Self {
            add: true,
            ..Self::of(0, factor)
        }
    }

    /// Makes values offsets. False if one of them is not below `limit`, or outside the index.
    pub(crate) fn values(self, values: &[i64], limit: usize, to: &mut [isize]) -> bool {
        vectorized!(|_| self.place(values, limit, &mut to[..values.len()]))
    }

    /// `values` for index values that are read from the index in the same pass.
    pub fn stretch(self, values: Stretch<'_, '_>, limit: usize, to: &mut [isize]) -> bool {
        let bytes = values.stride.saturating_mul(values.count.cast_signed());
        if (1..=PAGE).contains(&bytes) {
            let later = values.index.as_ptr().wrapping_offset(values.at + PAGE);
            prefetch_second_level(later, bytes.cast_unsigned() / LINE);
        }
        vectorized!(|_| self.place(values, limit, &mut to[..values.count]))
    }

    #[inline(always)]
    fn place(self, values: impl Values, limit: usize, to: &mut [isize]) -> bool {
        let Self {
            base,
            step,
            factor,
            add,
        } = self;
        // Both comparisons at once, without a branch, so that they vectorise. No axis is longer
        // than isize::MAX.
        let last = limit as i64 - 1;
        let mut outside = 0;
        let mut check = |value: i64| outside |= value | (last - value.max(0));
        // Shifts vectorise on every instruction set, products of 64 bits do not.
        let shift = factor.trailing_zeros();
        let ramp = |i: usize| base.wrapping_add(i.cast_signed().wrapping_mul(step));
        let read = match (factor.cast_unsigned().is_power_of_two(), add) {
            (true, false) => values.each(|i, value| {
                check(value);
                to[i] = ramp(i).wrapping_add((value << shift) as isize);
            }),
            (true, true) => values.each(|i, value| {
                check(value);
                to[i] = to[i].wrapping_add((value << shift) as isize);
            }),
            (false, false) => values.each(|i, value| {
                check(value);
                to[i] = ramp(i).wrapping_add((value as isize).wrapping_mul(factor));
            }),
            (false, true) => values.each(|i, value| {
                check(value);
                to[i] = to[i].wrapping_add((value as isize).wrapping_mul(factor));
            }),
        };
        read && outside >= 0
    }
}
