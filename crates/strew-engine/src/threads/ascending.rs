//! Whether several threads that own rows of the destination each read only a stretch of the index.
//!
//! Where the index ascends, the updates of a thread's rows lie one after the other. A sample
//! guesses that it does. The run checks it before the first write.

use crate::describe::split::Split;
use crate::describe::strategy::Strategy;
use crate::strides::request::Run;
use crate::strides::space::Space;
use crate::thresholds::ASCENDING_SAMPLE;

/// Whether the parts of a run that is shared out like this seem to have a stretch of the index
/// each.
pub(crate) fn seems_to_ascend(run: &Run<'_, '_>, strategy: Strategy, split: Split) -> bool {
    let owned = split == Split::Owner && strategy == Strategy::InOrder && run.space.arg.is_none();
    owned && indexed_axis(run.space).is_some() && {
        let index = run.space.lookups[0].index.without_repeats();
        index.sample(ASCENDING_SAMPLE).is_sorted()
    }
}

/// The axis of the updates along which their only index varies, if it does so along no other, and
/// if the axis walks along none of the destination's.
pub(crate) fn indexed_axis(space: &Space<'_>) -> Option<usize> {
    let [_] = space.lookups[..] else {
        return None;
    };
    let varies = |&axis: &usize| space.axes[axis].len > 1 && space.axes[axis].index[0] != 0;
    let mut varying = (0..space.axes.len()).filter(varies);
    match (varying.next(), varying.next()) {
        (Some(axis), None) if space.axes[axis].onto.is_none() => Some(axis),
        _ => None,
    }
}
