//! The cost model: which strategy a run takes.

use crate::choose::plan_cost::threads;
use crate::choose::request::{Request, Types};
use crate::choose::split::{Split, choose as choose_split, obstacle};
use crate::choose::strategy::Strategy;
use crate::choose::tiles;
use crate::scatter::space::{Cut, Space};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::runtime::machine::{L2, L3, WAKE};
use strew_kernel::runtime::threads::available;
use strew_kernel::segment::csr::Csr;
use strew_kernel::tensor::DType;

/// A table of this many bytes costs nothing worth a second look.
const SMALL_TABLE: usize = L2;

/// A table with a row for every row of the destination pays while it has at most this many rows
/// per row of updates. Beyond, the touched rows are numbered by sorting.
const ROWS_PER_UPDATE: usize = 4;

/// A destination whose cells reach over more bytes than this misses the caches at nearly every
/// update, which costs more than to list the updates first.
const LISTED_REACH: usize = 2 * L3;

/// The list takes an update for so many bytes of the destination, or its blocks stay almost empty.
const LISTED_EVERY: usize = 256;

/// Why updates cannot be listed by block of the destination, if so.
fn unlisted(space: &Space<'_>, types: Types) -> Option<&'static str> {
    if space.arg.is_some() {
        Some("positions are not listed")
    } else {
        (types.dst != types.src).then_some("updates that are converted are not listed")
    }
}

/// Whether to list the updates pays.
fn list_pays(space: &Space<'_>, cut: &Cut) -> bool {
    // How far apart neighbours may be that differ in nothing but their index.
    let pointed = space.lookups.iter().map(|lookup| {
        let (rows, stride) = space.dst[lookup.axis];
        rows.saturating_mul(stride.unsigned_abs())
    });
    let reach = pointed.fold(0, usize::saturating_add);
    let every = reach / cut.count().max(1);
    let apart = cut.rows.last().is_some_and(|axis| axis.step.dst == 0);
    cut.width() == 1 && apart && reach >= LISTED_REACH && every <= LISTED_EVERY
}

/// Bytes of a row, and of all updates, from which on winners are rather looked for row by row than
/// with their positions beside the cells.
const GROUPED_ROW: usize = 32;

const GROUPED_BYTES: usize = 4 * L2;

/// Rows as long as this are worth a random access each to read them group by group,
const GROUPED_RUN: usize = 256;

/// and shorter ones if no table is needed for it.
const GROUPED_TABLED: usize = 128;

/// Rows of a destination of so many bytes are mostly in no cache: one thread, and several.
const GROUPED_FAR: [usize; 2] = [L3, L3 / 2];

/// Updates of a row, on average, from which on they are worth sorting: those that are compared or
/// go through a table, and sums of one thread.
const GROUPED_SHARE: [usize; 2] = [4, 8];

/// The sorting takes one of so many bytes of the updates, at most.
const GROUPED_ROOM: usize = 4;

/// Index values that are looked at to learn how they follow each other, at most, and one of how
/// many.
const GROUPED_SAMPLE: usize = 4096;

const GROUPED_SAMPLED: usize = 64;

/// Rows that come in order are read one after the other either way. Of so many bytes of updates,
/// none of which a cache still holds, it pays to write each row of a destination once.
const GROUPED_STREAM: usize = 4 * L3;

/// Why updates are grouped by row, if they are.
pub(crate) fn grouping(
    space: &Space<'_>,
    request: &Request,
    cut: &Cut,
    dtype: DType,
) -> Option<&'static str> {
    match (request.ungrouped, request.force) {
        (None, Some(Strategy::Grouped)) => Some("it was asked for"),
        (None, None) => grouping_pays(space, request, cut, dtype),
        _ => None,
    }
}

