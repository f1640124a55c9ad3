//! How a gather is split among threads: along the first axis that is long enough.

use crate::choose::plan_cost::threads;
use crate::choose::split::Split;
use crate::scatter::space::Space;
use strew_kernel::error::Problem;

/// How a gather is shared out: along the outermost axis that has enough for every thread.
pub(crate) fn split(
    space: &Space<'_>,
    asked: Option<(Split, usize)>,
    size: usize,
) -> Result<Option<(Split, usize)>, Problem> {
    let Some((split, parts)) = asked else {
        let lens = space.axes.iter().map(|axis| axis.len);
        let threads = threads(lens.clone().fold(size, usize::saturating_mul));
        let axis = lens.clone().position(|len| len >= threads);
        return Ok(axis
            .filter(|_| threads > 1)
            .map(|axis| (Split::Axis(axis), threads)));
    };
    let why = match split {
        Split::Axis(axis) if axis < space.axes.len() => return Ok(Some((split, parts))),
        Split::Axis(_) => "the updates have no such axis",
        Split::Owner | Split::Updates => "each element of a gather has a place of its own",
    };
    Err(Problem::Strategy {
        strategy: split.name(),
        why,
    })
}
