//! Medians and quantiles.
//!
//! The loop of single values brings the keys of each group together, and not the values: a key goes to
//! the next place of its group. Keys do not tell 0.0 from -0.0. If a result is made of a zero, and
//! there is a -0.0, the loop makes nothing.

use crate::aggregate::len::counts;
use crate::error::Problem;
use crate::statistic::in_order::InOrder;
use crate::statistic::pass::{
    CHUNK, Job, Made, Outcome, RowNumber, each_chunk, fill_of, states, unset, with_rows,
    with_values,
};
use crate::statistic::select::{Bits, pair};
use crate::statistic::value::Value;
use crate::statistic::what::{Between, Facts, Kind, Needs, ResultType, Statistic, Way};
use crate::tensor::Element;
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

/// A type of single values that are selected by their keys.
trait Ranked: Element {
    type Key: Bits + Element;
    type Result: Element;
    const ZERO: Self;
    /// As [`Value::key`].
    fn key(self) -> Self::Key;
    fn of_key(key: Self::Key) -> f64;
    fn is_nan(self) -> bool;
    fn is_negative_zero(self) -> bool;
    fn result(of: f64) -> Self::Result;
}

impl Ranked for f32 {
    type Key = u32;
    type Result = Self;
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn key(self) -> u32 {
        // 0.0 and -0.0 are equal.
        let bits = (self + 0.0).to_bits();
        let negative = (bits.cast_signed() >> 31).cast_unsigned();
        match Self::is_nan(self) {
            true => u32::MAX,
            false => bits ^ (negative | 1 << 31),
        }
    }

    fn of_key(key: u32) -> f64 {
        let positive = (key.cast_signed() >> 31).cast_unsigned();
        Self::from_bits(key ^ (!positive | 1 << 31)).into()
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        Self::is_nan(self)
    }

    #[inline(always)]
    fn is_negative_zero(self) -> bool {
        self.to_bits() == 1 << 31
    }

    #[allow(clippy::cast_possible_truncation)]
    fn result(of: f64) -> Self {
        of as Self
    }
}

macro_rules! of_eight_bytes {
    ($($t:ty: |$value:ident| $nan:expr, $negative_zero:expr;)*) => {$(
        impl Ranked for $t {
            type Key = u64;
            type Result = f64;
            const ZERO: Self = 0 as $t;

            #[inline(always)]
            fn key(self) -> u64 {
                Value::key(self)
            }

            fn of_key(key: u64) -> f64 {
                <$t as Value>::of_key(key).complex().re
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                let $value = self;
                $nan
            }

            #[inline(always)]
            fn is_negative_zero(self) -> bool {
                let $value = self;
                $negative_zero
            }

            fn result(of: f64) -> f64 {
                of
            }
        }
    )*};
}

of_eight_bytes! {
    f64: |value| value.is_nan(), value.to_bits() == 1 << 63;
    i64: |_value| false, false;
}

pub(crate) fn median(statistic: Statistic, job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| of_keys::<V, _>(
            statistic, &job, rows, values
        ))
    })
}

fn of_keys<V: Ranked, R: RowNumber>(
    statistic: Statistic,
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<V::Result>(job) else {
        return Ok(Made::None);
    };
    let mut next = states(job, 0)?;
    if counts(job, rows, &mut next)? == Outcome::Stray {
        return Ok(Made::Stray);
    }
    let mut all = 0;
    for next in next.iter_mut() {
        (*next, all) = (all, all + *next);
    }
    let mut keys = unset::<V::Key>(usize::try_from(all).unwrap_or(0))?;
    let keys = keys.as_mut_slice();
    let (mut nan, mut negative_zero) = (false, false);
    each_chunk(job, rows, values, |rows, values, _| {
        for (row, &value) in rows.iter().zip(values) {
            let Some(next) = next.get_mut(row.place()) else {
                continue;
            };
            if let Some(key) = keys.get_mut(*next as usize) {
                *key = value.key();
            }
            *next += 1;
            nan |= value.is_nan();
            negative_zero |= value.is_negative_zero();
        }
        true
    })?;
    let zero = V::ZERO.key();
    let mut made = unset::<V::Result>(job.size)?;
    let (mut rest, mut start, mut done) = (keys, 0, 0);
    for (result, &end) in made.as_mut_slice().iter_mut().zip(next.iter()) {
        let (keys, others) = rest.split_at_mut((end - start) as usize);
        (rest, start) = (others, end);
        let Some(last) = keys.len().checked_sub(1) else {
            *result = fill;
            continue;
        };
        done += keys.len();
        if done >= CHUNK && !(job.step)(mem::take(&mut done)) {
            return Err(Problem::Interrupted);
        }
        if nan && keys.contains(&V::Key::HIGHEST) {
            *result = V::result(f64::NAN);
            continue;
        }
        let place = Place::of(statistic, last);
        let (low, high) = pair(keys, place.rank);
        if negative_zero && (low == zero || high == zero) {
            return Ok(Made::None);
        }
        *result = V::result(place.between(V::of_key(low), V::of_key(high)));
    }
    Ok(Made::Results(made.into_dyn()))
}
