//! What a run moves through memory, and how long that takes on a machine that was measured.
//!
//! A run is a few stages, one after the other. Each streams through some memory, and may go to rows
//! at random; a processor does the two at once, so a stage takes the time of whichever is slower.
//! Memory is counted by lines of a cache, as it is moved: a strided view costs all lines that it
//! touches, a broadcast one is read once.

pub mod text;

use crate::traffic::text::{bytes, seconds};
use strew_kernel::runtime::machine::Machine;

/// Values of an index by which it is judged to be in order.
pub(crate) const SAMPLE: usize = 512;

/// The stage that begins a new output.
pub(crate) const BEGIN: &str = "start the output";

/// What a new destination holds at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Began {
    /// It is the caller's, in place.
    InPlace,
    /// The system's zeros, which are there once they are touched.
    Zeros,
    /// Some other value.
    Filled,
    /// A copy of an input, of which so many bytes are read.
    Copied(usize),
    /// Likewise, and the updates are put in on the way.
    Replaced(usize),
}

/// What is done besides joining the updates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    pub began: Began,
    /// The output is gone over once more in the end.
    pub swept: bool,
}

/// One thing that is moved through memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Move {
    /// What: `index`, `source`, `destination`, ...
    pub what: &'static str,
    /// Bytes that are read.
    pub read: u64,
    /// Bytes that are written to memory that is there.
    pub written: u64,
    /// Bytes of fresh memory that are touched first, and cleared by that.
    pub fresh: u64,
}

/// Rows that are visited at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Visits {
    count: u64,
    /// Bytes of a row, and over how many bytes all rows are spread.
    row: usize,
    reach: usize,
}

/// A part of a run that is over before the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    name: &'static str,
    pub(crate) moves: Vec<Move>,
    visits: Option<Visits>,
    /// If not as many threads as the run has.
    threads: Option<usize>,
}

impl Stage {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            moves: Vec::new(),
            visits: None,
            threads: None,
        }
    }

    pub(crate) fn on(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    pub(crate) fn moves(mut self, what: &'static str, read: usize, written: usize) -> Self {
        self.moves.push(Move {
            what,
            read: read as u64,
            written: written as u64,
            fresh: 0,
        });
        self
    }

    pub(crate) fn touches(mut self, what: &'static str, fresh: usize) -> Self {
        self.moves.push(Move {
            what,
            read: 0,
            written: 0,
            fresh: fresh as u64,
        });
        self
    }

    pub(crate) fn visits(mut self, count: usize, row: usize, reach: usize) -> Self {
        let count = count as u64;
        self.visits = Some(Visits { count, row, reach });
        self
    }

    /// What it does.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it moves.
    #[must_use]
    pub fn moved(&self) -> &[Move] {
        &self.moves
    }

    /// The predicted time of a run on `threads` threads.
    fn times(&self, machine: &Machine, threads: usize) -> Times {
        let threads = self.threads.unwrap_or(threads);
        let rates = machine.rates(threads);
        let moves = self.moves.iter().map(|m| {
            // Memory that is written is read first: that is part of the measured speed.
            let read = m.read.saturating_sub(m.written) as f64;
            read / rates.read + m.written as f64 / rates.write + m.fresh as f64 / rates.fresh
        });
        let random = self.visits.map_or(0.0, |v| {
            v.count as f64 * machine.random(v.reach, v.row) / threads as f64
        });
        Times {
            streaming: moves.sum(),
            random,
        }
    }
}

/// Seconds of a stage.
#[derive(Clone, Copy)]
struct Times {
    /// Of streaming.
    streaming: f64,
    /// Of random access.
    random: f64,
}

impl Times {
    /// A processor does both at once.
    fn of_both(self) -> f64 {
        self.streaming.max(self.random)
    }
}

/// Bytes that a run by groups moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupedBytes {
    /// Of the order of the updates.
    pub order: usize,
    /// Of the source.
    pub source: usize,
    /// Of all outputs.
    pub outputs: usize,
}

/// Rows of the source that a run by groups reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupedRows {
    /// How many rows.
    pub count: usize,
    /// Bytes of a row.
    pub bytes: usize,
    /// They lie in the order of their groups, and need no random access.
    pub in_order: bool,
}

/// Bytes that a run over rows that lie one after the other moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunsBytes {
    /// Of the array that pairs rows.
    pub index: usize,
    /// Of the source.
    pub source: usize,
    /// Of the output, which is the caller's or new.
    pub output: usize,
    /// Of the positions of winners; 0 if there are none.
    pub positions: usize,
}

/// What a run moves through memory, stage by stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    pub(crate) stages: Vec<Stage>,
    pub(crate) threads: usize,
}

