//! Picking out of many index values those that matter here, without a branch that depends on them.

/// Which values matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// What is not below this is out of bounds.
    pub(super) limit: usize,
    /// The first value that matters,
    pub(super) from: usize,
    /// and how many of them do.
    pub(super) len: usize,
    /// What is out of bounds does not matter, instead of being an error.
    pub(super) drop: bool,
}

/// Moves the values that matter to the front, counted from the first one wanted, and their places
/// into `places`. Returns how many they are; `None` if a value is out of bounds and may not be.
///
/// # Panics
/// If `places` is shorter than `values`.
pub(super) fn sift(values: &mut [i64], places: &mut [i64], wanted: Wanted) -> Option<usize> {
    let places = &mut places[..values.len()];
    #[cfg(target_arch = "x86_64")]
    if let fearless_simd::Level::Avx512(_) = fearless_simd::Level::new() {
        // SAFETY: the level says that the machine has AVX-512F, and with it POPCNT.
        return unsafe { avx512(values, places, wanted) };
    }
    scalar(values, places, 0, 0, wanted)
}

/// From element `from` on, with `to` values kept before it.
fn scalar(
    values: &mut [i64],
    places: &mut [i64],
    from: usize,
    mut to: usize,
    wanted: Wanted,
) -> Option<usize> {
    let mut outside = false;
    for at in from..values.len() {
        let value = values[at].cast_unsigned();
        let here = value.wrapping_sub(wanted.from as u64);
        outside |= value >= wanted.limit as u64;
        (values[to], places[to]) = (here.cast_signed(), at as i64);
        to += usize::from(here < wanted.len as u64 && value < wanted.limit as u64);
    }
    (!outside || wanted.drop).then_some(to)
}

/// Compiled loops do not find the instruction that this is about: it packs the chosen lanes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
fn avx512(values: &mut [i64], places: &mut [i64], wanted: Wanted) -> Option<usize> {
    use std::arch::x86_64::{
        _mm512_add_epi64, _mm512_cmpge_epu64_mask, _mm512_cmplt_epu64_mask, _mm512_loadu_si512,
        _mm512_maskz_compress_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_storeu_si512,
        _mm512_sub_epi64,
    };
    const LANES: usize = 8;
    let lanes = |value: usize| _mm512_set1_epi64(value as i64);
    let (limit, from, len) = (lanes(wanted.limit), lanes(wanted.from), lanes(wanted.len));
    let mut place = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    let (mut to, mut outside) = (0, 0);
    let whole = values.len() / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        // SAFETY: eight elements from `at` on are inside both slices, which are equally long. No
        // more are kept than were read, so `to` is at most `at`.
        unsafe {
            let value = _mm512_loadu_si512(values.as_ptr().add(at).cast());
            let beyond = _mm512_cmpge_epu64_mask(value, limit);
            outside |= beyond;
            let here = _mm512_sub_epi64(value, from);
            let keep = _mm512_cmplt_epu64_mask(here, len) & !beyond;
            let store = |slice: &mut [i64], lanes| {
                _mm512_storeu_si512(slice.as_mut_ptr().add(to).cast(), lanes);
            };
            store(values, _mm512_maskz_compress_epi64(keep, here));
            store(places, _mm512_maskz_compress_epi64(keep, place));
            to += keep.count_ones() as usize;
        }
        place = _mm512_add_epi64(place, lanes(LANES));
    }
    let to = scalar(values, places, whole, to, wanted)?;
    (outside == 0 || wanted.drop).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_keep_the_same() {
        let mut state = 7u64;
        for len in [0, 1, 7, 8, 9, 64, 511, 512] {
            for (limit, from, of, drop) in
                [(100, 0, 50, false), (100, 30, 40, true), (5, 2, 3, true)]
            {
                let values: Vec<i64> = (0..len)
                    .map(|_| {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        (state >> 33) as i64 % 100 - i64::from(drop) * 3
                    })
                    .collect();
                let wanted = Wanted {
                    limit,
                    from,
                    len: of,
                    drop,
                };
                let (mut a, mut b) = (values.clone(), values.clone());
                let (mut at_a, mut at_b) = (vec![0; len], vec![0; len]);
                let kept = scalar(&mut a, &mut at_a, 0, 0, wanted);
                assert_eq!(sift(&mut b, &mut at_b, wanted), kept);
                let inside = |v: &&i64| (0..limit as i64).contains(*v);
                let mine = |v: &&i64| (from as i64..(from + of) as i64).contains(*v);
                let right = values.iter().filter(inside).filter(mine).count();
                let legal = drop || values.iter().all(|v| inside(&v));
                assert_eq!(kept, legal.then_some(right));
                if let Some(kept) = kept {
                    assert_eq!((&a[..kept], &at_a[..kept]), (&b[..kept], &at_b[..kept]));
                    for (&here, &at) in a.iter().zip(&at_a[..kept]) {
                        assert_eq!(here + from as i64, values[at as usize]);
                    }
                }
            }
        }
    }
}
