//! All settings of the environment, checked at once.

use crate::error::Problem;
use crate::runtime::settings::{
    KEPT, MEMORY, THREADS, kept, memory, parse_bytes, parse_threads, read,
};
use crate::runtime::threads::num_threads;
use fearless_simd::Level;

/// Checks `STREW_NUM_THREADS`, `STREW_MEMORY_LIMIT` and `STREW_KEPT_MEMORY`, so that a slip in them
/// is not overlooked: what cannot be read is otherwise taken as not set.
///
/// Also looks up everything that is looked up once: these settings, the cores, the instruction set.
/// The first run would do so too, but a process that another thread forks just then would wait
/// forever for a lookup that nobody ends. So a program that forks calls this first, as the Python
/// package does.
///
/// # Errors
/// [`Problem::Value`] for a variable that is set to something else than a number of threads, or a
/// number of bytes as [`parse_bytes`] takes it.
pub fn check_environment() -> Result<(), Problem> {
    read(THREADS, parse_threads).map(drop)?;
    read(MEMORY, parse_bytes).map(drop)?;
    read(KEPT, parse_bytes)?;
    let _ = (memory(), kept(), num_threads(), Level::new());
    // rayon's queues ask for it.
    crossbeam_epoch::default_collector();
    Ok(())
}