/// Why to sort the updates by row pays, if so.
fn grouping_pays(
    space: &Space<'_>,
    request: &Request,
    cut: &Cut,
    dtype: DType,
) -> Option<&'static str> {
    let row = cut.width().saturating_mul(dtype.size());
    let bytes = cut.count().saturating_mul(row);
    let [ref window] = cut.window[..] else {
        return None;
    };
    // A source without gaps, of which the rows are named one by one.
    let dense = window.step.src == dtype.size().cast_signed()
        && matches!(&cut.rows[..], [rows] if rows.step.src == row.cast_signed());
    let [ref lookup] = space.lookups[..] else {
        return None;
    };
    let many = bytes >= GROUPED_BYTES
        && cut.cell_count <= cut.count() / 2
        && u32::try_from(cut.count()).is_ok();
    if !dense || !many || row < GROUPED_ROW {
        return None;
    }
    if space.arg.is_some() {
        return Some("each row keeps its winners' positions in the nearest cache");
    }
    let several = available() > 1;
    let widens = request.combine.folds() && dtype.accumulator() != dtype;
    let long = match (request.mean.is_some(), widens) {
        (true, false) => GROUPED_TABLED,
        (_, true) if several => GROUPED_TABLED,
        _ => GROUPED_RUN,
    };
    let quick = request.combine.folds() && !widens && request.mean.is_none();
    let share = GROUPED_SHARE[usize::from(quick && !several)];
    let far = GROUPED_FAR[usize::from(several)];
    let destination = cut.cell_count.saturating_mul(row);
    let room = Csr::most(cut.count(), cut.cell_count) <= bytes / GROUPED_ROOM;
    if !room || request.combine.computes(dtype) {
        return None;
    }
    let counted = request.mean.is_some();
    let streams = match counted {
        true => row >= GROUPED_TABLED,
        false => {
            let most = cut.count() / GROUPED_SHARE[0];
            row >= GROUPED_RUN && bytes >= GROUPED_STREAM && most >= cut.cell_count
        }
    };
    let in_order = streams && !widens;
    let apart = row >= long && cut.count() / share >= cut.cell_count && destination >= far;
    if !in_order && !apart {
        return None;
    }
    let sample = GROUPED_SAMPLE.min(cut.count() / GROUPED_SAMPLED);
    match order(&lookup.index.sample(sample), cut.cell_count) {
        Order::Ascending if in_order => Some("rows come in order, and each is written once"),
        // What a sample tells is not exact.
        Order::Spread(rows) if apart && rows >= far / row / 2 => {
            Some("rows are too far apart for the caches, and each is written once")
        }
        _ => None,
    }
}

/// Values that come so many times as often as they should are those of rows that stay in a cache.
/// There may be this part of them at most, and of one of them this.
const HOT: usize = 4;

const HOT_PART: usize = 4;

const HOTTEST_PART: usize = 8;

/// What a sample of the index tells about where its rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// None comes before one that it follows.
    Ascending,
    /// Nearly in order, or mostly a few rows, or one too often.
    Near,
    /// There would be so many rows if the index named one as often as another, but for a few that
    /// are named more often.
    Spread(usize),
}

