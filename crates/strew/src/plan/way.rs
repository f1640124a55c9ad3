//! The cost model of a plan that owns its index: which way a run takes.

use crate::error::Problem;
use crate::threads::available;
use std::fmt;
use std::str::FromStr;

/// A way to run a plan. Both give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Way {
    /// The updates one after the other, as without a plan, but for the checks of the index.
    InOrder,
    /// Row by row of the destination: each takes all its updates and is written once.
    Grouped,
}

impl Way {
    /// Every way.
    pub const ALL: [Self; 2] = [Self::InOrder, Self::Grouped];

    /// The name by which it is shown and forced.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InOrder => "in-order",
            Self::Grouped => "grouped",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Way {
    type Err = Problem;

    fn from_str(name: &str) -> Result<Self, Problem> {
        let found = Self::ALL.into_iter().find(|w| w.name() == name);
        found.ok_or_else(|| Problem::Value {
            argument: "way".into(),
            value: name.to_owned(),
            expected: "it must be in-order or grouped".into(),
        })
    }
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// Rows of updates.
    pub(crate) updates: usize,
    /// Rows of the destination.
    pub(crate) rows: usize,
    /// Bytes of a row that lie one after the other in the source; those of an element if it is all
    /// there is of a row.
    pub(crate) run: usize,
    /// Bytes of all rows of updates.
    pub(crate) bytes: usize,
    /// Rows lie in so many pieces.
    pub(crate) pieces: usize,
    /// A row is a single element.
    pub(crate) single: bool,
    /// Updates lie in the order of their rows.
    pub(crate) in_order: bool,
    /// Reductions that are asked for at once.
    pub(crate) reductions: usize,
}

/// Runs with fewer bytes are over before anything could be gained.
const WORTH: usize = 1 << 20;

/// A run of a row as long as this is worth a random access to it.
const LONG: usize = 64;

/// A destination of this many bytes stays in a near cache, whatever the order of the updates.
const NEAR: usize = 1 << 20;

/// Single updates go to a destination of this many bytes one cache miss each.
const FAR: usize = 64 << 20;

/// The way of a run, and why.
pub(crate) fn choose(work: &Work) -> (Way, &'static str) {
    let destination = work.rows.saturating_mul(work.bytes / work.updates.max(1));
    if work.bytes < WORTH {
        return (Way::InOrder, "there is little to do");
    }
    if work.single && work.pieces == 1 {
        if work.in_order {
            return (Way::Grouped, "the updates lie in the order of their rows");
        }
        // The source is read at random instead: that pays where it is smaller.
        if destination >= FAR && destination > work.bytes {
            return (
                Way::Grouped,
                "single updates all over a destination that no cache holds",
            );
        }
        return (Way::InOrder, "single updates are read one after the other");
    }
    if work.run < LONG {
        return (Way::InOrder, "rows are too short to be read at random");
    }
    if work.in_order {
        return (Way::Grouped, "the updates lie in the order of their rows");
    }
    if work.reductions > 1 {
        return (
            Way::Grouped,
            "several reductions share the trip over the source",
        );
    }
    if destination <= NEAR {
        return (Way::InOrder, "the destination stays in a near cache");
    }
    (Way::Grouped, "each row of the destination is written once")
}

/// Bytes of updates that a thread must have: fewer are done before another one has woken up.
const EACH: usize = 1 << 20;

/// How many threads a grouped run, or a gather, of so many bytes gets.
pub(crate) fn threads(bytes: usize) -> usize {
    available().min(bytes / EACH).max(1)
}
