//! strew's own aggregates: what is made of the values of each group, several at once.

use crate::checks::{axis, expect_shape};
use crate::context::Context;
use crate::describe::bounds::Bounds;
use crate::plan::as_scatter::as_scatter;
use crate::plan::statistics::{Groups, Numbers};
use crate::plan::{Plan, names};
use std::str::FromStr;
use strew_kernel::error::{Error, Problem, Result};
use strew_kernel::group_stats::exact::format_of;
use strew_kernel::statistic::output::Wanted;
use strew_kernel::statistic::what::{ExactOf, Facts, Statistic};
use strew_kernel::tensor::{DType, Dims, DynTensor, DynView};

pub use crate::plan::aggregate_options::{AggregateOptions, Fractions, QuantileMethod, RankMethod};

/// What [`Plan::aggregate_dyn`] makes of the values of each group. Those from
/// [`Softmax`](Self::Softmax) to [`Shift`](Self::Shift) have a result for each value, not for each
/// group.
///
/// Integers and bools are computed in 64 bits and wrap (means of them, and what is made of those,
/// in `f64`), floats in `f64`, complex numbers in `complex128`, in the order of the updates; each
/// result is rounded once. One pass over the values makes all of them; order statistics sort a copy
/// of a group's values, in a cache if the group fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Aggregate {
    /// The sum; without values 0. Of integers in 64 bits.
    Sum,
    /// The product; without values 1. Of integers in 64 bits.
    Prod,
    /// The sum of the squares, of complex numbers those of the magnitudes; without values 0. Of
    /// integers in 64 bits.
    SumSquares,
    /// The mean; of integers in `f64`.
    Mean,
    /// The mean square of the differences from the mean, of `ddof` values less; of no more than
    /// that it is none.
    Var,
    /// The square root of that.
    Std,
    /// The standard error of the mean: the square root of the variance by the number of values.
    Sem,
    /// The skewness without bias (G1, as in pandas), of three values or more; real numbers only.
    Skew,
    /// The excess kurtosis without bias (G2, as pandas has it), of four values or more; real
    /// numbers only.
    Kurt,
    /// The smallest; NaN wins. Complex numbers are compared by their real parts first.
    Min,
    /// The largest, likewise.
    Max,
    /// The first one.
    First,
    /// The last one.
    Last,
    /// How many values there are, NaN included unless it is skipped.
    Len,
    /// How many values are not NaN.
    Count,
    /// How many different ones there are; NaN is like NaN.
    NUnique,
    /// Whether one is true (not zero).
    Any,
    /// Whether all are true; without values they are.
    All,
    /// Whether one is NaN.
    AnyNan,
    /// Whether all are NaN; without values they are.
    AllNan,
    /// The first position of the smallest; -1 for a group with a NaN, and without values.
    ArgMin,
    /// The first position of the largest, likewise.
    ArgMax,
    /// The middle one in order, or the mean of the two in the middle; a NaN makes it NaN.
    Median,
    /// The value that is the fraction `q` of the way from the smallest to the largest, or on the
    /// line between two. Several fractions give one result each, along a new first axis.
    Quantile,
    /// The one that is there most often; of several the smallest. NaN is the largest.
    Mode,
    /// The logarithm of the sum of the exponentials; real numbers only, as for all of this kind.
    LogSumExp,
    /// Each one's exponential by the sum of all.
    Softmax,
    /// The sum so far. NaN that is skipped counts as nothing, here and below.
    CumSum,
    /// The product so far.
    CumProd,
    /// The smallest so far.
    CumMin,
    /// The largest so far.
    CumMax,
    /// The values in ascending order, NaN last, at the places that the group has.
    Sort,
    /// The position of each of these. Equal values stay in their order.
    ArgSort,
    /// The rank of each value, from 1 on, in `f64`. NaN is last, and NaN are equal; a NaN that is
    /// skipped has none. [`AggregateOptions::ties`] says what equal values get.
    Rank,
    /// How many values of the group stand before each one.
    CumCount,
    /// The value that stands [`AggregateOptions::periods`] places before in the group.
    Shift,
    /// The value at place [`AggregateOptions::n`] in the group.
    Nth,
    /// The [`AggregateOptions::k`] largest or smallest values, best first, along a new axis after
    /// that of the groups. NaN is the largest. Of equal values the first comes first.
    TopK,
    /// The positions of these; -1 if there are fewer.
    ArgTopK,
}

