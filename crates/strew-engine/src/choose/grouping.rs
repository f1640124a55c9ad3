//! Whether updates are sorted by row of the destination first, so that each row is written once.

use crate::choose::request::Run;
use crate::choose::strategy::Strategy;
use crate::scatter::space::Cut;
use strew_kernel::groups::csr::Csr;
use strew_kernel::groups::row_ids::Facts;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::machine::{L2, L3};
use strew_kernel::runtime::threads::available;
use strew_kernel::tensor::{DType, DynView};
use strew_kernel::update::in_place::has_short_lines;

/// Minimum bytes of a row of updates.
const ROW: usize = 32;

/// The same for an extreme whose rows come in order.
const SORTED_ROW: usize = 16;

/// Minimum bytes of all updates.
const BYTES: usize = 4 * L2;

/// Minimum bytes of a row for which reading the source at random pays.
const RUN: usize = 256;

/// The same where grouping saves a table.
const TABLED: usize = 128;

/// Minimum bytes of a destination that no cache holds: for one thread, and for several.
const FAR: [usize; 2] = [L3, L3 / 2];

/// Minimum average number of updates per row. The second value is for sums on one thread, which
/// gain less.
const SHARE: [usize; 2] = [4, 8];

/// The groups may take one byte of memory per this many bytes of updates.
const ROOM: usize = 4;

/// Maximum size of the sample of the index that tells its order.
const SAMPLE: usize = 4096;

/// Index values per value of the sample, at least.
const SAMPLED: usize = 64;

/// Minimum bytes of updates whose rows come in order. The source is read in order either way. With
/// fewer bytes, writing each row of the destination once gains nothing.
const STREAM: usize = 4 * L3;

/// The reason to group the updates by row; `None` if they are not grouped.
pub(crate) fn grouping(run: &Run<'_, '_>) -> Option<&'static str> {
    match (run.request.ungrouped, run.request.force) {
        (None, Some(Strategy::Grouped)) => Some("it was asked for"),
        (None, None) => pays(run),
        _ => None,
    }
}

/// The reason why grouping pays; `None` if it does not.
fn pays(run: &Run<'_, '_>) -> Option<&'static str> {
    let (space, request, cut) = (run.space, run.request, run.cut);
    let dtype = run.types.src;
    let row = cut.width().saturating_mul(dtype.size());
    let bytes = cut.count().saturating_mul(row);
    let [ref lookup] = space.lookups[..] else {
        return None;
    };
    let many =
        bytes >= BYTES && cut.cell_count <= cut.count() / 2 && u32::try_from(cut.count()).is_ok();
    let extreme = matches!(request.combine, Combine::Min(_) | Combine::Max(_));
    let least = if extreme { SORTED_ROW } else { ROW };
    if !is_dense(cut, dtype) || !many || row < least {
        return None;
    }
    if space.arg.is_some() {
        let why = "each row keeps its winners' positions in the nearest cache";
        return (row >= ROW).then_some(why);
    }
    let (updates, rows) = (cut.count(), cut.cell_count);
    let sorted = Facts {
        sorted: true,
        ..Facts::default()
    };
    let without_order = Csr::room(updates, rows, sorted, rows);
    if without_order > room(bytes) || request.combine.computes(dtype) {
        return None;
    }
    let several = available() > 1;
    let counted = request.mean.is_some();
    let widens = request.combine.folds() && dtype.accumulator() != dtype;
    let exact = request.exact;
    let long = match (counted, widens) {
        _ if exact => TABLED,
        (true, false) => TABLED,
        (_, true) if several => TABLED,
        _ => RUN,
    };
    let quick = request.combine.folds() && !widens && !counted && !exact;
    let share = SHARE[usize::from(quick && !several)];
    let far = FAR[usize::from(several)];
    let long_extreme = extreme && !joins_fast(run);
    let long_enough = match counted {
        true => row >= TABLED,
        false if exact => updates / SHARE[0] >= rows,
        false => updates / SHARE[0] >= rows && (long_extreme || row >= RUN && bytes >= STREAM),
    };
    let in_order = long_enough && (exact || !widens);
    // The table of exact sums has 8 bytes per element of a row.
    let cell = if exact {
        size_of::<i64>()
    } else {
        dtype.size()
    };
    let destination = rows.saturating_mul(cut.width()).saturating_mul(cell);
    let apart = row >= long
        && updates / share >= rows
        && destination >= far
        && Csr::most(updates, rows) <= room(bytes);
    if !in_order && !apart {
        return None;
    }
    let sample = SAMPLE.min(updates / SAMPLED);
    match order(&lookup.index.sample(sample), rows) {
        Order::Ascending if in_order => Some("rows come in order, and each is written once"),
        // The sample only estimates the number of rows.
        Order::Spread(found) if apart && found >= far / row / 2 => {
            Some("rows are too far apart for the caches, and each is written once")
        }
        _ => None,
    }
}

/// Whether the rows are so short that updates in order join their cells as fast as memory gives
/// them.
fn joins_fast(run: &Run<'_, '_>) -> bool {
    has_short_lines(run.types.src, run.request.combine, run.cut.width())
}

