//! Statistics of groups: each group is read once, some columns at a time, and every statistic is
//! computed from that block while it is in a near cache.
//!
//! ```text
//! for each group, for each block of columns:
//!     read the group's rows of these columns
//!     for each statistic that has a loop over rows: compute all columns side by side
//!     for each column that is left: compute the other statistics from its values in order
//!     write results; rows without a group get the fill value
//! ```
//!
//! Cost: each update is read once, however many statistics are wanted. A block holds `BLOCK`
//! values, or one column of the largest group. Sums go in the order of the updates, in 64 bits.

use crate::cpu::fp_env::DefaultFloats;
use crate::error::Problem;
use crate::group_stats::output::{Output, Results, Row, Summary};
use crate::group_stats::read::ReadValues;
use crate::group_stats::statistics::{Column, Statistic, Value};
use crate::segment::csr::Csr;
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

/// Which statistics to compute, and which values count.
#[derive(Clone, Copy)]
pub struct Count<'w> {
    pub wanted: &'w [&'w Summary],
    /// NaN is skipped.
    pub skip: bool,
    /// Minimum number of values for a result.
    pub least: usize,
}

/// One part of the groups, and the cells that it alone writes.
pub struct Part<'s> {
    groups: Range<usize>,
    /// Along the axis of the results.
    rows: Range<usize>,
    outputs: Vec<Output<'s>>,
}

