//! What gradients ask a plan: which rows and updates met, and who won.

use crate::describe::destinations::Destinations;
use crate::describe::destinations::row_ids::RowNumbers;
use crate::describe::{Scatter, Start, Target, identities};
use crate::plan::Plan;
use crate::plan::reduce::Reduce;
use std::sync::Arc;
use strew_kernel::error::{Error, Problem};
use strew_kernel::tensor::{DynTensor, DynView, try_vec};

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Plan {
    /// A plan for the rows of any destinations, and how many elements a row has.
    ///
    /// # Errors
    /// [`Problem::IndexOutOfBounds`], [`Problem::Memory`].
    pub fn of_destinations(destinations: &Destinations<'_>) -> Result<(Self, usize), Problem> {
        let RowNumbers {
            numbers,
            rows,
            width,
        } = destinations.row_numbers()?;
        Ok((Self::of_numbers(Arc::new(numbers), rows, None)?, width))
    }

    /// For each update whether it goes anywhere.
    pub fn kept_updates(&self) -> Result<Vec<bool>, Problem> {
        let mut kept = none_of(self.len())?;
        for (kept, number) in kept.iter_mut().zip(self.index.numbers.iter()) {
            *kept = number < self.size();
        }
        Ok(kept)
    }

    /// For each update how many updates its row takes; 0 for those that go nowhere.
    pub fn counts_of_updates(&self) -> Result<Vec<i64>, Problem> {
        let mut all = try_vec("counts of a plan's rows", self.len())?;
        all.resize(self.len(), 0);
        if self.size() <= self.len() {
            let counts = self.counts();
            let counts = counts.map_err(|error: Error| error.problem().clone())?;
            for (all, number) in all.iter_mut().zip(self.index.numbers.iter()) {
                *all = counts.as_slice().get(number).copied().unwrap_or(0);
            }
            return Ok(all);
        }
        // More rows than updates: nothing may cost as much as they are many.
        let groups = self.groups()?;
        for group in 0..groups.len() {
            let updates = groups.start(group)..groups.start(group + 1);
            let count = updates.len() as i64;
            updates.for_each(|k| all[groups.update(k)] = count);
        }
        Ok(all)
    }

    /// For each update whether it is the last one of its row.
    pub fn last_updates(&self) -> Result<Vec<bool>, Problem> {
        if self.is_unique() {
            return self.kept_updates();
        }
        let mut last = none_of(self.len())?;
        let groups = self.groups()?;
        for group in 0..groups.len() {
            let (start, end) = (groups.start(group), groups.start(group + 1));
            if start < end {
                last[groups.update(end - 1)] = true;
            }
        }
        Ok(last)
    }

    /// For each cell the position of the update that is its strict minimum or maximum;
    /// [`len`](Self::len) where no update is.
    ///
    /// `start` is what the cells hold at first; without it they are those of a new tensor.
    pub fn winners(
        &self,
        src: &DynView<'_>,
        axis: usize,
        reduce: Reduce,
        start: Option<&DynView<'_>>,
    ) -> Result<DynTensor, Problem> {
        let Some(start) = start else {
            let both = self.scatter_with_arg_dyn(src, axis as i64, reduce);
            return Ok(both.map_err(|error: Error| error.problem().clone())?.1);
        };
        let shape = self.shape(src.shape(), axis);
        let target = Target::New {
            dtype: src.dtype(),
            start: Start::CopyOf(start.clone()),
        };
        let destinations = self.destinations(src.shape(), &shape, axis)?;
        let reduction = reduce.into(true);
        let scatter = Scatter::new(destinations, reduction, "src", src.clone(), target)?;
        let none = i64::try_from(self.len()).unwrap_or(i64::MAX);
        let made = scatter.with_arg(none).proven().run()?;
        Ok(made
            .arg
            .expect("a scatter with positions makes two tensors"))
    }

    /// What every update of a minimum or maximum beats, of the shape of a destination of `src`.
    pub fn beaten_by_all(
        &self,
        src: &DynView<'_>,
        axis: usize,
        reduce: Reduce,
    ) -> Result<DynTensor, Problem> {
        let shape = self.shape(src.shape(), axis);
        identities(src.dtype(), &shape, &reduce.into(false))
    }
}

fn none_of(count: usize) -> Result<Vec<bool>, Problem> {
    let mut all = try_vec("the list of marked rows", count)?;
    all.resize(count, false);
    Ok(all)
}
