//! The engine of [strew](https://crates.io/crates/strew): what to do, how to do it, and the doing.
//!
//! This crate is internal to strew: use the crate `strew`. Nothing here is stable.
//!
//! | folder | holds |
//! |---|---|
//! | [`describe`] | what a caller asks for: the description that every dialect lowers to |
//! | [`strides`] | the same as steps through memory, and the order of an index |
//! | [`traffic`] | what a run moves through memory, and how long that takes |
//! | `thresholds` | every number that decides |
//! | [`threads`] | how a run is shared out, and the threads that run its parts |
//! | [`strategy`] | a file for each strategy: what stands in its way, when it pays, its run |
//! | [`run`] | from a description to a choice, and from that to loops |
//! | [`explain`] | says what was chosen |
//! | [`plan`] | an index kept as a value, for many runs |
//! | [`accumulator`] | statistics of groups whose values come chunk by chunk |
//! | [`keys`] | numbers for different keys, and for combinations of them |
//! | `bytes` | reading plans and accumulators from bytes |

#![forbid(unsafe_code)]
#![allow(missing_docs)] // Internal: what is public for users is documented in the crate `strew`.

pub mod accumulator;
mod bytes;
pub mod checks;
pub mod context;
pub mod describe;
pub mod explain;
pub mod keys;
pub mod plan;
pub mod run;
pub mod strategy;
pub mod strides;
pub mod threads;
mod thresholds;
pub mod traffic;
