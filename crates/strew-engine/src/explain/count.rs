//! Counts what a run moves: the stages of its traffic, from the execution and the space.

use crate::describe::split::Split;
use crate::describe::strategy::Strategy;
use crate::strategy::execution::Execution;
use crate::strategy::table;
use crate::strides::request::Cells;
use crate::strides::space::{Cut, Space, SpaceAxis};
use crate::threads::lookers::lookers;
use crate::thresholds::TILE_LARGEST;
use crate::traffic::{Around, BEGIN, Began, Move, SAMPLE, Stage, Traffic};
use strew_kernel::bucket::Blocks;
use strew_kernel::bucket::cached::CachedBucketLists;
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::machine::PAGE;
use strew_kernel::tensor::footprint::footprint;
use strew_kernel::tensor::lines;

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
    /// Over how many bytes neighbours may be apart that differ in their index only; `None` if no
    /// two are, or if they come in order.
    reach: Option<usize>,
    size: usize,
}

impl Execution {
    /// Whether each of several threads reads the whole index, to find the updates of its own rows.
    pub(crate) fn looks_at_all(&self) -> bool {
        let lists = matches!(self.strategy(), Strategy::Partition | Strategy::Grouped);
        matches!(self.split(), Some((Split::Owner, _))) && !lists && !self.ascends
    }

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
        let owners = match self.looks_at_all() {
            true => self.threads(),
            false => 1,
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
                stages.push(Stage::new(BEGIN).touches("new output", fresh));
            }
            Began::Filled => {
                stages.push(Stage::new(BEGIN).touches("new output", self.whole));
            }
            Began::Copied(read) => stages.push(
                Stage::new(BEGIN)
                    .moves("input that is copied", read, 0)
                    .touches("new output", self.whole),
            ),
            Began::Replaced(read) => {
                let stage = Stage::new("copy the input, with the updates in it")
                    .moves("input that is copied", read, 0)
                    .moves("source", self.source, 0);
                return vec![stage.touches("new output", self.whole)];
            }
        }
        if self.execution.checks_first() || self.execution.ascends {
            stages.push(self.check());
        }
        match self.execution.strategy() {
            Strategy::InOrder | Strategy::Tiled | Strategy::Small => self.in_cells(&mut stages),
            Strategy::Partition => self.listed(&mut stages),
            Strategy::DenseTable => self.dense(&mut stages),
            Strategy::CompactTable => self.compact(&mut stages),
            Strategy::Grouped => self.grouped(&mut stages),
            Strategy::Runs | Strategy::ReplaceSlice => {}
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
            Strategy::Tiled => TILE_LARGEST.min(self.whole),
            _ => self.reach.unwrap_or(0),
        };
        let row = self.row(self.size);
        if execution.request.cells == Cells::Identity && !execution.marks {
            let stage = Stage::new("start the touched rows").moves("index", self.index, 0);
            let stage = stage.moves("destination", 0, self.touched);
            stages.push(self.scattered(stage, row, reach));
        }
        let stage = self.destination(self.inputs("join the updates"));
        stages.push(self.scattered(stage, row, reach));
    }

    /// The pass over the index before the first write, which all threads share even if they do not
    /// share the rest.
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
        let blocks = Blocks::over(self.whole, self.execution.threads());
        let (entry, block) = match kept {
            true => (self.size, CachedBucketLists::block(self.size)),
            false => (size_of::<u32>() + self.size, blocks.size()),
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
        let goes_on = request.visible && request.cells != Cells::Identity;
        let stage = stage.moves(
            "destination",
            if goes_on { self.touched } else { 0 },
            self.touched,
        );
        stages.push(self.scattered(stage, self.row(self.size), self.source));
    }

    fn dense(&self, stages: &mut Vec<Stage>) {
        let row = table::usual_row(self.execution);
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
        let row = table::usual_row(self.execution);
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

/// Whether a sample of the index, if there is one, says that rows come in their order.
fn in_order(space: &Space<'_>) -> bool {
    match &space.lookups[..] {
        [lookup] => lookup.index.sample(SAMPLE).is_sorted(),
        _ => false,
    }
}
