//! One run of the engine compared with the naive loop, bit for bit: what the properties and the fuzzer share.
//! A case says what is made; how its arrays and values come about follows from its seed.

// Every binary uses a part of it.
#![allow(dead_code, unused_imports)]

pub(crate) mod canonical;
pub(crate) mod segment;
pub(crate) mod torch;
pub(crate) mod torch_scatter;

use crate::support::{Random, Spread, Style};
use strew::DType;

/// What every case starts from: a type, a kind of values, a spread of indices, and a seed for
/// everything that need not shrink.
#[derive(Clone, Debug)]
pub(crate) struct Basis {
    pub(crate) dtype: DType,
    pub(crate) style: Style,
    pub(crate) spread: Spread,
    pub(crate) seed: u64,
}

impl Basis {
    pub(crate) fn random(&self) -> Random {
        Random(self.seed)
    }
}
