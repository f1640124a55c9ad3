//! What a call of `aggregate` says beside the names of its aggregates.

use strew_kernel::error::{Problem, Result};
use strew_kernel::statistic::output::Among;
use strew_kernel::tensor::Scalar;

use crate::plan::Aggregate;
pub use strew_kernel::statistic::what::{Between as QuantileMethod, Ties as RankMethod};

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
    /// The [`Quantile`](crate::plan::Aggregate::Quantile) at a place between two values.
    pub between: QuantileMethod,
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
            between: QuantileMethod::Linear,
        }
    }
}

impl AggregateOptions {
    /// Which values count.
    pub(crate) fn among(&self) -> Among {
        Among {
            skip: self.skip_nan,
            least: self.min_count,
        }
    }

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

/// The names of [`QuantileMethod`], as NumPy has them.
const BETWEEN: [(&str, QuantileMethod); 5] = [
    ("linear", QuantileMethod::Linear),
    ("lower", QuantileMethod::Lower),
    ("higher", QuantileMethod::Higher),
    ("nearest", QuantileMethod::Nearest),
    ("midpoint", QuantileMethod::Midpoint),
];

impl AggregateOptions {
    /// The same with the method of ranks or of quantiles that a name says.
    ///
    /// # Errors
    /// [`Class::Value`](strew_kernel::error::Class::Value) for a name of neither, and for one of
    /// the other where only ranks or only quantiles are wanted.
    pub fn with_method(mut self, name: &str, wanted: &[Aggregate]) -> Result<Self> {
        let (ranks, quantiles) = (
            wanted.contains(&Aggregate::Rank),
            wanted.contains(&Aggregate::Quantile),
        );
        let any = !(ranks || quantiles);
        let tie = METHODS.iter().find(|(known, _)| *known == name);
        let between = BETWEEN.iter().find(|(known, _)| *known == name);
        match (tie, between) {
            (Some((_, ties)), _) if ranks || any => self.ties = *ties,
            (_, Some((_, between))) if quantiles || any => self.between = *between,
            _ => {
                let ties = METHODS.map(|(name, _)| name).join(", ");
                let between = BETWEEN.map(|(name, _)| name).join(", ");
                let expected = match (ranks, quantiles) {
                    (true, false) => format!("of a rank it must be one of {ties}"),
                    (false, true) => format!("of a quantile it must be one of {between}"),
                    _ => {
                        format!("it must be one of {ties} for a rank, or {between} for a quantile")
                    }
                };
                return Err(crate::plan::context(None).error(Problem::Value {
                    argument: "method".into(),
                    value: format!("{name:?}"),
                    expected,
                }));
            }
        }
        Ok(self)
    }
}
