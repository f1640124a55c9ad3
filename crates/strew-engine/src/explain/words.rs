//! A run in one sentence: how it goes and why, what it moves, how long it takes, and what holds it
//! up.

use crate::choose::strategy::Strategy;
use crate::explain::text::{bytes, seconds};
use crate::explain::traffic::Traffic;
use strew_kernel::runtime::machine::Machine;

/// The reason of a strategy that was forced.
const FORCED: &str = "it was asked for";

/// The sentence about a scatter or a gather.
pub(crate) fn of(
    strategy: Strategy,
    reason: &str,
    traffic: Option<&Traffic>,
    machine: Option<&Machine>,
) -> String {
    sentence(how(strategy), reason, traffic, machine)
}

/// The sentence about a run that goes like this, for this reason.
pub(crate) fn sentence(
    how: &str,
    reason: &str,
    traffic: Option<&Traffic>,
    machine: Option<&Machine>,
) -> String {
    let mut said = match reason {
        FORCED => format!("{how}, as it was asked to"),
        _ => format!("{how}, because {reason}"),
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
        Strategy::InOrder => "takes the updates in order, one after the other",
        Strategy::DenseTable => "joins the updates in a table of all rows",
        Strategy::CompactTable => "joins the updates in a table of the rows that are touched",
        Strategy::Tiled => "takes some columns at a time",
        Strategy::Partition => "lists the updates by block of the destination first",
        Strategy::Grouped => "sorts the updates by row first",
        Strategy::Runs => "takes each row's updates together",
        Strategy::Small => "joins the updates at once",
        Strategy::ReplaceSlice => "copies the input and replaces the slice on the way",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        assert_eq!(
            sentence("sorts", "rows are long", None, None),
            "sorts, because rows are long"
        );
        assert_eq!(
            sentence("sorts", FORCED, None, None),
            "sorts, as it was asked to"
        );
    }
}
