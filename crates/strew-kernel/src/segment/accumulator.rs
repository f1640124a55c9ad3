//! Accumulators of a group: their start values, how rows join them, and how output cells come from
//! them.
//!
//! ```text
//! begin:  acc = identity, or the cell's value
//! join:   acc[c] = combine(acc[c], row[c]) for every column c
//! finish: cell[c] = acc[c], rounded; or acc[c] / count; or 0 where nothing replaced the start
//! ```
//!
//! The joins are those of the loops over pairs of rows, in the same order, so the results have the
//! same bits. Cost: an accumulator is read and written once for each row, in the nearest cache.
//! Several rows at a time are joined in vector registers (`join_rows`), which reads and writes it
//! once for all of them.
//!
//! # Unsafe
//!
//! - Buys: accumulators that are joined in registers
//! - Measured: that of `segment/reduce.rs`, whose loops these are
//! - Holds: the caller's promise, passed on; room for the longest piece of every type

use crate::cpu::isa::Isa;
use crate::ops::number::{Convert, Number};
use crate::ops::order::{Ordered, finite_start_of, identity_of, minmax};
use crate::ops::reduction::{Combine, Nan};
use crate::segment::minmax_lanes;
use crate::update::row_pairs::pairs;
use num_complex::{Complex32, Complex64};
use std::ops::Range;

/// What an accumulator starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// What the cell holds.
    Current,
    /// The reduction's identity.
    Identity,
    /// The finite value that every other one beats in a strict minimum or maximum.
    FiniteExtreme,
}

/// An accumulator: how updates join it, and what it starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    pub combine: Combine,
    pub seed: Seed,
}

/// How the cells of an output come from an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Take {
    /// Which accumulator.
    pub fold: usize,
    /// Divide by the number of updates plus this.
    pub mean: Option<u64>,
    /// What still equals its start becomes 0.
    pub zero_if_start: bool,
}

/// What the loops need of an element type.
pub(crate) trait Folds: Number + PartialEq {
    /// Whether it matters if an extreme is strict.
    const STRICT: bool;
    /// The minimum or maximum; strict: only what is beyond the cell replaces it.
    fn extreme<const MAX: bool, const STRICT: bool>(cell: Self, value: Self) -> Self;
    /// What a cell becomes once all values have met it, one after the other.
    fn extreme_of<const MAX: bool, const STRICT: bool>(cell: Self, values: &[Self]) -> Self;
    /// What an extreme starts from.
    fn start(combine: Combine, seed: Seed) -> Self;
}

impl<T: Ordered + Number + PartialEq> Folds for T {
    const STRICT: bool = !T::PLAIN;

    #[inline(always)]
    fn extreme<const MAX: bool, const STRICT: bool>(cell: T, value: T) -> T {
        minmax::<T, MAX, STRICT>(cell, value)
    }

    #[inline(always)]
    fn extreme_of<const MAX: bool, const STRICT: bool>(cell: T, values: &[T]) -> T {
        minmax_lanes::extreme::<T, MAX>(cell, values, Self::extreme::<MAX, STRICT>)
    }

    #[inline(always)]
    fn start(combine: Combine, seed: Seed) -> T {
        match (combine, seed) {
            (Combine::Max(_), Seed::FiniteExtreme) => finite_start_of::<T, true>(),
            (Combine::Max(_), _) => identity_of::<T, true>(),
            (_, Seed::FiniteExtreme) => finite_start_of::<T, false>(),
            _ => identity_of::<T, false>(),
        }
    }
}

macro_rules! without_order {
    ($($t:ty),*) => {$(
        impl Folds for $t {
            const STRICT: bool = false;
            #[inline(always)]
            fn extreme<const MAX: bool, const STRICT: bool>(cell: $t, _: $t) -> $t { cell }
            #[inline(always)]
            fn extreme_of<const MAX: bool, const STRICT: bool>(cell: $t, _: &[$t]) -> $t { cell }
            #[inline(always)]
            fn start(_: Combine, _: Seed) -> $t { <$t as Number>::ZERO }
        }
    )*};
}

without_order!(Complex32, Complex64);

