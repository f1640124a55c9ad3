//! Segments as a plan: which row of the source goes to which row of the result. Where runs overlap,
//! a row goes to several, and is listed once for each.

use crate::dialect::framework::bounds::DROP;
use crate::grad::route::{Packed, own, packed};
use strew_engine::exec::segments::Pairing;
use strew_engine::plan::Plan;
use strew_engine::scatter::destinations::Destinations;
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
        let component = &places.components()[0];
        let axis = component.axis;
        let (cells, updates) = (places.shape(), places.updates_shape());
        let lines: usize = updates[..axis].iter().product();
        let (rows, many) = (cells[axis], updates[axis]);
        let mut values: Vec<i64> = try_vec("pointers", component.index.view().len())?;
        component.index.view().all_integers(|block| {
            values.extend_from_slice(block);
            true
        });
        let size = |value: i64| usize::try_from(value).unwrap_or(usize::MAX).min(many);
        let per_line = values.len().checked_div(lines).unwrap_or(0);
        let run = |line: usize, n: usize| {
            let at = line * per_line + n;
            let of = |at: usize| values.get(at).map_or(0, |&value| size(value));
            of(at)..of(at + 1)
        };
        let runs = move || (0..lines).flat_map(move |line| (0..rows).map(move |n| (line, n)));
        let numbers = |count: usize| Tensor::<i64>::zeros(&[count]);
        let width = updates[axis + 1..].iter().product();
        if places.pairing() == Some(Pairing::Ascending) {
            let mut to = numbers(lines * many)?;
            for (k, to) in to.as_mut_slice().iter_mut().enumerate() {
                let value = values.get(k).copied().unwrap_or(-1);
                *to = (k / many.max(1)) as i64 * rows as i64 + value;
            }
            let plan = plan(&to, lines * rows)?;
            return Ok(Self {
                plan,
                picked: None,
                width,
            });
        }
        let mut overlap = false;
        let mut to = numbers(lines * many)?;
        let owners = to.as_mut_slice();
        owners.fill(-1);
        for (line, n) in runs() {
            for owner in owners[line * many..][..many]
                .get_mut(run(line, n))
                .unwrap_or_default()
            {
                overlap |= *owner >= 0;
                *owner = (line * rows + n) as i64;
            }
        }
        if !overlap || last_stays {
            let plan = plan(&to, lines * rows)?;
            return Ok(Self {
                plan,
                picked: None,
                width,
            });
        }
        let count = runs().map(|(line, n)| run(line, n).len());
        let count = count.fold(0usize, usize::saturating_add);
        let (mut to, mut from) = (numbers(count)?, numbers(count)?);
        let all = runs().flat_map(|(line, n)| run(line, n).map(move |k| (line, n, k)));
        let both = to.as_mut_slice().iter_mut().zip(from.as_mut_slice());
        for ((to, from), (line, n, k)) in both.zip(all) {
            *to = (line * rows + n) as i64;
            *from = (line * many + k) as i64;
        }
        Ok(Self {
            plan: plan(&to, lines * rows)?,
            picked: Some(plan(&from, lines * many)?),
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

fn plan(numbers: &Tensor<i64>, size: usize) -> Result<Plan, Problem> {
    let numbers = numbers.view().into_dyn();
    Plan::new_dyn(&numbers, Some(size), DROP, None).map_err(own)
}
