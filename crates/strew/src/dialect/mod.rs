//! What each framework says: its operators under their own names, checked by its own rules.
//!
//! A dialect is one file. It checks the arguments as its framework does, lowers them to one
//! [`Scatter`](strew_engine::scatter::Scatter) (or to what comes to several passes of one), and lists its operators as data. It holds no data loop.

pub(crate) mod framework;
pub mod jax;
pub mod mindspore;
pub mod mxnet;
pub mod numpy;
pub mod numpy_groupies;
pub mod onnx;
pub mod openvino;
pub mod paddle;
pub mod stablehlo;
pub(crate) mod strew;
pub mod tensorflow;
pub mod torch;
pub mod torch_scatter;

use strew_kernel::tensor::{DynTensor, Element, Tensor};

pub use crate::dialect::framework::call::{Call, Ready};
pub use crate::dialect::framework::operator::{
    Argument, Arguments, Integers, Kind, Operator, Value, find,
};
pub use crate::dialect::strew::{
    ScatterOptions, gather, gather_dyn, scatter, scatter_dyn, scatter_into,
};
pub use strew_engine::plan::Plan;
pub use strew_engine::plan::aggregate::{Aggregate, AggregateOptions};
pub use strew_engine::plan::reduce::Reduce;
/// Every operator of every dialect.
pub static OPERATORS: &[&[Operator]] = &[
    mxnet::OPERATORS,
    onnx::OPERATORS,
    openvino::OPERATORS,
    paddle::OPERATORS,
    stablehlo::OPERATORS,
    torch::OPERATORS,
    jax::OPERATORS,
    mindspore::OPERATORS,
    torch_scatter::OPERATORS,
    tensorflow::OPERATORS,
    numpy::OPERATORS,
    numpy_groupies::OPERATORS,
    strew::OPERATORS,
];

/// The new tensor of an operator that makes one.
pub(crate) fn tensor(made: Option<DynTensor>) -> DynTensor {
    made.expect("an operator that is not in place makes a tensor")
}

/// Likewise, as the type that its arguments had. Typed arguments hold only valid elements, and
/// operators write only valid ones.
pub(crate) fn typed<T: Element>(made: Option<DynTensor>) -> Tensor<T> {
    tensor(made)
        .typed()
        .expect("the output's type is that of the updates")
}
