//! elementwise.

pub mod nonzero;
pub mod pointwise;
pub mod ufunc;
