//! A cache of freed memory mappings for later results and working tables.
//!
//! The first touch of a fresh page costs more than what most strategies then do with it, because
//! the system must find and clear the page. On Linux cached mappings are marked `MADV_FREE`, so a
//! system that is short of memory takes them before anything in use.
//!
//! # Unsafe
//!
//! - Buys: freed memory that the system may take
//! - Measured: nothing kept: W2a 1.07, W1c 1.19, W4 1.43
//! - Holds: nothing uses the mapping any more

use crate::tensor::free_memory::left;
use memmap2::MmapMut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

/// Bytes that are cached, at most, unless something else is set.
const DEFAULT: u64 = 1 << 30;

/// Without a limit that was set, at most one of this many parts of the free memory is cached.
const PART: u64 = 8;

/// The caller's limit in bytes; `u64::MAX` stands for "none set".
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets how many bytes of freed results and working tables are kept for the next ones; 0 keeps
/// nothing, `None` goes back to the default: the environment variable `STREW_KEPT_MEMORY` if it is
/// set, else an eighth of the memory that is free when the default is first needed, at most 1 GiB.
///
/// Only memory of at least 2 MiB is cached, for a result or table that is not much smaller. The
/// system takes it when it is short of memory (on Linux, by `MADV_FREE`).
pub fn set_kept_memory(bytes: Option<u64>) {
    LIMIT.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
    let over = lock().map(|mut cached| make_room(&mut cached, 0));
    drop(over);
}

/// How many bytes of freed results and working tables are cached, at most.
#[must_use]
pub fn kept_memory() -> u64 {
    match LIMIT.load(Ordering::Relaxed) {
        u64::MAX => crate::runtime::settings::kept().unwrap_or_else(default),
        set => set,
    }
}

/// What is cached, at most, on a machine or in a control group with this much free memory. It is
/// asked once: what this process takes afterwards must not shrink it.
fn default() -> u64 {
    static FOUND: OnceLock<u64> = OnceLock::new();
    *FOUND.get_or_init(|| default_of(left()))
}

fn default_of(free: Option<u64>) -> u64 {
    free.map_or(DEFAULT, |free| (free / PART).min(DEFAULT))
}

/// The cached mappings, the most recent one last. `None` if another thread holds the lock for long;
/// the caller then does without. In a child that was forked while the lock was held it stays
/// `None`.
fn lock() -> Option<MutexGuard<'static, Vec<MmapMut>>> {
    /// The parts of a run ask at the same time, and are done within some hundred instructions.
    const TRIES: usize = 1000;
    static CACHED: Mutex<Vec<MmapMut>> = Mutex::new(Vec::new());
    for _ in 0..TRIES {
        match CACHED.try_lock() {
            Ok(cached) => return Some(cached),
            Err(TryLockError::Poisoned(cached)) => return Some(cached.into_inner()),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
    None
}

/// A mapping of at least `bytes` bytes and not many more, with whatever is in it, if one is cached.
pub(super) fn take(bytes: usize) -> Option<MmapMut> {
    let mut cached = lock()?;
    let fits = |mapping: &MmapMut| (bytes..=bytes + bytes / 4).contains(&mapping.len());
    // Of several, the one that was given last: it is the likeliest to be in a cache still.
    let best = (0..cached.len())
        .rev()
        .filter(|&k| fits(&cached[k]))
        .min_by_key(|&k| cached[k].len())?;
    Some(cached.remove(best))
}

/// Keeps a mapping, if it is not too large; those that were kept longest make way.
pub(super) fn give(mapping: MmapMut) {
    if mapping.len() as u64 > kept_memory() {
        return;
    }
    #[cfg(target_os = "linux")]
    // SAFETY: the buffer that used the mapping is gone, and the next user expects no content. If
    // the system refuses the advice, the memory is cached all the same.
    let _ = unsafe { mapping.unchecked_advise(memmap2::UncheckedAdvice::Free) };
    let over = lock().map(|mut cached| {
        let over = make_room(&mut cached, mapping.len());
        cached.push(mapping);
        over
    });
    drop(over);
}

/// Gives everything back to the system. False if nothing was cached.
pub(super) fn give_back() -> bool {
    let all = lock().map(|mut cached| std::mem::take(&mut *cached));
    all.is_some_and(|all| !all.is_empty())
}

/// Removes the oldest mappings until `bytes` more are within the limit. The caller drops them after
/// it released the lock, because unmapping is slow.
fn make_room(cached: &mut Vec<MmapMut>, bytes: usize) -> Vec<MmapMut> {
    let limit = kept_memory();
    let sizes = cached.iter().map(|mapping| mapping.len() as u64);
    let mut total = sizes.sum::<u64>() + bytes as u64;
    let mut count = 0;
    while total > limit && count < cached.len() {
        total -= cached[count].len() as u64;
        count += 1;
    }
    cached.drain(..count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_was_given_last() {
        let size = |mapping: MmapMut| mapping.len();
        let page = |n: usize| MmapMut::map_anon(n << 12).unwrap();
        set_kept_memory(Some(100 << 12));
        (1..=3).for_each(|n| give(page(30 + n)));
        assert_eq!(take(31 << 12).map(size), Some(31 << 12));
        give(page(31));
        give(page(20));
        assert_eq!(take(36 << 12).map(size), None, "nothing is that large");
        assert_eq!(
            take(15 << 12).map(size),
            None,
            "20 pages are far more than 15"
        );
        assert_eq!(take(32 << 12).map(size), Some(33 << 12), "32 made way");
        give(page(101));
        assert_eq!(take(101 << 12).map(size), None, "no more than the limit");
        assert_eq!(take(18 << 12).map(size), Some(20 << 12));
        set_kept_memory(Some(0));
        assert_eq!(take(31 << 12).map(size), None);
        set_kept_memory(None);
        assert_eq!(kept_memory(), default());
    }

    #[test]
    fn a_small_machine_keeps_less() {
        assert_eq!(default_of(None), DEFAULT);
        assert_eq!(default_of(Some(64 << 30)), DEFAULT);
        assert_eq!(default_of(Some(2 << 30)), 256 << 20);
        assert_eq!(default_of(Some(0)), 0);
    }
}
