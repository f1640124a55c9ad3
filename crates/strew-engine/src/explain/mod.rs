//! What a run would do, in words and numbers.
//!
//! `traffic.rs` counts the bytes that a run moves and predicts its time; `text.rs` lays facts out
//! as a table.

pub mod text;
pub mod traffic;
