//! Sums that leave out the cells' own values (`include_self=False`), by sentinels.
//!
//! ```text
//! sums = a sentinel everywhere; add the updates
//! for each cell: sums[cell] is still the sentinel -> the input's value
//! ```

use crate::describe::strategy::Begin;
use crate::describe::{Scatter, Start};
use crate::run::choose::Walked;
use crate::strides::request::Cells;
use crate::threads::pass::Before;
use strew_kernel::error::Problem;
use strew_kernel::ops::sentinel::Unset;
use strew_kernel::tensor::{DynTensor, DynView, DynViewMut, Layout};
use strew_kernel::update::lazy_init::LazyInit;
use strew_kernel::update::untouched::{adopt, may_be_negative_zero, take};

/// Elements of a source that are looked at before the run: if one of them is -0.0, more are
/// expected.
const FIRST: usize = 1 << 16;

/// Sums that began from a sentinel in every cell.
struct Sums {
    cells: DynTensor,
    /// No cell that an update reached can be taken for one that none reached.
    certain: bool,
}

/// Sums into a new tensor, of which cells that no update reaches are an input's.
pub(crate) fn sum_anew(scatter: &Scatter<'_>, walked: Walked<'_>) -> Result<DynTensor, Problem> {
    let input = match scatter.target.start() {
        Some(Start::CopyOf(input)) => Some(input),
        _ => None,
    };
    Ok(sums(scatter, walked, input)?.0)
}

/// Sums into a private table, and sets those cells of the caller's to them that updates reach.
pub(crate) fn sum_privately(
    scatter: &Scatter<'_>,
    walked: Walked<'_>,
    view: &mut DynViewMut<'_>,
) -> Result<(), Problem> {
    let (sums, unset) = sums(scatter, walked, None)?;
    take(view, &sums, unset);
    Ok(())
}

/// The sums, and what cells hold that no update reaches, unless an input was given for those.
fn sums(
    scatter: &Scatter<'_>,
    mut walked: Walked<'_>,
    input: Option<&DynView<'_>>,
) -> Result<(DynTensor, Unset), Problem> {
    // Among rows, to look for a signalling NaN costs nothing.
    let single = walked.execution.width() == 1;
    if single && !may_be_negative_zero(scatter.source.view(), FIRST) {
        let unset = Unset::NegativeZero;
        let Sums { cells, certain } = sums_from(scatter, unset, &mut walked, input)?;
        if certain {
            return Ok((cells, unset));
        }
    }
    let unset = Unset::Signalling;
    let Sums { cells, .. } = sums_from(scatter, unset, &mut walked, input)?;
    Ok((cells, unset))
}

/// The sums into cells that begin as `unset`.
fn sums_from(
    scatter: &Scatter<'_>,
    unset: Unset,
    walked: &mut Walked<'_>,
    input: Option<&DynView<'_>>,
) -> Result<Sums, Problem> {
    walked.execution.request.cells = match unset {
        Unset::Signalling => Cells::Unset,
        _ => Cells::Kept,
    };
    let dtype = scatter.dtype();
    let layout = Layout::contiguous(dtype, scatter.destinations.shape())?;
    let fresh = match input {
        Some(input) if walked.execution.begin == Begin::Blocks => {
            LazyInit::unset(&layout, unset, input)
        }
        _ => None,
    };
    let mut sums = match (&fresh, unset.value(dtype)) {
        (None, Some(value)) => DynTensor::filled(dtype, layout.shape(), &value[..dtype.size()])?,
        _ => DynTensor::scratch(dtype, layout.shape())?,
    };
    let before = fresh.as_ref().map_or(Before::Nothing, Before::Blocks);
    scatter.walk(walked, sums.view_mut(), None, before)?;
    let all = usize::MAX;
    let certain = match (fresh, input) {
        (Some(fresh), _) => fresh.certain(),
        (None, input) => {
            let some = match input {
                Some(input) => adopt(&mut sums, input, walked.execution.run_length(), unset),
                None => may_be_negative_zero(&sums.view(), all),
            };
            !some || unset == Unset::Signalling || !may_be_negative_zero(scatter.source.view(), all)
        }
    };
    Ok(Sums {
        cells: sums,
        certain,
    })
}
