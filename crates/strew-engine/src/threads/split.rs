//! The split that suits the axes of a run, and what stands in the way of one.

use crate::describe::split::Split;
use crate::strides::space::Space;
use crate::thresholds::{AXIS_LINE, OWNED_ROW, OWNED_TABLE, PIECE_OF_ROW};

/// Why a run cannot be shared out in this way, if so.
pub(crate) fn obstacle(space: &Space<'_>, split: Split) -> Option<&'static str> {
    match split {
        Split::Owner if space.lookups.is_empty() => Some("there is no index"),
        Split::Owner | Split::Updates => None,
        Split::Axis(k) if k >= space.axes.len() => Some("the updates have no such axis"),
        Split::Axis(k) => {
            let onto = space.axes[k].onto;
            let pointed = |axis| space.lookups.iter().any(|l| l.axis == axis);
            let alone = onto.is_some_and(|axis| !pointed(axis))
                && space.axes.iter().filter(|a| a.onto == onto).count() == 1
                && space.steps(k) != 0;
            (!alone).then_some("the axis does not walk along an axis of the destination of its own")
        }
    }
}

/// The best way to share a run out among `threads`, if there is one.
pub(crate) fn choose(space: &Space<'_>, size: usize, threads: usize) -> Option<Split> {
    if threads < 2 {
        return None;
    }
    let axes = &space.axes;
    let bytes_inside = |k: usize| -> usize {
        let inside = axes[k + 1..].iter().map(|a| a.len);
        inside.product::<usize>().saturating_mul(size)
    };
    let varies = |k: usize| axes[k].index.iter().any(|&s| s != 0);
    let good = |&k: &usize| {
        let stretch = (axes[k].len / threads).saturating_mul(bytes_inside(k));
        let least = if varies(k) || space.lookups.is_empty() {
            AXIS_LINE
        } else {
            PIECE_OF_ROW
        };
        obstacle(space, Split::Axis(k)).is_none() && axes[k].len >= threads && stretch >= least
    };
    // The outermost axis leaves the longest stretches. One along which the index varies is best
    // of all: no part reads what another does.
    let mut splits = (0..axes.len()).filter(good);
    if let Some(k) = splits.clone().find(|&k| varies(k)).or(splits.next()) {
        return Some(Split::Axis(k));
    }
    let owner = space.lookups.first()?;
    let (rows, stride) = space.dst[owner.axis];
    let window = axes
        .iter()
        .rev()
        .take_while(|a| a.index.iter().all(|&s| s == 0));
    let row_bytes = window
        .map(|a| a.len)
        .product::<usize>()
        .saturating_mul(size);
    let reach = stride.unsigned_abs().saturating_mul(rows);
    let pays = row_bytes >= OWNED_ROW || reach >= OWNED_TABLE;
    (rows >= threads && pays).then_some(Split::Owner)
}
