//! Sentinel.

use crate::ops::identity::{Bits, bits};
use crate::ops::number::MaybeUnset;
use crate::tensor::DType;

/// What unset cells hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// A signalling NaN, which no sum ever is. A sum has to look for it.
    Signalling,
    /// -0.0, to which a sum adds like to nothing. But if all its updates are -0.0, it cannot be told from
    /// a cell without any.
    NegativeZero,
}

impl Unset {
    /// The value; `None` for types that have none.
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
