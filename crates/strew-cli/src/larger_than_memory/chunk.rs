//! The updates of a call, some at a time.

use super::key::{Beyond, Key, LEFT_OUT};
use super::updates::{Entry, Updates, zeros};
use crate::failure::{Failure, Result};
use crate::read::{Loaded, Series};
use strew::{Bounds, DType, DynTensor, DynView};

/// A chunk takes this part of the limit, and at most `LARGEST` bytes.
const PART: u64 = 16;
const LARGEST: u64 = 32 << 20;

/// Where updates come from.
pub(super) struct Source {
    src: Series,
    index: Series,
    key: Key,
    bounds: Bounds,
    entry: Entry,
    /// How many updates there are, and how many of them are read at a time.
    updates: usize,
    most: usize,
}

/// Updates that come one behind the other.
pub(super) struct Chunk {
    /// The number of the first.
    pub(super) first: usize,
    /// The cell of each.
    pub(super) cells: Vec<u64>,
    pub(super) values: DynTensor,
    /// How many bytes were read.
    pub(super) bytes: u64,
}

/// Why there is no chunk.
pub(super) enum Unread {
    /// An index value names no cell.
    Beyond(Beyond),
    Failed(Failure),
}

impl Source {
    pub(super) fn new(
        src: Series,
        index: Series,
        key: Key,
        bounds: Bounds,
        entry: Entry,
        limit: u64,
    ) -> Self {
        let elements: usize = src.shape().iter().product();
        let each: usize = entry.shape.iter().product();
        // The numbers are read, become int64, and then cells.
        let numbers = key.numbers() * (index.dtype().size() + 8) + 8;
        let most = most(limit, entry.bytes() + numbers);
        Self {
            src,
            index,
            key,
            bounds,
            entry,
            updates: elements.checked_div(each).unwrap_or(0),
            most,
        }
    }

    /// How many bytes will be read.
    pub(super) fn bytes(&self) -> u64 {
        let numbers = self.updates * self.key.numbers() * self.index.dtype().size();
        self.src.bytes().saturating_add(numbers as u64)
    }

    /// How long the values are along the axis of the index.
    pub(super) fn len(&self) -> usize {
        match &self.key {
            Key::Elements(axis) | Key::Slices(axis) => axis.len,
            Key::Tuples(_) => self.updates,
        }
    }

    /// The place along that axis of an update.
    pub(super) fn place(&self, update: u64) -> u64 {
        match &self.key {
            Key::Elements(axis) => update / axis.inner as u64 % axis.len as u64,
            Key::Slices(axis) => update % axis.len as u64,
            Key::Tuples(_) => update,
        }
    }

    /// The updates from `first` on; `None` at the end.
    pub(super) fn chunk(&self, first: usize) -> Option<Result<Chunk, Unread>> {
        let count = self.most.min(self.updates - first);
        (count > 0).then(|| self.read(first, count))
    }

    fn read(&self, first: usize, count: usize) -> Result<Chunk, Unread> {
        let numbers = self.numbers(first, count).map_err(Unread::Failed)?;
        let mut cells = Vec::with_capacity(count);
        let (bounds, _) = self.bounds.of_index(&DynView::nothing(self.index.dtype()));
        let named = self.key.name(&numbers, first, bounds, &mut cells);
        named.map_err(|beyond| {
            let before = first * self.key.numbers();
            Unread::Beyond(Beyond {
                at: before + beyond.at,
                ..beyond
            })
        })?;
        let each: usize = self.entry.shape.iter().product();
        let values = self.src.elements(first * each, count * each);
        let values = values.map_err(|failure| Unread::Failed(failure.for_argument("src")))?;
        let shaped = values.reshape(&self.entry.times(count));
        let values = shaped.map_err(|_| {
            Unread::Failed(Failure::new("its elements cannot be counted").for_argument("src"))
        })?;
        Ok(Chunk {
            first,
            cells,
            bytes: (values.as_bytes().len() + numbers.len() * self.index.dtype().size()) as u64,
            values,
        })
    }

    /// The numbers of some updates.
    fn numbers(&self, first: usize, count: usize) -> Result<Vec<i64>> {
        let each = self.key.numbers();
        // Slices along the axis have the same numbers, whatever the axes before it are.
        let (len, mut at) = match &self.key {
            Key::Slices(axis) => (axis.len, first % axis.len.max(1)),
            _ => (self.updates * each, first * each),
        };
        let mut left = count * each;
        let mut numbers = Vec::with_capacity(left);
        while left > 0 {
            let now = left.min(len - at);
            let some = self.index.elements(at, now)?;
            let (_, some) = self.bounds.of_index(&some.view());
            let some = some.to_integers();
            numbers.extend(some.ok_or_else(|| Failure::new("it does not hold integers"))?);
            left -= now;
            at = 0;
        }
        Ok(numbers)
    }

    /// Where in the index a number is, axis by axis.
    pub(super) fn position(&self, number: usize) -> Vec<usize> {
        let shape = self.index.shape();
        let numbers = shape.iter().product::<usize>().max(1);
        let mut left = number % numbers;
        let mut position = vec![0; shape.len()];
        for (place, size) in position.iter_mut().zip(&shape).rev() {
            *place = left % size.max(&1);
            left /= size.max(&1);
        }
        position
    }
}

impl Chunk {
    /// The updates of a result that is one block, in order.
    pub(super) fn updates(self, entry: &Entry) -> Result<Updates> {
        let kept: Vec<usize> = (0..self.cells.len())
            .filter(|&n| self.cells[n] != LEFT_OUT)
            .collect();
        let mut cells = zeros(DType::I64, &[kept.len()])?;
        let places = cells.as_bytes_mut().as_chunks_mut::<8>().0.iter_mut();
        for (place, &n) in places.zip(&kept) {
            *place = self.cells[n].to_ne_bytes();
        }
        let values = match kept.len() == self.cells.len() {
            true => self.values,
            false => {
                let size = entry.bytes();
                let mut values = zeros(entry.dtype, &entry.times(kept.len()))?;
                let (to, from) = (values.as_bytes_mut(), self.values.as_bytes());
                for (to, n) in to.chunks_exact_mut(size).zip(kept) {
                    to.copy_from_slice(&from[n * size..(n + 1) * size]);
                }
                values
            }
        };
        Ok(Updates {
            cells: Loaded::owned(cells),
            values: Loaded::owned(values),
            numbers: Vec::new(),
        })
    }
}

/// How many things of this size make a chunk.
pub(super) fn most(limit: u64, bytes: usize) -> usize {
    let most = (limit / PART).min(LARGEST) / bytes.max(1) as u64;
    usize::try_from(most).unwrap_or(usize::MAX).max(1)
}
