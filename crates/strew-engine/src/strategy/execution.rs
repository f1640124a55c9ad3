//! What was chosen for a run: its strategy, how it is shared out, how its cells begin.

use crate::describe::split::Split;
use crate::describe::strategy::{Begin, Reason, Strategy};
use crate::strategy::wide::Wide;
use crate::strides::request::{Cells, Request, Types};
use crate::strides::space::Cut;
use crate::traffic::Traffic;
use smallvec::smallvec;
use strew_kernel::tensor::DType;
use strew_kernel::walk::geometry::{Axis, Step};

/// How a scatter is run: the same value drives the run and explains it.
#[derive(Debug)]
pub struct Execution {
    pub(crate) request: Request,
    pub(crate) cut: Cut,
    pub(crate) strategy: Strategy,
    pub(crate) reason: Reason,
    pub(crate) types: Types,
    pub(crate) lookups: usize,
    pub(crate) split: Option<(Split, usize)>,
    /// The index seems to ascend, so that each part of the split needs a stretch of it only.
    pub(crate) ascends: bool,
    /// Threads that write stretches of the output, of a run that is not split otherwise.
    pub(crate) streams: usize,
    /// Bytes that are copied from an input, of a run that replaces a slice of it.
    pub(crate) copied: usize,
    /// What the cells of a dense table hold that is a destination like any other.
    pub(crate) wide: Option<Wide>,
    /// Bytes that lists of the updates by block of the destination take.
    pub(crate) listed: usize,
    /// Touched rows are marked, so that the first touch is known.
    pub(crate) marks: bool,
    /// How the destination gets what it holds before its updates.
    pub(crate) begin: Begin,
    /// What a run moves, if this is to be explained.
    pub(crate) traffic: Option<Traffic>,
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
    /// A run on one thread into cells as they are; the caller sets what else it has chosen.
    pub(crate) fn of(
        strategy: Strategy,
        reason: Reason,
        lookups: usize,
        cut: Cut,
        request: Request,
        types: Types,
    ) -> Self {
        Self {
            reason,
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
        reason: Reason,
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
        Self {
            split,
            traffic: Some(traffic),
            ..Self::of(Strategy::Runs, reason, 1, cut, request, types)
        }
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

    /// What a run moves through memory; `None` for a run without updates.
    #[must_use]
    pub fn traffic(&self) -> Option<&Traffic> {
        self.traffic.as_ref()
    }

    /// Bytes of an element of the source and of the destination.
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.types.src, self.types.dst].map(DType::size)
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

    /// Why this strategy.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.reason.text()
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
                    + usize::from(request.cells == Cells::Identity && !self.marks)
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
