//! How often rows are touched.

use crate::error::Problem;
use crate::segment::csr::Csr;
use crate::segment::row_ids::{Facts, RowIds};
use crate::tensor::try_vec;

/// Up to so many rows a table of counts stays in a near cache.
const COUNTED: usize = 1 << 20;

/// The table costs in proportion to the rows: there must not be more than so many for each update.
const FEW: usize = 16;

/// A row is hot that takes so many times as many updates as one does on average.
const HOT: usize = 4;

/// How often rows are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Rows that are touched.
    pub touched: usize,
    /// The updates of the one that is touched most.
    pub most: usize,
    /// Rows that are hot, and their updates; none are looked for where the numbers ascend.
    pub hot: (usize, usize),
}

impl Histogram {
    /// What the groups tell.
    pub fn of(groups: &Csr) -> Self {
        Self::of_each((0..groups.len()).map(|g| groups.start(g + 1) - groups.start(g)))
    }

    /// Of rows that take so many updates each.
    fn of_each(rows: impl Iterator<Item = usize> + Clone) -> Self {
        let (mut touched, mut most, mut all) = (0, 0, 0);
        for count in rows.clone() {
            touched += usize::from(count > 0);
            most = most.max(count);
            all += count;
        }
        let often = (all / touched.max(1)).saturating_mul(HOT);
        let hot = rows.filter(|&count| count > often);
        let hot = hot.fold((0, 0), |(rows, all), count| (rows + 1, all + count));
        Self { touched, most, hot }
    }

    /// Counts; `None` if that is no quicker than to group the updates.
    pub fn count(numbers: &RowIds, size: usize, facts: Facts) -> Result<Option<Self>, Problem> {
        if facts.sorted {
            let (mut touched, mut most) = (0, 0);
            let (mut last, mut run) = (usize::MAX, 0);
            for number in numbers.iter().filter(|&n| n < size) {
                touched += usize::from(number != last);
                run = if number == last { run + 1 } else { 1 };
                most = most.max(run);
                last = number;
            }
            let hot = (0, 0);
            return Ok(Some(Self { touched, most, hot }));
        }
        if size > COUNTED || size / FEW > numbers.len() {
            return Ok(None);
        }
        let mut counts: Vec<usize> = try_vec("counts of a plan's rows", size)?;
        counts.resize(size, 0);
        for number in numbers.iter().filter(|&n| n < size) {
            counts[number] += 1;
        }
        Ok(Some(Self::of_each(counts.iter().copied())))
    }
}
