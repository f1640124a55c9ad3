//! How many threads check an index whose updates one thread runs.

use strew_kernel::runtime::threads::available;

/// Bytes of an index that a thread must have which does nothing but look at it.
pub(crate) const LOOKED_AT: usize = 4 << 20;

/// How many threads look at so many bytes of an index, of a run that goes on with one.
pub(crate) fn lookers(bytes: usize) -> usize {
    available().min(bytes / LOOKED_AT).max(1)
}
