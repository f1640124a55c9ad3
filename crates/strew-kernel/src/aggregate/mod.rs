//! The statistics of groups, each in its file: what is known of it, how a value joins a record of its
//! group, and the loop that suits single values of the commonest types.
//!
//! | file | statistics |
//! |---|---|
//! | `sum` | sum, prod, sumsq |
//! | `mean` | mean |
//! | `var` | var, std, sem |
//! | `skew` | skew, kurt |
//! | `min` | min, max |
//! | `argmax` | argmin, argmax |
//! | `first` | first, last |
//! | `len` | len, count |
//! | `any` | any, all, anynan, allnan |
//! | `cumsum` | cumsum, cumprod, cummin, cummax |
//! | `median` | median, quantile |
//! | `mode` | mode, nunique |
//! | `sort` | sort, argsort |
//! | `rank` | rank |
//! | `topk` | topk, argtopk |
//! | `nth` | nth, shift, cumcount |
//! | `softmax` | softmax, logsumexp |
//!
//! A new one is a variant of [`Statistic`] and a file here. The compiler then names
//! [`Statistic::facts`]. A record needs a place in `with_fold`, too, and a loop of its own one in
//! `of_single_values`.
//! [`group_stats`](crate::group_stats) has the passes over values of any kind; the loops here give
//! their bits.

mod any;
mod argmax;
pub(crate) mod cumsum;
mod first;
pub(crate) mod len;
mod mean;
pub(crate) mod median;
mod min;
pub(crate) mod mode;
pub(crate) mod nth;
pub(crate) mod rank;
mod skew;
pub(crate) mod softmax;
pub(crate) mod sort;
mod sum;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod topk;
mod var;

use crate::cpu::fp_env::DefaultFloats;
use crate::error::Problem;
use crate::statistic::fold::{Fold, Scan};
use crate::statistic::pass::{Job, Made};
use crate::statistic::value::Value;
use crate::statistic::what::{ExactOf, Facts, Kind, Order, Statistic, Way};

