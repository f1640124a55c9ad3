//! Values of a group in ascending order.
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
use crate::statistic::select::pair;
use crate::statistic::value::Value;
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
    pub(crate) keys: Vec<T::Key>,
    /// How many values have been selected; `None`: the keys are sorted.
    selected: Option<usize>,
    /// One of the values is a NaN.
    pub(crate) nan: bool,
    /// Every value is that of its key.
    pub(crate) plain: bool,
    /// Keys and the places of their values, in order.
    pub(crate) pairs: Vec<(T::Key, usize)>,
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
    pub(crate) fn read(&mut self, values: &[T]) {
        if self.keys.len() == values.len() {
            return;
        }
        self.selected = Some(0);
        self.keys.clear();
        self.keys.extend(values.iter().map(|value| value.key()));
        (self.nan, self.plain) = T::are_their_keys(values);
    }

    /// The keys, sorted.
    pub(crate) fn sorted(&mut self, values: &[T]) -> &[T::Key] {
        self.read(values);
        if self.selected.take().is_some() {
            self.keys.sort_unstable();
        }
        &self.keys
    }

    /// The value of a rank, and the next one or, if it is the last, the same.
    pub(crate) fn pair(&mut self, values: &[T], rank: usize) -> (T, T) {
        self.read(values);
        let next = (rank + 1).min(values.len() - 1);
        let (low, high) = match &mut self.selected {
            Some(selected) if *selected < SELECTED => {
                *selected += 1;
                pair(&mut self.keys, rank)
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
    pub(crate) fn value(&self, values: &[T], key: T::Key, rank: usize) -> T {
        let of_key = T::of_key(key);
        if self.plain {
            return of_key;
        }
        let below = self.keys.iter().filter(|&&other| other < key).count();
        let mut equal = values.iter().filter(|value| value.key() == key);
        equal.nth(rank - below).copied().unwrap_or(of_key)
    }

    /// Brings the pairs in order; equal keys stay in the order of their values.
    pub(crate) fn sort_pairs(&mut self, values: &[T], key: impl Fn(&T) -> T::Key) {
        self.pairs.clear();
        self.pairs.extend(values.iter().map(key).zip(0..));
        self.pairs.sort_unstable();
    }
}
