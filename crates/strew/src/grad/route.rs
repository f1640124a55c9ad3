//! The way between updates and cells, in both directions.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::destinations::row_ids::RowNumbers;
use strew_engine::plan::reduce::Reduce;
use strew_engine::plan::{Plan, PlanIntoOptions};
use strew_engine::threads::groups::picked;
use strew_engine::threads::share::threads;
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::{Error, Problem};
use strew_kernel::groups::row_ids::RowIds;
use strew_kernel::tensor::{
    Dims, DynTensor, DynView, DynViewMut, Element, Tensor, shaped, try_vec,
};

/// Which update goes to which cell, as row numbers and the shapes in which they see both.
pub(super) struct Route {
    numbers: Arc<RowIds>,
    /// Rows of cells.
    size: usize,
    /// Made at the first use, unless the caller gave one.
    plan: OnceLock<Plan>,
    axis: usize,
    cells: Dims,
    updates: Dims,
}

/// Elements in a route's shape: those of the caller where they lie so, else a copy.
pub(super) enum Packed<'a> {
    View(DynView<'a>),
    Copy(DynTensor),
}

impl Packed<'_> {
    pub(super) fn view(&self) -> DynView<'_> {
        match self {
            Self::View(view) => view.clone(),
            Self::Copy(copy) => copy.view(),
        }
    }
}

impl Route {
    /// To these destinations: updates and cells are seen as matrices of the rows that move as one.
    pub(super) fn to(destinations: &Destinations<'_>) -> Result<Self, Problem> {
        let RowNumbers {
            numbers,
            rows,
            width,
        } = destinations.row_numbers()?;
        Ok(Self {
            axis: 0,
            cells: Dims::from_slice(&[rows, width]),
            updates: Dims::from_slice(&[numbers.len(), width]),
            numbers: Arc::new(numbers),
            size: rows,
            plan: OnceLock::new(),
        })
    }

    /// Along an axis of updates of this shape, whose size there is the plan's number of updates.
    pub(super) fn along(plan: &Plan, updates: &[usize], axis: usize) -> Self {
        let mut cells = Dims::from_slice(updates);
        cells[axis] = plan.size();
        Self {
            numbers: Arc::clone(plan.numbers()),
            size: plan.size(),
            plan: OnceLock::from(plan.clone()),
            axis,
            cells,
            updates: Dims::from_slice(updates),
        }
    }

    /// For each row of updates the row of cells; of updates that go nowhere it is not below
    /// [`size`](Self::size).
    pub(super) fn numbers(&self) -> &RowIds {
        &self.numbers
    }

    /// Elements of a row, side by side.
    pub(super) fn width(&self) -> usize {
        self.cells[self.axis + 1..].iter().product()
    }

