//! Which updates each row of a plan takes.

use crate::plan::Plan;
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::Tensor;

/// The updates of each row, in their order.
///
/// Row `r` takes `updates[starts[r]..starts[r + 1]]`.
#[derive(Debug)]
pub struct Members {
    /// Where each row begins, and where the last one ends: one more than there are rows.
    pub starts: Tensor<i64>,
    /// The updates that are not left out.
    pub updates: Tensor<i64>,
}

impl Plan {
    /// The updates of each row, in one list.
    ///
    /// ```
    /// # mod strew { pub use strew_engine::{plan::*, describe::bounds::*}; pub use strew_kernel::error::Error; }
    /// use strew::{Bounds, Plan};
    ///
    /// let members = Plan::new(&[2i64, 0, 2, 2], Some(4), Bounds::STRICT)?.members()?;
    /// assert_eq!(members.starts.as_slice(), [0, 1, 1, 4, 4]);
    /// assert_eq!(members.updates.as_slice(), [1, 0, 2, 3]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn members(&self) -> Result<Members> {
        self.listed()
            .map_err(|problem| self.context().error(problem))
    }

    fn listed(&self) -> Result<Members, Problem> {
        let groups = self.groups()?;
        let mut starts = Tensor::<i64>::zeros(&[self.size() + 1])?;
        let mut updates = Tensor::<i64>::zeros(&[groups.kept()])?;
        let mut rows = 0;
        for group in 0..groups.len() {
            let row = groups.row(group);
            // Rows before it that have no group begin where it does.
            starts.as_mut_slice()[rows..=row].fill(groups.start(group) as i64);
            rows = row + 1;
        }
        starts.as_mut_slice()[rows..].fill(groups.kept() as i64);
        for (k, update) in updates.as_mut_slice().iter_mut().enumerate() {
            *update = groups.update(k) as i64;
        }
        Ok(Members { starts, updates })
    }
}
