//! Values of a group in ascending order: quantiles, the mode, sorted values, ranks.
//!
//! ```text
//! keys = an unsigned integer for each value, in the order of the values; NaN is the largest
//! one or two values by rank: select them among the keys
//! everything else: sort the keys, or pairs of a key and the place of its value
//! ```
//!
//! A key gives its value back. Only 0.0 and -0.0, and NaN, share a key: a group with a NaN or a
//! -0.0 looks such values up by their place. Values with the same key are in the order of the
//! updates, as a stable sort has them.
//!
//! Cost: a key and a copy for each value. Selecting takes `O(n)`, sorting `O(n log n)` operations.

use crate::error::Problem;
use crate::group_stats::statistics::{Between, Ties, Value};
use crate::tensor::try_vec;

/// Values to select, one after the other, before sorting takes less time than another one.
const SELECTED: usize = 4;

/// How many of each there will be at most.
#[derive(Clone, Copy, Default)]
pub(crate) struct Room {
    pub(crate) values: usize,
    pub(crate) places: usize,
    pub(crate) keys: usize,
    pub(crate) pairs: usize,
}

/// The keys of some values, in order as far as that was needed.
pub(crate) struct InOrder<T: Value> {
    keys: Vec<T::Key>,
    /// How many values have been selected; `None`: the keys are sorted.
    selected: Option<usize>,
    /// One of the values is a NaN.
    nan: bool,
    /// Every value is that of its key.
    plain: bool,
    /// Keys and the places of their values, in order.
    pairs: Vec<(T::Key, usize)>,
}

