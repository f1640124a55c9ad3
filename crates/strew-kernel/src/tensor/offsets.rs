//! Byte offsets of a layout's elements, in row-major order.

use crate::tensor::layout::{Dims, Layout};

/// The byte offsets of all elements.
pub fn offsets(layout: &Layout) -> impl Iterator<Item = isize> + '_ {
    let (shape, strides) = (layout.shape(), layout.strides());
    let mut at = Dims::from_elem(0, shape.len());
    let mut next = 0isize;
    (0..layout.len()).map(move |_| {
        let here = next;
        for axis in (0..shape.len()).rev() {
            at[axis] += 1;
            next = next.wrapping_add(strides[axis]);
            if at[axis] < shape[axis] {
                break;
            }
            next = next.wrapping_sub(strides[axis].wrapping_mul(shape[axis].cast_signed()));
            at[axis] = 0;
        }
        here
    })
}

/// The byte offset of one element, counted row by row.
///
/// # Panics
/// If there is no such element.
pub fn offset_of(layout: &Layout, element: usize) -> isize {
    assert!(element < layout.len());
    let (mut rest, mut offset) = (element, 0);
    for (&len, &stride) in layout.shape().iter().zip(layout.strides()).rev() {
        offset += (rest % len).cast_signed() * stride;
        rest /= len;
    }
    offset
}
