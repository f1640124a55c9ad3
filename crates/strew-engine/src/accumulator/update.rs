//! How an accumulator takes a chunk.
//!
//! ```text
//! check dtype, shape and start
//! rows = the row of each update, checked, in a private copy
//! if few of the groups have values: rows = the record of each row
//! make room for new groups
//! join each value to the record of its row: nothing can fail any more
//! ```

use crate::accumulator::{Accumulator, context, value};
use crate::checks::{expect_dtype, expect_shape};
use crate::describe::bounds::OutOfRange;
use crate::plan::values::{Visit, visit};
use crate::plan::{Plan, rows_of};
use strew_kernel::error::{Problem, Result};
use strew_kernel::group_stats::state::Chunk;
use strew_kernel::statistic::read::{ReadRows, ReadValues};
use strew_kernel::statistic::value::Value;
use strew_kernel::tensor::{DynView, try_vec};

impl Accumulator {
    /// Takes a chunk of values.
    ///
    /// * `src`: as many values as the index has numbers along the first axis, of the accumulator's
    ///   [`shape`](Self::shape) and [`dtype`](Self::dtype).
    /// * `index`: the group of each, any integer type, one dimension.
    /// * `start`: the position of the first value among all values; `None`: right after those
    ///   that were taken. First, last, argmin and argmax depend on positions.
    ///
    /// # Errors
    /// [`Class::Index`](strew_kernel::error::Class::Index) for a number that names no group,
    /// [`Class::Value`](strew_kernel::error::Class::Value) for a shape that does not fit and a
    /// `start` before positions that were taken,
    /// [`Class::Type`](strew_kernel::error::Class::Type) for another dtype,
    /// [`Class::Memory`](strew_kernel::error::Class::Memory). The accumulator is then as it was.
    pub fn update_dyn(
        &mut self,
        src: &DynView<'_>,
        index: &DynView<'_>,
        start: Option<usize>,
    ) -> Result<()> {
        let taken = self.take(src, index, start);
        taken.map_err(|problem| context().error(problem))
    }

    /// [`update_dyn`](Self::update_dyn) with a plan of the chunk's index, which has its own rule
    /// for numbers that name no group.
    ///
    /// # Errors
    /// As [`update_dyn`](Self::update_dyn);
    /// [`Class::Value`](strew_kernel::error::Class::Value) for a plan of more groups.
    pub fn update_planned_dyn(
        &mut self,
        src: &DynView<'_>,
        plan: &Plan,
        start: Option<usize>,
    ) -> Result<()> {
        let taken = self.take_planned(src, plan, start);
        taken.map_err(|problem| context().error(problem))
    }

    fn take(
        &mut self,
        src: &DynView<'_>,
        index: &DynView<'_>,
        start: Option<usize>,
    ) -> Result<(), Problem> {
        rows_of(index, Some(0), self.bounds)?;
        let start = self.check(src, index.len(), start)?;
        let (rows, groups) = self.rows_of_chunk(index)?;
        self.make_sparse(self.is_sparse(self.rows.max(groups), self.states.rows() + index.len()))?;
        match self.touched {
            None => self.join(src, &CheckedRows(rows), start, groups)?,
            Some(_) => self.join_found(src, rows, start)?,
        }
        self.rows = self.rows.max(groups);
        Ok(())
    }

    fn take_planned(
        &mut self,
        src: &DynView<'_>,
        plan: &Plan,
        start: Option<usize>,
    ) -> Result<(), Problem> {
        if self.size.is_some_and(|size| plan.size() > size) {
            let rows = self.rows();
            let expected = format!("it must be at most the accumulator's, {rows}");
            return Err(value("plan.size", plan.size().to_string(), &expected));
        }
        let start = self.check(src, plan.len(), start)?;
        let groups = plan.size();
        self.make_sparse(self.is_sparse(self.rows.max(groups), self.states.rows() + plan.len()))?;
        match self.touched {
            None => self.join(src, &Planned(plan), start, groups)?,
            Some(_) => {
                let mut rows = try_vec("the list of rows of a chunk", plan.len())?;
                rows.resize(plan.len(), -1);
                Planned(plan).read_rows(0, &mut rows);
                self.join_found(src, rows, start)?;
            }
        }
        self.rows = self.rows.max(groups);
        Ok(())
    }

