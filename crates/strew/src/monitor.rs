//! Watching a long run: progress for people, and a way to stop it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sees how far a run has come, and may stop it.
pub trait Monitor {
    /// `done` of `total` updates have been handled (a run that takes several passes counts each
    /// of them). Called between blocks, on the thread that called the operator.
    ///
    /// Returning false stops the run with [`Problem::Interrupted`](crate::Problem::Interrupted),
    /// unless it has begun to write to memory that the caller can see: then it goes on to its end.
    fn progress(&self, done: u64, total: u64) -> bool;
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<dyn Monitor>>> = const { RefCell::new(None) };
}

/// Runs `work` with every operator in it, on this thread, watched by `monitor`.
///
/// ```
/// use std::{cell::Cell, rc::Rc};
///
/// struct Never(Cell<u64>);
/// impl strew::Monitor for Never {
///     fn progress(&self, _done: u64, total: u64) -> bool {
///         self.0.set(total);
///         false
///     }
/// }
///
/// let monitor = Rc::new(Never(Cell::new(0)));
/// let mut x = [1.0f32, 1.0];
/// let result = strew::watch(monitor.clone(), || {
///     strew::mindspore::scatter_mul(&mut x, &[0i32, 1], &[5.0f32, 7.0])
/// });
/// assert!(matches!(result.unwrap_err().problem(), strew::Problem::Interrupted));
/// assert_eq!(x, [1.0, 1.0]);
/// ```
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

/// Tells the monitor, if there is one. False: stop.
pub(crate) struct Progress<'s> {
    /// Set when another part of the run has failed.
    stop: &'s AtomicBool,
    monitor: Option<Rc<dyn Monitor>>,
    done: u64,
    total: u64,
    visible: bool,
}

impl<'s> Progress<'s> {
    pub(crate) fn new(done: u64, total: u64, stop: &'s AtomicBool) -> Self {
        Self {
            stop,
            monitor: CURRENT.with_borrow(Clone::clone),
            done,
            total,
            visible: false,
        }
    }

    /// From here on the caller can see what is written: the run can no longer be stopped.
    pub(crate) fn writes_are_visible(&mut self) {
        self.visible = true;
    }

    /// `more` updates have been handled; true if the run goes on.
    pub(crate) fn step(&mut self, more: usize) -> bool {
        self.done += more as u64;
        let wanted = match &self.monitor {
            Some(monitor) => monitor.progress(self.done, self.total),
            None => true,
        };
        self.visible || (wanted && !self.stop.load(Ordering::Relaxed))
    }
}
