//! What a run needs of the machine and the process.
//!
//! | file | holds |
//! |---|---|
//! | `threads.rs` | the pool, and work that is shared out |
//! | `affinity.rs` | a processor for each thread that is woken |
//! | `chunks.rs` | how many threads pay, and slices as disjoint parts |
//! | `settings.rs` | environment variables and what is set instead |
//! | `environment.rs` | all settings checked at once |
//! | `bandwidth.rs` | the measured rates of this machine's memory |
//! | `monitor.rs` | progress and interrupts |

pub mod affinity;
pub mod bandwidth;
pub mod chunks;
pub mod environment;
pub mod monitor;
pub mod settings;
pub mod threads;
