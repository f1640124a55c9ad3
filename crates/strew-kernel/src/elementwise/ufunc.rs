//! Functions of a cell and an update that are too rare for loops of their own.
//!
//! They run element by element, in order, whatever the types: NumPy's `ufunc.at` defines each step
//! as an assignment, so each step rounds to the cell's type. Cost: one indirect call for each
//! update, and two conversions where the types differ.
//!
//! # Unsafe
//!
//! - Buys: rare functions, cell by cell
//! - Measured: checks: U 1.06, U-cast 1.08
//! - Holds: the cell's number is compared with the number of cells

use crate::cpu::fp_env::DefaultFloats;
use crate::groups::row_ids::RowIds;
use crate::ops::boolean::Bool;
use crate::ops::cast::cast;
use crate::ops::for_dtype::for_dtype;
use crate::ops::order::{Compared, first_nan_replaces, number_replaces};
use crate::tensor::{DType, DynView, DynViewMut, offset_of, offsets};
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// What becomes of a cell and an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ufunc {
    Add,
    Subtract,
    Multiply,
    /// Of floats and complex numbers.
    Divide,
    /// Rounded down; integers by 0 are 0.
    FloorDivide,
    /// Integers wrap; exponents of integers are not negative.
    Power,
    /// NaN wins; complex numbers are compared by their real parts first.
    Maximum,
    Minimum,
    /// NaN loses.
    Fmax,
    Fmin,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    /// By more than there are bits, or a negative number: 0.
    LeftShift,
    /// A shift by too many bits, or a negative number of them, gives 0, or -1 for a negative cell.
    RightShift,
    /// Of the cell alone, as the others from here on.
    Negative,
    Invert,
    Absolute,
}

trait Elementwise: Copy {
    fn apply(self, ufunc: Ufunc, by: Self) -> Self;
}

/// The one of the two that [`Ufunc::Maximum`], [`Ufunc::Minimum`], [`Ufunc::Fmax`] or
/// [`Ufunc::Fmin`] keeps.
fn extreme<T: Compared>(ufunc: Ufunc, a: T, b: T) -> T {
    let wins = match ufunc {
        Ufunc::Maximum => first_nan_replaces::<T, true>(b, a),
        Ufunc::Minimum => first_nan_replaces::<T, false>(b, a),
        Ufunc::Fmax => number_replaces::<T, true>(b, a),
        _ => number_replaces::<T, false>(b, a),
    };
    if wins { b } else { a }
}

macro_rules! integers {
    ($($t:ty: |$a:ident, $b:ident| $floor:expr, $shifted_out:expr, $absolute:expr;)*) => {$(
        impl Elementwise for $t {
            #[allow(clippy::cast_lossless, clippy::cast_sign_loss)]
            fn apply(self, ufunc: Ufunc, by: Self) -> Self {
                let ($a, $b) = (self, by);
                let truth = |is: bool| Self::from(is);
                let amount = $b as u64;
                let fits = amount < u64::from(Self::BITS);
                match ufunc {
                    Ufunc::Add => $a.wrapping_add($b),
                    Ufunc::Subtract => $a.wrapping_sub($b),
                    Ufunc::Multiply => $a.wrapping_mul($b),
                    // Quotients of integers are floats.
                    Ufunc::Divide => $a,
                    Ufunc::FloorDivide => if $b == 0 { 0 } else { $floor },
                    Ufunc::Power => {
                        let (mut made, mut base, mut exponent) = (1 as Self, $a, amount);
                        while exponent > 0 {
                            if exponent & 1 == 1 {
                                made = made.wrapping_mul(base);
                            }
                            base = base.wrapping_mul(base);
                            exponent >>= 1;
                        }
                        made
                    }
                    Ufunc::Maximum | Ufunc::Minimum | Ufunc::Fmax | Ufunc::Fmin => {
                        extreme(ufunc, $a, $b)
                    }
                    Ufunc::BitwiseAnd => $a & $b,
                    Ufunc::BitwiseOr => $a | $b,
                    Ufunc::BitwiseXor => $a ^ $b,
                    Ufunc::LogicalAnd => truth($a != 0 && $b != 0),
                    Ufunc::LogicalOr => truth($a != 0 || $b != 0),
                    Ufunc::LogicalXor => truth(($a != 0) != ($b != 0)),
                    Ufunc::LeftShift => if fits { $a << amount } else { 0 },
                    Ufunc::RightShift => if fits { $a >> amount } else { $shifted_out },
                    Ufunc::Negative => $a.wrapping_neg(),
                    Ufunc::Invert => !$a,
                    Ufunc::Absolute => $absolute,
                }
            }
        }
    )*};
}

/// The quotient of signed integers, rounded down.
macro_rules! rounded_down {
    ($a:expr, $b:expr) => {{
        let quotient = $a.wrapping_div($b);
        let inexact = $a.wrapping_rem($b) != 0 && ($a < 0) != ($b < 0);
        if inexact { quotient - 1 } else { quotient }
    }};
}