const ALL: [Aggregate; 39] = [
    Aggregate::Sum,
    Aggregate::Prod,
    Aggregate::SumSquares,
    Aggregate::Mean,
    Aggregate::Var,
    Aggregate::Std,
    Aggregate::Sem,
    Aggregate::Skew,
    Aggregate::Kurt,
    Aggregate::Min,
    Aggregate::Max,
    Aggregate::First,
    Aggregate::Last,
    Aggregate::Len,
    Aggregate::Count,
    Aggregate::NUnique,
    Aggregate::Any,
    Aggregate::All,
    Aggregate::AnyNan,
    Aggregate::AllNan,
    Aggregate::ArgMin,
    Aggregate::ArgMax,
    Aggregate::Median,
    Aggregate::Quantile,
    Aggregate::Mode,
    Aggregate::LogSumExp,
    Aggregate::Softmax,
    Aggregate::CumSum,
    Aggregate::CumProd,
    Aggregate::CumMin,
    Aggregate::CumMax,
    Aggregate::Sort,
    Aggregate::ArgSort,
    Aggregate::Rank,
    Aggregate::CumCount,
    Aggregate::Shift,
    Aggregate::Nth,
    Aggregate::TopK,
    Aggregate::ArgTopK,
];

#[allow(non_upper_case_globals)] // They stand for variants.
impl Aggregate {
    /// [`ArgMin`](Self::ArgMin) as NumPy spells it.
    pub const Argmin: Self = Self::ArgMin;

    /// [`ArgMax`](Self::ArgMax) as NumPy spells it.
    pub const Argmax: Self = Self::ArgMax;
}

