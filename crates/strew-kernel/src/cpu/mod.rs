//! cpu.

#[macro_use]
pub mod isa;
pub mod fp_env;
pub mod nontemporal;
pub mod prefetch;
pub mod vectorized;

/// A line of a cache in bytes: memory is moved by lines.
pub const LINE: usize = 64;
