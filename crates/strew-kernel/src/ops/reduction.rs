//! Reduction.

use crate::tensor::DType;

/// How an update joins what is in its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// The update replaces the cell; of several, the last one stays. Bits are copied.
    Assign,
    /// Addition. Integers wrap, `bool` is a logical or.
    Sum,
    /// Multiplication. Integers wrap, `bool` is a logical and.
    Prod,
    /// Subtraction of the update from the cell. Integers wrap.
    Sub,
    /// Division of the cell by the update. Integers are rounded toward zero and wrap; by 0 they become 0.
    Div,
    /// The smaller one.
    Min(Nan),
    /// The larger one.
    Max(Nan),
}

impl Combine {
    /// Whether the running result is an accumulator, and not an element.
    #[inline(always)]
    pub fn folds(self) -> bool {
        matches!(self, Self::Sum | Self::Prod | Self::Sub | Self::Div)
    }

    /// Whether to join elements takes longer than to read rows of them at random: they are compared one by one, or are products of
    /// products.
    pub fn computes(self, dtype: DType) -> bool {
        match self {
            Self::Min(_) | Self::Max(_) => dtype == DType::F16,
            Self::Prod => dtype.is_complex(),
            Self::Sum | Self::Sub | Self::Div | Self::Assign => false,
        }
    }
}

/// What a minimum or maximum makes of NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nan {
    /// A NaN on either side is the result.
    Propagate,
    /// Only a strict comparison moves the cell: a NaN update is ignored, and so are ties.
    Ignore,
}
