//! Statistics of a block's columns, one column after the other.
//!
//! ```text
//! for each column: copy its values, and those that are not NaN if NaN is skipped
//!     if enough values count:
//!         for each statistic: of the values that task, or of each value
//! ```

use crate::aggregate::cumsum::run;
use crate::aggregate::rank::ranks;
use crate::aggregate::softmax::exponentials;
use crate::aggregate::sort::{places as in_place, sort};
use crate::aggregate::topk::top;
use crate::error::Problem;
use crate::group_stats::column::Column;
use crate::statistic::in_order::Room;
use crate::statistic::output::{Results, Row, Task};
use crate::statistic::value::Value;
use crate::statistic::what::{Needs, Statistic, Way};

/// Room for the values of a column.
pub(crate) struct ByColumn<T: Value> {
    all: Column<T>,
    /// Those that task, if NaN is skipped and there is one.
    numbers: Column<T>,
    running: Column<T>,
}

/// The cells of a column in a [`Row`]: every `width`th, from the `i`th on.
#[derive(Clone, Copy)]
struct Place {
    i: usize,
    width: usize,
}

impl Place {
    /// Puts the `k`th result of the column.
    fn put<V>(self, to: &mut [V], set: &mut [bool], k: usize, value: V) {
        let at = k * self.width + self.i;
        to[at] = value;
        set[at] = true;
    }
}

impl<T: Value> ByColumn<T> {
    /// Room for the wanted statistics of groups of at most `most` values.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn with_room(task: Task<'_>, most: usize) -> Result<Self, Problem> {
        let room = |needed: fn(Statistic) -> bool| {
            let needed = task.wanted.iter().any(|one| needed(one.statistic));
            if needed { most } else { 0 }
        };
        let all = Room {
            values: most,
            places: room(|one| needs(one).places),
            keys: room(|one| needs(one).keys),
            pairs: room(|one| needs(one).pairs),
        };
        let running = Room {
            values: room(Statistic::is_of_each),
            ..Room::default()
        };
        let numbers = if task.among.skip {
            all
        } else {
            Room::default()
        };
        Ok(Self {
            all: Column::with_room(all)?,
            numbers: Column::with_room(numbers)?,
            running: Column::with_room(running)?,
        })
    }

    /// Makes everything that is wanted of the rows of a block, which are those updates.
    pub(crate) fn make(
        &mut self,
        block: &[T],
        width: usize,
        updates: &[usize],
        task: Task<'_>,
        made: &mut [Row<T>],
    ) {
        let needed = task.wanted.iter().any(|one| needs(one.statistic).places);
        let places = if needed { updates } else { &[] };
        for i in 0..width {
            self.all.refill_from(block, i, width, places);
            let skips = task.among.skip && self.all.values.iter().any(|value| value.nan());
            if skips {
                self.numbers.refill_without_nan(&self.all);
            }
            let counted = match skips {
                true => &self.numbers,
                false => &self.all,
            };
            let (enough, some) = (
                counted.values.len() >= task.among.least,
                !counted.values.is_empty(),
            );
            if !enough {
                continue;
            }
            let place = Place { i, width };
            for (wanted, made) in task.wanted.iter().zip(&mut *made) {
                let statistic = wanted.statistic;
                if statistic.is_of_each() {
                    self.of_each(statistic, task.among.skip, skips, place, made);
                } else if some {
                    let counted = match skips {
                        true => &mut self.numbers,
                        false => &mut self.all,
                    };
                    of_group(counted, statistic, place, made);
                }
            }
        }
    }

    /// Puts the results of each value; `skips`: some values are NaN and are skipped.
    fn of_each(
        &mut self,
        statistic: Statistic,
        skip: bool,
        skips: bool,
        place: Place,
        made: &mut Row<T>,
    ) {
        let Column {
            values,
            places,
            order,
        } = &mut self.all;
        let left_out = |value: T| skip && value.nan();
        let set = &mut made.set;
        match (&mut made.numbers, statistic) {
            (Results::Real(to), Statistic::Rank(ties)) => ranks(order, values, ties, |k, rank| {
                if !left_out(values[k]) {
                    place.put(to, set, k, rank);
                }
            }),
            (Results::Real(to), _) => {
                let counted = if skips { &self.numbers } else { &self.all };
                let (most, sum) = exponentials(&counted.values);
                let counts = |&(_, &value): &(usize, &T)| !left_out(value);
                for (k, value) in self.all.values.iter().enumerate().filter(counts) {
                    let share = libm::exp(value.complex().re - most) / sum;
                    place.put(to, set, k, share);
                }
            }
            (Results::Whole(to), Statistic::CumCount) => {
                let mut before = 0;
                for (k, &value) in values.iter().enumerate() {
                    place.put(to, set, k, before);
                    before += i64::from(!left_out(value));
                }
            }
            (Results::Whole(to), _) => {
                for (k, from) in in_place(order, values).enumerate() {
                    place.put(to, set, k, places[from] as i64);
                }
            }
            (Results::Same(to), Statistic::Shift(by)) => {
                let count = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
                let (from, onto) = match by < 0 {
                    true => (count.min(values.len()), 0),
                    false => (0, count.min(values.len())),
                };
                for (k, &value) in (onto..values.len()).zip(&values[from..]) {
                    place.put(to, set, k, value);
                }
            }
            (Results::Same(to), _) => {
                let begun = self.run(statistic, skip);
                for (k, &value) in self.running.values.iter().enumerate().skip(begun) {
                    place.put(to, set, k, value);
                }
            }
        }
    }

    /// Makes sorted values or running results, which begin at the place that is given back.
    fn run(&mut self, statistic: Statistic, skip: bool) -> usize {
        let Column { values, order, .. } = &mut self.all;
        let running = &mut self.running;
        running.refill(values.iter().copied(), &[]);
        if let Statistic::Sort { reverse } = statistic {
            sort(order, values, &mut running.values, reverse);
            return 0;
        }
        // They have a result at NaN, too.
        run(&mut running.values, statistic, skip)
    }
}

/// What a statistic needs of the values beside themselves.
fn needs(statistic: Statistic) -> Needs {
    match statistic.facts().way {
        Way::Together(needs) => needs,
        _ => Needs::NOTHING,
    }
}

/// Puts the result of the values that task, of which there is one.
fn of_group<T: Value>(
    counted: &mut Column<T>,
    statistic: Statistic,
    place: Place,
    made: &mut Row<T>,
) {
    let (i, set) = (place.i, &mut made.set);
    match (&mut made.numbers, statistic) {
        (Results::Same(to), Statistic::Top { count, largest }) => {
            let Column { values, order, .. } = counted;
            for (k, from) in top(order, values, count, largest).enumerate() {
                place.put(to, set, k, values[from]);
            }
        }
        (Results::Whole(to), Statistic::ArgTop { count, largest }) => {
            let Column {
                values,
                places,
                order,
            } = counted;
            for (k, from) in top(order, values, count, largest).enumerate() {
                place.put(to, set, k, places[from] as i64);
            }
        }
        (Results::Same(to), _) => set[i] = put(&mut to[i], counted.same(statistic)),
        (Results::Real(to), _) => set[i] = put(&mut to[i], counted.real(statistic)),
        (Results::Whole(to), _) => set[i] = put(&mut to[i], counted.whole(statistic)),
    }
}

/// Writes a value, if there is one; tells whether there is.
fn put<V>(to: &mut V, value: Option<V>) -> bool {
    match value {
        Some(value) => *to = value,
        None => return false,
    }
    true
}
