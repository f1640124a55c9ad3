//! Square roots, exponentials and logarithms of real accumulators.
//!
//! Exponentials and logarithms come from the crate `libm`, which is compiled in: the system's
//! differ from machine to machine in their last bits, and a result must not depend on the machine.
//! A square root is rounded correctly everywhere.
//!
//! Softmax, log-sum-exp and their gradients use this, one value per call.

use crate::tensor::Element;
use std::ops::{Add, Div, Mul, Sub};

/// A real accumulator: `f32` or `f64`.
pub trait Real:
    Element
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    const ZERO: Self;
    const INFINITY: Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn sqrt(self) -> Self;
    fn is_nan(self) -> bool;
    fn is_finite(self) -> bool;
    /// The nearest value of this type.
    fn of(value: f64) -> Self;
    /// The nearest value of this type to a count.
    fn of_count(count: i64) -> Self;
}

macro_rules! real {
    ($t:ty, $exp:path, $ln:path) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const INFINITY: Self = <$t>::INFINITY;
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                <$t>::is_nan(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
            #[allow(clippy::cast_possible_truncation)]
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as Self
            }
            #[allow(clippy::cast_precision_loss)]
            #[inline(always)]
            fn of_count(count: i64) -> Self {
                count as Self
            }
        }
    };
}

real!(f32, libm::expf, libm::logf);

real!(f64, libm::exp, libm::log);
