//! Lookers.

use crate::exec::check_index::LOOKED_AT;
use strew_kernel::runtime::threads::available;

/// How many threads look at so many bytes of an index, of a run that goes on with one.
pub(crate) fn lookers(bytes: usize) -> usize {
    available().min(bytes / LOOKED_AT).max(1)
}
