//! choose.

pub mod cost;
pub mod execution;
pub mod gather;
pub mod lookers;
pub mod plan_cost;
pub mod request;
pub mod split;
pub mod strategy;
pub mod tiles;
pub mod wide;
