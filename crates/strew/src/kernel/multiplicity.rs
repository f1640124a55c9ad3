//! How often rows are touched.

use super::groups::Groups;
use super::numbers::{Facts, Numbers};
use crate::error::Problem;
use crate::tensor::try_vec;

/// Up to so many rows a table of counts stays in a near cache.
const COUNTED: usize = 1 << 20;

/// The table costs in proportion to the rows: there must not be more than so many for each update.
const FEW: usize = 16;

/// How often rows are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Multiplicity {
    /// Rows that are touched.
    pub(crate) touched: usize,
    /// The updates of the one that is touched most.
    pub(crate) most: usize,
}

impl Multiplicity {
    /// What the groups tell.
    pub(crate) fn of(groups: &Groups) -> Self {
        let (touched, most) = groups.multiplicity();
        Self { touched, most }
    }

    /// Counts; `None` if that is no quicker than to group the updates.
    pub(crate) fn count(
        numbers: &Numbers,
        size: usize,
        facts: Facts,
    ) -> Result<Option<Self>, Problem> {
        let (mut touched, mut most) = (0, 0);
        if facts.sorted {
            let (mut last, mut run) = (usize::MAX, 0);
            for number in numbers.iter().filter(|&n| n < size) {
                touched += usize::from(number != last);
                run = if number == last { run + 1 } else { 1 };
                most = most.max(run);
                last = number;
            }
            return Ok(Some(Self { touched, most }));
        }
        if size > COUNTED || size / FEW > numbers.len() {
            return Ok(None);
        }
        let mut counts: Vec<usize> = try_vec("counts of a plan's rows", size)?;
        counts.resize(size, 0);
        for number in numbers.iter().filter(|&n| n < size) {
            let count = &mut counts[number];
            touched += usize::from(*count == 0);
            *count += 1;
            most = most.max(*count);
        }
        Ok(Some(Self { touched, most }))
    }
}
