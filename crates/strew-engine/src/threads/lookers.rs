//! How many threads check an index whose updates one thread runs.

use crate::thresholds::LOOKED_AT;
use strew_kernel::runtime::threads::available;

/// The number of threads that check an index of `bytes` bytes, for a run on one thread.
pub(crate) fn lookers(bytes: usize) -> usize {
    available().min(bytes / LOOKED_AT).max(1)
}
