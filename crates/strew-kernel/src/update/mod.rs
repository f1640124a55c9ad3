//! Loops that join updates with the cells of a destination, in the order of the updates.
//!
//! | file | holds |
//! |---|---|
//! | [`dispatch`] | the one table from element type and reduction to loops |
//! | [`fused`] | single elements: one loop reads the index, checks it and joins |
//! | [`fused_short_rows`] | the same for dense rows of 2 to 31 elements |
//! | [`fused_repeats`] | the same where the index seldom changes: the cell stays in a register |
//! | [`fused_repeats_init`] | sets first-touched cells of such lines |
//! | [`in_place`] | updates straight into the destination's cells |
//! | [`table`] | updates into a private table of accumulators and counts |
//! | [`sum_count_cells`] | cells that hold a sum and a count side by side, for means |
//! | [`finalize`] | accumulators of the destination's shape: merge, round into the destination |
//! | [`converted`] | updates of another type than the destination |
//! | [`arg`] | minimum and maximum with the position of the winning update |
//! | [`row_bitmap`] | which rows have been touched, one bit each |
//! | [`lazy_init`] | a new destination that is initialised piece by piece during the run |
//! | [`untouched`] | sentinel values that mark untouched cells |
//! | [`small`] | at most a few hundred updates, without a walk |

pub mod arg;
pub mod converted;
pub mod dispatch;
pub mod finalize;
pub mod fused;
pub mod fused_repeats;
pub mod fused_repeats_init;
pub mod fused_short_rows;
pub mod in_place;
pub mod lazy_init;
pub mod row_bitmap;
pub mod small;
pub mod sum_count_cells;
pub mod table;
pub mod untouched;
