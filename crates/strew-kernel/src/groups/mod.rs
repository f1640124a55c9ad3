//! Which updates go to each row of a destination.
//!
//! A grouping is the CSR inverse of an index: for each row the places of its updates, in their
//! order.
//!
//! | file | holds |
//! |---|---|
//! | [`row_ids`] | row numbers of 32 or 64 bits, and facts about them: sorted, range |
//! | [`csr`] | the grouping: `rows`, `starts`, `order` |
//! | [`sort`] | parallel counting sort that makes a grouping from any row numbers |
//! | [`sorted`] | a grouping made of row numbers that already ascend |
//! | [`histogram`] | how many updates rows take: touched rows, the maximum, hot rows |
//! | [`batch`] | coordinates on the axes before that of the rows |

pub mod batch;
pub mod csr;
pub mod histogram;
pub mod row_ids;
pub mod sort;
pub mod sorted;
