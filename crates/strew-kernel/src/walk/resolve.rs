//! What index values mean that are not used as they are.
//!
//! ```text
//! for each value:
//!     out = it is the ignored one, or negative and those leave their row out
//!     at = value, plus the size if it is negative and those count from the end
//!     at = the nearest cell, if that is meant
//!     value = -1 if out, otherwise at
//! ```
//!
//! The loop has no branch, so it vectorises.

/// A rule for the values of an index on an axis.
#[derive(Clone, Copy, Debug)]
pub struct Resolve {
    /// How many cells the axis has: at least one.
    pub size: i64,
    /// The value that leaves its row out.
    pub ignored: Option<i64>,
    /// Negative values leave their row out.
    pub drops_negative: bool,
    /// Negative values count from the end.
    pub wraps: bool,
    /// A value that is then outside means the nearest cell.
    pub clips: bool,
    /// A value that is then outside is an error.
    pub fails: bool,
}

impl Resolve {
    /// Replaces values by the cells that they mean, and those that leave their row out by -1. What
    /// is outside stays outside. False if a value is an error.
    pub fn apply(self, values: &mut [i64]) -> bool {
        vectorized_twice!(|_isa| {
            let all_if = |so: bool| -i64::from(so);
            let ignores = all_if(self.ignored.is_some());
            let ignored = self.ignored.unwrap_or(0);
            let drops = all_if(self.drops_negative);
            let fails = all_if(self.fails);
            let wrap = if self.wraps { self.size } else { 0 };
            let last = self.size - 1;
            let (low, high) = match self.clips {
                true => (0, last),
                false => (i64::MIN, i64::MAX),
            };
            let mut outside = 0;
            for value in values {
                let given = *value;
                let negative = given >> 63;
                // All bits of a row that is left out.
                let out = (ignores & all_if(given == ignored)) | (drops & negative);
                let at = (given + (wrap & negative)).max(low).min(high);
                // Negative if outside.
                outside |= fails & !out & (at | last.wrapping_sub(at));
                *value = at | out;
            }
            outside >= 0
        })
    }
}
