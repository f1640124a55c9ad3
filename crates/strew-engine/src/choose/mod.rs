//! Every choice of how a run goes.
//!
//! | file | decides |
//! |---|---|
//! | `chosen.rs` | the way that a call goes: the one place that all others are asked from |
//! | `request.rs` | what a run is asked for: the input of the choice |
//! | `cost.rs` | the strategy of a walk over the updates |
//! | `grouping.rs` | whether updates are sorted by row first |
//! | `plan_cost.rs` | whether a planned run goes in order or grouped |
//! | `strategy.rs` | the names of the strategies |
//! | `split.rs` | the ways to split a run among threads |
//! | `share.rs` | whether and how a run is shared out |
//! | `ascending.rs` | whether each of several threads reads only a stretch of the index |
//! | `gather.rs` | how a gather is split |
//! | `begin.rs` | how a new destination gets what it holds before its updates |
//! | `tiles.rs` | whether tiles pay, and their columns |
//! | `wide.rs` | what the cells of a wide table hold |
//! | `lookers.rs` | how many threads check an index |
//! | `execution.rs` | the result: what runs, and what is explained |

pub(crate) mod ascending;
pub mod begin;
pub mod chosen;
pub mod cost;
pub mod execution;
pub mod gather;
pub mod grouping;
pub mod lookers;
pub mod plan_cost;
pub mod request;
pub mod share;
pub mod split;
pub(crate) mod statistics;
pub mod strategy;
pub mod tiles;
pub mod wide;
