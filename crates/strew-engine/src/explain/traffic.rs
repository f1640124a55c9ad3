//! What a run moves through memory, and how long that takes on a machine that was measured.
//!
//! A run is a few stages, one after the other. Each streams through some memory, and may go to rows at
//! random; a processor does the two at once, so a stage takes the time of whichever is slower.
//! Memory is counted by lines of a cache, as it is moved: a strided view costs all lines that it
//! touches, a broadcast one is read once.

use crate::choose::execution::Execution;
use crate::choose::lookers::lookers;
use crate::choose::split::Split;
use crate::choose::strategy::Strategy;
use crate::exec::tiles;
use crate::explain::text::{bytes, seconds};
use crate::scatter::space::{Cut, Space, SpaceAxis};
use strew_kernel::bucket::BLOCK;
use strew_kernel::bucket::cached::CachedBucketLists;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::bandwidth::{Machine, PAGE};
use strew_kernel::tensor::footprint::footprint;
use strew_kernel::tensor::lines;

/// Values of an index by which it is judged to be in order.
const SAMPLE: usize = 512;

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
    Woven(usize),
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
    moves: Vec<Move>,
    visits: Option<Visits>,
    /// If not as many threads as the run has.
    threads: Option<usize>,
}

impl Stage {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            moves: Vec::new(),
            visits: None,
            threads: None,
        }
    }

    fn on(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    fn moves(mut self, what: &'static str, read: usize, written: usize) -> Self {
        self.moves.push(Move {
            what,
            read: read as u64,
            written: written as u64,
            fresh: 0,
        });
        self
    }

    fn touches(mut self, what: &'static str, fresh: usize) -> Self {
        self.moves.push(Move {
            what,
            read: 0,
            written: 0,
            fresh: fresh as u64,
        });
        self
    }

    fn visits(mut self, count: usize, row: usize, reach: usize) -> Self {
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

    /// Seconds of streaming, and of random access, of a run on so many threads.
    fn times(&self, machine: &Machine, threads: usize) -> (f64, f64) {
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
        (moves.sum(), random)
    }
}

/// What a run moves through memory, stage by stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    stages: Vec<Stage>,
    threads: usize,
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
        let each = self.stages.iter().map(|stage| {
            let (stream, random) = stage.times(machine, self.threads);
            stream.max(random)
        });
        each.sum()
    }

    /// The same, of a source of so many bytes instead of the one at hand.
    pub(crate) fn of_source(mut self, bytes: usize) -> Self {
        let moves = self.stages.iter_mut().flat_map(|stage| &mut stage.moves);
        for source in moves.filter(|m| m.what == "source") {
            source.read = bytes as u64;
        }
        self
    }

    /// The same after another run.
    pub fn after(mut self, mut earlier: Self) -> Self {
        earlier.stages.append(&mut self.stages);
        earlier.threads = earlier.threads.max(self.threads);
        earlier
    }

    /// A run by groups: each row of the destination takes its updates, or the last of them, which lie
    /// in the source in their own order.
    pub fn grouped(
        name: &'static str,
        (order, source, outputs): (usize, usize, usize),
        (updates, row): (usize, usize),
        in_order: bool,
        threads: usize,
    ) -> Self {
        let stage = Stage::new(name)
            .moves("order of the updates", order, 0)
            .moves("source", source, 0)
            .touches("new output", outputs);
        let stage = match in_order {
            true => stage,
            false => stage.visits(updates, row, source),
        };
        Self {
            stages: vec![stage],
            threads,
        }
    }

    /// A run over rows that lie one after the other: bytes of the array that pairs them, of the source, and
    /// of the outputs, which are the caller's or new. In place the array is read twice.
    pub fn runs(
        (index, source, output): (usize, usize, usize),
        visible: bool,
        reads: bool,
        positions: usize,
        threads: usize,
    ) -> Self {
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
        // The time that goes by under each of the two bounds.
        let mut bound = [0.0; 2];
        for stage in &self.stages {
            let (stream, random) = stage.times(machine, threads);
            bound[usize::from(random > stream)] += stream.max(random);
            let mut said = format!("{} streaming", seconds(stream));
            if let Some(visits) = stage.visits {
                said += &format!(
                    ", {} random access ({} visits over {})",
                    seconds(random),
                    visits.count,
                    bytes(visits.reach as u64)
                );
            }
            facts.push((stage.name, said));
        }
        let word = match bound[1] > bound[0] {
            true => "random access",
            false => "streaming",
        };
        facts.push(("tighter bound", word.to_owned()));
        facts.push(("predicted time", seconds(bound[0] + bound[1])));
        facts
    }
}

/// What the stages are made of.
struct Parts<'e> {
    execution: &'e Execution,
    cut: &'e Cut,
    /// Bytes of the index components, of the source, and of the whole destination.
    index: usize,
    /// How often the former are counted.
    owners: usize,
    source: usize,
    whole: usize,
    /// Bytes of the destination that updates go to, at most.
    touched: usize,
    /// Over how many bytes neighbours may be apart that differ in their index only; `None` if no two
    /// are, or if they come in order.
    reach: Option<usize>,
    size: usize,
}

