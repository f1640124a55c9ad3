//! One thread or several, where nothing but a trial tells which is faster.
//!
//! A part by owner reads the whole index, and most of the source where rows are narrow. What another thread gains beside
//! that depends on how near the destination's cache is, and on how much of the memory's bandwidth one core can use alone:
//! there are machines where two threads need half the time, and others where they need twice as much. Both ways give the same
//! bits, so a run may begin in one way and end in the other.

use super::cost::Strategy;
use super::explain::Execution;
use super::run::{Before, Fault, Outputs, unfit};
use super::space::Space;
use super::split::Split;
use crate::kernel::Combine;
use crate::monitor::Monitor;
use crate::tensor::{DynView, DynViewMut};
use crate::threads::Team;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// A way is tried with one of so many parts of the updates.
const TRIED: usize = 32;

/// Bytes of a row, at most, for which another thread may be too many,
const NARROW: usize = 64;

/// and of sums, of which one thread does more in the same time.
const NARROW_SUM: usize = 128;

impl Execution {
    /// Whether the run tries one thread and several, and goes on as was faster.
    #[must_use]
    pub fn is_tried(&self) -> bool {
        let owned = matches!(self.split(), Some((Split::Owner, _)));
        let most = match self.request.combine {
            Combine::Sum => NARROW_SUM,
            _ => NARROW,
        };
        let narrow = self.width().saturating_mul(self.sizes()[1]) <= most;
        // What a run keeps to itself between its updates would be lost between two of them.
        let alone = self.strategy() == Strategy::InOrder && !self.request.from_identity;
        owned && narrow && alone && self.request.split.is_none()
    }

    /// The axis of the updates that is cut for the trial, and its length.
    pub(super) fn tried_along(&self, space: &Space<'_>, outputs: &Outputs<'_>) -> Option<usize> {
        let plain = outputs.arg.is_none() && matches!(outputs.before, Before::Nothing);
        let axis = space.axes.iter().position(|axis| axis.len > 1)?;
        (plain && self.is_tried() && space.axes[axis].len >= TRIED).then_some(axis)
    }

    /// Runs the updates in stretches along an axis, the last of which is nearly all of them.
    pub(super) fn run_tried(
        &self,
        axis: usize,
        (space, src, mut dst): (&Space<'_>, &DynView<'_>, DynViewMut<'_>),
        (team, threads): (&Team, usize),
        monitor: Option<&dyn Monitor>,
        stop: &AtomicBool,
    ) -> Result<(), Fault> {
        let len = space.axes[axis].len;
        let updates = self.rows().saturating_mul(self.width()) as u64;
        let of = |rows: usize| updates / len as u64 * rows as u64;
        let checked = if self.checks_first() { updates } else { 0 };
        let mut run = |rows: Range<usize>, shared: bool| -> Result<f64, Fault> {
            let space = space.stretch(axis, rows.start, rows.len());
            let src = src.narrow(axis, rows.start, rows.len());
            let (space, src) = space.zip(src).ok_or_else(unfit)?;
            let outputs = Outputs {
                dst: dst.reborrow(),
                arg: None,
                before: Before::Nothing,
            };
            let watched = monitor.map(|monitor| Stretch {
                monitor,
                before: checked + of(rows.start),
                checked: if checked > 0 { of(rows.len()) } else { 0 },
                total: checked + updates,
            });
            let monitor = watched.as_ref().map(|m| m as &dyn Monitor);
            let start = Instant::now();
            match shared {
                true => {
                    let sharing = (Split::Owner, team, threads);
                    self.run_shared(&space, &src, outputs, sharing, monitor, stop)?;
                }
                false => self.run_serial(&space, &space.cut(), &src, outputs, monitor, stop)?,
            }
            Ok(start.elapsed().as_secs_f64())
        };
        let tried = len / TRIED;
        // After the first one, threads are awake, and cells in the caches.
        run(0..tried, true)?;
        let alone = run(tried..2 * tried, false)?;
        let together = run(2 * tried..3 * tried, true)?;
        run(3 * tried..len, together < alone)?;
        Ok(())
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