integers! {
    i8: |a, b| rounded_down!(a, b), if a < 0 { -1 } else { 0 }, a.wrapping_abs();
    i16: |a, b| rounded_down!(a, b), if a < 0 { -1 } else { 0 }, a.wrapping_abs();
    i32: |a, b| rounded_down!(a, b), if a < 0 { -1 } else { 0 }, a.wrapping_abs();
    i64: |a, b| rounded_down!(a, b), if a < 0 { -1 } else { 0 }, a.wrapping_abs();
    u8: |a, b| a / b, 0, a;
    u16: |a, b| a / b, 0, a;
    u32: |a, b| a / b, 0, a;
    u64: |a, b| a / b, 0, a;
}

impl Elementwise for Bool {
    fn apply(self, ufunc: Ufunc, by: Self) -> Self {
        let (a, b) = (self.0 != 0, by.0 != 0);
        let made = match ufunc {
            Ufunc::Add | Ufunc::Maximum | Ufunc::Fmax | Ufunc::BitwiseOr | Ufunc::LogicalOr => {
                a || b
            }
            Ufunc::Multiply
            | Ufunc::Minimum
            | Ufunc::Fmin
            | Ufunc::BitwiseAnd
            | Ufunc::LogicalAnd => a && b,
            Ufunc::BitwiseXor | Ufunc::LogicalXor => a != b,
            Ufunc::Invert => !a,
            // The others are computed in another type, or not at all.
            _ => a,
        };
        Self(made.into())
    }
}

/// Python's `a // b`: what the quotient rounds to must not exceed it.
macro_rules! floor_divide {
    ($a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        if b == 0.0 {
            a / b
        } else {
            let rest = a % b;
            let mut quotient = (a - rest) / b;
            if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
                quotient -= 1.0;
            }
            if quotient == 0.0 {
                (a / b).signum() * 0.0
            } else {
                let floor = quotient.floor();
                if quotient - floor > 0.5 {
                    floor + 1.0
                } else {
                    floor
                }
            }
        }
    }};
}

// Powers come from one library, as exponentials do: those of the system differ in their last bits.
macro_rules! floats {
    ($($t:ty: $pow:path),*) => {$(
        impl Elementwise for $t {
            fn apply(self, ufunc: Ufunc, by: Self) -> Self {
                let (a, b) = (self, by);
                let truth = |is: bool| <$t>::from(u8::from(is));
                match ufunc {
                    Ufunc::Add => a + b,
                    Ufunc::Subtract => a - b,
                    Ufunc::Multiply => a * b,
                    Ufunc::Divide => a / b,
                    Ufunc::FloorDivide => floor_divide!(a, b),
                    Ufunc::Power => $pow(a, b),
                    Ufunc::Maximum | Ufunc::Minimum | Ufunc::Fmax | Ufunc::Fmin => {
                        extreme(ufunc, a, b)
                    }
                    Ufunc::LogicalAnd => truth(a != 0.0 && b != 0.0),
                    Ufunc::LogicalOr => truth(a != 0.0 || b != 0.0),
                    Ufunc::LogicalXor => truth((a != 0.0) != (b != 0.0)),
                    Ufunc::Negative => -a,
                    Ufunc::Absolute => a.abs(),
                    // The others are of integers.
                    _ => a,
                }
            }
        }
    )*};
}

floats!(f32: libm::powf, f64: libm::pow);

macro_rules! halves {
    ($($t:ty),*) => {$(
        impl Elementwise for $t {
            fn apply(self, ufunc: Ufunc, by: Self) -> Self {
                let made = f32::from(self).apply(ufunc, f32::from(by));
                Self::from_f32(made)
            }
        }
    )*};
}

halves!(f16, bf16);

