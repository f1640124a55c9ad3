//! How each segment is reduced: the start of a running result, how updates join it, and how the
//! cell comes from it.
//!
//! ```text
//! running = identity, a finite extreme, or the cell's value
//! for each update: running = join(running, update)
//! cell = running, rounded; or running / count; or 0 where nothing has won
//! ```
//!
//! A [`Fold`] is this as data. `Column` is it as a type, over which the loops are generic: `Sum`,
//! `Prod` and `MinMaxSelect` of [`combine`](crate::ops::combine), and `Winner`, which also
//! keeps the number of the update that has won. All choices are selects, so that rows vectorise.

use crate::cpu::isa::Isa;
use crate::ops::combine::{Join, MinMaxSelect, Prod, Sum};
use crate::ops::number::{Convert, Divisor, Mean, Number};
use crate::ops::order::{Ordered, finite_start_of, identity_of, replaces_element};
use crate::ops::reduction::Combine;
use crate::segment::minmax_lanes;
use std::any::TypeId;
use std::marker::PhantomData;

/// What a running result starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// What the cell holds.
    Current,
    /// The reduction's identity.
    Identity,
    /// The finite value that every other one beats in a strict minimum or maximum.
    FiniteExtreme,
}

/// What is done to a finished result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Nothing.
    None,
    /// The sum of one or more updates is divided.
    Mean(Mean),
    /// An extreme of no updates becomes 0.
    ZeroIfEmpty,
    /// An extreme that still equals its start becomes 0.
    ZeroIfStart,
    /// An extreme that still equals its start becomes 0, unless an update is a number.
    ZeroIfNoNumber,
}

/// The reduction of each segment into one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// A sum, a product, a minimum or a maximum.
    pub combine: Combine,
    pub seed: Seed,
    pub finish: Finish,
    /// For a minimum or maximum that ignores NaN: a second output holds the winners' numbers, and
    /// this where no update has won. Such a cell becomes 0 unless the result starts from it.
    pub none: Option<i64>,
    /// Cells of segments without updates are finished and written, too.
    pub empty: bool,
    /// The sum of floats is exact, and rounded once: of a seed that is the identity, undivided.
    pub exact: bool,
}

/// The number of a winner in a [`Column`]: those below [`EARLIER`] are updates.
pub(crate) type Place = u32;

/// No update has won, and the first that is a number does.
pub(crate) const FREE: Place = Place::MAX;

/// No update has won. One wins that is better than the start.
pub(crate) const NOBODY: Place = FREE - 1;

/// An update has won that came before those that are numbered now.
pub(crate) const EARLIER: Place = FREE - 2;

/// Whether elements of the type are the commonest, for which loops are worth their size.
#[inline(always)]
pub(crate) fn is_common<T: 'static>() -> bool {
    let id = TypeId::of::<T>();
    id == TypeId::of::<f32>() || id == TypeId::of::<f64>()
}

/// How the updates of one column of a segment are reduced.
pub(crate) trait Column: 'static {
    /// The element in memory.
    type Value: Number + PartialEq;
    /// The running result.
    type Running: Copy;
    /// Whether it has loops of [every form](crate::ops::hot).
    const HOT: bool = true;
    /// Whether the numbers of winners are written.
    const POSITIONS: bool = false;
    /// Whether updates are reduced one after the other only: the bits depend on their order.
    const ORDERED: bool = true;
    /// Whether results may be divided.
    const MEANS: bool = false;
    /// Whether elements are converted by eights.
    const EIGHTS: bool = false;
    /// Whether loops over rows are compiled for AVX-512, too. It converts twice as many 16-bit floats
    /// at a time.
    const WIDE: bool = Self::EIGHTS;
    /// The start; `None`: the cell's value.
    fn start(seed: Seed) -> Option<Self::Running>;
    /// Converts elements.
    fn widen<const W: usize>(values: [Self::Value; W], isa: impl Isa) -> [Self::Running; W];
    /// Converts results.
    fn narrow<const W: usize>(running: [Self::Running; W], isa: impl Isa) -> [Self::Value; W];
    /// What a running result, and the number of its winner, become.
    fn join(
        running: Self::Running,
        winner: Place,
        update: Self::Running,
        number: Place,
    ) -> (Self::Running, Place);
    /// The same once an update has won, or if the start is one that updates must beat.
    #[inline(always)]
    fn join_later(
        running: Self::Running,
        winner: Place,
        update: Self::Running,
        number: Place,
    ) -> (Self::Running, Place) {
        Self::join(running, winner, update, number)
    }
    /// Whether an extreme takes the value for a number.
    #[inline(always)]
    fn is_number(_: Self::Value) -> bool {
        true
    }
    /// The results of one or more updates divided as the mean says.
    #[inline(always)]
    fn means<const W: usize>(running: [Self::Running; W], _: Mean, _: u64) -> [Self::Running; W] {
        running
    }
    /// What a running result becomes once all of one or more values have joined it, for columns
    /// that are not [`ORDERED`](Self::ORDERED).
    #[inline(always)]
    fn join_all(running: Self::Running, _: &[Self::Value]) -> Self::Running {
        running
    }
}

