//! Statistics of groups: the rows of a group are read once, some columns wide, and everything that is wanted is
//! made of them while they are in a near cache.

use super::columns::{Column, Kind, Statistic, Value, extreme};
use super::floats::DefaultFloats;
use super::groups::Groups;
use crate::error::Problem;
use crate::tensor::{Element, Tensor, try_vec};
use std::cmp::Ordering;
use std::ops::Range;

/// Values of a panel, unless a single column has more.
const PANEL: usize = 1 << 13;

/// Values of all groups: those along an axis, of `outer` times `inner` columns.
pub(crate) struct Columns<'c, T> {
    pub(crate) groups: &'c Groups,
    /// Reads as many values as there is room for, from one on; they are row by row: `outer`, the updates, `inner`.
    pub(crate) read: &'c (dyn Fn(usize, &mut [T]) + Sync),
    pub(crate) outer: usize,
    pub(crate) inner: usize,
}

/// What counts, and for what.
#[derive(Clone, Copy)]
pub(crate) struct Count<'w> {
    pub(crate) wanted: &'w [Statistic],
    /// NaN does not.
    pub(crate) skip: bool,
    /// Of fewer values than this nothing is made.
    pub(crate) least: usize,
}

/// What was made.
pub(crate) struct Made<T> {
    pub(crate) numbers: Results<T>,
    /// Where something was made: there may be no value, or none that counts.
    pub(crate) set: Vec<bool>,
}

/// The numbers, by their type.
pub(crate) enum Results<T> {
    Same(Tensor<T>),
    Real(Tensor<f64>),
    Whole(Tensor<i64>),
}

/// Where a part writes: the cells from `base` on.
struct Sink<'s, T> {
    numbers: Numbers<'s, T>,
    set: &'s mut [bool],
}

enum Numbers<'s, T> {
    Same(&'s mut [T]),
    Real(&'s mut [f64]),
    Whole(&'s mut [i64]),
}

/// Some of the groups, and the cells that they alone write.
pub(crate) struct Part<'s, T> {
    groups: Range<usize>,
    /// The first of those cells.
    base: usize,
    sinks: Vec<Sink<'s, T>>,
}

impl<'s, T: Value> Sink<'s, T> {
    fn of(made: &'s mut Made<T>) -> Self {
        Self {
            numbers: match &mut made.numbers {
                Results::Same(all) => Numbers::Same(all.as_mut_slice()),
                Results::Real(all) => Numbers::Real(all.as_mut_slice()),
                Results::Whole(all) => Numbers::Whole(all.as_mut_slice()),
            },
            set: &mut made.set,
        }
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (low, high) = match self.numbers {
            Numbers::Same(all) => {
                let (low, high) = all.split_at_mut(at);
                (Numbers::Same(low), Numbers::Same(high))
            }
            Numbers::Real(all) => {
                let (low, high) = all.split_at_mut(at);
                (Numbers::Real(low), Numbers::Real(high))
            }
            Numbers::Whole(all) => {
                let (low, high) = all.split_at_mut(at);
                (Numbers::Whole(low), Numbers::Whole(high))
            }
        };
        let (first, second) = self.set.split_at_mut(at);
        let sink = |numbers, set| Self { numbers, set };
        (sink(low, first), sink(high, second))
    }
}

impl<T: Value> Columns<'_, T> {
    /// Room for the results, of which none is there yet.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn nothing(&self, statistic: Statistic) -> Result<Made<T>, Problem> {
        let kind = statistic.kind(T::COMPLEX);
        let rows = match kind {
            Kind::Each | Kind::EachReal => self.groups.updates(),
            _ => self.groups.size(),
        };
        let cells = self.outer.saturating_mul(rows).saturating_mul(self.inner);
        let numbers = match kind {
            Kind::Same | Kind::Each => Results::Same(Tensor::<T>::zeros(&[cells])?),
            Kind::Real | Kind::EachReal => Results::Real(Tensor::zeros(&[cells])?),
            Kind::Whole => Results::Whole(Tensor::zeros(&[cells])?),
        };
        let mut set = try_vec("the marks of results", cells)?;
        set.resize(cells, false);
        Ok(Made { numbers, set })
    }

    /// The groups in at most so many parts, each with cells of its own.
    pub(crate) fn parts<'s>(
        &self,
        made: &'s mut [Made<T>],
        wanted: &[Statistic],
        parts: usize,
    ) -> Vec<Part<'s, T>> {
        let mut rest = Part {
            groups: 0..self.groups.len(),
            base: 0,
            sinks: made.iter_mut().map(Sink::of).collect(),
        };
        let mut done = Vec::new();
        // What is made of each value stands among other groups'.
        let apart = self.outer == 1 && !wanted.iter().any(|wanted| wanted.is_of_each());
        let all = self.groups.start(self.groups.len());
        for part in 1..if apart { parts } else { 1 } {
            let until = all / parts * part;
            let cut = rest.groups.clone().find(|&g| self.groups.start(g) >= until);
            let Some(cut) = cut.filter(|&cut| cut > rest.groups.start) else {
                continue;
            };
            let base = self.groups.row(cut) * self.inner;
            let halves = rest
                .sinks
                .into_iter()
                .map(|sink| sink.split(base - rest.base));
            let (low, high): (Vec<_>, Vec<_>) = halves.unzip();
            done.push(Part {
                groups: rest.groups.start..cut,
                base: rest.base,
                sinks: low,
            });
            rest = Part {
                groups: cut..rest.groups.end,
                base,
                sinks: high,
            };
        }
        done.push(rest);
        done
    }

    /// What is made of the values of each group of a part, or of those that are not NaN: everything that is wanted,
    /// in one trip.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn make(&self, mut part: Part<'_, T>, count: Count<'_>) -> Result<(), Problem> {
        let _floats = DefaultFloats::enter();
        let updates = self.groups.updates();
        let most = part.groups.clone().map(|group| self.size(group)).max();
        let most = most.unwrap_or(0);
        let widest = (PANEL / most.max(1)).clamp(1, self.inner.max(1));
        let what = "the values of a group";
        let mut panel: Vec<T> = try_vec(what, most.saturating_mul(widest))?;
        panel.resize(most * widest, T::ZERO);
        let mut means: Vec<f64> = try_vec(what, widest)?;
        let mut columns = ByColumn::with_room(most)?;
        for group in part.groups.clone() {
            let (first, len) = (self.groups.start(group), self.size(group));
            if len == 0 {
                continue;
            }
            let firsts = (0..self.inner).step_by(widest);
            for (o, i) in (0..self.outer).flat_map(|o| firsts.clone().map(move |i| (o, i))) {
                let width = widest.min(self.inner - i);
                let panel = &mut panel[..len * width];
                for (k, row) in panel.chunks_exact_mut(width).enumerate() {
                    let update = self.groups.update(first + k);
                    (self.read)((o * updates + update) * self.inner + i, row);
                }
                let cell = (o * self.groups.size() + self.groups.row(group)) * self.inner + i;
                let cells = cell - part.base..cell - part.base + width;
                let skips = count.skip && panel.iter().any(|value| value.nan());
                let mut left = false;
                for (&statistic, sink) in count.wanted.iter().zip(&mut part.sinks) {
                    let whole = !skips && len >= count.least.max(1);
                    let made = whole && rows(statistic, panel, sink, cells.clone(), &mut means);
                    left |= !made;
                }
                if left {
                    let at = At {
                        places: (first..first + len).map(|k| self.groups.update(k)),
                        values: (o * updates, self.inner, i),
                        cells,
                    };
                    columns.make(panel, at, count, &mut part.sinks);
                }
            }
        }
        Ok(())
    }

    fn size(&self, group: usize) -> usize {
        self.groups.start(group + 1) - self.groups.start(group)
    }
}

