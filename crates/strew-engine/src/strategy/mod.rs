//! A file for each strategy: what stands in its way, when it pays, and its run. All of them give
//! the same bits.
//!
//! | file | the strategy |
//! |---|---|
//! | `small` | a few single elements join their cells at once |
//! | `in_order` | each update goes straight into its cell |
//! | `table` | updates are gathered in a private table of all rows, or of those that are touched |
//! | `tiled` | some columns at a time, kept close together |
//! | `partition` | updates are listed by block of the destination first |
//! | `grouped` | updates are sorted by row first |
//! | `runs` | rows that belong together lie one after the other |
//! | `replace_slice` | an input is copied, with the updates in place of a slice of it |
//!
//! Beside them: `execution` is what was chosen, `row_table` the running results of a table, and
//! `record` what a run did, for tests. `wide` is what the cells of some tables hold.

pub mod execution;
pub mod grouped;
pub mod in_order;
pub mod partition;
pub mod record;
pub mod replace_slice;
pub mod row_table;
pub mod runs;
pub mod small;
pub mod table;
pub mod tiled;
pub mod wide;
