//! Every index value, checked before the first write that the caller can see.

use super::decode::Bounds;
use super::run::Fault;
use super::space::Space;
use crate::error::Problem;
use crate::monitor::Progress;
use crate::tensor::DynView;
use crate::threads::scope;
use std::sync::atomic::{AtomicBool, Ordering};

/// Checks the whole index, on up to `threads` threads; values that are repeated, once.
///
/// `passes` is how many passes the run takes in all, of which this is the first.
pub(super) fn check(space: &Space<'_>, threads: usize, passes: usize) -> Result<(), Fault> {
    let stop = AtomicBool::new(false);
    for (lookup, rule) in space.lookups.iter().zip(space.rules()) {
        let index = lookup.index.without_repeats();
        let stretches = index.stretches(threads);
        let mut faults: Vec<Result<(), Fault>> = stretches.iter().map(|_| Ok(())).collect();
        let look = |stretch: &DynView<'_>| {
            let done = stretch_is_inside(stretch, space.bounds, rule.size, passes, &stop);
            if done.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            done
        };
        if let ([alone], [fault]) = (&stretches[..], &mut faults[..]) {
            *fault = look(alone);
        } else {
            scope(threads, |scope| {
                let mut each = stretches.iter().zip(&mut faults);
                let mine = each.next();
                for (stretch, fault) in each {
                    let look = &look;
                    scope.spawn(move |_| *fault = look(stretch));
                }
                if let Some((stretch, fault)) = mine {
                    *fault = look(stretch);
                }
            });
        }
        Fault::first(faults)?;
    }
    Ok(())
}

fn stretch_is_inside(
    stretch: &DynView<'_>,
    bounds: Bounds,
    size: usize,
    passes: usize,
    stop: &AtomicBool,
) -> Result<(), Fault> {
    let total = (stretch.len() as u64).saturating_mul(passes as u64);
    let mut progress = Progress::new(0, total, stop);
    let mut stopped = false;
    let inside = stretch.all_integers(|values| {
        let inside = bounds.all_inside(values, size);
        stopped = inside && !progress.step(values.len());
        inside && !stopped
    });
    match (inside, stopped) {
        (true, _) => Ok(()),
        (false, true) => Err(Problem::Interrupted.into()),
        (false, false) => Err(Fault::OutOfBounds),
    }
}
