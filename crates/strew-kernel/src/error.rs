//! What can go wrong: one [`Error`] that names operator, argument, position, value and limit.
//!
//! What lies below the dialects reports a [`Problem`]; the dialect adds the operator's name and
//! the [`Class`] of exception that its framework raises for such a problem.

use crate::tensor::dtype::DType;
use std::fmt;

/// The result of an operator.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operator refused its arguments. Nothing was written.
#[derive(Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq)]
struct Inner {
    operator: String,
    class: Class,
    problem: Problem,
}

impl Error {
    /// Names the operator and the framework's class for a problem.
    #[must_use]
    pub fn new(operator: impl Into<String>, class: Class, problem: Problem) -> Self {
        Self(Box::new(Inner {
            operator: operator.into(),
            class,
            problem,
        }))
    }

    /// The operator that was called, with the caller's label where it takes one.
    #[must_use]
    pub fn operator(&self) -> &str {
        &self.0.operator
    }

    /// The exception class of the framework that the operator comes from.
    #[must_use]
    pub fn class(&self) -> Class {
        self.0.class
    }

    /// What was wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.operator, self.0.problem)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({self})", self.0.class)
    }
}

impl std::error::Error for Error {}

/// The Python exception class that a framework raises for a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// `ValueError`
    Value,
    /// `TypeError`
    Type,
    /// `IndexError`
    Index,
    /// `RuntimeError`
    Runtime,
    /// `NotImplementedError`
    NotImplemented,
    /// A class that derives from `TypeError` and `RuntimeError`, for an error that a framework's
    /// document and its release disagree about.
    TypeAndRuntime,
    /// `MemoryError`
    Memory,
    /// `KeyboardInterrupt`
    Interrupt,
}

/// What was wrong with the arguments of an operator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An index value names no cell.
    #[error("{argument}{} = {value}: index {value} is out of bounds for dimension {axis} {}", Position(.position), OfSize(.size))]
    IndexOutOfBounds {
        /// The index argument.
        argument: &'static str,
        /// Where in that argument.
        position: Vec<usize>,
        /// The value found there.
        value: IndexValue,
        /// The destination's axis that it points into.
        axis: usize,
        /// That axis's size; `None` if the largest index says it, and no axis is that long.
        size: Option<usize>,
    },
    /// An element type that the argument does not take.
    #[error("{argument} has dtype {found}: {expected}")]
    DType {
        /// The argument.
        argument: &'static str,
        /// Its type.
        found: DType,
        /// What it may be.
        expected: String,
    },
    /// A shape that does not fit.
    #[error("{argument} has shape {found:?}: {expected}")]
    Shape {
        /// The argument.
        argument: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// What it must be.
        expected: String,
    },
    /// An axis that the tensor does not have.
    #[error("{argument} = {value}: Dimension out of range (expected to be in range of [-{}, {}], but got {value})", .rank.max(&1), .rank.max(&1) - 1)]
    Axis {
        /// The argument that names the axis.
        argument: String,
        /// The value given.
        value: i128,
        /// The number of axes there are.
        rank: usize,
    },
    /// A value that the argument does not take.
    #[error("{argument} = {value}: {expected}")]
    Value {
        /// The argument, with the position in it where it is a list.
        argument: String,
        /// The value given.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// A required argument is missing.
    #[error("{argument} is missing: it must be given")]
    Missing {
        /// The argument.
        argument: &'static str,
    },
    /// An argument of another kind than the operator takes.
    #[error("{argument} must be {expected}, not {found}")]
    Kind {
        /// The argument.
        argument: String,
        /// The kind it takes.
        expected: String,
        /// The kind it was given.
        found: String,
    },
    /// The destination shares memory with itself or with an input.
    #[error(
        "unsupported operation: {argument} {with}, so the result would depend on the order of writes; copy one of them first"
    )]
    Overlap {
        /// The destination.
        argument: &'static str,
        /// What it overlaps.
        with: String,
    },
    /// The destination may not be written to.
    #[error("{argument} is read-only: pass an array that may be written to")]
    ReadOnly {
        /// The destination.
        argument: String,
    },
    /// An element type for which the operator is not defined.
    #[error("{what} is not defined for dtype {dtype}")]
    Unsupported {
        /// The operation.
        what: String,
        /// The element type.
        dtype: DType,
    },
    /// A strategy was forced that cannot run this problem.
    #[error("strategy '{strategy}' cannot run here: {why}")]
    Strategy {
        /// The strategy's name.
        strategy: &'static str,
        /// What stands against it.
        why: &'static str,
    },
    /// The description of a tensor is not one of memory that can exist.
    #[error("{argument}: {why}")]
    Layout {
        /// The argument.
        argument: String,
        /// What is impossible.
        why: String,
    },
    /// More memory is needed than there is.
    #[error(
        "{what} needs {needed} bytes, and {available} are available: make it smaller, or raise the limit (STREW_MEMORY_LIMIT, in bytes)"
    )]
    Memory {
        /// What the memory is for.
        what: String,
        /// How much that takes.
        needed: u128,
        /// How much there is.
        available: u128,
    },
    /// The caller asked to stop before anything was written.
    #[error("interrupted before anything was written")]
    Interrupted,
}

impl Problem {
    /// The argument that is at fault, where there is one: `axes` also for the problem with
    /// `axes[1]`.
    #[must_use]
    pub fn argument(&self) -> Option<&str> {
        let name = match self {
            Self::IndexOutOfBounds { argument, .. }
            | Self::DType { argument, .. }
            | Self::Shape { argument, .. }
            | Self::Missing { argument }
            | Self::Overlap { argument, .. } => argument,
            Self::Axis { argument, .. }
            | Self::Value { argument, .. }
            | Self::Kind { argument, .. }
            | Self::ReadOnly { argument }
            | Self::Layout { argument, .. } => argument.as_str(),
            Self::Unsupported { .. }
            | Self::Strategy { .. }
            | Self::Memory { .. }
            | Self::Interrupted => return None,
        };
        name.split('[').next()
    }
}

/// A value of an index, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IndexValue {
    /// An integer of any type.
    Integer(i128),
    /// A float, which some frameworks take as an index.
    Float(f64),
}

impl IndexValue {
    /// The integer, if it is one.
    #[must_use]
    pub fn integer(self) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(value),
            Self::Float(_) => None,
        }
    }
}

impl<T: Into<i128>> From<T> for IndexValue {
    fn from(value: T) -> Self {
        Self::Integer(value.into())
    }
}

impl fmt::Display for IndexValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}

/// `with size 3`, or that no size would do.
struct OfSize<'a>(&'a Option<usize>);

impl fmt::Display for OfSize<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(size) => write!(f, "with size {size}"),
            None => f.write_str("of any size"),
        }
    }
}

/// `[2, 1]`, or nothing for a 0-d argument.
struct Position<'a>(&'a [usize]);

impl fmt::Display for Position<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, "{:?}", self.0)
    }
}
