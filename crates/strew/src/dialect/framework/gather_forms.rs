//! Gathers as most frameworks have them: of slices, of elements, by tuples.

use crate::dialect::framework::checks::{expect_axes, expect_rank_of, wrong_value};
use crate::dialect::framework::scatter_forms;
use smallvec::SmallVec;
use strew_engine::checks::{axis, expect_shape};
use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::Destinations;
use strew_engine::describe::destinations::take::PickedAxes;
use strew_engine::describe::gather::Gather;
use strew_kernel::error::Problem;
use strew_kernel::tensor::DynView;

/// Slices of `data` along one of its axes. The first `batch` axes are shared with `indices`. The
/// result has the shape `data.shape[:axis] + indices.shape[batch:] + data.shape[axis + 1:]`.
///
/// # Errors
/// [`Problem::Axis`], [`Problem::Shape`], [`Problem::Value`] if `batch` is not from 0 to `axis`.
pub(crate) fn slices<'a>(
    data: DynView<'a>,
    indices: &DynView<'a>,
    along: i64,
    batch: i64,
    bounds: Bounds,
) -> Result<Gather<'a>, Problem> {
    expect_axes("data", data.shape())?;
    let along = axis("axis", along, data.rank())?;
    let most = along.min(indices.rank());
    let batch = shared(("data", &data), indices, batch, most)?;
    let index = std::slice::from_ref(indices);
    let at = PickedAxes {
        batch,
        first: along,
    };
    let places = Destinations::picks(data.shape(), "indices", index, at, None, bounds)?;
    Gather::new(places, data)
}

/// The elements of `data` that each element of `indices` names along `axis`. The result has the
/// shape of `indices`.
///
/// # Errors
/// [`Problem::Axis`], [`Problem::Shape`].
pub(crate) fn elements<'a>(
    data: DynView<'a>,
    indices: &DynView<'a>,
    along: i64,
    bounds: Bounds,
) -> Result<Gather<'a>, Problem> {
    expect_axes("data", data.shape())?;
    let along = axis("axis", along, data.rank())?;
    expect_rank_of("indices", indices.shape(), "data", data.rank())?;
    let places = scatter_forms::elements(data.shape(), "indices", indices, along, bounds)?;
    Gather::new(places, data)
}

/// Windows of `data` that tuples along the last axis of `indices` name. The first `batch` axes are
/// shared with `data`. The result has the shape `indices.shape[:-1] + data.shape[batch + K:]` for
/// tuples of `K` entries.
///
/// # Errors
/// [`Problem::Shape`], [`Problem::Value`] if `batch` is not below the ranks.
pub(crate) fn windows<'a>(
    argument: &'static str,
    data: DynView<'a>,
    indices: &DynView<'a>,
    batch: i64,
    bounds: Bounds,
) -> Result<Gather<'a>, Problem> {
    let last = indices.rank().checked_sub(1);
    let (Some(last), true) = (last, data.rank() >= 1) else {
        return Err(Problem::Shape {
            argument: if last.is_none() { "indices" } else { argument },
            found: Vec::new(),
            expected: "it must have at least one dimension".into(),
        });
    };
    let most = last.min(data.rank() - 1);
    let batch = shared((argument, &data), indices, batch, most)?;
    let (found, entries) = (indices.shape(), indices.shape()[last]);
    let deepest = data.rank() - batch;
    expect_shape("indices", found, (1..=deepest).contains(&entries), || {
        format!(
            "its last dimension must be from 1 to {deepest}: a tuple has an entry for each of the axes of {argument} from {batch} on"
        )
    })?;
    let components = (0..entries).filter_map(|entry| indices.select(last, entry));
    let components: SmallVec<[_; 2]> = components.collect();
    let at = PickedAxes {
        batch,
        first: batch,
    };
    let places = Destinations::picks(data.shape(), "indices", &components, at, Some(last), bounds)?;
    Gather::new(places, data)
}

/// The number of axes that two tensors share, checked; negative counts from the rank of `indices`.
fn shared(
    (argument, data): (&'static str, &DynView<'_>),
    indices: &DynView<'_>,
    batch: i64,
    most: usize,
) -> Result<usize, Problem> {
    let counted = match batch < 0 {
        true => batch.saturating_add_unsigned(indices.rank() as u64),
        false => batch,
    };
    let count = usize::try_from(counted).ok().filter(|&count| count <= most);
    let count = count.ok_or_else(|| {
        wrong_value(
            "batch_dims",
            batch,
            format_args!("it must be from 0 to {most}"),
        )
    })?;
    let (found, wanted) = (indices.shape(), &data.shape()[..count]);
    expect_shape("indices", found, found.starts_with(wanted), || {
        format!("it must begin with the first {count} dimensions of {argument}, {wanted:?}")
    })?;
    Ok(count)
}
