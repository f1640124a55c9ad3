//! Runs that sort the updates by row first.

use crate::choose::grouping::room;
use crate::choose::split::Split;
use crate::choose::strategy::Strategy;
use crate::exec::grouped::{Reductions, are_few, reduce};
use crate::exec::record::{Did, did};
use crate::scatter::destinations::row_ids::{RowGroups, RowNumbers};
use crate::scatter::reduction::{Finish, Init};
use crate::scatter::{Scatter, Start};
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::Problem;
use strew_kernel::groups::csr::Csr;
use strew_kernel::groups::row_ids::Facts;
use strew_kernel::ops::number::{Divisor, Mean};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::segment::fold;
use strew_kernel::segment::fold::{Fold, Seed};
use strew_kernel::tensor::{DType, DynTensor, DynViewMut, shaped};

impl Scatter<'_> {
    /// The new tensor, and the positions of the winners.
    pub(crate) fn group(
        &self,
        threads: usize,
        mut arg: Option<&mut DynTensor>,
    ) -> Result<DynTensor, Problem> {
        let dtype = self.dtype();
        let start = self.target.start().unwrap_or(&Start::Zero);
        let seed = self.seed(start);
        let start = match start {
            Start::FiniteExtreme if self.reduction.finish == Finish::ZeroIfStart => &Start::Zero,
            start => start,
        };
        if self.source.view().is_empty() {
            self.destinations.row_numbers()?;
            return self.start_as(start);
        }
        let rows = self.rows_by_group()?;
        // What the rows that take updates hold at first is never seen then. Positions are not zero
        // where there are none.
        let zeros = match start {
            _ if self.arg.is_some() => false,
            Start::Zero => true,
            Start::Identity => self.reduction.combine == Combine::Sum,
            _ => false,
        };
        let bytes = self.cells().saturating_mul(dtype.size());
        let untouched = rows.groups.size() - rows.groups.multiplicity().0;
        let clears = zeros && seed != Seed::Current && are_few(untouched, bytes);
        let tensor = match clears {
            true => DynTensor::scratch(dtype, self.destinations.shape())?,
            false => self.start_as(start)?,
        };
        let shape = rows.shape();
        let mut tensor = shaped(tensor, &shape)?;
        // Rows without updates keep what the positions hold now.
        let mut positions = match arg.as_deref_mut() {
            Some(arg) => {
                let nothing = DynTensor::zeros(DType::I64, &[0])?;
                Some(shaped(std::mem::replace(arg, nothing), &shape)?)
            }
            None => None,
        };
        let outputs = [
            Some(tensor.view_mut()),
            positions.as_mut().map(DynTensor::view_mut),
        ];
        let outputs = outputs.into_iter().flatten().collect();
        let begun = RowsBegun { seed, clears };
        self.reduce_rows(&rows, begun, outputs, threads, false)?;
        if let (Some(arg), Some(positions)) = (arg, positions) {
            *arg = shaped(positions, self.destinations.shape())?;
        }
        shaped(tensor, self.destinations.shape())
    }

    /// Likewise, into memory of the caller's. All indices are checked before the first row is
    /// written.
    pub(crate) fn group_into(&self, threads: usize, view: DynViewMut<'_>) -> Result<(), Problem> {
        let seed = match self.reduction.init {
            Init::Current => Seed::Current,
            Init::Identity => Seed::Identity,
        };
        let begun = RowsBegun {
            seed,
            clears: false,
        };
        let rows = self.rows_by_group()?;
        match view.reshape(&rows.shape()) {
            Some(view) => self.reduce_rows(&rows, begun, vec![view], threads, true),
            None => Err(Problem::Layout {
                argument: "destination".into(),
                why: "it has gaps".into(),
            }),
        }
    }

    fn rows_by_group(&self) -> Result<RowGroups, Problem> {
        if let Some(rows) = self.destinations.ascending()? {
            return Ok(rows);
        }
        let RowNumbers {
            numbers,
            rows,
            width,
        } = self.destinations.row_numbers()?;
        let facts = Facts::of(&numbers, rows);
        if self.strategy.is_none() && self.arg.is_none() {
            // The choice reckoned with an index in order, as its sample was. Sorting takes more
            // memory.
            let updates = self.source.view();
            let bytes = updates.len().saturating_mul(updates.dtype().size());
            let needed = Csr::room(numbers.len(), rows, facts, rows.min(numbers.len()));
            if needed > room(bytes) {
                return Err(Problem::Memory {
                    what: "groups of the updates".into(),
                    needed: needed as u128,
                    available: room(bytes) as u128,
                });
            }
        }
        Ok(RowGroups {
            groups: Csr::new(&numbers, rows, facts)?,
            width,
        })
    }

    fn reduce_rows(
        &self,
        rows: &RowGroups,
        begun: RowsBegun,
        outputs: Vec<DynViewMut<'_>>,
        threads: usize,
        visible: bool,
    ) -> Result<(), Problem> {
        did(Did::Strategy(Strategy::Grouped));
        if threads > 1 {
            did(Did::Split(Split::Owner, threads));
        }
        let updates = [rows.groups.updates(), rows.width];
        let source = self.source.view();
        let packed;
        let source = match source.reshape(&updates) {
            Some(view) => view,
            None => {
                packed = shaped(duplicate(source)?, &updates)?;
                packed.view()
            }
        };
        let fold = Fold {
            combine: self.reduction.combine,
            seed: begun.seed,
            finish: match self.reduction.finish {
                Finish::Mean { count_self } => fold::Finish::Mean(Mean {
                    more: u64::from(count_self),
                    divisor: Divisor::Count,
                }),
                Finish::ZeroIfStart => fold::Finish::ZeroIfStart,
                _ => fold::Finish::None,
            },
            none: self.arg,
            empty: false,
            exact: self.exact,
        };
        let what = Reductions {
            folds: &[fold],
            clears: begun.clears,
        };
        reduce(&rows.groups, &what, 0, &source, outputs, threads, visible)
    }

    /// What the running result of a row starts from.
    fn seed(&self, start: &Start<'_>) -> Seed {
        match (self.reduction.init, start, self.reduction.combine) {
            (Init::Identity, ..) | (_, Start::Identity, _) | (_, Start::Zero, Combine::Sum) => {
                Seed::Identity
            }
            (_, Start::FiniteExtreme, _) => Seed::FiniteExtreme,
            _ => Seed::Current,
        }
    }
}

/// What rows of the destination begin with.
#[derive(Clone, Copy)]
struct RowsBegun {
    /// The value that the updates of a row join.
    seed: Seed,
    /// The run itself sets rows without updates to zero.
    clears: bool,
}
