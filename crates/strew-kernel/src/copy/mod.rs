//! Loops that move elements and compute nothing.
//!
//! | file | moves |
//! |---|---|
//! | [`fill`] | one value to whole rows |
//! | [`repeat`] | each source row to a run of destination rows |
//! | [`replace_slice`] | an input to a new output, with the updates in place of one slice |
//! | [`short_lines`] | rows of up to 16 bytes that an index names |
//! | [`short_rows`] | rows of 2 to 64 bytes whose offsets are known |
//! | [`strided`] | a strided view to a contiguous copy; rows past the caches |
//! | [`take`] | the rows that a list of row numbers names |
//! | [`take_walk`] | the cells that a [`Walk`](crate::walk::Walk) names |
//! | [`tile`] | columns of a destination to a private block and back |

pub mod fill;
pub mod repeat;
pub mod replace_slice;
pub mod short_lines;
pub mod short_rows;
pub mod strided;
pub mod take;
pub mod take_walk;
pub mod tile;
