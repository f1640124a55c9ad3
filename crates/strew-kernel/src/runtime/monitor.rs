//! Watching a long run: progress for people, and a way to stop it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sees how far a run has come, and may stop it.
pub trait Monitor {
    /// `done` of `total` updates have been handled (a run that takes several passes counts each
    /// of them). Called between blocks, on the thread that called the operator; of a run that is
    /// shared out among threads, it is told of the part that this thread does.
    ///
    /// Returning false stops the run with
    /// [`Problem::Interrupted`](crate::error::Problem::Interrupted), unless it has begun to write
    /// to memory that the caller can see: then it goes on to its end.
    fn progress(&self, done: u64, total: u64) -> bool;
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<dyn Monitor>>> = const { RefCell::new(None) };
}

/// Runs `work` with every operator in it, on this thread, watched by `monitor`.
pub fn watch<R>(monitor: Rc<dyn Monitor>, work: impl FnOnce() -> R) -> R {
    struct Restore(Option<Rc<dyn Monitor>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(Some(monitor)));
    work()
}

/// Whether the calling thread has a monitor.
pub fn is_watched() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// The monitor of the calling thread, taken from it while a run goes on: a pool's thread that waits
/// may be given work of somebody else's, which this monitor does not watch.
pub struct Watch(Option<Rc<dyn Monitor>>);

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Watch {
    pub fn take() -> Self {
        Self(CURRENT.take())
    }

    pub fn monitor(&self) -> Option<&dyn Monitor> {
        self.0.as_deref()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// How far one part of a run has come.
pub struct Progress<'s> {
    monitor: Option<&'s dyn Monitor>,
    /// Set when another part of the run has failed.
    stop: &'s AtomicBool,
    done: u64,
    total: u64,
    visible: bool,
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<'s> Progress<'s> {
    pub fn new(
        monitor: Option<&'s dyn Monitor>,
        stop: &'s AtomicBool,
        done: u64,
        total: u64,
    ) -> Self {
        Self {
            monitor,
            stop,
            done,
            total,
            visible: false,
        }
    }

    /// From here on the caller can see what is written: the run can no longer be stopped.
    pub fn writes_are_visible(&mut self) {
        self.visible = true;
    }

    /// `more` updates have been handled; true if the run goes on.
    pub fn step(&mut self, more: usize) -> bool {
        self.done += more as u64;
        let wanted = self
            .monitor
            .is_none_or(|monitor| monitor.progress(self.done, self.total));
        self.visible || (wanted && !self.stop.load(Ordering::Relaxed))
    }
}
