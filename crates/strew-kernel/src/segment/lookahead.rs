//! Where the rows that a run by group reads begin, looked up some way ahead.

use crate::segment::job::Job;
use crate::segment::row_ids::Order;
use crate::walk::ROWS;
use crate::walk::stack_buf::Lane;

/// Where the rows of some updates begin, and of those that come behind them.
pub(crate) struct Lookahead {
    first: usize,
    places: Lane<*const u8>,
}

impl Lookahead {
    pub(crate) fn new() -> Self {
        Self {
            first: 0,
            places: Lane::new(),
        }
    }

    /// Those of the `k`th update on, in the order of the groups, up to one beyond at the least if there are as many.
    #[inline(always)]
    pub(crate) fn at(&mut self, k: usize, beyond: usize, job: &Job<'_>) -> &[*const u8] {
        let known = self.first + self.places.len();
        if k < self.first || known < beyond.min(job.groups.kept()) {
            self.look_up(k, job);
        }
        &self.places[k - self.first..]
    }

    fn look_up(&mut self, first: usize, job: &Job<'_>) {
        let len = ROWS.min(job.groups.kept() - first);
        let places = self.places.fill_with(std::ptr::null(), len);
        self.first = first;
        let row = |update: usize| {
            let at = update.cast_signed() * job.src_row;
            job.src.wrapping_offset(at)
        };
        match job.groups.order() {
            Order::Same => {
                for (place, update) in places.iter_mut().zip(first..) {
                    *place = row(update);
                }
            }
            Order::Narrow(order) => {
                for (place, &update) in places.iter_mut().zip(&order[first..]) {
                    *place = row(update as usize);
                }
            }
            Order::Wide(order) => {
                for (place, &update) in places.iter_mut().zip(&order[first..]) {
                    *place = row(update as usize);
                }
            }
        }
    }
}
