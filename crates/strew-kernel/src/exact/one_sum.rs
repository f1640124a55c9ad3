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
}
