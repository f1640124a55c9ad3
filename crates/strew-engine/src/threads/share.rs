//! Whether and how a run is shared out among threads.

use crate::describe::split::Split;
use crate::describe::strategy::Strategy;
use crate::strides::order::Skew;
use crate::strides::request::{Cells, Request, Run, Types};
use crate::threads::ascending::seems_to_ascend;
use crate::threads::split::{choose, obstacle};
use crate::thresholds::{
    BY_AXIS, BY_GROUP, BY_LIST, BY_OWNER, BY_STRETCH, BY_UPDATES, NARROW_ROW, OWNED_HOT_ROW,
    OWNED_HOTTEST, OWNED_REACH, OWNED_SHORT_HOTTEST, OWNED_SHORT_ROW, UPDATES_PER_EXACT_TABLE,
    UPDATES_PER_TABLE, UPDATES_TABLE,
};
use strew_kernel::error::Problem;
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::runtime::threads::available;

/// Whether one thread is at least as fast as several that each read the whole index, or a stretch
/// of it if it `ascends`.
fn suits_one(run: &Run<'_, '_>, strategy: Strategy, ascends: bool) -> bool {
    let (width, dst) = (run.cut.width(), run.types.dst);
    // A table's cells are accumulators.
    let size = match strategy {
        Strategy::DenseTable => dst.accumulator().size(),
        _ => dst.size(),
    };
    let [ref lookup, ..] = run.space.lookups[..] else {
        return false;
    };
    let skew = || Skew::of(&lookup.index);
    // Joining single values in order takes no longer than finding those of a thread among them.
    if width == 1 && skew().ordered {
        return true;
    }
    let extreme = matches!(run.request.combine, Combine::Min(_) | Combine::Max(_));
    if extreme || ascends {
        return false;
    }
    let row = width.saturating_mul(size);
    if row <= OWNED_SHORT_ROW {
        let reach = run.space.reach() / dst.size() * size;
        return reach < OWNED_REACH || skew().is_hotter(OWNED_SHORT_HOTTEST);
    }
    row <= OWNED_HOT_ROW && skew().is_hotter(OWNED_HOTTEST)
}

/// Why updates cannot be shared out among tables, if so.
fn not_by_updates(run: &Run<'_, '_>, strategy: Strategy) -> Option<&'static str> {
    let (space, request, Types { dst, src }) = (run.space, run.request, run.types);
    if request.exact {
        let tables = strategy == Strategy::DenseTable && !run.cut.rows.is_empty();
        return (!tables).then_some("exact sums are shared out in dense tables of rows");
    }
    let numbers = dst.is_integer();
    let any_brackets = match request.combine {
        Combine::Sum | Combine::Prod => numbers,
        Combine::Min(Nan::Propagate) | Combine::Max(Nan::Propagate) => numbers || dst.is_float(),
        _ => false,
    };
    let keeps =
        request.cells == Cells::Identity || request.cells.are_unset() || request.mean.is_some();
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

/// Why a run in place must stay on one thread, if so. A part that allocates memory could fail after
/// another part has written.
fn blocked(run: &Run<'_, '_>, strategy: Strategy, split: Split) -> Option<&'static str> {
    let may_fail = match strategy {
        Strategy::InOrder | Strategy::Tiled => run.types.src != run.types.dst,
        // Exact sums of all parts are there before the first one is written.
        Strategy::DenseTable | Strategy::CompactTable => split != Split::Updates,
        // All lists are there before the first block is written.
        Strategy::Partition => split != Split::Owner,
        _ => false,
    };
    (run.request.visible && may_fail)
        .then_some("a part in place that needs working memory could fail after another has written")
}

