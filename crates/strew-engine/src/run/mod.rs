//! From a description to a choice, and from that to loops.
//!
//! ```text
//! choose   which strategy, and on how many threads
//! perform  a call: chooses, begins the destination, runs, finishes it
//! execute  an execution: checks the index, shares the run out, walks over blocks
//! ```
//!
//! Beside them: `begin` (how a new destination begins), `by_updates` and `exact_by_updates` (runs
//! that share the updates out), `exclude_self` (sums that leave out the cells' own values), and
//! `gather` (the way back).

mod begin;
mod by_updates;
pub mod choose;
mod exact_by_updates;
mod exclude_self;
pub mod execute;
mod gather;
mod perform;
