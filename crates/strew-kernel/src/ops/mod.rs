//! ops.

pub mod cast;
pub mod combine;
pub mod for_dtype;
pub mod half;
pub mod identity;
pub mod math;
pub mod number;
pub mod order;
pub mod reduction;
pub mod sentinel;
