//! Variances, standard deviations and standard errors, by the moments of
//! [`group_stats`](crate::group_stats::moments).

use crate::aggregate::fold::{End, Fold, join_all};
use crate::aggregate::{Job, Made, Row, fill_of, finish, states, with_rows, with_values};
use crate::error::Problem;
use crate::group_stats::cell::Spread;
use crate::group_stats::moments::{Variance, variance};
use crate::group_stats::running::Fold as Record;
use crate::group_stats::statistics::{Statistic, Value};
use crate::tensor::Element;

/// A type of values, and what their moments are computed from.
trait Moved: Element {
    type Computed: Value<Point = f64>;
    type Result: Element;
    fn computed(self) -> Self::Computed;
    fn result(made: f64) -> Self::Result;
}

macro_rules! moved {
    ($($t:ty as $computed:ty, $result:ty;)*) => {$(
        impl Moved for $t {
            type Computed = $computed;
            type Result = $result;

            #[inline(always)]
            fn computed(self) -> $computed {
                self.into()
            }

            #[allow(clippy::cast_possible_truncation)]
            fn result(made: f64) -> $result {
                made as $result
            }
        }
    )*};
}

moved! {
    f32 as f64, f32;
    f64 as f64, f64;
    i64 as i64, f64;
}

impl<V: Moved> Fold<V> for Variance {
    type State = Spread<f64>;

    #[inline(always)]
    fn join(state: &mut Spread<f64>, value: V, place: usize) {
        <Self as Record<V::Computed>>::join(state, value.computed(), place);
    }
}

pub(super) fn var(statistic: Statistic, job: Job<'_>) -> Result<Made, Problem> {
    with_values!(job, |values: V| {
        with_rows!(job.rows, |rows| var_of::<V, _>(
            statistic, &job, rows, values
        ))
    })
}

fn var_of<V: Moved, R: Row>(
    statistic: Statistic,
    job: &Job<'_>,
    rows: &[R],
    values: &[V],
) -> Result<Made, Problem> {
    let Some(fill) = fill_of::<V::Result>(job) else {
        return Ok(Made::None);
    };
    let mut all = states(job, <Variance as Record<V::Computed>>::START)?;
    match join_all::<Variance, V, R>(job, rows, values, &mut all)? {
        End::Stray => Ok(Made::Stray),
        End::Done => finish(&all, |state| {
            variance(state, statistic).map_or(fill, V::result)
        }),
    }
}
