//! Exponentials of a group: each one's share, and the logarithm of their sum.

use crate::ops::order::minmax;
use crate::statistic::value::Value;
use crate::statistic::what::{Facts, Kind, Needs, Order, ResultType, Way};

pub(crate) const SOFTMAX: Facts = Facts {
    name: "softmax",
    kind: Kind::EachReal,
    results: ResultType::Real,
    order: Order::Matters,
    way: Way::Together(Needs::NOTHING),
    ..Facts::USUAL
};

pub(crate) const LOG_SUM_EXP: Facts = Facts {
    name: "logsumexp",
    kind: Kind::Real,
    ..SOFTMAX
};

/// The largest value, and the sum of the exponentials of the differences from it.
pub(crate) fn exponentials<T: Value>(values: &[T]) -> (f64, f64) {
    let all = || values.iter().map(|value| value.complex().re);
    let most = all().fold(f64::NEG_INFINITY, |most, value| {
        minmax::<f64, true, false>(most, value)
    });
    let most = if all().any(f64::is_nan) {
        f64::NAN
    } else {
        most
    };
    (
        most,
        all().fold(0.0, |sum, value| sum + libm::exp(value - most)),
    )
}

pub(crate) fn log_sum_exp<T: Value>(values: &[T]) -> f64 {
    match exponentials(values) {
        (most, _) if most.is_infinite() => most,
        (most, sum) => libm::log(sum) + most,
    }
}
