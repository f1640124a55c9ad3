//! Picking out of many index values those that are wanted, without a branch that depends on them.

use super::decode::Stretch;
use crate::tensor::DType;

/// Which values are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// What is not below this is out of bounds.
    pub(crate) limit: usize,
    /// The first value that is wanted,
    pub(crate) from: usize,
    /// and how many are.
    pub(crate) len: usize,
    /// What is out of bounds is not wanted, instead of being an error.
    pub(crate) drop: bool,
}

impl Wanted {
    /// Moves the values that are wanted to the front, counted from the first one wanted, and their
    /// places into `places`. Returns how many they are; `None` if a value is out of bounds and may
    /// not be.
    ///
    /// # Panics
    /// If `places` is shorter than `values`.
    pub(crate) fn among(self, values: &mut [i64], places: &mut [i64]) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if packs() {
            // SAFETY: the machine can; what is read is a slice, and no longer than the others.
            return unsafe { avx512::sift::<false>(None, self, values, places) };
        }
        self.scalar(0, 0, values, places)
    }

    /// Likewise, with values that are still where they are; `None` also if that is outside the index.
    ///
    /// # Panics
    /// As [`among`](Self::among), and if there is no room in `values`.
    pub(crate) fn of(
        self,
        from: Stretch<'_, '_>,
        values: &mut [i64],
        places: &mut [i64],
    ) -> Option<usize> {
        let values = &mut values[..from.count];
        #[cfg(target_arch = "x86_64")]
        if let Some((first, narrow)) = packable(from) {
            let sift = match narrow {
                true => avx512::sift::<true> as avx512::Sift,
                false => avx512::sift::<false>,
            };
            // SAFETY: the machine can; so many values of this size can be read.
            return unsafe { sift(Some(first), self, values, places) };
        }
        if !from.index.read_integers(from.at, from.stride, values) {
            return None;
        }
        self.among(values, places)
    }

    /// Whether 32 bits hold every value that may be wanted, whatever their sign.
    pub(super) fn is_narrow(&self) -> bool {
        i32::try_from(self.limit).is_ok() && self.from.saturating_add(self.len) <= self.limit
    }

    /// What [`of`](Self::of) moves to the front, in 32 bits, and their places; `None` if a value is out of bounds, or outside the
    /// index.
    ///
    /// # Panics
    /// If values may be wanted that [are not](Self::is_narrow) narrow, or dropped; if either slice is shorter than the stretch.
    pub(super) fn narrow(
        self,
        from: Stretch<'_, '_>,
        values: &mut [u32],
        places: &mut [u32],
    ) -> Option<usize> {
        assert!(self.is_narrow() && !self.drop);
        let (values, places) = (&mut values[..from.count], &mut places[..from.count]);
        #[cfg(target_arch = "x86_64")]
        if let Some((first, narrow)) = packable(from) {
            let sift = match narrow {
                true => avx512::narrow::<true> as avx512::Narrow,
                false => avx512::narrow::<false>,
            };
            // SAFETY: the machine can; so many values of this size can be read.
            return unsafe { sift(first, self, values, places) };
        }
        self.narrow_scalar(from, values, places)
    }

    /// [`narrow`](Self::narrow) on any machine.
    fn narrow_scalar(
        self,
        from: Stretch<'_, '_>,
        values: &mut [u32],
        places: &mut [u32],
    ) -> Option<usize> {
        let (mut to, mut outside) = (0, false);
        let each = |place, value: i64| {
            let here = value.wrapping_sub(self.from as i64);
            outside |= value.cast_unsigned() >= self.limit as u64;
            (values[to], places[to]) = (here as u32, place as u32);
            to += usize::from(here.cast_unsigned() < self.len as u64);
        };
        let read = from
            .index
            .each_integer(from.at, from.stride, from.count, each);
        (read && !outside).then_some(to)
    }

    /// From element `from` on, with `to` values kept before it.
    fn scalar(
        self,
        from: usize,
        mut to: usize,
        values: &mut [i64],
        places: &mut [i64],
    ) -> Option<usize> {
        let mut outside = false;
        for at in from..values.len() {
            let value = values[at].cast_unsigned();
            let here = value.wrapping_sub(self.from as u64);
            let inside = value < self.limit as u64;
            outside |= !inside;
            (values[to], places[to]) = (here.cast_signed(), at as i64);
            to += usize::from(inside && here < self.len as u64);
        }
        (!outside || self.drop).then_some(to)
    }
}

/// Whether the machine packs chosen lanes.
#[cfg(target_arch = "x86_64")]
fn packs() -> bool {
    matches!(fearless_simd::Level::new(), fearless_simd::Level::Avx512(_))
}