/// The start of a sum or product.
///
/// # Safety
/// `cell` must be readable if the accumulator starts from it.
#[inline(always)]
pub(crate) unsafe fn first_of<T: Folds>(fold: Fold, cell: *const T) -> T::Acc {
    match (fold.seed, fold.combine) {
        // SAFETY: the caller promises a readable cell where the accumulator starts from it.
        (Seed::Current, _) => unsafe { cell.read() }.widen(),
        (_, Combine::Prod) => T::ONE,
        _ => T::ZERO,
    }
}

/// The start of an extreme.
///
/// # Safety
/// As for [`first_of`].
#[inline(always)]
pub(crate) unsafe fn start_of<T: Folds>(fold: Fold, cell: *const T) -> T {
    match fold.seed {
        // SAFETY: the caller promises a readable cell where the accumulator starts from it.
        Seed::Current => unsafe { cell.read() },
        seed => T::start(fold.combine, seed),
    }
}

#[inline(always)]
pub(crate) fn finished<T: Folds>(sum: T::Acc, take: &Take, count: u64) -> T {
    T::narrow(match take.mean {
        Some(more) => T::mean(sum, count + more),
        None => sum,
    })
}

#[inline(always)]
pub(crate) fn cleared<T: Folds>(value: T, fold: Fold, take: &Take) -> T {
    match take.zero_if_start && value == T::start(fold.combine, fold.seed) {
        true => T::narrow(T::ZERO),
        false => value,
    }
}

/// Whether the accumulator holds sums or products, and not elements.
#[inline(always)]
fn adds(combine: Combine) -> bool {
    matches!(combine, Combine::Sum | Combine::Prod)
}

/// Starts an accumulator of `len` values.
///
/// # Safety
/// `to` has room for them, and `cells`, `step` bytes apart, are readable where the fold starts from
/// them.
#[inline(always)]
pub(crate) unsafe fn begin<T: Folds>(
    to: *mut u8,
    fold: Fold,
    cells: *const u8,
    step: isize,
    len: usize,
) {
    // SAFETY: the caller promises room for `len` values, and cells where the fold starts from them.
    unsafe {
        if adds(fold.combine) {
            let to = to.cast::<T::Acc>();
            for i in 0..len {
                let cell = cells.wrapping_offset(i.cast_signed() * step).cast::<T>();
                to.add(i).write(first_of::<T>(fold, cell));
            }
        } else {
            let to = to.cast::<T>();
            for i in 0..len {
                let cell = cells.wrapping_offset(i.cast_signed() * step).cast::<T>();
                to.add(i).write(start_of::<T>(fold, cell));
            }
        }
    }
}

/// Calls a macro with the type of the accumulator's values that a reduction of elements `T` needs,
/// and how one joins them.
macro_rules! for_combine {
    ($combine:expr, $t:ident, $each:ident) => {
        match $combine {
            Combine::Sum => $each!($t::Acc, $t::add),
            Combine::Prod => $each!($t::Acc, $t::mul),
            Combine::Min(Nan::Ignore) if $t::STRICT => $each!($t, $t::extreme::<false, true>),
            Combine::Max(Nan::Ignore) if $t::STRICT => $each!($t, $t::extreme::<true, true>),
            Combine::Min(_) => $each!($t, $t::extreme::<false, false>),
            // Others have no loops here.
            _ => $each!($t, $t::extreme::<true, false>),
        }
    };
}

/// Joins a piece of a row into an accumulator.
///
/// # Safety
/// The accumulator holds as many values, of the type that `combine` needs.
#[inline(always)]
pub(crate) unsafe fn join<T: Folds>(acc: *mut u8, combine: Combine, values: &[T], isa: impl Isa) {
    let len = values.len();
    // SAFETY: the caller's promise; accumulators and source do not overlap.
    unsafe {
        macro_rules! each {
            ($cell:ty, $how:expr) => {{
                let how = $how;
                let cells = std::slice::from_raw_parts_mut(acc.cast::<$cell>(), len);
                pairs::<$cell, T, $cell>(
                    cells,
                    values,
                    isa,
                    #[inline(always)]
                    |cell, value| {
                        *cell = how(*cell, value);
                    },
                );
            }};
        }
        for_combine!(combine, T, each);
    }
}

