//! JAX: `x.at[..]` as functions, and `jax.ops.segment_*`.
//!
//! Source of the semantics: JAX 0.10, the documents of `jax.numpy.ndarray.at` and `jax.ops`, its
//! tests (`tests/lax_numpy_indexing_test.py`) and runs on CPU; see also `COMPARE.md`.

pub(crate) mod at;
pub(crate) mod segment;

use crate::dialect::framework::call::{Call, Describe, Work, context};
use crate::dialect::framework::operator::Operator;
use strew_kernel::error::{Class, Problem, Result};

pub use at::*;
pub use segment::*;
/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    at::AT_SET,
    at::AT_ADD,
    at::AT_SUBTRACT,
    at::AT_MULTIPLY,
    at::AT_DIVIDE,
    at::AT_MIN,
    at::AT_MAX,
    at::AT_GET,
    segment::SEGMENT_SUM,
    segment::SEGMENT_PROD,
    segment::SEGMENT_MIN,
    segment::SEGMENT_MAX,
];

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::DType { .. } | Problem::Kind { .. } | Problem::Unsupported { .. } => Class::Type,
        Problem::Axis { .. } => Class::Index,
        _ => Class::Value,
    }
}

pub(crate) fn call<'a>(
    operator: &'static str,
    described: Result<impl Into<Work<'a>>, Problem>,
) -> Result<Call<'a>> {
    context(operator, class).call(described)
}
