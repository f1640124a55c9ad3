//! Statistics of one column of a group's values: what each one is, and how it is computed.
//!
//! These are the statistics that need all values together, and every other one where no loop over
//! rows applies (NaN to skip, too few values). Values come in the order of the updates. Order
//! statistics sort a copy of the column once.

use crate::error::Problem;
use crate::group_stats::cell::Cell;
use crate::group_stats::moments::{self, Point};
use crate::ops::order::{Compared, beats, first_nan_replaces, minmax};
use crate::tensor::{Element, try_vec};
use num_complex::Complex64;
use std::cmp::Ordering;

/// What is made of the values of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    Sum,
    Prod,
    Mean,
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
    Quantile(f64),
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
}

/// What kind of numbers come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
}

impl Statistic {
    pub(crate) fn kind(self, complex: bool) -> Kind {
        match self {
            Self::Mean if complex => Kind::Same,
            Self::Mean
            | Self::Var { .. }
            | Self::Std { .. }
            | Self::Sem { .. }
            | Self::Skew
            | Self::Kurt
            | Self::Median
            | Self::Quantile(_)
            | Self::LogSumExp => Kind::Real,
            Self::Softmax => Kind::EachReal,
            Self::Len
            | Self::Count
            | Self::Unique
            | Self::ArgMin
            | Self::ArgMax
            | Self::Any
            | Self::All
            | Self::AnyNan
            | Self::AllNan => Kind::Whole,
            Self::CumSum | Self::CumProd | Self::CumMin | Self::CumMax | Self::Sort { .. } => {
                Kind::Each
            }
            _ => Kind::Same,
        }
    }

    /// Whether there is one result for each value, not for each group.
    pub fn is_of_each(self) -> bool {
        matches!(self.kind(false), Kind::Each | Kind::EachReal)
    }
}

/// A type that values are computed in.
pub trait Value: Element + Compared + Cell + PartialEq {
    const COMPLEX: bool;
    /// Means are sums of the type itself.
    const FLOAT: bool;
    const ZERO: Self;
    const ONE: Self;
    /// No value is less.
    const LOWEST: Self;
    /// No value is greater.
    const HIGHEST: Self;
    /// The sum that means are made of. Integers do not wrap in it.
    type Total: Cell;
    /// The sum of no values.
    const NOTHING: Self::Total;
    /// What variances are made of: a real number, or a complex one.
    type Point: Point + Cell;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The square, of complex numbers that of the magnitude.
    fn square(self) -> Self;
    /// NaN last; complex numbers by their real parts first.
    fn order(&self, other: &Self) -> Ordering;
    /// The lesser of two, the first if neither is; NaN is stronger.
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        let wins = first_nan_replaces::<Self, false>(other, self);
        if wins { other } else { self }
    }
    /// The greater of two, likewise.
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        let wins = first_nan_replaces::<Self, true>(other, self);
        if wins { other } else { self }
    }
    /// The sum of the value and a total.
    fn add_to(self, total: Self::Total) -> Self::Total;
    fn add_totals(a: Self::Total, b: Self::Total) -> Self::Total;
    /// The mean of `count` values with this total; NaN of none.
    fn mean_of(total: Self::Total, count: u64) -> Complex64;
    /// The mean of values in their order.
    fn mean(all: &[Self]) -> Complex64 {
        let total = all
            .iter()
            .fold(Self::NOTHING, |total, value| value.add_to(total));
        Self::mean_of(total, all.len() as u64)
    }
    fn complex(self) -> Complex64;
    fn of(value: Complex64) -> Self;
    /// Writes values as elements of their own type.
    fn write_all(values: &[Self], cells: &mut [u8]);
}

macro_rules! eight_bytes {
    () => {
        fn write_all(values: &[Self], cells: &mut [u8]) {
            let (cells, _) = cells.as_chunks_mut();
            for (cell, value) in cells.iter_mut().zip(values) {
                *cell = value.to_ne_bytes();
            }
        }
    };
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        impl Value for $t {
            const COMPLEX: bool = false;
            const FLOAT: bool = false;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = Self::MIN;
            const HIGHEST: Self = Self::MAX;
            type Total = i128;
            const NOTHING: i128 = 0;
            type Point = f64;
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn square(self) -> Self { self.wrapping_mul(self) }
            fn order(&self, other: &Self) -> Ordering { self.cmp(other) }
            fn add_to(self, total: i128) -> i128 { total.wrapping_add(self.into()) }
            fn add_totals(a: i128, b: i128) -> i128 { a.wrapping_add(b) }
            fn mean_of(total: i128, count: u64) -> Complex64 {
                match count {
                    0 => f64::NAN.into(),
                    count => (total as f64 / count as f64).into(),
                }
            }
            fn complex(self) -> Complex64 { (self as f64).into() }
            fn of(value: Complex64) -> Self { value.re as Self }
            eight_bytes!();
        }
    )*};
}

integers!(i64, u64);

