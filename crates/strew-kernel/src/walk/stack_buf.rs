//! Arrays on the stack, of which only the values in use are ever set.
//!
//! A block has room for 512 rows. A call with three rows would notice the cost of clearing all of
//! it.
//!
//! # Unsafe
//!
//! - Buys: stack memory that is not cleared first
//! - Measured: set first: W9 1.23, into a new tensor 1.06, 40 rows of 16 1.15, 300 values 1.00
//! - Holds: `len` values were set before

use crate::walk::ROWS;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

/// Up to `MOST` values on the stack. It derefs to a slice of the values that were set.
pub struct StackBuf<T, const MOST: usize = ROWS> {
    len: usize,
    values: [MaybeUninit<T>; MOST],
}

impl<T: Copy> StackBuf<T> {
    /// No value yet.
    #[inline(always)]
    pub const fn new() -> Self {
        Self::of_size()
    }
}

impl<T: Copy, const MOST: usize> StackBuf<T, MOST> {
    /// No value yet, and room for `MOST`.
    #[inline(always)]
    pub(crate) const fn of_size() -> Self {
        Self {
            len: 0,
            values: [const { MaybeUninit::uninit() }; MOST],
        }
    }

    /// Becomes `len` times the same value, at most as often as there is room.
    #[inline(always)]
    pub fn fill_with(&mut self, value: T, len: usize) -> &mut [T] {
        for slot in &mut self.values[..len] {
            slot.write(value);
        }
        self.len = len;
        self
    }
}

impl<T, const MOST: usize> Deref for StackBuf<T, MOST> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `fill_with` has set the first `len` values, and nothing unsets them.
        unsafe { std::slice::from_raw_parts(self.values.as_ptr().cast(), self.len) }
    }
}

impl<T, const MOST: usize> DerefMut for StackBuf<T, MOST> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `fill_with` has set the first `len` values, and nothing unsets them.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_mut_ptr().cast(), self.len) }
    }
}
