//! Room on the stack for one value per row of a block.

use super::walk::ROWS;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

/// Up to [`ROWS`] values: a slice of those that were asked for. The room for the others is never
/// set, which a short run would notice.
pub(crate) struct Lane<T> {
    len: usize,
    values: [MaybeUninit<T>; ROWS],
}

impl<T: Copy> Lane<T> {
    /// No value yet.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self {
            len: 0,
            values: [const { MaybeUninit::uninit() }; ROWS],
        }
    }

    /// Becomes `len` times the same value, at most [`ROWS`] times.
    #[inline(always)]
    pub(crate) fn fill_with(&mut self, value: T, len: usize) -> &mut [T] {
        for slot in &mut self.values[..len] {
            slot.write(value);
        }
        self.len = len;
        self
    }
}

impl<T> Deref for Lane<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `fill_with` has set the first `len` values, and nothing unsets them.
        unsafe { std::slice::from_raw_parts(self.values.as_ptr().cast(), self.len) }
    }
}

impl<T> DerefMut for Lane<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_mut_ptr().cast(), self.len) }
    }
}
