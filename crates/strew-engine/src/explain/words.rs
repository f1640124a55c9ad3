//! A run in one sentence: how it goes and why, what it moves, how long it takes, and what holds it
//! up.

use crate::describe::strategy::{Reason, Strategy};
use crate::strategy::{grouped, in_order, partition, replace_slice, runs, small, table, tiled};
use crate::traffic::Traffic;
use crate::traffic::text::{bytes, seconds};
use strew_kernel::runtime::machine::Machine;

/// The sentence about a scatter or a gather.
pub(crate) fn of(
    strategy: Strategy,
    reason: Reason,
    traffic: Option<&Traffic>,
    machine: Option<&Machine>,
) -> String {
    sentence(how(strategy), reason, traffic, machine)
}

/// The sentence about a run that goes like this, for this reason.
pub(crate) fn sentence(
    how: &str,
    reason: Reason,
    traffic: Option<&Traffic>,
    machine: Option<&Machine>,
) -> String {
    let mut said = match reason {
        Reason::Asked => format!("{how}, as it was asked to"),
        Reason::Pays(why) => format!("{how}, because {why}"),
    };
    let Some(traffic) = traffic else {
        return said;
    };
    said += &format!("; {}", amounts(traffic));
    if let Some(machine) = machine {
        let time = seconds(traffic.seconds(machine));
        let bound = match traffic.is_random(machine) {
            true => "random access",
            false => "memory bandwidth",
        };
        said += &format!("; about {time} here; bound by {bound}");
    }
    said
}

/// What is read and what is written, in all.
fn amounts(traffic: &Traffic) -> String {
    let moves = traffic.moves();
    let read = moves.iter().map(|m| m.read).fold(0, u64::saturating_add);
    let written = moves
        .iter()
        .map(|m| m.written.saturating_add(m.fresh))
        .fold(0, u64::saturating_add);
    match written {
        0 => format!("reads {}", bytes(read)),
        _ => format!("reads {} and writes {}", bytes(read), bytes(written)),
    }
}

/// What a run of this strategy does.
fn how(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::InOrder => in_order::HOW,
        Strategy::DenseTable => table::HOW_DENSE,
        Strategy::CompactTable => table::HOW_COMPACT,
        Strategy::Tiled => tiled::HOW,
        Strategy::Partition => partition::HOW,
        Strategy::Grouped => grouped::HOW,
        Strategy::Runs => runs::HOW,
        Strategy::Small => small::HOW,
        Strategy::ReplaceSlice => replace_slice::HOW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        assert_eq!(
            sentence("sorts", Reason::Pays("rows are long"), None, None),
            "sorts, because rows are long"
        );
        assert_eq!(
            sentence("sorts", Reason::Asked, None, None),
            "sorts, as it was asked to"
        );
    }
}
