//! NumPy: `ufunc.at`, `put_along_axis`, `bincount`.
//!
//! Source of the semantics: NumPy 2.4, the documents of `numpy.ufunc.at`, `numpy.put_along_axis`
//! and `numpy.bincount`, its tests (`numpy/_core/tests/test_ufunc.py`,
//! `numpy/lib/tests/test_shape_base.py`) and runs; see also `COMPARE.md`.

pub(crate) mod along;
pub(crate) mod at;
pub(crate) mod bincount;
pub(crate) mod casting;
pub(crate) mod ufunc_at;

use crate::dialect::framework::call::{Call, Describe, Work, context};
use crate::dialect::framework::operator::Operator;
use strew_kernel::error::{Class, Problem, Result};

pub use along::*;
pub use at::*;
pub use bincount::*;
/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    at::ADD,
    at::SUBTRACT,
    at::MULTIPLY,
    at::DIVIDE,
    at::FLOOR_DIVIDE,
    at::POWER,
    at::MAXIMUM,
    at::MINIMUM,
    at::FMAX,
    at::FMIN,
    at::BITWISE_AND,
    at::BITWISE_OR,
    at::BITWISE_XOR,
    at::LOGICAL_AND,
    at::LOGICAL_OR,
    at::LOGICAL_XOR,
    at::LEFT_SHIFT,
    at::RIGHT_SHIFT,
    at::NEGATIVE,
    at::INVERT,
    at::ABSOLUTE,
    along::PUT_ALONG_AXIS,
    bincount::BINCOUNT,
];

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::IndexOutOfBounds { .. } | Problem::Axis { .. } => Class::Index,
        Problem::DType { argument, .. } | Problem::Shape { argument, .. }
            if *argument == "indices" =>
        {
            Class::Index
        }
        Problem::Value { argument, .. } if argument == "indices" => Class::Index,
        Problem::DType { .. } | Problem::Kind { .. } | Problem::Unsupported { .. } => Class::Type,
        _ => Class::Value,
    }
}

pub(crate) fn call<'a>(
    operator: &'static str,
    described: Result<impl Into<Work<'a>>, Problem>,
) -> Result<Call<'a>> {
    call_with(operator, class, described)
}

pub(crate) fn call_with<'a>(
    operator: &'static str,
    class: fn(&Problem) -> Class,
    described: Result<impl Into<Work<'a>>, Problem>,
) -> Result<Call<'a>> {
    context(operator, class).call(described)
}
