//! group_stats.

pub mod blocks;
pub mod output;
pub mod statistics;
