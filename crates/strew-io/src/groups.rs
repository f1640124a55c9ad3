//! Rows with equal keys are a group.
//!
//! ```text
//! for each key column: a number for each distinct value, in the order in which they come
//! for each row: the numbers of its columns, joined two by two to the number of its group
//! at the end: the groups in the order of their keys
//! ```
//!
//! A missing key is a value of its own, which comes last.

use crate::elements::Kind;
use crate::error::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use strew::{DType, DynTensor};

/// The most groups, and the most distinct values of a key.
const MOST: u32 = u32::MAX - 1;

/// A column with its name.
pub(crate) type Named = (String, ArrayRef);

/// Groups of rows, by the values of one or several key columns.
#[derive(Debug)]
pub struct Groups {
    columns: Vec<Column>,
    /// How the numbers of the first columns are joined with that of the next.
    joins: Vec<Join>,
}

/// The distinct values of a key column.
#[derive(Debug)]
struct Column {
    name: String,
    numbers: HashMap<u64, u32, Mixed>,
    texts: HashMap<Box<str>, u32>,
    lately: Lately,
    null: Option<u32>,
    count: u32,
    /// The values of the numbers 0, 1, 2, ..., as they came.
    values: Vec<ArrayRef>,
}

/// Pairs of a group so far and the next column's value.
#[derive(Debug, Default)]
struct Join {
    map: HashMap<u64, u32, Mixed>,
    pairs: Vec<(u32, u32)>,
}

impl Groups {
    /// No groups yet, by columns of these names.
    #[must_use]
    pub fn new(names: &[String]) -> Self {
        let column = |name: &String| Column {
            name: name.clone(),
            numbers: HashMap::default(),
            texts: HashMap::new(),
            lately: Lately::default(),
            null: None,
            count: 0,
            values: Vec::new(),
        };
        let joins = names.iter().skip(1).map(|_| Join::default());
        Self {
            columns: names.iter().map(column).collect(),
            joins: joins.collect(),
        }
    }

    /// The group of each row: numbers in the order in which groups come.
    ///
    /// # Errors
    /// If a column has a type that is no key, if there are too many groups, or without memory.
    pub(crate) fn of(&mut self, keys: &[ArrayRef]) -> Result<DynTensor> {
        let rows = keys.first().map_or(0, |key| key.len());
        let mut groups: Vec<u32> = Vec::new();
        for (at, (column, key)) in self.columns.iter_mut().zip(keys).enumerate() {
            let numbers = column.of(key)?;
            match at
                .checked_sub(1)
                .and_then(|before| self.joins.get_mut(before))
            {
                None => groups = numbers,
                Some(join) => join.join(&mut groups, &numbers)?,
            }
        }
        let made = DynTensor::zeros(DType::U32, &[rows]);
        let mut made = made.map_err(|problem| Error::new(problem.to_string()))?;
        let to = made.as_bytes_mut().as_chunks_mut::<4>().0;
        for (to, group) in to.iter_mut().zip(&groups) {
            *to = group.to_ne_bytes();
        }
        Ok(made)
    }

