//! update.

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
pub mod row_pairs;
pub mod small;
pub mod sum_count_cells;
pub mod table;
pub mod untouched;
