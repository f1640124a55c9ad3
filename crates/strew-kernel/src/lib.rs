//! The loops of [strew](https://crates.io/crates/strew), and everything `unsafe` in it.
//!
//! This crate is internal to strew: use the crate `strew`. Nothing here is stable.
//!
//! A lower folder never imports a higher one:
//!
//! | folder | holds |
//! |---|---|
//! | [`error`] | what can be wrong with a call |
//! | [`tensor`] | borrowed views and owned tensors; the only place where bytes become typed elements |
//! | [`runtime`] | threads, settings, the machine's sizes, progress and interrupts |
//! | [`cpu`] | instruction sets, prefetches, stores past the caches, the floating-point environment |
//! | [`ops`] | arithmetic of element types; what a reduction's identity, join and finish are |
//! | [`walk`] | from an index to checked byte offsets, block by block |
//! | [`groups`] | which updates go to each row: row numbers, and the groups that sorting makes |
//! | [`rows`] | the loop nest over pairs of rows |
//! | [`copy`] | loops that move elements: take, repeat, tile, fill, replace a slice |
//! | [`update`] | loops that join updates with their cells in place or in a table |
//! | [`bucket`] | updates listed by block of the destination |
//! | [`exact`] | correctly rounded sums, which depend on no order |
//! | [`segment`] | loops that reduce each group of updates at once |
//! | [`statistic`] | what statistics of groups are made of |
//! | [`aggregate`] | the statistics, each in its file |
//! | [`group_stats`] | passes over the values of groups for any of them |
//! | [`elementwise`] | passes over elements: exponentials, NumPy's functions, positions of `true` |

#![allow(missing_docs)] // Internal: what is public for users is documented in the crate `strew`.
#![allow(
    clippy::len_without_is_empty,
    clippy::new_without_default,
    clippy::should_implement_trait
)] // Likewise: these are conveniences for users of a public interface.

#[macro_use]
pub mod cpu;
pub mod aggregate;
pub mod bucket;
pub mod copy;
pub mod elementwise;
pub mod error;
pub mod exact;
pub mod group_stats;
pub mod groups;
pub mod ops;
pub mod rows;
pub mod runtime;
pub mod segment;
pub mod statistic;
pub mod tensor;
pub mod update;
pub mod walk;
