//! Index tuples along the last axis, as most frameworks have them.

use smallvec::SmallVec;
use std::ops::RangeInclusive;
use strew_engine::checks::expect_shape;
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_kernel::error::Problem;
use strew_kernel::tensor::{Dims, DynView};

/// The cells of a tensor of this shape that the tuples name: windows along the axes behind those
/// that a tuple has an entry for. A tuple has as many entries as `depth` allows.
///
/// # Errors
/// [`Problem::Shape`] if there is no such axis, [`Problem::DType`] if the index holds no numbers.
pub(crate) fn tuples<'a>(
    shape: &[usize],
    argument: &'static str,
    index: &DynView<'a>,
    depth: RangeInclusive<usize>,
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    let found = index.shape();
    let last = found.last().copied().filter(|count| depth.contains(count));
    expect_shape(argument, found, last.is_some(), || {
        format!(
            "its last dimension must be from {} to {}: a tuple has an entry for each of the first axes of {shape:?}",
            depth.start(),
            depth.end()
        )
    })?;
    let entries = last.unwrap_or_default();
    let batch = found.len().saturating_sub(1);
    if entries == 0 {
        return Ok(Destinations::whole(shape, &found[..batch]));
    }
    let components = (0..entries).filter_map(|entry| index.select(batch, entry));
    let components: SmallVec<[_; 2]> = components.collect();
    let axes: Dims = (0..entries).collect();
    Destinations::rows(shape, argument, &components, &axes, Some(batch), bounds)
}

/// What the updates of such windows must be: the index's shape but for its last axis, and the
/// window's.
///
/// # Errors
/// [`Problem::Shape`] if they are something else.
pub(crate) fn expect_windows(
    argument: &'static str,
    found: &[usize],
    destinations: &Destinations<'_>,
) -> Result<(), Problem> {
    let wanted = destinations.updates_shape();
    expect_shape(argument, found, found == wanted, || {
        format!(
            "it must be indices.shape[:-1] and the shape behind the axes that a tuple names, {wanted:?}"
        )
    })
}
