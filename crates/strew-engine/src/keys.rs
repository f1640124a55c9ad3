//! Groups of equal keys: one number for each different key.
//!
//! ```text
//! number: for each key: its number, if it has one; else the next one
//!         then the different keys are sorted, and numbered again in their order
//! join:   key = (code 0 * size 1 + code 1) * size 2 + code 2 ...; the number of each key
//! ```
//!
//! Where the keys lie close together, a table has a cell for each possible key; otherwise a hash
//! table finds the different ones. Nothing is sorted but the different keys.
//!
//! Cost: each key is read twice, and its number written twice.

mod strings;

use crate::context::Context;
use std::cmp::Ordering;
use strew_kernel::error::{Class, Error, Problem, Result};
use strew_kernel::tensor::{Tensor, try_vec};

pub use strings::number_strings;

/// The cells that a table may have for any number of keys.
const SMALL_TABLE: u64 = 1 << 16;
/// The cells that it may have for each key.
const CELLS_PER_KEY: u64 = 2;
/// The slots of a hash table at its start.
const SLOTS: usize = 1 << 10;
/// A cell or slot without a number.
const NONE: u32 = 0;
/// The place of a key that has not been met.
const UNSEEN: usize = usize::MAX;

/// The number of each key, and where each number comes first.
#[derive(Debug)]
pub struct Numbered {
    /// The number of each key; -1 for a missing one.
    pub index: Tensor<i64>,
    /// For each number the position of the first key that has it.
    pub first: Tensor<i64>,
}

/// A part of a key: an integer.
pub trait Word: Copy + Eq + Send + Sync {
    /// An integer for it, in the same order.
    fn ordered(self) -> u64;
}

macro_rules! words {
    ($($unsigned:ty, $signed:ty;)*) => {$(
        impl Word for $unsigned {
            #[inline(always)]
            fn ordered(self) -> u64 {
                u64::from(self)
            }
        }
        impl Word for $signed {
            #[inline(always)]
            fn ordered(self) -> u64 {
                i64::from(self).cast_unsigned() ^ (1 << 63)
            }
        }
    )*};
}
words! { u8, i8; u16, i16; u32, i32; u64, i64; }

/// Numbers keys of `width` words each.
///
/// The numbers ascend with the keys, the first word of a key first.
///
/// ```
/// # mod strew { pub use strew_engine::keys::*; pub use strew_kernel::error::Error; }
/// use strew::number_keys;
///
/// let numbered = number_keys(&[7i32, 5, 7, -1], 1)?;
/// assert_eq!(numbered.index.as_slice(), [2, 1, 2, 0]);
/// assert_eq!(numbered.first.as_slice(), [3, 1, 0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Value`] if the words are no whole number of keys,
/// and for more than 4,294,967,294 different keys;
/// [`Class::Memory`].
pub fn number_keys<T: Word>(words: &[T], width: usize) -> Result<Numbered> {
    numbered(words, width).map_err(|problem| called("number_keys", problem))
}

/// Numbers the combinations of the codes of several columns that occur, in ascending order, the
/// first column first.
///
/// Codes are below the size of their column. A negative code is missing, and so is its row.
///
/// ```
/// # mod strew { pub use strew_engine::keys::*; pub use strew_kernel::error::Error; }
/// use strew::join_keys;
///
/// let joined = join_keys(&[&[1, 0, 1, -1], &[0, 2, 0, 1]], &[2, 3])?;
/// assert_eq!(joined.index.as_slice(), [1, 0, 1, -1]);
/// assert_eq!(joined.first.as_slice(), [1, 0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Value`] for columns of different lengths, another
/// number of sizes, a code that is not below its size, and more than 4,294,967,294 combinations;
/// [`Class::Memory`].
pub fn join_keys(columns: &[&[i64]], sizes: &[usize]) -> Result<Numbered> {
    joined(columns, sizes).map_err(|problem| called("join_keys", problem))
}

fn called(name: &'static str, problem: Problem) -> Error {
    let class = |_: &Problem| Class::Value;
    let operator = name.into();
    Context { operator, class }.error(problem)
}

