//! Loops that reduce all updates of a row at once.
//!
//! A segment is the updates of one row: a range of places in an order of the updates. The order is
//! that of a grouping, the CSR inverse of the index ([`csr`](crate::groups::csr)), or the source's own, where rows that
//! belong together lie one after the other. A reduction of a segment keeps its running result in
//! registers and writes each row once.
//!
//! | file | holds |
//! |---|---|
//! | [`fold`] | the reduction of a segment: start, join, finish; alone or with positions |
//! | [`reduce`] | segments are checked here, and handed to the loops |
//! | [`job`] | the arguments of the loops |
//! | [`rows`] | the loops over rows |
//! | [`elements`] | the loops over rows of one element |
//! | [`exact_sum`] | exact sums by those loops |
//! | [`panel`] | the running results of both, from their start to their cells |
//! | [`lookahead`] | addresses of the rows that the loops will read next |
//! | [`minmax_lanes`] | minimum or maximum of one contiguous slice |
//! | [`arg_backward`] | the backward pass of positions |

pub mod arg_backward;
pub mod elements;
pub mod exact_sum;
pub mod fold;
pub mod job;
pub mod lookahead;
pub mod minmax_lanes;
pub mod panel;
pub mod reduce;
pub mod rows;
