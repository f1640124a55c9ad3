//! Records of all groups: one table of records for each kind of statistic.

use crate::aggregate::WithFold;
use crate::error::Problem;
use crate::exact::number::Format;
use crate::statistic::cell::Cell;
use crate::statistic::fold::Fold;
use crate::statistic::output::{Row, Wanted};
use crate::statistic::value::Value;
use crate::statistic::what::{ExactOf, Statistic};
use crate::tensor::List;
use crate::tensor::spread::Spread;
use std::any::Any as Erased;

/// Maximum number of values of a block, unless a single update has more. The nearest cache holds
/// them beside their rows and what they are joined to.
pub(crate) const BLOCK: usize = 1 << 11;

/// Some consecutive updates: the row and the values of each.
#[derive(Clone, Copy)]
pub(crate) struct Block<'b, T> {
    pub(crate) rows: &'b [i64],
    pub(crate) values: &'b [T],
    /// The number of the first update.
    pub(crate) first: usize,
    /// The numbers of the updates, if they do not follow the first one.
    pub(crate) numbers: Option<&'b [usize]>,
    pub(crate) inner: usize,
    /// Most updates have the row of the one before, and each has one value.
    pub(crate) repeats: bool,
    /// Values that are NaN are left out.
    pub(crate) skip: bool,
}

