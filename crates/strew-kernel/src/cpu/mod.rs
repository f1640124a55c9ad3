//! cpu.

#[macro_use]
pub mod isa;
pub mod fp_env;
pub mod nontemporal;
pub mod prefetch;
pub mod vectorized;
