//! runtime.

pub mod affinity;
pub mod bandwidth;
pub mod chunks;
pub mod environment;
pub mod monitor;
pub mod settings;
pub mod threads;
