//! What each reduction computes: its identity, how a value joins a cell, which of two values wins,
//! and how a result is finished.
//!
//! The loops of [`update`](crate::update), [`segment`](crate::segment) and
//! [`group_stats`](crate::group_stats) are generic over what is defined here.
//!
//! | question | file |
//! |---|---|
//! | which reductions there are | [`reduction`] |
//! | what an empty cell holds | [`identity`], [`sentinel`] |
//! | how a value joins a cell, in the loops over pairs of rows | [`combine`] |
//! | sums, products, quotients and means of each element type | [`number`] |
//! | which of two values wins, with NaN and ties | [`order`] |
//! | from a [`DType`](crate::tensor::DType) to a Rust type | `for_dtype` |
//! | which loops are compiled in every form | [`hot`] |
//! | conversions between element types | `number::Convert` in loops, [`cast`] for single elements, [`half`] for 16-bit floats |
//! | exponentials and logarithms | [`math`] |

pub mod boolean;
pub mod cast;
pub mod combine;
pub mod for_dtype;
pub mod half;
pub mod hot;
pub mod identity;
pub mod math;
pub mod number;
pub mod order;
pub mod reduction;
pub mod sentinel;
