//! Updates grouped by the row of the destination that they go to, and loops that reduce each group.
//!
//! The grouping is a CSR inverse of the index: for each row, its updates in order. A reduction of a
//! group keeps its running result in registers or in the nearest cache and writes each row once.
//!
//! | file | holds |
//! |---|---|
//! | [`row_ids`] | row numbers of 32 or 64 bits, and facts about them: sorted, range |
//! | [`csr`] | the grouping: `rows`, `starts`, `order` |
//! | [`sort`] | parallel counting sort that makes a grouping from any row numbers |
//! | [`sorted`] | a grouping made of row numbers that already ascend |
//! | [`histogram`] | how many updates rows take: touched rows, the maximum, hot rows |
//! | [`job`] | the arguments of the loops over groups |
//! | [`lookahead`] | addresses of the rows that the loops will read next |
//! | [`accumulator`] | running results of a group: start, join, finish |
//! | [`reduce`] | the loops over groups for any number of reductions |
//! | [`reduce_registers`] | the loops for one reduction of dense rows, with results in registers |
//! | [`minmax_lanes`] | minimum or maximum of one contiguous slice |
//! | [`arg_reduce`] | minimum or maximum of groups together with the update that gave it |
//! | [`arg_backward`] | the backward pass of `arg_reduce` |
//! | [`run_job`] | the arguments of the loops over runs |
//! | [`runs`] | rows that each reduce a contiguous run of the source |
//! | [`runs_sum`] | sums, products and means of runs |
//! | [`runs_minmax`] | minima and maxima of runs |

pub mod accumulator;
pub mod arg_backward;
pub mod arg_reduce;
pub mod csr;
pub mod histogram;
pub mod job;
pub mod lookahead;
pub mod minmax_lanes;
pub mod reduce;
pub mod reduce_registers;
pub mod row_ids;
pub mod run_job;
pub mod runs;
pub mod runs_minmax;
pub mod runs_sum;
pub mod sort;
pub mod sorted;
