//! Run job.

use crate::ops::reduction::Combine;

/// What the running result of a row starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStart {
    /// Nothing: a sum from 0, a product from 1, an extreme from the first number. A row without any becomes 0,
    /// or 1.
    Nothing,
    /// Likewise, but a row without any stays as it is.
    Replaced,
    /// What the cell holds. A strict extreme leaves the cell that it does not beat.
    Current,
    /// Of an extreme, the finite value that every other one beats; where none does, the cell
    /// becomes 0.
    FiniteExtreme,
}

/// What is done with each run.
#[derive(Clone, Copy, Debug)]
pub struct RunFold {
    /// A sum, a product, or a minimum or maximum; those that also give positions ignore NaN.
    pub combine: Combine,
    pub start: RunStart,
    /// Divide by the number of the run's rows; integers are rounded toward zero.
    pub mean: bool,
    /// The position of an extreme that nobody has won.
    pub none: i64,
}

/// A run whose rows have been found: byte offsets in the three arrays.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) src: isize,
    pub(crate) dst: isize,
    pub(crate) arg: isize,
    /// How many rows of the source, and the number of the first one.
    pub(crate) count: usize,
    pub(crate) first: usize,
}

/// Bytes per step in source, destination and arg output.
pub(crate) type Steps = [isize; 3];

/// What the loops work on.
pub(crate) struct Job<'j> {
    pub(crate) runs: &'j [Run],
    pub(crate) src: *const u8,
    pub(crate) dst: *mut u8,
    pub(crate) arg: *mut u8,
    /// Bytes from one row of the source to the next.
    pub(crate) src_row: isize,
    /// The innermost axis of a row.
    pub(crate) len: usize,
    pub(crate) steps: Steps,
    pub(crate) fold: RunFold,
}
