//! copy.

pub mod fill;
pub mod repeat;
pub mod replace_slice;
pub mod strided;
pub mod take;
pub mod take_walk;
pub mod tile;