fn numbered<T: Word>(words: &[T], width: usize) -> Result<Numbered, Problem> {
    if width == 0 || !words.len().is_multiple_of(width) {
        return Err(wrong(
            "width",
            width,
            "words must be a whole number of keys of this width",
        ));
    }
    if width > 1 {
        let keys = words.chunks_exact(width).map(|words| Some(Row(words)));
        let hash = |key: &Row<'_, T>| {
            let words = key.0.iter();
            words.fold(0, |hash, word| mixed(hash ^ word.ordered()))
        };
        return hashed(keys, hash);
    }
    let keys = words.iter().map(|word| word.ordered());
    let least = keys.clone().min().unwrap_or(0);
    let span = keys.clone().max().unwrap_or(0) - least;
    if span >= table_limit(words.len()) {
        return hashed(keys.map(Some), |&key| mixed(key));
    }
    let mut codes = Tensor::<i64>::zeros(&[words.len()])?;
    for (to, key) in codes.as_mut_slice().iter_mut().zip(keys) {
        *to = (key - least).cast_signed();
    }
    tabled(codes, span + 1)
}

/// A key of several words.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Row<'w, T>(&'w [T]);

impl<T: Word> Ord for Row<'_, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let ordered = |&word: &T| word.ordered();
        self.0.iter().map(ordered).cmp(other.0.iter().map(ordered))
    }
}

impl<T: Word> PartialOrd for Row<'_, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn joined(columns: &[&[i64]], sizes: &[usize]) -> Result<Numbered, Problem> {
    let rows = columns.first().map_or(0, |column| column.len());
    if columns.len() != sizes.len() || columns.iter().any(|column| column.len() != rows) {
        let expected = "it must have a column of one length for each size";
        return Err(wrong("columns", columns.len(), expected));
    }
    for (column, &size) in columns.iter().zip(sizes) {
        if let Some(code) = column
            .iter()
            .find(|&&code| code >= 0 && code as u64 >= size as u64)
        {
            return Err(wrong("columns", *code, &format!("it must be below {size}")));
        }
    }
    let mut codes = Tensor::<i64>::zeros(&[rows])?;
    let mut count = 1u64;
    for (column, &size) in columns.iter().zip(sizes) {
        let size = (size as u64).max(1);
        if count
            .checked_mul(size)
            .is_none_or(|count| count > i64::MAX as u64)
        {
            // The combinations so far are at most as many as there are rows.
            let made = ascending(codes, count)?;
            (codes, count) = (made.index, (made.first.as_slice().len() as u64).max(1));
        }
        let joined = codes.as_mut_slice().iter_mut().zip(*column);
        joined.for_each(|(code, &next)| *code = joined_code(*code, size, next));
        count = count.checked_mul(size).ok_or_else(too_many)?;
    }
    ascending(codes, count)
}

/// The code of a combination; negative if one of the two is.
#[inline(always)]
fn joined_code(code: i64, size: u64, next: i64) -> i64 {
    match code | next {
        ..0 => -1,
        _ => code.wrapping_mul(size.cast_signed()).wrapping_add(next),
    }
}

/// The largest table that is made for a number of keys, in cells.
fn table_limit(keys: usize) -> u64 {
    SMALL_TABLE.max(CELLS_PER_KEY * keys as u64)
}

/// Numbers codes below `count` in ascending order. Negative ones are missing.
fn ascending(codes: Tensor<i64>, count: u64) -> Result<Numbered, Problem> {
    if count <= table_limit(codes.as_slice().len()) {
        return tabled(codes, count);
    }
    let keys = codes.as_slice().iter();
    let keys = keys.map(|&code| (code >= 0).then_some(code));
    hashed(keys, |&code| mixed(code.cast_unsigned()))
}

/// The same in place, by a table.
fn tabled(mut codes: Tensor<i64>, count: u64) -> Result<Numbered, Problem> {
    let all = codes.as_mut_slice();
    let mut table = try_vec("a table of keys", count as usize)?;
    table.resize(count as usize, NONE);
    for &code in all.iter().filter(|&&code| code >= 0) {
        table[code as usize] = 1;
    }
    let mut first = First::default();
    for seen in table.iter_mut().filter(|seen| **seen != NONE) {
        *seen = first.add(UNSEEN)?;
    }
    for (place, code) in all.iter_mut().enumerate().filter(|(_, code)| **code >= 0) {
        let number = table[*code as usize] - 1;
        *code = i64::from(number);
        let known = &mut first.places[number as usize];
        if *known == UNSEEN {
            *known = place;
        }
    }
    first.numbered(codes)
}

