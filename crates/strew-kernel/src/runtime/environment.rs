//! All settings of the environment, checked at once.

use crate::cpu::isa::{InstructionSet, instruction_set};
use crate::error::Problem;
use crate::runtime::settings::{
    ISA, KEPT, MEMORY, PIN, THREADS, kept, memory, parse_bytes, parse_switch, parse_threads,
    pins_threads, read,
};
use crate::runtime::threads::num_threads;

/// Checks `STREW_NUM_THREADS`, `STREW_MEMORY_LIMIT`, `STREW_KEPT_MEMORY`, `STREW_ISA` and
/// `STREW_PIN_THREADS`, so that a slip in them is not overlooked: what cannot be read is otherwise
/// taken as not set.
///
/// Also looks up everything that is looked up once: these settings, the cores, the instruction set.
/// The first run would do so too, but a process that another thread forks just then would wait
/// forever for a lookup that nobody ends. So a program that forks calls this first, as the Python
/// package does.
///
/// # Errors
/// [`Problem::Value`] for a variable that is set to something else than a number of threads, a
/// number of bytes as [`parse_bytes`] takes it, an instruction set of this computer, or 0 or 1.
pub fn check_environment() -> Result<(), Problem> {
    read(THREADS, parse_threads).map(drop)?;
    read(MEMORY, parse_bytes).map(drop)?;
    read(KEPT, parse_bytes)?;
    read(ISA, InstructionSet::parse)?;
    read(PIN, parse_switch)?;
    let _ = (
        memory(),
        kept(),
        num_threads(),
        instruction_set(),
        pins_threads(),
    );
    // rayon's queues ask for it.
    crossbeam_epoch::default_collector();
    Ok(())
}