impl Aggregate {
    /// The name by which it is chosen.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter()
    }

    /// Whether it has a result for each value, and not for each group.
    #[must_use]
    pub fn is_per_value(self) -> bool {
        self.usual().is_of_each()
    }

    /// What is known of it.
    pub(crate) fn facts(self) -> &'static Facts {
        self.usual().facts()
    }

    /// The statistic without options.
    fn usual(self) -> Statistic {
        self.statistic(&AggregateOptions::default(), 0.5)
    }

    /// What is made of values of a type, and what stands where nothing is made: one, or one for
    /// each of several fractions.
    pub(crate) fn wanted(
        self,
        of: DType,
        options: &AggregateOptions,
    ) -> Result<Vec<Wanted>, Problem> {
        let dtype = self.result(of)?;
        if options.exact && self.facts().rounds(of) {
            return Err(Problem::Value {
                argument: "exact".into(),
                value: "true".into(),
                expected: format!(
                    "{} rounds in the order of the values: exact are sum, mean, sumsq, var, std \
                     and sem",
                    self.name()
                ),
            });
        }
        let exact = |statistic| match options.exact {
            true => exactly(statistic, of, dtype),
            false => statistic,
        };
        let fill = options.fill_value.unwrap_or(self.facts().empty.of(dtype));
        let one = |statistic| {
            Ok(Wanted {
                statistic: exact(statistic),
                fill: fill.unwrapped("fill_value", dtype)?,
            })
        };
        self.statistics(options).into_iter().map(one).collect()
    }

    /// What to compute: one, or one for each of several fractions.
    fn statistics(self, options: &AggregateOptions) -> Vec<Statistic> {
        match (self, &options.q) {
            (Self::Quantile, Fractions::Several(all)) => {
                all.iter().map(|&q| self.statistic(options, q)).collect()
            }
            (_, Fractions::One(q)) => vec![self.statistic(options, *q)],
            _ => vec![self.statistic(options, 0.5)],
        }
    }

    fn statistic(self, options: &AggregateOptions, q: f64) -> Statistic {
        let ddof = options.ddof;
        let (count, largest) = (options.k, options.largest);
        match self {
            Self::Sum => Statistic::Sum,
            Self::Prod => Statistic::Prod,
            Self::SumSquares => Statistic::SumOfSquares,
            Self::Mean => Statistic::Mean,
            Self::Var => Statistic::Var { ddof },
            Self::Std => Statistic::Std { ddof },
            Self::Sem => Statistic::Sem { ddof },
            Self::Skew => Statistic::Skew,
            Self::Kurt => Statistic::Kurt,
            Self::Min => Statistic::Min,
            Self::Max => Statistic::Max,
            Self::First => Statistic::First,
            Self::Last => Statistic::Last,
            Self::Len => Statistic::Len,
            Self::Count => Statistic::Count,
            Self::NUnique => Statistic::Unique,
            Self::Any => Statistic::Any,
            Self::All => Statistic::All,
            Self::AnyNan => Statistic::AnyNan,
            Self::AllNan => Statistic::AllNan,
            Self::ArgMin => Statistic::ArgMin,
            Self::ArgMax => Statistic::ArgMax,
            Self::Median => Statistic::Median,
            Self::Quantile => Statistic::Quantile(q, options.between),
            Self::Mode => Statistic::Mode,
            Self::LogSumExp => Statistic::LogSumExp,
            Self::Softmax => Statistic::Softmax,
            Self::CumSum => Statistic::CumSum,
            Self::CumProd => Statistic::CumProd,
            Self::CumMin => Statistic::CumMin,
            Self::CumMax => Statistic::CumMax,
            Self::Sort => Statistic::Sort { reverse: false },
            Self::ArgSort => Statistic::ArgSort,
            Self::Rank => Statistic::Rank(options.ties),
            Self::CumCount => Statistic::CumCount,
            Self::Shift => Statistic::Shift(options.periods),
            Self::Nth => Statistic::Nth(options.n),
            Self::TopK => Statistic::Top { count, largest },
            Self::ArgTopK => Statistic::ArgTop { count, largest },
        }
    }

    /// The type of its results for values of type `of`: of a mean of integers, `float64`.
    ///
    /// ```
    /// # mod strew {
    /// #     pub use strew_engine::plan::aggregate::*;
    /// #     pub use strew_kernel::{error::Problem, tensor::DType};
    /// # }
    /// use strew::{Aggregate, DType};
    ///
    /// assert_eq!(Aggregate::Mean.result(DType::I32)?, DType::F64);
    /// assert_eq!(Aggregate::Max.result(DType::I32)?, DType::I32);
    /// # Ok::<(), strew::Problem>(())
    /// ```
    ///
    /// # Errors
    /// [`Problem::Unsupported`] for values that it is not defined for.
    pub fn result(self, of: DType) -> Result<DType, Problem> {
        let unsupported = || Problem::Unsupported {
            what: self.name().into(),
            dtype: of,
        };
        self.facts().results.of(of).ok_or_else(unsupported)
    }
}

/// The exact form of a statistic of values of a type, if it has one. Sums of integers are exact.
fn exactly(statistic: Statistic, values: DType, results: DType) -> Statistic {
    let whole = values == DType::Bool || values.is_integer();
    let of = match statistic {
        Statistic::Sum if !whole => ExactOf::Sum,
        Statistic::SumOfSquares if !whole => ExactOf::SumOfSquares,
        Statistic::Mean => ExactOf::Mean,
        Statistic::Var { ddof } => ExactOf::Var { ddof },
        Statistic::Std { ddof } => ExactOf::Std { ddof },
        Statistic::Sem { ddof } => ExactOf::Sem { ddof },
        other => return other,
    };
    Statistic::Exact(of, format_of(results))
}

impl FromStr for Aggregate {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::all().find(|one| one.name() == name);
        found.ok_or_else(|| {
            let known: Vec<_> = Self::all().map(Self::name).collect();
            crate::plan::context(None).error(names::unknown(name, &known))
        })
    }
}

