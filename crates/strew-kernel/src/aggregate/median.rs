//! Medians and quantiles.
//!
//! The loop of single values brings the keys of each group together, and not the values: a key goes to
//! the next place of its group. Keys do not tell 0.0 from -0.0. If a result is made of a zero, and
//! there is a -0.0, the loop makes nothing.

use crate::aggregate::len::counts;
use crate::aggregate::var::Moved;
use crate::error::Problem;
use crate::ops::order::Compared;
use crate::statistic::in_order::InOrder;
use crate::statistic::pass::{
    CHUNK, Job, Made, Outcome, RowNumber, each_chunk, fill_of, states, unset, with_rows,
    with_values,
};
use crate::statistic::select::pair;
use crate::statistic::value::Value;
use crate::statistic::what::{Between, Facts, Kind, Needs, ResultType, Statistic, Way};
use crate::tensor::{List, Tensor};
use std::mem;

pub(crate) const MEDIAN: Facts = Facts {
    name: "median",
    kind: Kind::Real,
    results: ResultType::Real,
    way: Way::Together(Needs::KEYS),
    ..Facts::USUAL
};

pub(crate) const QUANTILE: Facts = Facts {
    name: "quantile",
    ..MEDIAN
};

/// The median or a quantile of values; NaN if there is one.
pub(crate) fn of_ranks<T: Value>(
    statistic: Statistic,
    order: &mut InOrder<T>,
    values: &[T],
) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    order.read(values);
    if order.nan {
        return Some(f64::NAN);
    }
    let place = Place::of(statistic, last);
    let (low, high) = order.pair(values, place.rank);
    Some(place.between(low.complex().re, high.complex().re))
}

/// A place among ascending values.
#[derive(Clone, Copy)]
struct Place {
    statistic: Statistic,
    rank: usize,
    /// What part of the way it is to the next rank.
    part: f64,
}

impl Place {
    /// The place of the result among values with ranks up to `last`.
    ///
    /// A median is the middle value, or the mean of the two in the middle. A quantile is the value
    /// that is the fraction `q` of the way from the first to the last, or what is made of the two
    /// beside that place.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    fn of(statistic: Statistic, last: usize) -> Self {
        let Statistic::Quantile(q, between) = statistic else {
            return Self {
                statistic,
                rank: last / 2,
                part: (last % 2) as f64 / 2.0,
            };
        };
        let at = q * last as f64;
        let at = match between {
            Between::Linear | Between::Midpoint => at,
            Between::Lower => at.floor(),
            Between::Higher => at.ceil(),
            Between::Nearest => at.round_ties_even(),
        };
        Self {
            statistic,
            rank: (at.floor() as usize).min(last),
            part: at - at.floor(),
        }
    }

    /// The result between the values of the rank and the next one.
    ///
    /// Where the place is that of a value, no other value counts: an infinity beside it does not.
    fn between(self, low: f64, high: f64) -> f64 {
        match self.statistic {
            _ if self.part == 0.0 => low,
            Statistic::Quantile(..) if low == high => low,
            Statistic::Quantile(_, between) if between != Between::Midpoint => {
                on_the_line(low, high, self.part)
            }
            _ => f64::midpoint(low, high),
        }
    }
}

/// The point between two different numbers that is the fraction `part` of the way to the larger.
fn on_the_line(low: f64, high: f64, part: f64) -> f64 {
    let apart = high - low;
    if apart.is_finite() {
        return match part >= 0.5 {
            true => high - apart * (1.0 - part),
            false => low + apart * part,
        };
    }
    // Every point between an infinity and a number is that infinity. Of two numbers only the
    // difference is too large.
    low * (1.0 - part) + high * part
}

pub(crate) fn median(statistic: Statistic, job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| of_keys::<V, _>(
            statistic, &job, rows, values
        ))
    })
}

/// The keys of all groups, one group after the other.
struct Keys {
    all: Tensor<u64>,
    /// Where those of each group end.
    ends: List<i64>,
    /// Some key is that of a NaN.
    nan: bool,
    /// Some value is -0.0.
    negative_zero: bool,
}

fn of_keys<V: Moved, R: RowNumber>(
    statistic: Statistic,
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<V::Result>(job) else {
        return Ok(Made::None);
    };
    let mut ends = states(job, 0)?;
    if counts(job, rows, &mut ends)? == Outcome::Stray {
        return Ok(Made::Stray);
    }
    let mut all = 0;
    for end in ends.iter_mut() {
        // First where the group begins: each of its keys moves that on.
        (*end, all) = (all, all + *end);
    }
    let mut all = unset::<u64>(usize::try_from(all).unwrap_or(0))?;
    let keys = all.as_mut_slice();
    let (mut nan, mut negative_zero) = (false, false);
    each_chunk(job, rows, values, |rows, values, _| {
        for (row, value) in rows.iter().zip(values) {
            let Some(next) = ends.get_mut(row.place()) else {
                continue;
            };
            let value = value.computed();
            if let Some(key) = keys.get_mut(*next as usize) {
                *key = value.key();
            }
            *next += 1;
            nan |= value.nan();
            negative_zero |= !value.is_its_key() & !value.nan();
        }
        true
    })?;
    let keys = Keys {
        all,
        ends,
        nan,
        negative_zero,
    };
    of_groups::<V>(statistic, job, keys, fill)
}

#[inline(never)] // For size.
fn of_groups<V: Moved>(
    statistic: Statistic,
    job: &Job<'_>,
    mut keys: Keys,
    fill: V::Result,
) -> Result<Made, Problem> {
    let zero = V::Computed::ZERO.key();
    let mut made = unset::<V::Result>(job.size)?;
    let (mut rest, mut start, mut done) = (keys.all.as_mut_slice(), 0, 0);
    for (result, &end) in made.as_mut_slice().iter_mut().zip(keys.ends.iter()) {
        let (of_group, behind) = rest.split_at_mut((end - start) as usize);
        (rest, start) = (behind, end);
        let Some(last) = of_group.len().checked_sub(1) else {
            *result = fill;
            continue;
        };
        done += of_group.len();
        if done >= CHUNK && !(job.step)(mem::take(&mut done)) {
            return Err(Problem::Interrupted);
        }
        if keys.nan && of_group.contains(&u64::MAX) {
            *result = V::result(f64::NAN);
            continue;
        }
        let place = Place::of(statistic, last);
        let (low, high) = pair(of_group, place.rank);
        if keys.negative_zero && (low == zero || high == zero) {
            return Ok(Made::None);
        }
        let value = |key| V::Computed::of_key(key).complex().re;
        *result = V::result(place.between(value(low), value(high)));
    }
    Ok(Made::Results(made.into_dyn()))
}
