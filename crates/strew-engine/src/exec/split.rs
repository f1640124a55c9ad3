//! One run made several: each part has destinations of its own, so parts need not wait for each
//! other, and within a part the order of the updates is kept.

use strew_kernel::runtime::machine::{L2, PAGE};

/// A stretch shorter than this in bytes would share its cache lines with its neighbours.
pub(crate) const LINE: usize = 64;

/// A piece of a row shorter than this is not worth a thread of its own: the hardware's
/// prefetching brings in the rest of the row as well, so every thread reads all of the source.
pub(crate) const PIECE_OF_ROW: usize = PAGE;

/// A part that reads the whole index gets its time back with rows of so many bytes,
pub(crate) const OWNED_ROW: usize = 32;

/// or where random access to the destination misses every cache: beyond so many bytes.
pub(crate) const OWNED_TABLE: usize = L2;

/// Values of the index that are looked at to cut the destination into parts of equal work, at least
/// and at most,
pub(crate) const SAMPLE: [usize; 2] = [512, 4096];

/// and one of so many in between. With the square root of their number, parts become equal.
pub(crate) const SAMPLED: usize = 1024;