impl Plan {
    /// Makes several things of the values of each row, in one trip over them.
    ///
    /// `src` has [`len`](Self::len) coordinates along axis `dim`; results have its shape, with
    /// [`size`](Self::size) coordinates along `dim` where there is one for each row. The best `k`
    /// of each row lie along an axis behind `dim`, several quantiles along a new first axis.
    /// Updates that are left out count nowhere.
    ///
    /// ```
    /// # mod strew {
    /// #     pub use strew_engine::{plan::*, plan::aggregate::*, plan::reduce::*};
    /// #     pub use strew_engine::describe::bounds::*;
    /// #     pub use strew_kernel::{error::Error, tensor::*};
    /// # }
    /// use strew::{Aggregate, AggregateOptions, Bounds, Plan, TensorView};
    ///
    /// let plan = Plan::new(&[2i64, 0, 2, 2], Some(3), Bounds::STRICT)?;
    /// let values = TensorView::from(&[1.0f32, 5.0, 2.0, 6.0]).into_dyn();
    /// let wanted = [Aggregate::Median, Aggregate::Count, Aggregate::CumMax];
    /// let made = plan.aggregate_dyn(&values, 0, &wanted, AggregateOptions::default())?;
    /// let [median, count, most] = <[_; 3]>::try_from(made).unwrap();
    /// assert!(median.typed::<f32>().unwrap().as_slice()[1].is_nan());
    /// assert_eq!(count.typed::<i64>().unwrap().as_slice(), [1, 0, 3]);
    /// assert_eq!(most.typed::<f32>().unwrap().as_slice(), [1.0, 5.0, 2.0, 6.0]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Class::Index`](strew_kernel::error::Class::Index) for a `dim` that is none,
    /// [`Class::Value`](strew_kernel::error::Class::Value) for a shape that does not fit, a fill
    /// value that a result does not have, a `q` beyond 0 and 1 and a `k` of 0,
    /// [`Class::Type`](strew_kernel::error::Class::Type) for types that an aggregate is not defined
    /// for, [`Class::Memory`](strew_kernel::error::Class::Memory).
    pub fn aggregate_dyn(
        &self,
        src: &DynView<'_>,
        dim: i64,
        wanted: &[Aggregate],
        options: AggregateOptions,
    ) -> Result<Vec<DynTensor>> {
        aggregated(&Groups::Plan(self), src, dim, wanted, &options)
            .map_err(|problem| self.context().error(problem))
    }
}

fn called() -> Context {
    Context {
        operator: "aggregate".into(),
        ..crate::plan::context(None)
    }
}

/// [`Plan::aggregate_dyn`] of an index that is used once. Statistics that take one pass over the
/// values read the index on the way.
///
/// * `index`: any integer type, one dimension.
/// * `size`: how many groups there are; `None`: one more than the largest number.
///
/// ```
/// # mod strew {
/// #     pub use strew_engine::{plan::aggregate::*, describe::bounds::*};
/// #     pub use strew_kernel::{error::Error, tensor::*};
/// # }
/// use strew::{Aggregate, AggregateOptions, Bounds, TensorView, aggregate_dyn};
///
/// let index = TensorView::from(&[2i64, 0, 2, 2]).into_dyn();
/// let values = TensorView::from(&[1.0f32, 5.0, 2.0, 6.0]).into_dyn();
/// let options = AggregateOptions::default();
/// let made = aggregate_dyn(&values, &index, 0, &[Aggregate::Max], None, Bounds::STRICT, options.clone())?;
/// let [most] = <[_; 1]>::try_from(made).unwrap();
/// assert_eq!(most.typed::<f32>().unwrap().as_slice()[2], 6.0);
/// # Ok::<(), strew::Error>(())
/// ```
///
/// # Errors
/// As [`Plan::new_dyn`] and [`Plan::aggregate_dyn`].
pub fn aggregate_dyn(
    src: &DynView<'_>,
    index: &DynView<'_>,
    dim: i64,
    wanted: &[Aggregate],
    size: Option<usize>,
    bounds: Bounds,
    options: AggregateOptions,
) -> Result<Vec<DynTensor>> {
    let numbers = Numbers::new(index, size, bounds, "index");
    let made =
        numbers.and_then(|numbers| aggregated(&Groups::Index(numbers), src, dim, wanted, &options));
    made.map_err(|problem| called().error(problem))
}

