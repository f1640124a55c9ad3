//! Records what a run does, so that a test can compare it with the explanation.
//!
//! With the feature `record`, each thread keeps a list. Without it, nothing is recorded.

use crate::describe::split::Split;
use crate::describe::strategy::{Begin, Strategy};

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

/// Records one thing.
#[inline(always)]
pub(crate) fn did(what: Did) {
    #[cfg(feature = "record")]
    TOLD.with_borrow_mut(|told| told.push(what));
    #[cfg(not(feature = "record"))]
    let _ = what;
}

/// Takes the list of the calling thread: what its runs did since the last call.
#[cfg(feature = "record")]
pub fn take_told() -> Vec<Did> {
    TOLD.take()
}
