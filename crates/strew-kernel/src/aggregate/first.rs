//! The first and the last value of each group.
//!
//! In the loop of single values they are assigned one after the other, from the first one to the
//! last, or back: what is assigned last stays. Where there are many values for each group, they are
//! gone through the other way: a bit of each group says that it has its result, and once all have,
//! only row numbers are checked. If the first values show that some groups get their results late,
//! all values are assigned after all.

use crate::error::Problem;
use crate::statistic::cell::Placed;
use crate::statistic::fold::{Fold, NOWHERE, put};
use crate::statistic::output::{Results, Row};
use crate::statistic::pass::{
    CHUNK, Job, Made, RowNumber, are_even, are_inside, are_of_one, decides_soon, fill_of, repeat,
    with_rows, with_values,
};
use crate::statistic::value::Value;
use crate::statistic::what::{Facts, Statistic};
use crate::tensor::{DynTensor, Element, try_vec};

pub(crate) const FIRST: Facts = Facts {
    name: "first",
    of_places: true,
    ..Facts::USUAL
};

pub(crate) const LAST: Facts = Facts {
    name: "last",
    ..FIRST
};

/// The first value, or the last one. Values come with ascending places.
pub(crate) struct End<const LAST: bool>;

impl<T: Value, const LAST: bool> Fold<T> for End<LAST> {
    type Cell = Placed<T>;
    const START: Placed<T> = Placed::NOWHERE;
    const WAITS: bool = false;

    #[inline(always)]
    fn join(cell: &mut Placed<T>, value: T, place: usize) {
        if LAST | (cell.place == NOWHERE) {
            let place = place as i64;
            *cell = Placed { value, place };
        }
    }

    fn merge(cell: &mut Placed<T>, other: Placed<T>) {
        let wins = match LAST {
            true => other.place > cell.place,
            false => other.place < cell.place,
        };
        if other.place != NOWHERE && (wins || cell.place == NOWHERE) {
            *cell = other;
        }
    }

    fn finish(cells: &[Placed<T>], _: Statistic, row: &mut Row<T>) {
        if let Results::Same(to) = &mut row.numbers {
            let known = |cell: Placed<T>| (cell.place >= 0).then_some(cell.value);
            put(cells, to, &mut row.set, known);
        }
    }
}

pub(crate) fn first(job: Job<'_>) -> Result<Made, Problem> {
    of::<false>(job)
}

pub(crate) fn last(job: Job<'_>) -> Result<Made, Problem> {
    of::<true>(job)
}

fn of<const LAST: bool>(job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| ends::<V, _, LAST>(&job, rows, values))
    })
}

fn ends<V: Element, R: RowNumber, const LAST: bool>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    if fill_of::<V>(job).is_none() {
        return Ok(Made::None);
    }
    let made = DynTensor::filled(V::DTYPE, &[job.size], job.fill.as_bytes())?;
    let Ok(mut made) = made.typed::<V>() else {
        return Ok(Made::None);
    };
    let cells = made.as_mut_slice();
    let mut seen: Vec<u64> = Vec::new();
    // Where groups lie one after the other, the last values are assigned in the order of the memory,
    // which takes no longer than to look at the marks. The first ones would be gone through back.
    let by_group = repeat(&rows[..rows.len().min(CHUNK)]);
    let mut soon = decides_soon(job.size, rows.len()) && !(LAST && by_group);
    if soon {
        seen = try_vec("which groups have a value", job.size.div_ceil(64))?;
        seen.resize(job.size.div_ceil(64), 0);
    }
    let mut left = job.size;
    let long = by_group && decides_soon(job.size, rows.len() / 8);
    let chunks = rows.len().div_ceil(CHUNK);
    let (mut number, mut done, mut judged) = (0, 0, false);
    while number < chunks {
        // What comes first stays if it is marked as seen, and what comes last if it is not.
        let back = LAST == soon;
        let at = if back { chunks - 1 - number } else { number };
        let from = at * CHUNK;
        let to = rows.len().min(from + CHUNK);
        let (rows, values) = (&rows[from..to], &values[from..to]);
        let pairs = rows
            .iter()
            .map(|row| row.place())
            .zip(values.iter().copied());
        let all_there = match (soon, back) {
            (true, _) if left == 0 => are_inside(rows, job.size),
            (true, true) => see(pairs.rev(), cells, &mut seen, &mut left),
            (true, false) if long => see_by_group(rows, values, cells, &mut seen, &mut left),
            (true, false) => see(pairs, cells, &mut seen, &mut left),
            (false, true) => assign(pairs.rev(), cells),
            (false, false) => assign(pairs, cells),
        };
        done += values.len();
        // The last chunk may be short, and say little.
        if soon && !by_group && !judged && done >= CHUNK {
            judged = true;
            if !are_even(job.size, done, left) {
                (soon, number) = (false, 0);
                continue;
            }
        }
        if !(job.step)(values.len()) {
            return Err(Problem::Interrupted);
        }
        if !all_there && !job.leaves_out {
            return Ok(Made::Stray);
        }
        number += 1;
    }
    Ok(Made::Results(made.into_dyn()))
}

