//! Passes over the values of groups: running records that values join in their own order, and what
//! needs all values of a group together (median, mode, sort, softmax).
//!
//! | file | holds |
//! |---|---|
//! | [`stream`] | one pass over the values in their order, for running records |
//! | `records`, `tables` | a record of each group: of one kind, of all wanted statistics |
//! | [`exact`] | records of exact sums |
//! | `scans` | running results of each value |
//! | [`state`] | records that are kept from one chunk of values to the next |
//! | [`parts`] | the parts of such a pass that threads compute side by side |
//! | [`blocks`] | reads each group some columns at a time and computes all statistics |
//! | `columns`, `column` | statistics of a block's columns, one column after the other |

pub mod blocks;
pub(crate) mod column;
mod columns;
pub mod exact;
pub mod parts;
mod records;
mod scans;
pub mod state;
pub mod stream;
mod tables;
