//! Scatters as most frameworks have them: into a copy, in place, and of elements along an axis.

use strew_engine::describe::bounds::Bounds;
use strew_engine::describe::destinations::{Destinations, Place};
use strew_engine::describe::reduction::Reduction;
use strew_engine::describe::{Scatter, Start, Target};
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DynView, DynViewMut, Held};

/// A copy of `input` with updates joined to its cells. The updates are named with their argument.
///
/// # Errors
/// As [`Scatter::new`].
#[inline(always)] // A scatter is large: it is made where it stays.
pub(crate) fn into_copy<'a>(
    input: DynView<'a>,
    cells: Destinations<'a>,
    reduction: Reduction,
    argument: &'static str,
    updates: impl Into<Held<'a>>,
) -> Result<Scatter<'a>, Problem> {
    let target = Target::New {
        dtype: input.dtype(),
        start: Start::CopyOf(input),
    };
    Scatter::new(cells, reduction, argument, updates, target)
}

/// Updates joined to the cells of `target`, in place. Both are named with their arguments.
///
/// # Errors
/// As [`Scatter::new`].
#[inline(always)] // As `into_copy`.
pub(crate) fn in_place<'a>(
    (target_name, view): (&'static str, DynViewMut<'a>),
    cells: Destinations<'a>,
    reduction: Reduction,
    argument: &'static str,
    updates: impl Into<Held<'a>>,
) -> Result<Scatter<'a>, Problem> {
    let target = Target::InPlace {
        argument: target_name,
        view,
    };
    Scatter::new(cells, reduction, argument, updates, target)
}

/// The cells of a tensor of this shape that have an index each along `axis`. The index has the
/// updates' shape.
///
/// # Errors
/// As [`Destinations::elements`].
#[inline(always)] // As `into_copy`.
pub(crate) fn elements<'a>(
    shape: &[usize],
    argument: &'static str,
    index: &DynView<'a>,
    axis: usize,
    bounds: Bounds,
) -> Result<Destinations<'a>, Problem> {
    let place = Place {
        axes: 0..index.rank(),
        tuple: None,
    };
    Destinations::elements(shape, argument, index, axis, place, bounds)
}
