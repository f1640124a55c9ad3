//! One module per framework: its operators under their own names, checked by its own rules.
//!
//! A dialect is one file, or a folder with one file per family of operators. It checks the
//! arguments as its framework does, lowers them to one [`Scatter`](strew_engine::describe::Scatter)
//! or [`Gather`](strew_engine::describe::gather::Gather) (or to several passes), and lists its
//! operators as data. It holds no data loop.
//!
//! # How a dialect is written
//!
//! A file of operators has these parts, in this order. `tensorflow/rows.rs` is a short example.
//!
//! 1. A header: the framework, its version, and the documents that the semantics come from (in a
//!    folder, `mod.rs` has it).
//! 2. What several of its arguments have in common: constants with their texts and words.
//! 3. The declarations of its operators, by the macro `operators` of `framework::declaration`. A
//!    declaration has the operator's documentation with errors and an example, its typed function,
//!    its `_dyn` function for element types known at run time, its lowering, and its row of the
//!    table. The names of functions and rows stand in it, so that a search for `pub fn scatter_add`
//!    finds it. Operators with the same arguments are one family, and differ in these lines only.
//! 4. `lower`: the framework's checks, in its order, and the lowering. Members of a family that
//!    differ only in the reduction share it. Checks that several frameworks share are in
//!    `framework`.
//! 5. In the dialect's `mod.rs` or single file: `OPERATORS`, `class` (which exception the framework
//!    raises for which problem) and `call` (errors under the operator's name).
//!
//! A new dialect also needs its module and its entry in [`OPERATORS`] below.

// With some of the frameworks only, a part of what they share has no user.
#[cfg_attr(
    not(feature = "frameworks"),
    allow(dead_code, unused_imports, unused_macros)
)]
pub(crate) mod framework;
#[cfg(feature = "jax")]
pub mod jax;
#[cfg(feature = "mindspore")]
pub mod mindspore;
#[cfg(feature = "mxnet")]
pub mod mxnet;
#[cfg(feature = "numpy")]
pub mod numpy;
#[cfg(feature = "numpy_groupies")]
pub mod numpy_groupies;
#[cfg(feature = "onnx")]
pub mod onnx;
#[cfg(feature = "openvino")]
pub mod openvino;
#[cfg(feature = "paddle")]
pub mod paddle;
#[cfg(feature = "stablehlo")]
pub mod stablehlo;
pub(crate) mod strew;
#[cfg(feature = "tensorflow")]
pub mod tensorflow;
#[cfg(feature = "torch")]
pub mod torch;
#[cfg(feature = "torch_scatter")]
pub mod torch_scatter;

use strew_kernel::tensor::{DynTensor, Element, Tensor};

pub use crate::dialect::framework::call::{Call, Ready};
pub use crate::dialect::framework::operator::{
    Argument, Arguments, Integers, Kind, Operator, Value, find,
};
pub use crate::dialect::strew::{
    GatherOptions, ScatterIntoOptions, ScatterOptions, gather, gather_dyn, scatter, scatter_dyn,
    scatter_into,
};
pub use strew_engine::plan::Plan;
pub use strew_engine::plan::aggregate::{
    Aggregate, AggregateOptions, Fractions, QuantileMethod, RankMethod, aggregate_dyn,
};
pub use strew_engine::plan::aggregates;
pub use strew_engine::plan::aggregates::aggregate;
pub use strew_engine::plan::builder::PlanBuilder;
pub use strew_engine::plan::fold::Fold;
pub use strew_engine::plan::members::Members;
pub use strew_engine::plan::reduce::Reduce;
pub use strew_engine::plan::run::PlanIntoOptions;
/// Every operator of every dialect.
pub static OPERATORS: &[&[Operator]] = &[
    #[cfg(feature = "mxnet")]
    mxnet::OPERATORS,
    #[cfg(feature = "onnx")]
    onnx::OPERATORS,
    #[cfg(feature = "openvino")]
    openvino::OPERATORS,
    #[cfg(feature = "paddle")]
    paddle::OPERATORS,
    #[cfg(feature = "stablehlo")]
    stablehlo::OPERATORS,
    #[cfg(feature = "torch")]
    torch::OPERATORS,
    #[cfg(feature = "jax")]
    jax::OPERATORS,
    #[cfg(feature = "mindspore")]
    mindspore::OPERATORS,
    #[cfg(feature = "torch_scatter")]
    torch_scatter::OPERATORS,
    #[cfg(feature = "tensorflow")]
    tensorflow::OPERATORS,
    #[cfg(feature = "numpy")]
    numpy::OPERATORS,
    #[cfg(feature = "numpy_groupies")]
    numpy_groupies::OPERATORS,
    strew::OPERATORS,
];

/// The new tensor of an operator that makes one.
pub(crate) fn tensor(made: Option<DynTensor>) -> DynTensor {
    made.expect("an operator that is not in place makes a tensor")
}

/// The new tensor of an operator, of the type of its typed arguments. Those hold only valid
/// elements, and operators write only valid ones.
pub(crate) fn typed<T: Element>(made: Option<DynTensor>) -> Tensor<T> {
    tensor(made)
        .typed()
        .expect("the output's type is that of the updates")
}
