//! Sentinel values that mark untouched cells.
//!
//! Some sums must treat cells that no update touched differently. Instead of a mark per cell, all
//! cells hold a sentinel at first; a cell that still holds it at the end was touched by no update.
//!
//! ```text
//! fill all cells with the sentinel
//! for each update:  cell = (cell is the sentinel ? 0 : cell) + value
//! for each cell:    if it holds the sentinel, the cell is untouched
//! ```
//!
//! Only `f32` and `f64` have sentinels. The pattern of the signalling NaN is in
//! `MaybeUnset`; the sum that tests for it is
//! `SumFromUnset`.

use crate::ops::identity::{Bits, bits};
use crate::ops::number::MaybeUnset;
use crate::tensor::DType;

/// The sentinel that untouched cells hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// A signalling NaN. No sum has this value, because arithmetic makes NaN quiet; the sum tests
    /// each cell for it.
    Signalling,
    /// -0.0. A sum needs no test, because -0.0 + x is x. A cell whose updates are all -0.0 cannot
    /// be told from an untouched cell.
    NegativeZero,
}

impl Unset {
    /// The bytes of the sentinel; `None` for types without one.
    pub fn value(self, dtype: DType) -> Option<Bits> {
        match (self, dtype) {
            (Self::Signalling, DType::F32) => Some(bits(f32::UNSET)),
            (Self::Signalling, DType::F64) => Some(bits(f64::UNSET)),
            (Self::NegativeZero, DType::F32) => Some(bits(-0.0f32)),
            (Self::NegativeZero, DType::F64) => Some(bits(-0.0f64)),
            _ => None,
        }
    }
}
