//! The engine of [strew](https://crates.io/crates/strew): what to do, how to do it, and the doing.
//!
//! This crate is internal to strew: use the crate `strew`. Nothing here is stable.
//!
//! | folder | holds |
//! |---|---|
//! | [`scatter`] | the description that every dialect lowers to |
//! | [`choose`] | the cost model: which strategy runs, on how many threads |
//! | [`exec`] | runs what was chosen, made of the kernel's loops |
//! | [`explain`] | says what was chosen, and what it moves through memory |
//! | [`plan`] | an index kept as a value, for many runs |
//! | [`accumulator`] | statistics of groups whose values come chunk by chunk |
//! | [`keys`] | numbers for different keys, and for combinations of them |
//! | `bytes` | reading plans and accumulators from bytes |

#![forbid(unsafe_code)]
#![allow(missing_docs)] // Internal: what is public for users is documented in the crate `strew`.

pub mod accumulator;
mod bytes;
pub mod checks;
pub mod choose;
pub mod context;
pub mod exec;
pub mod explain;
pub mod keys;
pub mod plan;
pub mod scatter;
