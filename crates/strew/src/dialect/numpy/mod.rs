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

pub use crate::dialect::numpy::along::{put_along_axis, put_along_axis_dyn};
pub use crate::dialect::numpy::bincount::{bincount, bincount_dyn, bincount_weights};
pub use at::{
    absolute_at, absolute_at_dyn, add_at, add_at_dyn, bitwise_and_at, bitwise_and_at_dyn,
    bitwise_or_at, bitwise_or_at_dyn, bitwise_xor_at, bitwise_xor_at_dyn, divide_at, divide_at_dyn,
    floor_divide_at, floor_divide_at_dyn, fmax_at, fmax_at_dyn, fmin_at, fmin_at_dyn, invert_at,
    invert_at_dyn, left_shift_at, left_shift_at_dyn, logical_and_at, logical_and_at_dyn,
    logical_or_at, logical_or_at_dyn, logical_xor_at, logical_xor_at_dyn, maximum_at,
    maximum_at_dyn, minimum_at, minimum_at_dyn, multiply_at, multiply_at_dyn, negative_at,
    negative_at_dyn, power_at, power_at_dyn, right_shift_at, right_shift_at_dyn, subtract_at,
    subtract_at_dyn,
};
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
