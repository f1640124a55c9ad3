//! The operators as plain loops, typed from their documents.
//!
//! Nothing here uses the engine: arrays are lists of bits with a shape, numbers have their own
//! arithmetic, and every operator is one loop over its updates in row-major order. It is slow, and
//! meant to be read.

// Every test binary uses a part of it.
#![allow(dead_code, unused_imports)]

pub(crate) mod array;
pub(crate) mod canonical;
pub(crate) mod composite;
pub(crate) mod exact;
pub(crate) mod grad;
pub(crate) mod mindspore;
pub(crate) mod mxnet;
pub(crate) mod number;
pub(crate) mod openvino;
pub(crate) mod own;
pub(crate) mod paddle;
pub(crate) mod segment;
pub(crate) mod torch;
pub(crate) mod torch_scatter;

pub(crate) use array::{Array, Outcome, coordinates};
pub(crate) use number::Num;