impl Execution {
    /// What a run of this moves through memory.
    pub(crate) fn traffic_of(&self, space: &Space<'_>, around: Around) -> Traffic {
        let cut = &self.cut;
        let [source, size] = self.sizes();
        let along = |step: fn(&SpaceAxis) -> isize, size| {
            footprint(space.axes.iter().map(|a| (a.len, step(a))), size)
        };
        let index = (0..space.lookups.len()).map(|k| {
            let size = space.lookups[k].index.dtype().size();
            footprint(space.axes.iter().map(|a| (a.len, a.index[k])), size)
        });
        let index = index.fold(0, usize::saturating_add);
        let whole = footprint(space.dst.iter().copied(), size);
        let row = footprint(cut.window.iter().map(|a| (a.len, a.step.dst)), size);
        let pointed = space.lookups.iter().map(|lookup| {
            let (rows, stride) = space.dst[lookup.axis];
            rows.saturating_mul(stride.unsigned_abs())
        });
        let reach = pointed.fold(0, usize::saturating_add).min(whole);
        let at_random = !space.lookups.is_empty() && !in_order(space);
        let owners = match self.split() {
            Some((Split::Owner, threads)) if !lists(self.strategy()) => threads,
            _ => 1,
        };
        let parts = Parts {
            execution: self,
            cut,
            // Each part reads the whole index.
            index: index.saturating_mul(owners),
            owners,
            source: along(|a| a.src, source),
            whole,
            touched: match space.lookups.is_empty() {
                true => along(|a| a.dst, size),
                false => whole.min(cut.count().saturating_mul(lines(row))),
            },
            reach: at_random.then_some(reach / owners),
            size,
        };
        let mut stages = parts.stages(around);
        if let (Some(_), Some(last)) = (&space.arg, stages.last_mut()) {
            let cells = whole / size.max(1);
            last.moves.push(Move {
                what: "positions of winners",
                read: 0,
                written: (parts.touched / size.max(1)).saturating_mul(8) as u64,
                fresh: cells.saturating_mul(8) as u64,
            });
        }
        Traffic {
            stages,
            threads: self.threads(),
        }
    }
}