    /// The position of a chunk's first value, if the chunk fits.
    fn check(
        &self,
        src: &DynView<'_>,
        updates: usize,
        start: Option<usize>,
    ) -> Result<usize, Problem> {
        let same = src.dtype() == self.dtype;
        expect_dtype(
            "src",
            src.dtype(),
            same,
            format_args!("it must be {}", self.dtype),
        )?;
        let fits = src.shape().split_first() == Some((&updates, &self.shape[..]));
        expect_shape("src", src.shape(), fits, || {
            let mut shape = vec![updates];
            shape.extend(&self.shape);
            format!("it must be {shape:?}")
        })?;
        let (next, most) = (self.position(), isize::MAX.cast_unsigned());
        let start = start.unwrap_or(next);
        let refuse = |expected: &str| Err(value("start", start.to_string(), expected));
        if start < next {
            return refuse(&format!(
                "it must be at least {next}, because the positions before have been taken or passed"
            ));
        }
        match start.checked_add(updates) {
            Some(end) if end <= most => Ok(start),
            _ => refuse("the positions go beyond the largest integer"),
        }
    }

    /// The row of each update, -1 if it is left out, and how many groups they need.
    fn rows_of_chunk(&self, index: &DynView<'_>) -> Result<(Vec<i64>, usize), Problem> {
        // Without a size every number that is not negative names a group.
        let size = self.size.unwrap_or(isize::MAX.cast_unsigned());
        let (bounds, index) = self.bounds.of_index(index);
        // What is too large for any size is not left out, as by a plan that has none.
        if self.size.is_none() && bounds.out_of_range != OutOfRange::Error {
            bounds.cells(&index, "index")?;
        }
        let mut rows = try_vec("the list of rows of a chunk", index.len())?;
        let mut most = -1;
        let good = index.all_integers(|block| {
            for &number in block {
                let Ok(row) = bounds.resolve(number, size) else {
                    return false;
                };
                let row = row.unwrap_or(-1);
                most = most.max(row);
                rows.push(row);
            }
            true
        });
        if good {
            return Ok((rows, (most + 1).unsigned_abs() as usize));
        }
        let position = vec![rows.len()];
        Err(Problem::IndexOutOfBounds {
            argument: "index",
            value: bounds.value(&index, &position),
            position,
            axis: 0,
            size: Some(match self.size {
                Some(size) => size,
                None => self.rows().max(bounds.cells(&index, "index")?),
            }),
        })
    }

    /// Joins the values of a chunk to the records of their groups, where few have one.
    fn join_found(
        &mut self,
        src: &DynView<'_>,
        mut rows: Vec<i64>,
        start: usize,
    ) -> Result<(), Problem> {
        let Some(mut touched) = self.touched.take() else {
            return Ok(());
        };
        let found = touched.find(&mut rows);
        let joined = found.and_then(|()| self.join(src, &CheckedRows(rows), start, touched.len()));
        // After an error, groups that are new in this chunk have no record.
        touched.truncate(self.states.rows());
        self.touched = Some(touched);
        joined
    }

    /// Joins the values of a chunk to the records of some rows, of which there must be `size`.
    fn join(
        &mut self,
        src: &DynView<'_>,
        rows: &dyn ReadRows,
        start: usize,
        size: usize,
    ) -> Result<(), Problem> {
        self.taken.reserve()?;
        let updates = rows.updates();
        let joining = Joining {
            all: self,
            rows,
            start,
            size,
        };
        visit(src, joining)?;
        self.taken.push(start..start + updates);
        Ok(())
    }
}

/// A chunk whose values are read.
struct Joining<'j> {
    all: &'j mut Accumulator,
    rows: &'j dyn ReadRows,
    start: usize,
    /// How many records its rows need.
    size: usize,
}

impl Visit for Joining<'_> {
    type Made = ();

    fn visit<T: Value>(self, _: &DynView<'_>, values: &dyn ReadValues<T>) -> Result<(), Problem> {
        let chunk = Chunk {
            rows: self.rows,
            values,
            start: self.start,
        };
        // The state is one of the type that values of this dtype are computed in.
        match self.all.states.of::<T>() {
            Some(state) => state.join(&self.all.kept, chunk, self.size),
            None => Ok(()),
        }
    }
}

/// Row numbers that have been checked.
struct CheckedRows(Vec<i64>);

impl ReadRows for CheckedRows {
    fn updates(&self) -> usize {
        self.0.len()
    }

    fn read_rows<'r>(&'r self, from: usize, room: &'r mut [i64]) -> Option<&'r [i64]> {
        Some(&self.0[from..from + room.len()])
    }
}

/// The row numbers of a plan, which may have fewer groups than the accumulator.
struct Planned<'p>(&'p Plan);

impl ReadRows for Planned<'_> {
    fn updates(&self) -> usize {
        self.0.len()
    }

    fn read_rows<'r>(&'r self, from: usize, room: &'r mut [i64]) -> Option<&'r [i64]> {
        let size = self.0.size() as u64;
        self.0.numbers().read_rows(from, room)?;
        for row in &mut *room {
            if row.cast_unsigned() >= size {
                *row = -1;
            }
        }
        Some(room)
    }
}