/// Numbers keys in ascending order by a hash table. `None` is missing.
fn hashed<K: Copy + Ord>(
    keys: impl ExactSizeIterator<Item = Option<K>>,
    hash: impl Fn(&K) -> u64,
) -> Result<Numbered, Problem> {
    let mut index = Tensor::<i64>::zeros(&[keys.len()])?;
    let numbers = index.as_mut_slice();
    let mut first = First::default();
    let mut table = Table::new(hash)?;
    for ((place, key), to) in keys.enumerate().zip(&mut *numbers) {
        *to = match key {
            Some(key) => i64::from(table.number(key, || first.add(place))?) - 1,
            None => -1,
        };
    }
    if table.keys.is_sorted() {
        return first.numbered(index);
    }
    let mut order = try_vec("the order of keys", table.keys.len())?;
    order.extend(0..table.keys.len());
    order.sort_unstable_by_key(|&number| table.keys[number]);
    let mut ranks = try_vec("the order of keys", order.len())?;
    ranks.resize(order.len(), 0);
    for (rank, &number) in order.iter().enumerate() {
        ranks[number] = rank as i64;
    }
    for number in numbers.iter_mut().filter(|number| **number >= 0) {
        *number = ranks[*number as usize];
    }
    let places = order.iter().map(|&number| first.places[number]);
    let mut sorted = try_vec("the first place of each key", order.len())?;
    sorted.extend(places);
    First { places: sorted }.numbered(index)
}

/// Where each number comes first.
#[derive(Default)]
struct First {
    places: Vec<usize>,
}

impl First {
    /// Gives out the next number, plus one.
    #[inline]
    fn add(&mut self, place: usize) -> Result<u32, Problem> {
        if self.places.len() == self.places.capacity() {
            double(&mut self.places, "the first place of each key")?;
        }
        self.places.push(place);
        u32::try_from(self.places.len()).map_err(|_| too_many())
    }

    fn numbered(self, index: Tensor<i64>) -> Result<Numbered, Problem> {
        let mut first = Tensor::<i64>::zeros(&[self.places.len()])?;
        for (to, &place) in first.as_mut_slice().iter_mut().zip(&self.places) {
            *to = place.cast_signed() as i64;
        }
        Ok(Numbered { index, first })
    }
}

/// A hash table from keys to their numbers plus one, with open addressing.
struct Table<K, H> {
    keys: Vec<K>,
    slots: Vec<u32>,
    hash: H,
}

impl<K: Copy + Eq, H: Fn(&K) -> u64> Table<K, H> {
    fn new(hash: H) -> Result<Self, Problem> {
        let (keys, slots) = (Vec::new(), empty(SLOTS)?);
        Ok(Self { keys, slots, hash })
    }

    /// The number of a key plus one; `next` gives a key its number.
    #[inline(always)]
    fn number(
        &mut self,
        key: K,
        next: impl FnOnce() -> Result<u32, Problem>,
    ) -> Result<u32, Problem> {
        let slot = self.slot(key);
        if self.slots[slot] == NONE {
            let number = next()?;
            if self.keys.len() == self.keys.capacity() {
                double(&mut self.keys, "the different keys")?;
            }
            self.keys.push(key);
            self.slots[slot] = number;
            if self.keys.len() * 2 > self.slots.len() {
                self.grow()?;
            }
            return Ok(number);
        }
        Ok(self.slots[slot])
    }

    /// The slot that has a key, or an empty one for it.
    #[inline(always)]
    fn slot(&self, key: K) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = (self.hash)(&key) as usize & last;
        loop {
            match self.slots[slot] {
                NONE => return slot,
                number if self.keys[number as usize - 1] == key => return slot,
                _ => slot = (slot + 1) & last,
            }
        }
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Problem> {
        self.slots = empty(self.slots.len() * 4)?;
        for place in 0..self.keys.len() {
            let slot = self.slot(self.keys[place]);
            self.slots[slot] = place as u32 + 1;
        }
        Ok(())
    }
}

/// Makes room for twice as many.
#[cold]
fn double<T: Copy>(vec: &mut Vec<T>, what: &str) -> Result<(), Problem> {
    let mut more = try_vec(what, (vec.len() * 2).max(SLOTS))?;
    more.extend_from_slice(vec);
    *vec = more;
    Ok(())
}

/// Slots without a number.
fn empty(slots: usize) -> Result<Vec<u32>, Problem> {
    let mut made = try_vec("a hash table of keys", slots)?;
    made.resize(slots, NONE);
    Ok(made)
}

/// Spreads the bits of a word over all bits: the finisher of MurmurHash3.
#[inline(always)]
fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

fn too_many() -> Problem {
    let most = u32::MAX - 1;
    wrong("keys", most, "there are more different keys than this")
}

