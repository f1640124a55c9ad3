//! Checks of arguments that several operators make: axis, dtype, shape, divisors.

use std::fmt::Display;
use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::{DType, DynView};

/// Checks an axis number and makes it non-negative; 0-d counts as 1-d.
pub fn axis(argument: impl Display, value: i64, rank: usize) -> Result<usize, Problem> {
    let ranks = rank.max(1) as i64;
    if (-ranks..ranks).contains(&value) {
        return Ok(value.rem_euclid(ranks).unsigned_abs() as usize);
    }
    Err(Problem::Axis {
        argument: argument.to_string(),
        value: value.into(),
        rank,
    })
}

/// The problem of a dtype that an argument does not take, unless it does.
pub fn expect_dtype(
    argument: &'static str,
    found: DType,
    fits: bool,
    expected: impl Display,
) -> Result<(), Problem> {
    if fits {
        return Ok(());
    }
    Err(Problem::DType {
        argument,
        found,
        expected: expected.to_string(),
    })
}

/// The problem of a divisor that is zero, unless there is none.
pub fn expect_no_zero(argument: &'static str, divisors: &DynView<'_>) -> Result<(), Problem> {
    match divisors.first_zero() {
        None => Ok(()),
        Some(at) => Err(Problem::Value {
            argument: format!("{argument}{at:?}"),
            value: "0".into(),
            expected: format!("{argument} must not contain 0"),
        }),
    }
}

/// The problem of a shape that does not fit, unless it does.
pub fn expect_shape(
    argument: &'static str,
    found: &[usize],
    fits: bool,
    expected: impl FnOnce() -> String,
) -> Result<(), Problem> {
    if fits {
        return Ok(());
    }
    Err(Problem::Shape {
        argument,
        found: found.to_vec(),
        expected: expected(),
    })
}
