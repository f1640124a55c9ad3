//! The numbers that means are made of.

use num_complex::Complex64;

/// A real or complex number that a mean is made of.
pub trait Point: Copy {
    const ORIGIN: Self;
    fn of(value: Complex64) -> Self;
    fn real(self) -> f64;
    #[must_use]
    fn plus(self, other: Self) -> Self;
    #[must_use]
    fn minus(self, other: Self) -> Self;
    #[must_use]
    fn divided(self, by: f64) -> Self;
    /// The sum of the products of the parts.
    fn dot(self, other: Self) -> f64;
}

impl Point for f64 {
    const ORIGIN: Self = 0.0;
    #[inline(always)]
    fn of(value: Complex64) -> Self {
        value.re
    }
    #[inline(always)]
    fn real(self) -> f64 {
        self
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self - other
    }
    #[inline(always)]
    fn divided(self, by: f64) -> Self {
        self / by
    }
    #[inline(always)]
    fn dot(self, other: Self) -> f64 {
        self * other
    }
}

impl Point for Complex64 {
    const ORIGIN: Self = Self::ZERO;
    #[inline(always)]
    fn of(value: Complex64) -> Self {
        value
    }
    #[inline(always)]
    fn real(self) -> f64 {
        self.re
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self - other
    }
    #[inline(always)]
    fn divided(self, by: f64) -> Self {
        Self::new(self.re / by, self.im / by)
    }
    #[inline(always)]
    fn dot(self, other: Self) -> f64 {
        self.re * other.re + self.im * other.im
    }
}