    /// How many groups there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self.joins.last() {
            Some(join) => join.pairs.len(),
            None => self
                .columns
                .first()
                .map_or(0, |column| column.count as usize),
        }
    }

    /// For each column the number of its value in each group.
    fn values(&self) -> Vec<Vec<u32>> {
        let count = self.count();
        let mut joined: Vec<u32> = (0u32..).take(count).collect();
        let mut values = Vec::with_capacity(self.columns.len());
        // From the last column back: a pair has the groups of the columns before it.
        for join in self.joins.iter().rev() {
            let pairs = joined.iter().map(|&group| join.pairs[group as usize]);
            let (before, own) = pairs.unzip();
            values.push(own);
            joined = before;
        }
        values.push(joined);
        values.reverse();
        values
    }

    /// The numbers of the groups in the order of their keys, and the keys in that order.
    pub(crate) fn sorted(&self) -> Result<(Vec<usize>, Vec<Named>)> {
        let count = self.count();
        let values = self.values();
        let ranks: Vec<Vec<u32>> = self.columns.iter().map(Column::ranks).collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| {
            let columns = ranks.iter().zip(&values);
            let each = columns.map(|(rank, of)| rank[of[a] as usize].cmp(&rank[of[b] as usize]));
            each.fold(Ordering::Equal, Ordering::then)
        });
        let mut keys = Vec::with_capacity(self.columns.len());
        for (column, of) in self.columns.iter().zip(&values) {
            let wanted = UInt32Array::from_iter_values(order.iter().map(|&group| of[group]));
            let parts: Vec<&dyn Array> = column.values.iter().map(AsRef::as_ref).collect();
            let all = concat(&parts).map_err(broken)?;
            keys.push((
                column.name.clone(),
                take(&all, &wanted, None).map_err(broken)?,
            ));
        }
        Ok((order, keys))
    }
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::broken("Arrow", error)
}

impl Join {
    /// Joins each group with a value.
    fn join(&mut self, groups: &mut [u32], values: &[u32]) -> Result<()> {
        for (group, &value) in groups.iter_mut().zip(values) {
            let pair = (u64::from(*group) << 32) | u64::from(value);
            let new = u32::try_from(self.pairs.len()).unwrap_or(u32::MAX);
            let number = *self.map.entry(pair).or_insert(new);
            if number == new {
                enough(new)?;
                self.pairs.push((*group, value));
            }
            *group = number;
        }
        Ok(())
    }
}

fn enough(count: u32) -> Result<()> {
    match count < MOST {
        true => Ok(()),
        false => Err(Error::new(format!("there are more than {MOST} groups"))),
    }
}

impl Column {
    /// A number for each value.
    fn of(&mut self, key: &ArrayRef) -> Result<Vec<u32>> {
        if let DataType::Dictionary(_, _) = key.data_type() {
            let dictionary = key.as_any_dictionary();
            let plain = take(dictionary.values(), dictionary.keys(), None).map_err(broken)?;
            return self.of(&plain);
        }
        let mut numbers = Vec::with_capacity(key.len());
        let mut new: Vec<u32> = Vec::new();
        match key.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                self.texts_of(key, &mut numbers, &mut new)?;
            }
            _ => self.numbers_of(key, &mut numbers, &mut new)?,
        }
        if !new.is_empty() || self.values.is_empty() {
            let taken = take(key, &UInt32Array::from(new), None).map_err(broken)?;
            self.values.push(taken);
        }
        Ok(numbers)
    }

    fn texts_of(&mut self, key: &ArrayRef, to: &mut Vec<u32>, new: &mut Vec<u32>) -> Result<()> {
        let Self {
            texts,
            lately,
            null,
            count,
            ..
        } = self;
        let mut each = |row: usize, text: Option<&str>| -> Result<()> {
            let known = match text {
                Some(text) => lately.find(text, |text| texts.get(text).copied()),
                None => *null,
            };
            if let Some(number) = known {
                to.push(number);
                return Ok(());
            }
            enough(*count)?;
            match text {
                Some(text) => drop(texts.insert(text.into(), *count)),
                None => *null = Some(*count),
            }
            to.push(*count);
            new.push(u32::try_from(row).unwrap_or(u32::MAX));
            *count += 1;
            Ok(())
        };
        let rows = key.len();
        if let Some(texts) = key.as_string_opt::<i32>() {
            (0..rows).try_for_each(|n| each(n, texts.is_valid(n).then(|| texts.value(n))))
        } else if let Some(texts) = key.as_string_opt::<i64>() {
            (0..rows).try_for_each(|n| each(n, texts.is_valid(n).then(|| texts.value(n))))
        } else {
            let texts = key.as_string_view();
            (0..rows).try_for_each(|n| each(n, texts.is_valid(n).then(|| texts.value(n))))
        }
    }

    fn numbers_of(&mut self, key: &ArrayRef, to: &mut Vec<u32>, new: &mut Vec<u32>) -> Result<()> {
        let codes = codes(key).ok_or_else(|| {
            Error::new(format!(
                "column '{}' has values of type {}, which are no keys: they must be integers, \
                 strings, dates or truth values",
                self.name,
                key.data_type()
            ))
        })?;
        let Self {
            numbers,
            null,
            count,
            ..
        } = self;
        let nulls = key.nulls();
        let mut last: Option<(u64, u32)> = None;
        for (row, &code) in codes.iter().enumerate() {
            if let Some((same, number)) = last
                && same == code
                && nulls.is_none()
            {
                to.push(number);
                continue;
            }
            let number = match nulls.is_some_and(|nulls| nulls.is_null(row)) {
                true => *null.get_or_insert(*count),
                false => *numbers.entry(code).or_insert(*count),
            };
            to.push(number);
            last = Some((code, number));
            if number == *count {
                enough(number)?;
                *count += 1;
                new.push(u32::try_from(row).unwrap_or(u32::MAX));
            }
        }
        Ok(())
    }

    /// For each number, the place of its value among the values in order.
    fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![u32::MAX; self.count as usize];
        let mut texts: Vec<(&str, u32)> = self.texts.iter().map(|(t, &n)| (&**t, n)).collect();
        texts.sort_unstable();
        let mut numbers: Vec<(u64, u32)> = self.numbers.iter().map(|(&c, &n)| (c, n)).collect();
        numbers.sort_unstable();
        let sorted = texts.into_iter().map(|(_, n)| n);
        let sorted = sorted.chain(numbers.into_iter().map(|(_, n)| n));
        for (rank, number) in (0u32..).zip(sorted) {
            ranks[number as usize] = rank;
        }
        ranks
    }
}

