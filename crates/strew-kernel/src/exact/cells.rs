//! The cells that values are added to: a list, neighbours, or the index values of a line.
//!
//! # Unsafe
//!
//! - Buys: index values that are read in the loop that adds
//! - Measured: blocks of a walk, whose offsets are written and read back: 16M float32 values into
//!   1,000 cells 2.4, into 1M cells 1.4
//! - Holds: the caller of `IndexValues::new` promises them

use crate::walk::line::once;
use std::marker::PhantomData;

/// The cell of each of some values.
pub(crate) trait Cells: Copy {
    /// Some of them, of which there must be enough.
    fn part(self, from: usize, len: usize) -> Self;

    /// The cell of value `n`, which must be one of them. It may not exist.
    fn at(self, n: usize) -> usize;
}

impl Cells for &[usize] {
    #[inline(always)]
    fn part(self, from: usize, len: usize) -> Self {
        &self[from..from + len]
    }

    #[inline(always)]
    fn at(self, n: usize) -> usize {
        self[n]
    }
}

/// Neighbouring cells.
#[derive(Clone, Copy)]
pub(crate) struct Neighbours {
    pub(crate) first: usize,
}

impl Cells for Neighbours {
    #[inline(always)]
    fn part(self, from: usize, _: usize) -> Self {
        Self {
            first: self.first + from,
        }
    }

    #[inline(always)]
    fn at(self, n: usize) -> usize {
        self.first + n
    }
}

/// Values of an index that another thread may change: each is read when it is asked for. A negative
/// one is no cell.
#[derive(Clone, Copy)]
pub(crate) struct IndexValues<'i, I> {
    first: *const I,
    len: usize,
    index: PhantomData<&'i [I]>,
}

impl<I> IndexValues<'_, I> {
    /// # Safety
    /// There must be `len` aligned and readable values from `first` on, as long as these are used.
    pub(crate) unsafe fn new(first: *const I, len: usize) -> Self {
        Self {
            first,
            len,
            index: PhantomData,
        }
    }
}

impl<I: Copy + Into<i64>> Cells for IndexValues<'_, I> {
    #[inline(always)]
    fn part(self, from: usize, len: usize) -> Self {
        assert!(from <= self.len && len <= self.len - from);
        Self {
            first: self.first.wrapping_add(from),
            len,
            ..self
        }
    }

    #[inline(always)]
    fn at(self, n: usize) -> usize {
        assert!(n < self.len);
        // SAFETY: the caller of `new` promises the values, of which this is one.
        let value: i64 = unsafe { once(self.first.add(n)) }.into();
        value as usize
    }
}
