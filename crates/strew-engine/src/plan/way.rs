//! The cost model of a plan that owns its index: which way a run takes.

use crate::thresholds::{
    PLANNED_APART, PLANNED_FAR, PLANNED_FEW, PLANNED_HOT_PART, PLANNED_LONG, PLANNED_MANY,
    PLANNED_NEAR, PLANNED_NOWHERE, PLANNED_OUTSIDE, PLANNED_PAIR, PLANNED_SHARE, PLANNED_SHARED,
    PLANNED_STREAM, PLANNED_TABLED, PLANNED_WIDE, PLANNED_WORTH,
};
use std::fmt;
use std::str::FromStr;
use strew_kernel::error::Problem;
use strew_kernel::runtime::machine::L2;

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

/// The way of a fold of the user's own. `states`: bytes of the states of all cells. `listed`: the
/// updates of each row are listed, or in the order of the rows.
///
/// Grouped, a state stays in registers or in the nearest cache, but to list the updates costs a
/// sort of the index. In order, each update finds its state in a table, which a cache should hold.
pub(crate) fn choose_fold(states: usize, listed: bool) -> Way {
    match listed || states > L2 {
        true => Way::Grouped,
        false => Way::InOrder,
    }
}

/// Rows that take many times as many updates as others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hot {
    /// How many rows.
    pub rows: usize,
    /// How many updates they take together.
    pub updates: usize,
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug)]
pub struct PlannedWork {
    /// Rows of updates.
    pub updates: usize,
    /// Rows of the destination, and those that are touched.
    pub rows: usize,
    pub touched: usize,
    /// Bytes of a row that lie one after the other in the source; those of an element if it is all
    /// there is of a row.
    pub run: usize,
    /// Bytes of all rows of updates.
    pub bytes: usize,
    /// Rows lie in so many pieces.
    pub pieces: usize,
    /// A row is a single element.
    pub single: bool,
    /// Updates of the row that takes most.
    pub most: usize,
    /// Rows that take many times as many updates as others.
    pub hot: Hot,
    /// Updates lie in the order of their rows.
    pub in_order: bool,
    /// Different reductions that are asked for at once.
    pub reductions: usize,
    /// In order, the updates would go to a table first, for counts or for wide sums.
    pub staged: bool,
    /// Sums are wider than the elements.
    pub widened: bool,
    /// To join elements takes longer than to wait for them.
    pub computes: bool,
    /// In order, the whole destination would be gone over before or after the updates.
    pub swept: bool,
    /// Of a row's updates only the last one counts.
    pub assigns: bool,
    /// The positions of the winners are wanted as well.
    pub positions: bool,
    /// A grouped run gets so many.
    pub threads: usize,
}

impl PlannedWork {
    /// Bytes of a row of updates.
    fn row_bytes(&self) -> usize {
        self.bytes / self.updates.max(1)
    }

    /// Updates of an average row that is touched.
    fn share(&self) -> usize {
        self.updates / self.touched.max(1)
    }

    /// No row takes so large a part of the updates that its thread works longer than the others.
    fn is_balanced(&self) -> bool {
        self.most <= self.updates / PLANNED_SHARE
    }
}

/// The way of a run, and why.
///
/// Rows in order of their destinations are read one after the other either way; others at random
/// where updates are grouped. Short ones cost more so than to write at random, unless it saves
/// something.
pub fn choose(work: &PlannedWork) -> (Way, &'static str) {
    let destination = work.rows.saturating_mul(work.row_bytes());
    if work.bytes < PLANNED_WORTH {
        return (Way::InOrder, "there is little to do");
    }
    let gathers = !work.single || work.pieces == 1;
    if work.assigns && gathers && work.touched <= work.updates / 2 {
        return (Way::Grouped, "only the last update of each row is read");
    }
    if work.positions && gathers && (!work.single || work.in_order || destination > PLANNED_NEAR) {
        return (
            Way::Grouped,
            "each row keeps its winners' positions in the nearest cache",
        );
    }
    if work.swept && destination / 2 > work.bytes && work.pieces == 1 {
        return (Way::Grouped, "only rows that take updates are gone over");
    }
    if work.single && work.pieces == 1 {
        return of_single(work, destination);
    }
    if work.reductions > 1 && work.run >= PLANNED_SHARED {
        return (
            Way::Grouped,
            "several reductions share the trip over the source",
        );
    }
    if work.share() < PLANNED_PAIR || work.single {
        return (Way::InOrder, "rows are read one after the other");
    }
    match work.in_order {
        true => of_rows_in_order(work),
        false => of_rows_at_random(work, destination),
    }
}

/// The way of single elements of a source in one piece. `destination` is its size in bytes.
fn of_single(work: &PlannedWork, destination: usize) -> (Way, &'static str) {
    if work.in_order && !work.widened && work.share() >= PLANNED_MANY {
        return (Way::Grouped, "the updates lie in the order of their rows");
    }
    if work.staged && destination > PLANNED_FAR {
        return (Way::Grouped, "each row is reduced without a table");
    }
    (Way::InOrder, "single updates are read one after the other")
}

/// The way of rows that come in the order of their destinations.
fn of_rows_in_order(work: &PlannedWork) -> (Way, &'static str) {
    let most = if work.widened {
        PLANNED_LONG
    } else {
        usize::MAX
    };
    let counted = work.staged && (PLANNED_SHARED..=most).contains(&work.run);
    let long = work.run >= PLANNED_LONG && work.bytes >= PLANNED_STREAM;
    let streams = work.is_balanced() && long && work.share() >= PLANNED_FEW;
    if counted && (work.share() >= PLANNED_FEW || !work.widened) {
        (Way::Grouped, "each row is reduced without a table")
    } else if streams && !work.widened && !work.computes {
        (Way::Grouped, "each row of the destination is written once")
    } else {
        (Way::InOrder, "rows are read one after the other")
    }
}