/// Where a stretch begins that the machine packs, whose values lie side by side, and whether they have 32 bits instead of 64.
#[cfg(target_arch = "x86_64")]
fn packable(from: Stretch<'_, '_>) -> Option<(*const u8, bool)> {
    let dtype = from.index.dtype();
    let narrow = match dtype {
        DType::I64 => false,
        DType::I32 => true,
        _ => return None,
    };
    let side_by_side = from.stride == dtype.size().cast_signed();
    let first = from.index.stretch(from.at, from.stride, from.count);
    first
        .filter(|_| side_by_side && packs())
        .map(|first| (first, narrow))
}

/// Compiled loops do not find the instruction that this is about: it packs the chosen lanes.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::Wanted;
    use std::arch::x86_64::{
        _mm256_loadu_si256, _mm512_add_epi32, _mm512_add_epi64, _mm512_cmpge_epu32_mask,
        _mm512_cmpge_epu64_mask, _mm512_cmplt_epu32_mask, _mm512_cmplt_epu64_mask,
        _mm512_cvtepi32_epi64, _mm512_loadu_si512, _mm512_maskz_compress_epi32,
        _mm512_maskz_compress_epi64, _mm512_max_epu32, _mm512_or_si512, _mm512_permutex2var_epi32,
        _mm512_set_epi32, _mm512_set_epi64, _mm512_set1_epi32, _mm512_set1_epi64,
        _mm512_setzero_si512, _mm512_storeu_si512, _mm512_sub_epi32, _mm512_sub_epi64,
        _mm512_test_epi32_mask,
    };

    const LANES: usize = 8;

    /// [`sift`] for one kind of values.
    pub(super) type Sift =
        unsafe fn(Option<*const u8>, Wanted, &mut [i64], &mut [i64]) -> Option<usize>;

    /// [`narrow`] for one kind of values.
    pub(super) type Narrow = unsafe fn(*const u8, Wanted, &mut [u32], &mut [u32]) -> Option<usize>;

    /// Picks among `values`, or among as many that begin at `from`, of 32 bits if `NARROW`, else of 64.
    ///
    /// # Safety
    /// The machine has AVX-512F (and with it POPCNT), and so many values can be read from `from` on.
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) unsafe fn sift<const NARROW: bool>(
        from: Option<*const u8>,
        wanted: Wanted,
        values: &mut [i64],
        places: &mut [i64],
    ) -> Option<usize> {
        let places = &mut places[..values.len()];
        let lanes = |value: usize| _mm512_set1_epi64(value as i64);
        let (limit, first, len) = (lanes(wanted.limit), lanes(wanted.from), lanes(wanted.len));
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
                // SAFETY: the value can be read.
                *value = unsafe {
                    if NARROW {
                        from.cast::<i32>().add(at).read().into()
                    } else {
                        from.cast::<i64>().add(at).read()
                    }
                };
            }
        }
        let to = wanted.scalar(whole, to, values, places)?;
        (outside == 0 || wanted.drop).then_some(to)
    }

    /// Picks among values that begin at `from`, of 32 bits if `NARROW`, else of 64: as many as there is room for in `values`.
    /// `None` if one is out of bounds.
    ///
    /// # Safety
    /// The machine has AVX-512F (and with it POPCNT), so many values can be read, and 32 bits hold those that are wanted.
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) unsafe fn narrow<const NARROW: bool>(
        from: *const u8,
        wanted: Wanted,
        values: &mut [u32],
        places: &mut [u32],
    ) -> Option<usize> {
        const LANES: usize = 16;
        let places = &mut places[..values.len()];
        let lanes = |value: usize| _mm512_set1_epi32(value as i32);
        let (first, len) = (lanes(wanted.from), lanes(wanted.len));
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
                let packed = _mm512_maskz_compress_epi32(keep, place);
                _mm512_storeu_si512(places.as_mut_ptr().add(to).cast(), packed);
                to += keep.count_ones() as usize;
            }
            place = _mm512_add_epi32(place, lanes(LANES));
        }
        let beyond = _mm512_cmpge_epu32_mask(highest, lanes(wanted.limit));
        let high = _mm512_test_epi32_mask(bits, _mm512_set1_epi64(-1 << 32));
        let mut outside = whole > 0 && (beyond | high) != 0;
        for at in whole..values.len() {
            // SAFETY: the value can be read.
            let value = unsafe {
                if NARROW {
                    i64::from(from.cast::<i32>().add(at).read())
                } else {
                    from.cast::<i64>().add(at).read()
                }
            };
            let here = value.wrapping_sub(wanted.from as i64);
            outside |= value.cast_unsigned() >= wanted.limit as u64;
            (values[to], places[to]) = (here as u32, at as u32);
            to += usize::from(here.cast_unsigned() < wanted.len as u64);
        }
        (!outside).then_some(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{DynView, TensorView};

    type Way<'w> = &'w dyn Fn(&mut [i64], &mut [i64]) -> Option<usize>;

    /// Values from 0 to 99, or from -3 on.
    fn random(len: usize, least: i64) -> Vec<i64> {
        let mut state = 7u64;
        (0..len)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) as i64 % 100 + least
            })
            .collect()
    }

    /// What is picked in 32 bits.
    fn of_narrow(wanted: Wanted, index: &DynView<'_>) -> Option<(Vec<i64>, Vec<i64>)> {
        let count = index.len();
        let (mut values, mut places) = (vec![0; count], vec![0; count]);
        let from = Stretch {
            index,
            at: 0,
            stride: index.dtype().size().cast_signed(),
            count,
        };
        let kept = wanted.narrow(from, &mut values, &mut places);
        let (mut same, mut there) = (vec![0; count], vec![0; count]);
        let scalar = wanted.narrow_scalar(from, &mut same, &mut there);
        assert_eq!(scalar, kept);
        let kept = kept?;
        let wide = |list: &[u32]| list[..kept].iter().map(|&n| n.into()).collect();
        let found = (wide(&values), wide(&places));
        assert_eq!((wide(&same), wide(&there)), found);
        Some(found)
    }

    #[test]
    fn every_way_keeps_the_same() {
        for len in [0, 1, 7, 8, 9, 15, 16, 17, 64, 511, 512] {
            for (limit, from, of, drop) in [
                (100, 0, 50, false),
                (100, 40, 60, false),
                (100, 30, 40, true),
                (5, 2, 3, true),
            ] {
                let given = random(len, if drop { -3 } else { 0 });
                let narrow: Vec<i32> = given.iter().map(|&v| i32::try_from(v).unwrap()).collect();
                let wanted = Wanted {
                    limit,
                    from,
                    len: of,
                    drop,
                };
                let way = |sift: Way<'_>| {
                    let (mut values, mut places) = (given.clone(), vec![0; len]);
                    let kept = sift(&mut values, &mut places).unwrap();
                    values.truncate(kept);
                    places.truncate(kept);
                    (values, places)
                };
                let stretch = |view: DynView<'_>, values: &mut [i64], places: &mut [i64]| {
                    let stride = view.dtype().size().cast_signed();
                    let from = Stretch {
                        index: &view,
                        at: 0,
                        stride,
                        count: len,
                    };
                    wanted.of(from, values, places)
                };
                let expected = way(&|values, places| wanted.scalar(0, 0, values, places));
                for (value, place) in expected.0.iter().zip(&expected.1) {
                    assert_eq!(value + from as i64, given[*place as usize]);
                }
                let inside = |v: &&i64| (from as i64..(from + of).min(limit) as i64).contains(*v);
                assert_eq!(expected.0.len(), given.iter().filter(inside).count());
                assert_eq!(
                    way(&|values, places| wanted.among(values, places)),
                    expected
                );
                let view = || TensorView::from(&given).into_dyn();
                assert_eq!(
                    way(&|values, places| stretch(view(), values, places)),
                    expected
                );
                let narrow_view = || TensorView::from(&narrow).into_dyn();
                assert_eq!(
                    way(&|values, places| stretch(narrow_view(), values, places)),
                    expected
                );
                if wanted.is_narrow() && !drop {
                    for view in [view(), narrow_view()] {
                        assert_eq!(of_narrow(wanted, &view).unwrap(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_unless_it_may_be() {
        for at in [0, 7, 8, 15, 16] {
            for bad in [-1, 100, 1 << 32, i64::MIN, i64::MAX] {
                let mut values = random(17, 0);
                values[at] = bad;
                for drop in [false, true] {
                    let wanted = Wanted {
                        limit: 100,
                        from: 0,
                        len: 100,
                        drop,
                    };
                    let kept = wanted.among(&mut values.clone(), &mut [0; 17]);
                    assert_eq!(kept, drop.then_some(16));
                    let view = TensorView::from(&values).into_dyn();
                    assert!(drop || of_narrow(wanted, &view).is_none());
                    if let Ok(bad) = i32::try_from(bad) {
                        let mut narrow: Vec<i32> = values.iter().map(|&v| v as i32).collect();
                        narrow[at] = bad;
                        let view = TensorView::from(&narrow).into_dyn();
                        assert!(drop || of_narrow(wanted, &view).is_none());
                    }
                }
            }
        }
    }
}