/// Smith's quotient, in which nothing overflows on the way.
macro_rules! quotient {
    ($t:ty, $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        if b.re.abs() >= b.im.abs() {
            if b.re == 0.0 && b.im == 0.0 {
                <$t>::new(a.re / b.re.abs(), a.im / b.im.abs())
            } else {
                let ratio = b.im / b.re;
                let scale = 1.0 / (b.re + b.im * ratio);
                <$t>::new((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale)
            }
        } else {
            let ratio = b.re / b.im;
            let scale = 1.0 / (b.im + b.re * ratio);
            <$t>::new((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale)
        }
    }};
}

/// Exponents that are small integers multiply.
macro_rules! power {
    ($t:ty, $part:ty, $a:expr, $b:expr) => {{
        let (a, b): ($t, $t) = ($a, $b);
        let one = <$t>::new(1.0, 0.0);
        if b == <$t>::ZERO {
            one
        } else if a == <$t>::ZERO {
            match b.re > 0.0 {
                true => a,
                false => <$t>::new(<$part>::NAN, <$part>::NAN),
            }
        } else if b.im == 0.0 && b.re.fract() == 0.0 && b.re.abs() < 100.0 {
            #[allow(clippy::cast_possible_truncation)]
            let n = b.re as i32;
            let (mut made, mut base, mut left) = (None, a, n.unsigned_abs());
            while left > 0 {
                if left & 1 == 1 {
                    made = Some(made.map_or(base, |made: $t| made * base));
                }
                base = base * base;
                left >>= 1;
            }
            let made = made.unwrap_or(one);
            if n < 0 {
                quotient!($t, one, made)
            } else {
                made
            }
        } else {
            let wide = |v: $t| Complex64::new(v.re.into(), v.im.into());
            let made = power_of(wide(a), wide(b));
            <$t>::new(made.re as $part, made.im as $part)
        }
    }};
}

/// The main power of a number that is not zero.
fn power_of(base: Complex64, exponent: Complex64) -> Complex64 {
    let log = libm::log(libm::hypot(base.re, base.im));
    let angle = libm::atan2(base.im, base.re);
    let size = libm::exp(exponent.re * log - exponent.im * angle);
    let turned = exponent.re * angle + exponent.im * log;
    Complex64::new(size * libm::cos(turned), size * libm::sin(turned))
}

macro_rules! complexes {
    ($($t:ty as $part:ty, $hypot:expr);*) => {$(
        impl Elementwise for $t {
            fn apply(self, ufunc: Ufunc, by: Self) -> Self {
                let (a, b) = (self, by);
                let zero = <$t>::ZERO;
                let real = |re: $part| <$t>::new(re, 0.0);
                let truth = |is: bool| real(<$part>::from(u8::from(is)));
                match ufunc {
                    Ufunc::Add => a + b,
                    Ufunc::Subtract => a - b,
                    Ufunc::Multiply => a * b,
                    Ufunc::Divide => quotient!($t, a, b),
                    Ufunc::Power => power!($t, $part, a, b),
                    Ufunc::Maximum | Ufunc::Minimum | Ufunc::Fmax | Ufunc::Fmin => {
                        extreme(ufunc, a, b)
                    }
                    Ufunc::LogicalAnd => truth(a != zero && b != zero),
                    Ufunc::LogicalOr => truth(a != zero || b != zero),
                    Ufunc::LogicalXor => truth((a != zero) != (b != zero)),
                    Ufunc::Negative => -a,
                    Ufunc::Absolute => real($hypot(a.re, a.im)),
                    // The others are of integers and real numbers.
                    _ => a,
                }
            }
        }
    )*};
}

#[allow(clippy::cast_possible_truncation)]
fn single_hypot(re: f32, im: f32) -> f32 {
    libm::hypot(re.into(), im.into()) as f32
}

complexes!(Complex32 as f32, single_hypot; Complex64 as f64, libm::hypot);

/// Applies the function to a cell, given an update of the same type.
///
/// # Safety
/// The cell must be valid for reading and writing and the update for reading, both aligned elements
/// of the type that the loop was chosen for.
type Apply = unsafe fn(Ufunc, *mut u8, *const u8);

/// # Safety
/// As for [`Apply`], with elements `T`.
unsafe fn in_place<T: Elementwise>(ufunc: Ufunc, cell: *mut u8, update: *const u8) {
    // SAFETY: the caller's promise: both are elements of the type.
    unsafe {
        let (cell, update) = (cell.cast::<T>(), update.cast::<T>().read());
        cell.write(cell.read().apply(ufunc, update));
    }
}

fn applied(dtype: DType) -> Apply {
    for_dtype!(dtype, T => in_place::<T>, complex C => in_place::<C>)
}

/// An element's bytes, aligned for every type.
#[repr(align(16))]
struct Aligned([u8; 16]);

/// Applies the function to cells and updates, in the updates' order.
///
/// Row `k` of the updates, `width` elements of them, goes to row `numbers[k]` of the destination's
/// elements, counted likewise; to none if there is no such row. What is computed has the updates'
/// type: a cell of another one becomes that each time, and the result becomes the cell's again.
pub fn apply(
    ufunc: Ufunc,
    dst: &mut DynViewMut<'_>,
    numbers: &RowIds,
    width: usize,
    updates: &DynView<'_>,
) {
    let _floats = DefaultFloats::enter();
    let (own, via) = (dst.dtype(), updates.dtype());
    let function = applied(via);
    let layout = dst.layout().clone();
    let size = own.size();
    let at = dst.as_mut_ptr();
    let from = updates.as_ptr();
    let mut updates = offsets(updates.layout());
    let mut between = Aligned([0; 16]);
    for row in numbers.iter() {
        let first = row.checked_mul(width);
        for k in 0..width {
            let Some(update) = updates.next() else {
                return;
            };
            let cell = first.and_then(|first| first.checked_add(k));
            let Some(cell) = cell.filter(|&cell| cell < layout.len()) else {
                continue;
            };
            let offset = match layout.is_contiguous() {
                true => (cell * size).cast_signed(),
                false => offset_of(&layout, cell),
            };
            // SAFETY: the cell's number is below that of all, so its offset is that of an element,
            // which the mutable borrow covers; the update's is that of one, too. What lies between
            // has room for every type.
            unsafe {
                let (cell, update) = (at.offset(offset), from.offset(update));
                if own == via {
                    function(ufunc, cell, update);
                } else {
                    let room = between.0.as_mut_ptr();
                    cast(own, cell, via, room);
                    function(ufunc, room, update);
                    cast(via, room, own, cell);
                }
            }
        }
    }
}
