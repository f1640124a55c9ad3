//! How to do it: the run of the strategy that `choose` decided on.

pub mod autotune;
pub mod by_group;
pub mod by_updates;
pub mod check_index;
pub mod crew;
pub mod exact_by_updates;
pub mod exclude_self;
pub mod gather;
pub mod grouped;
pub mod init;
pub(crate) mod meter;
pub mod owners;
pub mod partition;
pub mod pass;
pub mod perform;
pub mod record;
pub mod replace_slice;
pub mod row_table;
pub mod run;
pub mod segments;
pub mod small;
pub(crate) mod stretches;
pub mod tiles;
pub mod wide_table;
