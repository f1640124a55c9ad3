//! Addresses of the rows that a loop over groups will read next.
//!
//! ```text
//! if the block ends too early: block = addresses of the next ROWS updates in group order
//! return the addresses from update k on
//! ```
//!
//! The loops prefetch from this list, because hardware cannot predict indexed addresses. Each
//! address is computed once, with one look at how the order is stored for each block.

use crate::segment::job::Job;
use crate::segment::row_ids::Order;
use crate::walk::ROWS;
use crate::walk::stack_buf::StackBuf;

/// Addresses of the rows of some updates, in group order.
pub(crate) struct Lookahead {
    first: usize,
    places: StackBuf<*const u8>,
}

impl Lookahead {
    pub(crate) fn new() -> Self {
        Self {
            first: 0,
            places: StackBuf::new(),
        }
    }

    /// Addresses from the `k`th update on, in group order. The slice reaches at least to update
    /// `beyond`, or to the last one.
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
