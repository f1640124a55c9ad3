//! How many threads a run may use, and the pool that they live in.

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What was set; 0 stands for nothing.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets how many threads a run may use; `None` goes back to the default. Results do not depend
/// on it.
///
/// A call from inside a rayon pool runs in that pool, on at most as many threads as it has.
pub fn set_num_threads(threads: Option<NonZeroUsize>) {
    THREADS.store(threads.map_or(0, NonZeroUsize::get), Ordering::Relaxed);
}

/// How many threads a run may use: what was set, else the environment variable
/// `STREW_NUM_THREADS`, else the number of cores.
#[must_use]
pub fn num_threads() -> NonZeroUsize {
    static DEFAULT: OnceLock<NonZeroUsize> = OnceLock::new();
    NonZeroUsize::new(THREADS.load(Ordering::Relaxed)).unwrap_or_else(|| {
        *DEFAULT.get_or_init(|| {
            let set = std::env::var("STREW_NUM_THREADS").ok();
            set.and_then(|v| v.trim().parse().ok())
                .or_else(|| std::thread::available_parallelism().ok())
                .unwrap_or(NonZeroUsize::MIN)
        })
    })
}

/// How many threads a run that begins here has, the calling one included.
pub(crate) fn available() -> usize {
    match rayon::current_thread_index() {
        Some(_) => num_threads().get().min(rayon::current_num_threads()),
        None => num_threads().get(),
    }
}

/// Runs `work` on the calling thread; what it spawns runs on others, and is waited for.
///
/// Where no other thread can be had, what is spawned runs here.
pub(crate) fn scope<'s>(threads: usize, work: impl FnOnce(&Scope<'s>)) {
    if rayon::current_thread_index().is_some() {
        return rayon::in_place_scope(work);
    }
    match pool(threads.saturating_sub(1).max(1)) {
        Some(pool) => pool.in_place_scope(work),
        None => rayon::in_place_scope(work),
    }
}

/// A pool of our own with that many workers. Kept until another number is asked for, and made
/// anew in a forked process, where the workers of its parent do not exist.
fn pool(workers: usize) -> Option<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if let Some((of, size, pool)) = &*kept
        && (*of, *size) == (process, workers)
    {
        return Some(pool.clone());
    }
    let made = ThreadPoolBuilder::new()
        .num_threads(workers)
        .thread_name(|n| format!("strew-{n}"))
        .build();
    let pool = Arc::new(made.ok()?);
    if let Some((of, _, old)) = kept.replace((process, workers, pool.clone()))
        && of != process
    {
        // Its workers stayed in the parent process; waiting for them would never end.
        std::mem::forget(old);
    }
    Some(pool)
}
