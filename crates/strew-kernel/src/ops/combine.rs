//! How one update joins one cell: a type per reduction, over which the loops of
//! [`update`](crate::update) are generic.
//!
//! ```text
//! for each update: Join::join(&mut cells[destination], update converted to Join::Wide)
//! ```
//!
//! | type | the cell becomes | cell type | NaN and ties |
//! |---|---|---|---|
//! | `Sum` | cell + value | accumulator | as arithmetic has it |
//! | `SumFromUnset` | 0 + value if the cell is unset, else cell + value | element | as arithmetic has it |
//! | `Prod`, `Sub`, `Div` | cell * value, cell - value, cell / value | accumulator | as arithmetic has it |
//! | `MinMaxSelect` | the better of both, always written | element | `order::minmax` |
//! | `MinMaxBranch` | the better of both, written only if it changes | element | `order::replaces_element_branch` |
//! | `Overwrite` | value | bytes of an element's size | bits are copied |
//!
//! **Cost.** One operation per element, one read and one write of the cell. `MinMaxBranch` saves
//! the write, and with it the wait of the next update of the same cell, at the price of a branch.
//!
//! **When used.** [`dispatch`](crate::update::dispatch) chooses the type, once per run, from
//! element type and reduction. It takes `MinMaxBranch` where there are many updates per cell, so
//! that most of them leave their cell as it is.
//!
//! The order of the updates is the caller's: a join is a sequential step, and floats are not
//! reassociated.

use crate::ops::number::{Convert, MaybeUnset, Number};
use crate::ops::order::{Ordered, minmax, replaces_element_branch};
use std::marker::PhantomData;

/// Maximum number of changes in the sample for a common reduction to keep its cell in a register.
/// Each change is a mispredicted branch.
pub(crate) const CHANGES: usize = 6;

/// How an update joins a cell.
pub(crate) trait Join: 'static {
    /// Elements that one call of [`join`](Self::join) takes: more than one where a short row is
    /// treated as one element.
    const LEN: usize = 1;
    /// Repeated indices: the loop looks at [some index values](crate::update::fused_repeats) and
    /// keeps the cell in a register if at most this many of them differ from the one before. 0
    /// turns the test off: for joins whose result does not depend on the cell, and for rare
    /// reductions.
    const CHAINS: usize = 0;
    /// Whether most updates change their cells.
    const STORES: bool = true;
    /// Whether it has loops of [every form](crate::ops::hot).
    const HOT: bool = false;
    /// Whether it is compiled for AVX-512, too.
    const WIDE: bool = false;
    /// Whether it is compiled for AVX2.
    const VECTORS: bool = true;
    /// Whether it selects the cell or the update. The compiler makes masked stores of that; a row
    /// is stored whole where [they are slow](crate::cpu::isa::Isa::SLOW_MASKS).
    const SELECTS: bool = false;
    /// The cell's type.
    type Cell: Copy;
    /// The update's type in memory.
    type Value: Convert<Self::Wide>;
    /// The update's type when it joins.
    type Wide: Copy;
    /// Joins the update, converted, into the cell.
    fn join(cell: &mut Self::Cell, value: Self::Wide);
}

/// `cell + value`, in the accumulator type.
pub(crate) struct Sum<T>(PhantomData<T>);

impl<T: Number> Join for Sum<T> {
    const HOT: bool = T::SUM;
    const WIDE: bool = T::WIDE_SUM;
    const CHAINS: usize = CHANGES;
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::add(*cell, value);
    }
}

/// A sum whose cells may be unset: `0 + value` if the cell holds [`MaybeUnset::UNSET`], otherwise
/// `cell + value`.
pub(crate) struct SumFromUnset<T>(PhantomData<T>);

impl<T: MaybeUnset + Number<Acc = T>> Join for SumFromUnset<T> {
    const HOT: bool = T::SUM;
    const WIDE: bool = T::WIDE_SUM;
    const CHAINS: usize = CHANGES;
    type Cell = T;
    type Value = T;
    type Wide = T;
    #[inline(always)]
    fn join(cell: &mut T, value: T) {
        let so_far = if cell.is_unset() { T::ZERO } else { *cell };
        *cell = T::add(so_far, value);
    }
}

/// `cell * value`, in the accumulator type.
pub(crate) struct Prod<T>(PhantomData<T>);

impl<T: Number> Join for Prod<T> {
    const HOT: bool = T::PRODUCT;
    const WIDE: bool = T::WIDE_PRODUCT;
    const CHAINS: usize = CHANGES;
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::mul(*cell, value);
    }
}

/// `cell - value`, in the accumulator type.
pub(crate) struct Sub<T>(PhantomData<T>);

impl<T: Number> Join for Sub<T> {
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::sub(*cell, value);
    }
}

/// `cell / value`, in the accumulator type.
pub(crate) struct Div<T>(PhantomData<T>);

impl<T: Number> Join for Div<T> {
    // For size: no instruction divides integers, and other divisions are rare. AVX2 converts 16-bit
    // floats.
    const VECTORS: bool = size_of::<T>() == 2;
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::div(*cell, value);
    }
}

/// A minimum or maximum, written as a select: the cell is always stored, and rows vectorise.
///
/// Not strict: a NaN on either side is the result. Strict: a NaN update is ignored, and the cell is
/// compared as it is, because it may hold a start value that is no element.
pub(crate) struct MinMaxSelect<T, const MAX: bool, const STRICT: bool>(PhantomData<T>);

impl<T: Ordered, const MAX: bool, const STRICT: bool> Join for MinMaxSelect<T, MAX, STRICT> {
    // 0 for integers: in a register their join would compile to a branch, which ties mispredict.
    const CHAINS: usize = if T::PLAIN { 0 } else { CHANGES };
    const HOT: bool = T::EXTREME;
    const SELECTS: bool = true;
    type Cell = T;
    type Value = T;
    type Wide = T;
    #[inline(always)]
    fn join(cell: &mut T, value: T) {
        *cell = minmax::<T, MAX, STRICT>(*cell, value);
    }
}

/// A minimum or maximum, written as a branch, for cells that most updates leave as they are. The
/// predicted branch skips the store, for which the next update of the same cell would have to wait.
/// A NaN on either side is the result.
pub(crate) struct MinMaxBranch<T, const MAX: bool>(PhantomData<T>);

impl<T: Ordered, const MAX: bool> Join for MinMaxBranch<T, MAX> {
    const STORES: bool = false;
    const HOT: bool = T::EXTREME;
    type Cell = T;
    type Value = T;
    type Wide = T;
    #[inline(always)]
    fn join(cell: &mut T, value: T) {
        if replaces_element_branch::<T, MAX>(value, *cell) {
            *cell = value.canonical();
        }
    }
}

/// The value replaces the cell. `B` is any plain type of the element's size and alignment: bits are
/// copied.
pub(crate) struct Overwrite<B>(PhantomData<B>);

impl<B: Copy + 'static> Join for Overwrite<B> {
    const HOT: bool = true;
    type Cell = B;
    type Value = B;
    type Wide = B;
    #[inline(always)]
    fn join(cell: &mut B, value: B) {
        *cell = value;
    }
}