impl<T: Value> InOrder<T> {
    /// Room for keys and pairs.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn with_room(room: Room) -> Result<Self, Problem> {
        let what = "the order of a group's values";
        Ok(Self {
            keys: try_vec(what, room.keys)?,
            selected: Some(0),
            nan: false,
            plain: true,
            pairs: try_vec(what, room.pairs)?,
        })
    }

    /// Forgets the values.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.pairs.clear();
    }

    /// Makes the keys, unless they have been made.
    fn read(&mut self, values: &[T]) {
        if self.keys.len() == values.len() {
            return;
        }
        self.selected = Some(0);
        self.keys.clear();
        self.keys.extend(values.iter().map(|value| value.key()));
        self.nan = values.iter().fold(false, |nan, value| nan | value.nan());
        let is_its_key = |plain, value: &T| plain & value.is_its_key();
        self.plain = values.iter().fold(true, is_its_key);
    }

    fn sorted(&mut self, values: &[T]) -> &[T::Key] {
        self.read(values);
        if self.selected.take().is_some() {
            self.keys.sort_unstable();
        }
        &self.keys
    }

    /// The value of a rank, and the next one or, if it is the last, the same.
    fn pair(&mut self, values: &[T], rank: usize) -> (T, T) {
        self.read(values);
        let next = (rank + 1).min(values.len() - 1);
        let (low, high) = match &mut self.selected {
            Some(selected) if *selected < SELECTED => {
                *selected += 1;
                let (_, &mut low, above) = self.keys.select_nth_unstable(rank);
                (low, above.iter().copied().min().unwrap_or(low))
            }
            _ => {
                let keys = self.sorted(values);
                (keys[rank], keys[next])
            }
        };
        let value = |key, rank| self.value(values, key, rank);
        (value(low, rank), value(high, next))
    }

    /// The value of a rank, which has this key.
    fn value(&self, values: &[T], key: T::Key, rank: usize) -> T {
        let of_key = T::of_key(key);
        if self.plain {
            return of_key;
        }
        let below = self.keys.iter().filter(|&&other| other < key).count();
        let mut equal = values.iter().filter(|value| value.key() == key);
        equal.nth(rank - below).copied().unwrap_or(of_key)
    }

    /// The middle value, or the mean of the two in the middle; NaN if there is one.
    pub(crate) fn median(&mut self, values: &[T]) -> Option<f64> {
        let half = values.len().checked_sub(1)? / 2;
        self.read(values);
        if self.nan {
            return Some(f64::NAN);
        }
        let (low, high) = self.pair(values, half);
        let (low, high) = (low.complex().re, high.complex().re);
        Some(match values.len() % 2 {
            1 => low,
            _ => f64::midpoint(low, high),
        })
    }

    /// The value that is the fraction `q` of the way from the smallest to the largest, or what is
    /// made of the two beside that place; NaN if there is one.
    ///
    /// Where the place is that of a value, no other value counts: an infinity beside it does not.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    pub(crate) fn quantile(&mut self, values: &[T], q: f64, between: Between) -> Option<f64> {
        let last = values.len().checked_sub(1)?;
        self.read(values);
        if self.nan {
            return Some(f64::NAN);
        }
        let at = q * last as f64;
        let at = match between {
            Between::Linear | Between::Midpoint => at,
            Between::Lower => at.floor(),
            Between::Higher => at.ceil(),
            Between::Nearest => at.round_ties_even(),
        };
        let below = (at.floor() as usize).min(last);
        let (low, high) = self.pair(values, below);
        let (low, high) = (low.complex().re, high.complex().re);
        let part = at - at.floor();
        Some(match between {
            _ if part == 0.0 || low == high => low,
            Between::Midpoint => f64::midpoint(low, high),
            _ => on_the_line(low, high, part),
        })
    }

    /// How many different values there are.
    pub(crate) fn different(&mut self, values: &[T]) -> usize {
        self.sorted(values).chunk_by(T::Key::eq).count()
    }

    /// The most frequent value; of several the smallest.
    pub(crate) fn mode(&mut self, values: &[T]) -> Option<T> {
        let (mut rank, mut most) = (0, (0, 0));
        for run in self.sorted(values).chunk_by(T::Key::eq) {
            if run.len() > most.0 {
                most = (run.len(), rank);
            }
            rank += run.len();
        }
        let key = *self.keys.get(most.1)?;
        Some(self.value(values, key, most.1))
    }

    /// The sorted values; descending with `reverse`. NaN is last.
    pub(crate) fn sort(&mut self, values: &[T], sorted: &mut [T], reverse: bool) {
        self.read(values);
        if self.plain {
            for (to, &key) in sorted.iter_mut().zip(self.sorted(values)) {
                *to = T::of_key(key);
            }
            if reverse {
                sorted.reverse();
            }
        } else {
            self.sort_pairs(values, |value| match reverse & !value.nan() {
                true => !value.key(),
                false => value.key(),
            });
            for (to, &(_, place)) in sorted.iter_mut().zip(&self.pairs) {
                *to = values[place];
            }
        }
    }

    /// Brings the pairs in order; equal keys stay in the order of their values.
    fn sort_pairs(&mut self, values: &[T], key: impl Fn(&T) -> T::Key) {
        self.pairs.clear();
        self.pairs.extend(values.iter().map(key).zip(0..));
        self.pairs.sort_unstable();
    }

    /// The places of the values in ascending order.
    pub(crate) fn places(&mut self, values: &[T]) -> impl Iterator<Item = usize> + '_ {
        self.sort_pairs(values, |value| value.key());
        self.pairs.iter().map(|&(_, place)| place)
    }

    /// The places of the first `count` values in ascending or descending order.
    pub(crate) fn top(
        &mut self,
        values: &[T],
        count: usize,
        largest: bool,
    ) -> impl Iterator<Item = usize> + '_ {
        self.pairs.clear();
        let key = |value: &T| match largest {
            true => !value.key(),
            false => value.key(),
        };
        self.pairs.extend(values.iter().map(key).zip(0..));
        if count < self.pairs.len() {
            self.pairs.select_nth_unstable(count);
            self.pairs.truncate(count);
        }
        self.pairs.sort_unstable();
        self.pairs.iter().map(|&(_, place)| place)
    }

    /// Calls `found` with the place and the rank of each value, from 1 on.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn ranks(&mut self, values: &[T], ties: Ties, mut found: impl FnMut(usize, f64)) {
        self.sort_pairs(values, |value| value.key());
        let mut before = 0;
        let runs = self.pairs.chunk_by(|a, b| a.0 == b.0);
        for (number, run) in runs.enumerate() {
            let (first, last) = ((before + 1) as f64, (before + run.len()) as f64);
            for (n, &(_, place)) in run.iter().enumerate() {
                let rank = match ties {
                    Ties::Average => f64::midpoint(first, last),
                    Ties::Min => first,
                    Ties::Max => last,
                    Ties::Dense => (number + 1) as f64,
                    Ties::Ordinal => first + n as f64,
                };
                found(place, rank);
            }
            before += run.len();
        }
    }
}

