//! Passes over elements that are no scatter loops of their own.
//!
//! | file | holds |
//! |---|---|
//! | [`pointwise`] | parallel passes over updates and the cells of their rows |
//! | [`ufunc`] | NumPy's `ufunc.at`: a function of cell and update, element by element |
//! | [`nonzero`] | index tensors made of a mask or of flat positions |

pub mod nonzero;
pub mod pointwise;
pub mod ufunc;
