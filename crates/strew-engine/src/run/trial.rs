//! One thread or several, where nothing but a trial tells which is faster.
//!
//! A part by owner reads the whole index, and most of the source where rows are narrow. What
//! another thread gains beside that depends on how near the destination's cache is, and on how much
//! of the memory's bandwidth one core can use alone: there are machines where two threads need half
//! the time, and others where they need twice as much. Both ways give the same bits, so a run may
//! begin in one way and end in the other.
//!
//! To wake another thread takes as long as a short stretch of the work. So only the work of the
//! parts is measured, from when all are awake; and if several threads were faster, they go on at
//! once.

use crate::describe::split::Split;
use crate::describe::strategy::Begin;
use crate::describe::strategy::Strategy;
use crate::strategy::execution::Execution;
use crate::strides::request::Cells;
use crate::strides::space::Space;
use crate::threads::crew::{Crew, Worker};
use crate::threads::pass::{Before, Fault, Outputs, Part, unfit};
use crate::thresholds::{TRIED, TRIED_BYTES, TRIED_ROW, TRIED_ROWS, TRIED_SUM_ROW};
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::monitor::Monitor;
use strew_kernel::tensor::{DynView, DynViewMut};

impl Execution {
    /// Whether the run tries one thread and several, and goes on as was faster.
    #[must_use]
    pub fn is_tried(&self) -> bool {
        let owned = matches!(self.split(), Some((Split::Owner, _)));
        let most = match self.request.combine {
            Combine::Sum => TRIED_SUM_ROW,
            _ => TRIED_ROW,
        };
        let narrow = self.width().saturating_mul(self.sizes()[1]) <= most;
        // What a run keeps to itself between its updates would be lost between two of them.
        let alone = self.strategy() == Strategy::InOrder && self.request.cells != Cells::Identity;
        let ready = self.begin == Begin::Before;
        let searched = owned && !self.ascends;
        searched && narrow && alone && ready && self.request.split.is_none()
    }

    /// Parts are chosen if they take, on average, less than this percentage of one thread's time.
    /// Timings vary by a tenth. One thread is timed first, while fewer cells are in the caches, so
    /// parts that join rows appear another tenth faster than they are.
    fn percentage(&self) -> u32 {
        if self.width() > 1 { 80 } else { 90 }
    }

    /// The axis of the updates that is cut for the trial, and its length.
    pub(crate) fn tried_along(&self, space: &Space<'_>, outputs: &Outputs<'_>) -> Option<usize> {
        let plain = outputs.arg.is_none();
        let axis = space.axes.iter().position(|axis| axis.len > 1)?;
        (plain && self.is_tried() && space.axes[axis].len >= TRIED).then_some(axis)
    }

    /// Runs the updates in stretches along an axis, the last of which is nearly all of them.
    pub(crate) fn run_tried(
        &self,
        axis: usize,
        space: &Space<'_>,
        src: &DynView<'_>,
        mut dst: DynViewMut<'_>,
        crew: &Crew<'_>,
    ) -> Result<(), Fault> {
        let len = space.axes[axis].len;
        let trial = Trial {
            run: self,
            axis,
            updates: self.rows().saturating_mul(self.width()) as u64,
            len: len as u64,
        };
        let rows = (self.rows() / len).max(1);
        let bytes = rows
            .saturating_mul(self.width())
            .saturating_mul(self.sizes()[1]);
        let enough = (TRIED_BYTES / bytes.max(1)).min(TRIED_ROWS / rows);
        let tried = (len / TRIED).min(enough.max(1));
        let mut all = Part::whole(space, src, into(dst.reborrow()));
        // After the first stretch cells are in the caches.
        trial.run(&mut all, 0..tried, crew.caller())?;
        let start = Instant::now();
        trial.run(&mut all, tried..2 * tried, crew.caller())?;
        let alone = start.elapsed();
        let parts = all.split(Split::Owner, crew.threads());
        let meeting = Meeting::new(parts.len(), alone * self.percentage() / 100);
        let rest = 4 * tried..len;
        crew.each(parts, |mut part, worker| {
            // Each part's cells come into the caches of its own core.
            let warm = trial.run(&mut part, 2 * tried..3 * tried, worker);
            meeting.begin();
            let start = Instant::now();
            let done = warm.and_then(|()| trial.run(&mut part, 3 * tried..4 * tried, worker));
            match meeting.end(start) {
                Choice::Together => done.and_then(|()| trial.run(&mut part, rest.clone(), worker)),
                Choice::Alone => done,
            }
        })?;
        if meeting.choice() == Some(Choice::Together) {
            return Ok(());
        }
        let mut all = Part::whole(space, src, into(dst));
        trial.run(&mut all, rest, crew.caller())
    }
}

