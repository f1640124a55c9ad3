//! A few single elements join their cells at once, on the stack, without any preparation.
//!
//! A walk takes longer to prepare than so few updates take.

use crate::describe::Scatter;
use crate::describe::reduction::Init;
use crate::describe::strategy::Strategy;
use crate::strategy::record::{Did, did};
use std::sync::atomic::AtomicBool;
use strew_kernel::error::Problem;
use strew_kernel::runtime::monitor::{Progress, Watch, is_watched};
use strew_kernel::tensor::{DynViewMut, Layout};
use strew_kernel::update::small::MOST_UPDATES;
use strew_kernel::walk::geometry::OutOfBounds;

/// What `explain` says that it does.
pub(crate) const HOW: &str = "joins the updates at once";

/// Why it is chosen.
pub(crate) const REASON: &str = "a few elements join before a walk could be prepared";

// The message of `obstacle` says so.
const _: () = assert!(MOST_UPDATES == 256);

/// Why the updates cannot join at once on the stack, if so.
pub(crate) fn obstacle(scatter: &Scatter<'_>, layout: &Layout) -> Option<&'static str> {
    let source = scatter.source.view();
    if source.len() > MOST_UPDATES {
        return Some("it takes 256 updates at most");
    }
    if scatter.exact {
        return Some("exact sums are kept in a table");
    }
    if scatter.arg.is_some() || scatter.mean().is_some() || scatter.reduction.init == Init::Identity
    {
        return Some("it gives no positions and no means, and cells keep their values");
    }
    if scatter.split.is_some() {
        return Some("it runs on one thread");
    }
    let joins = (scatter.destinations).joins_small(layout, source, scatter.reduction.combine);
    (!joins).then_some("updates and cells must have one type, and bounds must be strict")
}

/// Joins the updates, all of whose indices are checked before the first cell is written.
pub(crate) fn join(scatter: &Scatter<'_>, view: &mut DynViewMut<'_>) -> Result<(), Problem> {
    did(Did::Strategy(Strategy::Small));
    let watch = is_watched().then(Watch::take);
    let stop = AtomicBool::new(false);
    let monitor = watch.as_ref().and_then(Watch::monitor);
    let updates = scatter.source.view().len();
    let mut progress = Progress::new(monitor, &stop, 0, updates as u64);
    if !progress.step(0) {
        return Err(Problem::Interrupted);
    }
    let joined =
        (scatter.destinations).join_small(view, scatter.source.view(), scatter.reduction.combine);
    match joined {
        Some(Ok(())) => {
            progress.writes_are_visible();
            progress.step(updates);
            Ok(())
        }
        Some(Err(OutOfBounds)) => Err(scatter.destinations.find_out_of_bounds()),
        None => Err(Problem::Strategy {
            strategy: Strategy::Small.name(),
            why: "the destination shares memory with the updates",
        }),
    }
}
