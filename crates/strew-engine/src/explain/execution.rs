//! What an execution tells about itself.

use crate::describe::split::Split;
use crate::describe::strategy::Strategy;
use crate::explain::words;
use crate::strategy::execution::Execution;
use crate::strategy::table;
use crate::strides::request::Cells;
use crate::strides::space::Space;
use crate::thresholds::TILE_LARGEST;
use crate::traffic::text::{Explanation, bytes};
use crate::traffic::{Around, Traffic};
use std::fmt;
use strew_kernel::groups::csr::Csr;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::machine::Machine;

impl Execution {
    /// This, with what it moves: a run does without.
    pub(crate) fn with_traffic(mut self, space: &Space<'_>, around: Around) -> Self {
        self.traffic = Some(self.traffic_of(space, around));
        self
    }

    /// What is known of the run: the strategy and why, and what it moves through memory, in a
    /// sentence and as a table.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        Explanation::new(self.sentence(None), self.facts())
    }

    /// The same as [`explain`](Self::explain), with the time that it should take on a machine that
    /// was measured.
    ///
    /// It is that of a run whose output is fresh memory, and whose inputs are in no cache.
    #[must_use]
    pub fn explain_on(&self, machine: &Machine) -> Explanation {
        let mut facts = self.facts();
        facts.extend(self.traffic.iter().flat_map(|t| t.forecast(machine)));
        Explanation::new(self.sentence(Some(machine)), facts)
    }

    fn sentence(&self, machine: Option<&Machine>) -> String {
        words::of(self.strategy, self.reason, self.traffic(), machine)
    }

    /// How the run is shared out, in words.
    pub(crate) fn sharing(&self) -> String {
        match self.split {
            None if self.strategy == Strategy::ReplaceSlice && self.threads() > 1 => {
                format!("by bytes of the output, {} threads", self.threads())
            }
            None => "no, one thread".into(),
            Some((Split::Axis(axis), threads)) => {
                format!("along axis {axis} of the updates, {threads} threads")
            }
            Some((Split::Updates, threads)) => {
                format!("by updates, {threads} threads, all but one with a table of their own")
            }
            Some((Split::Owner, threads)) if self.strategy == Strategy::Partition => {
                format!("{threads} threads that list a stretch each, and then join some blocks")
            }
            Some((Split::Owner, threads)) if self.strategy == Strategy::Grouped => {
                format!("by destination, {threads} threads that take some of the groups each")
            }
            Some((Split::Owner, threads)) if self.ascends => {
                format!("by destination, {threads} threads that each read a stretch of the index")
            }
            Some((Split::Owner, threads)) => {
                format!("by destination, {threads} threads that each read the whole index")
            }
        }
    }

    fn begins(&self) -> String {
        match self.strategy {
            Strategy::ReplaceSlice => "in the run, with the updates in it".into(),
            _ => self.begin.to_string(),
        }
    }

    /// Bytes of working memory beyond the inputs and the output, at most: of a run on one thread,
    /// with the tables of the others.
    #[must_use]
    pub fn working_memory(&self) -> usize {
        let row = table::row(self);
        let convert = match self.types.src == self.types.dst {
            true => 0,
            false => (self.width().max(8192)).saturating_mul(self.types.dst.size()),
        };
        let table = match self.strategy {
            Strategy::InOrder if self.marks => self.cut.cell_count / 8,
            Strategy::InOrder | Strategy::Runs => 0,
            Strategy::Small | Strategy::ReplaceSlice => return 0,
            Strategy::Tiled => TILE_LARGEST,
            Strategy::DenseTable => table::dense_memory(self),
            Strategy::Partition => self.listed,
            Strategy::Grouped => Csr::most(self.rows(), self.cut.cell_count),
            Strategy::CompactTable => table::compact_memory(self),
        };
        let private = match self.request.cells {
            Cells::Private => self.cut.cell_count.saturating_mul(self.types.dst.size()),
            _ => 0,
        };
        let tables = match self.split {
            Some((Split::Updates, threads)) if self.request.exact => {
                threads.saturating_mul(self.cut.cell_count.saturating_mul(row))
            }
            Some((Split::Updates, threads)) => {
                let cells = self.cut.cell_count.saturating_mul(self.width());
                (threads - 1).saturating_mul(cells.saturating_mul(self.types.dst.size()))
            }
            _ => 0,
        };
        table
            .saturating_add(convert)
            .saturating_add(private)
            .saturating_add(tables)
    }

    /// What was chosen as names and values, for programs.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let combine = match self.request.combine {
            Combine::Assign => "assign",
            Combine::Sum => "sum",
            Combine::Prod => "prod",
            Combine::Sub => "sub",
            Combine::Div => "div",
            Combine::Min(_) => "min",
            Combine::Max(_) => "max",
        };
        let reduction = if self.request.mean.is_some() {
            "mean"
        } else {
            combine
        };
        let accumulator = match self.request.combine.folds() {
            true => self.types.dst.accumulator(),
            false => self.types.dst,
        };
        let mut facts = vec![
            ("strategy", self.strategy.to_string()),
            ("reason", self.reason().to_owned()),
            ("destinations", self.form().to_owned()),
            ("reduction", reduction.to_owned()),
            ("dtype", self.types.dst.to_string()),
            ("updates dtype", self.types.src.to_string()),
            ("accumulator", accumulator.to_string()),
            ("rows of updates", self.rows().to_string()),
            ("elements in a row", self.width().to_string()),
            ("rows of the destination", self.cut.cell_count.to_string()),
            ("shared out", self.sharing()),
            ("destination begins", self.begins()),
            (
                "passes over the updates or their index",
                self.passes().to_string(),
            ),
            (
                "index checked before the first write",
                self.checks_first().to_string(),
            ),
            (
                "working memory, at most",
                bytes(self.working_memory() as u64),
            ),
        ];
        if self.working_memory() > 0 {
            facts.push(("working memory for", self.use_of_memory().to_owned()));
        }
        facts.extend(self.traffic.iter().flat_map(Traffic::facts));
        facts
    }

    /// What most of the working memory is there for.
    fn use_of_memory(&self) -> &'static str {
        match (self.strategy, self.split) {
            (_, Some((Split::Updates, _))) => "a table for each thread but one",
            (Strategy::Grouped, _) => "the order of the updates by row, and what sorts them",
            (Strategy::Partition, _) => "the updates listed by block of the destination",
            (Strategy::DenseTable | Strategy::CompactTable, _) if self.request.exact => {
                "exact sums, which take 16 to 48 bytes a cell for values of ordinary sizes"
            }
            (Strategy::DenseTable | Strategy::CompactTable, _) => "a table of running results",
            (Strategy::Tiled, _) => "columns that are kept close together",
            _ if self.request.cells == Cells::Private => "sums of updates alone",
            _ if self.marks => "marks of the rows that are touched",
            _ => "updates that are converted, a piece at a time",
        }
    }
}

impl fmt::Display for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.explain().fmt(f)
    }
}