/// Converts values of one type to another, by eights where there is an instruction for that.
#[inline(always)]
fn convert<S: Convert<D>, D: Copy, const W: usize>(
    values: [S; W],
    zero: D,
    isa: impl Isa,
) -> [D; W] {
    let mut made = [zero; W];
    if S::EIGHT && W >= 8 {
        let (from, from_rest) = values.as_chunks::<8>();
        let (to, to_rest) = made.as_chunks_mut::<8>();
        for (to, &from) in to.iter_mut().zip(from) {
            *to = S::eight(from, isa);
        }
        for (to, &from) in to_rest.iter_mut().zip(from_rest) {
            *to = from.convert();
        }
    } else {
        for (to, from) in made.iter_mut().zip(values) {
            *to = from.convert();
        }
    }
    made
}

/// Sums and products: columns whose running results are accumulators.
macro_rules! accumulated {
    ($($name:ident, $start:ident, $means:literal;)*) => {$(
        impl<T: Number + PartialEq> Column for $name<T> {
            type Value = T;
            type Running = T::Acc;
            const HOT: bool = <Self as Join>::HOT;
            const MEANS: bool = $means;
            const EIGHTS: bool = <T as Convert<T::Acc>>::EIGHT;
            const WIDE: bool = Self::EIGHTS || T::WIDE_ROWS;

            #[inline(always)]
            fn start(seed: Seed) -> Option<T::Acc> {
                (seed != Seed::Current).then_some(T::$start)
            }

            #[inline(always)]
            fn widen<const W: usize>(values: [T; W], isa: impl Isa) -> [T::Acc; W] {
                convert(values, T::ZERO, isa)
            }

            #[inline(always)]
            fn narrow<const W: usize>(running: [T::Acc; W], isa: impl Isa) -> [T; W] {
                convert(running, T::narrow(T::ZERO), isa)
            }

            #[inline(always)]
            fn join(mut sum: T::Acc, winner: Place, update: T::Acc, _: Place) -> (T::Acc, Place) {
                <Self as Join>::join(&mut sum, update);
                (sum, winner)
            }

            #[inline(always)]
            fn means<const W: usize>(mut sums: [T::Acc; W], mean: Mean, count: u64) -> [T::Acc; W] {
                let count = count + mean.more;
                // The divisor is looked at once, so that the divisions vectorise.
                match mean.divisor {
                    Divisor::Count => sums.iter_mut().for_each(
                        #[inline(always)]
                        |sum| *sum = T::mean(*sum, count),
                    ),
                    Divisor::CountTowardZero => sums.iter_mut().for_each(
                        #[inline(always)]
                        |sum| *sum = T::mean_toward_zero(*sum, count),
                    ),
                    Divisor::Root => sums.iter_mut().for_each(
                        #[inline(always)]
                        |sum| *sum = T::by_root(*sum, count),
                    ),
                }
                sums
            }
        }
    )*};
}

accumulated! {
    Sum, ZERO, true;
    Prod, ONE, false;
}

/// The start of an extreme.
#[inline(always)]
fn extreme_start<T: Ordered, const MAX: bool>(seed: Seed) -> Option<T> {
    match seed {
        Seed::Current => None,
        Seed::Identity => Some(identity_of::<T, MAX>()),
        Seed::FiniteExtreme => Some(finite_start_of::<T, MAX>()),
    }
}

/// The part of a [`Column`] that extremes with and without positions share: running results are
/// elements.
macro_rules! extreme {
    () => {
        type Value = T;
        type Running = T;
        const HOT: bool = T::EXTREME;

        #[inline(always)]
        fn start(seed: Seed) -> Option<T> {
            extreme_start::<T, MAX>(seed)
        }

        #[inline(always)]
        fn widen<const W: usize>(values: [T; W], _: impl Isa) -> [T; W] {
            values
        }

        #[inline(always)]
        fn narrow<const W: usize>(running: [T; W], _: impl Isa) -> [T; W] {
            running
        }
    };
}

impl<T: Ordered + Number + PartialEq, const MAX: bool, const STRICT: bool> Column
    for MinMaxSelect<T, MAX, STRICT>
{
    extreme!();
    const ORDERED: bool = false;
    const WIDE: bool = T::WIDE_ROWS && !STRICT;

    #[inline(always)]
    fn join(mut best: T, winner: Place, update: T, _: Place) -> (T, Place) {
        <Self as Join>::join(&mut best, update);
        (best, winner)
    }

    #[inline(always)]
    fn is_number(value: T) -> bool {
        !value.nan()
    }

    #[inline(always)]
    fn join_all(best: T, values: &[T]) -> T {
        minmax_lanes::extreme::<T, MAX, STRICT>(best, values)
    }
}

/// A minimum or maximum that ignores NaN, with the number of the update that has won. Of equal
/// updates the first wins.
pub(crate) struct Winner<T, const MAX: bool>(PhantomData<T>);

impl<T: Ordered + Number + PartialEq, const MAX: bool> Column for Winner<T, MAX> {
    extreme!();
    const POSITIONS: bool = true;

    #[inline(always)]
    fn join(best: T, winner: Place, update: T, number: Place) -> (T, Place) {
        let first = (winner == FREE) & !update.nan();
        let wins = replaces_element::<T, MAX, false>(update, best) | first;
        // Two selects instead of a branch: they vectorise.
        (
            if wins { update.canonical() } else { best },
            if wins { number } else { winner },
        )
    }

    #[inline(always)]
    fn join_later(best: T, winner: Place, update: T, number: Place) -> (T, Place) {
        let wins = replaces_element::<T, MAX, false>(update, best);
        (
            if wins { update.canonical() } else { best },
            if wins { number } else { winner },
        )
    }
}
