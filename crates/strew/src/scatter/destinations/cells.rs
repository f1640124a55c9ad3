//! Destinations as plain row numbers, for those who also go the way back: from the cells to the updates.

use super::Destinations;
use crate::error::Problem;
use crate::kernel::Numbers;
use crate::tensor::{DType, Dims, Layout};

/// Index values that are read at a time.
const BLOCK: usize = 512;

/// Where each row of updates goes: updates and destination as matrices, of which each row moves as one.
#[derive(Debug)]
pub(crate) struct RowNumbers {
    /// For each row of updates the destination's row; those that are left out have none.
    pub(crate) numbers: Numbers,
    /// Rows of the destination.
    pub(crate) rows: usize,
    /// Elements of a row, of the updates and of the destination alike.
    pub(crate) width: usize,
}

impl Destinations<'_> {
    /// Reads and checks the whole index.
    ///
    /// # Errors
    /// [`Problem::IndexOutOfBounds`] for an index value that names no cell, [`Problem::Memory`], and
    /// [`Problem::Kind`] for runs, whose index does not say where each update goes.
    pub(crate) fn row_numbers(&self) -> Result<RowNumbers, Problem> {
        if self.pairing.is_some() {
            return Err(Problem::Kind {
                argument: "destinations".into(),
                expected: "an index of the updates".into(),
                found: "runs".into(),
            });
        }
        // A destination that no memory holds may have more cells than can be numbered.
        Layout::contiguous(DType::Bool, &self.shape)?;
        let lead = self.leading_axes();
        let window = self.updates.len() - lead;
        let cells = &self.shape[..self.shape.len() - window];
        let rows = cells.iter().fold(1usize, |n, &len| n.saturating_mul(len));
        let width = self.updates[lead..].iter().product();
        let count = self.updates[..lead].iter().product();
        let mut numbers = Numbers::with_room("the cells of updates", count, rows)?;

        // How far apart in the numbering neighbours on an axis of the destination are.
        let mut apart = Dims::from_elem(0, self.shape.len());
        let mut step = 1usize;
        for (axis, &len) in cells.iter().enumerate().rev() {
            apart[axis] = step;
            step = step.saturating_mul(len);
        }
        let along = |k: usize| {
            let onto =
                self.onto[k].map(|(axis, step)| step.wrapping_mul(apart[axis].cast_signed()));
            onto.unwrap_or(0)
        };
        let starts = self.start.iter().zip(&apart);
        let start: usize = starts.map(|(at, apart)| at * apart).sum();

        // The last of the axes is read in blocks; the others are walked.
        let outer = lead.saturating_sub(1);
        let inner = (outer < lead).then_some(outer);
        let len = inner.map_or(1, |k| self.updates[k]);
        let mut at = Dims::from_elem(0, outer);
        let (mut rows_of, mut kept, mut values) = ([0isize; BLOCK], [true; BLOCK], [0i64; BLOCK]);
        let outers = if count == 0 { 0 } else { count / len };
        for _ in 0..outers {
            let base = (0..outer).map(|k| at[k].cast_signed() * along(k));
            let base = start.cast_signed() + base.sum::<isize>();
            for from in (0..len).step_by(BLOCK) {
                let n = BLOCK.min(len - from);
                for (i, row) in rows_of[..n].iter_mut().enumerate() {
                    *row = base + (from + i).cast_signed() * inner.map_or(0, along);
                }
                kept[..n].fill(true);
                for component in &self.components {
                    let strides = component.index.view().layout().strides();
                    let stride = inner.map_or(0, |k| strides[k]);
                    let place = (0..outer).map(|k| at[k].cast_signed() * strides[k]);
                    let place = place.sum::<isize>() + from.cast_signed() * stride;
                    let size = self.shape[component.axis];
                    let apart = apart[component.axis].cast_signed();
                    if !component
                        .index
                        .view()
                        .read_integers(place, stride, &mut values[..n])
                    {
                        return Err(self.find_out_of_bounds());
                    }
                    let values = &values[..n];
                    let pairs = rows_of.iter_mut().zip(values);
                    // Most name a cell as they are. No branch within: it vectorises.
                    let plain = |all, &value: &i64| all & (value.cast_unsigned() < size as u64);
                    if self.bounds.ignored.is_none() && values.iter().fold(true, plain) {
                        pairs.for_each(|(row, &value)| *row += value as isize * apart);
                        continue;
                    }
                    for ((row, &value), kept) in pairs.zip(&mut kept) {
                        match self.bounds.resolve(value, size) {
                            Ok(Some(value)) => *row += value as isize * apart,
                            Ok(None) => *kept = false,
                            Err(_) => return Err(self.find_out_of_bounds()),
                        }
                    }
                }
                for (row, &kept) in rows_of[..n].iter_mut().zip(&kept[..n]) {
                    *row = if kept { *row } else { -1 };
                }
                numbers.extend(&rows_of[..n]);
            }
            for k in (0..outer).rev() {
                at[k] += 1;
                if at[k] < self.updates[k] {
                    break;
                }
                at[k] = 0;
            }
        }
        Ok(RowNumbers {
            numbers,
            rows,
            width,
        })
    }

    /// How many of the updates' axes say which row of cells an update goes to; the others move as one.
    pub(crate) fn leading_axes(&self) -> usize {
        self.updates.len() - self.whole_axes()
    }

    /// How many of the last axes of the updates are, one by one, the destination's last axes as a whole, and move
    /// as one whatever the index says.
    fn whole_axes(&self) -> usize {
        if self.updates.contains(&0) {
            return 0;
        }
        let most = self.updates.len().min(self.shape.len());
        let whole = |back: &usize| {
            let (k, axis) = (self.updates.len() - back, self.shape.len() - back);
            let fixed = self.components.iter().all(|c| {
                let still = c.index.view().layout().strides()[k] == 0 || self.updates[k] == 1;
                still && c.axis != axis
            });
            let same = self.updates[k] == self.shape[axis] && self.start[axis] == 0;
            same && fixed && self.onto[k] == Some((axis, 1))
        };
        (1..=most).take_while(whole).count()
    }
}