fn wrong(argument: &str, value: impl ToString, expected: &str) -> Problem {
    Problem::Value {
        argument: argument.into(),
        value: value.to_string(),
        expected: expected.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbered, join_keys, number_keys};
    use std::collections::BTreeMap;

    /// Integers that look random.
    pub(super) fn random(seed: u64, count: usize, below: u64) -> Vec<u64> {
        let step = |state: &mut u64| {
            *state = super::mixed(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
            Some(*state % below)
        };
        std::iter::repeat_n((), count)
            .scan(seed, |state, ()| step(state))
            .collect()
    }

    /// The same by a tree.
    pub(super) fn naive<K: Ord + Copy>(keys: &[Option<K>]) -> (Vec<i64>, Vec<i64>) {
        let mut first = BTreeMap::new();
        for (place, key) in keys.iter().enumerate() {
            if let Some(key) = key {
                first.entry(*key).or_insert(place as i64);
            }
        }
        let number = |key: &K| first.keys().position(|other| other == key).unwrap() as i64;
        let numbers = keys.iter().map(|key| key.as_ref().map_or(-1, number));
        (numbers.collect(), first.values().copied().collect())
    }

    pub(super) fn parts(made: &Numbered) -> (Vec<i64>, Vec<i64>) {
        let list = |tensor: &strew_kernel::tensor::Tensor<i64>| tensor.as_slice().to_vec();
        (list(&made.index), list(&made.first))
    }

    #[test]
    fn words_are_numbered_in_their_order() {
        for (seed, below) in [(1, 3), (2, 400), (3, 1 << 20), (4, u64::MAX)] {
            let keys = random(seed, 500, below);
            let wanted: Vec<Option<u64>> = keys.iter().copied().map(Some).collect();
            assert_eq!(parts(&number_keys(&keys, 1).unwrap()), naive(&wanted));
            let signed: Vec<i64> = keys.iter().map(|key| key.cast_signed()).collect();
            let wanted: Vec<Option<i64>> = signed.iter().copied().map(Some).collect();
            assert_eq!(parts(&number_keys(&signed, 1).unwrap()), naive(&wanted));
            let bytes: Vec<i8> = keys.iter().map(|&key| key as i8).collect();
            let wanted: Vec<Option<i8>> = bytes.iter().copied().map(Some).collect();
            assert_eq!(parts(&number_keys(&bytes, 1).unwrap()), naive(&wanted));
        }
    }

    #[test]
    fn wide_keys_are_numbered_in_their_order() {
        for width in [2, 3, 7] {
            let words: Vec<u32> = random(9, 300 * width, 3)
                .iter()
                .map(|&w| w as u32)
                .collect();
            let wanted: Vec<Option<&[u32]>> = words.chunks(width).map(Some).collect();
            assert_eq!(parts(&number_keys(&words, width).unwrap()), naive(&wanted));
        }
    }

    #[test]
    fn combinations_are_numbered_in_their_order() {
        // By a table, by a hash table, and with combinations that no 64 bits hold at once.
        for sizes in [[3, 5, 2], [900, 1000, 1100], [1 << 40, 1 << 30, 1 << 20]] {
            let columns: Vec<Vec<i64>> = sizes
                .iter()
                .zip(5..)
                .map(|(&size, seed)| {
                    let codes = random(seed, 400, size as u64 + size as u64 / 7);
                    let code = |&code: &u64| if code < size as u64 { code as i64 } else { -1 };
                    codes.iter().map(code).collect()
                })
                .collect();
            let of = |row: usize| -> Option<[i64; 3]> {
                let key = [columns[0][row], columns[1][row], columns[2][row]];
                key.iter().all(|&code| code >= 0).then_some(key)
            };
            let wanted: Vec<_> = (0..400).map(of).collect();
            let columns: Vec<&[i64]> = columns.iter().map(Vec::as_slice).collect();
            assert_eq!(parts(&join_keys(&columns, &sizes).unwrap()), naive(&wanted));
        }
    }

    #[test]
    fn nothing_and_nonsense() {
        assert_eq!(parts(&number_keys::<u8>(&[], 4).unwrap()), (vec![], vec![]));
        assert_eq!(parts(&join_keys(&[], &[]).unwrap()), (vec![], vec![]));
        assert_eq!(
            parts(&join_keys(&[&[-1]], &[0]).unwrap()),
            (vec![-1], vec![])
        );
        assert!(number_keys(&[1u8, 2, 3], 2).is_err() && number_keys(&[1u8], 0).is_err());
        assert!(join_keys(&[&[0], &[0, 1]], &[1, 2]).is_err());
        let error = join_keys(&[&[3]], &[3]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "join_keys: columns = 3: it must be below 3"
        );
    }
}