/// How index values like these, of `cells` rows, follow each other.
pub(crate) fn order(sample: &[i64], cells: usize) -> Order {
    let all = sample.len();
    let falls = sample.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let ascending = falls == 0;
    if !ascending && falls * 4 < all {
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

/// Chooses the strategy, and says why. `grouped` is what [`grouping`] says.
pub(crate) fn choose(
    space: &Space<'_>,
    request: &Request,
    types: Types,
    cut: &Cut,
    grouped: Option<&'static str>,
) -> Result<(Strategy, &'static str), Problem> {
    let dst = types.dst;
    let widens = types.widens(request.combine);
    let must_stage = widens || request.mean.is_some();
    if let Some(strategy) = request.force {
        return match refusal(strategy, space, request, types, cut) {
            None => Ok((strategy, "it was asked for")),
            Some(why) => Err(Problem::Strategy {
                strategy: strategy.name(),
                why,
            }),
        };
    }
    if let Some(why) = grouped {
        return Ok((Strategy::Grouped, why));
    }
    if !must_stage {
        if unlisted(space, types).is_none() && list_pays(space, cut) {
            return Ok((
                Strategy::Partition,
                "single updates all over a destination that no cache holds",
            ));
        }
        if !request.from_identity && tiles::pay(space, cut, dst.size()) {
            return Ok((
                Strategy::Tiled,
                "the rows of a column are far apart, and would compete for the same places of a cache",
            ));
        }
        return Ok((
            Strategy::InOrder,
            "every cell can hold its own running result",
        ));
    }
    // A row may be beyond memory where there is none of it.
    let row_bytes = cut.width().saturating_mul(dst.accumulator().size());
    let row_bytes = row_bytes.saturating_add(size_of::<u64>());
    let small = cut.cell_count.saturating_mul(row_bytes) <= SMALL_TABLE;
    let dense = small || cut.cell_count <= cut.count().saturating_mul(ROWS_PER_UPDATE);
    Ok(match (dense, widens) {
        (true, true) => (
            Strategy::DenseTable,
            "16-bit floats accumulate in float32, and most rows may be touched",
        ),
        (true, false) => (
            Strategy::DenseTable,
            "updates are counted, and most rows may be touched",
        ),
        (false, true) => (
            Strategy::CompactTable,
            "16-bit floats accumulate in float32, and few rows are touched",
        ),
        (false, false) => (
            Strategy::CompactTable,
            "updates are counted, and few rows are touched",
        ),
    })
}

/// Why a strategy cannot run this, if so.
fn refusal(
    strategy: Strategy,
    space: &Space<'_>,
    request: &Request,
    types: Types,
    cut: &Cut,
) -> Option<&'static str> {
    let must_stage = types.widens(request.combine) || request.mean.is_some();
    match strategy {
        Strategy::InOrder | Strategy::Tiled | Strategy::Partition if must_stage => {
            Some("cells cannot hold counts, nor sums of 16-bit floats in float32")
        }
        Strategy::InOrder => None,
        Strategy::DenseTable | Strategy::CompactTable => {
            (!request.combine.folds()).then_some("only sums and products are gathered in a table")
        }
        Strategy::Tiled if request.from_identity => Some("tiles go on from what is there"),
        Strategy::Tiled => tiles::columns(space, cut, types.dst.size()).err(),
        Strategy::Partition => unlisted(space, types),
        Strategy::Grouped => request.ungrouped,
        Strategy::Runs => Some("updates of one row need not lie one after the other"),
        Strategy::Small | Strategy::ReplaceSlice => Some("the updates are walked over"),
    }
}

/// Marks for touched rows pay while there are at most this many rows per row of updates: beyond, to
/// go twice over the updates touches less memory.
const MARKS_PER_UPDATE: usize = 64;

/// Fewer updates are gone over twice before memory for marks is found.
const MARKS_FROM: usize = 1024;

/// Whether rows are marked when they are touched, to start them afresh only then.
pub(crate) fn marks(request: &Request, strategy: Strategy, cut: &Cut) -> bool {
    let afresh = request.from_identity && request.combine != Combine::Assign;
    let few = cut.cell_count <= cut.count().saturating_mul(MARKS_PER_UPDATE);
    afresh && strategy == Strategy::InOrder && few && cut.count() >= MARKS_FROM
}

/// Cells per update, at most, that are filled and looked at once more to learn which of them no
/// update has reached: beyond, marks for those that updates have reached cost less.
const UNSET_PER_UPDATE: usize = 8;

/// Whether a new destination of so many cells starts unset, where only updates count.
pub(crate) fn unset_pays(cells: usize, updates: usize, force: Option<Strategy>) -> bool {
    let table = matches!(force, Some(Strategy::DenseTable | Strategy::CompactTable));
    !table && cells <= updates.saturating_mul(UNSET_PER_UPDATE)
}

/// Whether sums of single elements, of which only updates count, are made in a private table of the
/// destination's shape, and not in its own cells with marks for those that updates have reached.
pub(crate) fn private_pays(
    cells: usize,
    updates: usize,
    force: Option<Strategy>,
    space: &Space<'_>,
    cut: &Cut,
) -> bool {
    let asked = force.is_none_or(|force| force == Strategy::InOrder);
    let few = updates < MARKS_FROM || cells > updates;
    asked && !few && cut.width() == 1 && cut.cell_count == cells && !list_pays(space, cut)
}

/// Bytes of updates that a part by axis must have: fewer are done before another thread has woken
/// up.
const BY_AXIS: usize = WAKE;

/// Likewise by owner, where a part also reads the whole index.
const BY_OWNER: usize = 12 * WAKE;

/// Likewise by updates, where each thread but one begins and joins a table.
const BY_UPDATES: usize = 2 * WAKE;

/// Bytes of such a table, at most: it should stay in a cache next to its core.
const UPDATES_TABLE: usize = L2;

/// The table takes at most one of so many bytes of a part's updates.
const UPDATES_PER_TABLE: usize = 8;

/// Rows of more bytes are shared out by owner instead.
const NARROW: usize = 64;

/// Why updates cannot be shared out among tables, if so.
fn not_by_updates(
    space: &Space<'_>,
    request: &Request,
    strategy: Strategy,
    types: Types,
) -> Option<&'static str> {
    let Types { dst, src } = types;
    let numbers = dst.is_integer();
    let any_brackets = match request.combine {
        Combine::Sum | Combine::Prod => numbers,
        Combine::Min(Nan::Propagate) | Combine::Max(Nan::Propagate) => numbers || dst.is_float(),
        _ => false,
    };
    let keeps = request.from_identity || request.unset || request.mean.is_some();
    let mut packed = dst.size().cast_signed();
    let dense = space.dst.iter().rev().all(|&(len, stride)| {
        let here = len == 1 || stride == packed;
        packed = packed.saturating_mul(len.cast_signed());
        here
    });
    if strategy != Strategy::InOrder || dst != src || space.arg.is_some() || keeps {
        Some("updates do not go straight into their cells")
    } else if !any_brackets {
        Some("the reduction's bits depend on how updates are bracketed")
    } else {
        (!dense).then_some("the destination has gaps")
    }
}

