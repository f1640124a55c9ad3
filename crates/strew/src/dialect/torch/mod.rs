//! PyTorch: operators of `torch.Tensor` and `torch`, as functions.
//!
//! Source of the semantics: PyTorch 2.15, the documents of the operators,
//! `aten/src/ATen/native/{ScatterGatherChecks.h,TensorAdvancedIndexing.cpp}` and runs on CPU; see
//! also `COMPARE.md`.
//!
//! A function whose name ends in `_` works in place, one with `_dyn` takes element types known at
//! run time. In place, an error leaves `input` as it was; in PyTorch, elements before the one that
//! is wrong have changed.

pub(crate) mod arguments;
pub(crate) mod gather;
pub(crate) mod index;
pub(crate) mod index_put;
pub(crate) mod put;
pub(crate) mod reduce;
pub(crate) mod scatter;
pub(crate) mod segment;
pub(crate) mod slice;
pub(crate) mod strided;

use crate::dialect::framework::call::{Call, Work};
use crate::dialect::framework::operator::Operator;
use strew_engine::context::Context;
use strew_engine::describe::{Start, Target};
use strew_kernel::error::{Class, Error, Problem, Result};
use strew_kernel::tensor::{DType, Dims, DynView, DynViewMut};

pub(crate) use crate::dialect::framework::call::context;
pub use gather::*;
pub use index::add::*;
pub use index::copy::*;
pub use index::fill::*;
pub use index::reduce::*;
pub use index_put::*;
pub use put::*;
pub use reduce::*;
pub use scatter::*;
pub use segment::*;
pub use slice::*;
pub use strided::*;
/// The operators of this dialect.
pub const OPERATORS: &[Operator] = &[
    scatter::SCATTER,
    scatter::SCATTER_,
    scatter::SCATTER_ADD,
    scatter::SCATTER_ADD_,
    reduce::SCATTER_REDUCE,
    reduce::SCATTER_REDUCE_,
    gather::GATHER,
    gather::TAKE_ALONG_DIM,
    index::add::INDEX_ADD,
    index::add::INDEX_ADD_,
    index::reduce::INDEX_REDUCE,
    index::reduce::INDEX_REDUCE_,
    index::copy::INDEX_COPY,
    index::copy::INDEX_COPY_,
    index::fill::INDEX_FILL,
    index::fill::INDEX_FILL_,
    put::PUT,
    put::PUT_,
    index_put::INDEX_PUT,
    index_put::INDEX_PUT_,
    put::MASKED_SCATTER,
    put::MASKED_SCATTER_,
    slice::SLICE_SCATTER,
    slice::SELECT_SCATTER,
    strided::DIAGONAL_SCATTER,
    strided::AS_STRIDED_SCATTER,
    segment::SEGMENT_REDUCE,
];

/// What to write into.
pub(crate) enum Input<'a> {
    New(DynView<'a>),
    InPlace(DynViewMut<'a>),
}

impl<'a> From<DynView<'a>> for Input<'a> {
    fn from(view: DynView<'a>) -> Self {
        Self::New(view)
    }
}

impl<'a> From<DynViewMut<'a>> for Input<'a> {
    fn from(view: DynViewMut<'a>) -> Self {
        Self::InPlace(view)
    }
}

impl<'a> Input<'a> {
    fn shape(&self) -> &[usize] {
        match self {
            Self::New(view) => view.shape(),
            Self::InPlace(view) => view.shape(),
        }
    }

    fn dims(&self) -> Dims {
        Dims::from_slice(self.shape())
    }

    fn dtype(&self) -> DType {
        match self {
            Self::New(view) => view.dtype(),
            Self::InPlace(view) => view.dtype(),
        }
    }

    /// The target of a scatter; 0-d counts as 1-d.
    fn target(self) -> Target<'a> {
        match self {
            Self::New(view) => Target::New {
                dtype: view.dtype(),
                start: Start::CopyOf(view.at_least_1d()),
            },
            Self::InPlace(view) => Target::InPlace {
                argument: "input",
                view: view.at_least_1d(),
            },
        }
    }
}

/// A problem, with the class of error that PyTorch raises for it, where that is not the usual one.
pub(crate) struct Refusal {
    class: Option<Class>,
    problem: Problem,
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self {
            class: None,
            problem,
        }
    }
}

/// PyTorch raises an `IndexError` for this problem.
pub(crate) fn index_error(problem: Problem) -> Refusal {
    Refusal {
        class: Some(Class::Index),
        problem,
    }
}

/// The class of a problem in the operators that write one element per element of their index.
pub(crate) fn class(problem: &Problem) -> Class {
    match problem {
        Problem::Axis { .. } => Class::Index,
        Problem::Unsupported { .. } => Class::NotImplemented,
        Problem::Kind { .. } | Problem::Missing { .. } => Class::Type,
        _ => Class::Runtime,
    }
}

/// As [`class`], for operators where an index out of bounds is an `IndexError`.
pub(crate) fn index_class(problem: &Problem) -> Class {
    match problem {
        Problem::IndexOutOfBounds { .. } => Class::Index,
        other => class(other),
    }
}

/// The call of an operator, once it has been described.
pub(crate) fn call<'a>(
    context: Context,
    described: Result<impl Into<Work<'a>>, Refusal>,
) -> Result<Call<'a>> {
    match described {
        Ok(work) => Ok(Call::new(context, work)),
        Err(Refusal {
            class: Some(class),
            problem,
        }) => Err(Error::new(context.operator, class, problem)),
        Err(Refusal { problem, .. }) => Err(context.error(problem)),
    }
}
