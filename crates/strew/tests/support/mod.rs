//! What the tests of the engine share: random arrays, arrays laid out in guarded memory, and runs
//! of one operator in every way there is.

// Every test binary uses a part of it.
#![allow(dead_code, unused_imports)]

pub(crate) mod derivatives;
pub(crate) mod memory;
pub(crate) mod random;
pub(crate) mod ways;

pub(crate) use memory::{Placement, Strided};
pub(crate) use random::{INTEGERS, Random, Spread, Style};