impl<T: Value> GroupStats<'_, T> {
    /// Splits the groups into at most `parts` parts, each with its own cells.
    pub fn parts<'s>(
        &self,
        made: &'s mut [DynTensor],
        wanted: &'s [&'s Summary],
        parts: usize,
    ) -> Vec<Part<'s>> {
        let outputs = made.iter_mut().zip(wanted);
        let mut rest = Part {
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
            let halves = rest.outputs.into_iter().map(|output| output.split(cells));
            let (low, high): (Vec<_>, Vec<_>) = halves.unzip();
            done.push(Part {
                groups: rest.groups.start..cut,
                rows: rest.rows.start..row,
                outputs: low,
            });
            rest = Part {
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
    pub fn make(&self, mut part: Part<'_>, count: Count<'_>) -> Result<(), Problem> {
        let _floats = DefaultFloats::enter();
        let updates = self.groups.updates();
        let most = part.groups.clone().map(|group| self.size(group)).max();
        let most = most.unwrap_or(0);
        let widest = (BLOCK / most.max(1)).clamp(1, self.inner.max(1));
        let mut work = Work::with_room(count, most, widest)?;
        for (wanted, output) in count.wanted.iter().zip(&mut part.outputs) {
            if wanted.statistic.is_of_each() {
                output.fill(0..output.len());
            }
        }
        // Rows that have no group are filled on the way.
        let mut next = part.rows.start;
        for group in part.groups.clone() {
            let (first, len) = (self.groups.start(group), self.size(group));
            if len == 0 {
                continue;
            }
            let row = self.groups.row(group);
            self.fill(&mut part, count, next..row);
            next = row + 1;
            let places = (first..first + len).map(|k| self.groups.update(k));
            let firsts = (0..self.inner).step_by(widest);
            for (o, i) in (0..self.outer).flat_map(|o| firsts.clone().map(move |i| (o, i))) {
                let width = widest.min(self.inner - i);
                let block = &mut work.block[..len * width];
                let at = |update: usize| (o * updates + update) * self.inner + i;
                for (update, row) in places.clone().zip(block.chunks_exact_mut(width)) {
                    self.values.copy_values(at(update), row);
                }
                work.make(count, len, width, places.clone());
                let of_wanted = count.wanted.iter().zip(&work.made);
                for ((wanted, made), output) in of_wanted.zip(&mut part.outputs) {
                    if wanted.statistic.is_of_each() {
                        for (k, update) in places.clone().enumerate() {
                            output.write(made, k * width..(k + 1) * width, at(update));
                        }
                    } else {
                        output.write(made, 0..width, self.cell(&part.rows, o, row) + i);
                    }
                }
            }
        }
        let end = part.rows.end;
        self.fill(&mut part, count, next..end);
        Ok(())
    }

    /// The first cell of a row, counted in the cells of a part with these rows.
    fn cell(&self, rows: &Range<usize>, outer: usize, row: usize) -> usize {
        (outer * rows.len() + row - rows.start) * self.inner
    }

    /// Writes the fill value to some rows of a part.
    fn fill(&self, part: &mut Part<'_>, count: Count<'_>, rows: Range<usize>) {
        let of_groups = count.wanted.iter().zip(&mut part.outputs);
        for (_, output) in of_groups.filter(|(wanted, _)| !wanted.statistic.is_of_each()) {
            for o in 0..self.outer {
                let first = self.cell(&part.rows, o, rows.start);
                output.fill(first..first + rows.len() * self.inner);
            }
        }
    }

    fn size(&self, group: usize) -> usize {
        self.groups.start(group + 1) - self.groups.start(group)
    }
}

/// A block of a group's values, and what is made of it.
struct Work<T> {
    block: Vec<T>,
    /// For each wanted statistic.
    made: Vec<Row<T>>,
    means: Means,
    columns: ByColumn<T>,
}

impl<T: Value> Work<T> {
    /// Room for `most` rows of `widest` columns.
    fn with_room(count: Count<'_>, most: usize, widest: usize) -> Result<Self, Problem> {
        let what = "the values of a group";
        let mut block: Vec<T> = try_vec(what, most.saturating_mul(widest))?;
        block.resize(most * widest, T::ZERO);
        let mut made: Vec<Row<T>> = try_vec(what, count.wanted.len())?;
        for wanted in count.wanted {
            let rows = match wanted.statistic.is_of_each() {
                true => most,
                false => 1,
            };
            made.push(Row::with_room(wanted.statistic, rows * widest)?);
        }
        Ok(Self {
            block,
            made,
            means: Means::with_room(widest)?,
            columns: ByColumn::with_room(most)?,
        })
    }

    /// Makes all wanted statistics of a block of `len` rows, which are those updates.
    fn make(
        &mut self,
        count: Count<'_>,
        len: usize,
        width: usize,
        updates: impl Iterator<Item = usize>,
    ) {
        let block = &self.block[..len * width];
        let skips = count.skip && block.iter().any(|value| value.nan());
        let whole = !skips && len >= count.least.max(1);
        self.means.made = false;
        let mut left = false;
        for (wanted, made) in count.wanted.iter().zip(&mut self.made) {
            let of_each = wanted.statistic.is_of_each();
            made.begin(if of_each { len * width } else { width });
            left |= !(whole && rows(wanted.statistic, block, width, made, &mut self.means));
        }
        if left {
            let columns = &mut self.columns;
            columns.make(block, width, updates, count, &mut self.made);
        }
    }
}

/// Makes a statistic of the rows of a block, all columns side by side; false if it is not made so.
fn rows<T: Value>(
    statistic: Statistic,
    block: &[T],
    width: usize,
    made: &mut Row<T>,
    means: &mut Means,
) -> bool {
    if statistic.is_of_each() {
        return false;
    }
    let count = block.len() / width;
    match &mut made.numbers {
        Results::Same(to) => match statistic {
            Statistic::Sum => fold(to, block, Some(T::ZERO), T::add),
            Statistic::Prod => fold(to, block, Some(T::ONE), T::mul),
            Statistic::SumOfSquares => fold(to, block, Some(T::ZERO), |a, b| a.add(b.square())),
            Statistic::Min | Statistic::Max => {
                let (first, others) = block.split_at(width);
                to.copy_from_slice(first);
                match statistic {
                    Statistic::Min => fold(to, others, None, T::lesser),
                    _ => fold(to, others, None, T::greater),
                }
            }
            Statistic::First => to.copy_from_slice(&block[..width]),
            Statistic::Last => to.copy_from_slice(&block[block.len() - width..]),
            _ => return false,
        },
        Results::Real(to) if T::FLOAT => {
            if statistic != Statistic::Mean {
                return false;
            }
            to.copy_from_slice(means.of(block, width));
        }
        Results::Whole(to) => {
            let mut counted = |all: i64, join: fn(i64, T) -> i64| fold(to, block, Some(all), join);
            match statistic {
                Statistic::Len => to.fill(count as i64),
                Statistic::Count => counted(0, |sum, value| sum + i64::from(!value.nan())),
                Statistic::Any => counted(0, |any, value| any | i64::from(value != T::ZERO)),
                Statistic::All => counted(1, |all, value| all & i64::from(value != T::ZERO)),
                _ => return false,
            }
        }
        Results::Real(_) => return false,
    }
    made.set.fill(true);
    true
}

/// Joins the rows of a block into one, from a value or from what is there on.
fn fold<S: Copy, T: Copy>(to: &mut [S], block: &[T], start: Option<S>, join: impl Fn(S, T) -> S) {
    if let Some(start) = start {
        to.fill(start);
    }
    for row in block.chunks_exact(to.len()) {
        for (to, &value) in to.iter_mut().zip(row) {
            *to = join(*to, value);
        }
    }
}

/// The means of the columns of a block, which several statistics begin with.
struct Means {
    means: Vec<f64>,
    made: bool,
}

impl Means {
    fn with_room(most: usize) -> Result<Self, Problem> {
        Ok(Self {
            means: try_vec("the means of a group", most)?,
            made: false,
        })
    }

    fn of<T: Value>(&mut self, block: &[T], width: usize) -> &[f64] {
        if !self.made {
            self.made = true;
            self.means.clear();
            self.means.resize(width, 0.0);
            for row in block.chunks_exact(width) {
                for (to, value) in self.means.iter_mut().zip(row) {
                    *to += value.complex().re;
                }
            }
            #[allow(clippy::cast_precision_loss)]
            let count = (block.len() / width) as f64;
            self.means.iter_mut().for_each(|mean| *mean /= count);
        }
        &self.means
    }
}

/// Columns of a block one after the other, for what is not made row by row.
struct ByColumn<T> {
    all: Column<T>,
    counted: Column<T>,
    running: Column<T>,
}

impl<T: Value> ByColumn<T> {
    fn with_room(most: usize) -> Result<Self, Problem> {
        Ok(Self {
            all: Column::with_room(most)?,
            counted: Column::with_room(most)?,
            running: Column::with_room(most)?,
        })
    }

    /// Makes everything that is not made yet of the rows of a block, which are those updates.
    fn make(
        &mut self,
        block: &[T],
        width: usize,
        updates: impl Iterator<Item = usize>,
        count: Count<'_>,
        made: &mut [Row<T>],
    ) {
        let Self {
            all,
            counted,
            running,
        } = self;
        all.places.clear();
        all.places.extend(updates);
        for i in 0..width {
            all.values.clear();
            all.values
                .extend(block.iter().skip(i).step_by(width).copied());
            counted.refill(all, count.skip);
            let enough = |least: usize| counted.values.len() >= least;
            if !enough(count.least) {
                continue;
            }
            let some = enough(1);
            for (wanted, made) in count.wanted.iter().zip(&mut *made) {
                let statistic = wanted.statistic;
                let of_each = statistic.is_of_each();
                let set = match &mut made.numbers {
                    Results::Same(to) if of_each => {
                        // Running results have one for NaN, too.
                        running.refill(all, false);
                        let begun = running.each(statistic, count.skip);
                        for (k, &value) in running.values.iter().enumerate().skip(begun) {
                            made.set[k * width + i] = put(to, k * width + i, Some(value));
                        }
                        continue;
                    }
                    Results::Real(to) if of_each => {
                        let (most, sum) = counted.exponentials();
                        for (k, value) in all.values.iter().enumerate() {
                            if !(count.skip && value.nan()) {
                                let share = libm::exp(value.complex().re - most) / sum;
                                made.set[k * width + i] = put(to, k * width + i, Some(share));
                            }
                        }
                        continue;
                    }
                    _ if made.set[i] || !some => continue,
                    Results::Same(to) => put(to, i, counted.same(statistic)),
                    Results::Real(to) => put(to, i, counted.real(statistic)),
                    Results::Whole(to) => put(to, i, counted.whole(statistic)),
                };
                made.set[i] = set;
            }
        }
    }
}

/// Writes a value, if there is one; tells whether there is.
fn put<V>(all: &mut [V], at: usize, value: Option<V>) -> bool {
    match value {
        Some(value) => all[at] = value,
        None => return false,
    }
    true
}