/// Assigns values to the cells of their groups. False if there is no such group.
fn assign<V: Copy>(pairs: impl Iterator<Item = (usize, V)>, cells: &mut [V]) -> bool {
    let mut all_there = true;
    for (row, value) in pairs {
        match cells.get_mut(row) {
            Some(cell) => *cell = value,
            None => all_there = false,
        }
    }
    all_there
}

/// Gives groups that have no result the first of their values. `left`: how many have none.
fn see<V: Copy>(
    pairs: impl Iterator<Item = (usize, V)>,
    cells: &mut [V],
    seen: &mut [u64],
    left: &mut usize,
) -> bool {
    let mut all_there = true;
    // Neighbours of one group are passed over at once.
    let mut at = None;
    for (row, value) in pairs {
        if at == Some(row) {
            continue;
        }
        at = Some(row);
        if row >= cells.len() {
            all_there = false;
            continue;
        }
        let (word, bit) = (&mut seen[row / 64], 1 << (row % 64));
        if *word & bit == 0 {
            *word |= bit;
            cells[row] = value;
            *left -= 1;
        }
    }
    all_there
}

/// Values that are passed over at once if they are of the group of the value before.
const NEIGHBOURS: usize = 16;

/// [`see`], of groups that lie one after the other.
fn see_by_group<V: Copy, R: RowNumber>(
    rows: &[R],
    values: &[V],
    cells: &mut [V],
    seen: &mut [u64],
    left: &mut usize,
) -> bool {
    let mut all_there = true;
    let mut before = None;
    for (rows, values) in rows.chunks(NEIGHBOURS).zip(values.chunks(NEIGHBOURS)) {
        if before.is_none_or(|before| !are_of_one(rows, before)) {
            let pairs = (rows.iter().map(|row| row.place())).zip(values.iter().copied());
            all_there &= see(pairs, cells, seen, left);
        }
        before = rows.last().copied();
    }
    all_there
}

#[cfg(test)]
mod tests {
    use super::{End, Fold};

    /// Merging the records of two values in either order gives the record of both.
    fn merges_like_joins<F: Fold<f64>>() {
        let values = [f64::NAN, -1.0, 0.0, -0.0, 2.0];
        let of = |value: f64, place: usize| {
            let mut cell = F::START;
            F::join(&mut cell, value, place);
            cell
        };
        for (first, second) in values.iter().flat_map(|&a| values.map(|b| (a, b))) {
            let mut both = of(first, 3);
            F::join(&mut both, second, 7);
            for (mut cell, other) in [
                (of(first, 3), of(second, 7)),
                (of(second, 7), of(first, 3)),
                (both, F::START),
                (F::START, both),
            ] {
                F::merge(&mut cell, other);
                assert_eq!(format!("{cell:?}"), format!("{both:?}"));
            }
        }
    }

    #[test]
    fn positions_decide_when_records_are_merged() {
        merges_like_joins::<End<false>>();
        merges_like_joins::<End<true>>();
    }
}
