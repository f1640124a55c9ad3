//! Combine.

use crate::ops::number::MaybeUnset;
use crate::ops::number::{Convert, Number};
use crate::ops::order::{Ordered, minmax, replaces_element_branch};
use crate::update::fused_repeats::CHANGES;
use std::marker::PhantomData;

/// How an element, converted, joins a cell.
pub(crate) trait Join: 'static {
    /// Elements that are joined together.
    const LEN: usize = 1;
    /// How often a cell may give way to another one, among the [values that are looked at](crate::update::fused_repeats), for it to pay to
    /// keep it in a register; 0 where a cell's next value does not depend on the one before, or the reduction is a rare one.
    const CHAINS: usize = 0;
    /// Whether most updates change their cells.
    const STORES: bool = true;
    type Cell: Copy;
    type Value: Convert<Self::Wide>;
    type Wide: Copy;
    fn join(cell: &mut Self::Cell, value: Self::Wide);
}

pub(crate) struct Sum<T>(PhantomData<T>);

impl<T: Number> Join for Sum<T> {
    const CHAINS: usize = CHANGES;
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::add(*cell, value);
    }
}

/// A sum that starts from nothing where the cell is unset.
pub(crate) struct SumFromUnset<T>(PhantomData<T>);

impl<T: MaybeUnset + Number<Acc = T>> Join for SumFromUnset<T> {
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

pub(crate) struct Prod<T>(PhantomData<T>);

impl<T: Number> Join for Prod<T> {
    const CHAINS: usize = CHANGES;
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::mul(*cell, value);
    }
}

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

pub(crate) struct Div<T>(PhantomData<T>);

impl<T: Number> Join for Div<T> {
    type Cell = T::Acc;
    type Value = T;
    type Wide = T::Acc;
    #[inline(always)]
    fn join(cell: &mut T::Acc, value: T::Acc) {
        *cell = T::div(*cell, value);
    }
}

/// A minimum or maximum. A strict one reads its cells as they are: they may hold a start value that
/// is no element.
pub(crate) struct MinMaxSelect<T, const MAX: bool, const STRICT: bool>(PhantomData<T>);

impl<T: Ordered, const MAX: bool, const STRICT: bool> Join for MinMaxSelect<T, MAX, STRICT> {
    // That of integers would be a branch, which goes wrong wherever there are ties.
    const CHAINS: usize = if T::PLAIN { 0 } else { CHANGES };
    type Cell = T;
    type Value = T;
    type Wide = T;
    #[inline(always)]
    fn join(cell: &mut T, value: T) {
        *cell = minmax::<T, MAX, STRICT>(*cell, value);
    }
}

/// A minimum or maximum of cells that most updates leave as they are: a branch that is nearly always foreseen does without
/// the write, on which the next update of the same cell would have to wait.
pub(crate) struct MinMaxBranch<T, const MAX: bool>(PhantomData<T>);

impl<T: Ordered, const MAX: bool> Join for MinMaxBranch<T, MAX> {
    const STORES: bool = false;
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

pub(crate) struct Overwrite<B>(PhantomData<B>);

impl<B: Copy + 'static> Join for Overwrite<B> {
    type Cell = B;
    type Value = B;
    type Wide = B;
    #[inline(always)]
    fn join(cell: &mut B, value: B) {
        *cell = value;
    }
}
