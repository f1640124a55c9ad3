//! Runs that sort the updates by row first.

use super::destinations::RowNumbers;
use super::{Finish, Init, Scatter, Start, Target};
use crate::error::Problem;
use crate::kernel::{Combine, Facts, Fold, Groups, Nan, Seed, Take, duplicate};
use crate::plan::{Reductions, reduce};
use crate::tensor::{DType, DynTensor, shaped};

impl<'a> Scatter<'a> {
    /// Why updates cannot be grouped by their row, if so. `alone`: they start from cells that are unset.
    pub(super) fn ungrouped(&self, alone: bool) -> Option<&'static str> {
        let Target::New { dtype, start } = &self.target else {
            return Some("updates of a tensor in place are not grouped");
        };
        if self.destinations.pairing().is_some() {
            return Some("rows that lie one after the other need no groups");
        }
        if alone {
            return Some("cells that start without a value are not grouped");
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
        if self.source.view().dtype() != *dtype {
            return Some("updates that are converted are not grouped");
        }
        // Positions are those along the one axis that has an index, of winners that start from nothing.
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

    /// The new tensor, and the positions of the winners.
    pub(super) fn grouped(
        &self,
        threads: usize,
        dtype: DType,
        start: &Start<'a>,
        mut arg: Option<&mut DynTensor>,
    ) -> Result<DynTensor, Problem> {
        let RowNumbers {
            numbers,
            rows,
            width,
        } = self.destinations.row_numbers()?;
        let zero_if_start = self.reduction.finish == Finish::ZeroIfStart;
        let tensor = match start {
            Start::FiniteExtreme if zero_if_start => self.start(dtype, &Start::Zero)?,
            start => self.start(dtype, start)?,
        };
        let source = self.source.view();
        if source.is_empty() {
            return Ok(tensor);
        }
        let facts = Facts::of(&numbers, rows);
        let groups = Groups::new(&numbers, rows, facts)?;
        let updates = [numbers.len(), width];
        drop(numbers);
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
            seed: self.seed(start),
        };
        let take = Take {
            fold: 0,
            mean: match self.reduction.finish {
                Finish::Mean { count_self } => Some(u64::from(count_self)),
                _ => None,
            },
            zero_if_start,
        };
        let mut tensor = shaped(tensor, &[rows, width])?;
        // Rows without updates keep what the positions hold now.
        let mut positions = match arg.as_deref_mut() {
            Some(arg) => {
                let nothing = DynTensor::zeros(DType::I64, &[0])?;
                Some(shaped(std::mem::replace(arg, nothing), &[rows, width])?)
            }
            None => None,
        };
        let outputs = [
            Some(tensor.view_mut()),
            positions.as_mut().map(DynTensor::view_mut),
        ];
        let what = Reductions {
            folds: &[fold],
            takes: &[take],
            none: self.arg,
            clears: false,
        };
        let outputs = outputs.into_iter().flatten().collect();
        reduce(&groups, &what, 0, &source, outputs, threads, false)?;
        if let (Some(arg), Some(positions)) = (arg, positions) {
            *arg = shaped(positions, self.destinations.shape())?;
        }
        shaped(tensor, self.destinations.shape())
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
