//! ONNX: `ScatterElements`, `ScatterND`, `Scatter`, `TensorScatter`, `Gather`, `GatherElements`,
//! `GatherND`.
//!
//! Source of the semantics: ONNX 1.23, the documents of the operators and their node tests
//! (`onnx/backend/test/case/node/`), and runs of ONNX Runtime 1.31; see also `COMPARE.md`.

pub(crate) mod cache;
pub(crate) mod gather;
pub(crate) mod scatter;

use crate::dialect::framework::call::{Call, Describe, Work, context};
use crate::dialect::framework::checks::{is_rust_index, wrong_value};
use crate::dialect::framework::operator::Operator;
use strew_engine::checks::expect_dtype;
use strew_kernel::error::{Class, Problem, Result};
use strew_kernel::tensor::{DType, DynView};

pub use cache::*;
pub use gather::*;
pub use scatter::*;
/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    scatter::SCATTER_ELEMENTS,
    scatter::SCATTER_ND,
    scatter::SCATTER,
    cache::TENSOR_SCATTER,
    gather::GATHER,
    gather::GATHER_ELEMENTS,
    gather::GATHER_ND,
];

const DATA: &str = "the tensor to start from or to read: rank 1 or more, any dtype";

const INDICES: &str = "where along axis: int32 or int64; negative counts from the end";

const TUPLES: &str = "index tuples along the last axis: int64; negative counts from the end";

const AXIS: &str = "the axis that indices point along; negative counts from the end";

const OPSET: &str = "the version of the operator set, which says what the operator can do";

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::DType { .. } | Problem::Kind { .. } | Problem::Unsupported { .. } => Class::Type,
        Problem::IndexOutOfBounds { .. } => Class::Index,
        _ => Class::Value,
    }
}

pub(crate) fn call<'a>(
    operator: &'static str,
    described: Result<impl Into<Work<'a>>, Problem>,
) -> Result<Call<'a>> {
    context(operator, class).call(described)
}

pub(crate) fn expect_tuples(index: &DynView<'_>) -> Result<(), Problem> {
    expect_dtype(
        "indices",
        index.dtype(),
        index.dtype() == DType::I64 || is_rust_index(index),
        "it must be int64",
    )
}

/// Refuses a value that came with a later operator set.
pub(crate) fn expect_opset(
    opset: i64,
    first: i64,
    argument: &str,
    value: &str,
    plain: bool,
) -> Result<(), Problem> {
    if plain || opset >= first {
        return Ok(());
    }
    Err(wrong_value(
        argument,
        value,
        format_args!("operator set {opset} has none but the default: it came with {first}"),
    ))
}