impl Statistic {
    /// What is known of it.
    #[must_use]
    pub fn facts(self) -> &'static Facts {
        match self {
            Self::Sum | Self::Exact(ExactOf::Sum, _) => &sum::SUM,
            Self::Prod => &sum::PROD,
            Self::SumOfSquares | Self::Exact(ExactOf::SumOfSquares, _) => &sum::SUM_OF_SQUARES,
            Self::Mean | Self::Exact(ExactOf::Mean, _) => &mean::MEAN,
            Self::Var { .. } | Self::Exact(ExactOf::Var { .. }, _) => &var::VAR,
            Self::Std { .. } | Self::Exact(ExactOf::Std { .. }, _) => &var::STD,
            Self::Sem { .. } | Self::Exact(ExactOf::Sem { .. }, _) => &var::SEM,
            Self::Skew => &skew::SKEW,
            Self::Kurt => &skew::KURT,
            Self::Min => &min::MIN,
            Self::Max => &min::MAX,
            Self::First => &first::FIRST,
            Self::Last => &first::LAST,
            Self::Len => &len::LEN,
            Self::Count => &len::COUNT,
            Self::ArgMin => &argmax::ARG_MIN,
            Self::ArgMax => &argmax::ARG_MAX,
            Self::Any => &any::ANY,
            Self::All => &any::ALL,
            Self::AnyNan => &any::ANY_NAN,
            Self::AllNan => &any::ALL_NAN,
            Self::Median => &median::MEDIAN,
            Self::Quantile(..) => &median::QUANTILE,
            Self::Mode => &mode::MODE,
            Self::Unique => &mode::UNIQUE,
            Self::LogSumExp => &softmax::LOG_SUM_EXP,
            Self::Softmax => &softmax::SOFTMAX,
            Self::CumSum => &cumsum::CUM_SUM,
            Self::CumProd => &cumsum::CUM_PROD,
            Self::CumMin => &cumsum::CUM_MIN,
            Self::CumMax => &cumsum::CUM_MAX,
            Self::Sort { .. } => &sort::SORT,
            Self::ArgSort => &sort::ARG_SORT,
            Self::Rank(_) => &rank::RANK,
            Self::CumCount => &nth::CUM_COUNT,
            Self::Shift(_) => &nth::SHIFT,
            Self::Nth(_) => &nth::NTH,
            Self::Top { .. } => &topk::TOP,
            Self::ArgTop { .. } => &topk::ARG_TOP,
        }
    }

    /// What kind of numbers come of values.
    pub(crate) fn kind(self, complex: bool) -> Kind {
        match self {
            Self::Mean | Self::Exact(ExactOf::Sum | ExactOf::Mean, _) if complex => Kind::Same,
            Self::Exact(..) => Kind::Real,
            _ => self.facts().kind,
        }
    }

    /// Whether there is one result for each value, not for each group.
    #[must_use]
    pub fn is_of_each(self) -> bool {
        let kind = self.facts().kind;
        matches!(kind, Kind::Each | Kind::EachReal | Kind::EachWhole)
    }

    /// How many results a group has, if there is not one for each value.
    #[must_use]
    pub fn per_group(self) -> usize {
        match self {
            Self::Top { count, .. } | Self::ArgTop { count, .. } => count,
            _ => 1,
        }
    }

    /// Whether the results of a group have an axis.
    #[must_use]
    pub fn has_axis(self) -> bool {
        matches!(self, Self::Top { .. } | Self::ArgTop { .. })
    }

    /// Whether it depends on the order in which values of a type come, so that records of different
    /// values cannot be merged.
    #[must_use]
    pub fn depends_on_order<T: Value>(self) -> bool {
        match (self, self.facts().order) {
            (Self::Exact(..), _) | (_, Order::Free) => false,
            (_, Order::Rounds) => T::FLOAT || T::COMPLEX,
            (_, Order::Matters) => true,
        }
    }

    /// Whether it is computed in one pass over the values.
    ///
    /// `few`: groups of few values, or of NaN only, may have no results, and NaN may be skipped. What
    /// has a result for each value must know that before it begins.
    #[must_use]
    pub fn is_streamed(self, few: bool) -> bool {
        match self.facts().way {
            Way::Record => true,
            Way::Scan => !few,
            Way::Together(_) => false,
        }
    }

    /// Calls a function with the record of a statistic, if it has one. `Std` and `Sem` have that of
    /// `Var`.
    pub(crate) fn with_fold<T: Value, W: WithFold<T>>(self, with: W) -> Option<W::Made> {
        Some(match self {
            Self::Sum => with.with::<sum::Sum>(),
            Self::Prod => with.with::<sum::Prod>(),
            Self::SumOfSquares => with.with::<sum::SumOfSquares>(),
            Self::Mean => with.with::<mean::Mean>(),
            Self::Var { .. } => with.with::<var::Variance>(),
            Self::Skew => with.with::<skew::Powers>(),
            Self::Min => with.with::<min::Min>(),
            Self::Max => with.with::<min::Max>(),
            Self::First => with.with::<first::End<false>>(),
            Self::Last => with.with::<first::End<true>>(),
            Self::Len => with.with::<len::Len>(),
            Self::Count => with.with::<len::Count>(),
            Self::ArgMin => with.with::<argmax::Arg<false>>(),
            Self::ArgMax => with.with::<argmax::Arg<true>>(),
            Self::Any => with.with::<any::Any>(),
            Self::All => with.with::<any::All>(),
            Self::AnyNan => with.with::<any::AnyNan>(),
            Self::AllNan => with.with::<any::AllNan>(),
            _ => return None,
        })
    }

    /// Calls a function with the record of a statistic of each value, if it has one.
    pub(crate) fn with_scan<T: Value, W: WithScan<T>>(self, with: W) -> Option<W::Made> {
        Some(match self {
            Self::CumSum => with.with::<cumsum::CumSum>(),
            Self::CumProd => with.with::<cumsum::CumProd>(),
            Self::CumMin => with.with::<cumsum::CumExtreme<false>>(),
            Self::CumMax => with.with::<cumsum::CumExtreme<true>>(),
            _ => return None,
        })
    }
}

/// A function of the type of a record.
pub(crate) trait WithFold<T: Value> {
    type Made;
    fn with<F: Fold<T>>(self) -> Self::Made;
}

/// A function of the type of a record with a result for each value.
pub(crate) trait WithScan<T: Value> {
    type Made;
    fn with<S: Scan<T>>(self) -> Self::Made;
}

/// The results of a statistic of single values: one of each group, or of each value.
///
/// # Errors
/// [`Problem::Memory`], and [`Problem::Interrupted`] if a step says so.
pub fn of_single_values(statistic: Statistic, job: Job<'_>) -> Result<Made, Problem> {
    if job.values.len() != job.rows.len() {
        return Ok(Made::None);
    }
    let _floats = DefaultFloats::enter();
    match statistic {
        Statistic::Sum => sum::sum(job),
        Statistic::Prod => sum::prod(job),
        Statistic::SumOfSquares => sum::sum_of_squares(job),
        Statistic::Mean => mean::mean(job),
        Statistic::Min => min::extreme::<false>(job),
        Statistic::Max => min::extreme::<true>(job),
        Statistic::Len => len::len(job),
        Statistic::Any => any::any(job),
        Statistic::All => any::all(job),
        Statistic::First => first::first(job),
        Statistic::Last => first::last(job),
        Statistic::ArgMin => argmax::arg::<false>(job),
        Statistic::ArgMax => argmax::arg::<true>(job),
        Statistic::CumSum => cumsum::cumsum(job),
        Statistic::CumProd => cumsum::cumprod(job),
        Statistic::CumMin => cumsum::cummin(job),
        Statistic::CumMax => cumsum::cummax(job),
        Statistic::Var { .. } | Statistic::Std { .. } | Statistic::Sem { .. } => {
            var::var(statistic, job)
        }
        Statistic::Median | Statistic::Quantile(..) => median::median(statistic, job),
        _ => Ok(Made::None),
    }
}
