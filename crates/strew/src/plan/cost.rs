//! The cost model: which strategy a run takes.

use super::Request;
use super::space::{Cut, Space};
use super::split::{self, Split};
use crate::error::Problem;
use crate::kernel::Combine;
use crate::tensor::DType;
use crate::threads::available;
use std::fmt;
use std::str::FromStr;

/// A way to run a scatter. All of them give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Each update goes straight into its cell, in order.
    InOrder,
    /// Updates are gathered in a private table with a row for each row of the destination.
    DenseTable,
    /// Likewise, with a row for each row of the destination that is touched.
    CompactTable,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Self; 3] = [Self::InOrder, Self::DenseTable, Self::CompactTable];

    /// The name by which it is shown and forced.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InOrder => "in-order",
            Self::DenseTable => "dense-table",
            Self::CompactTable => "compact-table",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = Problem;

    fn from_str(name: &str) -> Result<Self, Problem> {
        let found = Self::ALL.into_iter().find(|s| s.name() == name);
        found.ok_or_else(|| Problem::Value {
            argument: "strategy".into(),
            value: name.to_owned(),
            expected: "it must be in-order, dense-table or compact-table".into(),
        })
    }
}

/// A table of this many bytes costs nothing worth a second look.
const SMALL_TABLE: usize = 1 << 20;

/// A table with a row for every row of the destination pays while it has at most this many rows
/// per row of updates. Beyond, the touched rows are numbered by sorting.
const ROWS_PER_UPDATE: usize = 4;

/// Chooses the strategy, and says why.
pub(super) fn choose(
    request: &Request,
    dst: DType,
    cut: &Cut,
) -> Result<(Strategy, &'static str), Problem> {
    let folds = matches!(request.combine, Combine::Sum | Combine::Prod);
    let widens = folds && dst.accumulator() != dst;
    let must_stage = widens || request.mean.is_some();
    if let Some(strategy) = request.force {
        return match strategy {
            Strategy::InOrder if must_stage => Err(Problem::Strategy {
                strategy: strategy.name(),
                why: "cells cannot hold counts, nor sums of 16-bit floats in float32",
            }),
            Strategy::DenseTable | Strategy::CompactTable if !folds => Err(Problem::Strategy {
                strategy: strategy.name(),
                why: "only sums and products are gathered in a table",
            }),
            _ => Ok((strategy, "it was asked for")),
        };
    }
    if !must_stage {
        return Ok((
            Strategy::InOrder,
            "every cell can hold its own running result",
        ));
    }
    let row_bytes = cut.width().saturating_mul(dst.accumulator().size()) + size_of::<u64>();
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

/// Bytes of updates that a part by axis must have: fewer are done before another thread has woken
/// up.
const BY_AXIS: usize = 1 << 20;

/// Likewise by owner, where a part also reads the whole index.
const BY_OWNER: usize = 12 << 20;

/// How to share the run out, and among how many threads.
pub(super) fn split(
    space: &Space<'_>,
    request: &Request,
    strategy: Strategy,
    cut: &Cut,
    (dst, src): (DType, DType),
) -> Result<Option<(Split, usize)>, Problem> {
    // In place, once one part has written, no other may fail: not even for want of memory.
    let may_fail = strategy != Strategy::InOrder || src != dst;
    let in_place = (request.visible && may_fail).then_some(
        "a part in place that needs working memory could fail after another has written",
    );
    if let Some((split, threads)) = request.split {
        let none = (threads == 0).then_some("it takes at least one thread");
        return match split::obstacle(space, split).or(in_place).or(none) {
            None => Ok(Some((split, threads))),
            Some(why) => Err(Problem::Strategy {
                strategy: split.name(),
                why,
            }),
        };
    }
    let updates = cut.count().saturating_mul(cut.width());
    let bytes = updates.saturating_mul(dst.size());
    if in_place.is_some() || bytes < 2 * BY_AXIS {
        return Ok(None);
    }
    let most = available();
    let Some(split) = split::choose(space, dst.size(), most) else {
        return Ok(None);
    };
    let each = match split {
        Split::Axis(_) => BY_AXIS,
        Split::Owner => BY_OWNER,
    };
    let threads = most.min(bytes / each);
    Ok((threads > 1).then_some((split, threads)))
}
