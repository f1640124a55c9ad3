//! Work cut into pieces for threads: how many threads pay, and a slice as disjoint parts.

use crate::runtime::threads::available;

/// Minimum number of updates for each thread.
const EACH: usize = 1 << 17;

/// Threads that are worth it for so many updates.
pub(crate) fn threads(updates: usize) -> usize {
    available().min(updates / EACH).max(1)
}

/// Cuts a slice into parts of these lengths.
pub(crate) fn cut_up<T>(
    mut slice: &mut [T],
    lengths: impl Iterator<Item = usize>,
) -> Vec<&mut [T]> {
    let part = |length| {
        slice
            .split_off_mut(..length)
            .expect("the parts are as long as the slice")
    };
    lengths.map(part).collect()
}
