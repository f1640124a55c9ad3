//! Addresses of the rows that a loop over groups will read next.
//!
//! ```text
//! if the block ends too early: block = addresses of the next ROWS updates in group order
//! return the addresses from update k on
//! ```
//!
//! The loops prefetch from this list, because hardware cannot predict indexed addresses. Each
//! address is computed once, with one look at how the order is stored for each block.

use crate::groups::row_ids::UpdateOrder;
use crate::segment::job::Job;
use crate::walk::ROWS;
use crate::walk::stack_buf::StackBuf;

/// Addresses of the rows of some updates, in group order.
pub(crate) struct Lookahead {
    first: usize,
    places: StackBuf<*const u8>,
    /// No update from here on will be asked for, but those that the caller needs.
    end: usize,
}

impl Lookahead {
    pub(crate) fn new(end: usize) -> Self {
        Self {
            first: 0,
            places: StackBuf::new(),
            end,
        }
    }

    /// Addresses from the `k`th update on, in group order. The slice reaches at least to update
    /// `beyond`, or to the last one.
    #[inline(always)]
    pub(crate) fn at(&mut self, k: usize, beyond: usize, job: &Job<'_>) -> &[*const u8] {
        let beyond = beyond.min(job.places);
        if k < self.first || self.first + self.places.len() < beyond {
            self.look_up(k, beyond, job);
        }
        &self.places[k - self.first..]
    }

    fn look_up(&mut self, first: usize, beyond: usize, job: &Job<'_>) {
        let end = self.end.min(job.places).max(beyond);
        let len = ROWS.min(end - first);
        let places = self.places.fill_with(std::ptr::null(), len);
        self.first = first;
        let row = |update: usize| {
            let at = update.cast_signed() * job.src_row;
            job.src.wrapping_offset(at)
        };
        match job.order {
            UpdateOrder::Same => {
                for (place, update) in places.iter_mut().zip(first..) {
                    *place = row(update);
                }
            }
            UpdateOrder::Narrow(order) => {
                for (place, &update) in places.iter_mut().zip(&order[first..]) {
                    *place = row(update as usize);
                }
            }
            UpdateOrder::Wide(order) => {
                for (place, &update) in places.iter_mut().zip(&order[first..]) {
                    *place = row(update as usize);
                }
            }
        }
    }
}
