//! segment.

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