fn aggregated(
    groups: &Groups<'_>,
    src: &DynView<'_>,
    dim: i64,
    wanted: &[Aggregate],
    options: &AggregateOptions,
) -> Result<Vec<DynTensor>, Problem> {
    let axis = axis("dim", dim, src.rank())?;
    let fits = src.shape().get(axis) == Some(&groups.updates());
    expect_shape("src", src.shape(), fits, || {
        let updates = groups.updates();
        format!("its size along dimension {axis} must be {updates}")
    })?;
    options.check()?;
    let mut all = Vec::new();
    for aggregate in wanted {
        all.extend(aggregate.wanted(src.dtype(), options)?);
    }
    if let (Groups::Index(numbers), [one]) = (groups, &all[..])
        && let Some(made) = as_scatter(numbers, src, axis, wanted, &one.fill, options)?
    {
        return Ok(vec![made]);
    }
    let mut made = groups
        .statistics(src, axis, &all, options.among())?
        .into_iter();
    let one = |&aggregate: &Aggregate| match (aggregate, &options.q) {
        (Aggregate::Quantile, Fractions::Several(all)) => {
            let parts: Vec<DynTensor> = made.by_ref().take(all.len()).collect();
            let dtype = aggregate.result(src.dtype())?;
            let mut shape = src.dims();
            shape[axis] = groups.size();
            joined(&parts, dtype, &shape)
        }
        _ => made.next().ok_or_else(|| Problem::Layout {
            argument: "src".into(),
            why: "a result is missing".into(),
        }),
    };
    wanted.iter().map(one).collect()
}

