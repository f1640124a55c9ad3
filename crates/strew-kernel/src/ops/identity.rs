//! The value that a cell holds before the first update joins it.
//!
//! | reduction | [`identity`] | [`finite_start`] |
//! |---|---|---|
//! | sum, sub | 0 | none |
//! | prod, div | 1 | none |
//! | min | +infinity, the largest integer, or true | the largest finite value; 2 for bools |
//! | max | -infinity, the smallest integer, or false | the smallest finite value; 255 for bools, compared as -1 |
//! | assign | none | none |
//!
//! Complex numbers have no minimum and maximum. A cell that still holds the [`finite_start`] of a
//! strict minimum or maximum was touched by no update that beats it.
//!
//! The caller has a [`DType`] and no Rust type, so values travel as [`Bits`]. One match on the
//! dtype; called once per run.
//!
//! # Unsafe
//!
//! - Buys: an element's bytes, whatever its type
//! - Measured: that of `update/dispatch.rs`, which calls it once per run
//! - Holds: types without padding, of at most 16 bytes, asserted

use crate::ops::for_dtype::for_dtype;
use crate::ops::number::Number;
use crate::ops::order::{finite_start_of, identity_of};
use crate::ops::reduction::Combine;
use crate::tensor::DType;

/// The bytes of one value, in the machine's order: the first `size_of` the type count, the others
/// are 0.
pub type Bits = [u8; 16];

/// The identity of a reduction, as an accumulator for sums and products and as an element for
/// minima and maxima; `None` where there is none.
pub fn identity(dtype: DType, combine: Combine) -> Option<Bits> {
    Some(match combine {
        Combine::Assign => return None,
        Combine::Sum | Combine::Sub => {
            for_dtype!(dtype, T => bits(T::ZERO), complex C => bits(C::ZERO))
        }
        Combine::Prod | Combine::Div => {
            for_dtype!(dtype, T => bits(<T as Number>::ONE), complex C => bits(<C as Number>::ONE))
        }
        Combine::Min(_) => {
            for_dtype!(dtype, T => bits(identity_of::<T, false>()), complex C => return None)
        }
        Combine::Max(_) => {
            for_dtype!(dtype, T => bits(identity_of::<T, true>()), complex C => return None)
        }
    })
}

/// The finite value that a strict minimum or maximum starts from; `None` for other reductions and
/// for complex numbers.
pub fn finite_start(dtype: DType, combine: Combine) -> Option<Bits> {
    Some(match combine {
        Combine::Min(_) => {
            for_dtype!(dtype, T => bits(finite_start_of::<T, false>()), complex C => return None)
        }
        Combine::Max(_) => {
            for_dtype!(dtype, T => bits(finite_start_of::<T, true>()), complex C => return None)
        }
        _ => return None,
    })
}

/// The bytes of a value of at most 16 bytes, without padding.
///
/// # Panics
/// If the type is larger.
pub(crate) fn bits<T: Copy>(value: T) -> Bits {
    let mut bits = [0; 16];
    assert!(size_of::<T>() <= bits.len());
    // SAFETY: the assertion proves that the value fits into `bits`, which does not overlap it.
    // Every `T` of the callers is an element or accumulator type: plain numbers without padding, so
    // all bytes that are read are initialised.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const value).cast::<u8>(),
            bits.as_mut_ptr(),
            size_of::<T>(),
        );
    }
    bits
}
