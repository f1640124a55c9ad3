//! What records are made of, and how they are written as bytes: little-endian, field by field.
//!
//! # Unsafe
//!
//! - Buys: records in memory that is kept and has large pages
//! - Measured: not alone; together with one table less, means of 4M values in 4M groups 1.7
//! - Holds: records are structs of numbers

use crate::tensor::list::Plain;
use num_complex::Complex64;

/// A record, or a part of one, with a fixed number of bytes.
pub trait Cell: Plain + Copy + PartialEq + Send + Sync + 'static {
    const BYTES: usize;
    /// Writes exactly [`BYTES`](Self::BYTES) bytes.
    fn write(self, to: &mut Vec<u8>);
    /// Takes exactly as many bytes from the front. `None` if there are fewer, or if they are not
    /// ones that are written.
    fn read(from: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($t:ty),*) => {$(
        impl Cell for $t {
            const BYTES: usize = size_of::<$t>();

            fn write(self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                let (taken, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*taken))
            }
        }
    )*};
}

numbers!(i64, u64, f64, i128);

/// Whether something is so: 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flag(pub(crate) u8);

// SAFETY: every bit pattern is a `u8`.
unsafe impl Plain for Flag {}

impl Cell for Flag {
    const BYTES: usize = 1;

    fn write(self, to: &mut Vec<u8>) {
        to.push(self.0);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let (&taken, rest) = from.split_first()?;
        *from = rest;
        (taken < 2).then_some(Self(taken))
    }
}

/// Structs of cells. The fields are written in the order in which they are listed.
macro_rules! structs {
    ($($name:ident<$($p:ident),*> { $($field:ident: $t:ty),* })*) => {$(
        // SAFETY: its fields are numbers, or structs of numbers, and every bit pattern is a value
        // of each.
        unsafe impl<$($p: Plain),*> Plain for $name<$($p),*> {}

        impl<$($p: Cell),*> Cell for $name<$($p),*> {
            const BYTES: usize = 0 $(+ <$t>::BYTES)*;

            fn write(self, to: &mut Vec<u8>) {
                $(self.$field.write(to);)*
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                $(let $field = Cell::read(from)?;)*
                Some(Self { $($field),* })
            }
        }
    )*};
}

impl Cell for Complex64 {
    const BYTES: usize = 16;

    fn write(self, to: &mut Vec<u8>) {
        self.re.write(to);
        self.im.write(to);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let (re, im) = (Cell::read(from)?, Cell::read(from)?);
        Some(Self { re, im })
    }
}

/// A value and its place among the updates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    /// Negative if there is no value.
    pub(crate) place: i64,
}

/// A sum and how many values it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Total<S> {
    pub(crate) sum: S,
    pub(crate) count: u64,
}

/// The moments that a variance is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread<P> {
    /// How many values there are.
    pub(crate) count: f64,
    /// The first value, which is taken off all.
    pub(crate) first: P,
    /// The mean of the differences from the first value.
    pub(crate) mean: P,
    /// The sum of the squared differences from the mean.
    pub(crate) squares: f64,
}

/// The moments that a skewness and a kurtosis are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) count: f64,
    /// The first value, which is taken off all.
    pub(crate) first: f64,
    /// The mean of the differences from the first value.
    pub(crate) mean: f64,
    /// The sums of the second, third and fourth powers of the differences from the mean.
    pub(crate) squares: f64,
    pub(crate) cubes: f64,
    pub(crate) fourths: f64,
}

structs! {
    Placed<T> { value: T, place: i64 }
    Total<S> { sum: S, count: u64 }
    Spread<P> { count: f64, first: P, mean: P, squares: f64 }
    Shape<> { count: f64, first: f64, mean: f64, squares: f64, cubes: f64, fourths: f64 }
}
