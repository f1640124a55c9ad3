//! The exact sum of one cell, without allocations.

use crate::exact::digits::{LIMIT, PLANES, carry_of, flag_of, number_of, pieces, special};
use crate::exact::number::Format;

/// An exact sum.
pub(crate) struct OneSum {
    entries: [i64; PLANES],
    flags: u8,
    /// Additions since the last carry.
    pending: u64,
}

impl OneSum {
    pub(crate) const fn new() -> Self {
        Self {
            entries: [0; PLANES],
            flags: 0,
            pending: 0,
        }
    }

    pub(crate) fn add(&mut self, value: f64) {
        let Some((first, pieces)) = pieces(value) else {
            self.flags |= flag_of(value);
            return;
        };
        if self.pending == LIMIT {
            self.carry();
        }
        self.pending += 1;
        for (entry, piece) in self.entries[first..].iter_mut().zip(pieces) {
            *entry += piece;
        }
    }

    /// Adds `integer * 2^(position - 1074)`.
    pub(crate) fn add_integer(&mut self, integer: i64, position: u32) {
        if self.pending == LIMIT {
            self.carry();
        }
        self.pending += 1;
        let shifted = u128::from(integer.unsigned_abs()) << (position % 32);
        for (i, entry) in self.entries[(position / 32) as usize..]
            .iter_mut()
            .take(3)
            .enumerate()
        {
            let piece = i64::from((shifted >> (32 * i)) as u32);
            *entry += if integer < 0 { -piece } else { piece };
        }
    }

    /// Sets an entry, whose absolute value is at most 2^62. [`carry`](Self::carry) comes before any
    /// addition.
    pub(crate) fn set_entry(&mut self, number: usize, entry: i64) {
        self.entries[number] = entry;
    }

    pub(crate) fn add_flags(&mut self, flags: u8) {
        self.flags |= flags;
    }

    /// The entries, which [`carry`](Self::carry) has brought into -2^31..2^31. `None` if a NaN or
    /// an infinity was added.
    pub(crate) fn finite(&self) -> Option<&[i64; PLANES]> {
        (self.flags == 0).then_some(&self.entries)
    }

    pub(crate) fn carry(&mut self) {
        for number in 0..PLANES - 1 {
            let carry = carry_of(self.entries[number]);
            self.entries[number] -= carry << 32;
            self.entries[number + 1] += carry;
        }
        self.pending = 1;
    }

    /// As [`Planes::round`](crate::exact::planes::Planes::round).
    pub(crate) fn round(&self, format: Format) -> f64 {
        if let Some(special) = special(self.flags) {
            return special;
        }
        let number = number_of(|number| self.entries[number], 0..PLANES);
        number.map_or(0.0, |number| number.round(format))
    }

    /// As [`Planes::mean`](crate::exact::planes::Planes::mean).
    pub(crate) fn mean(&self, count: u64, format: Format) -> f64 {
        if count == 0 {
            return f64::NAN;
        }
        if let Some(special) = special(self.flags) {
            return special;
        }
        let number = number_of(|number| self.entries[number], 0..PLANES);
        number.map_or(0.0, |number| number.divide(count).round(format))
    }
}
