//! Which groups have a record, where most groups have none.
//!
//! ```text
//! groups[record] = the group that has the record, in the order in which they came
//! records[group] = the record of the group
//! ```
//!
//! Cost: about 40 bytes for each group that has a record, and a search in a hash table for each
//! update whose group is not that of the update before.

use std::collections::HashMap;
use strew_kernel::error::Problem;
use strew_kernel::tensor::try_vec;

const WHAT: &str = "the groups that have values";

/// Groups that have a record.
#[derive(Debug, Default)]
pub(super) struct Touched {
    groups: Vec<i64>,
    records: HashMap<i64, i64>,
}

impl Touched {
    /// The groups from 0 to `count`, in their order.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn first(count: usize) -> Result<Self, Problem> {
        let mut made = Self::default();
        made.reserve(count)?;
        (0..count.cast_signed() as i64).for_each(|group| {
            made.add(group);
        });
        Ok(made)
    }

    /// Groups that ascend and are not negative. `None` if they do not.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn of(groups: &[i64]) -> Result<Option<Self>, Problem> {
        let ascend = groups.is_sorted_by(|one, next| one < next);
        if !ascend || groups.first().is_some_and(|&first| first < 0) {
            return Ok(None);
        }
        let mut made = Self::default();
        made.reserve(groups.len())?;
        groups.iter().for_each(|&group| {
            made.add(group);
        });
        Ok(Some(made))
    }

    /// How many groups have a record.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// The group of each record.
    pub(super) fn groups(&self) -> &[i64] {
        &self.groups
    }

    pub(super) fn memory(&self) -> usize {
        // The table has one byte for each pair.
        let pair = size_of::<(i64, i64)>() + 1;
        self.groups.capacity() * size_of::<i64>() + self.records.capacity() * pair
    }

    /// Replaces groups by their records. A group without one gets the next one. -1 stays.
    ///
    /// # Errors
    /// [`Problem::Memory`]. Groups that have got a record keep it.
    pub(super) fn find(&mut self, rows: &mut [i64]) -> Result<(), Problem> {
        let (mut group, mut record) = (-1, -1);
        for row in rows {
            if *row != group {
                group = *row;
                record = match self.records.get(&group) {
                    _ if group < 0 => -1,
                    Some(&record) => record,
                    None => {
                        self.reserve(1)?;
                        self.add(group)
                    }
                };
            }
            *row = record;
        }
        Ok(())
    }

    /// Takes the records away that came last, until there are `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        let Self { groups, records } = self;
        for group in groups.drain(len.min(groups.len())..) {
            records.remove(&group);
        }
    }

    /// The groups in ascending order, and the place of each record's group among them.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(super) fn sorted(&self) -> Result<(Vec<i64>, Vec<i64>), Problem> {
        let mut order = try_vec(WHAT, self.len())?;
        order.extend(0..self.len());
        order.sort_unstable_by_key(|&record: &usize| self.groups[record]);
        let mut groups = try_vec(WHAT, self.len())?;
        groups.extend(order.iter().map(|&record| self.groups[record]));
        let mut places = try_vec(WHAT, self.len())?;
        places.resize(self.len(), 0);
        for (&record, place) in order.iter().zip(0..) {
            places[record] = place;
        }
        Ok((groups, places))
    }

    fn reserve(&mut self, more: usize) -> Result<(), Problem> {
        let room = self.groups.try_reserve(more);
        let room = room.is_ok() && self.records.try_reserve(more).is_ok();
        match room {
            true => Ok(()),
            false => Err(Problem::Memory {
                what: WHAT.into(),
                needed: self.memory() as u128 * 2,
                available: self.memory() as u128,
            }),
        }
    }

    /// Gives a group the next record. There is room.
    fn add(&mut self, group: i64) -> i64 {
        let record = self.groups.len().cast_signed() as i64;
        self.groups.push(group);
        self.records.insert(group, record);
        record
    }
}

#[cfg(test)]
mod tests {
    use super::Touched;

    #[test]
    fn groups_get_records_in_the_order_in_which_they_come() {
        let mut touched = Touched::first(2).unwrap();
        let mut rows = [7, 7, 1, -1, 3, 0];
        touched.find(&mut rows).unwrap();
        assert_eq!(rows, [2, 2, 1, -1, 3, 0]);
        let sorted = (vec![0, 1, 3, 7], vec![0, 1, 3, 2]);
        assert_eq!(touched.sorted().unwrap(), sorted);
        touched.truncate(3);
        assert_eq!(touched.groups(), [0, 1, 7]);
        let mut rows = [3, 7];
        touched.find(&mut rows).unwrap();
        assert_eq!(rows, [3, 2]);
    }

    #[test]
    fn groups_that_were_written_ascend() {
        assert_eq!(Touched::of(&[0, 3]).unwrap().unwrap().len(), 2);
        for wrong in [&[3, 3][..], &[3, 0], &[-1, 0]] {
            assert!(Touched::of(wrong).unwrap().is_none());
        }
    }
}
