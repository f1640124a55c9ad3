//! What a run needs of the machine and the process.
//!
//! | file | holds |
//! |---|---|
//! | `threads.rs` | the pool, and work that is shared out |
//! | `affinity.rs` | a processor for each thread that is woken |
//! | `chunks.rs` | how many threads pay, and slices as disjoint parts |
//! | `settings.rs` | environment variables and what is set instead |
//! | `environment.rs` | all settings checked at once |
//! | `machine.rs` | the caches that thresholds are written for, and the measured rates of memory |
//! | `monitor.rs` | progress and interrupts |

pub mod affinity;
pub mod chunks;
pub mod environment;
pub mod machine;
pub mod monitor;
pub mod settings;
pub mod threads;
