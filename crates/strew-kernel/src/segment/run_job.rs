//! The arguments of the loops over runs: what [`Runs`](crate::segment::runs::Runs) has checked
//! once, as raw pointers and byte strides.
//!
//! A run is a contiguous range of the source's rows. Each run is reduced into one row of the
//! destination, and of the arg output if there is one.

use crate::ops::reduction::Combine;

/// What the running result of a row starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStart {
    /// The identity: 0 for a sum, 1 for a product, the first number for a minimum or maximum. An
    /// empty run gives 0, or 1 for a product.
    Nothing,
    /// The identity, but an empty run leaves its row as it is.
    Replaced,
    /// The cell's own value. A minimum or maximum leaves a cell that no value beats.
    Current,
    /// For a minimum or maximum: the finite value that every other one beats. A cell that no value
    /// beats becomes 0.
    FiniteExtreme,
}

/// The reduction of each run.
#[derive(Clone, Copy, Debug)]
pub struct RunFold {
    /// A sum, a product, or a minimum or maximum; those that also give positions ignore NaN.
    pub combine: Combine,
    pub start: RunStart,
    /// Divide by the number of the run's rows; integers are rounded toward zero.
    pub mean: bool,
    /// The position that is written where no element wins a minimum or maximum.
    pub none: i64,
}

/// A run that has been checked: its byte offsets in the three arrays.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) src: isize,
    pub(crate) dst: isize,
    pub(crate) arg: isize,
    /// The number of source rows, and the number of the first one.
    pub(crate) count: usize,
    pub(crate) first: usize,
}

/// Bytes per step in source, destination and arg output.
pub(crate) type Steps = [isize; 3];

/// The arguments of the loops over runs.
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
