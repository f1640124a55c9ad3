//! The filter for AVX2, for ranges that 32 bits hold.
//!
//! ```text
//! for each eight values:
//!     keep = 8-bit mask of the values in range
//!     store permute(values, CHOSEN[keep]);  to += popcount(keep)
//! ```
//!
//! AVX2 has no instruction that packs lanes, but it permutes them by a list. Eight lanes have only
//! 256 choices, so all lists are one table of 2 KiB. It relies on the caller for AVX2, POPCNT and
//! readable values.
//!
//! # Unsafe
//!
//! - Buys: a thread's own indices selected eight at a time in 32 bits, with their elements if those
//!   have 32 bits too, by lists of lanes
//! - Measured: the loop without it, on an AMD server without AVX-512, two threads: W1b-owner 1.39,
//!   with an int32 index 1.63
//! - Holds: eight at a time below the slices' lengths; the instruction set was detected; each
//!   choice of eight has a list

use crate::walk::filter::{IndexFilter, Payload};
use std::arch::x86_64::{
    _mm_loadl_epi64, _mm256_add_epi32, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_cmpeq_epi32, _mm256_cvtepu8_epi32, _mm256_loadu_si256, _mm256_max_epu32,
    _mm256_movemask_ps, _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_shuffle_ps,
    _mm256_storeu_si256, _mm256_sub_epi32, _mm256_testz_si256,
};

const LANES: usize = 8;

/// For each mask of chosen lanes: the numbers of these lanes in order. The rest of an entry is
/// unused.
static CHOSEN: [[u8; LANES]; 1 << LANES] = {
    let mut lists = [[0; LANES]; 1 << LANES];
    let mut choice = 0;
    while choice < lists.len() {
        let (mut lane, mut to) = (0, 0);
        while lane < LANES {
            if choice >> lane & 1 == 1 {
                lists[choice][to] = lane as u8;
                to += 1;
            }
            lane += 1;
        }
        choice += 1;
    }
    lists
};

/// Filters `values.len()` index values from `from` on, of 32 bits if `NARROW`, else of 64. The
/// payload is the element if `ELEMENTS`, else the position. `None` if a value is out of bounds. One
/// function, for which the instructions are enabled.
///
/// # Safety
/// The machine must have AVX2 and POPCNT. `values.len()` values must be readable, and as many
/// elements if `ELEMENTS`. The range must fit 32 bits.
#[target_feature(enable = "avx2,popcnt")]
pub(crate) unsafe fn narrow<const NARROW: bool, const ELEMENTS: bool>(
    from: *const u8,
    filter: IndexFilter,
    payload: Payload,
    values: &mut [u32],
    payloads: &mut [u32],
) -> Option<usize> {
    let payloads = &mut payloads[..values.len()];
    let elements = match payload {
        Payload::Elements(first) if ELEMENTS => first,
        _ => from,
    };
    let lanes = |value: usize| _mm256_set1_epi32(value as i32);
    let (first, len) = (lanes(filter.from), lanes(filter.len));
    // The highest of the low halves, and all bits of the high ones.
    let (mut highest, mut bits) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    let mut to = 0;
    let whole = values.len() / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        // SAFETY: eight values from `at` on are readable. Both slices have room for eight from `to`
        // on, because no more were kept than read, so `to <= at`. An entry of the table has eight
        // bytes.
        unsafe {
            let value = if NARROW {
                _mm256_loadu_si256(from.add(at * 4).cast())
            } else {
                let low = _mm256_loadu_si256(from.add(at * 8).cast());
                let high = _mm256_loadu_si256(from.add(at * 8 + 32).cast());
                bits = _mm256_or_si256(bits, _mm256_or_si256(low, high));
                // The low halves: two of `low`, two of `high`, and so on; then in their order.
                let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
                let halves = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
                _mm256_permute4x64_epi64::<0b11_01_10_00>(halves)
            };
            highest = _mm256_max_epu32(highest, value);
            let here = _mm256_sub_epi32(value, first);
            let others = _mm256_cmpeq_epi32(_mm256_max_epu32(here, len), here);
            let others = _mm256_movemask_ps(_mm256_castsi256_ps(others));
            let keep = (others ^ 0xff) as usize;
            let chosen = _mm256_cvtepu8_epi32(_mm_loadl_epi64(CHOSEN[keep].as_ptr().cast()));
            let packed = _mm256_permutevar8x32_epi32(here, chosen);
            _mm256_storeu_si256(values.as_mut_ptr().add(to).cast(), packed);
            let packed = match ELEMENTS {
                true => {
                    let elements = _mm256_loadu_si256(elements.add(at * 4).cast());
                    _mm256_permutevar8x32_epi32(elements, chosen)
                }
                false => _mm256_add_epi32(chosen, lanes(at)),
            };
            _mm256_storeu_si256(payloads.as_mut_ptr().add(to).cast(), packed);
            to += keep.count_ones() as usize;
        }
    }
    let limit = lanes(filter.limit);
    let beyond = _mm256_cmpeq_epi32(_mm256_max_epu32(highest, limit), highest);
    let high = _mm256_testz_si256(bits, _mm256_set1_epi64x(-1 << 32)) == 0;
    let inside = whole == 0 || _mm256_testz_si256(beyond, beyond) == 1 && !high;
    // SAFETY: the caller promises `values.len()` readable values, and as many elements if the
    // payload is elements.
    let to = unsafe { filter.narrow_rest::<NARROW>(from, payload, whole, to, values, payloads) };
    to.filter(|_| inside)
}
