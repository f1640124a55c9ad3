//! Results of groups on their way to memory: computed in 64 bits, some cells at a time, and
//! converted to the type of the output when they are written.

use crate::error::Problem;
use crate::ops::cast::convert_into;
use crate::statistic::read::Rows;
use crate::statistic::value::Value;
use crate::statistic::what::{Kind, Statistic};
use crate::tensor::{DType, DynTensor, try_vec};
use std::ops::Range;

/// A statistic to compute for each group, and its fill value.
#[derive(Debug)]
pub struct Wanted {
    pub statistic: Statistic,
    /// The value of a cell without a result: one element of the output's type.
    pub fill: DynTensor,
}

/// Which values count.
#[derive(Clone, Copy, Debug)]
pub struct Among {
    /// NaN does not.
    pub skip: bool,
    /// Of fewer values than this nothing is made.
    pub least: usize,
}

/// What to compute, and of which values.
#[derive(Clone, Copy)]
pub struct Task<'w> {
    pub wanted: &'w [&'w Wanted],
    pub among: Among,
}

impl Wanted {
    /// Cells for results, all 0.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn cells(&self, shape: [usize; 3]) -> Result<DynTensor, Problem> {
        let count = shape.into_iter().fold(1, usize::saturating_mul);
        DynTensor::zeros(self.fill.dtype(), &[count])
    }
}

/// Results that are converted at a time, before they are written to cells apart from each other.
const CONVERTED: usize = 64;

/// The cells that one part of the groups alone writes, for one statistic.
pub(crate) struct Output<'s> {
    cells: &'s mut [u8],
    fill: &'s DynTensor,
}

impl<'s> Output<'s> {
    /// All of [`Wanted::cells`].
    pub(crate) fn of(cells: &'s mut DynTensor, wanted: &'s Wanted) -> Self {
        Self {
            cells: cells.as_bytes_mut(),
            fill: &wanted.fill,
        }
    }

    /// The cells before one, and those from it on.
    pub(crate) fn split(self, at: usize) -> (Self, Self) {
        let (low, high) = self.cells.split_at_mut(at * self.dtype().size());
        let output = |cells| Self {
            cells,
            fill: self.fill,
        };
        (output(low), output(high))
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> usize {
        self.cells.len() / self.dtype().size()
    }

    /// Writes the fill value to some cells, which hold 0.
    pub(crate) fn fill(&mut self, cells: Range<usize>) {
        let (fill, size) = (self.fill.as_bytes(), self.dtype().size());
        if fill.iter().any(|&byte| byte != 0) {
            let cells = &mut self.cells[cells.start * size..cells.end * size];
            for cell in cells.chunks_exact_mut(size) {
                cell.copy_from_slice(fill);
            }
        }
    }

    /// Writes some results, or the fill value where there is none, to consecutive cells.
    pub(crate) fn write<T: Value>(&mut self, row: &Row<T>, part: Range<usize>, cell: usize) {
        let (dtype, size) = (self.dtype(), self.dtype().size());
        let cells = &mut self.cells[cell * size..][..part.len() * size];
        if row.set[part.clone()].iter().all(|&set| set) {
            return row.numbers.write(part, dtype, cells);
        }
        for (at, cell) in part.zip(cells.chunks_exact_mut(size)) {
            match row.set[at] {
                true => row.numbers.write(at..at + 1, dtype, cell),
                false => cell.copy_from_slice(self.fill.as_bytes()),
            }
        }
    }

    /// Writes all results to rows of cells: those that are set, as cells hold the fill value.
    pub(crate) fn write_rows<T: Value>(&mut self, row: &Row<T>, rows: Rows<'_>) {
        let (dtype, size) = (self.dtype(), self.dtype().size());
        let width = row.set.len() / rows.numbers.len().max(1);
        if width != 1 {
            for (k, cell) in rows.firsts().enumerate() {
                self.write(row, k * width..(k + 1) * width, cell);
            }
            return;
        }
        let mut made = [0; CONVERTED * 16];
        let mut cells = rows.firsts();
        for first in (0..row.set.len()).step_by(CONVERTED) {
            let part = first..row.set.len().min(first + CONVERTED);
            let made = &mut made[..part.len() * size];
            row.numbers.write(part.clone(), dtype, made);
            let made = made.chunks_exact(size).zip(&row.set[part]);
            for ((made, &set), cell) in made.zip(&mut cells) {
                if set {
                    self.cells[cell * size..][..size].copy_from_slice(made);
                }
            }
        }
    }

    fn dtype(&self) -> DType {
        self.fill.dtype()
    }
}

/// Results of some columns that are not written yet.
pub(crate) struct Row<T> {
    pub(crate) numbers: Results<T>,
    /// Which results are set.
    pub(crate) set: Vec<bool>,
}

/// The numbers, by their type.
pub(crate) enum Results<T> {
    Same(Vec<T>),
    Real(Vec<f64>),
    Whole(Vec<i64>),
}

impl<T: Value> Row<T> {
    /// Room for `most` results of a kind.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn with_room(kind: Kind, most: usize) -> Result<Self, Problem> {
        let what = "the results of a group";
        Ok(Self {
            numbers: match kind {
                Kind::Same | Kind::Each => Results::Same(try_vec(what, most)?),
                Kind::Real | Kind::EachReal => Results::Real(try_vec(what, most)?),
                Kind::Whole | Kind::EachWhole => Results::Whole(try_vec(what, most)?),
            },
            set: try_vec(what, most)?,
        })
    }

    /// Starts `len` results, none of which is set.
    pub(crate) fn begin(&mut self, len: usize) {
        match &mut self.numbers {
            Results::Same(all) => renew(all, len, T::ZERO),
            Results::Real(all) => renew(all, len, 0.0),
            Results::Whole(all) => renew(all, len, 0),
        }
        renew(&mut self.set, len, false);
    }
}

impl<T: Value> Row<T> {
    /// Whether its one result is not set, or has these bytes as an element of a type.
    pub(crate) fn has_bytes(&self, bytes: &[u8], dtype: DType) -> bool {
        let mut cell = [0; 16];
        let cell = &mut cell[..dtype.size()];
        self.numbers.write(0..1, dtype, cell);
        !self.set[0] || cell == bytes
    }
}

fn renew<V: Copy>(all: &mut Vec<V>, len: usize, value: V) {
    all.clear();
    all.resize(len, value);
}

impl<T: Value> Results<T> {
    fn write(&self, part: Range<usize>, dtype: DType, cells: &mut [u8]) {
        match self {
            Self::Same(all) => convert_all(&all[part], dtype, cells),
            Self::Real(all) => convert_all(&all[part], dtype, cells),
            Self::Whole(all) => convert_all(&all[part], dtype, cells),
        }
    }
}

/// [`convert_into`], many at a time for the commonest types.
#[allow(clippy::cast_possible_truncation)]
fn convert_all<T: Value>(values: &[T], dtype: DType, cells: &mut [u8]) {
    if T::DTYPE == dtype {
        T::write_all(values, cells);
    } else if T::FLOAT && dtype == DType::F32 {
        let (cells, _) = cells.as_chunks_mut();
        for (cell, value) in cells.iter_mut().zip(values) {
            *cell = (value.complex().re as f32).to_ne_bytes();
        }
    } else {
        convert_into(values, dtype, cells);
    }
}