/// Elements of a row that are joined in registers side by side, at the least.
pub(crate) const VECTOR: usize = 16;

/// The first of some values, as vectors of them.
pub(crate) fn vectors<C>(first: *mut C) -> *mut [C; VECTOR] {
    first.cast()
}

/// Joins the columns of rows into an accumulator, so many vectors of them at a time as there are
/// names, while as many are left.
macro_rules! panels {
    ($from:ident, $acc:expr, $len:expr, $some:expr, $row:expr, $ask:expr, $join:expr, [$($name:ident)*] $($number:literal)*) => {{
        const WIDTH: usize = VECTOR * [$($number),*].len();
        while $from + WIDTH <= $len {
            let part = $from..$from + WIDTH;
            let at = vectors($acc.add($from));
            $(let mut $name = at.add($number).read();)*
            for k in $some.clone() {
                $ask(k, part.clone());
                let values = vectors($row(k).cast_mut().add($from));
                $($join(&mut $name, values.add($number).read());)*
            }
            $(at.add($number).write($name);)*
            $from = part.end;
        }
    }};
}

/// Joins pieces of rows into an accumulator, which stays in registers some vectors at a time. `ask`
/// is told the number of each row before it is read, and which part of the `len` values is.
///
/// # Safety
/// `row` gives where `len` values can be read for each number of `some`; the accumulator holds as
/// many, of the type that `combine` needs.
#[inline(always)]
pub(crate) unsafe fn join_rows<T: Folds>(
    acc: *mut u8,
    combine: Combine,
    (row, some): (impl Fn(usize) -> *const T, Range<usize>),
    len: usize,
    ask: impl Fn(usize, Range<usize>),
) {
    // SAFETY: the caller's promise; panels, vectors and what is left behind them together are `len`
    // values.
    unsafe {
        macro_rules! each {
            ($cell:ty, $how:expr) => {{
                let (how, acc) = ($how, acc.cast::<$cell>());
                let join = |cells: &mut [$cell; VECTOR], values: [T; VECTOR]| {
                    for (cell, value) in cells.iter_mut().zip(values) {
                        *cell = how(*cell, Convert::<$cell>::convert(value));
                    }
                };
                let mut from = 0;
                panels!(from, acc, len, some, row, ask, join, [a b c d] 0 1 2 3);
                panels!(from, acc, len, some, row, ask, join, [a b] 0 1);
                panels!(from, acc, len, some, row, ask, join, [a] 0);
                if from < len {
                    some.clone().for_each(|k| ask(k, from..len));
                }
                for from in from..len {
                    let mut cell = acc.add(from).read();
                    for k in some.clone() {
                        cell = how(cell, Convert::<$cell>::convert(row(k).add(from).read()));
                    }
                    acc.add(from).write(cell);
                }
            }};
        }
        for_combine!(combine, T, each);
    }
}

/// Writes a piece of a row of an output.
///
/// # Safety
/// The accumulator holds `len` values, and `cells`, `step` bytes apart, are writable.
#[inline(always)]
pub(crate) unsafe fn finish<T: Folds>(
    acc: *const u8,
    fold: Fold,
    take: &Take,
    count: u64,
    cells: *mut u8,
    step: isize,
    len: usize,
) {
    let dense = step == size_of::<T>().cast_signed();
    // SAFETY: the caller's promise.
    unsafe {
        macro_rules! write {
            ($value:expr) => {{
                let value = $value;
                if dense {
                    let cells = cells.cast::<T>();
                    for i in 0..len {
                        cells.add(i).write(value(i));
                    }
                } else {
                    for i in 0..len {
                        let cell = cells.wrapping_offset(i.cast_signed() * step);
                        cell.cast::<T>().write(value(i));
                    }
                }
            }};
        }
        if adds(fold.combine) {
            let acc = acc.cast::<T::Acc>();
            match take.mean {
                None => write!(|i| T::narrow(acc.add(i).read())),
                Some(_) => write!(|i| finished::<T>(acc.add(i).read(), take, count)),
            }
        } else {
            let acc = acc.cast::<T>();
            match take.zero_if_start {
                false => write!(|i| acc.add(i).read()),
                true => write!(|i| cleared::<T>(acc.add(i).read(), fold, take)),
            }
        }
    }
}
