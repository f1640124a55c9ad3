//! The minimum or maximum of a contiguous slice, with one running value for each vector lane.
//!
//! ```text
//! for each chunk of LANES values: lane[i] = meet(lane[i], chunk[i])
//! meet all lanes; then find the zero, or the NaN, that one running value would have kept
//! ```
//!
//! One running value alone would wait for its own result at every element. Lanes compute the same
//! value, but which of several zeros or NaN they keep depends on the order: a second pass looks for
//! that one. The loops over groups and runs use it from `ENOUGH` values on.

use crate::ops::number::Number;
use crate::ops::order::{Ordered, identity_of, minmax};

/// Running values: four vectors of the narrowest machine's.
const LANES: usize = 16;

/// Fewer elements are as fast one after the other.
pub(crate) const ENOUGH: usize = 2 * LANES;

/// What `best` becomes once all `values`, of which there are some, have met it one after the other
/// by [`minmax`].
#[inline(always)]
pub(crate) fn extreme<T: Number + Ordered, const MAX: bool, const STRICT: bool>(
    best: T,
    values: &[T],
) -> T {
    let meet = minmax::<T, MAX, STRICT>;
    let mut lanes = [identity_of::<T, MAX>(); LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = meet(*lane, value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane = meet(*lane, value);
    }
    let [mut winner, others @ ..] = lanes;
    for other in others {
        winner = meet(winner, other);
    }
    if !T::PLAIN {
        let zero: T = T::narrow(T::ZERO);
        if winner.nan() {
            let last = values.iter().rev().find(|value| value.nan());
            winner = last.copied().unwrap_or(winner);
        } else if winner.at_most(zero) && zero.at_most(winner) {
            let first = values
                .iter()
                .find(|value| value.canonical().at_most(zero) && zero.at_most(value.canonical()));
            winner = first.map_or(winner, |value| value.canonical());
        }
    }
    meet(best, winner)
}

#[cfg(test)]
mod tests {
    use super::extreme;
    use crate::ops::boolean::Bool;
    use crate::ops::number::Number;
    use crate::ops::order::{Ordered, minmax};
    use half::f16;

    /// Compares it with one running value, for values of which some are rare, by their bits.
    fn compare<T: Ordered + Number, const MAX: bool, const STRICT: bool>(
        some: &[T],
        bits: impl Fn(T) -> u64,
    ) {
        let mut seed = 7u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for round in 0..20_000 {
            let kinds = [
                some[next(some.len())],
                some[next(some.len())],
                some[next(some.len())],
            ];
            // The third kind is rare in every other round.
            let rare = 1 + 29 * (round % 2);
            let values: Vec<T> = (0..=round / 2 % 100)
                .map(|_| kinds[if next(rare) == 0 { next(3) } else { next(2) }])
                .collect();
            let start = some[next(some.len())];
            let mut expected = start;
            for &value in &values {
                expected = minmax::<T, MAX, STRICT>(expected, value);
            }
            let found = extreme::<T, MAX, STRICT>(start, &values);
            assert_eq!(bits(found), bits(expected), "round {round}");
        }
    }

    fn compare_all<T: Ordered + Number>(some: &[T], bits: impl Fn(T) -> u64) {
        compare::<T, false, false>(some, &bits);
        compare::<T, true, false>(some, &bits);
        compare::<T, false, true>(some, &bits);
        compare::<T, true, true>(some, &bits);
    }

    #[test]
    fn one_running_value_finds_the_same() {
        let nan = |payload: u32| f32::from_bits(0x7fc0_0000 | payload);
        let floats = [
            -1.0,
            -0.0,
            0.0,
            2.0,
            nan(1),
            nan(2),
            f32::INFINITY,
            f32::NEG_INFINITY,
        ];
        compare_all(&floats, |v| v.to_bits().into());
        let halves = floats.map(f16::from_f32);
        compare_all(&halves, |v| v.to_bits().into());
        compare_all(&floats.map(f64::from), f64::to_bits);
        compare_all(&[0u8, 1, 2, 127, 128, 255].map(Bool), |v| v.0.into());
        compare_all(&[i8::MIN, -1, 0, 1, i8::MAX], |v| v as u8 as u64);
    }
}