/// Records of all groups, of one kind.
pub(crate) trait Records<T: Value>: Erased + Send + Sync {
    /// Sets all records to those of groups without values.
    fn begin(&mut self);
    /// Makes records of groups without values at the end, until there are `cells`.
    ///
    /// # Errors
    /// [`Problem::Memory`]. Some may have been made.
    fn grow(&mut self, cells: usize) -> Result<(), Problem>;
    /// Joins the values of a block. False if a row is not one of the records'; that is left out.
    fn join(&mut self, block: &Block<'_, T>) -> bool;
    /// Merges records of the same kind, cell by cell. Others are left alone.
    fn merge(&mut self, other: &dyn Records<T>);
    /// Sets some records to those of a table of the same kind. Others are left alone.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The records are as they were then.
    fn copy_from(&mut self, other: &dyn Records<T>, to: Spread<'_>) -> Result<(), Problem>;
    /// Whether all values that came have joined.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The records are of no use any more.
    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
    /// Puts the results of the cells from `from` on into a row, whose set cells have values.
    fn finish(&self, statistic: Statistic, from: usize, row: &mut Row<T>);
    /// Whether a record may be that of a group without values.
    fn may_lack_values(&self) -> bool;
    /// Whether a group without values has the bytes of the fill value.
    fn starts_with_fill(&self, wanted: &Wanted) -> bool;
    /// Bytes that a record takes at least where it is written.
    fn bytes(&self) -> usize;
    /// Bytes that the records take in memory.
    fn memory(&self) -> usize;
    /// Writes the first `cells` records.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    fn write(&self, cells: usize, to: &mut Vec<u8>) -> Result<(), Problem>;
    /// Reads all records from the front of bytes. `None` if they are cut off, or not ones that are
    /// written; then some may have been read.
    fn read(&mut self, from: &mut &[u8]) -> Option<()>;
}

/// The records of one fold.
pub(crate) struct Of<T: Value, F: Fold<T>> {
    pub(crate) cells: List<F::Cell>,
}

impl<T: Value, F: Fold<T>> Of<T, F> {
    pub(crate) fn new(cells: usize) -> Result<Self, Problem> {
        let mut all = List::empty();
        grow(&mut all, cells, F::START)?;
        Ok(Self { cells: all })
    }
}

impl<T: Value, F: Fold<T>> Records<T> for Of<T, F> {
    fn begin(&mut self) {
        self.cells.fill(F::START);
    }

    fn grow(&mut self, cells: usize) -> Result<(), Problem> {
        grow(&mut self.cells, cells, F::START)
    }

    fn join(&mut self, block: &Block<'_, T>) -> bool {
        match block.skip {
            false => each::<T, F>(block, &mut self.cells, F::join, F::join_row),
            true => {
                let join = |cell: &mut F::Cell, value: T, place| {
                    if !value.nan() {
                        F::join(cell, value, place);
                    }
                };
                each::<T, F>(block, &mut self.cells, join, |cells, values, place| {
                    for (cell, &value) in cells.iter_mut().zip(values) {
                        join(cell, value, place);
                    }
                })
            }
        }
    }

    fn merge(&mut self, other: &dyn Records<T>) {
        let other: &dyn Erased = other;
        if let Some(other) = other.downcast_ref::<Self>() {
            for (cell, &other) in self.cells.iter_mut().zip(other.cells.iter()) {
                F::merge(cell, other);
            }
        }
    }

    fn copy_from(&mut self, other: &dyn Records<T>, to: Spread<'_>) -> Result<(), Problem> {
        let other: &dyn Erased = other;
        if let Some(other) = other.downcast_ref::<Self>() {
            to.copy(&other.cells, &mut self.cells);
        }
        Ok(())
    }

    fn finish(&self, statistic: Statistic, from: usize, row: &mut Row<T>) {
        F::finish(&self.cells[from..from + row.set.len()], statistic, row);
    }

    fn may_lack_values(&self) -> bool {
        self.cells.contains(&F::START)
    }

    fn starts_with_fill(&self, wanted: &Wanted) -> bool {
        let Ok(mut row) = Row::<T>::with_room(wanted.statistic.kind(T::COMPLEX), 1) else {
            return false;
        };
        row.begin(1);
        row.set.fill(true);
        F::finish(&[F::START], wanted.statistic, &mut row);
        row.has_bytes(wanted.fill.as_bytes(), wanted.fill.dtype())
    }

    fn bytes(&self) -> usize {
        F::Cell::BYTES
    }

    fn memory(&self) -> usize {
        (self.cells.len() + self.cells.room()) * size_of::<F::Cell>()
    }

    fn write(&self, cells: usize, to: &mut Vec<u8>) -> Result<(), Problem> {
        write(&self.cells[..cells], to);
        Ok(())
    }

    fn read(&mut self, from: &mut &[u8]) -> Option<()> {
        read(&mut self.cells, from)
    }
}

/// Makes cells at the end until there are `len`, with room for as many again if there were any.
pub(crate) fn grow<C: Cell>(cells: &mut List<C>, len: usize, start: C) -> Result<(), Problem> {
    if len > cells.len() + cells.room() {
        let room = len.max(cells.len().saturating_mul(2));
        let mut more = List::with_room("the statistics of the groups", room)?;
        cells.iter().for_each(|&cell| more.push(cell));
        *cells = more;
    }
    cells.extend_to(len, start);
    Ok(())
}

fn write<C: Cell>(cells: &[C], to: &mut Vec<u8>) {
    cells.iter().for_each(|cell| cell.write(to));
}

fn read<C: Cell>(cells: &mut [C], from: &mut &[u8]) -> Option<()> {
    for cell in cells {
        *cell = C::read(from)?;
    }
    Some(())
}

/// Calls a function with the cell of each value, the value and the number of its update, or one
/// with the cells and values of each update that has several. False if a row has no cells; that is
/// left out.
#[inline(always)]
fn each<T: Value, F: Fold<T>>(
    block: &Block<'_, T>,
    cells: &mut [F::Cell],
    join: impl Fn(&mut F::Cell, T, usize),
    join_row: impl Fn(&mut [F::Cell], &[T], usize),
) -> bool {
    // It cannot panic, so the compiler removes it from loops that do not use it.
    let place = |update: usize| {
        let number = block.numbers.and_then(|numbers| numbers.get(update));
        number.map_or(block.first.wrapping_add(update), |&number| number)
    };
    let mut all_there = true;
    if block.repeats && F::WAITS {
        return each_repeated(block, cells, |cell, value, update| {
            join(cell, value, place(update));
        });
    }
    if block.inner == 1 {
        for (update, (&row, &value)) in block.rows.iter().zip(block.values).enumerate() {
            match cells.get_mut(row as usize) {
                Some(cell) => join(cell, value, place(update)),
                None => all_there = false,
            }
        }
        return all_there;
    }
    let rows = cells.len() / block.inner;
    let values = block.values.chunks_exact(block.inner);
    for (update, (&row, values)) in block.rows.iter().zip(values).enumerate() {
        if (row as usize) < rows {
            let cells = &mut cells[row as usize * block.inner..][..values.len()];
            join_row(cells, values, place(update));
        } else {
            all_there = false;
        }
    }
    all_there
}

/// The same with the number of the update in the block, where each has one value, and most have
/// the row of the one before: its cell stays in registers, so that no value waits until the one
/// before it is in memory.
#[inline(always)]
fn each_repeated<T: Value, C: Copy>(
    block: &Block<'_, T>,
    cells: &mut [C],
    join: impl Fn(&mut C, T, usize),
) -> bool {
    let Some(&first) = cells.first() else {
        return block.rows.is_empty();
    };
    let (mut held, mut at) = (first, 0);
    let mut all_there = true;
    for (update, (&row, &value)) in block.rows.iter().zip(block.values).enumerate() {
        let row = row as usize;
        if row != at {
            if row >= cells.len() {
                all_there = false;
                continue;
            }
            cells[at] = held;
            (held, at) = (cells[row], row);
        }
        join(&mut held, value, update);
    }
    cells[at] = held;
    all_there
}

/// The statistic of which a record is kept: one of those that are made of the same record.
pub(crate) fn kept(statistic: Statistic) -> Statistic {
    match statistic {
        Statistic::Std { .. } | Statistic::Sem { .. } | Statistic::Var { .. } => {
            Statistic::Var { ddof: 0.0 }
        }
        Statistic::Kurt => Statistic::Skew,
        Statistic::Exact(..) => Statistic::Exact(ExactOf::Sum, Format::F64),
        other => other,
    }
}

/// The records of a [kept](kept) statistic, if it is one with a result for each group.
pub(crate) fn records_of<T: Value>(
    statistic: Statistic,
    cells: usize,
) -> Result<Option<Box<dyn Records<T>>>, Problem> {
    statistic.with_fold(New(cells)).transpose()
}

/// Records of that many groups without values.
struct New(usize);

impl<T: Value> WithFold<T> for New {
    type Made = Result<Box<dyn Records<T>>, Problem>;

    fn with<F: Fold<T>>(self) -> Self::Made {
        Ok(Box::new(Of::<T, F>::new(self.0)?))
    }
}