/// Makes a statistic of the rows of a panel, all columns side by side; false if it is not made so.
fn rows<T: Value>(
    statistic: Statistic,
    panel: &[T],
    sink: &mut Sink<'_, T>,
    cells: Range<usize>,
    means: &mut Vec<f64>,
) -> bool {
    if statistic.is_of_each() {
        return false;
    }
    let width = cells.len();
    let count = panel.len() / width;
    let set = &mut sink.set[cells.clone()];
    match &mut sink.numbers {
        Numbers::Same(to) => {
            let to = &mut to[cells];
            match statistic {
                Statistic::Sum => fold(to, panel, Some(T::ZERO), T::add),
                Statistic::Prod => fold(to, panel, Some(T::ONE), T::mul),
                Statistic::SumOfSquares => {
                    fold(to, panel, Some(T::ZERO), |sum, value| {
                        sum.add(value.square())
                    });
                }
                Statistic::Min => fold(to, panel, None, |a, b| extreme(a, b, Ordering::Less)),
                Statistic::Max => fold(to, panel, None, |a, b| extreme(a, b, Ordering::Greater)),
                Statistic::First => to.copy_from_slice(&panel[..width]),
                Statistic::Last => to.copy_from_slice(&panel[panel.len() - width..]),
                _ => return false,
            }
        }
        Numbers::Real(to) if T::FLOAT => {
            let to = &mut to[cells];
            let ddof = match statistic {
                Statistic::Mean => {
                    average(to, panel);
                    set.fill(true);
                    return true;
                }
                Statistic::Var { ddof } | Statistic::Std { ddof } => ddof,
                _ => return false,
            };
            #[allow(clippy::cast_precision_loss)]
            let count = count as f64;
            if count <= ddof {
                return true;
            }
            means.clear();
            means.resize(width, 0.0);
            average(means, panel);
            to.fill(0.0);
            for row in panel.chunks_exact(width) {
                for ((to, value), mean) in to.iter_mut().zip(row).zip(&*means) {
                    let apart = value.complex().re - mean;
                    *to += apart * apart;
                }
            }
            let root = matches!(statistic, Statistic::Std { .. });
            for to in to {
                let variance = *to / (count - ddof);
                *to = if root { variance.sqrt() } else { variance };
            }
        }
        Numbers::Whole(to) => {
            let to = &mut to[cells];
            let mut counted = |all: i64, joins: fn(i64, T) -> i64| {
                to.fill(all);
                for row in panel.chunks_exact(width) {
                    for (to, &value) in to.iter_mut().zip(row) {
                        *to = joins(*to, value);
                    }
                }
            };
            match statistic {
                Statistic::Len => to.fill(count as i64),
                Statistic::Count => counted(0, |sum, value| sum + i64::from(!value.nan())),
                Statistic::Any => counted(0, |any, value| any | i64::from(value != T::ZERO)),
                Statistic::All => counted(1, |all, value| all & i64::from(value != T::ZERO)),
                _ => return false,
            }
        }
        Numbers::Real(_) => return false,
    }
    set.fill(true);
    true
}

