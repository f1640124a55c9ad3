//! Lists of numbers in the same kind of memory as tensors: aligned, fallible, checked against the
//! limit.
//!
//! # Unsafe
//!
//! - Buys: lists of numbers in memory that is kept and has large pages
//! - Measured: set first: W2a 1.00
//! - Holds: all bit patterns are numbers; the buffer has room for its length

use crate::error::Problem;
use crate::tensor::memory::Buffer;
use num_complex::Complex64;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64;

/// A number type, or a struct of numbers, of which every bit pattern is a value.
///
/// # Safety
/// Every bit pattern must be a valid value of the type.
pub unsafe trait Plain: fmt::Debug {}

// SAFETY: every bit pattern is a `u32`.
unsafe impl Plain for u32 {}

// SAFETY: every bit pattern is a `u64`.
unsafe impl Plain for u64 {}

// SAFETY: every bit pattern is an `i64`.
unsafe impl Plain for i64 {}

// SAFETY: every bit pattern is an `i128`.
unsafe impl Plain for i128 {}

// SAFETY: every bit pattern is an `f32`.
unsafe impl Plain for f32 {}

// SAFETY: every bit pattern is an `f64`.
unsafe impl Plain for f64 {}

// SAFETY: two `f64`, of which every bit pattern is one.
unsafe impl Plain for Complex64 {}

// SAFETY: an `AtomicU64` has the representation of a `u64`.
unsafe impl Plain for AtomicU64 {}

/// A list of numbers, as long as there is room for at most. It is a slice of those that it holds.
pub struct List<T> {
    buffer: Buffer,
    len: usize,
    numbers: PhantomData<T>,
}

impl<T: Plain> List<T> {
    /// `len` zeros, for which memory is there only once they are touched.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn zeroed_sparse(what: &dyn Fn() -> String, len: usize) -> Result<Self, Problem> {
        let bytes = len.saturating_mul(size_of::<T>());
        Ok(Self::of(Buffer::zeroed_sparse(what, bytes)?, len))
    }

    /// `len` zeros.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub(crate) fn zeroed(what: &dyn Fn() -> String, len: usize) -> Result<Self, Problem> {
        let bytes = len.saturating_mul(size_of::<T>());
        Ok(Self::of(Buffer::zeroed(what, bytes)?, len))
    }

    /// No numbers and no room for any.
    pub(crate) const fn empty() -> Self {
        Self {
            buffer: Buffer::empty(),
            len: 0,
            numbers: PhantomData,
        }
    }

    fn of(buffer: Buffer, len: usize) -> Self {
        Self {
            buffer,
            len,
            numbers: PhantomData,
        }
    }

    /// Adds copies of a number at the end until there are `len`, if there are fewer.
    ///
    /// # Panics
    /// If there is no room.
    pub(crate) fn extend_to(&mut self, len: usize, number: T)
    where
        T: Copy,
    {
        let had = self.len;
        if len > had {
            assert!(len <= had + self.room(), "there is room");
            self.len = len;
            self[had..].fill(number);
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl<T: Plain> List<T> {
    /// An empty list with room for `room` numbers. `what` names them in the error.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn with_room(what: &str, room: usize) -> Result<Self, Problem> {
        let bytes = room.saturating_mul(size_of::<T>());
        Ok(Self::of(Buffer::scratch(&|| what.to_owned(), bytes)?, 0))
    }

    /// `len` numbers with unspecified values.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn scratch(what: &str, len: usize) -> Result<Self, Problem> {
        let mut made = Self::with_room(what, len)?;
        made.len = len;
        Ok(made)
    }

    /// How many numbers more there is room for.
    pub fn room(&self) -> usize {
        self.buffer.len() / size_of::<T>() - self.len
    }

    /// Adds a number.
    ///
    /// # Panics
    /// If there is no room.
    #[inline(always)]
    pub fn push(&mut self, number: T) {
        let len = self.len;
        assert!(len < self.buffer.len() / size_of::<T>(), "there is room");
        self.len = len + 1;
        self[len] = number;
    }
}

impl<T: Plain> Deref for List<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the buffer has room for `len` numbers, is initialised, aligned to 64 and borrowed
        // with `self`. Every bit pattern is a number.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr().cast(), self.len) }
    }
}

impl<T: Plain> DerefMut for List<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the conditions of `deref` hold, and the buffer is borrowed mutably with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.as_mut_ptr().cast(), self.len) }
    }
}

impl<T: Plain> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Plain + PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::List;

    #[test]
    fn lists_hold_what_was_put_there() {
        let mut list = List::<u32>::with_room("numbers", 3).unwrap();
        assert!(list.is_empty());
        for n in 0..3 {
            list.push(n * 7);
        }
        assert_eq!(*list, [0, 7, 14]);
        list[1] = 5;
        assert_eq!(*list, [0, 5, 14]);
        let mut list = List::<f64>::with_room("numbers", 3).unwrap();
        list.extend_to(2, 1.5);
        list.extend_to(3, 0.0);
        list.extend_to(1, 9.0);
        assert_eq!(*list, [1.5, 1.5, 0.0]);
        assert!(List::<u64>::scratch("none", 0).unwrap().is_empty());
        assert_eq!(
            *List::<u64>::zeroed_sparse(&String::new, 2).unwrap(),
            [0, 0]
        );
        assert!(List::<u64>::scratch("too many", usize::MAX).is_err());
    }

    #[test]
    #[should_panic(expected = "there is room")]
    fn a_full_list_takes_no_more() {
        let mut list = List::<u64>::with_room("numbers", 1).unwrap();
        list.push(1);
        list.push(2);
    }
}
