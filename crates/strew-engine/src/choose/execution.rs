//! What an execution tells about itself.

use crate::choose::ascending::seems_to_ascend;
use crate::choose::cost;
use crate::choose::request::{Request, Run, Types};
use crate::choose::share::share;
use crate::choose::split::Split;
use crate::choose::strategy::{Begin, Strategy};
use crate::choose::wide::Wide;
use crate::choose::{gather, tiles};
use crate::explain::text::{Explanation, bytes};
use crate::explain::traffic::{Around, Traffic};
use crate::explain::words;
use crate::scatter::space::{Cut, Space};
use smallvec::smallvec;
use std::fmt;
use strew_kernel::bucket::Blocks;
use strew_kernel::error::Problem;
use strew_kernel::exact::planes::PLANES;
use strew_kernel::groups::csr::Csr;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::machine::Machine;
use strew_kernel::tensor::DType;
use strew_kernel::walk::geometry::{Axis, Step};

/// Bytes that an exact sum takes if its values have all sizes: three words and all planes.
const EXACT_CELL: usize = (3 + PLANES) * size_of::<i64>();

/// How a scatter is run: the same value drives the run and explains it.
#[derive(Debug)]
pub struct Execution {
    pub(crate) request: Request,
    pub(crate) cut: Cut,
    strategy: Strategy,
    reason: &'static str,
    types: Types,
    lookups: usize,
    split: Option<(Split, usize)>,
    /// The index seems to ascend, so that each part of the split needs a stretch of it only.
    pub(crate) ascends: bool,
    /// Threads that write stretches of the output, of a run that is not split otherwise.
    pub(crate) streams: usize,
    /// Bytes that are copied from an input, of a run that replaces a slice of it.
    pub(crate) copied: usize,
    /// What the cells of a dense table hold that is a destination like any other.
    wide: Option<Wide>,
    /// Bytes that lists of the updates by block of the destination take.
    listed: usize,
    /// Touched rows are marked, so that the first touch is known.
    pub(crate) marks: bool,
    /// How the destination gets what it holds before its updates.
    pub(crate) begin: Begin,
    /// What a run moves, if this is to be explained.
    traffic: Option<Traffic>,
}

/// Rows that lie one after the other, as a run sees them.
#[derive(Clone, Copy, Debug)]
pub struct RunCounts {
    /// Rows of updates, and elements of each.
    pub rows: usize,
    pub width: usize,
    /// Rows of the destination.
    pub cells: usize,
}

impl Execution {
    /// A walk over the updates, as the cost model says. `grouped`: why they are grouped by row, if
    /// they are.
    pub(crate) fn new(
        space: &Space<'_>,
        cut: Cut,
        request: Request,
        types: Types,
        grouped: Option<&'static str>,
    ) -> Result<Self, Problem> {
        let run = Run {
            space,
            cut: &cut,
            request: &request,
            types,
        };
        let (strategy, reason) = cost::choose(&run, grouped)?;
        let split = share(&run, strategy)?;
        let wide = match strategy {
            Strategy::DenseTable if !request.exact => Wide::choose(&request, space, &cut, types),
            _ => None,
        };
        let ascends = split.is_some_and(|(split, _)| seems_to_ascend(&run, strategy, split));
        let threads = split.map_or(1, |(_, threads)| threads);
        let blocks = Blocks::over(space.reach(), threads);
        let elements = cut.count().saturating_mul(cut.width());
        Ok(Self {
            listed: blocks.bytes(elements, types.dst.size(), threads),
            marks: cost::marks(&request, strategy, &cut),
            split,
            ascends,
            wide,
            ..Self::of(strategy, reason, space.lookups.len(), cut, request, types)
        })
    }

    /// One of the strategies that need no walk.
    pub(crate) fn of(
        strategy: Strategy,
        reason: &'static str,
        lookups: usize,
        cut: Cut,
        request: Request,
        types: Types,
    ) -> Self {
        Self {
            reason: match request.force {
                Some(_) => "it was asked for",
                None => reason,
            },
            request,
            strategy,
            types,
            lookups,
            cut,
            split: None,
            ascends: false,
            streams: 1,
            copied: 0,
            wide: None,
            listed: 0,
            marks: false,
            begin: Begin::Before,
            traffic: None,
        }
    }