/// How to share the run out, and among how many threads.
pub(crate) fn split(
    space: &Space<'_>,
    request: &Request,
    strategy: Strategy,
    cut: &Cut,
    types: Types,
) -> Result<Option<(Split, usize)>, Problem> {
    let Types { dst, src } = types;
    // In place, once one part has written, no other may fail: not even for want of memory.
    let blocked = |split| {
        let may_fail = match strategy {
            Strategy::InOrder | Strategy::Tiled => src != dst,
            Strategy::DenseTable | Strategy::CompactTable => true,
            // All lists are there before the first block is written.
            Strategy::Partition => split != Split::Owner,
            _ => false,
        };
        (request.visible && may_fail).then_some(
            "a part in place that needs working memory could fail after another has written",
        )
    };
    if strategy == Strategy::Grouped {
        return grouped_split(
            request,
            cut.count().saturating_mul(cut.width() * src.size()),
        );
    }
    if let Some((split, threads)) = request.split {
        let none = (threads == 0).then_some("it takes at least one thread");
        let updates = match split {
            Split::Updates => not_by_updates(space, request, strategy, types),
            Split::Axis(_) | Split::Owner => None,
        };
        let obstacle = obstacle(space, split).or(updates);
        return match obstacle.or(blocked(split)).or(none) {
            None => Ok(Some((split, threads))),
            Some(why) => Err(Problem::Strategy {
                strategy: split.name(),
                why,
            }),
        };
    }
    let updates = cut.count().saturating_mul(cut.width());
    let bytes = updates.saturating_mul(dst.size());
    let most = available();
    if bytes < 2 * BY_AXIS || most < 2 {
        return Ok(None);
    }
    let best = match strategy {
        Strategy::Partition => Some(Split::Owner),
        _ => choose_split(space, dst.size(), most),
    };
    // Where a part by owner reads nearly as much as the whole run does, one of the updates reads
    // only its own.
    let narrow = cut.width().saturating_mul(dst.size()) <= NARROW;
    if narrow
        && !matches!(best, Some(Split::Axis(_)))
        && not_by_updates(space, request, strategy, types).is_none()
    {
        let table = space.reach().saturating_add(dst.size());
        let threads = most.min(bytes / BY_UPDATES.max(table.saturating_mul(UPDATES_PER_TABLE)));
        if threads > 1 && table <= UPDATES_TABLE {
            return Ok(Some((Split::Updates, threads)));
        }
    }
    let Some(split) = best.filter(|&split| blocked(split).is_none()) else {
        return Ok(None);
    };
    let each = match split {
        Split::Axis(_) => BY_AXIS,
        Split::Owner | Split::Updates => BY_OWNER,
    };
    let threads = most.min(bytes / each);
    Ok((threads > 1).then_some((split, threads)))
}

/// How to share out groups of updates of so many bytes.
fn grouped_split(request: &Request, bytes: usize) -> Result<Option<(Split, usize)>, Problem> {
    match request.split {
        None => Ok(Some((Split::Owner, threads(bytes))).filter(|&(_, threads)| threads > 1)),
        Some((Split::Owner, threads)) if threads > 0 => Ok(Some((Split::Owner, threads))),
        Some((split, _)) => Err(Problem::Strategy {
            strategy: split.name(),
            why: "groups are shared out by destination, among at least one thread",
        }),
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
