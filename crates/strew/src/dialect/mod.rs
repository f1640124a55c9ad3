//! What each framework says: its operators under their own names, checked by its own rules.
//!
//! A dialect is one file. It checks the arguments as its framework does, lowers them to one
//! [`Scatter`](crate::scatter::Scatter) (or to what comes to several passes of one), and lists its operators as data. It holds no data loop.

mod call;
mod composed;
mod delivered;
mod gathers;
mod indexing;
mod operator;
mod own;
mod plan;
mod steps;
mod tuples;

pub mod jax;
pub mod mindspore;
pub mod mxnet;
pub mod numpy;
pub mod numpy_groupies;
pub mod onnx;
pub mod openvino;
pub mod paddle;
pub mod stablehlo;
pub mod tensorflow;
pub mod torch;
pub mod torch_scatter;

pub(crate) use call::Context;
pub use call::{Call, Ready};
pub(crate) use composed::plan_of;
pub use operator::{Argument, Arguments, Integers, Kind, Operator, Value, find};
pub(crate) use operator::{axis, expect_dtype, expect_shape};
pub use own::{ScatterOptions, gather, gather_dyn, scatter, scatter_dyn, scatter_into};
pub use plan::{Aggregate, AggregateOptions, Plan, Reduce};
pub(crate) use plan::{Along, Passes, accumulators, divisor, rounded};

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
    own::OPERATORS,
];

use crate::tensor::{DynTensor, Element, Tensor};

/// The new tensor of an operator that makes one.
fn tensor(made: Option<DynTensor>) -> DynTensor {
    made.expect("an operator that is not in place makes a tensor")
}

/// Likewise, as the type that its arguments had. Typed arguments hold only valid elements, and
/// operators write only valid ones.
fn typed<T: Element>(made: Option<DynTensor>) -> Tensor<T> {
    tensor(made)
        .typed()
        .expect("the output's type is that of the updates")
}
