//! Statistics of groups that need more than a running fold: median, mode, variance, sort, softmax.
//!
//! | file | holds |
//! |---|---|
//! | [`blocks`] | reads each group some columns at a time and computes all statistics |
//! | [`statistics`] | what each statistic is, and how it is computed from one column of values |
//! | [`output`] | converts results to the output's type and writes them |

pub mod blocks;
pub mod output;
pub mod statistics;
