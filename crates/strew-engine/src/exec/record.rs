//! What a run did, told to a test that compares it with what was explained.
//!
//! With the feature `record`, a thread keeps what its runs tell; without, telling is nothing.

use crate::choose::split::Split;
use crate::choose::strategy::Begin;
use crate::choose::strategy::Strategy;

/// A thing that a run did on the thread that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// The loops of a strategy ran.
    Strategy(Strategy),
    /// The run was shared out, among so many threads at most.
    Split(Split, usize),
    /// The run began its destination.
    Begin(Begin),
}

#[cfg(feature = "record")]
thread_local! {
    static TOLD: std::cell::RefCell<Vec<Did>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Tells what is done.
#[inline(always)]
pub(crate) fn did(what: Did) {
    #[cfg(feature = "record")]
    TOLD.with_borrow_mut(|told| told.push(what));
    #[cfg(not(feature = "record"))]
    let _ = what;
}

/// What the runs of this thread did since the last call.
#[cfg(feature = "record")]
pub fn take_told() -> Vec<Did> {
    TOLD.take()
}