/// Maximum bytes of the groups of updates of `bytes` bytes.
pub(crate) fn room(bytes: usize) -> usize {
    bytes / ROOM
}

/// Whether the source has no gaps, and the index has one value per row.
fn is_dense(cut: &Cut, dtype: DType) -> bool {
    let ([window], [rows]) = (&cut.window[..], &cut.rows[..]) else {
        return false;
    };
    let row = cut.width().saturating_mul(dtype.size());
    window.step.src == dtype.size().cast_signed() && rows.step.src == row.cast_signed()
}

/// A row is hot if the sample names it this many times as often as the average row. A cache holds
/// hot rows.
const HOT: usize = 4;

/// At most one of this many values of the sample may name a hot row.
const HOT_PART: usize = 4;

/// At most one of this many values may name the hottest row.
const HOTTEST_PART: usize = 8;

/// The order of the index, as its sample tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// No value is less than the one before it.
    Ascending,
    /// Nearly in order, or too many values name hot rows.
    Near,
    /// In no order. The number of rows is estimated, hot rows left out.
    Spread(usize),
}

/// Values of a sample that are less than the one before them.
fn falls(sample: &[i64]) -> usize {
    sample.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

/// Whether this many falls among `all` values make an index nearly one in order.
fn is_nearly(falls: usize, all: usize) -> bool {
    falls * 4 < all
}

/// What a sample of an index tells about its order and its hottest row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skew {
    /// Values of the sample, and how many of them name the hottest row.
    all: usize,
    most: usize,
    /// The values come in order, ascending or descending, or nearly so.
    pub(crate) ordered: bool,
}

impl Skew {
    /// Values of the sample.
    const SAMPLE: usize = 1024;

    pub(crate) fn of(index: &DynView<'_>) -> Self {
        let mut sample = index.sample(Self::SAMPLE);
        let (all, falls) = (sample.len(), falls(&sample));
        sample.sort_unstable();
        let most = sample.chunk_by(|a, b| a == b).map(<[i64]>::len).max();
        Self {
            all,
            most: most.unwrap_or(0),
            ordered: is_nearly(falls, all) || is_nearly(all - falls, all),
        }
    }

    /// Whether more than one of `part` updates goes to the hottest row.
    pub(crate) fn is_hotter(self, part: usize) -> bool {
        self.most.saturating_mul(part) > self.all
    }
}

/// The order of an index into `cells` rows, of which `sample` is a sample.
pub(crate) fn order(sample: &[i64], cells: usize) -> Order {
    let all = sample.len();
    let falls = falls(sample);
    let ascending = falls == 0;
    if !ascending && is_nearly(falls, all) {
        return Order::Near;
    }
    let mut sorted = sample.to_vec();
    sorted.sort_unstable();
    let often = HOT * (1 + all / cells.max(1));
    let (mut rest, mut alike, mut most) = (0, 0, 0);
    for same in sorted.chunk_by(|a, b| a == b).map(<[i64]>::len) {
        most = most.max(same);
        if same < often {
            rest += same;
            alike += same * (same - 1) / 2;
        }
    }
    let hot = all - rest;
    if most > all / HOTTEST_PART {
        Order::Near
    } else if ascending {
        Order::Ascending
    } else if hot > all / HOT_PART {
        Order::Near
    } else {
        Order::Spread(rest * rest.saturating_sub(1) / 2 / alike.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, order};
    use std::ops::Range;

    #[test]
    fn a_sample_tells_how_far_an_index_spreads() {
        let mut state = 1u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as i64
        };
        let mut sample = |size: i64| -> Vec<i64> { (0..4096).map(|_| next() % size).collect() };
        for size in [500, 5000, 100_000] {
            let Order::Spread(found) = order(&sample(size), size as usize) else {
                panic!("they come in no order");
            };
            assert!((found as f64 / size as f64 - 1.0).abs() < 0.5, "{found}");
        }
        let mut sorted = sample(100_000);
        sorted.sort_unstable();
        assert_eq!(order(&sorted, 100_000), Order::Ascending);
        sorted[1000] = 0;
        assert_eq!(order(&sorted, 100_000), Order::Near);
        // A tenth, and then a half, go to one row; and half of all to a tenth of the rows.
        let mut skewed = |tenths: i64, hot: i64| -> Order {
            let to = |row: i64| if row % 10 < tenths { row % hot } else { row };
            let sample: Vec<i64> = sample(100_000).into_iter().map(to).collect();
            order(&sample, 100_000)
        };
        let among = |rows: Range<usize>, order| match order {
            Order::Spread(found) => rows.contains(&found),
            _ => false,
        };
        assert!(among(50_000..200_000, skewed(1, 1)));
        assert_eq!([skewed(5, 1), skewed(5, 100)], [Order::Near; 2]);
        assert!(among(1..50_000, skewed(5, 10_000)));
        let same = [order(&[3], 5), order(&[3; 100], 5)];
        assert_eq!((order(&[], 5), same), (Order::Ascending, [Order::Near; 2]));
    }
}
