//! Destinations as plain row numbers, for those who also go the way back: from the cells to the
//! updates.

use crate::describe::destinations::{Component, Destinations};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use strew_kernel::error::Problem;
use strew_kernel::groups::csr::Csr;
use strew_kernel::groups::row_ids::RowIds;
use strew_kernel::groups::sorted::SortedPart;
use strew_kernel::runtime::threads::{available, share};
use strew_kernel::tensor::{DType, Dims, Layout};
use strew_kernel::walk::decode::{Scale, Stretch};
use strew_kernel::walk::geometry::OutOfBounds;

/// Index values that are read at a time.
const BLOCK: usize = 512;

/// A thread with fewer rows of updates than this is not worth waking.
const EACH: usize = 1 << 18;

/// Threads that are worth it for so many rows of updates.
fn threads(count: usize) -> usize {
    available().min(count / EACH).max(1)
}

/// Updates and destination as matrices, of which each row moves as one.
struct Matrices {
    /// The updates' first axes, which say the row.
    lead: usize,
    /// How far apart in the numbering of the rows neighbours on an axis of the destination are.
    apart: Dims,
    /// Rows of the updates, and of the destination.
    count: usize,
    rows: usize,
    /// Elements of a row.
    width: usize,
}

/// Rows of updates that are numbered at a time: neighbours on the last of the leading axes.
struct NumberedRows {
    /// Number of the first row's cell where its index values are 0, and what each row after it
    /// adds.
    base: isize,
    step: isize,
    /// The rows' coordinates on the other leading axes.
    at: Dims,
    /// The last of the leading axes, if there is any, and the first row's coordinate on it.
    inner: Option<usize>,
    from: usize,
    /// How many rows.
    count: usize,
}

impl NumberedRows {
    /// The rows' values of a component.
    fn values<'s>(&self, component: &'s Component<'_>) -> Stretch<'s, 's> {
        let index = component.index.view();
        let strides = index.layout().strides();
        let places = self.at.iter().zip(strides);
        let place = places.map(|(at, stride)| at.cast_signed() * stride);
        let stride = self.inner.map_or(0, |k| strides[k]);
        Stretch {
            index,
            at: place.sum::<isize>() + self.from.cast_signed() * stride,
            stride,
            count: self.count,
        }
    }
}

/// Where each row of updates goes: updates and destination as matrices, of which each row moves as
/// one.
#[derive(Debug)]
pub struct RowNumbers {
    /// For each row of updates the destination's row; those that are left out have none.
    pub numbers: RowIds,
    /// Rows of the destination.
    pub rows: usize,
    /// Elements of a row, of the updates and of the destination alike.
    pub width: usize,
}

/// Which rows of updates go to each row of the destination: updates and destination as matrices, of
/// which each row moves as one.
#[derive(Debug)]
pub struct RowGroups {
    /// For each row of the destination its rows of updates.
    pub groups: Csr,
    /// Elements of a row, of the updates and of the destination alike.
    pub width: usize,
}

impl RowGroups {
    /// The destination's shape.
    pub(crate) fn shape(&self) -> [usize; 2] {
        [self.groups.size(), self.width]
    }
}

impl<'a> Destinations<'a> {
    /// Updates and destination as matrices.
    fn matrices(&self) -> Result<Matrices, Problem> {
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
        let mut apart = Dims::from_elem(0, self.shape.len());
        let mut step = 1usize;
        for (axis, &len) in cells.iter().enumerate().rev() {
            apart[axis] = step;
            step = step.saturating_mul(len);
        }
        Ok(Matrices {
            lead,
            apart,
            count: self.updates[..lead].iter().product(),
            rows: cells.iter().fold(1usize, |n, &len| n.saturating_mul(len)),
            width: self.updates[lead..].iter().product(),
        })
    }

    /// Numbers the cells of some rows of updates: the updates' first `lead` axes, of which the last
    /// is read in blocks. `apart` says how far apart in the numbering neighbours are. `sink` is
    /// told the number of the first row of a block, and where its rows go, below 0 if nowhere; it
    /// stops by returning false.
    fn number(
        &self,
        lead: usize,
        apart: &[usize],
        updates: Range<usize>,
        mut sink: impl FnMut(usize, &[isize]) -> bool,
    ) -> Result<bool, OutOfBounds> {
        let along = |k: usize| {
            let onto =
                self.onto[k].map(|(axis, step)| step.wrapping_mul(apart[axis].cast_signed()));
            onto.unwrap_or(0)
        };
        let starts = self.start.iter().zip(apart);
        let start: usize = starts.map(|(at, apart)| at * apart).sum();
        let outer = lead.saturating_sub(1);
        let inner = (outer < lead).then_some(outer);
        let len = inner.map_or(1, |k| self.updates[k]);
        let (mut rows_of, mut values) = ([0isize; BLOCK], [0i64; BLOCK]);
        let mut done = updates.start;
        while done < updates.end {
            let (mut rest, from) = (done / len, done % len);
            let n = BLOCK.min(len - from).min(updates.end - done);
            let mut at = Dims::from_elem(0, outer);
            for (at, &len) in at.iter_mut().zip(&self.updates[..outer]).rev() {
                (*at, rest) = (rest % len, rest / len);
            }
            let base = (0..outer).map(|k| at[k].cast_signed() * along(k));
            let step = inner.map_or(0, along);
            let block = NumberedRows {
                base: start.cast_signed() + base.sum::<isize>() + from.cast_signed() * step,
                step,
                at,
                inner,
                from,
                count: n,
            };
            let rows_of = &mut rows_of[..n];
            // Most name a cell as they are.
            if !self.number_plain(&block, apart, rows_of) {
                self.number_by_bounds(&block, apart, &mut values[..n], rows_of)?;
            }
            if !sink(done, rows_of) {
                return Ok(false);
            }
            done += n;
        }
        Ok(true)
    }

