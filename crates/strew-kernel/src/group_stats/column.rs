//! Statistics of one column of a group's values.
//!
//! These are the statistics that need all values together. Values come in the order of the updates.
//! Those that need the values in ascending order are in [`ordered`](super::ordered).

use crate::error::Problem;
use crate::group_stats::ordered::{InOrder, Room};
use crate::group_stats::statistics::{Statistic, Value};
use crate::ops::order::minmax;
use crate::tensor::try_vec;

/// The values of one group at one place of the other axes.
pub(crate) struct Column<T: Value> {
    pub(crate) values: Vec<T>,
    /// Which update each is.
    pub(crate) places: Vec<usize>,
    pub(crate) order: InOrder<T>,
}

impl<T: Value> Column<T> {
    /// Room for values and what is needed of them.
    ///
    /// # Errors
    /// [`Problem::Memory`] if there is no room for the values.
    pub(crate) fn with_room(room: Room) -> Result<Self, Problem> {
        Ok(Self {
            values: try_vec("the values of a group", room.values)?,
            places: try_vec("the values of a group", room.places)?,
            order: InOrder::with_room(room)?,
        })
    }

    /// Takes other values, with places for as many or for none.
    pub(crate) fn refill(&mut self, values: impl Iterator<Item = T>, places: &[usize]) {
        self.order.clear();
        self.values.clear();
        self.values.extend(values);
        self.places.clear();
        self.places.extend_from_slice(places);
    }

    /// Takes the values of another one that are not NaN.
    pub(crate) fn refill_without_nan(&mut self, from: &Self) {
        let numbers = from.values.iter().copied();
        self.refill(numbers.filter(|value| !value.nan()), &[]);
        let places = from.places.iter().zip(&from.values);
        self.places.extend(
            places
                .filter(|(_, value)| !value.nan())
                .map(|(&place, _)| place),
        );
    }

    pub(crate) fn same(&mut self, statistic: Statistic) -> Option<T> {
        match statistic {
            Statistic::Mode => self.order.mode(&self.values),
            Statistic::Nth(at) => Some(self.values[place(at, self.values.len())?]),
            _ => None,
        }
    }

    pub(crate) fn real(&mut self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Median => self.order.median(&self.values),
            Statistic::Quantile(q, between) => self.order.quantile(&self.values, q, between),
            Statistic::LogSumExp => Some(self.log_sum_exp()),
            _ => None,
        }
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
        match statistic {
            Statistic::Unique => Some(self.order.different(&self.values) as i64),
            _ => None,
        }
    }

    /// Each value becomes the running result up to it. Returns the first place that has one: NaN
    /// that is skipped joins nothing, so that minima and maxima may begin late.
    pub(crate) fn run(&mut self, statistic: Statistic, skip: bool) -> usize {
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
            _ => {}
        }
        begun
    }
}

/// The place of the `at`th of `len` values, from the end if negative.
pub(crate) fn place(at: i64, len: usize) -> Option<usize> {
    let from_start = usize::try_from(at).ok();
    let from_end = || {
        usize::try_from(at.unsigned_abs())
            .ok()
            .and_then(|at| len.checked_sub(at))
    };
    let found = if at < 0 { from_end() } else { from_start };
    found.filter(|&found| found < len)
}
