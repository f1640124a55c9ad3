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
    /// Rows of the destination, and those that are touched.
    pub(crate) rows: usize,
    pub(crate) touched: usize,
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
    /// Different reductions that are asked for at once.
    pub(crate) reductions: usize,
    /// In order, the updates would go to a table first, for counts or for wide sums.
    pub(crate) staged: bool,
    /// Sums are wider than the elements.
    pub(crate) widened: bool,
    /// In order, the whole destination would be gone over before or after the updates.
    pub(crate) swept: bool,
    /// Of a row's updates only the last one counts.
    pub(crate) assigns: bool,
    /// The positions of the winners are wanted as well.
    pub(crate) positions: bool,
}

/// Runs with fewer bytes are over before anything could be gained.
const WORTH: usize = 1 << 20;

/// A run of a row as long as this is worth a random access to it, if several reductions share it.
const SHARED: usize = 128;

/// From this many bytes on, a running row in registers gains nothing on one in the nearest cache.
const LONG: usize = 256;

/// Rows with fewer updates than this are over before the running row has paid.
const FEW: usize = 4;

/// So many single elements of a row, one after the other, are reduced faster where it is known that they are. In fewer, where a
/// row ends is foreseen wrongly too often; the loops that read an index do not care.
const MANY: usize = 48;

/// A table of this many bytes stays in the nearest caches.
const NEAR: usize = 256 << 10;

/// The table of a destination of so many bytes is in no cache. Before that, to read single updates at random costs up to six
/// times as much as to write into the table at random.
const FAR: usize = 64 << 20;

/// The way of a run, and why.
///
/// Rows in order of their destinations are read one after the other either way; others at random
/// where updates are grouped. That costs more than to write at random, unless it saves something.
pub(crate) fn choose(work: &Work) -> (Way, &'static str) {
    let destination = work.rows.saturating_mul(work.bytes / work.updates.max(1));
    if work.bytes < WORTH {
        return (Way::InOrder, "there is little to do");
    }
    let gathers = !work.single || work.pieces == 1;
    if work.assigns && gathers && work.touched <= work.updates / 2 {
        return (Way::Grouped, "only the last update of each row is read");
    }
    if work.positions && gathers && (!work.single || work.in_order || destination > NEAR) {
        return (
            Way::Grouped,
            "each row keeps its winners' positions in the nearest cache",
        );
    }
    if work.swept && destination / 2 > work.bytes && work.pieces == 1 {
        return (Way::Grouped, "only rows that take updates are gone over");
    }
    if work.single && work.pieces == 1 {
        if work.in_order && !work.widened && work.updates / work.touched.max(1) >= MANY {
            return (Way::Grouped, "the updates lie in the order of their rows");
        }
        if work.staged && destination > FAR {
            return (Way::Grouped, "each row is reduced without a table");
        }
        return (Way::InOrder, "single updates are read one after the other");
    }
    if work.reductions > 1 && work.run >= SHARED {
        return (
            Way::Grouped,
            "several reductions share the trip over the source",
        );
    }
    let several = work.updates / work.touched.max(1) >= FEW;
    if work.staged && work.in_order && several && (SHARED..LONG).contains(&work.run) {
        return (Way::Grouped, "each row is reduced without a table");
    }
    (Way::InOrder, "rows are read one after the other")
}

/// Bytes of updates that a thread must have: fewer are done before another one has woken up.
const EACH: usize = 1 << 20;

/// How many threads a grouped run, or a gather, of so many bytes gets.
pub(crate) fn threads(bytes: usize) -> usize {
    available().min(bytes / EACH).max(1)
}

#[cfg(test)]
mod tests {
    use super::{Way, Work, choose};

    /// Means of single float32 values in any order, into so many cells.
    fn means(rows: usize) -> Work {
        let updates = 100_000_000;
        Work {
            updates,
            rows,
            touched: rows,
            run: 4,
            bytes: 4 * updates,
            pieces: 1,
            single: true,
            in_order: false,
            reductions: 1,
            staged: true,
            widened: false,
            swept: false,
            assigns: false,
            positions: false,
        }
    }

    #[test]
    fn single_updates_are_grouped_where_no_cache_holds_a_table() {
        assert_eq!(choose(&means(100_000)).0, Way::InOrder);
        assert_eq!(choose(&means(16 << 20)).0, Way::InOrder);
        assert_eq!(choose(&means((16 << 20) + 1)).0, Way::Grouped);
    }

    #[test]
    fn updates_in_order_are_grouped_where_rows_have_many() {
        let sorted = |touched, widened| Work {
            touched,
            in_order: true,
            widened,
            ..means(touched)
        };
        let (many, several) = (100_000_000 / 48, 100_000_000 / 47);
        assert_eq!(choose(&sorted(many, false)).0, Way::Grouped);
        assert_eq!(choose(&sorted(several, false)).0, Way::InOrder);
        assert_eq!(choose(&sorted(many, true)).0, Way::InOrder);
    }

    #[test]
    fn sums_of_rows_are_grouped_where_registers_hold_one() {
        let sorted = |run| Work {
            run,
            single: false,
            in_order: true,
            ..means(1000)
        };
        assert_eq!(choose(&sorted(64)).0, Way::InOrder);
        assert_eq!(choose(&sorted(128)).0, Way::Grouped);
        assert_eq!(choose(&sorted(256)).0, Way::InOrder);
    }
}
