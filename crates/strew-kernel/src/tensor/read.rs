//! Reads views element by element: index values of any integer type, minima, samples, zeros.
//!
//! `DynView::each_integer` is the only loop that reads index values in bulk. It checks the whole
//! run against the view before it reads the first value.
//!
//! # Unsafe
//!
//! - Buys: index values of any type
//! - Measured: checks: N 1.22, E-transposed 1.04
//! - Holds: `stretch` compares the first and last byte with the view's extent, and alignment

use crate::error::IndexValue;
use crate::runtime::machine::WAKE;
use crate::runtime::threads::{available, share};
use crate::tensor::dtype::DType;
use crate::tensor::layout::{Dims, aligned};
use crate::tensor::view::DynView;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use smallvec::{SmallVec, smallvec};

/// What [`DynView::read_integers`] gives for a float that is NaN or infinite: no index.
const NO_INTEGER: i64 = i64::MIN;

/// Index values that are widened at a time.
const BLOCK: usize = 64;

/// Calls `each` with the number and the value of `count` elements that are `stride` bytes apart.
///
/// # Safety
/// There are as many, and each is aligned.
#[inline(always)]
unsafe fn each_value<T: Copy>(
    first: *const T,
    stride: isize,
    count: usize,
    to: impl Fn(T) -> i64,
    mut each: impl FnMut(usize, i64),
) {
    // SAFETY: the caller promises each of them.
    let value = |i: usize, stride: isize| unsafe {
        first.wrapping_byte_offset(i.cast_signed() * stride).read()
    };
    // The constant stride lets the loop vectorise.
    let size = size_of::<T>().cast_signed();
    if stride == size {
        for i in 0..count {
            each(i, to(value(i, size)));
        }
    } else {
        for i in 0..count {
            each(i, to(value(i, stride)));
        }
    }
}

