//! Tensors as text.

use crate::tensor::dtype::Element;
use crate::tensor::owned::Tensor;
use std::fmt;

/// Elements of a tensor that are all shown.
const ALL: usize = 1000;

/// Coordinates that a longer tensor shows at each end of an axis.
const ENDS: usize = 3;

/// Writes the elements in nested brackets, each with the precision that is asked for. Of a tensor
/// of more than 1000 elements only the first and the last 3 along each axis are shown.
///
/// ```
/// # mod strew { pub use strew_kernel::tensor::*; }
/// let mut tensor = strew::Tensor::<f32>::zeros(&[2, 3])?;
/// tensor.as_mut_slice()[4] = 1.25;
/// assert_eq!(tensor.to_string(), "[[0.0, 0.0, 0.0], [0.0, 1.25, 0.0]]");
/// assert_eq!(format!("{tensor:.1}"), "[[0.0, 0.0, 0.0], [0.0, 1.2, 0.0]]");
/// assert_eq!(strew::Tensor::<u8>::zeros(&[5000])?.to_string(), "[0, 0, 0, ..., 0, 0, 0]");
/// # Ok::<(), strew_kernel::error::Problem>(())
/// ```
impl<T: Element> fmt::Display for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.as_slice();
        let ends = if all.len() > ALL { ENDS } else { ALL };
        block(f, self.shape(), all, ends)
    }
}

/// Writes the elements of a block of rows of this shape.
fn block<T: Element>(
    f: &mut fmt::Formatter<'_>,
    shape: &[usize],
    elements: &[T],
    ends: usize,
) -> fmt::Result {
    let Some((&rows, inner)) = shape.split_first() else {
        return elements.iter().try_for_each(|element| element.show(f));
    };
    let width = elements.len() / rows.max(1);
    let (first, last) = (rows.min(ends), rows.saturating_sub(ends));
    f.write_str("[")?;
    for row in (0..first).chain(first.max(last)..rows) {
        if row > 0 {
            f.write_str(", ")?;
        }
        if row == last && last > first {
            f.write_str("..., ")?;
        }
        block(f, inner, &elements[row * width..][..width], ends)?;
    }
    f.write_str("]")
}
