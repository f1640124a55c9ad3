//! The pass over rows and values that most statistics share.
//!
//! ```text
//! states = start
//! for each value: state = states[its row], if there is one; join the value to the state
//! ```
//!
//! Where most values have the row of the one before, a state stays in registers, so that no value
//! waits until the one before it is in memory.

use crate::aggregate::{CHUNK, Job, Row};
use crate::error::Problem;

/// A statistic of each group as a running state.
pub(super) trait Fold<V> {
    type State: Copy;
    /// Whether a value must mostly wait until the one before it in its group has joined.
    const WAITS: bool = true;
    fn join(state: &mut Self::State, value: V, place: usize);
}

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Done,
    /// A row is that of no group.
    Stray,
}

/// Joins all values to the states of their rows.
///
/// # Errors
/// [`Problem::Interrupted`].
pub(super) fn join_all<F: Fold<V>, V: Copy, R: Row>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
    states: &mut [F::State],
) -> Result<End, Problem> {
    let mut all_there = true;
    let mut repeats = false;
    for (number, (rows, values)) in rows.chunks(CHUNK).zip(values.chunks(CHUNK)).enumerate() {
        if F::WAITS && number.is_multiple_of(SAMPLED) {
            repeats = repeat(rows);
        }
        let first = number * CHUNK;
        all_there &= match repeats {
            true => join_repeated::<F, V, R>(rows, values, first, states),
            false => join::<F, V, R>(rows, values, first, states),
        };
        if !(job.step)(values.len()) {
            return Err(Problem::Interrupted);
        }
        if !all_there && !job.leaves_out {
            return Ok(End::Stray);
        }
    }
    Ok(End::Done)
}

/// One chunk in this many is sampled.
const SAMPLED: usize = 4;

/// Whether most rows are the same as the one before, by a sample.
pub(super) fn repeat<R: Row>(rows: &[R]) -> bool {
    const APART: usize = 128;
    let pairs = rows.windows(2).step_by(APART);
    let same = pairs.filter(|pair| pair[0].number() == pair[1].number());
    same.count() * 8 * APART > rows.len() * 7
}

fn join<F: Fold<V>, V: Copy, R: Row>(
    rows: &[R],
    values: &[V],
    first: usize,
    states: &mut [F::State],
) -> bool {
    let mut all_there = true;
    for (n, (row, &value)) in rows.iter().zip(values).enumerate() {
        match states.get_mut(row.place()) {
            Some(state) => F::join(state, value, first + n),
            None => all_there = false,
        }
    }
    all_there
}

fn join_repeated<F: Fold<V>, V: Copy, R: Row>(
    rows: &[R],
    values: &[V],
    first: usize,
    states: &mut [F::State],
) -> bool {
    let Some(&(mut held)) = states.first() else {
        return rows.is_empty();
    };
    let (mut at, mut all_there) = (0, true);
    for (n, (row, &value)) in rows.iter().zip(values).enumerate() {
        let row = row.place();
        if row != at {
            let Some(&next) = states.get(row) else {
                all_there = false;
                continue;
            };
            states[at] = held;
            (held, at) = (next, row);
        }
        F::join(&mut held, value, first + n);
    }
    states[at] = held;
    all_there
}