    /// Rows of cells along the axis.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    fn plan(&self) -> Result<&Plan, Problem> {
        if let Some(plan) = self.plan.get() {
            return Ok(plan);
        }
        let made = Plan::of_numbers(Arc::clone(&self.numbers), self.size, None)?;
        Ok(self.plan.get_or_init(|| made))
    }

    /// The shape in which the route sees the cells.
    pub(super) fn cells(&self) -> &[usize] {
        &self.cells
    }

    /// The shape in which the route sees the updates.
    pub(super) fn updates(&self) -> &[usize] {
        &self.updates
    }

    /// How many updates there are along the plan's axis: the position of none.
    pub(super) fn none(&self) -> usize {
        self.numbers.len()
    }

    /// The rows of a tensor of cells, for what is done with whole rows.
    fn rows_of_cells(&self, each: impl FnMut(usize, Range<usize>)) {
        rows(&self.cells, self.axis, each);
    }

    fn rows_of_updates(&self, each: impl FnMut(usize, Range<usize>)) {
        rows(&self.updates, self.axis, each);
    }

    /// What each update's cell holds; zero for updates that go nowhere.
    pub(super) fn gather_dyn(&self, cells: &DynView<'_>) -> Result<DynTensor, Problem> {
        if let Some(plan) = self.plan.get() {
            return plan.gather_dyn(cells, self.axis as i64).map_err(own);
        }
        let all = self.numbers.iter().all(|number| number < self.size);
        picked(&self.numbers, all, self.axis, cells, threads)
    }

    /// The updates reduced into new cells.
    pub(super) fn scatter_dyn(
        &self,
        updates: &DynView<'_>,
        reduce: Reduce,
    ) -> Result<DynTensor, Problem> {
        let made = self.plan()?.scatter_dyn(updates, self.axis as i64, reduce);
        made.map_err(own)
    }

    /// The updates reduced into cells that are there.
    pub(super) fn scatter_into_dyn(
        &self,
        updates: &DynView<'_>,
        reduce: Reduce,
        cells: DynViewMut<'_>,
        include_self: bool,
    ) -> Result<(), Problem> {
        let plan = self.plan()?;
        plan.scatter_into_dyn(
            updates,
            self.axis as i64,
            reduce,
            cells,
            PlanIntoOptions { include_self },
        )
        .map_err(own)
    }

    /// The sums of the updates.
    pub(super) fn sum<T: Element>(&self, updates: &Tensor<T>) -> Result<Tensor<T>, Problem> {
        let made = self.scatter_dyn(&updates.view().into_dyn(), Reduce::Sum)?;
        made.typed().map_err(|_| torn())
    }

    /// The sums or products of what the cells hold and the updates.
    pub(super) fn join<T: Element>(
        &self,
        updates: &Tensor<T>,
        reduce: Reduce,
        cells: &mut Tensor<T>,
    ) -> Result<(), Problem> {
        let cells = cells.view_mut().into_dyn();
        self.scatter_into_dyn(&updates.view().into_dyn(), reduce, cells, true)
    }

    /// How many updates each row of cells takes.
    pub(super) fn counts(&self) -> Result<Vec<i64>, Problem> {
        let mut counts = try_vec("counts of rows", self.size)?;
        counts.resize(self.size, 0);
        for number in self.numbers.iter() {
            if let Some(count) = counts.get_mut(number) {
                *count += 1;
            }
        }
        Ok(counts)
    }

    /// For each row of updates the number of updates of its row of cells; 0 for those that go
    /// nowhere. The cost does not depend on the number of cells.
    pub(super) fn counts_of_updates(&self) -> Result<Vec<i64>, Problem> {
        self.plan()?.counts_of_updates()
    }

    /// For each row of cells whether an update goes there.
    pub(super) fn touched(&self) -> Result<Vec<bool>, Problem> {
        let mut touched = try_vec("the marks of rows", self.size)?;
        touched.resize(self.size, false);
        for number in self.numbers.iter() {
            if let Some(touched) = touched.get_mut(number) {
                *touched = true;
            }
        }
        Ok(touched)
    }

    /// Sets to zero what belongs to updates that go nowhere.
    pub(super) fn clear_dropped(&self, updates: &mut DynTensor) -> Result<(), Problem> {
        if self.plan()?.dropped() == 0 {
            return Ok(());
        }
        let kept = self.plan()?.kept_updates()?;
        self.clear_updates(updates, &kept);
        Ok(())
    }

    /// Sets to zero what belongs to updates that are not the last of their cell.
    pub(super) fn clear_losers(&self, updates: &mut DynTensor) -> Result<(), Problem> {
        let last = self.plan()?.last_updates()?;
        self.clear_updates(updates, &last);
        Ok(())
    }

    fn clear_updates(&self, updates: &mut DynTensor, keep: &[bool]) {
        let size = updates.dtype().size();
        let bytes = updates.as_bytes_mut();
        self.rows_of_updates(|row, range| {
            if !keep[row] {
                bytes[range.start * size..range.end * size].fill(0);
            }
        });
    }

    /// Sets to zero the cells that updates go to.
    pub(super) fn clear_touched(&self, cells: &mut DynTensor) -> Result<(), Problem> {
        let touched = self.touched()?;
        let size = cells.dtype().size();
        let bytes = cells.as_bytes_mut();
        self.rows_of_cells(|row, range| {
            if touched[row] {
                bytes[range.start * size..range.end * size].fill(0);
            }
        });
        Ok(())
    }

    /// Sets the cells that no update goes to to those of another tensor.
    pub(super) fn keep_untouched<T: Element>(
        &self,
        cells: &mut Tensor<T>,
        from: impl Fn(usize) -> T,
    ) -> Result<(), Problem> {
        let touched = self.touched()?;
        let cells = cells.as_mut_slice();
        self.rows_of_cells(|row, range| {
            if !touched[row] {
                range.for_each(|at| cells[at] = from(at));
            }
        });
        Ok(())
    }

    /// For each cell the position of its winner; [`none`](Self::none) where no update is. Without
    /// an own value of the cells they are those of a new tensor.
    pub(super) fn winners(
        &self,
        updates: &DynView<'_>,
        max: bool,
        start: Option<&DynView<'_>>,
    ) -> Result<Tensor<i64>, Problem> {
        let reduce = if max { Reduce::Max } else { Reduce::Min };
        let made = self.plan()?.winners(updates, self.axis, reduce, start)?;
        made.typed().map_err(|_| torn())
    }

    /// The value that every update beats.
    pub(super) fn beaten_by_all(
        &self,
        updates: &DynView<'_>,
        max: bool,
    ) -> Result<DynTensor, Problem> {
        let reduce = if max { Reduce::Max } else { Reduce::Min };
        self.plan()?.beaten_by_all(updates, self.axis, reduce)
    }

    /// The axis of the plan.
    pub(super) fn axis(&self) -> usize {
        self.axis
    }
}

/// Elements seen with another shape that has as many.
pub(super) fn packed<'a>(view: &DynView<'a>, shape: &[usize]) -> Result<Packed<'a>, Problem> {
    if view.shape() == shape {
        return Ok(Packed::View(view.clone()));
    }
    Ok(match view.reshape(shape) {
        Some(view) => Packed::View(view),
        None => Packed::Copy(shaped(duplicate(&view.at_least_1d())?, shape)?),
    })
}

/// Calls `each` with the number of each row along an axis, and where each stretch of its elements
/// is.
pub(super) fn rows(shape: &[usize], axis: usize, mut each: impl FnMut(usize, Range<usize>)) {
    if shape.contains(&0) {
        return;
    }
    let outer: usize = shape[..axis].iter().product();
    let inner: usize = shape[axis + 1..].iter().product();
    for o in 0..outer {
        for row in 0..shape[axis] {
            let from = (o * shape[axis] + row) * inner;
            each(row, from..from + inner);
        }
    }
}

/// The problem in the error of a call that the derivative made itself.
pub(super) fn own(error: Error) -> Problem {
    error.problem().clone()
}

fn torn() -> Problem {
    Problem::Layout {
        argument: "tensor".into(),
        why: "it is of another type than what it was made of".into(),
    }
}