impl Traffic {
    /// The stages of the run, in their order.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// How many threads share each stage.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// What is moved, over all stages, one of each name.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        let mut all: Vec<Move> = Vec::new();
        for one in self.stages.iter().flat_map(|stage| &stage.moves) {
            match all.iter_mut().find(|m| m.what == one.what) {
                Some(sum) => {
                    sum.read = sum.read.saturating_add(one.read);
                    sum.written = sum.written.saturating_add(one.written);
                    sum.fresh = sum.fresh.saturating_add(one.fresh);
                }
                None => all.push(one.clone()),
            }
        }
        all
    }

    /// All bytes that are moved.
    #[must_use]
    pub fn total(&self) -> u64 {
        let of = |m: &Move| m.read.saturating_add(m.written).saturating_add(m.fresh);
        self.moves().iter().map(of).fold(0, u64::saturating_add)
    }

    /// Seconds that the run should take on this machine.
    #[must_use]
    pub fn seconds(&self, machine: &Machine) -> f64 {
        let each = self.stages.iter();
        each.map(|stage| stage.times(machine, self.threads).of_both())
            .sum()
    }

    /// Whether random access takes more of the time than streaming does.
    pub(crate) fn is_random(&self, machine: &Machine) -> bool {
        let [streaming, random] = self.bounds(machine);
        random > streaming
    }

    /// Seconds of random access alone.
    pub(crate) fn random_seconds(&self, machine: &Machine) -> f64 {
        let stages = self.stages.iter();
        stages
            .map(|stage| stage.times(machine, self.threads).random)
            .sum()
    }

    /// The time that goes by under each of the two bounds: streaming, and random access.
    fn bounds(&self, machine: &Machine) -> [f64; 2] {
        let mut bounds = [0.0; 2];
        for stage in &self.stages {
            let times = stage.times(machine, self.threads);
            bounds[usize::from(times.random > times.streaming)] += times.of_both();
        }
        bounds
    }

    /// The same, of a source of so many bytes instead of the one at hand.
    pub(crate) fn of_source(mut self, bytes: usize) -> Self {
        let moves = self.stages.iter_mut().flat_map(|stage| &mut stage.moves);
        for source in moves.filter(|m| m.what == "source") {
            source.read = bytes as u64;
        }
        self
    }

    /// A run by groups: each row of the destination takes its updates, or the last of them, which
    /// lie in the source in their own order.
    pub(crate) fn grouped(
        name: &'static str,
        bytes: GroupedBytes,
        rows: GroupedRows,
        threads: usize,
    ) -> Self {
        let stage = Stage::new(name)
            .moves("order of the updates", bytes.order, 0)
            .moves("source", bytes.source, 0)
            .touches("new output", bytes.outputs);
        let stage = match rows.in_order {
            true => stage,
            false => stage.visits(rows.count, rows.bytes, bytes.source),
        };
        Self {
            stages: vec![stage],
            threads,
        }
    }

    /// A run over rows that lie one after the other. Where the output is visible, the caller's, the
    /// array that pairs rows is read twice. `reads`: a row of the output is read before it is
    /// written.
    pub(crate) fn runs(bytes: RunsBytes, visible: bool, reads: bool, threads: usize) -> Self {
        let RunsBytes {
            index,
            source,
            output,
            positions,
        } = bytes;
        let mut stages = Vec::new();
        if visible {
            stages.push(Stage::new("check the index").moves("index", index, 0));
        }
        let stage = Stage::new("go over the runs")
            .moves("index", index, 0)
            .moves("source", source, 0);
        let mut stage = match visible {
            true => stage.moves("destination", if reads { output } else { 0 }, output),
            false => stage.touches("new output", output),
        };
        if positions > 0 {
            stage = stage.touches("positions of winners", positions);
        }
        stages.push(stage);
        Self { stages, threads }
    }

    /// How long it takes, and why, as lines to show.
    pub(crate) fn forecast(&self, machine: &Machine) -> Vec<(&'static str, String)> {
        let threads = self.threads;
        let rates = machine.rates(threads);
        let speed = |rate: f64| format!("{}/s", bytes(rate as u64));
        let mut facts = vec![(
            "measured bandwidth",
            format!(
                "read {}, write {}, first touch {}; {threads} thread{}",
                speed(rates.read),
                speed(rates.write),
                speed(rates.fresh),
                if threads == 1 { "" } else { "s" },
            ),
        )];
        for stage in &self.stages {
            let times = stage.times(machine, threads);
            let mut said = format!("{} streaming", seconds(times.streaming));
            if let Some(visits) = stage.visits {
                said += &format!(
                    ", {} random access ({} visits over {})",
                    seconds(times.random),
                    visits.count,
                    bytes(visits.reach as u64)
                );
            }
            facts.push((stage.name, said));
        }
        let word = match self.is_random(machine) {
            true => "random access",
            false => "streaming",
        };
        facts.push(("tighter bound", word.to_owned()));
        facts.push(("predicted time", seconds(self.seconds(machine))));
        facts
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Traffic {
    /// The same after another run.
    pub fn after(mut self, mut earlier: Self) -> Self {
        earlier.stages.append(&mut self.stages);
        earlier.threads = earlier.threads.max(self.threads);
        earlier
    }

    /// The bytes, as lines to show.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts: Vec<(&'static str, String)> = Vec::new();
        for Move {
            what,
            read,
            written,
            fresh,
        } in self.moves()
        {
            let ways = [
                (fresh, "touched first"),
                (read, "read"),
                (written, "written"),
            ];
            let mut said: Vec<String> = Vec::new();
            for (count, how) in ways.into_iter().filter(|(count, _)| *count > 0) {
                said.push(format!("{} {how}", bytes(count)));
            }
            if read > 0 && read == written {
                said.retain(|one| one.ends_with("first"));
                said.push(format!("{} read and written", bytes(read)));
            }
            if !said.is_empty() {
                facts.push((what, said.join(", ")));
            }
        }
        facts.push(("bytes to move at the least", bytes(self.total())));
        facts
    }
}
