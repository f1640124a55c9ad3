//! Checks that several frameworks make in the same words. A check of one framework is in its
//! dialect.

use std::fmt::Display;
use strew_engine::checks::{expect_dtype, expect_shape};
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DType, DynView};

/// A tensor that is not 0-d.
pub(crate) fn expect_axes(argument: &'static str, shape: &[usize]) -> Result<(), Problem> {
    expect_shape(argument, shape, !shape.is_empty(), || {
        "it must have at least one dimension".into()
    })
}

/// The rank of the argument `of`.
pub(crate) fn expect_rank_of(
    argument: &'static str,
    shape: &[usize],
    of: impl Display,
    rank: usize,
) -> Result<(), Problem> {
    expect_shape(argument, shape, shape.len() == rank, || {
        format!("it must have {of}'s {rank} dimensions")
    })
}

/// The dtype of the argument `of`.
pub(crate) fn expect_dtype_of(
    argument: &'static str,
    found: DType,
    of: impl Display,
    wanted: DType,
) -> Result<(), Problem> {
    let expected = format_args!("it must be {of}'s dtype, {wanted}");
    expect_dtype(argument, found, found == wanted, expected)
}

/// An index that a Rust program has as a slice or array of integers. It may be of any integer
/// type: what a framework's documents say of types is for the framework's own arrays.
pub(crate) fn is_rust_index(index: &DynView<'_>) -> bool {
    index.is_typed() && index.dtype().is_integer()
}

/// An index of `int32` or `int64`.
pub(crate) fn expect_i32_or_i64(
    argument: &'static str,
    index: &DynView<'_>,
) -> Result<(), Problem> {
    if index.is_typed() {
        return expect_integers(argument, index);
    }
    let fits = matches!(index.dtype(), DType::I32 | DType::I64);
    expect_dtype(argument, index.dtype(), fits, "it must be int32 or int64")
}

/// An index as PyTorch has it: `int32` or `int64`, or of any type if it is empty.
pub(crate) fn expect_torch_index(
    argument: &'static str,
    index: &DynView<'_>,
) -> Result<(), Problem> {
    if index.is_typed() && !index.is_empty() {
        return expect_integers(argument, index);
    }
    let fits = index.is_empty() || matches!(index.dtype(), DType::I32 | DType::I64);
    let expected = "Expected dtype int32/int64 for index";
    expect_dtype(argument, index.dtype(), fits, expected)
}

/// An index of any integer type.
pub(crate) fn expect_integers(argument: &'static str, index: &DynView<'_>) -> Result<(), Problem> {
    let fits = index.dtype().is_integer();
    expect_dtype(argument, index.dtype(), fits, "it must be an integer type")
}

/// A size that is not negative.
pub(crate) fn expect_size(argument: impl Display, value: i64) -> Result<usize, Problem> {
    usize::try_from(value).map_err(|_| wrong_value(argument, value, "it must be at least 0"))
}

/// The problem of a value that an argument does not take.
pub(crate) fn wrong_value(
    argument: impl Display,
    value: impl Display,
    expected: impl Display,
) -> Problem {
    Problem::Value {
        argument: argument.to_string(),
        value: value.to_string(),
        expected: expected.to_string(),
    }
}

/// The problem of a word that is none of `words`.
pub(crate) fn unknown_word(argument: &str, word: impl Display, words: &[&str]) -> Problem {
    let words = words.join(", ");
    wrong_value(argument, word, format_args!("it must be one of {words}"))
}
