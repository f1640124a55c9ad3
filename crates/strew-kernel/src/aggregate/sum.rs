//! Sums, products and sums of squares, in the order of the values: of floats in `f64`, rounded once;
//! of integers wrapping.

use crate::error::Problem;
use crate::statistic::fold::{Fold, number_folds};
use crate::statistic::pass::{
    Job, Made, Outcome, RowNumber, Step, fill_of, finish, join_all, states, with_rows, with_values,
};
use crate::statistic::value::Value;
use crate::statistic::what::{Empty, Facts, Order, ResultType};
use crate::tensor::{DynTensor, Element};
use std::marker::PhantomData;

pub(crate) const SUM: Facts = Facts {
    name: "sum",
    results: ResultType::Widened,
    empty: Empty::Zero,
    order: Order::Rounds,
    exact: true,
    ..Facts::USUAL
};

pub(crate) const PROD: Facts = Facts {
    name: "prod",
    results: ResultType::Widened,
    empty: Empty::One,
    order: Order::Rounds,
    ..Facts::USUAL
};

pub(crate) const SUM_OF_SQUARES: Facts = Facts {
    name: "sumsq",
    results: ResultType::Widened,
    empty: Empty::Zero,
    order: Order::Rounds,
    exact: true,
    ..Facts::USUAL
};

number_folds! { T, Same:
    /// The sum.
    Sum, T::ZERO, |sum, value| sum.add(value), T::add;
    /// The product.
    Prod, T::ONE, |product, value| product.mul(value), T::mul;
    /// The sum of the squares.
    SumOfSquares, T::ZERO, |sum, value| sum.add(value.square()), T::add;
}

/// A type of single values, and that of their sums and products.
pub(crate) trait Summed: Element {
    type Sum: Value;
    fn wide(self) -> Self::Sum;
    /// The sum as an element, rounded once.
    fn of(sum: Self::Sum) -> Self;
}

macro_rules! summed {
    ($($t:ty as $sum:ty),*) => {$(
        impl Summed for $t {
            type Sum = $sum;

            #[inline(always)]
            fn wide(self) -> $sum {
                self.into()
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation)]
            fn of(sum: $sum) -> Self {
                sum as Self
            }
        }
    )*};
}

summed!(f32 as f64, f64 as f64, i64 as i64);

/// A record of the type of sums, which joins single values.
struct OfSums<F>(PhantomData<F>);

impl<V: Summed, F: Fold<V::Sum, Cell = V::Sum>> Step<V> for OfSums<F> {
    type State = V::Sum;

    #[inline(always)]
    fn join(sum: &mut V::Sum, value: V, place: usize) {
        F::join(sum, value.wide(), place);
    }
}

pub(crate) fn sum(job: Job<'_>) -> Result<Made, Problem> {
    of::<Sum>(job)
}

pub(crate) fn prod(job: Job<'_>) -> Result<Made, Problem> {
    of::<Prod>(job)
}

pub(crate) fn sum_of_squares(job: Job<'_>) -> Result<Made, Problem> {
    of::<SumOfSquares>(job)
}

fn of<F: Fold<f64, Cell = f64> + Fold<i64, Cell = i64>>(job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| sums::<F, V, _>(&job, rows, values))
    })
}

fn sums<F: Fold<V::Sum, Cell = V::Sum>, V: Summed, R: RowNumber>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    // Which groups have values is not known. Those without have what a record begins with, and no
    // other fill value. Zero has two signs.
    let start = V::of(F::START);
    let is_negative_zero =
        F::START == V::Sum::ZERO && job.fill.as_bytes().iter().any(|&byte| byte != 0);
    if fill_of::<V>(job) != Some(start) || is_negative_zero {
        return Ok(Made::None);
    }
    if V::DTYPE == V::Sum::DTYPE {
        let sums = DynTensor::filled(V::DTYPE, &[job.size], job.fill.as_bytes())?;
        let Ok(mut sums) = sums.typed::<V::Sum>() else {
            return Ok(Made::None);
        };
        let end = join_all::<OfSums<F>, V, R>(job, rows, values, sums.as_mut_slice())?;
        return Ok(match end {
            Outcome::Done => Made::Results(sums.into_dyn()),
            Outcome::Stray => Made::Stray,
        });
    }
    let mut sums = states(job, F::START)?;
    match join_all::<OfSums<F>, V, R>(job, rows, values, &mut sums)? {
        Outcome::Done => finish(&sums, |sum| V::of(sum)),
        Outcome::Stray => Ok(Made::Stray),
    }
}
