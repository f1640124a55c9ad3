//! What each framework says: its operators under their own names, checked by its own rules.
//!
//! A dialect is one file, or a folder with one file per family of operators. It checks the
//! arguments as its framework does, lowers them to one [`Scatter`](strew_engine::scatter::Scatter)
//! or [`Gather`](strew_engine::scatter::gather::Gather) (or to several passes), and lists its
//! operators as data. It holds no data loop.
//!
//! # How a dialect is written
//!
//! A file of operators has these parts, in this order. `tensorflow/rows.rs` is a short example.
//!
//! 1. A header: the framework, its version, and the documents that the semantics come from (in a
//!    folder, `mod.rs` has it).
//! 2. The arguments: constants of [`Argument`], shared by the operators that have the same ones.
//! 3. `from_table`, which takes the values out of [`Arguments`] and calls the lowering. Operators
//!    that differ only in the reduction share it.
//! 4. For each operator: its entry, a constant of type [`Operator`]; its typed function, with
//!    documentation, errors and an example; and its `_dyn` function, for element types known at run
//!    time. All three are written out, without a macro, so that a search for `pub fn scatter_add`
//!    finds them. Their bodies only call the shared lowering.
//! 5. `lower` or `describe`: the framework's checks, in its order, and the lowering. Checks that
//!    several frameworks share are in `framework`.
//! 6. In the dialect's `mod.rs` or single file: `OPERATORS`, `class` (which exception the framework
//!    raises for which problem) and `call` (errors under the operator's name).
//!
//! A new dialect also needs its module and its entry in [`OPERATORS`] below.

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
