//! OpenVINO: operators of its opsets.
//!
//! Source of the semantics: OpenVINO 2026.4.1, the documents of the operators, its reference tests
//! (`src/plugins/template/tests/functional/op_reference/`) and runs of the CPU plugin; see also
//! `COMPARE.md`.

pub(crate) mod gather;
pub(crate) mod slice;
pub(crate) mod update;

use crate::dialect::framework::call::{Call, Describe, Work, context};
use crate::dialect::framework::operator::Operator;
use strew_kernel::error::{Class, Problem, Result};

pub use crate::dialect::openvino::slice::{slice_scatter, slice_scatter_dyn};
pub use gather::*;
pub use update::*;
/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    slice::SLICE_SCATTER,
    update::SCATTER_ELEMENTS_UPDATE,
    update::SCATTER_ND_UPDATE,
    update::SCATTER_UPDATE,
    gather::GATHER,
    gather::GATHER_ELEMENTS,
    gather::GATHER_ND,
];

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::DType { .. } | Problem::Kind { .. } => Class::Type,
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