/// Integers, dates and truth values as numbers in the same order; `None` if they are something
/// else.
fn codes(key: &ArrayRef) -> Option<Vec<u64>> {
    let kind = Kind::of(key.data_type()).filter(|kind| kind.row.is_empty())?;
    let size = kind.dtype.size();
    let mut bytes = vec![0; key.len() * size];
    kind.copy(key, 0..key.len(), &mut bytes).ok()?;
    let signed = |value: i64| value.cast_unsigned() ^ (1 << 63);
    macro_rules! each {
        ($t:ty, $make:expr) => {{
            let chunks = bytes.chunks_exact(size_of::<$t>());
            let values = chunks.map(|b| <$t>::from_ne_bytes(b.try_into().unwrap_or_default()));
            Some(values.map($make).collect())
        }};
    }
    match kind.dtype {
        DType::Bool | DType::U8 => each!(u8, u64::from),
        DType::U16 => each!(u16, u64::from),
        DType::U32 => each!(u32, u64::from),
        DType::U64 => each!(u64, |value| value),
        DType::I8 => each!(i8, |value| signed(value.into())),
        DType::I16 => each!(i16, |value| signed(value.into())),
        DType::I32 => each!(i32, |value| signed(value.into())),
        DType::I64 => each!(i64, signed),
        _ => None,
    }
}

/// Short texts with their numbers, each in the slot that its bytes name. Most keys are short and
/// come again and again. The hash of the map is slow, as no file may choose texts that collide.
#[derive(Debug, Default)]
struct Lately {
    slots: Vec<(u64, u32)>,
}

impl Lately {
    const SLOTS: usize = 1 << 10;

    /// The number of a text; `search` is asked where it is not in its slot.
    fn find(&mut self, text: &str, search: impl FnOnce(&str) -> Option<u32>) -> Option<u32> {
        let mut word = [0; 8];
        let Some(letters) = word[..7].get_mut(..text.len()) else {
            return search(text);
        };
        letters.copy_from_slice(text.as_bytes());
        // The last byte makes an empty text another word than an empty slot.
        word[7] = 1 + text.len() as u8;
        let word = u64::from_ne_bytes(word);
        if self.slots.is_empty() {
            self.slots = vec![(0, 0); Self::SLOTS];
        }
        let mut mix = Mix::default();
        mix.write_u64(word);
        let slot = &mut self.slots[mix.finish() as usize % Self::SLOTS];
        if slot.0 != word {
            *slot = (word, search(text)?);
        }
        Some(slot.1)
    }
}

