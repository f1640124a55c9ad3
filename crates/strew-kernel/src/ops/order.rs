//! Minimum and maximum: which of two values wins.
//!
//! Every loop of the crate that keeps the better of two values asks one of the functions below.
//! They all rest on one comparison, `beats`, and differ in NaN and in how the cell is read:
//!
//! ```text
//! beats(value, cell)   max: cell < value      min: value < cell
//!                      false for ties and where either is NaN
//! ```
//!
//! | function | value is NaN | cell is NaN | tie | cell is read as |
//! |---|---|---|---|---|
//! | `replaces_element` with `NAN` | wins, over a NaN too: the last NaN stays | stays | cell stays | an element |
//! | `replaces_element_branch` | as above | as above | as above | an element |
//! | `replaces_element` without `NAN` | loses | stays | cell stays | an element |
//! | `replaces_start` | loses | stays | cell stays | it is, see below |
//! | `first_nan_replaces` | wins, unless the cell is NaN: the first NaN stays | stays | cell stays | it is |
//! | `number_replaces` | wins only over a NaN | gives way to anything | cell stays | it is |
//!
//! | function | used by |
//! |---|---|
//! | `minmax` over `replaces_element` with `NAN` | reductions with [`Nan::Propagate`](crate::ops::reduction::Nan) |
//! | `minmax` over `replaces_start` | reductions with [`Nan::Ignore`](crate::ops::reduction::Nan) |
//! | `replaces_element_branch` | reductions with `Nan::Propagate` that have many updates per cell |
//! | `replaces_element` without `NAN` | positions: of segments, and in cells that hold elements |
//! | `replaces_start` | positions in cells that hold start values |
//! | `first_nan_replaces` | NumPy's `minimum` and `maximum`; minima and maxima of [`group_stats`](crate::group_stats) |
//! | `number_replaces` | NumPy's `fmin` and `fmax` |
//!
//! A tie leaves the cell as it is, so the first of equal values stays; -0.0 and 0.0 are equal. An
//! argmin or argmax therefore gives the first position.
//!
//! **Bools.** Any byte but 0 is true. An update is compared and stored in its canonical form, 0 or 1. A cell that is read as an
//! element is compared in that form, and keeps its byte if it stays. `replaces_start` compares the
//! cell's byte as it is, because the cell may hold a start value that is no bool: `FINITE_HIGHEST`
//! is 2, so that both bools replace it.
//!
//! **Form.** All but one are written without a branch (`|` and `&` instead of `||` and `&&`): their
//! callers turn the answer into a select, and LLVM vectorises the loop. `replaces_element_branch`
//! is for loops whose cells rarely change: a predicted branch skips the store, and the next update
//! of the same cell does not wait for it.
//!
//! **Cost.** One comparison, and one test for NaN where a NaN can win.

use crate::ops::boolean::Bool;
use crate::ops::hot::Hot;
use crate::ops::number::Number;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// A type whose values can be compared.
pub trait Compared: Copy + 'static {
    /// Whether it is less than the other: false if either is a NaN. Complex numbers are compared by
    /// their real parts first.
    fn below(self, other: Self) -> bool;
    /// Whether it is a NaN. A complex number is one if either part is.
    fn nan(self) -> bool;
}

/// A real type that minima and maxima reduce: its extreme values, and how its elements are read.
pub(crate) trait Ordered: Compared + Hot {
    /// There is no NaN, and every pattern of bits is a value of its own: all rules of this module
    /// choose alike.
    const PLAIN: bool;
    /// No value is below it: the identity of max.
    const LOWEST: Self;
    /// No value is above it: the identity of min.
    const HIGHEST: Self;
    /// The largest finite value, from which a strict min starts. For a bool it is above both.
    const FINITE_HIGHEST: Self;
    /// The smallest finite value, from which a strict max starts. For a bool it is below both.
    const FINITE_LOWEST: Self;
    /// Whether it is below the other or equal to it: false if either is a NaN.
    fn at_most(self, other: Self) -> bool;
    /// The element as it is compared and stored: a true bool becomes 1, all others stay.
    #[inline(always)]
    fn canonical(self) -> Self {
        self
    }
}

/// The identity of the minimum or maximum.
#[inline(always)]
pub(crate) fn identity_of<T: Ordered, const MAX: bool>() -> T {
    if MAX { T::LOWEST } else { T::HIGHEST }
}

/// The finite value that a strict minimum or maximum starts from.
#[inline(always)]
pub(crate) fn finite_start_of<T: Ordered, const MAX: bool>() -> T {
    if MAX {
        T::FINITE_LOWEST
    } else {
        T::FINITE_HIGHEST
    }
}

