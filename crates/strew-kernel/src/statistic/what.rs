//! What statistics there are, and what is known of each.

use crate::exact::number::Format;
use crate::tensor::{DType, Scalar};

/// What is made of the values of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    Sum,
    Prod,
    Mean,
    /// The exact value of a statistic, rounded once to a format.
    Exact(ExactOf, Format),
    /// The mean square of the differences from the mean, of which `ddof` less are counted.
    Var {
        ddof: f64,
    },
    /// The square root of that.
    Std {
        ddof: f64,
    },
    /// The standard error of the mean: the square root of the variance by the number of values.
    Sem {
        ddof: f64,
    },
    /// The adjusted Fisher-Pearson skewness, of at least three values.
    Skew,
    /// The unbiased excess kurtosis, of at least four values.
    Kurt,
    /// NaN wins.
    Min,
    Max,
    SumOfSquares,
    First,
    Last,
    Len,
    /// Of values that are not NaN.
    Count,
    /// The first position, of a group without NaN.
    ArgMin,
    ArgMax,
    Any,
    All,
    AnyNan,
    AllNan,
    /// The middle one, or the mean of the two in the middle.
    Median,
    /// The value at that fraction of the way from the first to the last in order, or between two.
    Quantile(f64, Between),
    /// The value that is there most often; of several, the smallest.
    Mode,
    /// How many different values there are; NaN is like NaN.
    Unique,
    LogSumExp,
    /// Each exponential's share.
    Softmax,
    /// So far, for each value.
    CumSum,
    CumProd,
    CumMin,
    CumMax,
    /// The values in ascending or descending order, NaN last, at the places that the group has.
    Sort {
        reverse: bool,
    },
    /// The update of each value in ascending order, NaN last, at the places that the group has.
    ArgSort,
    /// The rank of each value, from 1 on; NaN last, and equal to NaN.
    Rank(Ties),
    /// How many values of the group stand before each one.
    CumCount,
    /// The value that stands this many places before it; behind it, if the number is negative.
    Shift(i64),
    /// The value at this place, from the first or, if negative, from the last.
    Nth(i64),
    /// The first values in descending or ascending order. NaN is the largest value. Of equal values
    /// the first one comes first.
    Top {
        count: usize,
        largest: bool,
    },
    /// The updates of those.
    ArgTop {
        count: usize,
        largest: bool,
    },
}

/// What has an exact value that can be rounded once. The names are those of [`Statistic`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExactOf {
    Sum,
    Mean,
    SumOfSquares,
    Var { ddof: f64 },
    Std { ddof: f64 },
    Sem { ddof: f64 },
}

/// The rank of equal values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ties {
    /// The mean of the ranks that they take together.
    #[default]
    Average,
    /// The smallest of these ranks.
    Min,
    /// The largest of these ranks.
    Max,
    /// One more than the rank of the next smaller value.
    Dense,
    /// Each has its own rank, in their order.
    Ordinal,
}

/// The quantile at a place between two values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Between {
    /// On the line between both.
    #[default]
    Linear,
    /// The smaller one.
    Lower,
    /// The larger one.
    Higher,
    /// The one that is nearer; halfway, that of even rank, counted from 0.
    Nearest,
    /// Their mean.
    Midpoint,
}

/// What kind of numbers come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of the values' type.
    Same,
    /// One real number.
    Real,
    /// One integer.
    Whole,
    /// One of the values' type for each value.
    Each,
    /// One real number for each value.
    EachReal,
    /// One integer for each value.
    EachWhole,
}

/// What is known of a statistic. A file of [`aggregate`](crate::aggregate) says it.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name by which it is chosen.
    pub name: &'static str,
    pub kind: Kind,
    pub results: ResultType,
    pub empty: Empty,
    pub order: Order,
    /// Its exact value can be rounded once.
    pub exact: bool,
    /// It depends on the positions of the values.
    pub of_places: bool,
    pub way: Way,
}

impl Facts {
    /// One of the values, or what is made of them in their type, by a record of each group.
    pub const USUAL: Self = Self {
        name: "",
        kind: Kind::Same,
        results: ResultType::OfValues,
        empty: Empty::Missing,
        order: Order::Free,
        exact: false,
        of_places: false,
        way: Way::Record,
    };

    /// Whether it is rounded in the order of values of a type, and has no exact form.
    #[must_use]
    pub fn rounds(&self, of: DType) -> bool {
        let rounds = match self.order {
            Order::Free => false,
            Order::Rounds => of.is_float() || of.is_complex(),
            Order::Matters => true,
        };
        rounds && !self.exact
    }
}

/// The type of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// That of the values.
    OfValues,
    /// The same; of integers and bools 64 bits.
    Widened,
    /// The same; of integers and bools `float64`.
    Mean,
    /// The same; of complex numbers that of their parts.
    Spread,
    /// As means; complex numbers have none.
    Real,
    Int64,
    Float64,
    Bool,
}

impl ResultType {
    /// The type for values of a type; `None` if there are no results for it.
    #[must_use]
    pub fn of(self, values: DType) -> Option<DType> {
        let whole = values == DType::Bool || values.is_integer();
        Some(match (self, values) {
            (Self::Int64, _) => DType::I64,
            (Self::Float64, _) => DType::F64,
            (Self::Bool, _) => DType::Bool,
            (Self::Widened, DType::U8 | DType::U16 | DType::U32 | DType::U64) => DType::U64,
            (Self::Widened, _) if whole => DType::I64,
            (Self::Spread, DType::C64) => DType::F32,
            (Self::Spread, DType::C128) => DType::F64,
            (Self::Mean | Self::Spread | Self::Real, _) if whole => DType::F64,
            (Self::Real, _) if values.is_complex() => return None,
            _ => values,
        })
    }
}

/// What stands where nothing is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    Zero,
    One,
    False,
    True,
    /// -1, which is no position.
    Nowhere,
    /// NaN; 0 for integers.
    Missing,
}

impl Empty {
    /// The value for results of a type.
    #[must_use]
    pub fn of(self, results: DType) -> Scalar {
        match self {
            Self::Zero => Scalar::Int(0),
            Self::One => Scalar::Int(1),
            Self::False => Scalar::Bool(false),
            Self::True => Scalar::Bool(true),
            Self::Nowhere => Scalar::Int(-1),
            Self::Missing if results.is_float() || results.is_complex() => Scalar::Float(f64::NAN),
            Self::Missing => Scalar::Int(0),
        }
    }
}

/// Whether the order of the values matters, so that records of different values cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Free,
    /// Where values of the type round: floats and complex numbers.
    Rounds,
    Matters,
}

/// How it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By a record of each group, in one pass over the values.
    Record,
    /// The same with a result for each value.
    Scan,
    /// From all values of a group together.
    Together(Needs),
}

/// What is needed of the values of a group beside themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Where they are.
    pub places: bool,
    /// Their keys, in order.
    pub keys: bool,
    /// The same, with the places.
    pub pairs: bool,
}

impl Needs {
    pub const NOTHING: Self = Self {
        places: false,
        keys: false,
        pairs: false,
    };
    pub const KEYS: Self = Self {
        keys: true,
        ..Self::NOTHING
    };
    pub const PAIRS: Self = Self {
        pairs: true,
        ..Self::NOTHING
    };
}
