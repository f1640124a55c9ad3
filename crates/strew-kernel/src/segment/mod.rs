//! The updates of each row of a destination, and loops that reduce a row at once.
//!
//! A segment is the updates of one row: a range of places in an order of the updates. The order is
//! that of a grouping, the CSR inverse of the index ([`csr`]), or the source's own, where rows that
//! belong together lie one after the other. A reduction of a segment keeps its running result in
//! registers and writes each row once.
//!
//! | file | holds |
//! |---|---|
//! | [`row_ids`] | row numbers of 32 or 64 bits, and facts about them: sorted, range |
//! | [`csr`] | the grouping: `rows`, `starts`, `order` |
//! | [`sort`] | parallel counting sort that makes a grouping from any row numbers |
//! | [`sorted`] | a grouping made of row numbers that already ascend |
//! | [`histogram`] | how many updates rows take: touched rows, the maximum, hot rows |
//! | [`fold`] | the reduction of a segment: start, join, finish; alone or with positions |
//! | [`reduce`] | segments are checked here, and handed to the loops |
//! | [`job`] | the arguments of the loops |
//! | [`batch`] | coordinates on the axes before that of the rows |
//! | [`rows`] | the loops over rows |
//! | [`elements`] | the loops over rows of one element |
//! | [`exact_sum`] | exact sums by those loops |
//! | [`panel`] | the running results of both, from their start to their cells |
//! | [`lookahead`] | addresses of the rows that the loops will read next |
//! | [`minmax_lanes`] | minimum or maximum of one contiguous slice |
//! | [`arg_backward`] | the backward pass of positions |

pub mod arg_backward;
pub mod batch;
pub mod csr;
pub mod elements;
pub mod exact_sum;
pub mod fold;
pub mod histogram;
pub mod job;
pub mod lookahead;
pub mod minmax_lanes;
pub mod panel;
pub mod reduce;
pub mod row_ids;
pub mod rows;
pub mod sort;
pub mod sorted;
