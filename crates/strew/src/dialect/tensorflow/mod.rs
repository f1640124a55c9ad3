//! TensorFlow: `tf.scatter_nd`, `tf.tensor_scatter_nd_*`, `tf.compat.v1.scatter_*`, `tf.gather_nd`,
//! `tf.math.segment_*` and `tf.math.unsorted_segment_*`.
//!
//! Source of the semantics: TensorFlow 2.21, the documents of the operators, its tests
//! (`python/kernel_tests/array_ops/scatter_nd_ops_test.py`,
//! `python/kernel_tests/math_ops/segment_reduction_ops_test.py`) and runs on CPU; see also
//! `COMPARE.md`.

pub(crate) mod nd;
pub(crate) mod rows;
pub(crate) mod segment;

use crate::dialect::framework::bounds::DROP;
use crate::dialect::framework::call::{Call, Describe, Work, context};
use crate::dialect::framework::checks::{is_rust_index, wrong_value};
use crate::dialect::framework::operator::{Arguments, Operator};
use strew_engine::checks::expect_dtype;
use strew_engine::describe::bounds::Bounds;
use strew_kernel::error::{Class, Problem, Result};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{DType, DynView};

pub use nd::*;
pub use rows::*;
pub use segment::*;
/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    nd::SCATTER_ND,
    nd::TENSOR_SCATTER_ND_UPDATE,
    nd::TENSOR_SCATTER_ND_ADD,
    nd::TENSOR_SCATTER_ND_SUB,
    nd::TENSOR_SCATTER_ND_MIN,
    nd::TENSOR_SCATTER_ND_MAX,
    nd::GATHER_ND,
    rows::SCATTER_UPDATE,
    rows::SCATTER_ADD,
    rows::SCATTER_SUB,
    rows::SCATTER_MUL,
    rows::SCATTER_DIV,
    rows::SCATTER_MIN,
    rows::SCATTER_MAX,
    segment::SEGMENT_SUM,
    segment::SEGMENT_MEAN,
    segment::SEGMENT_PROD,
    segment::SEGMENT_MIN,
    segment::SEGMENT_MAX,
    segment::UNSORTED_SEGMENT_SUM,
    segment::UNSORTED_SEGMENT_MEAN,
    segment::UNSORTED_SEGMENT_PROD,
    segment::UNSORTED_SEGMENT_MIN,
    segment::UNSORTED_SEGMENT_MAX,
    segment::UNSORTED_SEGMENT_SQRT_N,
];

/// What an index that names no cell is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BadIndicesPolicy {
    /// An error, as on the CPU by default.
    #[default]
    Error,
    /// Its update is left out; a gather gives zeros.
    Ignore,
}

impl BadIndicesPolicy {
    fn from_table(args: &mut Arguments<'_>) -> Result<Self, Problem> {
        let word = args.optional_text("bad_indices_policy");
        match word.as_deref().unwrap_or_default() {
            "" | "DEFAULT" | "ERROR" => Ok(Self::Error),
            "IGNORE" => Ok(Self::Ignore),
            other => Err(wrong_value(
                "bad_indices_policy",
                other,
                "it must be DEFAULT, ERROR or IGNORE",
            )),
        }
    }

    fn bounds(self) -> Bounds {
        match self {
            Self::Error => Bounds::STRICT,
            Self::Ignore => DROP,
        }
    }
}

const POLICY: &str = "what an index that names no cell is: an error, or left out";

const POLICIES: &[&str] = &["DEFAULT", "ERROR", "IGNORE"];

/// A NaN update loses against a number, and a NaN that is there stays.
pub(crate) const MIN: Combine = Combine::Min(Nan::Ignore);

pub(crate) const MAX: Combine = Combine::Max(Nan::Ignore);

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

pub(crate) fn expect_index(argument: &'static str, index: &DynView<'_>) -> Result<(), Problem> {
    let known = matches!(index.dtype(), DType::I16 | DType::I32 | DType::I64);
    let fits = known || is_rust_index(index);
    expect_dtype(
        argument,
        index.dtype(),
        fits,
        "it must be int16, int32 or int64",
    )
}

/// `bool` has no arithmetic.
pub(crate) fn expect_number(
    argument: &'static str,
    combine: Combine,
    found: DType,
) -> Result<(), Problem> {
    let fits = combine == Combine::Assign || found != DType::Bool;
    expect_dtype(argument, found, fits, "it must not be bool")
}

pub(crate) fn expect_same(
    argument: &'static str,
    found: DType,
    wanted: DType,
) -> Result<(), Problem> {
    expect_dtype(
        argument,
        found,
        found == wanted,
        format_args!("it must be {wanted}, as what it joins"),
    )
}