impl DynView<'_> {
    /// Calls `each` with the number and the value, as `i64`, of `count` index values from byte
    /// offset `at` on, `stride` bytes apart.
    ///
    /// Values beyond `i64` become `i64::MAX`, which no axis is long enough for;
    /// [`as_signed`](Self::as_signed) keeps them apart. Floats are
    /// truncated toward zero; NaN and the infinities become `i64::MIN`. Reads nothing and
    /// returns false if that would leave the view or if the elements are no real numbers.
    #[inline(always)]
    #[must_use]
    pub(crate) fn each_integer(
        &self,
        at: isize,
        stride: isize,
        count: usize,
        mut each: impl FnMut(usize, i64),
    ) -> bool {
        if count == 0 {
            return true;
        }
        let Some(first) = self.stretch(at, stride, count) else {
            return false;
        };
        // SAFETY: `stretch` has found all of them inside the view, and aligned.
        unsafe {
            match self.dtype() {
                DType::I32 => each_value(first.cast::<i32>(), stride, count, i64::from, each),
                DType::I64 => each_value(first.cast::<i64>(), stride, count, |v| v, each),
                // Rarer types are widened by blocks, so that loops are compiled for two types alone.
                _ => {
                    let mut block = [0; BLOCK];
                    for from in (0..count).step_by(BLOCK) {
                        let block = &mut block[..BLOCK.min(count - from)];
                        let first = first.wrapping_offset(from.cast_signed() * stride);
                        if !self.widen(first, stride, block) {
                            return false;
                        }
                        for (i, &value) in (from..).zip(&*block) {
                            each(i, value);
                        }
                    }
                }
            }
        }
        true
    }

    /// Widens index values that are no `i32` and no `i64`; false if they are no real numbers.
    ///
    /// # Safety
    /// The view has an element for each number of `block`, from `first` on and `stride` bytes
    /// apart, aligned.
    #[inline(never)]
    unsafe fn widen(&self, first: *const u8, stride: isize, block: &mut [i64]) -> bool {
        macro_rules! read {
            ($t:ty, $to:expr) => {{
                // SAFETY: the caller's promise.
                unsafe {
                    each_value(first.cast::<$t>(), stride, block.len(), $to, |i, v| {
                        block[i] = v;
                    });
                }
            }};
        }
        match self.dtype() {
            DType::I8 => read!(i8, i64::from),
            DType::I16 => read!(i16, i64::from),
            DType::U8 => read!(u8, i64::from),
            DType::U16 => read!(u16, i64::from),
            DType::U32 => read!(u32, i64::from),
            DType::U64 => read!(u64, |v: u64| i64::try_from(v).unwrap_or(i64::MAX)),
            DType::F16 => read!(f16, |v: f16| truncate(v.to_f64())),
            DType::BF16 => read!(bf16, |v: bf16| truncate(v.to_f64())),
            DType::F32 => read!(f32, |v: f32| truncate(v.into())),
            DType::F64 => read!(f64, truncate),
            DType::I32 | DType::I64 | DType::Bool | DType::C64 | DType::C128 => return false,
        }
        true
    }

    fn max_of_stretch(&self) -> Option<i64> {
        let mut max = None;
        self.all_runs(|at, stride, count| {
            let more = match stride == self.dtype().size().cast_signed() {
                true => self.max_of_dense(at, count),
                false => None,
            };
            max = max.max(more.or_else(|| self.max_of_strided(at, stride, count)));
            true
        });
        max
    }

    /// The largest of `count` integers that lie one after the other; `None` for floats.
    fn max_of_dense(&self, at: isize, count: usize) -> Option<i64> {
        let first = self.stretch(at, self.dtype().size().cast_signed(), count)?;
        macro_rules! max {
            ($t:ty) => {{
                let first = first.cast::<$t>();
                // SAFETY: `stretch` found `count` aligned elements of this type inside the view.
                let value = |k: usize| unsafe { first.add(k).read() };
                // Compared as they are: vectors hold more of a narrow type.
                let max = vectorized!(|_| (0..count).fold(<$t>::MIN, |max, k| max.max(value(k))));
                Some(i64::try_from(max).unwrap_or(i64::MAX))
            }};
        }
        match self.dtype() {
            DType::I8 => max!(i8),
            DType::I16 => max!(i16),
            DType::I32 => max!(i32),
            DType::I64 => max!(i64),
            DType::U8 => max!(u8),
            DType::U16 => max!(u16),
            DType::U32 => max!(u32),
            DType::U64 => max!(u64),
            _ => None,
        }
    }

    fn max_of_strided(&self, at: isize, stride: isize, count: usize) -> Option<i64> {
        let mut max = None;
        let inside = self.each_integer(at, stride, count, |_, value| max = max.max(Some(value)));
        max.filter(|_| inside)
    }

    /// Whether no value of `len` values is less than the one before it, for two types.
    fn ascends(&self, stride: isize, len: usize) -> bool {
        let Some(first) = self.stretch(0, stride, len) else {
            return len == 0;
        };
        macro_rules! ascends {
            ($t:ty) => {{
                let first = first.cast::<$t>();
                // SAFETY: `stretch` found `len` aligned elements of this type inside the view, that
                // far apart.
                let value = |k: usize, stride: isize| unsafe {
                    first.wrapping_byte_offset(k.cast_signed() * stride).read()
                };
                let falls = |from: usize, to: usize, stride: isize| {
                    (from..to).fold(false, |falls, k| {
                        falls | (value(k, stride) > value(k + 1, stride))
                    })
                };
                // The constant stride lets the loop vectorise.
                let size = size_of::<$t>().cast_signed();
                (0..len - 1).step_by(CHECKED).all(|from| {
                    let to = (from + CHECKED).min(len - 1);
                    !match stride == size {
                        true => vectorized!(|_| falls(from, to, size)),
                        false => falls(from, to, stride),
                    }
                })
            }};
        }
        match self.dtype() {
            DType::I32 => ascends!(i32),
            DType::I64 => ascends!(i64),
            _ => false,
        }
    }

    /// [`all_runs`](Self::all_runs) of elements of any type.
    fn runs(&self, mut each: impl FnMut(isize, isize, usize) -> bool) -> bool {
        let (shape, strides) = (self.shape(), self.layout().strides());
        match (shape.split_last(), strides.split_last()) {
            _ if self.is_empty() => true,
            (Some((&len, outer)), Some((&stride, steps))) if !self.layout().is_contiguous() => {
                all_offsets(outer, steps, |offset| each(offset, stride, len))
            }
            _ => each(0, self.dtype().size().cast_signed(), self.len()),
        }
    }

    /// Calls `each` with the byte offset of every element, in row-major order.
    pub(super) fn for_each_offset(&self, mut each: impl FnMut(isize)) {
        all_offsets(self.shape(), self.layout().strides(), |offset| {
            each(offset);
            true
        });
    }

    /// True if every byte is 0 or 1, so that the elements may be seen as Rust's `bool`.
    pub(super) fn holds_only_bools(&self) -> bool {
        self.runs(|at, stride, count| {
            // SAFETY: the offsets are those of elements, and bools are one byte.
            let byte = |k: isize, stride| unsafe { self.as_ptr().offset(at + k * stride).read() };
            let count = 0..count.cast_signed();
            // The constant stride lets the loop vectorise.
            let all = match stride {
                1 => count.fold(0, |all, k| all | byte(k, 1)),
                _ => count.fold(0, |all, k| all | byte(k, stride)),
            };
            all <= 1
        })
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl DynView<'_> {
    /// Reads `out.len()` index values from byte offset `at` on, `stride` bytes apart; see
    /// `each_integer`.
    #[must_use]
    pub fn read_integers(&self, at: isize, stride: isize, out: &mut [i64]) -> bool {
        self.each_integer(at, stride, out.len(), |i, value| out[i] = value)
    }

    /// The first of `count` elements that are `stride` bytes apart, if all of them are inside.
    pub fn stretch(&self, at: isize, stride: isize, count: usize) -> Option<*const u8> {
        let span = stride.checked_mul(count.checked_sub(1)?.cast_signed())?;
        let last = at.checked_add(span)?;
        let (low, high) = self.layout().extent();
        let size = self.dtype().size().cast_signed();
        let align = self.dtype().align();
        let inside = at.min(last) >= low && at.max(last) <= high - size;
        let aligned = aligned(at, align) && aligned(stride, align);
        (inside && aligned).then(|| self.as_ptr().wrapping_offset(at))
    }

    /// The number at a coordinate as a person would write it, for messages.
    #[must_use]
    pub fn show(&self, coordinate: &[usize]) -> Option<String> {
        let offset = self.layout().offset(coordinate)?;
        let ptr = self.as_ptr().wrapping_offset(offset);
        macro_rules! show {
            ($t:ty) => {
                // SAFETY: the offset is that of an element of this type.
                format!("{}", unsafe { ptr.cast::<$t>().read() })
            };
        }
        Some(match self.dtype() {
            DType::Bool => show!(u8),
            DType::I8 => show!(i8),
            DType::I16 => show!(i16),
            DType::I32 => show!(i32),
            DType::I64 => show!(i64),
            DType::U8 => show!(u8),
            DType::U16 => show!(u16),
            DType::U32 => show!(u32),
            DType::U64 => show!(u64),
            DType::F16 => show!(f16),
            DType::BF16 => show!(bf16),
            DType::F32 => show!(f32),
            DType::F64 => show!(f64),
            DType::C64 => show!(Complex32),
            DType::C128 => show!(Complex64),
        })
    }

    /// The number at a coordinate, as it is stored; `None` if there is none, or it is complex.
    #[must_use]
    pub fn index_value(&self, coordinate: &[usize]) -> Option<IndexValue> {
        let offset = self.layout().offset(coordinate)?;
        let ptr = self.as_ptr().wrapping_offset(offset);
        macro_rules! read {
            ($t:ty) => {
                // SAFETY: the offset is that of an element of this type.
                unsafe { ptr.cast::<$t>().read() }
            };
        }
        // The shortest number that a narrow float is read as: 5.3, not 5.300000190734863.
        let shortest =
            |value: f32| IndexValue::Float(value.to_string().parse().unwrap_or(f64::NAN));
        Some(match self.dtype() {
            DType::Bool | DType::C64 | DType::C128 => return None,
            DType::I8 => read!(i8).into(),
            DType::I16 => read!(i16).into(),
            DType::I32 => read!(i32).into(),
            DType::I64 => read!(i64).into(),
            DType::U8 => read!(u8).into(),
            DType::U16 => read!(u16).into(),
            DType::U32 => read!(u32).into(),
            DType::U64 => read!(u64).into(),
            DType::F16 => shortest(read!(f16).into()),
            DType::BF16 => shortest(read!(bf16).into()),
            DType::F32 => shortest(read!(f32)),
            DType::F64 => IndexValue::Float(read!(f64)),
        })
    }

    /// The elements of an integer or float view as `i64`, row by row, as for an index; `None` if
    /// they are no numbers.
    #[must_use]
    pub fn to_integers(&self) -> Option<Vec<i64>> {
        let mut all = Vec::new();
        let numbers = self.all_integers(|block| {
            all.extend_from_slice(block);
            true
        });
        numbers.then_some(all)
    }

    /// Up to `count` elements, evenly spread.
    #[must_use]
    pub fn sample(&self, count: usize) -> Vec<i64> {
        let step = self.len().div_ceil(count.max(1)).max(1);
        let mut found = Vec::new();
        for n in (0..self.len()).step_by(step) {
            let (mut rest, mut offset, mut one) = (n, 0, [0]);
            for (&len, &stride) in self.shape().iter().zip(self.layout().strides()).rev() {
                offset += (rest % len).cast_signed() * stride;
                rest /= len;
            }
            if self.read_integers(offset, 0, &mut one) {
                found.push(one[0]);
            }
        }
        found
    }

    /// The coordinate of the first element, in row-major order, that is zero.
    #[must_use]
    pub fn first_zero(&self) -> Option<Dims> {
        let mut before = 0;
        macro_rules! search {
            ($t:ty, $zero:expr) => {
                all_offsets(self.shape(), self.layout().strides(), |offset| {
                    // SAFETY: the offset is that of an element of this type.
                    let value = unsafe { self.as_ptr().offset(offset).cast::<$t>().read() };
                    let goes_on = value != $zero;
                    before += usize::from(goes_on);
                    goes_on
                })
            };
        }
        let none = match self.dtype() {
            DType::Bool | DType::I8 | DType::U8 => search!(u8, 0),
            DType::I16 | DType::U16 => search!(u16, 0),
            DType::I32 | DType::U32 => search!(u32, 0),
            DType::I64 | DType::U64 => search!(u64, 0),
            DType::F16 => search!(f16, f16::ZERO),
            DType::BF16 => search!(bf16, bf16::ZERO),
            DType::F32 => search!(f32, 0.0),
            DType::F64 => search!(f64, 0.0),
            DType::C64 => search!(Complex32, Complex32::ZERO),
            DType::C128 => search!(Complex64, Complex64::ZERO),
        };
        (!none).then(|| self.coordinate(before))
    }

    /// The coordinate of an element, counted row by row. There must be one.
    #[must_use]
    pub fn coordinate(&self, mut at: usize) -> Dims {
        let mut coordinate = self.dims();
        for len in coordinate.iter_mut().rev() {
            (*len, at) = (at % *len, at / *len);
        }
        coordinate
    }

    /// The largest element of an integer or float view; `None` if there is none.
    #[must_use]
    pub fn max_integer(&self) -> Option<i64> {
        let view = self.without_repeats();
        let bytes = view.len().saturating_mul(view.dtype().size());
        let stretches = view.stretches(available().min(bytes / MAX_FOR_A_THREAD));
        let mut found: SmallVec<[(Option<i64>, Self); 1]> = stretches
            .into_iter()
            .map(|stretch| (None, stretch))
            .collect();
        share(found.len(), &mut found, |(max, stretch)| {
            *max = stretch.max_of_stretch();
        });
        found.into_iter().filter_map(|(max, _)| max).max()
    }

    /// Whether no value of a view of one axis is less than the one before it, the first is not
    /// negative, and the last is below `limit`. False for other types than `int32` and `int64`.
    #[must_use]
    pub fn ascends_below(&self, limit: usize) -> bool {
        let ([len], [stride]) = (self.shape(), self.layout().strides()) else {
            return false;
        };
        let ends = [0, *len - 1].map(|at| {
            let mut value = [0];
            let read = self.read_integers(at.cast_signed() * stride, 0, &mut value);
            read.then_some(value[0])
        });
        let inside =
            |value: Option<i64>| value.is_some_and(|v| usize::try_from(v).is_ok_and(|v| v < limit));
        ends.into_iter().all(inside) && self.ascends(*stride, *len)
    }

    /// The view cut into up to `count` stretches along its longest axis.
    #[must_use]
    pub fn stretches(&self, count: usize) -> SmallVec<[Self; 1]> {
        let count = count.clamp(1, MOST_STRETCHES);
        let longest = (0..self.rank()).max_by_key(|&axis| self.shape()[axis]);
        let Some(axis) = longest.filter(|&axis| self.shape()[axis] >= count) else {
            return smallvec![self.clone()];
        };
        let len = self.shape()[axis];
        let ends = (0..count).map(|n| (n * len / count, (n + 1) * len / count));
        ends.filter_map(|(from, to)| self.narrow(axis, from, to - from))
            .collect()
    }

    /// The same elements with each axis along which they repeat (stride 0) cut to one.
    #[must_use]
    pub fn without_repeats(&self) -> Self {
        let mut view = self.clone();
        for axis in 0..self.rank() {
            if self.layout().strides()[axis] == 0 && self.shape()[axis] > 1 {
                view = view.narrow(axis, 0, 1).unwrap_or(view);
            }
        }
        view
    }

    /// Calls `each` with the elements as `i64`, block by block in row-major order, until it returns
    /// false. True if it never did; false also if the elements are no numbers.
    pub fn all_integers(&self, mut each: impl FnMut(&[i64]) -> bool) -> bool {
        let mut values = [0; 512];
        self.all_runs(|at, stride, count| {
            (0..count).step_by(values.len()).all(|from| {
                let block = (count - from).min(values.len());
                let block = &mut values[..block];
                let at = at + from.cast_signed() * stride;
                self.read_integers(at, stride, block) && each(block)
            })
        })
    }

    /// Calls `each` with the byte offset of the first, the step to the next and the number of the
    /// elements of each run along the last axis, or of all of them if they lie one after the other,
    /// until it returns false. True if it never did; false also if the elements are no real
    /// numbers.
    pub fn all_runs(&self, each: impl FnMut(isize, isize, usize) -> bool) -> bool {
        !matches!(self.dtype(), DType::Bool | DType::C64 | DType::C128) && self.runs(each)
    }
}

/// Minimum number of bytes for each thread that looks for a maximum.
const MAX_FOR_A_THREAD: usize = 4 * WAKE;

/// Values that are compared before it is looked at whether one was less than the one before.
const CHECKED: usize = 4096;

/// Maximum number of parts. No machine has more threads.
const MOST_STRETCHES: usize = 1 << 10;

/// C's cast, made total: toward zero, and out of range stays out of range.
#[allow(clippy::cast_possible_truncation)]
fn truncate(value: f64) -> i64 {
    if value.is_finite() {
        value as i64
    } else {
        NO_INTEGER
    }
}

/// Calls `each` with the byte offset of every coordinate, in row-major order, until it returns
/// false. True if it never did.
fn all_offsets(shape: &[usize], strides: &[isize], mut each: impl FnMut(isize) -> bool) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut at = Dims::from_elem(0, shape.len());
    let mut offset = 0isize;
    while each(offset) {
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return true;
            }
            axis -= 1;
            at[axis] += 1;
            offset = offset.wrapping_add(strides[axis]);
            if at[axis] < shape[axis] {
                break;
            }
            offset = offset.wrapping_sub(strides[axis].wrapping_mul(shape[axis].cast_signed()));
            at[axis] = 0;
        }
    }
    false
}
