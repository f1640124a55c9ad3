//! Arrays that differ in nothing but their rows, and the coordinates on the axes before those.

use crate::tensor::Dims;

/// A coordinate on the axes before that of the rows.
pub struct Batch {
    shape: Dims,
    at: Dims,
}

impl Batch {
    /// The first coordinate of a shape.
    pub fn over(shape: &[usize]) -> Self {
        Self {
            shape: Dims::from_slice(shape),
            at: Dims::from_elem(0, shape.len()),
        }
    }

    /// The byte offset of the coordinate, of an array with these steps.
    pub fn offset(&self, steps: &[isize]) -> isize {
        let axes = self.at.iter().zip(steps);
        axes.map(|(&at, step)| at.cast_signed() * step).sum()
    }

    /// Goes on to the next one; false behind the last.
    pub fn advance(&mut self) -> bool {
        for (at, &len) in self.at.iter_mut().zip(&self.shape).rev() {
            *at += 1;
            if *at < len {
                return true;
            }
            *at = 0;
        }
        false
    }
}

/// Whether two arrays differ in nothing but their rows.
pub(crate) fn alike(one: &[usize], other: &[usize], axis: usize) -> bool {
    axis < one.len()
        && one.len() == other.len()
        && (0..one.len()).all(|k| k == axis || one[k] == other[k])
}
