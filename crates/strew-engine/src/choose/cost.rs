//! The cost model: which strategy a walk over the updates takes.

use crate::choose::grouping::Skew;
use crate::choose::request::{Request, Run};
use crate::choose::share::best_share;
use crate::choose::split::Split;
use crate::choose::strategy::Strategy;
use crate::choose::tiles;
use crate::scatter::space::{Cut, Space};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::machine::{L2, L3};

/// Tables of up to this many bytes are always dense.
const SMALL_TABLE: usize = L2;

/// Maximum rows of the destination per row of updates for a larger dense table. With more rows, the
/// table is compact.
const ROWS_PER_UPDATE: usize = 4;

/// Minimum bytes of a destination for which updates are listed by block. Nearly every update of one
/// that large misses the caches.
const LISTED_REACH: usize = 2 * L3;

/// Maximum bytes of the destination per update that is listed. With more, blocks stay almost empty.
const LISTED_EVERY: usize = 256;

/// Why updates cannot be listed by block of the destination, if so.
fn unlisted(run: &Run<'_, '_>) -> Option<&'static str> {
    if run.space.arg.is_some() {
        Some("positions are not listed")
    } else {
        (run.types.dst != run.types.src).then_some("updates that are converted are not listed")
    }
}

/// Whether it pays to list the updates.
fn list_pays(space: &Space<'_>, cut: &Cut) -> bool {
    // The distance between cells of updates that differ in their index only.
    let pointed = space.lookups.iter().map(|lookup| {
        let (rows, stride) = space.dst[lookup.axis];
        rows.saturating_mul(stride.unsigned_abs())
    });
    let reach = pointed.fold(0, usize::saturating_add);
    let every = reach / cut.count().max(1);
    let apart = cut.rows.last().is_some_and(|axis| axis.step.dst == 0);
    cut.width() == 1 && apart && reach >= LISTED_REACH && every <= LISTED_EVERY
}

/// Minimum threads for which updates are listed so that no thread reads the whole index. Two lists
/// and a run over them take about twice the time of one thread.
const LISTING_THREADS: usize = 4;

/// At most one of this many updates may go to the hottest cell of a list: one thread joins all of
/// them.
const HOTTEST: usize = 8;

/// Whether it pays to list single updates because several threads would otherwise read the whole
/// index each.
fn list_pays_shared(run: &Run<'_, '_>) -> bool {
    let free = run.request.split.is_none() && !run.request.proven;
    let by_owner = |strategy| match best_share(run, strategy) {
        Some((Split::Owner, threads)) => threads,
        _ => 0,
    };
    let [ref lookup] = run.space.lookups[..] else {
        return false;
    };
    free && run.cut.width() == 1
        && by_owner(Strategy::InOrder) > 1
        && by_owner(Strategy::Partition) >= LISTING_THREADS
        && !Skew::of(&lookup.index).is_hotter(HOTTEST)
}

/// Chooses the strategy, and says why. `grouped` is why updates are grouped, if they are.
pub(crate) fn choose(
    run: &Run<'_, '_>,
    grouped: Option<&'static str>,
) -> Result<(Strategy, &'static str), Problem> {
    if let Some(strategy) = run.request.force {
        return match refusal(run, strategy) {
            None => Ok((strategy, "it was asked for")),
            Some(why) => Err(Problem::Strategy {
                strategy: strategy.name(),
                why,
            }),
        };
    }
    Ok(match grouped {
        Some(why) => (Strategy::Grouped, why),
        None if run.needs_table() => table(run),
        None if unlisted(run).is_none() && list_pays(run.space, run.cut) => (
            Strategy::Partition,
            "single updates go all over a destination that no cache holds",
        ),
        None if unlisted(run).is_none() && list_pays_shared(run) => (
            Strategy::Partition,
            "several threads share the index out, and each joins the updates of its own cells",
        ),
        None if !run.request.from_identity
            && tiles::pay(run.space, run.cut, run.types.dst.size()) =>
        {
            (
                Strategy::Tiled,
                "the rows of a column are far apart, and would compete for the same places of a cache",
            )
        }
        None => (
            Strategy::InOrder,
            "every cell can hold its own running result",
        ),
    })
}

/// The table that running results are gathered in.
fn table(run: &Run<'_, '_>) -> (Strategy, &'static str) {
    let (cut, dst) = (run.cut, run.types.dst);
    // A row may be beyond memory where there is none of it.
    let row_bytes = cut.width().saturating_mul(dst.accumulator().size());
    let row_bytes = row_bytes.saturating_add(size_of::<u64>());
    let small = cut.cell_count.saturating_mul(row_bytes) <= SMALL_TABLE;
    let dense = small || cut.cell_count <= cut.count().saturating_mul(ROWS_PER_UPDATE);
    if run.request.exact {
        return match dense {
            true => (
                Strategy::DenseTable,
                "exact sums are integers, and most rows may be touched",
            ),
            false => (
                Strategy::CompactTable,
                "exact sums are integers, and few rows are touched",
            ),
        };
    }
    match (dense, run.types.widens(run.request.combine)) {
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
    }
}

/// Why a strategy cannot run this, if so.
fn refusal(run: &Run<'_, '_>, strategy: Strategy) -> Option<&'static str> {
    match strategy {
        Strategy::InOrder | Strategy::Tiled | Strategy::Partition if run.needs_table() => {
            Some("cells cannot hold counts, nor exact sums, nor sums of 16-bit floats in float32")
        }
        Strategy::InOrder => None,
        Strategy::DenseTable | Strategy::CompactTable => (!run.request.combine.folds())
            .then_some("only sums and products are gathered in a table"),
        Strategy::Tiled if run.request.from_identity => Some("tiles go on from what is there"),
        Strategy::Tiled => tiles::columns(run.space, run.cut, run.types.dst.size()).err(),
        Strategy::Partition => unlisted(run),
        Strategy::Grouped => run.request.ungrouped,
        Strategy::Runs => Some("updates of one row need not lie one after the other"),
        Strategy::Small | Strategy::ReplaceSlice => Some("the updates are walked over"),
    }
}

/// Maximum rows of the destination per row of updates for which touched rows are marked. With more
/// rows, a second pass over the updates touches less memory than the marks.
const MARKS_PER_UPDATE: usize = 64;

/// Minimum rows of updates for which touched rows are marked. A second pass over fewer is faster.
const MARKS_FROM: usize = 1024;

/// Whether each row is marked when its first update sets it to the identity.
pub(crate) fn marks(request: &Request, strategy: Strategy, cut: &Cut) -> bool {
    let resets = request.from_identity && request.combine != Combine::Assign;
    let few = cut.cell_count <= cut.count().saturating_mul(MARKS_PER_UPDATE);
    resets && strategy == Strategy::InOrder && few && cut.count() >= MARKS_FROM
}

/// Maximum cells per update for which every cell starts from a sentinel. With more cells, marks
/// cost less than filling and reading all cells.
const UNSET_PER_UPDATE: usize = 8;

/// Whether a new destination of this many cells starts from sentinels, where only updates count.
pub(crate) fn unset_pays(cells: usize, updates: usize, force: Option<Strategy>) -> bool {
    let table = matches!(force, Some(Strategy::DenseTable | Strategy::CompactTable));
    !table && cells <= updates.saturating_mul(UNSET_PER_UPDATE)
}

/// Whether sums in place of single elements go to a private table of sentinels. Otherwise they go
/// to the destination's own cells, and touched cells are marked.
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
