//! PaddlePaddle: operators of `paddle` and `paddle.geometric`.
//!
//! Source of the semantics: PaddlePaddle 3.3, the documents of the operators and runs on CPU; see
//! also `COMPARE.md`.
//!
//! A function with `_dyn` takes element types known at run time. None works in place.

pub(crate) mod along;
pub(crate) mod gather;
pub(crate) mod nd;
pub(crate) mod rows;
pub(crate) mod segment;

use crate::dialect::framework::bounds::WRAP;
use crate::dialect::framework::call::{Call, Describe, Work, context};
use crate::dialect::framework::operator::Operator;
use crate::dialect::framework::scatter_forms;
use strew_engine::checks::{axis, expect_shape};
use strew_engine::describe::Scatter;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::destinations::take::PickedAxes;
use strew_engine::describe::reduction::Reduction;
use strew_kernel::error::{Class, Problem, Result};
use strew_kernel::tensor::{DType, DynView, Held};

pub use along::*;
pub use gather::*;
pub use nd::*;
pub use rows::*;
pub use segment::*;
/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    rows::SCATTER,
    nd::SCATTER_ND,
    nd::SCATTER_ND_ADD,
    along::PUT_ALONG_AXIS,
    rows::INDEX_ADD,
    rows::INDEX_FILL,
    gather::GATHER,
    gather::GATHER_ND,
    gather::TAKE_ALONG_AXIS,
    segment::SEGMENT_SUM,
    segment::SEGMENT_MEAN,
    segment::SEGMENT_MIN,
    segment::SEGMENT_MAX,
];

pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::IndexOutOfBounds { .. } | Problem::Axis { .. } => Class::Index,
        Problem::Kind { .. } | Problem::Missing { .. } => Class::Type,
        Problem::Unsupported { .. } => Class::Runtime,
        _ => Class::Value,
    }
}

/// As [`class`], for operators where an index out of bounds is a `ValueError`.
pub(crate) fn value_class(problem: &Problem) -> Class {
    match problem {
        Problem::IndexOutOfBounds { .. } => Class::Value,
        other => class(other),
    }
}

/// As [`class`], for operators where a wrong axis is a `ValueError`, and an index of another type a
/// `TypeError`.
pub(crate) fn along_class(problem: &Problem) -> Class {
    match problem {
        Problem::Axis { .. } => Class::Value,
        Problem::DType {
            argument: "indices",
            ..
        } => Class::Type,
        other => class(other),
    }
}

pub(crate) fn call<'a>(
    operator: &'static str,
    class: fn(&Problem) -> Class,
    described: Result<impl Into<Work<'a>>, Problem>,
) -> Result<Call<'a>> {
    context(operator, class).call(described)
}

/// `bool` has no arithmetic.
pub(crate) fn expect_number(what: &str, dtype: DType) -> Result<(), Problem> {
    match dtype {
        DType::Bool => Err(Problem::Unsupported {
            what: what.into(),
            dtype,
        }),
        _ => Ok(()),
    }
}

/// The axis, not negative. A 0-d tensor has no axis.
pub(crate) fn own_axis(value: i64, rank: usize) -> Result<usize, Problem> {
    match rank {
        0 => Err(Problem::Axis {
            argument: "axis".into(),
            value: value.into(),
            rank,
        }),
        _ => axis("axis", value, rank),
    }
}

/// The index as 0-d or 1-d: a matrix of one column becomes a vector.
pub(crate) fn vector<'a>(index: DynView<'a>) -> Result<DynView<'a>, Problem> {
    let fits = index.rank() < 2 || (index.rank() == 2 && index.shape()[1] == 1);
    expect_shape("index", index.shape(), fits, || {
        "it must be 0-d or 1-d, or 2-d with one column".into()
    })?;
    Ok(match index.rank() {
        2 => index.select(1, 0).unwrap_or(index),
        _ => index,
    })
}

/// Slices of a tensor along one of its axes.
pub(crate) fn slices<'a>(
    shape: &[usize],
    axis: usize,
    index: &DynView<'a>,
) -> Result<Destinations<'a>, Problem> {
    let index = std::slice::from_ref(index);
    let axes = PickedAxes {
        batch: 0,
        first: axis,
    };
    Destinations::picks(shape, "index", index, axes, None, WRAP)
}

/// A scatter into a copy. Where one of the tensors has no elements, indices are not checked.
pub(crate) fn into_copy<'a>(
    copied: DynView<'a>,
    destinations: Destinations<'a>,
    reduction: Reduction,
    updates: &'static str,
    source: impl Into<Held<'a>>,
) -> Result<Scatter<'a>, Problem> {
    let source = source.into();
    let (destinations, source) = match copied.is_empty() || source.view().is_empty() {
        true => (
            Destinations::none(copied.shape()),
            DynView::nothing(copied.dtype()).into(),
        ),
        false => (destinations, source),
    };
    scatter_forms::into_copy(copied, destinations, reduction, updates, source)
}