/// The point between two different numbers that is the fraction `part` of the way to the larger.
fn on_the_line(low: f64, high: f64, part: f64) -> f64 {
    let apart = high - low;
    if apart.is_finite() {
        return match part >= 0.5 {
            true => high - apart * (1.0 - part),
            false => low + apart * part,
        };
    }
    // Every point between an infinity and a number is that infinity. Of two numbers only the
    // difference is too large.
    low * (1.0 - part) + high * part
}

#[cfg(test)]
mod tests {
    use super::{InOrder, Room};
    use crate::group_stats::statistics::{Between, Ties, Value};
    use num_complex::Complex64;
    use std::cmp::Ordering;

    /// A sequence of small numbers that looks random.
    fn numbers(seed: u64, count: usize) -> impl Iterator<Item = u64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 40
        })
        .take(count)
    }

    /// Few different values, with both zeros and, if `nan`, different NaN.
    fn floats(seed: u64, count: usize, nan: bool) -> Vec<f64> {
        let special = [f64::NAN, -f64::NAN, f64::from_bits(0x7ff8_0000_0000_0001)];
        let of = |n: u64| match n % 11 {
            0 => -0.0,
            1 => 0.0,
            2 if nan => special[(n / 11 % 3) as usize],
            3 => f64::INFINITY,
            4 => f64::NEG_INFINITY,
            _ => (n % 29) as f64 / 4.0 - 3.0,
        };
        numbers(seed, count).map(of).collect()
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// The order that values have by their own comparison, NaN last.
    fn compared(a: &f64, b: &f64) -> Ordering {
        let last = || a.is_nan().cmp(&b.is_nan());
        a.partial_cmp(b).unwrap_or_else(last)
    }

    fn with_room<T: Value>() -> InOrder<T> {
        InOrder::with_room(Room::default()).unwrap()
    }

    #[test]
    fn sorted_values_have_the_bits_of_a_stable_sort() {
        for seed in 0..300 {
            let values = floats(seed, (seed % 60) as usize, seed % 2 == 0);
            let mut expected = values.clone();
            expected.sort_by(compared);
            let mut sorted = values.clone();
            with_room().sort(&values, &mut sorted, false);
            assert_eq!(bits(&sorted), bits(&expected));
            expected = values.clone();
            expected.sort_by(|a, b| match a.is_nan() == b.is_nan() {
                true => compared(b, a),
                false => compared(a, b),
            });
            with_room().sort(&values, &mut sorted, true);
            assert_eq!(bits(&sorted), bits(&expected));
        }
    }

    #[test]
    fn selected_values_have_the_bits_of_sorted_ones() {
        for seed in 0..300 {
            let values = floats(seed, 1 + (seed % 60) as usize, false);
            let mut sorted = values.clone();
            sorted.sort_by(compared);
            let mut order = with_room();
            for rank in numbers(seed, 9) {
                let rank = rank as usize % values.len();
                let (low, high) = order.pair(&values, rank);
                let next = (rank + 1).min(values.len() - 1);
                assert_eq!(bits(&[low, high]), bits(&[sorted[rank], sorted[next]]));
            }
            let half = values.len() / 2;
            let median = match values.len() % 2 {
                1 => sorted[half],
                _ => f64::midpoint(sorted[half - 1], sorted[half]),
            };
            let found = with_room().median(&values).unwrap();
            assert!(found.to_bits() == median.to_bits() || found.is_nan() && median.is_nan());
        }
    }

    #[test]
    fn runs_of_equal_values_are_counted() {
        for seed in 0..300 {
            let values = floats(seed, 1 + (seed % 60) as usize, seed % 2 == 0);
            let mut sorted = values.clone();
            sorted.sort_by(compared);
            let runs = sorted.chunk_by(|a, b| compared(a, b).is_eq());
            let runs: Vec<&[f64]> = runs.collect();
            let mode = runs.iter().rev().max_by_key(|run| run.len()).unwrap()[0];
            let mut order = with_room();
            assert_eq!(order.different(&values), runs.len());
            let found = order.mode(&values).unwrap();
            assert_eq!(found.to_bits(), mode.to_bits());
        }
    }

    #[test]
    fn a_nan_is_the_median_and_every_quantile() {
        let values = [1.0, f64::NAN, 2.0];
        assert!(with_room().median(&values).unwrap().is_nan());
        let quantile = with_room().quantile(&values, 0.0, Between::Linear);
        assert!(quantile.unwrap().is_nan());
    }

    #[test]
    fn a_quantile_takes_only_the_values_beside_its_place() {
        let (inf, most) = (f64::INFINITY, f64::MAX);
        let cases: [(&[f64], f64, f64); 9] = [
            (&[inf, 5.0, 4.0], 0.5, 5.0),
            (&[-inf, 5.0, 4.0], 0.5, 4.0),
            (&[-inf, 5.0, 4.0], 1.0, 5.0),
            (&[inf, 5.0, 4.0], 0.6, inf),
            (&[-inf, 5.0], 0.25, -inf),
            (&[-inf, 5.0], 0.75, -inf),
            (&[-most, most], 0.5, 0.0),
            (&[-most, most], 0.25, -most * 0.75 + most * 0.25),
            (&[inf, inf], 0.3, inf),
        ];
        for (values, q, expected) in cases {
            let found = with_room().quantile(values, q, Between::Linear);
            assert_eq!(found, Some(expected), "{values:?} {q}");
        }
        let opposite = with_room().quantile(&[-inf, inf], 0.5, Between::Linear);
        assert!(opposite.unwrap().is_nan());
    }

    #[test]
    fn a_quantile_between_two_values_follows_its_method() {
        let values = [1.0, 2.0, 4.0, 9.0];
        for (between, at_the_middle, beyond, on_a_value) in [
            (Between::Linear, 3.0, 6.5, 4.0),
            (Between::Lower, 2.0, 4.0, 4.0),
            (Between::Higher, 4.0, 9.0, 4.0),
            // Halfway between the ranks 1 and 2, and between 2 and 3: to the even one.
            (Between::Nearest, 4.0, 4.0, 4.0),
            (Between::Midpoint, 3.0, 6.5, 4.0),
        ] {
            let of = |q| with_room().quantile(&values, q, between).unwrap();
            assert_eq!(of(0.5), at_the_middle);
            assert_eq!(of(2.5 / 3.0), beyond);
            assert_eq!(of(2.0 / 3.0), on_a_value);
        }
    }

    #[test]
    fn keys_have_the_order_of_their_values() {
        let extremes = [i64::MIN, -1, 0, 1, i64::MAX];
        assert!(extremes.is_sorted_by_key(|value| value.key()));
        assert!(
            extremes
                .iter()
                .all(|&value| i64::of_key(value.key()) == value)
        );
        let complex = [
            (-1.0, 5.0),
            (-0.0, -2.0),
            (0.0, 3.0),
            (0.0, 4.0),
            (2.0, f64::NAN),
        ];
        let complex = complex.map(|(re, im)| Complex64::new(re, im));
        assert!(complex.is_sorted_by_key(|value| value.key()));
        let mut sorted = complex;
        let reversed: Vec<_> = complex.iter().rev().copied().collect();
        with_room().sort(&reversed, &mut sorted, false);
        assert_eq!(sorted[..4], complex[..4]);
        assert!(sorted[1].re.is_sign_negative() && sorted[4].im.is_nan());
    }

    #[test]
    fn the_first_in_order_come_with_the_first_of_equal_ones() {
        let values = [3.0, f64::NAN, 1.0, 3.0, -0.0, 0.0];
        let top = |count, largest| with_room().top(&values, count, largest).collect::<Vec<_>>();
        assert_eq!(top(4, true), [1, 0, 3, 2]);
        assert_eq!(top(9, false), [4, 5, 2, 0, 3, 1]);
        assert_eq!(top(2, false), [4, 5]);
        assert_eq!(
            with_room().places(&values).collect::<Vec<_>>(),
            [4, 5, 2, 0, 3, 1]
        );
    }

    #[test]
    fn equal_values_share_their_ranks() {
        let values = [3.0, f64::NAN, 1.0, 3.0, f64::NAN];
        for (ties, expected) in [
            (Ties::Average, [2.5, 4.5, 1.0, 2.5, 4.5]),
            (Ties::Min, [2.0, 4.0, 1.0, 2.0, 4.0]),
            (Ties::Max, [3.0, 5.0, 1.0, 3.0, 5.0]),
            (Ties::Dense, [2.0, 3.0, 1.0, 2.0, 3.0]),
            (Ties::Ordinal, [2.0, 4.0, 1.0, 3.0, 5.0]),
        ] {
            let mut ranks = [0.0; 5];
            with_room().ranks(&values, ties, |place, rank| ranks[place] = rank);
            assert_eq!(ranks, expected);
        }
    }
}
