//! The reductions that the loops know.
//!
//! A [`Combine`] says how one update joins its cell; the result is that of the sequential loop over
//! the updates:
//!
//! ```text
//! for each update, in order: cell = combine(cell, update)
//! ```
//!
//! The value before the first update is in [`identity`](crate::ops::identity), the arithmetic in
//! [`number`](crate::ops::number), the rules of minima and maxima in [`order`](crate::ops::order).
//! What is done to a finished sum is a [`Mean`](crate::ops::number::Mean).

use crate::tensor::DType;

/// How an update joins its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// The update replaces the cell, bit by bit. Of several updates the last one stays.
    Assign,
    /// Addition. Integers wrap, `bool` is a logical or.
    Sum,
    /// Multiplication. Integers wrap, `bool` is a logical and.
    Prod,
    /// Subtraction of the update from the cell. Integers wrap.
    Sub,
    /// Division of the cell by the update. Integers are rounded toward zero and wrap; an integer
    /// divided by 0 is 0.
    Div,
    /// The smaller one.
    Min(Nan),
    /// The larger one.
    Max(Nan),
}

impl Combine {
    /// Whether cells hold accumulators while the loop runs, and not elements.
    #[inline(always)]
    pub fn folds(self) -> bool {
        matches!(self, Self::Sum | Self::Prod | Self::Sub | Self::Div)
    }

    /// Whether joining takes longer than reading rows at random: `f16` elements are compared one by
    /// one, and a complex product is four products.
    pub fn computes(self, dtype: DType) -> bool {
        match self {
            Self::Min(_) | Self::Max(_) => dtype == DType::F16,
            Self::Prod => dtype.is_complex(),
            Self::Sum | Self::Sub | Self::Div | Self::Assign => false,
        }
    }
}

/// What a minimum or maximum makes of NaN; see [`order`](crate::ops::order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nan {
    /// A NaN on either side is the result.
    Propagate,
    /// Only a strictly better update replaces the cell: a NaN update is ignored, and so are ties. A
    /// NaN cell stays.
    Ignore,
}
