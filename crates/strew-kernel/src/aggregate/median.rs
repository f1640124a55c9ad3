//! Medians and quantiles.

use crate::statistic::in_order::InOrder;
use crate::statistic::value::Value;
use crate::statistic::what::{Between, Facts, Kind, Needs, ResultType, Way};

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

/// The middle value, or the mean of the two in the middle; NaN if there is one.
pub(crate) fn median<T: Value>(order: &mut InOrder<T>, values: &[T]) -> Option<f64> {
    let half = values.len().checked_sub(1)? / 2;
    order.read(values);
    if order.nan {
        return Some(f64::NAN);
    }
    let (low, high) = order.pair(values, half);
    let (low, high) = (low.complex().re, high.complex().re);
    Some(match values.len() % 2 {
        1 => low,
        _ => f64::midpoint(low, high),
    })
}

/// The value that is the fraction `q` of the way from the smallest to the largest, or what is
/// made of the two beside that place; NaN if there is one.
///
/// Where the place is that of a value, no other value counts: an infinity beside it does not.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
pub(crate) fn quantile<T: Value>(
    order: &mut InOrder<T>,
    values: &[T],
    q: f64,
    between: Between,
) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    order.read(values);
    if order.nan {
        return Some(f64::NAN);
    }
    let at = q * last as f64;
    let at = match between {
        Between::Linear | Between::Midpoint => at,
        Between::Lower => at.floor(),
        Between::Higher => at.ceil(),
        Between::Nearest => at.round_ties_even(),
    };
    let below = (at.floor() as usize).min(last);
    let (low, high) = order.pair(values, below);
    let (low, high) = (low.complex().re, high.complex().re);
    let part = at - at.floor();
    Some(match between {
        _ if part == 0.0 || low == high => low,
        Between::Midpoint => f64::midpoint(low, high),
        _ => on_the_line(low, high, part),
    })
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
