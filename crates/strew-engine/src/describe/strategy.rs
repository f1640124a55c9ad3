//! The names of the strategies, and of how a destination begins.
//!
//! All strategies give the same bits. `run/choose.rs` chooses one.

use std::fmt;
use std::str::FromStr;
use strew_kernel::error::Problem;

/// A way to run a scatter. All of them give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Each update goes straight into its cell, in order.
    InOrder,
    /// Updates are gathered in a private table with a row for each row of the destination.
    DenseTable,
    /// A private table with a row for each touched row of the destination.
    CompactTable,
    /// Elements along an axis go to some columns of their rows at a time, kept close together.
    Tiled,
    /// Updates are listed by block of the destination first, and then go straight into their cells.
    Partition,
    /// Updates are sorted by row of the destination. Each row takes all of its updates, and is
    /// written once.
    Grouped,
    /// Each row of the destination is made at once, from rows that lie one after the other.
    Runs,
    /// A few single elements join their cells at once, without any preparation.
    Small,
    /// An input is copied, with the updates in place of a slice of it, in one pass.
    ReplaceSlice,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Self; 9] = [
        Self::InOrder,
        Self::DenseTable,
        Self::CompactTable,
        Self::Tiled,
        Self::Partition,
        Self::Grouped,
        Self::Runs,
        Self::Small,
        Self::ReplaceSlice,
    ];

    /// The name by which it is shown and forced.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InOrder => "in-order",
            Self::DenseTable => "dense-table",
            Self::CompactTable => "compact-table",
            Self::Tiled => "tiled",
            Self::Partition => "partition",
            Self::Grouped => "grouped",
            Self::Runs => "runs",
            Self::Small => "small",
            Self::ReplaceSlice => "replace-slice",
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
            expected: format!("it must be one of {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// How a destination gets what it holds before its updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Begin {
    /// Before the run, or it is the caller's memory.
    Before,
    /// The run writes every row: those without updates are set to zero.
    Zeros,
    /// The run begins each block of the destination right before its updates.
    Blocks,
}

impl fmt::Display for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Before => "before the run",
            Self::Zeros => "in the run, which sets what no update reaches to zero",
            Self::Blocks => "in the run, block by block",
        })
    }
}

/// Why a run goes as it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The caller asked for it.
    Asked,
    /// It pays, or nothing else can be.
    Pays(&'static str),
}

impl Reason {
    /// The reason of a strategy that pays, unless it was asked for.
    pub(crate) fn of(asked: Option<Strategy>, why: &'static str) -> Self {
        match asked {
            Some(_) => Self::Asked,
            None => Self::Pays(why),
        }
    }

    /// In words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Asked => "it was asked for",
            Self::Pays(why) => why,
        }
    }
}
