//! Segments as a plan: which row of the source goes to which row of the result. Where runs overlap,
//! a row goes to several, and is listed once for each.

use crate::dialect::framework::bounds::DROP;
use crate::grad::route::{Packed, own, packed};
use std::ops::Range;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::pairing::Pairing;
use strew_engine::plan::Plan;
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{DynView, Tensor, try_vec};

/// Which row of the source goes to which row of the result.
pub(super) struct Entries {
    /// From the entries to the rows of the result.
    pub(super) plan: Plan,
    /// From the entries to the rows of the source, if those are not the same.
    pub(super) picked: Option<Plan>,
    /// Elements of a row.
    pub(super) width: usize,
}

impl Entries {
    /// Of places whose index has been looked at.
    pub(super) fn of(places: &Destinations<'_>, last_stays: bool) -> Result<Self, Problem> {
        let axis = places.components()[0].axis;
        let width = places.updates_shape()[axis + 1..].iter().product();
        let runs = Runs::of(places)?;
        let once = |to: &Tensor<i64>| {
            Ok(Self {
                plan: plan(to, runs.lines * runs.rows)?,
                picked: None,
                width,
            })
        };
        if places.pairing() == Some(Pairing::Ascending) {
            return once(&runs.indexed()?);
        }
        let Owners { last, overlap } = runs.owners()?;
        if !overlap || last_stays {
            return once(&last);
        }
        let Pairs { to, from } = runs.pairs()?;
        Ok(Self {
            plan: plan(&to, runs.lines * runs.rows)?,
            picked: Some(plan(&from, runs.lines * runs.many)?),
            width,
        })
    }

    /// The rows of a source as they are listed.
    pub(super) fn listed<'v>(&self, src: &DynView<'v>) -> Result<Packed<'v>, Problem> {
        let Some(picked) = &self.picked else {
            return packed(src, &[self.plan.len(), self.width]);
        };
        let rows = packed(src, &[picked.size(), self.width])?;
        let made = picked.gather_dyn(&rows.view(), 0).map_err(own)?;
        Ok(Packed::Copy(made))
    }
}

/// The array that says which rows of the source belong to which row of the result.
struct Runs {
    /// Its values: pointers, or an index that ascends.
    values: Vec<i64>,
    /// How many of them there are on a line.
    per_line: usize,
    /// Lines: coordinates of the axes before that of the rows.
    lines: usize,
    /// Rows of the result, and of the source, on a line.
    rows: usize,
    many: usize,
}

/// The row of the result that each row of the source belongs to.
struct Owners {
    /// The last row of the result whose run a row of the source is in; -1 if there is none.
    last: Tensor<i64>,
    /// Some rows of the source are in several runs.
    overlap: bool,
}

/// Every row of the source in every run.
struct Pairs {
    /// The row of the result.
    to: Tensor<i64>,
    /// The row of the source.
    from: Tensor<i64>,
}

impl Runs {
    fn of(places: &Destinations<'_>) -> Result<Self, Problem> {
        let component = &places.components()[0];
        let axis = component.axis;
        let (cells, updates) = (places.shape(), places.updates_shape());
        let lines: usize = updates[..axis].iter().product();
        let mut values: Vec<i64> = try_vec("pointers", component.index.view().len())?;
        component.index.view().all_integers(|block| {
            values.extend_from_slice(block);
            true
        });
        Ok(Self {
            per_line: values.len().checked_div(lines).unwrap_or(0),
            values,
            lines,
            rows: cells[axis],
            many: updates[axis],
        })
    }

    /// The rows of the source that belong to row `n` of the result, as pointers say.
    fn run(&self, line: usize, n: usize) -> Range<usize> {
        let at = line * self.per_line + n;
        let size = |value: i64| usize::try_from(value).unwrap_or(usize::MAX).min(self.many);
        let of = |at: usize| self.values.get(at).map_or(0, |&value| size(value));
        of(at)..of(at + 1)
    }

    /// All rows of the result, with their lines.
    fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        let rows = self.rows;
        (0..self.lines).flat_map(move |line| (0..rows).map(move |n| (line, n)))
    }

    /// The row of the result that each row of the source belongs to, as an index says.
    fn indexed(&self) -> Result<Tensor<i64>, Problem> {
        let mut to = Tensor::<i64>::zeros(&[self.lines * self.many])?;
        for (k, to) in to.as_mut_slice().iter_mut().enumerate() {
            let value = self.values.get(k).copied().unwrap_or(-1);
            *to = (k / self.many.max(1)) as i64 * self.rows as i64 + value;
        }
        Ok(to)
    }

    /// The last row of the result that each row of the source belongs to, as pointers say.
    fn owners(&self) -> Result<Owners, Problem> {
        let many = self.many;
        let mut overlap = false;
        let mut last = Tensor::<i64>::zeros(&[self.lines * many])?;
        let owners = last.as_mut_slice();
        owners.fill(-1);
        for (line, n) in self.all() {
            for owner in owners[line * many..][..many]
                .get_mut(self.run(line, n))
                .unwrap_or_default()
            {
                overlap |= *owner >= 0;
                *owner = (line * self.rows + n) as i64;
            }
        }
        Ok(Owners { last, overlap })
    }

    /// All rows of the source in the runs of all rows of the result, as pointers say.
    fn pairs(&self) -> Result<Pairs, Problem> {
        let count = self.all().map(|(line, n)| self.run(line, n).len());
        let count = count.fold(0usize, usize::saturating_add);
        let numbers = || Tensor::<i64>::zeros(&[count]);
        let (mut to, mut from) = (numbers()?, numbers()?);
        let all = self.all();
        let all = all.flat_map(|(line, n)| self.run(line, n).map(move |k| (line, n, k)));
        let both = to.as_mut_slice().iter_mut().zip(from.as_mut_slice());
        for ((to, from), (line, n, k)) in both.zip(all) {
            *to = (line * self.rows + n) as i64;
            *from = (line * self.many + k) as i64;
        }
        Ok(Pairs { to, from })
    }
}

fn plan(numbers: &Tensor<i64>, size: usize) -> Result<Plan, Problem> {
    let numbers = numbers.view().into_dyn();
    Plan::new_dyn(&numbers, Some(size), DROP, None).map_err(own)
}
