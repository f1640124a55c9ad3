//! The filter for AVX-512, by the compress instruction, which packs the chosen lanes.
//!
//! ```text
//! for each eight (64-bit) or sixteen (32-bit) values:
//!     keep = mask of the values in range
//!     store compress(keep, values);  to += popcount(keep)
//! ```
//!
//! Written with intrinsics because LLVM does not find the instruction in a plain loop.
//! It relies on the caller for AVX-512F, POPCNT and readable values.
//!
//! # Unsafe
//!
//! - Buys: the same, sixteen at a time, and eight of 64 bits
//! - Measured: a loop without it, two threads: W1b-owner 1.85, W1a-owner 2.08, W2f-owner 1.32,
//!   W2a-owner 0.99; eight at a time in 64 bits, on an Intel server: W1b on two threads 1.09
//! - Holds: eight or sixteen at a time below the slices' lengths; the instruction set was detected

use crate::walk::filter::{IndexFilter, Payload};
use std::arch::x86_64::{
    _mm256_loadu_si256, _mm512_add_epi32, _mm512_add_epi64, _mm512_cmpge_epu32_mask,
    _mm512_cmpge_epu64_mask, _mm512_cmplt_epu32_mask, _mm512_cmplt_epu64_mask,
    _mm512_cvtepi32_epi64, _mm512_loadu_si512, _mm512_maskz_compress_epi32,
    _mm512_maskz_compress_epi64, _mm512_max_epu32, _mm512_or_si512, _mm512_permutex2var_epi32,
    _mm512_set_epi32, _mm512_set_epi64, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_storeu_si512, _mm512_sub_epi32, _mm512_sub_epi64, _mm512_test_epi32_mask,
};

const LANES: usize = 8;

/// [`filter`] for one kind of values.
pub(crate) type FilterFn =
    unsafe fn(Option<*const u8>, IndexFilter, &mut [i64], &mut [i64]) -> Option<usize>;

/// Filters `values`, or as many index values from `from` on, of 32 bits if `NARROW`, else of 64.
///
/// # Safety
/// The machine must have AVX-512F and with it POPCNT. If there is a `from`, `values.len()` values
/// must be readable from it on.
#[target_feature(enable = "avx512f,popcnt")]
pub(crate) unsafe fn filter<const NARROW: bool>(
    from: Option<*const u8>,
    filter: IndexFilter,
    values: &mut [i64],
    places: &mut [i64],
) -> Option<usize> {
    let places = &mut places[..values.len()];
    let lanes = |value: usize| _mm512_set1_epi64(value as i64);
    let (limit, first, len) = (lanes(filter.limit), lanes(filter.from), lanes(filter.len));
    let mut place = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    let (mut to, mut outside) = (0, 0);
    let whole = values.len() / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        // SAFETY: eight elements from `at` on can be read, and written in both slices: no more
        // are kept than were read, so `to` is at most `at`.
        unsafe {
            let from = from.unwrap_or(values.as_ptr().cast());
            let value = if NARROW {
                _mm512_cvtepi32_epi64(_mm256_loadu_si256(from.add(at * 4).cast()))
            } else {
                _mm512_loadu_si512(from.add(at * 8).cast())
            };
            let beyond = _mm512_cmpge_epu64_mask(value, limit);
            outside |= beyond;
            let here = _mm512_sub_epi64(value, first);
            let keep = _mm512_cmplt_epu64_mask(here, len) & !beyond;
            let packed = _mm512_maskz_compress_epi64(keep, here);
            _mm512_storeu_si512(values.as_mut_ptr().add(to).cast(), packed);
            let packed = _mm512_maskz_compress_epi64(keep, place);
            _mm512_storeu_si512(places.as_mut_ptr().add(to).cast(), packed);
            to += keep.count_ones() as usize;
        }
        place = _mm512_add_epi64(place, lanes(LANES));
    }
    if let Some(from) = from {
        for (at, value) in values.iter_mut().enumerate().skip(whole) {
            // SAFETY: `at < values.len()`, and the caller promises as many readable values.
            *value = unsafe {
                if NARROW {
                    from.cast::<i32>().add(at).read().into()
                } else {
                    from.cast::<i64>().add(at).read()
                }
            };
        }
    }
    let to = filter.scalar(whole, to, values, places)?;
    (outside == 0 || filter.drop).then_some(to)
}

/// Filters `values.len()` index values from `from` on, of 32 bits if `NARROW`, else of 64. The
/// payload is the element if `ELEMENTS`, else the position. `None` if a value is out of bounds.
///
/// # Safety
/// The machine must have AVX-512F and with it POPCNT. `values.len()` values must be readable, and
/// as many elements if `ELEMENTS`. The range must fit 32 bits.
#[target_feature(enable = "avx512f,popcnt")]
pub(crate) unsafe fn narrow<const NARROW: bool, const ELEMENTS: bool>(
    from: *const u8,
    filter: IndexFilter,
    payload: Payload,
    values: &mut [u32],
    payloads: &mut [u32],
) -> Option<usize> {
    const LANES: usize = 16;
    let payloads = &mut payloads[..values.len()];
    let elements = match payload {
        Payload::Elements(first) if ELEMENTS => first,
        _ => from,
    };
    let lanes = |value: usize| _mm512_set1_epi32(value as i32);
    let (first, len) = (lanes(filter.from), lanes(filter.len));
    let lows = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    let mut place = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    // The highest of the low halves, and all bits of the high ones.
    let (mut highest, mut bits) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let mut to = 0;
    let whole = values.len() / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        // SAFETY: sixteen elements from `at` on can be read, and written in both slices: no more
        // are kept than were read, so `to` is at most `at`.
        unsafe {
            let value = if NARROW {
                _mm512_loadu_si512(from.add(at * 4).cast())
            } else {
                let low = _mm512_loadu_si512(from.add(at * 8).cast());
                let high = _mm512_loadu_si512(from.add(at * 8 + 64).cast());
                bits = _mm512_or_si512(bits, _mm512_or_si512(low, high));
                _mm512_permutex2var_epi32(low, lows, high)
            };
            highest = _mm512_max_epu32(highest, value);
            let here = _mm512_sub_epi32(value, first);
            let keep = _mm512_cmplt_epu32_mask(here, len);
            let packed = _mm512_maskz_compress_epi32(keep, here);
            _mm512_storeu_si512(values.as_mut_ptr().add(to).cast(), packed);
            let payload = match ELEMENTS {
                true => _mm512_loadu_si512(elements.add(at * 4).cast()),
                false => place,
            };
            let packed = _mm512_maskz_compress_epi32(keep, payload);
            _mm512_storeu_si512(payloads.as_mut_ptr().add(to).cast(), packed);
            to += keep.count_ones() as usize;
        }
        place = _mm512_add_epi32(place, lanes(LANES));
    }
    let beyond = _mm512_cmpge_epu32_mask(highest, lanes(filter.limit));
    let high = _mm512_test_epi32_mask(bits, _mm512_set1_epi64(-1 << 32));
    let inside = whole == 0 || (beyond | high) == 0;
    // SAFETY: the caller promises `values.len()` readable values, and as many elements if the
    // payload is elements.
    let to = unsafe { filter.narrow_rest::<NARROW>(from, payload, whole, to, values, payloads) };
    to.filter(|_| inside)
}