impl Parts<'_> {
    fn stages(&self, around: Around) -> Vec<Stage> {
        let mut stages = Vec::new();
        // A large destination with few updates gets small pages, of which some are touched.
        let few = self.cut.count().saturating_mul(PAGE);
        match around.began {
            Began::InPlace => {}
            Began::Zeros => {
                let fresh = self.whole.min(few);
                stages.push(Stage::new("start the output").touches("new output", fresh));
            }
            Began::Filled => {
                stages.push(Stage::new("start the output").touches("new output", self.whole));
            }
            Began::Copied(read) => stages.push(
                Stage::new("start the output")
                    .moves("input that is copied", read, 0)
                    .touches("new output", self.whole),
            ),
            Began::Woven(read) => {
                let stage = Stage::new("copy the input, with the updates in it")
                    .moves("input that is copied", read, 0)
                    .moves("source", self.source, 0);
                return vec![stage.touches("new output", self.whole)];
            }
        }
        if self.execution.checks_first() {
            stages.push(self.check());
        }
        match self.execution.strategy() {
            Strategy::InOrder | Strategy::Tiled => self.in_cells(&mut stages),
            Strategy::Partition => self.listed(&mut stages),
            Strategy::DenseTable => self.dense(&mut stages),
            Strategy::CompactTable => self.compact(&mut stages),
            Strategy::Grouped => self.grouped(&mut stages),
            Strategy::Runs => {}
        }
        if around.swept {
            let sweep = Stage::new("go over the output");
            stages.push(sweep.moves("output", self.whole, 0));
        }
        stages
    }

    /// Bytes of a row of updates, whose elements take so many bytes each.
    fn row(&self, size: usize) -> usize {
        self.cut.width().saturating_mul(size)
    }

    /// Updates that go to rows of so many bytes, spread over `reach` bytes.
    fn scattered(&self, stage: Stage, row: usize, reach: usize) -> Stage {
        match self.reach {
            Some(_) => stage.visits(self.cut.count(), row, reach),
            None => stage,
        }
    }

    fn destination(&self, stage: Stage) -> Stage {
        let assigns = self.execution.request.combine == Combine::Assign;
        let read = if assigns { 0 } else { self.touched };
        stage.moves("destination", read, self.touched)
    }

    fn in_cells(&self, stages: &mut Vec<Stage>) {
        let execution = self.execution;
        let reach = match execution.strategy() {
            Strategy::Tiled => tiles::LARGEST.min(self.whole),
            _ => self.reach.unwrap_or(0),
        };
        let row = self.row(self.size);
        if execution.request.from_identity && !execution.marks {
            let stage = Stage::new("start the touched rows").moves("index", self.index, 0);
            let stage = stage.moves("destination", 0, self.touched);
            stages.push(self.scattered(stage, row, reach));
        }
        let stage = self.destination(self.inputs("join the updates"));
        stages.push(self.scattered(stage, row, reach));
    }

    /// The pass over the index before the first write, which all threads share even if they do not share the rest.
    fn check(&self) -> Stage {
        let stage = Stage::new("check the index").moves("index", self.index / self.owners, 0);
        let request = &self.execution.request;
        match (self.execution.split(), request.split) {
            (None, None) => stage.on(lookers(self.index)),
            _ => stage,
        }
    }

    fn inputs(&self, name: &'static str) -> Stage {
        let stage = match self.index {
            0 => Stage::new(name),
            bytes => Stage::new(name).moves("index", bytes, 0),
        };
        stage.moves("source", self.source, 0)
    }

    fn listed(&self, stages: &mut Vec<Stage>) {
        let kept = self.execution.request.listed;
        let (entry, block) = match kept {
            true => (self.size, CachedBucketLists::block(self.size)),
            false => (size_of::<u32>() + self.size, BLOCK),
        };
        let list = self.cut.count().saturating_mul(entry);
        let mut stage = self.inputs("list the updates by block");
        stage.moves.push(Move {
            what: "list of the updates",
            read: 0,
            written: list as u64,
            fresh: list as u64,
        });
        // The last entries of each block wait for their line to be full.
        let waiting = (self.whole / block + 1).saturating_mul(16 * entry);
        // Without lists an update is decoded into a block of offsets, and then put on its list.
        let visits = self.cut.count().saturating_mul(if kept { 1 } else { 2 });
        stages.push(match self.reach {
            Some(_) => stage.visits(visits, entry, waiting),
            None => stage,
        });
        let mut stage = Stage::new("join the lists").moves("list of the updates", list, 0);
        if kept {
            let rows = self.cut.count().saturating_mul(size_of::<u16>());
            stage = stage.moves("the plan's lists", rows, 0);
        }
        let stage = self.destination(stage);
        stages.push(self.scattered(stage, self.size, block));
    }

    fn grouped(&self, stages: &mut Vec<Stage>) {
        let order = self.cut.count().saturating_mul(size_of::<u32>());
        let stage = Stage::new("sort the updates by row").moves("index", self.index, 0);
        let mut stage = stage.visits(self.cut.count(), size_of::<u32>(), order);
        stage.moves.push(Move {
            what: "order of the updates",
            read: 0,
            written: order as u64,
            fresh: order as u64,
        });
        stages.push(stage);
        let stage = Stage::new("reduce the groups")
            .moves("order of the updates", order, 0)
            .moves("source", self.source, 0);
        let request = &self.execution.request;
        let goes_on = request.visible && !request.from_identity;
        let stage = stage.moves(
            "destination",
            if goes_on { self.touched } else { 0 },
            self.touched,
        );
        stages.push(self.scattered(stage, self.row(self.size), self.source));
    }

    fn dense(&self, stages: &mut Vec<Stage>) {
        let row = self.execution.table_row();
        let table = self.cut.cell_count.saturating_mul(row);
        self.staged(stages, row, table);
    }

    fn compact(&self, stages: &mut Vec<Stage>) {
        let rows = self.cut.count();
        let numbers = rows.saturating_mul(size_of::<usize>());
        let halvings = rows.max(2).ilog2() as usize;
        stages.push(
            Stage::new("number the touched rows")
                .moves("index", self.index, 0)
                .moves("numbers of rows", numbers, numbers)
                .visits(rows.saturating_mul(halvings), size_of::<usize>(), numbers),
        );
        let row = self.execution.table_row();
        let table = self.cut.cell_count.min(rows).saturating_mul(row);
        self.staged(stages, row, table);
    }

    /// Updates go to a table, and the table's rows to the destination.
    fn staged(&self, stages: &mut Vec<Stage>, row: usize, table: usize) {
        stages.push(Stage::new("start the table").touches("table", table));
        let stage = self.inputs("join into the table");
        let stage = stage.moves("table", table, table);
        stages.push(self.scattered(stage, row, table));
        let stage = Stage::new("round into the output").moves("table", table, 0);
        let visible = self.execution.request.visible;
        let read = if visible { self.touched } else { 0 };
        stages.push(stage.moves("destination", read, self.touched));
    }
}

/// Whether a strategy reads the index once, whoever the destination belongs to.
fn lists(strategy: Strategy) -> bool {
    matches!(strategy, Strategy::Partition | Strategy::Grouped)
}

/// Whether a sample of the index, if there is one, says that rows come in their order.
fn in_order(space: &Space<'_>) -> bool {
    match &space.lookups[..] {
        [lookup] => lookup.index.sample(SAMPLE).is_sorted(),
        _ => false,
    }
}
