//! runtime.

pub mod affinity;
pub mod bandwidth;
pub mod chunks;
pub mod monitor;
pub mod settings;
pub mod threads;
