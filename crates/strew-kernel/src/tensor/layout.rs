//! Shape, strides and element type, and the checks that make them describe real memory.

use crate::error::Problem;
use crate::tensor::axes::{Axes, continues};
use crate::tensor::dtype::DType;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Sizes of the axes, or coordinates.
pub type Dims = SmallVec<[usize; 4]>;

/// Bytes from one element to the next along each axis; may be zero or negative.
pub type Strides = SmallVec<[isize; 4]>;

/// Element type, shape and byte strides: a tensor without its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    dtype: DType,
    axes: Axes,
}

impl Layout {
    /// A layout whose every element lies within `isize::MAX` bytes of the origin.
    ///
    /// # Errors
    /// [`Problem::Layout`] if shape and strides differ in length, if the number of elements or a
    /// byte offset does not fit, or if a stride would misalign an element.
    pub fn new(dtype: DType, shape: &[usize], strides: &[isize]) -> Result<Self, Problem> {
        let refuse = |why: String| Problem::Layout {
            argument: "tensor".into(),
            why,
        };
        if shape.len() != strides.len() {
            return Err(refuse(format!(
                "{} sizes but {} strides",
                shape.len(),
                strides.len()
            )));
        }
        let layout = Self {
            dtype,
            // An axis of one element is never stepped along, so its stride is normalised to 0.
            axes: Axes::new(shape.len(), |axis| match shape[axis] {
                len @ ..=1 => (len, 0),
                len => (len, strides[axis]),
            }),
        };
        if checked_len(shape).is_none() {
            return Err(refuse(format!("shape {shape:?} has too many elements")));
        }
        let Some(extent) = layout.checked_extent() else {
            return Err(refuse(format!(
                "shape {shape:?} with strides {strides:?} (bytes) reaches beyond the address space"
            )));
        };
        if extent == (0, 0) {
            return Ok(layout); // No element: nothing is misaligned.
        }
        for (&len, &stride) in shape.iter().zip(strides) {
            if len > 1 && !aligned(stride, dtype.align()) {
                return Err(refuse(format!(
                    "a stride of {stride} bytes misaligns {dtype} elements; copy the array first"
                )));
            }
        }
        Ok(layout)
    }

    /// The row-major layout of `shape` without gaps.
    ///
    /// # Errors
    /// [`Problem::Memory`] if its size in bytes does not fit the address space.
    pub fn contiguous(dtype: DType, shape: &[usize]) -> Result<Self, Problem> {
        let too_large = || Problem::Memory {
            what: format!("a tensor of shape {shape:?} and dtype {dtype}"),
            needed: shape
                .iter()
                .fold(dtype.size() as u128, |n, &d| n.saturating_mul(d as u128)),
            available: crate::tensor::memory::memory_limit().map_or(isize::MAX as u128, u128::from),
        };
        let bytes = checked_len(shape)
            .and_then(|n| n.checked_mul(dtype.size()))
            .filter(|&n| isize::try_from(n).is_ok());
        if bytes.is_none() {
            return Err(too_large());
        }
        let mut step = dtype.size().cast_signed();
        let axes = Axes::new(shape.len(), |axis| {
            let (len, stride) = (shape[axis], step);
            step = step.wrapping_mul(len.max(1).cast_signed());
            (len, stride)
        });
        Ok(Self { dtype, axes })
    }

    /// Whether a pointer may be that of the element whose coordinates are all zero, as far as one
    /// can check.
    ///
    /// # Errors
    /// [`Problem::Layout`] if it is null or misaligned while there are elements.
    pub fn check_pointer(&self, ptr: *const u8) -> Result<(), Problem> {
        let align = self.dtype.align();
        let fits = aligned(ptr.addr().cast_signed(), align);
        let why = if (fits && !ptr.is_null()) || self.is_empty() {
            return Ok(());
        } else if ptr.is_null() {
            "the data pointer is null".to_owned()
        } else {
            format!(
                "the data is not aligned to {align} bytes as {} needs; copy the array first",
                self.dtype
            )
        };
        Err(Problem::Layout {
            argument: "tensor".into(),
            why,
        })
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes of the axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.axes.shape()
    }

