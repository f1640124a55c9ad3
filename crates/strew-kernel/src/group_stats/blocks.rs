//! Statistics that need all values of a group together: each group is read once, some columns at a
//! time, and every statistic is computed from that block while it is in a near cache.
//!
//! ```text
//! rows without a group get the fill value
//! for each large group or some small ones, for each block of columns:
//!     read the groups' rows of these columns
//!     for each group:
//!         for each column: compute all statistics from its values in order
//!         write results
//! ```
//!
//! Cost: each update is read once, however many statistics are wanted. A block holds `BLOCK`
//! values, or one column of the largest group. Statistics that are running records are computed in
//! [one pass](crate::group_stats::stream).

use crate::cpu::fp_env::DefaultFloats;
use crate::error::Problem;
use crate::group_stats::columns::ByColumn;
use crate::groups::csr::Csr;
use crate::statistic::output::{Output, Row, Task, Wanted};
use crate::statistic::read::{ReadValues, Rows};
use crate::statistic::value::Value;
use crate::statistic::what::Statistic;
use crate::tensor::{DynTensor, try_vec};
use std::ops::Range;

/// Maximum number of values of a block, unless a single column has more.
const BLOCK: usize = 1 << 13;

/// The values of all groups along one axis, in `outer` times `inner` columns.
pub struct GroupStats<'c, T> {
    pub groups: &'c Csr,
    pub values: &'c dyn ReadValues<T>,
    pub outer: usize,
    pub inner: usize,
}

/// One part of the groups, and the cells that it alone writes.
pub struct BlocksPart<'s> {
    groups: Range<usize>,
    /// Along the axis of the results.
    rows: Range<usize>,
    outputs: Vec<Output<'s>>,
}

/// Some columns of the values.
#[derive(Clone, Copy)]
struct Columns {
    outer: usize,
    /// Along the inner axes.
    first: usize,
    width: usize,
}

/// A group in a block, which may hold several.
struct Piece<'p> {
    group: usize,
    /// The rows of the block that it has.
    rows: Range<usize>,
    columns: Columns,
    /// The updates of the block's rows.
    updates: &'p [usize],
}

