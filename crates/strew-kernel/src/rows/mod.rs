//! Loops over pairs of rows whose offsets are known, for those that move elements and those that
//! join them.
//!
//! | file | holds |
//! |---|---|
//! | [`row_pairs`] | the loop nest |
//! | `copy_loop` | the one that copies |
//! | `prefetcher` | rows that are asked for before they are joined |

pub(crate) mod copy_loop;
pub(crate) mod prefetcher;
pub mod row_pairs;
