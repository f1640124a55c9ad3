//! Statistics of one column of a group's values.
//!
//! These are the statistics that need all values together. Values come in the order of the updates.

use crate::aggregate::median::of_ranks;
use crate::aggregate::mode::{different, mode};
use crate::aggregate::nth::place;
use crate::aggregate::softmax::log_sum_exp;
use crate::error::Problem;
use crate::statistic::in_order::{InOrder, Room};
use crate::statistic::value::Value;
use crate::statistic::what::Statistic;
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

    /// Takes every `width`th value of a block, from the `i`th on.
    pub(crate) fn refill_from(&mut self, block: &[T], i: usize, width: usize, places: &[usize]) {
        match width {
            // Copied at once.
            1 => self.refill(block.iter().copied(), places),
            _ => self.refill(block.iter().skip(i).step_by(width).copied(), places),
        }
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
            Statistic::Mode => mode(&mut self.order, &self.values),
            Statistic::Nth(at) => Some(self.values[place(at, self.values.len())?]),
            _ => None,
        }
    }

    pub(crate) fn real(&mut self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Median | Statistic::Quantile(..) => {
                of_ranks(statistic, &mut self.order, &self.values)
            }
            Statistic::LogSumExp => Some(log_sum_exp(&self.values)),
            _ => None,
        }
    }

    pub(crate) fn whole(&mut self, statistic: Statistic) -> Option<i64> {
        match statistic {
            Statistic::Unique => Some(different(&mut self.order, &self.values) as i64),
            _ => None,
        }
    }
}