impl<T: Value> GroupStats<'_, T> {
    /// Splits the groups into at most `parts` parts, each with its own cells.
    pub fn parts<'s>(
        &self,
        made: &'s mut [DynTensor],
        wanted: &'s [&'s Wanted],
        parts: usize,
    ) -> Vec<BlocksPart<'s>> {
        let outputs = made.iter_mut().zip(wanted);
        let mut rest = BlocksPart {
            groups: 0..self.groups.len(),
            rows: 0..self.groups.size(),
            outputs: outputs
                .map(|(cells, wanted)| Output::of(cells, wanted))
                .collect(),
        };
        let mut done = Vec::new();
        // Results for each value lie between those of other groups, so they cannot be split by
        // group.
        let apart = self.outer == 1 && !wanted.iter().any(|wanted| wanted.statistic.is_of_each());
        let all = self.groups.start(self.groups.len());
        for part in 1..if apart { parts } else { 1 } {
            let until = all / parts * part;
            let cut = rest.groups.clone().find(|&g| self.groups.start(g) >= until);
            let Some(cut) = cut.filter(|&cut| cut > rest.groups.start) else {
                continue;
            };
            let row = self.groups.row(cut);
            let cells = (row - rest.rows.start) * self.inner;
            let outputs = rest.outputs.into_iter().zip(wanted);
            let halves =
                outputs.map(|(output, wanted)| output.split(cells * wanted.statistic.per_group()));
            let (low, high): (Vec<_>, Vec<_>) = halves.unzip();
            done.push(BlocksPart {
                groups: rest.groups.start..cut,
                rows: rest.rows.start..row,
                outputs: low,
            });
            rest = BlocksPart {
                groups: cut..rest.groups.end,
                rows: row..rest.rows.end,
                outputs: high,
            };
        }
        done.push(rest);
        done
    }

    /// Computes all wanted statistics of the groups of a part in one pass over its values.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn make(&self, mut part: BlocksPart<'_>, task: Task<'_>) -> Result<(), Problem> {
        let _floats = DefaultFloats::enter();
        let most = part.groups.clone().map(|group| self.size(group)).max();
        let most = most.unwrap_or(0);
        let widest = (BLOCK / most.max(1)).clamp(1, self.inner.max(1));
        let all = self.groups.start(part.groups.end) - self.groups.start(part.groups.start);
        let room = (BLOCK / widest).max(most).min(all);
        let mut work = GroupBlock::with_room(task, most, room, widest)?;
        let mut updates: Vec<usize> = try_vec("the updates of a group", room)?;
        self.begin(&mut part, task);
        let mut groups = part.groups.clone();
        while !groups.is_empty() {
            let batch = self.batch(groups.clone(), room);
            groups.start = batch.end;
            let first = self.groups.start(batch.start);
            let len = self.groups.start(batch.end) - first;
            self.groups.read_updates(first, len, &mut updates);
            let firsts = (0..self.inner).step_by(widest);
            for (outer, first) in (0..self.outer).flat_map(|o| firsts.clone().map(move |i| (o, i)))
            {
                let columns = Columns {
                    outer,
                    first,
                    width: widest.min(self.inner - first),
                };
                let block = &mut work.block[..len * columns.width];
                self.values.copy_rows(self.rows(columns, &updates), block);
                for group in batch.clone() {
                    let start = |group| self.groups.start(group) - self.groups.start(batch.start);
                    let piece = Piece {
                        group,
                        rows: start(group)..start(group + 1),
                        columns,
                        updates: &updates,
                    };
                    self.group(&mut part, &mut work, task, piece);
                }
            }
        }
        Ok(())
    }

    /// Writes the fill value to the rows that have no group, and to all results of each value.
    fn begin(&self, part: &mut BlocksPart<'_>, task: Task<'_>) {
        for (wanted, output) in task.wanted.iter().zip(&mut part.outputs) {
            if wanted.statistic.is_of_each() {
                output.fill(0..output.len());
            }
        }
        let mut next = part.rows.start;
        for group in part.groups.clone().filter(|&group| self.size(group) > 0) {
            let row = self.groups.row(group);
            if next < row {
                self.fill(part, task, next..row);
            }
            next = row + 1;
        }
        let end = part.rows.end;
        self.fill(part, task, next..end);
    }

    /// The first groups that have at most `room` values together; at least one.
    fn batch(&self, groups: Range<usize>, room: usize) -> Range<usize> {
        let limit = self.groups.start(groups.start) + room;
        let mut beyond = groups.clone().skip(1);
        let end = beyond.find(|&group| self.groups.start(group + 1) > limit);
        groups.start..end.unwrap_or(groups.end)
    }

    /// Computes and writes all wanted statistics of some columns of a group, which the block has.
    fn group(
        &self,
        part: &mut BlocksPart<'_>,
        work: &mut GroupBlock<T>,
        task: Task<'_>,
        piece: Piece<'_>,
    ) {
        if piece.rows.is_empty() {
            return;
        }
        let updates = &piece.updates[piece.rows.clone()];
        let Columns {
            outer,
            first,
            width,
        } = piece.columns;
        work.make(task, piece.rows, width, updates);
        let row = self.groups.row(piece.group);
        let of_wanted = task.wanted.iter().zip(&work.made);
        for ((wanted, made), output) in of_wanted.zip(&mut part.outputs) {
            if wanted.statistic.is_of_each() {
                output.write_rows(made, self.rows(piece.columns, updates));
                continue;
            }
            let per_group = wanted.statistic.per_group();
            let cell = per_group * self.cell(&part.rows, outer, row) + first;
            for k in 0..per_group {
                output.write(made, k * width..(k + 1) * width, cell + k * self.inner);
            }
        }
    }

    /// Where some columns of these updates lie in the values.
    fn rows<'r>(&self, columns: Columns, updates: &'r [usize]) -> Rows<'r> {
        Rows {
            first: columns.outer * self.groups.updates() * self.inner + columns.first,
            stride: self.inner,
            numbers: updates,
        }
    }

    /// The first cell of a row, counted in the cells of a part with these rows, of which each has
    /// one result.
    fn cell(&self, rows: &Range<usize>, outer: usize, row: usize) -> usize {
        (outer * rows.len() + row - rows.start) * self.inner
    }

    /// Writes the fill value to some rows of a part.
    fn fill(&self, part: &mut BlocksPart<'_>, task: Task<'_>, rows: Range<usize>) {
        let of_groups = task.wanted.iter().zip(&mut part.outputs);
        for (wanted, output) in of_groups.filter(|(wanted, _)| !wanted.statistic.is_of_each()) {
            let per_group = wanted.statistic.per_group();
            for o in 0..self.outer {
                let first = per_group * self.cell(&part.rows, o, rows.start);
                output.fill(first..first + per_group * rows.len() * self.inner);
            }
        }
    }

    fn size(&self, group: usize) -> usize {
        self.groups.start(group + 1) - self.groups.start(group)
    }
}

/// A block of a group's values, and what is made of it.
struct GroupBlock<T: Value> {
    block: Vec<T>,
    /// For each wanted statistic.
    made: Vec<Row<T>>,
    columns: ByColumn<T>,
}

impl<T: Value> GroupBlock<T> {
    /// Room for blocks of `room` rows and groups of `most`, of `widest` columns.
    fn with_room(task: Task<'_>, most: usize, room: usize, widest: usize) -> Result<Self, Problem> {
        let what = "the values of a group";
        let mut block: Vec<T> = try_vec(what, room.saturating_mul(widest))?;
        block.resize(room * widest, T::ZERO);
        let mut made: Vec<Row<T>> = try_vec(what, task.wanted.len())?;
        for wanted in task.wanted {
            let rows = results(wanted.statistic, most);
            made.push(Row::with_room(
                wanted.statistic.kind(T::COMPLEX),
                rows.saturating_mul(widest),
            )?);
        }
        Ok(Self {
            block,
            made,
            columns: ByColumn::with_room(task, most)?,
        })
    }

    /// Makes all wanted statistics of some rows of the block, which are those updates.
    fn make(&mut self, task: Task<'_>, rows: Range<usize>, width: usize, updates: &[usize]) {
        let block = &self.block[rows.start * width..rows.end * width];
        for (wanted, made) in task.wanted.iter().zip(&mut self.made) {
            made.begin(results(wanted.statistic, rows.len()) * width);
        }
        self.columns
            .make(block, width, updates, task, &mut self.made);
    }
}

/// How many results a statistic has for each column of a group of `len` values.
fn results(statistic: Statistic, len: usize) -> usize {
    match statistic.is_of_each() {
        true => len,
        false => statistic.per_group(),
    }
}
