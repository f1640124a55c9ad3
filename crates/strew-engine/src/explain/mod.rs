//! What a run would do, in words and numbers.
//!
//! `scatter.rs` explains what was chosen for a scatter. `traffic.rs` counts the bytes that a run
//! moves, and predicts its time. `words.rs` says it in a sentence, and `text.rs` lays facts out as
//! a table. `profile.rs` counts where the updates go, and `report/` makes a page of all of it.

mod count;
mod execution;
pub mod profile;
pub mod report;
pub mod scatter;
pub mod words;
