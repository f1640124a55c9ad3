//! From a description to a choice, and from that to loops.
//!
//! ```text
//! choose   which strategy, and on how many threads
//! perform  a call: chooses, begins the destination, runs, finishes it
//! execute  an execution: checks the index, shares the run out, walks over blocks
//! ```

mod begin;
mod by_updates;
pub mod choose;
mod exact_by_updates;
mod exclude_self;
pub mod execute;
mod gather;
mod perform;
