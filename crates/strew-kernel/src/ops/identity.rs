//! Identity.

use crate::ops::for_dtype::for_dtype;
use crate::ops::number::Number;
use crate::ops::order::{finite_start_of, identity_of};
use crate::ops::reduction::Combine;
use crate::tensor::DType;

/// Bytes of one element; only the first `size` count.
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

pub(crate) fn bits<T: Copy>(value: T) -> Bits {
    let mut bits = [0; 16];
    assert!(size_of::<T>() <= bits.len());
    // SAFETY: every type that comes here is plain numbers without padding, and fits.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const value).cast::<u8>(),
            bits.as_mut_ptr(),
            size_of::<T>(),
        );
    }
    bits
}
