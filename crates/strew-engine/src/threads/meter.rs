//! How far a pass is whose loops are the kernel's own, and do not know the monitor.
//!
//! ```text
//! done += elements that were handled, on any thread
//! now and then, on the thread that made the meter: tell the monitor; if it refuses, stop
//! ```
//!
//! The kernel reads rows and values through traits. [`MeteredRows`] and [`MeteredValues`] stand in
//! between and count what is read.
//!
//! A loop that reads rows ends at the first block that it cannot read. A loop that reads values
//! cannot be ended: after a stop it gets zeros, which need no memory and are in order already.
//! Either way the caller asks [`Meter::check`] before it looks at the results.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use strew_kernel::error::Problem;
use strew_kernel::runtime::monitor::Watch;
use strew_kernel::statistic::read::{ReadRows, ReadValues, Rows};
use strew_kernel::statistic::value::Value;

/// The base-2 logarithm of the elements after which the monitor is told. Its answer takes as long
/// as some hundred of them.
const LOOK: u32 = 16;

/// How far a pass is.
pub(crate) struct Meter {
    done: AtomicU64,
    total: u64,
    stopped: AtomicBool,
    /// The thread whose monitor is told.
    caller: ThreadId,
}

impl Meter {
    /// A pass over this number of elements, which the calling thread has asked for.
    pub(crate) fn new(total: usize) -> Self {
        Self {
            done: AtomicU64::new(0),
            total: total as u64,
            stopped: AtomicBool::new(false),
            caller: thread::current().id(),
        }
    }

    /// `more` elements have been handled; true if the pass goes on.
    pub(crate) fn step(&self, more: usize) -> bool {
        let before = self.done.fetch_add(more as u64, Ordering::Relaxed);
        let done = before + more as u64;
        if before >> LOOK != done >> LOOK && thread::current().id() == self.caller {
            let watch = Watch::take();
            let monitor = watch.monitor();
            // Some passes read again what they have read.
            if monitor.is_some_and(|m| !m.progress(done.min(self.total), self.total)) {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
        !self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`Problem::Interrupted`] if the monitor has stopped the pass.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self.is_stopped() {
            true => Err(Problem::Interrupted),
            false => Ok(()),
        }
    }
}

/// The rows of updates; to read them is progress.
pub(crate) struct MeteredRows<'p> {
    pub(crate) rows: &'p dyn ReadRows,
    pub(crate) meter: &'p Meter,
    /// Elements of an update.
    pub(crate) each: usize,
}

impl ReadRows for MeteredRows<'_> {
    fn updates(&self) -> usize {
        self.rows.updates()
    }

    fn read_rows<'r>(&'r self, from: usize, room: &'r mut [i64]) -> Option<&'r [i64]> {
        let goes_on = self.meter.step(room.len().saturating_mul(self.each));
        goes_on.then(|| self.rows.read_rows(from, room))?
    }

    fn unchecked_rows(&self, from: usize, count: usize) -> Option<&[i64]> {
        let rows = self.rows.unchecked_rows(from, count)?;
        // Without these, the rows are read, and counted, one by one.
        let goes_on = self.meter.step(count.saturating_mul(self.each));
        goes_on.then_some(rows)
    }
}

/// The values of updates; to read them is progress.
pub(crate) struct MeteredValues<'p, T> {
    pub(crate) values: &'p dyn ReadValues<T>,
    pub(crate) meter: &'p Meter,
}

impl<T: Value> ReadValues<T> for MeteredValues<'_, T> {
    fn copy_values(&self, from: usize, to: &mut [T]) {
        match self.meter.step(to.len()) {
            true => self.values.copy_values(from, to),
            false => to.fill(T::ZERO),
        }
    }

    fn copy_rows(&self, rows: Rows<'_>, to: &mut [T]) {
        match self.meter.step(to.len()) {
            true => self.values.copy_rows(rows, to),
            false => to.fill(T::ZERO),
        }
    }
}
