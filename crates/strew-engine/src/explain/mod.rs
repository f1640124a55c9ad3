//! What a run would do, in words and numbers.
//!
//! `scatter.rs` explains what was chosen for a scatter. `count.rs` counts what a run moves, of
//! which [`traffic`](crate::traffic) predicts the time. `execution.rs` has the facts of a run, and
//! `words.rs` says them in a sentence. `profile.rs` counts where the updates go, and `report/`
//! makes a page of all of it.

mod count;
mod execution;
pub mod profile;
pub mod report;
pub mod scatter;
pub mod words;