/// Joins the rows of a panel into one, from a value or from the first row on.
fn fold<T: Value>(to: &mut [T], panel: &[T], start: Option<T>, join: impl Fn(T, T) -> T) {
    let mut rows = panel.chunks_exact(to.len());
    match start {
        Some(start) => to.fill(start),
        None => to.copy_from_slice(rows.next().unwrap_or_default()),
    }
    for row in rows {
        for (to, &value) in to.iter_mut().zip(row) {
            *to = join(*to, value);
        }
    }
}

/// The means of the columns of a panel.
fn average<T: Value>(to: &mut [f64], panel: &[T]) {
    to.fill(0.0);
    for row in panel.chunks_exact(to.len()) {
        for (to, value) in to.iter_mut().zip(row) {
            *to += value.complex().re;
        }
    }
    #[allow(clippy::cast_precision_loss)]
    let count = (panel.len() / to.len()) as f64;
    to.iter_mut().for_each(|to| *to /= count);
}

/// Where a panel's values are from, and where its results go.
struct At<P> {
    /// The updates that its rows are.
    places: P,
    /// Row `r` of the values begins at `(outer + r) * inner + first`.
    values: (usize, usize, usize),
    cells: Range<usize>,
}

/// Columns of a panel one after the other, for what is not made row by row.
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

    /// Makes everything that is not made yet.
    fn make(
        &mut self,
        panel: &[T],
        at: At<impl Iterator<Item = usize>>,
        count: Count<'_>,
        sinks: &mut [Sink<'_, T>],
    ) {
        let Self {
            all,
            counted,
            running,
        } = self;
        all.places.clear();
        all.places.extend(at.places);
        let (outer, inner, first) = at.values;
        for (i, cell) in at.cells.clone().enumerate() {
            let column = panel.iter().skip(i).step_by(at.cells.len());
            all.values.clear();
            all.values.extend(column.copied());
            counted.refill(all, count.skip);
            if counted.values.len() < count.least.max(1) {
                continue;
            }
            let place = |row: usize| (outer + row) * inner + first + i;
            for (&statistic, sink) in count.wanted.iter().zip(&mut *sinks) {
                let kind = statistic.kind(T::COMPLEX);
                let set = match &mut sink.numbers {
                    Numbers::Same(to) if kind == Kind::Each => {
                        // Running results have one for NaN, too.
                        running.refill(all, false);
                        running.each(statistic, count.skip);
                        for (&row, &value) in running.places.iter().zip(&running.values) {
                            sink.set[place(row)] = put(to, place(row), Some(value));
                        }
                        continue;
                    }
                    Numbers::Real(to) if kind == Kind::EachReal => {
                        let (most, sum) = counted.exponentials();
                        for (&row, value) in counted.places.iter().zip(&counted.values) {
                            let share = libm::exp(value.complex().re - most) / sum;
                            sink.set[place(row)] = put(to, place(row), Some(share));
                        }
                        continue;
                    }
                    _ if sink.set[cell] => continue,
                    Numbers::Same(to) => put(to, cell, counted.same(statistic)),
                    Numbers::Real(to) => put(to, cell, counted.real(statistic)),
                    Numbers::Whole(to) => put(to, cell, counted.whole(statistic)),
                };
                sink.set[cell] = set;
            }
        }
    }
}

/// Writes a value, if there is one; tells whether there is.
fn put<T: Element>(all: &mut [T], cell: usize, value: Option<T>) -> bool {
    if let Some(value) = value {
        all[cell] = value;
    }
    value.is_some()
}
