//! Every index value, checked before the first write that the caller can see.

use crate::describe::bounds::Bounds;
use crate::strides::space::Space;
use crate::threads::crew::Crew;
use crate::threads::lookers::lookers;
use crate::threads::pass::Fault;
use strew_kernel::error::Problem;
use strew_kernel::runtime::monitor::Progress;
use strew_kernel::tensor::DynView;

/// Checks the whole index. Each thread of the run's crew checks a stretch; values that strides
/// repeat are checked once. A run on one thread gets more threads for this pass, unless the caller
/// has `told` how to share the run out.
///
/// `passes` is how many passes the run takes in all, of which this is the first.
pub(crate) fn check(
    space: &Space<'_>,
    crew: &Crew<'_>,
    told: bool,
    passes: usize,
) -> Result<(), Fault> {
    let bounds = space.bounds;
    for (lookup, rule) in space.lookups.iter().zip(space.rules()) {
        let index = lookup.index.without_repeats();
        let bytes = index.len().saturating_mul(index.dtype().size());
        let called = match crew.threads() > 1 || told {
            true => None,
            false => Some(Crew::new(lookers(bytes), crew.caller().monitor)),
        };
        let crew = called.as_ref().unwrap_or(crew);
        crew.each(index.stretches(crew.threads()), |stretch, worker| {
            let total = (stretch.len() as u64).saturating_mul(passes as u64);
            stretch_is_inside(&stretch, bounds, rule.size, worker.progress(0, total))
        })?;
    }
    Ok(())
}

/// Checks an index into axes without cells: an error, unless every value leaves its update out.
pub(crate) fn all_left_out(space: &Space<'_>) -> Result<(), Fault> {
    let bounds = space.bounds;
    let mut each = space.lookups.iter().zip(space.rules());
    let out = each.all(|(lookup, rule)| {
        bounds.drops() && bounds.all_valid(&lookup.index.without_repeats(), rule.size, |_| true)
    });
    match out {
        true => Ok(()),
        false => Err(Fault::OutOfBounds),
    }
}

impl Space<'_> {
    /// Whether every index names a cell by itself.
    pub(crate) fn leaves_none_out(&self) -> bool {
        let bounds = self.bounds.refusing();
        let mut each = self.lookups.iter().zip(self.rules());
        self.bounds.ignored.is_none()
            && each.all(|(lookup, rule)| {
                bounds.all_valid(&lookup.index.without_repeats(), rule.size, |_| true)
            })
    }
}

fn stretch_is_inside(
    stretch: &DynView<'_>,
    bounds: Bounds,
    size: usize,
    mut progress: Progress<'_>,
) -> Result<(), Fault> {
    let mut stopped = false;
    let inside = bounds.all_valid(stretch, size, |count| {
        stopped = !progress.step(count);
        !stopped
    });
    match (inside, stopped) {
        (true, _) => Ok(()),
        (false, true) => Err(Problem::Interrupted.into()),
        (false, false) => Err(Fault::OutOfBounds),
    }
}

#[cfg(test)]
mod tests {
    use crate::threads::lookers::lookers;
    use crate::thresholds::LOOKED_AT;

    #[test]
    fn an_index_that_is_small_is_looked_at_by_the_calling_thread() {
        assert_eq!(lookers(0), 1);
        assert_eq!(lookers(2 * LOOKED_AT - 1), 1);
        // Another test may set how many threads there are meanwhile.
        assert!((1..=2).contains(&lookers(2 * LOOKED_AT)));
    }
}
