//! Sums, products and sums of squares, in the order of the values: of floats in `f64`, rounded once;
//! of integers wrapping.

use crate::error::Problem;
use crate::statistic::fold::number_folds;
use crate::statistic::pass::{
    Job, Made, Outcome, RowNumber, Step, fill_of, finish, join_all, states, with_rows, with_values,
};
use crate::statistic::what::{Empty, Facts, Order, ResultType};
use crate::tensor::{Element, Plain, Tensor};

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

/// A type of values, and that of their sums.
pub(crate) trait Summed: Element {
    type Sum: Element + Plain;
    const ZERO: Self::Sum;
    fn add(self, sum: Self::Sum) -> Self::Sum;
    /// The sum as an element, rounded once.
    fn of(sum: Self::Sum) -> Self;
}

macro_rules! summed {
    ($($t:ty as $sum:ty: |$value:ident, $so_far:ident| $add:expr;)*) => {$(
        impl Summed for $t {
            type Sum = $sum;
            const ZERO: $sum = 0 as $sum;

            #[inline(always)]
            fn add(self, $so_far: $sum) -> $sum {
                let $value = self;
                $add
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation)]
            fn of(sum: $sum) -> Self {
                sum as Self
            }
        }
    )*};
}

summed! {
    f32 as f64: |value, sum| sum + f64::from(value);
    f64 as f64: |value, sum| sum + value;
    i64 as i64: |value, sum| sum.wrapping_add(value);
}

impl<V: Summed> Step<V> for Sum {
    type State = V::Sum;

    #[inline(always)]
    fn join(sum: &mut V::Sum, value: V, _: usize) {
        *sum = value.add(*sum);
    }
}

pub(crate) fn sum(job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        // Which groups have values is not known. Those without have a sum of zero, and no other fill
        // value.
        if fill_of::<V>(&job) != Some(V::of(V::ZERO)) || is_negative_zero(&job) {
            return Ok(Made::None);
        }
        with_rows!(job.rows, |rows| sum_of(&job, rows, values))
    })
}

/// Zero has two signs.
fn is_negative_zero(job: &Job<'_>) -> bool {
    job.fill.as_bytes().iter().any(|&byte| byte != 0)
}

fn sum_of<V: Summed, R: RowNumber>(
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    if V::DTYPE == V::Sum::DTYPE {
        let mut sums = Tensor::<V::Sum>::zeros(&[job.size])?;
        let end = join_all::<Sum, V, R>(job, rows, values, sums.as_mut_slice())?;
        return Ok(match end {
            Outcome::Done => Made::Results(sums.into_dyn()),
            Outcome::Stray => Made::Stray,
        });
    }
    let mut sums = states(job, V::ZERO)?;
    match join_all::<Sum, V, R>(job, rows, values, &mut sums)? {
        Outcome::Done => finish(&sums, |sum| V::of(sum)),
        Outcome::Stray => Ok(Made::Stray),
    }
}
