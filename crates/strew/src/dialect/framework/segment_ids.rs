//! Segment numbers that must ascend.

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
pub(crate) fn segments_to(last: Option<i64>) -> usize {
    // A number beyond memory is one beyond any size, too.
    last.map_or(0, |last| {
        usize::try_from(last).unwrap_or(0).saturating_add(1)
    })
}