impl Value for f64 {
    const COMPLEX: bool = false;
    const FLOAT: bool = true;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const LOWEST: Self = Self::NEG_INFINITY;
    const HIGHEST: Self = Self::INFINITY;
    type Total = Self;
    const NOTHING: Self = 0.0;
    type Point = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }
    fn mul(self, other: Self) -> Self {
        self * other
    }
    fn square(self) -> Self {
        self * self
    }
    fn order(&self, other: &Self) -> Ordering {
        let last = || self.is_nan().cmp(&other.is_nan());
        self.partial_cmp(other).unwrap_or_else(last)
    }
    fn add_to(self, total: Self) -> Self {
        total + self
    }
    fn add_totals(a: Self, b: Self) -> Self {
        a + b
    }
    #[allow(clippy::cast_precision_loss)]
    fn mean_of(total: Self, count: u64) -> Complex64 {
        match count {
            0 => Self::NAN.into(),
            count => (total / count as Self).into(),
        }
    }
    fn complex(self) -> Complex64 {
        self.into()
    }
    fn of(value: Complex64) -> Self {
        value.re
    }
    eight_bytes!();
}

impl Value for Complex64 {
    const COMPLEX: bool = true;
    const FLOAT: bool = false;
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;
    const LOWEST: Self = Self::new(f64::NEG_INFINITY, f64::NEG_INFINITY);
    const HIGHEST: Self = Self::new(f64::INFINITY, f64::INFINITY);
    type Total = Self;
    const NOTHING: Self = Self::ZERO;
    type Point = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }
    fn mul(self, other: Self) -> Self {
        self * other
    }
    fn square(self) -> Self {
        (self.re * self.re + self.im * self.im).into()
    }
    fn order(&self, other: &Self) -> Ordering {
        let last = || self.nan().cmp(&other.nan());
        let parts = || {
            Some(
                self.re
                    .partial_cmp(&other.re)?
                    .then(self.im.partial_cmp(&other.im)?),
            )
        };
        match self.nan() || other.nan() {
            true => last(),
            false => parts().unwrap_or(Ordering::Equal),
        }
    }
    fn add_to(self, total: Self) -> Self {
        total + self
    }
    fn add_totals(a: Self, b: Self) -> Self {
        a + b
    }
    #[allow(clippy::cast_precision_loss)]
    fn mean_of(total: Self, count: u64) -> Complex64 {
        Self::new(total.re / count as f64, total.im / count as f64)
    }
    fn complex(self) -> Complex64 {
        self
    }
    fn of(value: Complex64) -> Self {
        value
    }
    fn write_all(values: &[Self], cells: &mut [u8]) {
        let (cells, _) = cells.as_chunks_mut::<16>();
        for (cell, value) in cells.iter_mut().zip(values) {
            let (re, im) = cell.split_at_mut(8);
            re.copy_from_slice(&value.re.to_ne_bytes());
            im.copy_from_slice(&value.im.to_ne_bytes());
        }
    }
}

/// The values of one group at one place of the other axes.
pub(crate) struct Column<T> {
    pub(crate) values: Vec<T>,
    /// Which update each is.
    pub(crate) places: Vec<usize>,
    /// The values in order, NaN last, once somebody wants them.
    sorted: Vec<T>,
}

impl<T: Value> Column<T> {
    /// No value yet.
    ///
    /// # Errors
    /// [`Problem::Memory`] if there is no room for so many.
    pub(crate) fn with_room(most: usize) -> Result<Self, Problem> {
        Ok(Self {
            values: try_vec("the values of a group", most)?,
            places: try_vec("the values of a group", most)?,
            sorted: try_vec("the values of a group", most)?,
        })
    }

    /// Takes the values of another one, or those that are not NaN.
    pub(crate) fn refill(&mut self, from: &Self, skip: bool) {
        self.values.clear();
        self.places.clear();
        self.sorted.clear();
        for (&value, &place) in from.values.iter().zip(&from.places) {
            if !(skip && value.nan()) {
                self.values.push(value);
                self.places.push(place);
            }
        }
    }

    fn in_order(&mut self) -> &[T] {
        if self.sorted.len() != self.values.len() {
            self.sorted.clear();
            self.sorted.extend_from_slice(&self.values);
            self.sorted.sort_by(T::order);
        }
        &self.sorted
    }