/// Into cells that are as they should be.
fn into(dst: DynViewMut<'_>) -> Outputs<'_> {
    Outputs {
        dst,
        arg: None,
        before: Before::Nothing,
        lists: None,
    }
}

/// What the stretches of a run have in common.
struct Trial<'t> {
    run: &'t Execution,
    axis: usize,
    updates: u64,
    /// The length of the axis.
    len: u64,
}

impl Trial<'_> {
    /// Updates before a place on the axis.
    fn before(&self, at: usize) -> u64 {
        self.updates / self.len * at as u64
    }

    /// Runs a stretch of a part on this thread.
    fn run(
        &self,
        part: &mut Part<'_, '_>,
        stretch: Range<usize>,
        worker: Worker<'_>,
    ) -> Result<(), Fault> {
        let space = part.space.stretch(self.axis, stretch.start, stretch.len());
        let src = part.src.narrow(self.axis, stretch.start, stretch.len());
        let (space, src) = space.zip(src).ok_or_else(unfit)?;
        let checked = |updates| if self.run.checks_first() { updates } else { 0 };
        let watched = worker.monitor.map(|monitor| Stretch {
            monitor,
            before: checked(self.updates) + self.before(stretch.start),
            checked: checked(self.before(stretch.len())),
            total: checked(self.updates) + self.updates,
        });
        let worker = Worker {
            monitor: watched.as_ref().map(|m| m as &dyn Monitor),
            ..worker
        };
        let (cut, outputs) = (space.cut(), into(part.dst.reborrow()));
        worker.tell(self.run.run_serial(&space, &cut, &src, outputs, worker))
    }
}

/// How a run goes on after the trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Alone,
    Together,
}

/// Where the parts of a run wait for each other, before and after their stretch of the trial, and
/// choose. Who waits, sleeps.
#[derive(Debug)]
struct Meeting {
    /// If the parts take less than this, added up, they are faster than one thread. The longest
    /// part would not tell: the cut is even for the whole run, but a stretch of a sorted index is
    /// all of one part.
    enough: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Parts that have yet to come, and those that have yet to be done with the stretch.
    missing: usize,
    working: usize,
    /// What the parts took, one after another.
    taken: Duration,
    /// What is chosen first is chosen for all.
    chosen: Option<Choice>,
}

impl Meeting {
    /// Who comes later than this, and than by all of a stretch before, has no processor to run on.
    const PATIENCE: Duration = Duration::from_micros(500);

    /// For this number of parts. They go on together if they take less than `each` on average.
    fn new(parts: usize, each: Duration) -> Self {
        Self {
            enough: each.saturating_mul(u32::try_from(parts).unwrap_or(u32::MAX)),
            state: Mutex::new(State {
                missing: parts,
                working: parts,
                taken: Duration::ZERO,
                chosen: None,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits for the other parts.
    fn begin(&self) {
        let mut state = self.state();
        state.missing -= 1;
        if state.missing == 0 {
            return self.changed.notify_all();
        }
        let patience = Self::PATIENCE.max(self.enough);
        let waits = |state: &mut State| state.missing > 0 && state.chosen.is_none();
        drop(self.wait(state, patience, waits));
    }

    /// Waits until a choice has been made, after a stretch that this part began at `start`.
    fn end(&self, start: Instant) -> Choice {
        let taken = start.elapsed();
        let mut state = self.state();
        state.taken = state.taken.saturating_add(taken);
        state.working -= 1;
        if state.working == 0 && state.chosen.is_none() {
            state.chosen = Some(match state.taken < self.enough {
                true => Choice::Together,
                false => Choice::Alone,
            });
            self.changed.notify_all();
        }
        let patience = self.enough.saturating_sub(taken);
        let state = self.wait(state, patience, |state| state.chosen.is_none());
        state.chosen.unwrap_or(Choice::Alone)
    }

    /// Sleeps while `waits` says so. After so long the parts do not go on together.
    fn wait<'m>(
        &self,
        state: MutexGuard<'m, State>,
        patience: Duration,
        waits: impl Fn(&mut State) -> bool,
    ) -> MutexGuard<'m, State> {
        let waited = (self.changed).wait_timeout_while(state, patience, |state| waits(state));
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if waits(&mut state) {
            state.chosen.get_or_insert(Choice::Alone);
            self.changed.notify_all();
        }
        state
    }

    fn choice(&self) -> Option<Choice> {
        self.state().chosen
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who watches the whole run, told of a stretch of it.
struct Stretch<'m> {
    monitor: &'m dyn Monitor,
    /// Updates that had been handled when it began.
    before: u64,
    /// Its own that count as checked before.
    checked: u64,
    total: u64,
}

impl Monitor for Stretch<'_> {
    fn progress(&self, done: u64, _total: u64) -> bool {
        let done = self.before + done.saturating_sub(self.checked);
        self.monitor.progress(done.min(self.total), self.total)
    }
}