/// The way of rows that come in any order. `destination` is its size in bytes.
fn of_rows_at_random(work: &PlannedWork, destination: usize) -> (Way, &'static str) {
    if work.share() < PLANNED_FEW {
        return (Way::InOrder, "rows are read one after the other");
    }
    // Threads that read what each has for itself are in each other's way less than those that
    // write.
    let several_threads =
        work.threads > 1 && work.bytes >= PLANNED_OUTSIDE && destination >= PLANNED_APART;
    let hot = work.hot.rows.saturating_mul(work.row_bytes());
    let spread = work.hot.updates <= work.updates / PLANNED_HOT_PART || hot >= PLANNED_OUTSIDE;
    let enough = if work.staged && !work.widened && destination >= PLANNED_OUTSIDE {
        PLANNED_TABLED
    } else if several_threads || (spread && destination >= PLANNED_NOWHERE) {
        PLANNED_SHARED
    } else if spread && work.bytes >= 2 * PLANNED_NOWHERE && destination >= PLANNED_APART {
        PLANNED_WIDE
    } else {
        usize::MAX
    };
    match work.run >= enough && work.is_balanced() && !work.computes {
        true => (Way::Grouped, "each row of the destination is written once"),
        false => (Way::InOrder, "rows are read one after the other"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Hot, PlannedWork, Way, choose};

    /// Means of single float32 values in any order, into so many cells.
    fn means(rows: usize) -> PlannedWork {
        let updates = 100_000_000;
        PlannedWork {
            updates,
            rows,
            touched: rows,
            run: 4,
            bytes: 4 * updates,
            pieces: 1,
            single: true,
            most: 100,
            hot: Hot::default(),
            in_order: false,
            reductions: 1,
            staged: true,
            widened: false,
            computes: false,
            swept: false,
            assigns: false,
            positions: false,
            threads: 1,
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
        let sorted = |touched, widened| PlannedWork {
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
    fn rows_in_order_are_grouped_where_registers_hold_one() {
        let sorted = |run| PlannedWork {
            run,
            single: false,
            in_order: true,
            ..means(1000)
        };
        assert_eq!(choose(&sorted(64)).0, Way::InOrder);
        assert_eq!(choose(&sorted(128)).0, Way::Grouped);
        assert_eq!(choose(&sorted(4096)).0, Way::Grouped);
        let pairs = |rest| PlannedWork {
            touched: 50_000_000,
            ..rest
        };
        assert_eq!(choose(&pairs(sorted(128))).0, Way::Grouped);
        let widened = |run| PlannedWork {
            widened: true,
            ..sorted(run)
        };
        assert_eq!(choose(&widened(256)).0, Way::Grouped);
        assert_eq!(choose(&widened(257)).0, Way::InOrder);
        assert_eq!(choose(&pairs(widened(128))).0, Way::InOrder);
        // Sums that need no table, of many bytes.
        let sums = |run, bytes| PlannedWork {
            staged: false,
            bytes,
            ..sorted(run)
        };
        assert_eq!(choose(&sums(256, 128 << 20)).0, Way::Grouped);
        assert_eq!(choose(&sums(255, 128 << 20)).0, Way::InOrder);
        assert_eq!(choose(&sums(256, (128 << 20) - 1)).0, Way::InOrder);
        assert_eq!(choose(&pairs(sums(256, 128 << 20))).0, Way::InOrder);
    }

    #[test]
    fn rows_at_random_are_grouped_where_the_destination_is_far() {
        let far = means(1000);
        let rows = |rows, run| PlannedWork {
            rows,
            touched: rows,
            run,
            updates: 1 << 20,
            bytes: run << 20,
            most: 1 << 17,
            single: false,
            staged: false,
            ..far
        };
        let way = |work| choose(&work).0;
        assert_eq!(way(rows(4096, 256)), Way::Grouped);
        assert_eq!(way(rows(4095, 256)), Way::InOrder);
        assert_eq!(way(rows(1 << 18, 128)), Way::Grouped);
        assert_eq!(way(rows((1 << 18) - 1, 128)), Way::InOrder);
        let two = |rows| PlannedWork { threads: 2, ..rows };
        assert_eq!(way(two(rows(8192, 128))), Way::Grouped);
        assert_eq!(way(two(rows(8191, 128))), Way::InOrder);
        assert_eq!(way(two(rows(1 << 18, 64))), Way::InOrder);
        let wide = rows(1 << 18, 256);
        let staged = PlannedWork {
            staged: true,
            ..rows(1 << 18, 64)
        };
        assert_eq!(way(staged), Way::Grouped);
        assert_eq!(way(wide), Way::Grouped);
        assert_eq!(
            way(PlannedWork {
                most: (1 << 17) + 1,
                ..wide
            }),
            Way::InOrder
        );
        assert_eq!(
            way(PlannedWork {
                touched: (1 << 18) + 1,
                ..wide
            }),
            Way::InOrder
        );
        // Hot rows stay in a cache; two threads that read in order would both read all.
        let updates = (1 << 18) + 1;
        let hot = |rows| PlannedWork {
            hot: Hot { rows, updates },
            ..wide
        };
        assert_eq!(way(hot(1000)), Way::InOrder);
        assert_eq!([way(two(hot(1000))), way(hot(1 << 16))], [Way::Grouped; 2]);
        assert_eq!(
            way(PlannedWork {
                computes: true,
                ..wide
            }),
            Way::InOrder
        );
    }
}
