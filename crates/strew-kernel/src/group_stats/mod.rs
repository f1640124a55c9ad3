//! Statistics of groups: running records that values join in their own order, and what needs all
//! values of a group together (median, mode, sort, softmax).
//!
//! | file | holds |
//! |---|---|
//! | [`stream`] | one pass over the values in their order, for running records |
//! | `running` | those statistics: start, join, finish |
//! | [`blocks`] | reads each group some columns at a time and computes all statistics |
//! | [`statistics`] | what each statistic is, and how it is computed from one column of values |
//! | [`read`] | where rows and values are read |
//! | [`output`] | converts results to the output's type and writes them |

pub mod blocks;
pub mod output;
pub mod read;
mod running;
pub mod statistics;
pub mod stream;