    /// Numbers the cells of a block if each index value names a cell as it is; false if one does
    /// not.
    #[inline(always)] // Part of the loop of `number`.
    fn number_plain(&self, block: &NumberedRows, apart: &[usize], rows: &mut [isize]) -> bool {
        let plain = |(number, component): (usize, &Component<'a>)| {
            let scale = Scale {
                base: block.base,
                step: block.step,
                factor: apart[component.axis].cast_signed(),
                add: number > 0,
            };
            scale.stretch(block.values(component), self.shape[component.axis], rows)
        };
        self.bounds.ignored.is_none()
            && !self.components.is_empty()
            && self.components.iter().enumerate().all(plain)
    }

    /// Numbers the cells of a block by the rules for negative values and values that are out of
    /// bounds. `values` is room for index values.
    #[inline(always)] // Part of the loop of `number`.
    fn number_by_bounds(
        &self,
        block: &NumberedRows,
        apart: &[usize],
        values: &mut [i64],
        rows: &mut [isize],
    ) -> Result<(), OutOfBounds> {
        let mut kept = [true; BLOCK];
        for (row, i) in rows.iter_mut().zip(0..) {
            *row = block.base + i * block.step;
        }
        for component in &self.components {
            let Stretch {
                index, at, stride, ..
            } = block.values(component);
            let size = self.shape[component.axis];
            let apart = apart[component.axis].cast_signed();
            if !index.read_integers(at, stride, values) {
                return Err(OutOfBounds);
            }
            for ((row, &value), kept) in rows.iter_mut().zip(&*values).zip(&mut kept) {
                match self.bounds.resolve(value, size)? {
                    Some(value) => *row += value as isize * apart,
                    None => *kept = false,
                }
            }
        }
        for (row, _) in rows.iter_mut().zip(&kept).filter(|(_, kept)| !**kept) {
            *row = -1;
        }
        Ok(())
    }

    /// How many of the updates' axes say which row of cells an update goes to; the others move as
    /// one.
    pub(crate) fn leading_axes(&self) -> usize {
        self.updates.len() - self.whole_axes()
    }

    /// How many of the last axes of the updates are, one by one, the destination's last axes as a
    /// whole, and move as one whatever the index says.
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

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'a> Destinations<'a> {
    /// Reads and checks the whole index.
    ///
    /// # Errors
    /// [`Problem::IndexOutOfBounds`] for an index value that names no cell, [`Problem::Memory`],
    /// and [`Problem::Kind`] for runs, whose index does not say where each update goes.
    pub fn row_numbers(&self) -> Result<RowNumbers, Problem> {
        let Matrices {
            lead,
            apart,
            count,
            rows,
            width,
        } = self.matrices()?;
        let mut numbers = RowIds::unset("the cells of updates", count, rows)?;
        let threads = threads(count);
        let parts = numbers.parts(count.div_ceil(threads).max(1));
        let wrong = AtomicBool::new(false);
        share(threads, parts, |(first, mut part)| {
            let updates = first..first + part.len();
            let set = |at: usize, rows: &[isize]| {
                part.set(at - first, rows);
                true
            };
            if self.number(lead, &apart, updates, set).is_err() {
                wrong.store(true, Ordering::Relaxed);
            }
        });
        match wrong.into_inner() {
            true => Err(self.find_out_of_bounds()),
            false => Ok(RowNumbers {
                numbers,
                rows,
                width,
            }),
        }
    }

    /// The groups of updates that come in the order of their rows. The whole index is read and
    /// checked if they do; `None` if they do not.
    ///
    /// # Errors
    /// As for [`row_numbers`](Self::row_numbers).
    pub fn ascending(&self) -> Result<Option<RowGroups>, Problem> {
        let Matrices {
            lead,
            apart,
            count,
            rows,
            width,
        } = self.matrices()?;
        if !Csr::can_be_from_sorted(count, rows) {
            return Ok(None);
        }
        let threads = threads(count);
        let each = count.div_ceil(threads).max(1);
        let stretches = (0..count).step_by(each);
        let mut parts = Vec::with_capacity(threads);
        for first in stretches {
            let updates = first..count.min(first + each);
            let ascent = SortedPart::with_room(rows.min(updates.len()))?;
            parts.push((updates, ascent, Ok(true)));
        }
        share(threads, &mut parts, |(updates, ascent, done)| {
            let add = |at: usize, rows: &[isize]| ascent.add(at, rows, |row| row as i64);
            *done = self.number(lead, &apart, updates.clone(), add);
        });
        let mut ascents = Vec::with_capacity(threads);
        for (_, ascent, done) in parts {
            match done {
                Ok(true) => ascents.push(ascent),
                Ok(false) => return Ok(None),
                Err(OutOfBounds) => return Err(self.find_out_of_bounds()),
            }
        }
        let groups = Csr::from_sorted(&ascents, rows, count)?;
        Ok(groups.map(|groups| RowGroups { groups, width }))
    }
}