    /// Stretches of equal values in order: the value and how often it is there.
    fn runs(&mut self) -> impl Iterator<Item = (T, usize)> + '_ {
        let equal = |a: &T, b: &T| a == b || (a.nan() && b.nan());
        let runs = self.in_order().chunk_by(equal);
        runs.filter_map(|run| Some((*run.first()?, run.len())))
    }

    pub(crate) fn same(&mut self, statistic: Statistic) -> Option<T> {
        if statistic == Statistic::Mode {
            let most = |a: (T, usize), b: (T, usize)| if b.1 > a.1 { b } else { a };
            return self.runs().reduce(most).map(|(value, _)| value);
        }
        let all = || self.values.iter().copied();
        Some(match statistic {
            Statistic::Sum => all().fold(T::ZERO, T::add),
            Statistic::Prod => all().fold(T::ONE, T::mul),
            Statistic::SumOfSquares => all().map(T::square).fold(T::ZERO, T::add),
            Statistic::Mean => T::of(T::mean(&self.values)),
            Statistic::First => *self.values.first()?,
            Statistic::Last => *self.values.last()?,
            Statistic::Min => all().reduce(T::lesser)?,
            Statistic::Max => all().reduce(T::greater)?,
            _ => return None,
        })
    }

    pub(crate) fn real(&mut self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Median => self.median(),
            Statistic::Quantile(q) => self.quantile(q),
            Statistic::LogSumExp => Some(self.log_sum_exp()),
            Statistic::Mean => Some(T::mean(&self.values).re),
            moment => moments::of_values(&self.values, moment),
        }
    }

    fn median(&mut self) -> Option<f64> {
        let sorted = self.in_order();
        let (last, half) = (sorted.last()?, sorted.len() / 2);
        if last.nan() {
            return Some(f64::NAN);
        }
        let upper = sorted[half].complex().re;
        Some(match sorted.len() % 2 {
            1 => upper,
            _ => f64::midpoint(sorted[half - 1].complex().re, upper),
        })
    }

    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    fn quantile(&mut self, q: f64) -> Option<f64> {
        let sorted = self.in_order();
        if sorted.last()?.nan() {
            return Some(f64::NAN);
        }
        let at = q * (sorted.len() - 1) as f64;
        let below = (at.floor() as usize).min(sorted.len() - 1);
        let above = (below + 1).min(sorted.len() - 1);
        let (low, high) = (sorted[below].complex().re, sorted[above].complex().re);
        let (part, apart) = (at - at.floor(), high - low);
        Some(match part {
            _ if low == high => low,
            part if part >= 0.5 => high - apart * (1.0 - part),
            part => low + apart * part,
        })
    }

    /// The largest value, and the sum of the exponentials without it.
    pub(crate) fn exponentials(&self) -> (f64, f64) {
        let all = || self.values.iter().map(|value| value.complex().re);
        let most = all().fold(f64::NEG_INFINITY, |most, value| {
            minmax::<f64, true, false>(most, value)
        });
        let most = if all().any(f64::is_nan) {
            f64::NAN
        } else {
            most
        };
        (
            most,
            all().fold(0.0, |sum, value| sum + libm::exp(value - most)),
        )
    }

    fn log_sum_exp(&self) -> f64 {
        match self.exponentials() {
            (most, _) if most.is_infinite() => most,
            (most, sum) => libm::log(sum) + most,
        }
    }

    pub(crate) fn whole(&mut self, statistic: Statistic) -> Option<i64> {
        if statistic == Statistic::Unique {
            return Some(self.runs().count() as i64);
        }
        let all = || self.values.iter().copied();
        let is_true = |value: T| value != T::ZERO;
        let arg = |wins: fn(T, T) -> bool| {
            let places = self.places.iter().copied().zip(all());
            let better = |a: (usize, T), b: (usize, T)| {
                if wins(b.1, a.1) { b } else { a }
            };
            let found = places.reduce(better).filter(|_| !all().any(T::nan));
            found.map(|(place, _)| place as i64)
        };
        match statistic {
            Statistic::Len => Some(self.values.len() as i64),
            Statistic::Count => Some(all().filter(|value| !value.nan()).count() as i64),
            Statistic::ArgMin => arg(beats::<T, false>),
            Statistic::ArgMax => arg(beats::<T, true>),
            Statistic::Any => Some(all().any(is_true).into()),
            Statistic::All => Some(all().all(is_true).into()),
            Statistic::AnyNan => Some(all().any(T::nan).into()),
            Statistic::AllNan => Some(all().all(T::nan).into()),
            _ => None,
        }
    }

    /// Values become what is made of each, from the place on that is given back. NaN counts for
    /// nothing in running results if it is skipped, so that the least and the greatest may begin
    /// late.
    pub(crate) fn each(&mut self, statistic: Statistic, skip: bool) -> usize {
        let mut so_far: Option<T> = None;
        let mut begun = 0;
        let mut run = |join: fn(T, T) -> T, start: Option<T>| {
            for value in &mut self.values {
                if !(skip && value.nan()) {
                    so_far = Some(so_far.map_or(*value, |so_far| join(so_far, *value)));
                }
                match so_far.or(start) {
                    Some(made) => *value = made,
                    None => begun += 1,
                }
            }
        };
        match statistic {
            Statistic::CumSum => run(T::add, Some(T::ZERO)),
            Statistic::CumProd => run(T::mul, Some(T::ONE)),
            Statistic::CumMin => run(T::lesser, None),
            Statistic::CumMax => run(T::greater, None),
            Statistic::Sort { reverse } => self.values.sort_by(|a, b| match reverse {
                true if a.nan() == b.nan() => b.order(a),
                _ => a.order(b),
            }),
            _ => {}
        }
        begun
    }
}