type Mixed = BuildHasherDefault<Mix>;

/// A hash of one 64-bit number: a multiplication spreads its bits.
#[derive(Clone, Copy, Debug, Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Date32Array, Float64Array, Int64Array, StringArray, UInt64Array};
    use std::sync::Arc;

    fn groups(keys: &[ArrayRef]) -> (Groups, Vec<i64>) {
        let names: Vec<String> = (0..keys.len()).map(|n| format!("k{n}")).collect();
        let mut groups = Groups::new(&names);
        let of = groups.of(keys).unwrap().view().to_integers().unwrap();
        (groups, of)
    }

    #[test]
    fn groups_come_in_the_order_of_their_keys() {
        let months: ArrayRef = Arc::new(Int64Array::from(vec![2, -1, 2, 7, 2, -1]));
        let names: ArrayRef = Arc::new(StringArray::from(vec!["b", "a", "a", "b", "b", "a"]));
        let (groups, of) = groups(&[months, names]);
        assert_eq!(of, [0, 1, 2, 3, 0, 1]);
        let (order, keys) = groups.sorted().unwrap();
        assert_eq!(order, [1, 2, 0, 3]);
        let expected: ArrayRef = Arc::new(Int64Array::from(vec![-1, 2, 2, 7]));
        assert_eq!((keys[0].0.as_str(), &keys[0].1), ("k0", &expected));
        let expected: ArrayRef = Arc::new(StringArray::from(vec!["a", "a", "b", "b"]));
        assert_eq!(&keys[1].1, &expected);
    }

    #[test]
    fn chunks_continue_and_a_missing_key_comes_last() {
        let mut groups = Groups::new(&["d".to_owned()]);
        let chunk =
            |days: &[Option<i32>]| -> ArrayRef { Arc::new(Date32Array::from(days.to_vec())) };
        let first = groups.of(&[chunk(&[Some(5), None, Some(5)])]).unwrap();
        assert_eq!(first.view().to_integers().unwrap(), [0, 1, 0]);
        let second = groups.of(&[chunk(&[None, Some(-3), Some(5)])]).unwrap();
        assert_eq!(second.view().to_integers().unwrap(), [1, 2, 0]);
        let (order, keys) = groups.sorted().unwrap();
        assert_eq!(
            (order, &keys[0].1),
            (vec![2, 0, 1], &chunk(&[Some(-3), Some(5), None]))
        );
    }

    #[test]
    fn texts_of_every_length_are_told_apart() {
        let texts: Vec<String> = (0..5000)
            .map(|n| "ab\0c"[..n % 4].repeat(1 + n % 3) + &"x".repeat(n % 9))
            .collect();
        let key: ArrayRef = Arc::new(StringArray::from(texts.clone()));
        let (groups, of) = groups(&[key]);
        let mut first: HashMap<&str, i64> = HashMap::new();
        for (text, &group) in texts.iter().zip(&of) {
            let next = first.len() as i64;
            assert_eq!(*first.entry(text).or_insert(next), group, "{text:?}");
        }
        assert_eq!(groups.count(), first.len());
    }

    #[test]
    fn large_numbers_keep_their_order_and_floats_are_no_keys() {
        let key: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 0, 1 << 63]));
        assert_eq!(groups(&[key]).0.sorted().unwrap().0, [1, 2, 0]);
        let key: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
        let told = Groups::new(&["x".into()])
            .of(&[key])
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("column 'x' has values of type Float64, which are no keys"),
            "{told}"
        );
        let empty: ArrayRef = Arc::new(Int64Array::from(Vec::<i64>::new()));
        let (none, of) = groups(&[empty]);
        assert!(of.is_empty() && none.count() == 0 && none.sorted().unwrap().0.is_empty());
    }
}