/// Whether the value is better than the cell: greater for a maximum, less for a minimum. False for
/// ties and NaN.
#[inline(always)]
pub(crate) fn beats<T: Compared, const MAX: bool>(value: T, cell: T) -> bool {
    if MAX {
        cell.below(value)
    } else {
        value.below(cell)
    }
}

/// Whether the value replaces a cell that holds an element; with `NAN`, a NaN always does.
#[inline(always)]
pub(crate) fn replaces_element<T: Ordered, const MAX: bool, const NAN: bool>(
    value: T,
    cell: T,
) -> bool {
    beats::<T, MAX>(value.canonical(), cell.canonical()) | (NAN & value.nan())
}

/// Whether the value replaces a cell that holds an element or a start value that is none. A NaN
/// never does.
#[inline(always)]
pub(crate) fn replaces_start<T: Ordered, const MAX: bool>(value: T, cell: T) -> bool {
    beats::<T, MAX>(value.canonical(), cell)
}

/// [`replaces_element`] with `NAN`, for cells that rarely change: two numbers, of which the cell
/// stays, cost one comparison.
#[inline(always)]
pub(crate) fn replaces_element_branch<T: Ordered, const MAX: bool>(value: T, cell: T) -> bool {
    let (value, cell) = (value.canonical(), cell.canonical());
    let stays = match MAX {
        true => value.at_most(cell),
        false => cell.at_most(value),
    };
    // If it does not stay, either the value is better or one of the two is a NaN.
    !stays && (value.nan() || !cell.nan())
}

/// What a cell becomes: the value, in its canonical form, or the cell as it is. Strict: by
/// [`replaces_start`]; otherwise by [`replaces_element`] with `NAN`.
#[inline(always)]
pub(crate) fn minmax<T: Ordered, const MAX: bool, const STRICT: bool>(cell: T, value: T) -> T {
    let wins = if STRICT {
        replaces_start::<T, MAX>(value, cell)
    } else {
        replaces_element::<T, MAX, true>(value, cell)
    };
    // A select instead of a branch: it vectorises.
    if wins { value.canonical() } else { cell }
}

/// Whether the value replaces the cell in NumPy's `minimum` and `maximum`: the first NaN stays.
#[inline(always)]
pub(crate) fn first_nan_replaces<T: Compared, const MAX: bool>(value: T, cell: T) -> bool {
    !cell.nan() & (beats::<T, MAX>(value, cell) | value.nan())
}

/// Whether the value replaces the cell in NumPy's `fmin` and `fmax`: a NaN gives way to a number.
#[inline(always)]
pub(crate) fn number_replaces<T: Compared, const MAX: bool>(value: T, cell: T) -> bool {
    cell.nan() | beats::<T, MAX>(value, cell)
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Compared for $t {
            #[inline(always)]
            fn below(self, other: $t) -> bool { self < other }
            #[inline(always)]
            fn nan(self) -> bool { false }
        }
        impl Ordered for $t {
            const PLAIN: bool = true;
            const LOWEST: $t = <$t>::MIN;
            const HIGHEST: $t = <$t>::MAX;
            const FINITE_HIGHEST: $t = <$t>::MAX;
            const FINITE_LOWEST: $t = <$t>::MIN;
            #[inline(always)]
            fn at_most(self, other: $t) -> bool { self <= other }
        }
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! float_limits {
    ($t:ty) => {
        const PLAIN: bool = false;
        const LOWEST: $t = <$t>::NEG_INFINITY;
        const HIGHEST: $t = <$t>::INFINITY;
        const FINITE_HIGHEST: $t = <$t>::MAX;
        const FINITE_LOWEST: $t = <$t>::MIN;
    };
}

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl Compared for $t {
            #[inline(always)]
            fn below(self, other: $t) -> bool { self.widen() < other.widen() }
            #[inline(always)]
            fn nan(self) -> bool { self.widen().is_nan() }
        }
        impl Ordered for $t {
            float_limits!($t);
            #[inline(always)]
            fn at_most(self, other: $t) -> bool { self.widen() <= other.widen() }
        }
    )*};
}

floats!(f32, f64);

/// 16-bit floats are compared as integers: no instruction compares them, and to convert them takes
/// longer.
macro_rules! half_floats {
    ($($t:ty),*) => {$(
        impl Compared for $t {
            #[inline(always)]
            fn below(self, other: $t) -> bool {
                !self.nan() & !other.nan() & (rank(self.to_bits()) < rank(other.to_bits()))
            }
            #[inline(always)]
            fn nan(self) -> bool { self.to_bits() & !SIGN > <$t>::INFINITY.to_bits() }
        }
        impl Ordered for $t {
            float_limits!($t);
            #[inline(always)]
            fn at_most(self, other: $t) -> bool {
                !self.nan() & !other.nan() & (rank(self.to_bits()) <= rank(other.to_bits()))
            }
        }
    )*};
}

