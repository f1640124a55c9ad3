//! Segment numbers that must ascend.

use strew_engine::describe::bounds::Bounds;
use strew_kernel::error::Problem;
use strew_kernel::tensor::DynView;

/// The last number, `None` if there is none.
///
/// # Errors
/// The position and the value of the first number that is smaller than the one before.
pub(crate) fn ascending(ids: &DynView<'_>) -> Result<Option<i64>, (usize, i64)> {
    let (mut last, mut at) = (None, 0usize);
    let ascend = ids.all_integers(|block| {
        block.iter().all(|&id| {
            let fits = last.is_none_or(|last| id >= last);
            last = Some(id);
            at += usize::from(fits);
            fits
        })
    });
    match ascend {
        true => Ok(last),
        false => Err((at, last.unwrap_or_default())),
    }
}

/// How many segments there are if the last number is `last`.
///
/// # Errors
/// [`Problem::IndexOutOfBounds`] for a number that is too large for any axis.
pub(crate) fn segments_to(ids: &DynView<'_>, last: Option<i64>) -> Result<usize, Problem> {
    match last {
        Some(i64::MAX) => Bounds::STRICT.cells(ids, "segment_ids"),
        Some(last @ 0..) => Ok(last.unsigned_abs() as usize + 1),
        _ => Ok(0),
    }
}
