//! Statistics of groups: running records that values join in their own order, and what needs all
//! values of a group together (median, mode, sort, softmax).
//!
//! | file | holds |
//! |---|---|
//! | [`stream`] | one pass over the values in their order, for running records |
//! | [`running`], `moments` | those statistics: start, join, finish |
//! | [`cell`] | what records are made of, and their bytes |
//! | `records`, `tables` | a record of each group: of one kind, of all wanted statistics |
//! | [`exact`] | records of exact sums |
//! | `scans` | running results of each value |
//! | [`state`] | records that are kept from one chunk of values to the next |
//! | [`parts`] | the parts of such a pass that threads compute side by side |
//! | [`blocks`] | reads each group some columns at a time and computes all statistics |
//! | `columns` | statistics that take one column of a block after the other |
//! | `ordered` | values in ascending order: quantiles, the mode, ranks |
//! | [`statistics`] | what each statistic is, and the types of values |
//! | `column` | statistics of one column of values |
//! | [`point`] | the numbers that means are made of |
//! | [`read`] | where rows and values are read |
//! | [`output`] | converts results to the output's type and writes them |

pub mod blocks;
pub mod cell;
pub(crate) mod column;
mod columns;
pub mod exact;
pub mod moments;
mod ordered;
pub mod output;
pub mod parts;
pub mod point;
pub mod read;
mod records;
pub mod running;
mod scans;
pub mod state;
pub mod statistics;
pub mod stream;
mod tables;