    /// A run over rows that lie one after the other.
    pub(crate) fn of_runs(
        request: Request,
        dtype: DType,
        counts: RunCounts,
        split: Option<(Split, usize)>,
        traffic: Traffic,
    ) -> Self {
        let axis = |len| Axis {
            len,
            step: Step::default(),
        };
        let cut = Cut {
            rows: smallvec![axis(counts.rows)],
            index: smallvec![smallvec![0]],
            window: smallvec![axis(counts.width)],
            cells: smallvec![axis(counts.cells)],
            lookup_aux: smallvec![0],
            cell_count: counts.cells,
            start: Step::default(),
            cell_start: 0,
        };
        let types = Types {
            dst: dtype,
            src: dtype,
        };
        let reason = "the rows that belong together lie one after the other";
        Self {
            split,
            traffic: Some(traffic),
            ..Self::of(Strategy::Runs, reason, 1, cut, request, types)
        }
    }

    /// A gather: the updates' walk, gone the other way. Each element is written once, so the one
    /// strategy is to go in order, and whatever axis the run is shared out along, no part writes
    /// what another does.
    pub(crate) fn of_gather(
        space: &Space<'_>,
        dtype: DType,
        force: Option<Strategy>,
        split: Option<(Split, usize)>,
    ) -> Result<Self, Problem> {
        if let Some(strategy) = force.filter(|&strategy| strategy != Strategy::InOrder) {
            return Err(Problem::Strategy {
                strategy: strategy.name(),
                why: "a gather goes in order",
            });
        }
        let request = Request {
            combine: Combine::Assign,
            from_identity: false,
            unset: false,
            private: false,
            blank: false,
            mean: None,
            exact: false,
            visible: false,
            proven: false,
            listed: false,
            ungrouped: None,
            force,
            split,
        };
        let types = Types {
            dst: dtype,
            src: dtype,
        };
        let reason = "each element is read from where it is";
        let (lookups, cut) = (space.lookups.len(), space.cut());
        Ok(Self {
            split: gather::split(space, split, dtype.size())?,
            ..Self::of(Strategy::InOrder, reason, lookups, cut, request, types)
        })
    }

    /// The wide cells of a part of the run, if it has such.
    pub(crate) fn wide(&self, space: &Space<'_>, cut: &Cut) -> Option<Wide> {
        self.wide
            .and_then(|_| Wide::choose(&self.request, space, cut, self.types))
    }

    /// Bytes of a row of a table.
    pub(crate) fn table_row(&self) -> usize {
        if self.request.exact {
            let cells = self
                .width()
                .saturating_mul(1 + usize::from(self.types.dst.is_complex()));
            return cells
                .saturating_mul(EXACT_CELL)
                .saturating_add(size_of::<u64>());
        }
        let count = match self.wide {
            Some(wide) => return self.width().saturating_mul(wide.size(self.types.dst)),
            None => size_of::<u64>(),
        };
        self.width()
            .saturating_mul(self.types.dst.accumulator().size())
            .saturating_add(count)
    }

    /// Elements of the destination that are always touched together, one after the other, if its
    /// layout has no gaps.
    pub(crate) fn run_length(&self) -> usize {
        let mut step = self.types.dst.size().cast_signed();
        let (window, cells) = (self.cut.window.iter().rev(), self.cut.cells.iter().rev());
        let packed = window.chain(cells).all(|axis| {
            let next = axis.step.dst == step;
            step = step.wrapping_mul(axis.len.cast_signed());
            next
        });
        match packed && self.cut.cell_start == 0 {
            true => self.width(),
            false => 1,
        }
    }

    /// The same, with what it moves: a run does without.
    pub(crate) fn with_traffic(mut self, space: &Space<'_>, around: Around) -> Self {
        self.traffic = Some(self.traffic_of(space, around));
        self
    }

    /// What a run moves through memory; `None` for a run without updates.
    #[must_use]
    pub fn traffic(&self) -> Option<&Traffic> {
        self.traffic.as_ref()
    }

