//! What a call of `aggregate` says beside the names of its aggregates.

use strew_kernel::error::{Problem, Result};
use strew_kernel::tensor::Scalar;

pub use strew_kernel::group_stats::statistics::Ties as RankMethod;

/// How [`Plan::aggregate_dyn`](crate::plan::Plan::aggregate_dyn) counts, and what single aggregates
/// need to know.
#[derive(Clone, Debug)]
pub struct AggregateOptions {
    /// NaN does not count.
    pub skip_nan: bool,
    /// Of fewer values that count nothing is made.
    pub min_count: usize,
    /// What stands where nothing is made; `None`: 0 for sums and counts, 1 for products, what
    /// [`Aggregate`](crate::plan::Aggregate) says of flags and positions, otherwise NaN, and 0 for
    /// integers.
    pub fill_value: Option<Scalar>,
    /// What is taken off the number of values in a variance.
    pub ddof: f64,
    /// Sums, means, sums of squares, variances, standard deviations and errors are the exact value,
    /// rounded once. Other aggregates that round are refused.
    pub exact: bool,
    /// The fraction of [`Quantile`](crate::plan::Aggregate::Quantile), or several.
    pub q: Fractions,
    /// How many values [`TopK`](crate::plan::Aggregate::TopK) and its positions have; at least 1.
    pub k: usize,
    /// They are the largest values, otherwise the smallest.
    pub largest: bool,
    /// The place of [`Nth`](crate::plan::Aggregate::Nth): 0 is the first, -1 the last.
    pub n: i64,
    /// How many places [`Shift`](crate::plan::Aggregate::Shift) moves values on.
    pub periods: i64,
    /// The [`Rank`](crate::plan::Aggregate::Rank) of equal values.
    pub ties: RankMethod,
}

/// Fractions of quantiles, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Fractions {
    /// The result has no axis for it.
    One(f64),
    /// The results lie along a new first axis.
    Several(Vec<f64>),
}

impl Default for AggregateOptions {
    fn default() -> Self {
        Self {
            skip_nan: false,
            min_count: 1,
            fill_value: None,
            ddof: 0.0,
            exact: false,
            q: Fractions::One(0.5),
            k: 1,
            largest: true,
            n: 0,
            periods: 1,
            ties: RankMethod::Average,
        }
    }
}

impl AggregateOptions {
    /// Refuses what no aggregate takes.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let wrong = |argument: &str, value: String, expected: &str| Problem::Value {
            argument: argument.into(),
            value,
            expected: expected.into(),
        };
        let fractions = match &self.q {
            Fractions::One(q) => std::slice::from_ref(q),
            Fractions::Several(all) => all,
        };
        if let Some(q) = fractions.iter().find(|q| !(0.0..=1.0).contains(*q)) {
            return Err(wrong("q", q.to_string(), "it must be from 0 to 1"));
        }
        if self.k == 0 {
            return Err(wrong("k", "0".into(), "it must be at least 1"));
        }
        Ok(())
    }
}

/// The names of [`RankMethod`], as pandas and SciPy have them.
const METHODS: [(&str, RankMethod); 5] = [
    ("average", RankMethod::Average),
    ("min", RankMethod::Min),
    ("max", RankMethod::Max),
    ("dense", RankMethod::Dense),
    ("ordinal", RankMethod::Ordinal),
];

/// Reads the name of a [`RankMethod`].
///
/// # Errors
/// [`Class::Value`](strew_kernel::error::Class::Value) for any other name.
pub fn rank_method(name: &str) -> Result<RankMethod> {
    let found = METHODS.iter().find(|(known, _)| *known == name);
    found.map(|(_, method)| *method).ok_or_else(|| {
        crate::plan::context(None).error(Problem::Value {
            argument: "method".into(),
            value: format!("{name:?}"),
            expected: format!(
                "it must be one of {}",
                METHODS.map(|(name, _)| name).join(", ")
            ),
        })
    })
}
