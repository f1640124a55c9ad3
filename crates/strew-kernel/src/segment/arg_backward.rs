//! Backward pass of arg-min and arg-max: copies each cell's gradient to the update that won it.
//!
//! ```text
//! for each group, for each tile of columns:
//!     arg = the winning update's number of each cell, or NO_ARG
//!     for each update of the group: write (arg == update ? gradient : 0)
//! ```
//!
//! Cost: every update's row is written once, and the gradient and arg rows of a group are read once
//! into the nearest cache.
//!
//! It relies on [`Csr`], which holds each update once, so that parts with disjoint ranges of groups
//! never write the same row.
//!
//! # Unsafe
//!
//! - Buys: rows of one output written by several threads, in the order of the groups
//! - Measured: checks: W8-amax 0.99
//! - Holds: each thread has its own groups; each update is in one group

use crate::error::Problem;
use crate::groups::csr::Csr;
use crate::tensor::{DType, DynTensor, DynView, Element};
use std::marker::PhantomData;
use std::ops::Range;

/// Cells whose gradients and args stay in the nearest cache.
const TILE: usize = 512;

/// The arg of a cell that no update has won. Every update's number is below: there are at most this
/// many updates.
const NO_ARG: u32 = u32::MAX;

/// Elements between two calls of `step`.
const PIECE: usize = 1 << 20;

/// One part of the backward pass: some groups, whose updates it writes.
pub struct ArgBackward<'h> {
    groups: &'h Csr,
    range: Range<usize>,
    values: *const u8,
    arg: *const i64,
    updates: *mut u8,
    width: usize,
    size: usize,
    memory: PhantomData<(&'h [u8], &'h mut [u8])>,
}

// SAFETY: what a part reads is borrowed, so no one writes it. A part writes only the updates of its
// own groups. Parts of the same output have disjoint ranges of groups, and the order of `Csr` holds
// each update once.
unsafe impl Send for ArgBackward<'_> {}

/// Makes `updates`, a matrix with a row for each update, from `values` and `arg`, matrices with a
/// row for each row of the groups: an element is its cell's value if the cell's arg is the update's
/// number, else zero. The groups are cut into parts at `cuts`, which ascend.
///
/// # Errors
/// [`Problem::Layout`] if the matrices are not like that and contiguous, their elements do not have
/// 2, 4 or 8 bytes, or an update is in no group.
pub fn arg_backward<'h>(
    groups: &'h Csr,
    values: &DynView<'h>,
    arg: &DynView<'h>,
    updates: &'h mut DynTensor,
    cuts: &[usize],
) -> Result<Vec<ArgBackward<'h>>, Problem> {
    let (count, size) = (groups.updates(), values.dtype().size());
    let [rows, width] = *values.shape() else {
        return Err(unfit());
    };
    let fits = rows == groups.size()
        && groups.kept() == count
        && u32::try_from(count).is_ok()
        && arg.shape() == values.shape()
        && *updates.shape() == [count, width]
        && updates.dtype() == values.dtype()
        && arg.dtype() == DType::I64
        && matches!(size, 2 | 4 | 8)
        && values.layout().is_contiguous()
        && arg.layout().is_contiguous();
    let ends: Vec<usize> = cuts.iter().copied().chain([groups.len()]).collect();
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let ranges: Vec<Range<usize>> = starts.zip(ends).map(|(from, to)| from..to).collect();
    if !fits
        || !ranges
            .iter()
            .all(|r| r.start <= r.end && r.end <= groups.len())
    {
        return Err(unfit());
    }
    let out = updates.view_mut().as_mut_ptr();
    let part = |range| ArgBackward {
        groups,
        range,
        values: values.as_ptr(),
        arg: arg.as_ptr().cast(),
        updates: out,
        width,
        size,
        memory: PhantomData,
    };
    Ok(ranges.into_iter().map(part).collect())
}

fn unfit() -> Problem {
    Problem::Layout {
        argument: "arg".into(),
        why: "it does not fit the groups".into(),
    }
}

impl ArgBackward<'_> {
    /// Makes the updates; `step` is told how many elements were made, and stops the run by
    /// returning false. Gives whether it came to its end.
    pub fn run(&mut self, step: &mut dyn FnMut(usize) -> bool) -> bool {
        match self.size {
            2 => self.of_bits::<u16>(step),
            4 => self.of_bits::<u32>(step),
            _ => self.of_bits::<u64>(step),
        }
    }

    fn of_bits<B: Element + Default>(&mut self, step: &mut dyn FnMut(usize) -> bool) -> bool {
        let mut from = self.range.start;
        while from < self.range.end {
            let start = self.groups.start(from);
            let made = |to: usize| (self.groups.start(to) - start).saturating_mul(self.width);
            let mut to = from + 1;
            while to < self.range.end && made(to) < PIECE {
                to += 1;
            }
            // SAFETY: the groups are some of its own.
            vectorized_twice!(|_| unsafe { self.piece::<B>(from..to) });
            if !step(made(to)) {
                return false;
            }
            from = to;
        }
        true
    }

    /// # Safety
    /// The groups are in its range, and its elements have the size of `B`.
    #[inline(always)]
    unsafe fn piece<B: Element + Default>(&self, groups: Range<usize>) {
        let order = self.groups.order();
        let count = self.groups.updates() as u64;
        let mut numbers = [NO_ARG; TILE];
        for group in groups {
            let updates = self.groups.start(group)..self.groups.start(group + 1);
            if updates.is_empty() {
                continue;
            }
            let row = self.groups.row(group) * self.width;
            for from in (0..self.width).step_by(TILE) {
                let len = TILE.min(self.width - from);
                // SAFETY: the groups' rows are below their size, of which both matrices have as
                // many, of `width` elements each.
                let (values, arg) = unsafe {
                    (
                        std::slice::from_raw_parts(self.values.cast::<B>().add(row + from), len),
                        std::slice::from_raw_parts(self.arg.add(row + from), len),
                    )
                };
                for (number, &arg) in numbers.iter_mut().zip(arg) {
                    let known = arg.cast_unsigned() < count;
                    *number = if known { arg as u32 } else { NO_ARG };
                }
                for k in updates.clone() {
                    let update = order.get(k);
                    let own = update as u32;
                    // SAFETY: the groups' updates are below their number, and there are as many
                    // rows of `width` elements, of which no other part writes this one.
                    let to = unsafe {
                        let at = self.updates.cast::<B>().add(update * self.width + from);
                        std::slice::from_raw_parts_mut(at, len)
                    };
                    let cells = numbers.iter().zip(values);
                    for (to, (&number, &value)) in to.iter_mut().zip(cells) {
                        *to = if number == own { value } else { B::default() };
                    }
                }
            }
        }
    }
}