/// Tensors of this type and shape, one after the other along a new first axis.
fn joined(parts: &[DynTensor], dtype: DType, shape: &[usize]) -> Result<DynTensor, Problem> {
    let mut all = Dims::from_slice(shape);
    all.insert(0, parts.len());
    let mut made = DynTensor::zeros(dtype, &all)?;
    let mut cells = made.as_bytes_mut();
    for part in parts {
        let (to, others) = std::mem::take(&mut cells).split_at_mut(part.as_bytes().len());
        to.copy_from_slice(part.as_bytes());
        cells = others;
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::{Aggregate, AggregateOptions, Fractions, aggregate_dyn};
    use crate::describe::bounds::Bounds;
    use crate::plan::Plan;
    use strew_kernel::error::{Class, Problem};
    use strew_kernel::tensor::{Scalar, TensorView};

    const WANTED: [Aggregate; 10] = [
        Aggregate::Mean,
        Aggregate::Max,
        Aggregate::Std,
        Aggregate::CumSum,
        Aggregate::Median,
        Aggregate::Sort,
        Aggregate::Rank,
        Aggregate::TopK,
        Aggregate::ArgTopK,
        Aggregate::Quantile,
    ];

    #[test]
    fn an_index_that_is_used_once_gives_what_its_plan_gives() {
        let index: Vec<i32> = (0..9000).map(|n| n * 7919 % 61 - 3).collect();
        let values: Vec<f32> = (0..18_000).map(|n| (n * 31 % 1000) as f32 / 7.0).collect();
        let index = TensorView::from(&index).into_dyn();
        for (shape, dim) in [([9000, 2], 0), ([2, 9000], 1)] {
            let values = TensorView::from_slice(&values, &shape).unwrap().into_dyn();
            for mode in ["wrap", "drop", "clip"] {
                let bounds = Bounds {
                    ignored: Some(5),
                    ..mode.parse::<Bounds>().unwrap()
                };
                for size in [Some(40), Some(58), None] {
                    let options = AggregateOptions {
                        q: Fractions::Several(vec![0.1, 0.5, 0.9]),
                        k: 3,
                        ..AggregateOptions::default()
                    };
                    let plan = Plan::new_dyn(&index, size, bounds, None);
                    let once =
                        aggregate_dyn(&values, &index, dim, &WANTED, size, bounds, options.clone());
                    let Ok(plan) = plan else {
                        assert!(once.is_err());
                        continue;
                    };
                    let planned = plan
                        .aggregate_dyn(&values, dim, &WANTED, options.clone())
                        .unwrap();
                    for (once, planned) in once.unwrap().iter().zip(&planned) {
                        assert_eq!(once.shape(), planned.shape());
                        assert_eq!(once.as_bytes(), planned.as_bytes());
                    }
                }
            }
        }
    }

    #[test]
    fn a_number_that_is_no_group_is_named() {
        let mut index = vec![1i64; 5000];
        index[4321] = 9;
        let index = TensorView::from(&index).into_dyn();
        for columns in [0, 1] {
            let values = vec![1.0f64; 5000 * columns];
            let values = TensorView::from_slice(&values, &[5000, columns]).unwrap();
            let (wanted, options) = ([Aggregate::Sum], AggregateOptions::default());
            let strict = Bounds::STRICT;
            let made = aggregate_dyn(
                &values.into_dyn(),
                &index,
                0,
                &wanted,
                Some(9),
                strict,
                options.clone(),
            );
            let error = made.unwrap_err();
            assert_eq!(error.class(), Class::Index);
            let Problem::IndexOutOfBounds {
                position, value, ..
            } = error.problem()
            else {
                panic!("{error}");
            };
            assert_eq!((&position[..], value.integer()), (&[4321][..], Some(9)));
        }
    }

    #[test]
    fn the_best_of_each_group_lie_behind_the_groups() {
        let index = TensorView::from(&[1i64, 0, 1, 1]).into_dyn();
        let values = [5i32, 1, 2, 2, 7, 3, 7, 4, 8, 8, 8, 8];
        let values = TensorView::from_slice(&values, &[3, 4]).unwrap().into_dyn();
        let options = AggregateOptions {
            k: 2,
            fill_value: Some(Scalar::Int(-9)),
            ..AggregateOptions::default()
        };
        let wanted = [Aggregate::TopK, Aggregate::ArgTopK];
        let strict = Bounds::STRICT;
        let made = aggregate_dyn(
            &values,
            &index,
            1,
            &wanted,
            Some(2),
            strict,
            options.clone(),
        )
        .unwrap();
        let [best, places] = <[_; 2]>::try_from(made).unwrap();
        assert_eq!(best.shape(), [3, 2, 2]);
        let best = best.typed::<i32>().unwrap();
        assert_eq!(best.as_slice(), [1, -9, 5, 2, 3, -9, 7, 7, 8, -9, 8, 8]);
        let places = places.typed::<i64>().unwrap();
        assert_eq!(places.as_slice(), [1, -9, 0, 2, 1, -9, 0, 2, 1, -9, 0, 2]);
    }

    #[test]
    fn options_out_of_range_are_named() {
        let index = TensorView::from(&[0i64]).into_dyn();
        let values = TensorView::from(&[1.0f64]).into_dyn();
        let usual = AggregateOptions::default;
        for (options, named) in [
            (
                AggregateOptions { k: 0, ..usual() },
                "k = 0: it must be at least 1",
            ),
            (
                AggregateOptions {
                    q: Fractions::Several(vec![0.5, 2.0]),
                    ..usual()
                },
                "q = 2: it must be from 0 to 1",
            ),
        ] {
            let wanted = [Aggregate::Sum];
            let made = aggregate_dyn(
                &values,
                &index,
                0,
                &wanted,
                None,
                Bounds::STRICT,
                options.clone(),
            );
            let error = made.unwrap_err().to_string();
            assert!(error.ends_with(named), "{error}");
        }
    }
}
