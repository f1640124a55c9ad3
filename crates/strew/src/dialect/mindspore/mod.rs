//! MindSpore: operators of `mindspore.ops`.
//!
//! Source of the semantics: MindSpore 2.10, the documents of the operators and runs on CPU; see
//! also `COMPARE.md`.
//!
//! A function with `_dyn` takes element types known at run time, and the [`Device`] whose rule for
//! indices out of range holds; the others follow the CPU. On an error nothing has changed.

pub(crate) mod elements;
pub(crate) mod rows;
pub(crate) mod scatter_nd;
pub(crate) mod tensor_scatter;

use crate::dialect::framework::bounds::DROP;
use crate::dialect::framework::call::{Call, Describe, Work, context};
use crate::dialect::framework::checks::wrong_value;
use crate::dialect::framework::operator::{Arguments, Operator};
use crate::dialect::framework::scatter_forms::in_place;
use strew_engine::checks::{expect_dtype, expect_no_zero};
use strew_engine::describe::Scatter;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::{Class, Problem, Result};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{DType, DynView, DynViewMut};

pub use elements::*;
pub use rows::*;
pub use scatter_nd::*;
pub use tensor_scatter::*;
/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    rows::SCATTER_ADD,
    rows::SCATTER_SUB,
    rows::SCATTER_MUL,
    rows::SCATTER_DIV,
    rows::SCATTER_MAX,
    rows::SCATTER_MIN,
    rows::SCATTER_UPDATE,
    scatter_nd::SCATTER_ND,
    scatter_nd::SCATTER_ND_ADD,
    scatter_nd::SCATTER_ND_SUB,
    scatter_nd::SCATTER_ND_MUL,
    scatter_nd::SCATTER_ND_DIV,
    scatter_nd::SCATTER_ND_MAX,
    scatter_nd::SCATTER_ND_MIN,
    scatter_nd::SCATTER_ND_UPDATE,
    tensor_scatter::TENSOR_SCATTER_ADD,
    tensor_scatter::TENSOR_SCATTER_SUB,
    tensor_scatter::TENSOR_SCATTER_MUL,
    tensor_scatter::TENSOR_SCATTER_DIV,
    tensor_scatter::TENSOR_SCATTER_MAX,
    tensor_scatter::TENSOR_SCATTER_MIN,
    tensor_scatter::TENSOR_SCATTER_UPDATE,
    elements::TENSOR_SCATTER_ELEMENTS,
    elements::SCATTER,
];

/// Whose rule holds for indices that name no cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Device {
    /// They are an error.
    #[default]
    Cpu,
    /// Their updates are left out.
    Gpu,
}

impl Device {
    fn from_table(args: &mut Arguments<'_>) -> Result<Self, Problem> {
        match args.optional_text("device").as_deref() {
            None | Some("cpu") => Ok(Self::Cpu),
            Some("gpu") => Ok(Self::Gpu),
            Some(name) => Err(wrong_value("device", name, "it must be cpu or gpu")),
        }
    }

    fn bounds(self) -> Bounds {
        match self {
            Self::Cpu => Bounds::STRICT,
            Self::Gpu => DROP,
        }
    }
}

const PARAMETER: &str =
    "the parameter to change: rank 1 or more, any integer or floating-point dtype";

const DEVICE: &str =
    "whose rule holds for indices out of range: on the CPU they are an error, on the GPU left out";

const DEVICES: &[&str] = &["cpu", "gpu"];

pub(crate) const MAX: Combine = Combine::Max(Nan::Propagate);

pub(crate) const MIN: Combine = Combine::Min(Nan::Propagate);

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::DType {
            argument: "indices" | "index",
            ..
        }
        | Problem::Kind { .. } => Class::Type,
        Problem::DType { .. } | Problem::Unsupported { .. } => Class::TypeAndRuntime,
        Problem::IndexOutOfBounds { .. } | Problem::Overlap { .. } => Class::Runtime,
        _ => Class::Value,
    }
}

pub(crate) fn call<'a>(
    operator: &'static str,
    described: Result<impl Into<Work<'a>>, Problem>,
) -> Result<Call<'a>> {
    context(operator, class).call(described)
}

/// The dtypes of a parameter that is written to, and of its updates.
pub(crate) fn expect_promoted(to: DType, updates: DType) -> Result<(), Problem> {
    expect_dtype(
        "input_x",
        to,
        to != DType::Bool && !to.is_complex(),
        "it must be an integer or floating-point type",
    )?;
    expect_dtype(
        "updates",
        updates,
        promotes(updates, to),
        format_args!(
            "Data type conversion is not supported for a 'Parameter': it must be input_x's dtype, {to}, or promote to it"
        ),
    )
}

/// Whether updates of one type may be promoted to a parameter of another.
fn promotes(from: DType, to: DType) -> bool {
    use DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8};
    match (from, to) {
        _ if from == to => true,
        (Bool, _) => true,
        (I8 | U8, I16 | I32 | I64 | F16 | F32 | F64) => true,
        (I16, I32 | I64 | F16 | F32 | F64) => true,
        (I32, I64 | F16 | F32 | F64) => true,
        (I64, F16 | F32 | F64) => true,
        (F16 | BF16, F32 | F64) => true,
        (F32, F64) => true,
        _ => false,
    }
}

/// Updates that join the parameter, in place.
fn into_parameter<'a>(
    combine: Combine,
    input_x: DynViewMut<'a>,
    cells: Destinations<'a>,
    updates: DynView<'a>,
) -> Result<Scatter<'a>, Problem> {
    in_place(
        ("input_x", input_x),
        cells,
        Reduction::into_self(combine),
        "updates",
        updates,
    )
}

/// Nothing is divided by zero.
pub(crate) fn expect_divisors(combine: Combine, updates: &DynView<'_>) -> Result<(), Problem> {
    match combine {
        Combine::Div => expect_no_zero("updates", updates),
        _ => Ok(()),
    }
}
