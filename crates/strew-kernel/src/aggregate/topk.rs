//! The first values in descending or ascending order, and where they are.

use crate::statistic::in_order::InOrder;
use crate::statistic::value::Value;
use crate::statistic::what::{Empty, Facts, Kind, Needs, ResultType, Way};

pub(crate) const TOP: Facts = Facts {
    name: "topk",
    way: Way::Together(Needs::PAIRS),
    ..Facts::USUAL
};

pub(crate) const ARG_TOP: Facts = Facts {
    name: "argtopk",
    kind: Kind::Whole,
    results: ResultType::Int64,
    empty: Empty::Nowhere,
    way: Way::Together(Needs {
        places: true,
        ..Needs::PAIRS
    }),
    ..Facts::USUAL
};

/// The places of the first `count` values in ascending or descending order.
pub(crate) fn top<T: Value>(
    order: &mut InOrder<T>,
    values: &[T],
    count: usize,
    largest: bool,
) -> impl Iterator<Item = usize> {
    order.pairs.clear();
    let key = |value: &T| match largest {
        true => !value.key(),
        false => value.key(),
    };
    order.pairs.extend(values.iter().map(key).zip(0..));
    if count < order.pairs.len() {
        order.pairs.select_nth_unstable(count);
        order.pairs.truncate(count);
    }
    order.pairs.sort_unstable();
    order.pairs.iter().map(|&(_, place)| place)
}
