//! What a run is asked to do with its updates: the input of every choice.

use crate::describe::reduction::{Finish, Init};
use crate::describe::split::Split;
use crate::describe::strategy::Strategy;
use crate::describe::{Scatter, Start, Target};
use crate::strides::space::{Cut, Space};
use strew_kernel::ops::number::{Divisor, Mean};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::segment::exact_sum::sums_rows_exactly;
use strew_kernel::tensor::{DType, Layout};

/// The element types of a run.
#[derive(Clone, Copy, Debug)]
pub struct Types {
    pub dst: DType,
    pub src: DType,
}

impl Types {
    /// Whether running results are wider than the cells.
    pub(crate) fn widens(self, combine: Combine) -> bool {
        combine.folds() && self.dst.accumulator() != self.dst
    }
}

/// All that is known of a run before its strategy is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'r, 's> {
    pub(crate) space: &'r Space<'s>,
    pub(crate) cut: &'r Cut,
    pub(crate) request: &'r Request,
    pub(crate) types: Types,
}

impl Run<'_, '_> {
    /// Whether cells cannot hold the running results.
    pub(crate) fn needs_table(&self) -> bool {
        let request = self.request;
        self.types.widens(request.combine) || request.mean.is_some() || request.exact
    }
}

/// What the running results of touched cells begin as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// What the cells hold.
    Kept,
    /// What the cells hold, which is the reduction's identity in every one.
    Blank,
    /// The reduction's identity, not what the cells hold.
    Identity,
    /// The identity: cells that no update has reached yet hold a sentinel.
    Unset,
    /// The same in a table of the destination's shape, from which the caller's memory is set in
    /// the end.
    Private,
}

impl Cells {
    /// They may hold a sentinel.
    pub(crate) fn are_unset(self) -> bool {
        matches!(self, Self::Unset | Self::Private)
    }
}

/// What a run is asked to do with its updates.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub combine: Combine,
    /// What the running results of touched cells begin as.
    pub cells: Cells,
    /// Divide by the number of updates.
    pub mean: Option<Mean>,
    /// Sums are exact, and rounded once.
    pub exact: bool,
    /// The caller can see the destination, so nothing may be written before all is checked.
    pub visible: bool,
    /// Every index value has been checked before, and no other thread can change the index.
    pub proven: bool,
    /// Lists of the updates by block of the destination are there already, but for the elements.
    pub listed: bool,
    /// Why updates cannot be grouped by their row, if so.
    pub ungrouped: Option<&'static str>,
    /// A strategy to use whether or not it pays.
    pub force: Option<Strategy>,
    /// How to share the run out, and among how many threads, whether or not it pays.
    pub split: Option<(Split, usize)>,
}

impl Scatter<'_> {
    /// What a run into a destination of this layout is asked for. `sentinels`: only updates count,
    /// and cells that no update has reached hold a sentinel.
    pub(crate) fn request(&self, layout: &Layout, sentinels: bool) -> Request {
        let in_place = matches!(self.target, Target::InPlace { .. });
        Request {
            combine: self.reduction.combine,
            cells: self.cells_begin(sentinels),
            mean: self.mean(),
            exact: self.exact,
            visible: in_place && !sentinels,
            proven: self.proven,
            listed: self.keeps_lists,
            ungrouped: match sentinels {
                true => Some("cells that start without a value are not grouped"),
                false => self.ungrouped(layout),
            }
            .or((self.proven && self.arg.is_none()).then_some("a plan groups updates itself")),
            force: self.strategy,
            split: self.split,
        }
    }

    fn cells_begin(&self, sentinels: bool) -> Cells {
        let blank = match (&self.target, self.reduction.combine) {
            (Target::New { start, .. }, Combine::Sum) => matches!(start, Start::Zero),
            (Target::New { start, .. }, Combine::Prod) => matches!(start, Start::Identity),
            _ => false,
        };
        match self.target {
            Target::InPlace { .. } if sentinels => Cells::Private,
            Target::New { .. } if sentinels => Cells::Unset,
            _ if blank => Cells::Blank,
            _ if self.reduction.init == Init::Identity => Cells::Identity,
            _ => Cells::Kept,
        }
    }

    pub(crate) fn mean(&self) -> Option<Mean> {
        let (count_self, divisor) = match self.reduction.finish {
            Finish::Mean { count_self } => (count_self, Divisor::Count),
            Finish::MeanTowardZero { count_self } => (count_self, Divisor::CountTowardZero),
            Finish::DivideByRoot => (false, Divisor::Root),
            Finish::None | Finish::ZeroIfStart => return None,
        };
        Some(Mean {
            more: u64::from(count_self),
            divisor,
        })
    }

    /// Why updates cannot be grouped by their row, if so.
    fn ungrouped(&self, layout: &Layout) -> Option<&'static str> {
        let new = matches!(
            self.target,
            Target::New {
                start: Start::Zero,
                ..
            }
        );
        let rows = new && self.reduction.finish == Finish::None && sums_rows_exactly(self.dtype());
        if self.exact && !rows {
            return Some("these exact sums are kept in a table");
        }
        if self.destinations.pairing().is_some() {
            return Some("rows that lie one after the other need no groups");
        }
        if self.reduction.combine == Combine::Assign {
            return Some("updates that replace each other are not grouped");
        }
        if matches!(self.reduction.combine, Combine::Sub | Combine::Div) {
            return Some("differences and quotients are not made by group");
        }
        if matches!(
            self.reduction.finish,
            Finish::MeanTowardZero { .. } | Finish::DivideByRoot
        ) {
            return Some("these means are not made by group");
        }
        if self.source.view().dtype() != self.dtype() {
            return Some("updates that are converted are not grouped");
        }
        let start = match &self.target {
            Target::New { start, .. } => start,
            Target::InPlace { .. } if !layout.is_contiguous() => {
                return Some("updates of a destination with gaps are not grouped");
            }
            Target::InPlace { .. } if self.reduction.finish == Finish::ZeroIfStart => {
                return Some("what cells held at first is not known by group");
            }
            Target::InPlace { .. } => {
                return self.arg.map(|_| "positions in place are not kept by group");
            }
        };
        // Positions are those along the one axis that has an index, of winners that start from
        // nothing.
        let strict = matches!(
            self.reduction.combine,
            Combine::Min(Nan::Ignore) | Combine::Max(Nan::Ignore)
        );
        let known = strict
            && matches!(start, Start::FiniteExtreme)
            && self.reduction.finish == Finish::ZeroIfStart
            && self.destinations.leading_axes() == 1;
        (self.arg.is_some() && !known).then_some("these positions are not kept by group")
    }
}
