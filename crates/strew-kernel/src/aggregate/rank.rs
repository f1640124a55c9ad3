//! The rank of each value.

use crate::statistic::in_order::InOrder;
use crate::statistic::value::Value;
use crate::statistic::what::{Facts, Kind, Needs, ResultType, Ties, Way};

pub(crate) const RANK: Facts = Facts {
    name: "rank",
    kind: Kind::EachReal,
    results: ResultType::Float64,
    way: Way::Together(Needs::PAIRS),
    ..Facts::USUAL
};

/// Calls `found` with the place and the rank of each value, from 1 on.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn ranks<T: Value>(
    order: &mut InOrder<T>,
    values: &[T],
    ties: Ties,
    mut found: impl FnMut(usize, f64),
) {
    order.sort_pairs(values, |value| value.key());
    let mut before = 0;
    let runs = order.pairs.chunk_by(|a, b| a.0 == b.0);
    for (number, run) in runs.enumerate() {
        let (first, last) = ((before + 1) as f64, (before + run.len()) as f64);
        for (n, &(_, place)) in run.iter().enumerate() {
            let rank = match ties {
                Ties::Average => f64::midpoint(first, last),
                Ties::Min => first,
                Ties::Max => last,
                Ties::Dense => (number + 1) as f64,
                Ties::Ordinal => first + n as f64,
            };
            found(place, rank);
        }
        before += run.len();
    }
}