    /// Bytes from one element to the next, per axis.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        self.axes.strides()
    }

    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        // Next to a size of 0, the others may be as large as they like.
        checked_len(self.shape()).unwrap_or(0)
    }

    /// True if there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// True if the elements lie in row-major order without gaps.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        let mut step = self.dtype.size().cast_signed();
        for (&len, &stride) in self.shape().iter().zip(self.strides()).rev() {
            if len != 1 && stride != step {
                return self.is_empty();
            }
            step = step.wrapping_mul(len.max(1).cast_signed());
        }
        true
    }

    /// The first and the last-plus-one byte that an element occupies, relative to the origin.
    #[must_use]
    pub fn extent(&self) -> (isize, isize) {
        self.checked_extent().unwrap_or((0, 0))
    }

    fn checked_extent(&self) -> Option<(isize, isize)> {
        let nothing = || self.is_empty().then_some((0, 0));
        self.reach().or_else(nothing)
    }

    /// The [extent](Self::extent). `None` if it does not fit, or if there is no element.
    fn reach(&self) -> Option<(isize, isize)> {
        let (mut low, mut high) = (0isize, self.dtype.size().cast_signed());
        for (&len, &stride) in self.shape().iter().zip(self.strides()) {
            let span = stride.checked_mul(isize::try_from(len.checked_sub(1)?).ok()?)?;
            if span < 0 {
                low = low.checked_add(span)?;
            } else {
                high = high.checked_add(span)?;
            }
        }
        high.checked_sub(low)?;
        Some((low, high))
    }

    /// The same elements seen as if each axis of size 1, and new leading axes, had the size that
    /// `shape` gives; `None` if the shapes do not broadcast.
    #[must_use]
    pub(super) fn broadcast_to(&self, shape: &[usize]) -> Option<Self> {
        let lead = shape.len().checked_sub(self.rank())?;
        checked_len(shape)?;
        let mut sizes = self.shape().iter().zip(&shape[lead..]);
        let fits = sizes.all(|(&len, &wanted)| len == wanted || len == 1);
        let axis = |axis: usize| match axis.checked_sub(lead) {
            Some(own) if self.shape()[own] == shape[axis] => (shape[axis], self.strides()[own]),
            _ => (shape[axis], 0),
        };
        fits.then(|| self.with(Axes::new(shape.len(), axis)))
    }

    /// The axes in another order; `order` must be a permutation of them.
    #[must_use]
    pub(super) fn permute(&self, order: &[usize]) -> Option<Self> {
        let mut seen = Dims::from_elem(0, self.rank());
        for &axis in order {
            let slot = seen.get_mut(axis)?;
            *slot += 1;
        }
        if order.len() != self.rank() || seen.iter().any(|&n| n != 1) {
            return None;
        }
        Some(self.with(Axes::new(order.len(), |at| self.axis(order[at]))))
    }

    /// The part `start..start + len` of an axis, and the byte offset of its origin.
    #[must_use]
    pub(super) fn narrow(&self, axis: usize, start: usize, len: usize) -> Option<(Self, isize)> {
        let size = *self.shape().get(axis)?;
        if start.checked_add(len)? > size {
            return None;
        }
        let narrowed = self.with(Axes::new(self.rank(), |a| match self.axis(a) {
            (_, stride) if a == axis => (len, stride),
            other => other,
        }));
        let moved = if narrowed.is_empty() {
            0
        } else {
            self.strides()[axis] * start.cast_signed()
        };
        Some((narrowed, moved))
    }

    /// The coordinates `start`, `start + step`, ..., `count` of them, of an axis, and the byte
    /// offset of the first.
    #[must_use]
    pub(super) fn slice(
        &self,
        axis: usize,
        start: usize,
        step: isize,
        count: usize,
    ) -> Option<(Self, isize)> {
        let size = *self.shape().get(axis)?;
        let Some(steps) = count.checked_sub(1) else {
            return self.narrow(axis, 0, 0);
        };
        let last = step
            .checked_mul(steps.cast_signed())
            .and_then(|span| start.checked_add_signed(span))?;
        if start >= size || last >= size {
            return None;
        }
        let sliced = self.with(Axes::new(self.rank(), |a| match self.axis(a) {
            // A single element takes no step.
            (_, stride) if a == axis && count > 1 => (count, stride * step),
            (_, stride) if a == axis => (count, stride),
            other => other,
        }));
        let moved = match sliced.is_empty() {
            true => 0,
            false => self.strides()[axis] * start.cast_signed(),
        };
        Some((sliced, moved))
    }

    /// All elements along one axis, in row-major order, if each is as far from the next.
    #[must_use]
    pub(super) fn flat(&self) -> Option<Self> {
        let axes = self.shape().iter().zip(self.strides()).rev();
        let (mut count, mut step) = (1usize, 0isize);
        for (&len, &stride) in axes.filter(|(len, _)| **len != 1) {
            match count {
                _ if self.is_empty() => break,
                1 => (count, step) = (len, stride),
                _ if continues(stride, step, count) => count *= len,
                _ => return None,
            }
        }
        let count = if self.is_empty() { 0 } else { count };
        Some(self.with(Axes::new(1, |_| (count, step))))
    }

    /// One axis as several, in row-major order, if the layout has only that and as many elements.
    #[must_use]
    pub(super) fn unflat(&self, shape: &[usize]) -> Option<Self> {
        let (&[len], &[step]) = (self.shape(), self.strides()) else {
            return None;
        };
        let mut step = step;
        let axes = Axes::new(shape.len(), |axis| {
            let stride = step;
            step = step.wrapping_mul(shape[axis].max(1).cast_signed());
            (shape[axis], stride)
        });
        (checked_len(shape)? == len).then(|| self.with(axes))
    }

    /// The leading corner of the given shape, if that is of the same rank and not larger.
    #[must_use]
    pub(super) fn corner(&self, shape: &[usize]) -> Option<Self> {
        let mut sizes = shape.iter().zip(self.shape());
        let fits = shape.len() == self.rank() && sizes.all(|(part, whole)| part <= whole);
        let axis = |axis: usize| (shape[axis], self.strides()[axis]);
        fits.then(|| self.with(Axes::new(shape.len(), axis)))
    }

    /// With an axis of size 1 put in at `at`.
    #[must_use]
    pub(super) fn insert_axis(&self, at: usize) -> Self {
        let at = at.min(self.rank());
        self.with(Axes::new(self.rank() + 1, |axis| match axis.cmp(&at) {
            Ordering::Less => self.axis(axis),
            Ordering::Equal => (1, 0),
            Ordering::Greater => self.axis(axis - 1),
        }))
    }

    /// One coordinate of an axis, without that axis, and the byte offset of its origin.
    #[must_use]
    pub(super) fn select(&self, axis: usize, at: usize) -> Option<(Self, isize)> {
        if at >= *self.shape().get(axis)? {
            return None;
        }
        let selected = self.with(Axes::new(self.rank() - 1, |a| {
            self.axis(if a < axis { a } else { a + 1 })
        }));
        let moved = if selected.is_empty() {
            0
        } else {
            self.strides()[axis] * at.cast_signed()
        };
        Some((selected, moved))
    }

    /// Size and stride of an axis.
    fn axis(&self, axis: usize) -> (usize, isize) {
        (self.shape()[axis], self.strides()[axis])
    }

    /// The same axes of elements of another type, which must be as large and aligned alike.
    pub(super) fn with_dtype(&self, dtype: DType) -> Self {
        debug_assert_eq!(
            (dtype.size(), dtype.align()),
            (self.dtype.size(), self.dtype.align())
        );
        Self {
            dtype,
            ..self.clone()
        }
    }

    /// Elements of the same type along other axes.
    fn with(&self, axes: Axes) -> Self {
        Self {
            dtype: self.dtype,
            axes,
        }
    }

    /// Byte offset of a coordinate, if it is one.
    #[must_use]
    pub(super) fn offset(&self, coordinate: &[usize]) -> Option<isize> {
        if coordinate.len() != self.rank() {
            return None;
        }
        let mut offset = 0;
        for ((&at, &len), &stride) in coordinate.iter().zip(self.shape()).zip(self.strides()) {
            if at >= len {
                return None;
            }
            offset += at.cast_signed() * stride;
        }
        Some(offset)
    }
}

/// Whether a number of bytes is a multiple of an alignment, which is a power of two.
pub(super) fn aligned(bytes: isize, align: usize) -> bool {
    bytes.cast_unsigned() & (align - 1) == 0
}

/// The product of the sizes, if it fits `isize`. A size of 0 makes it 0 whatever the others are.
fn checked_len(shape: &[usize]) -> Option<usize> {
    let n = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    let fits = n.filter(|&n| isize::try_from(n).is_ok());
    fits.or_else(|| shape.contains(&0).then_some(0))
}
