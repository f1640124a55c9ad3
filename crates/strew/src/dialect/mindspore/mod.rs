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
use crate::dialect::framework::operator::{Argument, Arguments, Kind, Operator};
use strew_engine::checks::{expect_dtype, expect_no_zero};
use strew_engine::scatter::bounds::Bounds;
use strew_kernel::error::{Class, Problem, Result};
use strew_kernel::ops::reduction::{Combine, Nan};
use strew_kernel::tensor::{DType, DynView};

pub use crate::dialect::mindspore::elements::{
    scatter, scatter_dyn, tensor_scatter_elements, tensor_scatter_elements_dyn,
};
pub use rows::{
    scatter_add, scatter_add_dyn, scatter_div, scatter_div_dyn, scatter_max, scatter_max_dyn,
    scatter_min, scatter_min_dyn, scatter_mul, scatter_mul_dyn, scatter_sub, scatter_sub_dyn,
    scatter_update, scatter_update_dyn,
};
pub use scatter_nd::{
    scatter_nd, scatter_nd_add, scatter_nd_add_dyn, scatter_nd_div, scatter_nd_div_dyn,
    scatter_nd_dyn, scatter_nd_max, scatter_nd_max_dyn, scatter_nd_min, scatter_nd_min_dyn,
    scatter_nd_mul, scatter_nd_mul_dyn, scatter_nd_sub, scatter_nd_sub_dyn, scatter_nd_update,
    scatter_nd_update_dyn,
};
pub use tensor_scatter::{
    tensor_scatter_add, tensor_scatter_add_dyn, tensor_scatter_div, tensor_scatter_div_dyn,
    tensor_scatter_max, tensor_scatter_max_dyn, tensor_scatter_min, tensor_scatter_min_dyn,
    tensor_scatter_mul, tensor_scatter_mul_dyn, tensor_scatter_sub, tensor_scatter_sub_dyn,
    tensor_scatter_update, tensor_scatter_update_dyn,
};
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
    fn parse(name: &str) -> Result<Self, Problem> {
        match name {
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu),
            _ => Err(wrong_value("device", name, "it must be cpu or gpu")),
        }
    }

    fn bounds(self) -> Bounds {
        match self {
            Self::Cpu => Bounds::STRICT,
            Self::Gpu => DROP,
        }
    }
}

/// The bounds rule of the argument `device`, [`DEVICE`].
fn device_bounds(args: &mut Arguments<'_>) -> Result<Bounds, Problem> {
    let word = args.optional_text("device");
    let device = word.as_deref().map(Device::parse).transpose()?;
    Ok(device.unwrap_or_default().bounds())
}

pub(crate) const DEVICE: Argument = Argument::needed(
    "device",
    Kind::Text,
    "whose rule holds for indices out of range: on the CPU they are an error, on the GPU left out",
)
.or("cpu")
.of(&["cpu", "gpu"]);

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

/// Nothing is divided by zero.
pub(crate) fn expect_divisors(combine: Combine, updates: &DynView<'_>) -> Result<(), Problem> {
    match combine {
        Combine::Div => expect_no_zero("updates", updates),
        _ => Ok(()),
    }
}
