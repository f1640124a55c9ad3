//! What a run would do, in words and numbers.
//!
//! `scatter.rs` explains what was chosen for a scatter. `traffic.rs` counts the bytes that a run
//! moves, and predicts its time. `text.rs` lays facts out as a table.

pub mod scatter;
pub mod text;
pub mod traffic;
