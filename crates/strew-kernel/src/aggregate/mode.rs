//! The most frequent value, and how many different ones there are.

use crate::statistic::in_order::InOrder;
use crate::statistic::value::Value;
use crate::statistic::what::{Empty, Facts, Kind, Needs, ResultType, Way};

pub(crate) const MODE: Facts = Facts {
    name: "mode",
    way: Way::Together(Needs::KEYS),
    ..Facts::USUAL
};

pub(crate) const UNIQUE: Facts = Facts {
    name: "nunique",
    kind: Kind::Whole,
    results: ResultType::Int64,
    empty: Empty::Zero,
    way: Way::Together(Needs::KEYS),
    ..Facts::USUAL
};

/// The most frequent value; of several the smallest.
pub(crate) fn mode<T: Value>(order: &mut InOrder<T>, values: &[T]) -> Option<T> {
    let (mut rank, mut most) = (0, (0, 0));
    for run in order.sorted(values).chunk_by(T::Key::eq) {
        if run.len() > most.0 {
            most = (run.len(), rank);
        }
        rank += run.len();
    }
    let key = *order.keys.get(most.1)?;
    Some(order.value(values, key, most.1))
}

/// How many different values there are.
pub(crate) fn different<T: Value>(order: &mut InOrder<T>, values: &[T]) -> usize {
    order.sorted(values).chunk_by(T::Key::eq).count()
}
