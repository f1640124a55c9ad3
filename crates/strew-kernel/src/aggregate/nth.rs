//! Values by their place in the group: the nth, the one some places before, how many stand before.

use crate::statistic::what::{Empty, Facts, Kind, Needs, ResultType, Way};

pub(crate) const NTH: Facts = Facts {
    name: "nth",
    way: Way::Together(Needs::NOTHING),
    ..Facts::USUAL
};

pub(crate) const SHIFT: Facts = Facts {
    name: "shift",
    kind: Kind::Each,
    way: Way::Together(Needs::NOTHING),
    ..Facts::USUAL
};

pub(crate) const CUM_COUNT: Facts = Facts {
    name: "cumcount",
    kind: Kind::EachWhole,
    results: ResultType::Int64,
    empty: Empty::Zero,
    way: Way::Together(Needs::NOTHING),
    ..Facts::USUAL
};

/// The place of the `at`th of `len` values, from the end if negative.
pub(crate) fn place(at: i64, len: usize) -> Option<usize> {
    let from_start = usize::try_from(at).ok();
    let from_end = || {
        usize::try_from(at.unsigned_abs())
            .ok()
            .and_then(|at| len.checked_sub(at))
    };
    let found = if at < 0 { from_end() } else { from_start };
    found.filter(|&found| found < len)
}