    /// Bytes of an element of the source and of the destination.
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.types.src, self.types.dst].map(DType::size)
    }

    /// What is known of the run: the strategy and why, and what it moves through memory, in a
    /// sentence and as a table.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        Explanation::new(self.sentence(None), self.facts())
    }

    /// Likewise, with the time that it should take on a machine that was measured.
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

    /// The strategy that runs.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// How the run is shared out, and among how many threads; `None`: it is not.
    #[must_use]
    pub fn split(&self) -> Option<(Split, usize)> {
        self.split
    }

    /// The same in words.
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
                let trial = match self.is_tried() {
                    true => ", or one if a trial at the beginning says so",
                    false => "",
                };
                format!("by destination, {threads} threads that each read the whole index{trial}")
            }
        }
    }

    fn begins(&self) -> String {
        match self.strategy {
            Strategy::ReplaceSlice => "in the run, with the updates in it".into(),
            _ => self.begin.to_string(),
        }
    }

    /// Why this strategy.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// Rows of updates: each goes to one place as a whole.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.cut.count()
    }

    /// Elements in a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.cut.width()
    }

    /// Bytes of all updates, as elements of the destination.
    pub(crate) fn bytes(&self) -> usize {
        let elements = self.rows().saturating_mul(self.width());
        elements.saturating_mul(self.types.dst.size())
    }

    /// Which of the forms of destinations this is: `affine`, `rows`, `elements` or `runs`.
    #[must_use]
    pub fn form(&self) -> &'static str {
        match (self.lookups, self.cut.width()) {
            _ if self.strategy == Strategy::Runs => "runs",
            (0, _) => "affine",
            (_, 1) => "elements",
            _ => "rows",
        }
    }

    /// How often the updates or their indices are walked.
    #[must_use]
    pub fn passes(&self) -> usize {
        let request = &self.request;
        match self.strategy {
            Strategy::Small | Strategy::ReplaceSlice => 1,
            Strategy::Runs => 1 + usize::from(self.checks_first()),
            Strategy::InOrder | Strategy::Tiled => {
                1 + usize::from(self.checks_first())
                    + usize::from(request.from_identity && !self.marks)
            }
            Strategy::DenseTable => 1,
            Strategy::CompactTable | Strategy::Partition | Strategy::Grouped => 2,
        }
    }

    /// Whether every index is checked before the first write, in a pass of its own.
    pub(crate) fn checks_first(&self) -> bool {
        let request = &self.request;
        let unchecked = matches!(
            self.strategy,
            Strategy::InOrder | Strategy::Tiled | Strategy::Runs
        );
        request.visible && !request.proven && self.lookups > 0 && unchecked
    }

    /// Bytes of working memory beyond the inputs and the output, at most: of a run on one thread,
    /// with the tables of the others.
    #[must_use]
    pub fn working_memory(&self) -> usize {
        let row = self.table_row();
        let convert = match self.types.src == self.types.dst {
            true => 0,
            false => (self.width().max(8192)).saturating_mul(self.types.dst.size()),
        };
        let table = match self.strategy {
            Strategy::InOrder if self.marks => self.cut.cell_count / 8,
            Strategy::InOrder | Strategy::Runs => 0,
            Strategy::Small | Strategy::ReplaceSlice => return 0,
            Strategy::Tiled => tiles::LARGEST,
            Strategy::DenseTable => self.cut.cell_count.saturating_mul(row),
            Strategy::Partition => self.listed,
            Strategy::Grouped => Csr::most(self.rows(), self.cut.cell_count),
            Strategy::CompactTable => {
                let touched = self.cut.cell_count.min(self.rows());
                touched.saturating_mul(row + 8) + self.rows().saturating_mul(8)
            }
        };
        let private = match self.request.private {
            true => self.cut.cell_count.saturating_mul(self.types.dst.size()),
            false => 0,
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

    /// The same as names and values, for programs.
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
            ("reason", self.reason.to_owned()),
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
            _ if self.request.private => "sums of updates alone",
            _ if self.marks => "marks of the rows that are touched",
            _ => "updates that are converted, a piece at a time",
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Execution {
    /// How the destination gets what it holds before its updates.
    pub fn begin(&self) -> Begin {
        self.begin
    }

    /// Among how many threads it is shared out.
    pub fn threads(&self) -> usize {
        self.split.map_or(self.streams, |(_, threads)| threads)
    }
}

impl fmt::Display for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.explain().fmt(f)
    }
}