half_floats!(f16, bf16);

/// The sign of a 16-bit float.
const SIGN: u16 = 1 << 15;

/// A number that orders 16-bit floats, NaN apart, as their values do: both zeros have 0.
#[inline(always)]
fn rank(bits: u16) -> i16 {
    let negative = bits.cast_signed() >> 15;
    ((bits & !SIGN).cast_signed() ^ negative) - negative
}

macro_rules! complexes {
    ($($t:ty),*) => {$(
        impl Compared for $t {
            #[inline(always)]
            fn below(self, other: $t) -> bool {
                let less = self.re < other.re || (self.re == other.re && self.im < other.im);
                less && !self.nan() && !other.nan()
            }
            #[inline(always)]
            fn nan(self) -> bool { self.re.is_nan() || self.im.is_nan() }
        }
    )*};
}

complexes!(Complex32, Complex64);

impl Compared for Bool {
    // Signed, so that `FINITE_LOWEST` is below both bools.
    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self.0.cast_signed() < other.0.cast_signed()
    }
    #[inline(always)]
    fn nan(self) -> bool {
        false
    }
}

impl Ordered for Bool {
    const PLAIN: bool = false;
    const LOWEST: Self = Self(0);
    const HIGHEST: Self = Self(1);
    // Beyond both bools, so that a strict comparison tells "untouched" from either.
    const FINITE_HIGHEST: Self = Self(2);
    const FINITE_LOWEST: Self = Self(u8::MAX);
    #[inline(always)]
    fn at_most(self, other: Self) -> bool {
        self.0.cast_signed() <= other.0.cast_signed()
    }
    #[inline(always)]
    fn canonical(self) -> Self {
        Self(u8::from(self.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each rule, as the module's table has it.
    fn rules_hold<T: Ordered, const MAX: bool>(some: &[T]) {
        for &cell in some {
            for &value in some {
                let (v, c) = (value.canonical(), cell.canonical());
                let better = if MAX { c.below(v) } else { v.below(c) };
                let propagates = value.nan() || better;
                let numpy = !cell.nan() && (value.nan() || better);
                assert_eq!(replaces_element::<T, MAX, true>(value, cell), propagates);
                assert_eq!(replaces_element_branch::<T, MAX>(value, cell), propagates);
                assert_eq!(replaces_element::<T, MAX, false>(value, cell), better);
                assert_eq!(replaces_start::<T, MAX>(v, c), better);
                assert_eq!(first_nan_replaces::<T, MAX>(v, c), numpy);
                assert_eq!(number_replaces::<T, MAX>(v, c), cell.nan() || better);
                let none = value.nan() || cell.nan();
                assert!(!(none && better), "a NaN is better than nothing");
            }
        }
    }

    #[test]
    fn every_rule_is_that_of_the_table() {
        let floats = [
            f32::NEG_INFINITY,
            -1.0,
            -0.0,
            0.0,
            2.0,
            f32::INFINITY,
            f32::NAN,
        ];
        rules_hold::<_, false>(&floats);
        rules_hold::<_, true>(&floats);
        rules_hold::<_, false>(&floats.map(f16::from_f32));
        rules_hold::<_, true>(&floats.map(bf16::from_f32));
        rules_hold::<_, false>(&[i8::MIN, -1, 0, i8::MAX]);
        rules_hold::<_, true>(&[0u64, 1, u64::MAX]);
        let bools = [0, 1, 2, 127, 128, 255].map(Bool);
        rules_hold::<_, false>(&bools);
        rules_hold::<_, true>(&bools);
    }

    #[test]
    fn both_bools_replace_the_start_and_ties_do_not() {
        for byte in [0, 1, 2, 255].map(Bool) {
            assert!(replaces_start::<_, true>(byte, Bool::FINITE_LOWEST));
            assert!(replaces_start::<_, false>(byte, Bool::FINITE_HIGHEST));
        }
        assert!(!replaces_element::<_, true, true>(Bool(255), Bool(1)));
        assert_eq!(minmax::<f32, true, false>(-0.0, 0.0).to_bits(), 1 << 31);
    }

    #[test]
    fn complex_numbers_are_compared_by_their_real_parts_first() {
        let of = Complex64::new;
        assert!(beats::<_, true>(of(2.0, 0.0), of(1.0, 9.0)));
        assert!(beats::<_, true>(of(1.0, 2.0), of(1.0, 1.0)));
        assert!(!beats::<_, true>(of(f64::INFINITY, f64::NAN), of(1.0, 1.0)));
        assert!(!beats::<_, false>(
            of(1.0, 1.0),
            of(f64::INFINITY, f64::NAN)
        ));
    }
}
