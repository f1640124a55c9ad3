//! How many threads check an index whose updates one thread runs.

use strew_kernel::runtime::machine::WAKE;
use strew_kernel::runtime::threads::available;

/// Bytes of an index that a thread must have which does nothing but look at it.
pub(crate) const LOOKED_AT: usize = 4 * WAKE;

/// The number of threads that check an index of `bytes` bytes, for a run on one thread.
pub(crate) fn lookers(bytes: usize) -> usize {
    available().min(bytes / LOOKED_AT).max(1)
}
