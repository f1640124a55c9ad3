//! Index tensors made of something else: the true positions of a mask, and coordinates of flat
//! positions.
//!
//! Both make one pass over their input, and write 8 bytes for each position (and axis).

use crate::error::Problem;
use crate::tensor::{DynView, Tensor};

/// The positions, counted row by row, where a mask is true (not zero): 1-d.
///
/// # Errors
/// [`Problem::Memory`].
pub fn nonzero(mask: &DynView<'_>) -> Result<Tensor<i64>, Problem> {
    let row_by_row = mask.to_tensor()?;
    // A mask is bool or uint8, whose elements are bytes.
    let bytes = row_by_row.as_bytes();
    let is_true = |byte: &u8| *byte != 0;
    let count = bytes.iter().filter(|byte| is_true(byte)).count();
    let mut places = Tensor::zeros(&[count])?;
    let found = (0i64..).zip(bytes).filter(|(_, byte)| is_true(byte));
    for (place, (at, _)) in places.as_mut_slice().iter_mut().zip(found) {
        *place = at;
    }
    Ok(places)
}

/// Positions, counted row by row, as coordinates of a tensor of that shape: one tensor per axis,
/// each of the positions' shape. Negative positions count from the end.
///
/// # Errors
/// [`Problem::IndexOutOfBounds`] for a position that the tensor does not have, [`Problem::Memory`].
pub fn unravel(
    argument: &'static str,
    positions: &DynView<'_>,
    shape: &[usize],
) -> Result<Vec<Tensor<i64>>, Problem> {
    let mut all = Vec::with_capacity(shape.len());
    for _ in shape {
        all.push(Tensor::<i64>::zeros(positions.shape())?);
    }
    let size = shape
        .iter()
        .fold(1usize, |size, &len| size.saturating_mul(len));
    let mut at = 0;
    let mut wrong = None;
    positions.all_integers(|block| {
        for &position in block {
            let wrapped = match position < 0 {
                true => position.saturating_add_unsigned(size as u64),
                false => position,
            };
            let Some(mut rest) = usize::try_from(wrapped).ok().filter(|&at| at < size) else {
                wrong = Some((at, position));
                return false;
            };
            for (axis, &len) in all.iter_mut().zip(shape).rev() {
                axis.as_mut_slice()[at] = (rest % len) as i64;
                rest /= len;
            }
            at += 1;
        }
        true
    });
    match wrong {
        None => Ok(all),
        Some((at, value)) => {
            let position = positions.coordinate(at);
            let exact = positions.index_value(&position);
            Err(Problem::IndexOutOfBounds {
                argument,
                position: position.to_vec(),
                value: exact.unwrap_or(value.into()),
                axis: 0,
                size: Some(size),
            })
        }
    }
}
