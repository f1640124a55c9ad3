//! Values in order, and where they are.

use crate::statistic::in_order::InOrder;
use crate::statistic::value::Value;
use crate::statistic::what::{Empty, Facts, Kind, Needs, ResultType, Way};

pub(crate) const SORT: Facts = Facts {
    name: "sort",
    kind: Kind::Each,
    way: Way::Together(Needs {
        keys: true,
        ..Needs::PAIRS
    }),
    ..Facts::USUAL
};

pub(crate) const ARG_SORT: Facts = Facts {
    name: "argsort",
    kind: Kind::EachWhole,
    results: ResultType::Int64,
    empty: Empty::Nowhere,
    way: Way::Together(Needs {
        places: true,
        ..Needs::PAIRS
    }),
    ..Facts::USUAL
};

/// The sorted values; descending with `reverse`. NaN is last.
pub(crate) fn sort<T: Value>(
    order: &mut InOrder<T>,
    values: &[T],
    sorted: &mut [T],
    reverse: bool,
) {
    order.read(values);
    if order.plain {
        for (to, &key) in sorted.iter_mut().zip(order.sorted(values)) {
            *to = T::of_key(key);
        }
        if reverse {
            sorted.reverse();
        }
    } else {
        order.sort_pairs(values, |value| match reverse & !value.nan() {
            true => !value.key(),
            false => value.key(),
        });
        for (to, &(_, place)) in sorted.iter_mut().zip(&order.pairs) {
            *to = values[place];
        }
    }
}

/// The places of the values in ascending order.
pub(crate) fn places<T: Value>(
    order: &mut InOrder<T>,
    values: &[T],
) -> impl Iterator<Item = usize> {
    order.sort_pairs(values, |value| value.key());
    order.pairs.iter().map(|&(_, place)| place)
}
