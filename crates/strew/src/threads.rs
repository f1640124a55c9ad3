//! How many threads a run may use.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What was set; 0 stands for nothing.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets how many threads a run may use; `None` goes back to the default.
///
/// Results do not depend on it. This version's strategies all run on the calling thread, so
/// neither does the time.
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
