//! What the processor offers.
//!
//! | file | holds |
//! |---|---|
//! | `isa.rs` | one dispatch over instruction sets: AVX-512, AVX2, the baseline |
//! | `prefetch.rs` | requests for memory that will be read |
//! | `nontemporal.rs` | writes that bypass the caches |
//! | `vectorized.rs` | other crates' loops for each instruction set, copies past the caches |
//! | `fp_env.rs` | the floating-point environment of a run |

#[macro_use]
pub mod isa;
pub mod fp_env;
pub mod nontemporal;
pub mod prefetch;
pub mod vectorized;

/// A line of a cache in bytes: memory is moved by lines.
pub const LINE: usize = 64;
