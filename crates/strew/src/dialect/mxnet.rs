//! Apache MXNet: index tuples run along the *first* axis of `indices`.
//!
//! Source of the semantics: MXNet 1.9.1, `src/operator/tensor/indexing_op.h` and the operator's
//! document; see also `COMPARE.md`.

use super::operator::{
    Argument, Call, Context, Integers, Kind, Operator, expect_dtype, expect_shape,
};
use crate::error::{Class, Problem, Result};
use crate::kernel::Combine;
use crate::plan::Bounds;
use crate::scatter::{Destinations, Reduction, Scatter, Start, Target};
use crate::tensor::{DType, Dims, DynTensor, DynView, Element, Tensor, TensorView};
use smallvec::SmallVec;

/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[Operator {
    name: "mxnet.scatter_nd",
    summary: "Scatters data into a new tensor of zeros by index tuples along the first axis; of duplicates the last stays",
    arguments: &[
        Argument {
            name: "data",
            kind: Kind::Tensor,
            default: None,
            doc: "updates, of shape indices.shape[1:] + shape[M:], any dtype",
            words: &[],
        },
        Argument {
            name: "indices",
            kind: Kind::Tensor,
            default: None,
            doc: "index tuples, of shape (M, Y0, ..), M <= 10; any real dtype, floats are truncated toward zero",
            words: &[],
        },
        Argument {
            name: "shape",
            kind: Kind::Integers,
            default: None,
            doc: "shape of the output",
            words: &[],
        },
        Argument {
            name: "name",
            kind: Kind::Text,
            default: Some("None"),
            doc: "a label for errors and plans",
            words: &[],
        },
    ],
    returns: &["out"],
    lower: |args| {
        let data = args.tensor("data")?;
        let indices = args.tensor("indices")?;
        let shape = args.integers("shape")?;
        let name = args.optional_text("name");
        lower(data, indices, &shape, name.as_deref())
    },
}];

/// Scatters `data` into a new tensor of zeros: the cells that the tuples `indices[:, y]` name get
/// the slices `data[y]`. Of duplicates the last one, in row-major order, stays.
///
/// * `data`: shape `indices.shape[1:] + shape[M..]`, any element type.
/// * `indices`: shape `(M, Y0, .., Yk-1)` with `1 <= M <= min(10, shape.len())`; any integer type, or
///   floats, which are truncated toward zero.
/// * `name` labels errors.
///
/// MXNet does not check indices; here a negative or too large one is an error. MXNet calls the
/// result of duplicates non-deterministic; here the last one always stays.
///
/// ```
/// let out = strew::mxnet::scatter_nd(
///     &[2.0f32, 3.0, 0.0],
///     &ndarray::array![[1, 1, 0], [0, 1, 0]],
///     &[2, 2],
///     None,
/// )?;
/// assert_eq!(out.as_slice(), [0.0, 0.0, 2.0, 3.0]);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// [`Class::Value`] for shapes that do not fit, [`Class::Type`] for a bool or complex index,
/// [`Class::Index`] for an index that names no cell.
pub fn scatter_nd<'a, T: Element, I: Element>(
    data: impl Into<TensorView<'a, T>>,
    indices: impl Into<TensorView<'a, I>>,
    shape: &[usize],
    name: Option<&str>,
) -> Result<Tensor<T>> {
    // A size beyond i64 is beyond memory as well.
    let sizes: SmallVec<[i64; 4]> = shape
        .iter()
        .map(|&n| i64::try_from(n).unwrap_or(i64::MAX))
        .collect();
    let (data, indices) = (data.into().into_dyn(), indices.into().into_dyn());
    let call = lower(data, indices, &Integers::from(&sizes[..]), name)?;
    Ok(super::typed(call.run()?.tensor))
}

/// [`scatter_nd`] with element types known at run time.
///
/// # Errors
/// As [`scatter_nd`].
pub fn scatter_nd_dyn(
    data: DynView<'_>,
    indices: DynView<'_>,
    shape: &[i64],
    name: Option<&str>,
) -> Result<DynTensor> {
    let call = lower(data, indices, &Integers::from(shape), name)?;
    Ok(super::tensor(call.run()?.tensor))
}

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::IndexOutOfBounds { .. } => Class::Index,
        Problem::DType { .. } | Problem::Kind { .. } => Class::Type,
        _ => Class::Value,
    }
}

fn lower<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
    name: Option<&str>,
) -> Result<Call<'a>> {
    let context = Context {
        operator: match name {
            Some(name) => format!("mxnet.scatter_nd '{name}'").into(),
            None => "mxnet.scatter_nd".into(),
        },
        class,
    };
    match describe(data, indices, shape) {
        Ok(scatter) => Ok(Call::new(context, scatter)),
        Err(problem) => Err(context.error(problem)),
    }
}

fn describe<'a>(
    data: DynView<'a>,
    indices: DynView<'a>,
    shape: &Integers<'_>,
) -> Result<Scatter<'a>, Problem> {
    let listed = shape.list("shape")?;
    let mut shape = Dims::new();
    for (axis, &size) in listed.iter().enumerate() {
        shape.push(usize::try_from(size).map_err(|_| Problem::Value {
            argument: format!("shape[{axis}]"),
            value: size.to_string(),
            expected: "it must be at least 0".into(),
        })?);
    }
    let destinations = destinations(&indices, &shape)?;
    let (depth, wanted) = (indices.shape()[0], destinations.updates_shape());
    expect_shape("data", data.shape(), data.shape() == wanted, || {
        format!("it must be indices.shape[1:] + shape[{depth}:] = {wanted:?}")
    })?;
    let target = Target::New {
        dtype: data.dtype(),
        start: Start::Zero,
    };
    let reduction = Reduction::into_self(Combine::Assign);
    Scatter::new(destinations, reduction, "data", data, target)
}

/// The cells of an output of this shape that the tuples name.
#[inline(always)] // As a scatter: it is made where it stays.
pub(crate) fn destinations<'a>(
    indices: &DynView<'a>,
    shape: &[usize],
) -> Result<Destinations<'a>, Problem> {
    let found = indices.shape();
    expect_shape("indices", found, found.len() >= 2, || {
        "it must have at least two dimensions, (M, Y0, ..)".into()
    })?;
    let depth = found[0];
    expect_shape(
        "indices",
        found,
        (1..=shape.len().min(10)).contains(&depth),
        || {
            format!(
                "its first dimension M must be from 1 to {}, the smaller of 10 and the rank of shape {shape:?}",
                shape.len().min(10)
            )
        },
    )?;
    expect_dtype(
        "indices",
        indices.dtype(),
        !indices.dtype().is_complex() && indices.dtype() != DType::Bool,
        "it must be an integer or floating-point type",
    )?;
    let components = (0..depth).filter_map(|m| indices.select(0, m));
    let components: SmallVec<[_; 2]> = components.collect();
    let axes: Dims = (0..depth).collect();
    Destinations::rows(
        shape,
        "indices",
        &components,
        &axes,
        Some(0),
        Bounds::STRICT,
    )
}