/// How to share the run out, and among how many threads.
pub(crate) fn share(
    run: &Run<'_, '_>,
    strategy: Strategy,
) -> Result<Option<(Split, usize)>, Problem> {
    match run.request.split {
        _ if strategy == Strategy::Grouped => {
            let row = run.cut.width() * run.types.src.size();
            grouped(run.request, run.cut.count().saturating_mul(row))
        }
        Some((split, threads)) => {
            let none = (threads == 0).then_some("it takes at least one thread");
            let updates = match split {
                Split::Updates => not_by_updates(run, strategy),
                Split::Axis(_) | Split::Owner => None,
            };
            let obstacle = obstacle(run.space, split).or(updates);
            match obstacle.or(blocked(run, strategy, split)).or(none) {
                None => Ok(Some((split, threads))),
                Some(why) => Err(Problem::Strategy {
                    strategy: split.name(),
                    why,
                }),
            }
        }
        None => Ok(best_share(run, strategy)),
    }
}

/// The fastest way to share a run out; `None` if none is possible, or one thread is as fast.
fn best_share(run: &Run<'_, '_>, strategy: Strategy) -> Option<(Split, usize)> {
    let (split, threads) = possible_share(run, strategy)?;
    let cells = matches!(strategy, Strategy::InOrder | Strategy::DenseTable);
    let direct = split == Split::Owner && cells && !run.request.exact;
    let one = direct && suits_one(run, strategy, seems_to_ascend(run, strategy, split));
    (!one).then_some((split, threads))
}

/// The best way to share a run out, whether or not one thread is as fast; `None` if it has too few
/// bytes.
pub(crate) fn possible_share(run: &Run<'_, '_>, strategy: Strategy) -> Option<(Split, usize)> {
    let (space, cut, dst) = (run.space, run.cut, run.types.dst);
    let updates = cut.count().saturating_mul(cut.width());
    let bytes = updates.saturating_mul(dst.size());
    let most = available();
    if bytes < 2 * BY_AXIS || most < 2 {
        return None;
    }
    let best = match strategy {
        Strategy::Partition => Some(Split::Owner),
        _ => choose(space, dst.size(), most),
    };
    // A part by owner reads the whole index. With narrow rows that is nearly all of the work, and a
    // part by updates reads its own stretch only.
    let narrow = cut.width().saturating_mul(dst.size()) <= NARROW_ROW;
    if narrow && !matches!(best, Some(Split::Axis(_))) && not_by_updates(run, strategy).is_none() {
        let table = space.reach().saturating_add(dst.size());
        let least = match run.request.exact {
            true => UPDATES_PER_EXACT_TABLE,
            false => UPDATES_PER_TABLE,
        };
        let threads = most.min(bytes / BY_UPDATES.max(table.saturating_mul(least)));
        if threads > 1 && (table <= UPDATES_TABLE || run.request.exact) {
            return Some((Split::Updates, threads));
        }
    }
    let split = best.filter(|&split| blocked(run, strategy, split).is_none())?;
    let each = match split {
        Split::Axis(_) => BY_AXIS,
        Split::Owner if strategy == Strategy::Partition => BY_LIST,
        Split::Owner if seems_to_ascend(run, strategy, split) => BY_STRETCH,
        Split::Owner | Split::Updates => BY_OWNER,
    };
    let threads = most.min(bytes / each);
    (threads > 1).then_some((split, threads))
}

/// How to share out groups of updates that have this many bytes.
fn grouped(request: &Request, bytes: usize) -> Result<Option<(Split, usize)>, Problem> {
    match request.split {
        None => Ok(Some((Split::Owner, threads(bytes))).filter(|&(_, threads)| threads > 1)),
        Some((Split::Owner, threads)) if threads > 0 => Ok(Some((Split::Owner, threads))),
        Some((split, _)) => Err(Problem::Strategy {
            strategy: split.name(),
            why: "groups are shared out by destination, among at least one thread",
        }),
    }
}

/// How many threads a grouped run, or a gather, of this number of bytes gets.
pub fn threads(bytes: usize) -> usize {
    available().min(bytes / BY_GROUP).max(1)
}
