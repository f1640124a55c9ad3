//! MindSpore: operators of `mindspore.ops`.
//!
//! Source of the semantics: MindSpore 2.10, the `ops.scatter_mul` document and runs on CPU; see
//! also `COMPARE.md`.

use super::operator::{Argument, Call, Context, Kind, Operator, expect_dtype, expect_shape};
use crate::error::{Class, Problem, Result};
use crate::kernel::Combine;
use crate::plan::Bounds;
use crate::scatter::{Destinations, Reduction, Scatter, Target};
use crate::tensor::{DType, DynView, DynViewMut, Element, TensorView, TensorViewMut};

/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[Operator {
    name: "mindspore.scatter_mul",
    summary: "Multiplies rows of input_x, in place, by the rows of updates that indices sends there",
    arguments: &[
        Argument {
            name: "input_x",
            kind: Kind::Target,
            default: None,
            doc: "the parameter to change: rank 1 or more, any integer or floating-point dtype",
            words: &[],
        },
        Argument {
            name: "indices",
            kind: Kind::Tensor,
            default: None,
            doc: "row numbers of input_x: any shape, int32 or int64",
            words: &[],
        },
        Argument {
            name: "updates",
            kind: Kind::Tensor,
            default: None,
            doc: "factors, of shape indices.shape + input_x.shape[1:]; input_x's dtype or one that is promoted to it",
            words: &[],
        },
    ],
    returns: &["input_x"],
    lower: |args| {
        let input_x = args.target("input_x")?;
        let indices = args.tensor("indices")?;
        let updates = args.tensor("updates")?;
        lower(input_x, indices, updates)
    },
}];

/// Multiplies rows of `input_x` in place: `input_x[indices[i, ..], ..] *= updates[i, .., ..]`, one
/// after the other in row-major order, so that a row that is named twice gets both factors.
///
/// * `input_x`: any integer or floating-point type; never converted.
/// * `indices`: `i32` or `i64`, any shape (0-d and empty too), values in `0..input_x.shape[0]`.
/// * `updates`: shape `indices.shape + input_x.shape[1..]`. A type of lower priority is promoted
///   to `input_x`'s as it is read: `bool` to every one; `int8` and `uint8` to wider signed
///   integers and floats; signed integers to wider ones and to `float16`, `float32`, `float64`;
///   narrower floats to `float32` and `float64`.
///
/// Integers wrap. Products of 16-bit floats accumulate in `f32` and are rounded once.
///
/// ```
/// use ndarray::array;
///
/// let mut x = array![[1.0f32, 1.0, 1.0], [2.0, 2.0, 2.0]];
/// strew::mindspore::scatter_mul(&mut x, &[0i32, 1], &array![[2.0f32, 2.0, 2.0], [3.0, 3.0, 3.0]])?;
/// assert_eq!(x, array![[2.0, 2.0, 2.0], [6.0, 6.0, 6.0]]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Type`] for an index type, [`Class::TypeAndRuntime`] for updates that would have to
/// promote `input_x`, [`Class::Value`] for shapes, [`Class::Runtime`] for an index out of range
/// and for overlapping memory. `input_x` is then unchanged.
pub fn scatter_mul<'a, T: Element, I: Element, U: Element>(
    input_x: impl Into<TensorViewMut<'a, T>>,
    indices: impl Into<TensorView<'a, I>>,
    updates: impl Into<TensorView<'a, U>>,
) -> Result<()> {
    scatter_mul_dyn(
        input_x.into().into_dyn(),
        indices.into().into_dyn(),
        updates.into().into_dyn(),
    )
}

/// [`scatter_mul`] with element types known at run time.
///
/// # Errors
/// As [`scatter_mul`].
pub fn scatter_mul_dyn<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<()> {
    lower(input_x, indices, updates)?.run()?;
    Ok(())
}

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::DType {
            argument: "indices",
            ..
        }
        | Problem::Kind { .. } => Class::Type,
        Problem::DType { .. } | Problem::Unsupported { .. } => Class::TypeAndRuntime,
        Problem::IndexOutOfBounds { .. } | Problem::Overlap { .. } => Class::Runtime,
        _ => Class::Value,
    }
}

fn lower<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<Call<'a>> {
    let context = Context {
        operator: "mindspore.scatter_mul".into(),
        class,
    };
    match describe(input_x, indices, updates) {
        Ok(scatter) => Ok(Call::new(context, scatter)),
        Err(problem) => Err(context.error(problem)),
    }
}

fn describe<'a>(
    input_x: DynViewMut<'a>,
    indices: DynView<'a>,
    updates: DynView<'a>,
) -> Result<Scatter<'a>, Problem> {
    let destinations = destinations(input_x.dtype(), input_x.shape(), indices, &updates)?;
    let target = Target::InPlace {
        argument: "input_x",
        view: input_x,
    };
    let reduction = Reduction::into_self(Combine::Prod);
    Scatter::new(destinations, reduction, "updates", updates, target)
}

/// The cells that the updates go to, of an `input_x` of this type and shape.
#[inline(always)] // As a scatter: it is made where it stays.
pub(crate) fn destinations<'a>(
    to: DType,
    shape: &[usize],
    indices: DynView<'a>,
    updates: &DynView<'_>,
) -> Result<Destinations<'a>, Problem> {
    expect_dtype(
        "indices",
        indices.dtype(),
        matches!(indices.dtype(), DType::I32 | DType::I64),
        "it must be int32 or int64",
    )?;
    expect_dtype(
        "input_x",
        to,
        to != DType::Bool && !to.is_complex(),
        "it must be an integer or floating-point type",
    )?;
    expect_dtype(
        "updates",
        updates.dtype(),
        promotes(updates.dtype(), to),
        format_args!(
            "Data type conversion is not supported for a 'Parameter': it must be input_x's dtype, {to}, or promote to it"
        ),
    )?;
    expect_shape("input_x", shape, !shape.is_empty(), || {
        "it must have at least one dimension".into()
    })?;
    let mut wanted = indices.dims();
    wanted.extend_from_slice(&shape[1..]);
    expect_shape(
        "updates",
        updates.shape(),
        updates.shape() == &*wanted,
        || format!("it must be indices.shape + input_x.shape[1:] = {wanted:?}"),
    )?;
    Destinations::rows(shape, "indices", &[indices], &[0], None, Bounds::STRICT)
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
