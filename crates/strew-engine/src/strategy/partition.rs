//! Updates are listed by block of the destination first, and then go straight into their cells.
//!
//! It pays for single updates that go all over a destination that no cache holds: each block is
//! joined while a cache holds it. It also lets several threads share an index out, where each would
//! read the whole of it otherwise. It costs two passes, and the lists: a place and an element for
//! each update.

use crate::describe::split::Split;
use crate::describe::strategy::Strategy;
use crate::strategy::execution::Execution;
use crate::strategy::record::{Did, did};
use crate::strides::order::Skew;
use crate::strides::reader::Reader;
use crate::strides::request::{Cells, Run};
use crate::strides::space::{Cut, Space};
use crate::threads::crew::{Crew, Worker};
use crate::threads::pass::{Before, Fault, Outputs, Pass, stretches, terms, unfit, unnumbered};
use crate::threads::share::possible_share;
use crate::thresholds::{LISTED_EVERY, LISTED_HOTTEST, LISTED_REACH, LISTING_THREADS};
use strew_kernel::bucket::apply::{BucketShare, BucketSource};
use strew_kernel::bucket::cached::CachedBuckets;
use strew_kernel::bucket::{Blocks, BucketList};
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::Problem;
use strew_kernel::ops::identity::identity;
use strew_kernel::runtime::monitor::Progress;
use strew_kernel::tensor::{DynView, Layout};
use strew_kernel::update::in_place::{Direct, clear};
use strew_kernel::walk::Walk;

/// What `explain` says that it does.
pub(crate) const HOW: &str = "lists the updates by block of the destination first";

/// What stands in its way.
pub(crate) fn obstacle(run: &Run<'_, '_>) -> Option<&'static str> {
    if run.space.arg.is_some() {
        Some("positions are not listed")
    } else {
        (run.types.dst != run.types.src).then_some("updates that are converted are not listed")
    }
}

/// Whether updates go all over a destination that no cache holds.
pub(crate) fn suits(space: &Space<'_>, cut: &Cut) -> bool {
    // The distance between cells of updates that differ in their index only.
    let pointed = space.lookups.iter().map(|lookup| {
        let (rows, stride) = space.dst[lookup.axis];
        rows.saturating_mul(stride.unsigned_abs())
    });
    let reach = pointed.fold(0, usize::saturating_add);
    let every = reach / cut.count().max(1);
    let apart = cut.rows.last().is_some_and(|axis| axis.step.dst == 0);
    cut.width() == 1 && apart && reach >= LISTED_REACH && every <= LISTED_EVERY
}

/// Whether it pays to list single updates because several threads would otherwise read the whole
/// index each.
fn suits_threads(run: &Run<'_, '_>) -> bool {
    let free = run.request.split.is_none() && !run.request.proven;
    let by_owner = |strategy| match possible_share(run, strategy) {
        Some((Split::Owner, threads)) => threads,
        _ => 0,
    };
    let [ref lookup] = run.space.lookups[..] else {
        return false;
    };
    let many = free
        && run.cut.width() == 1
        && by_owner(Strategy::InOrder) > 1
        && by_owner(Strategy::Partition) >= LISTING_THREADS;
    many && {
        let skew = Skew::of(&lookup.index);
        !skew.ordered && !skew.is_hotter(LISTED_HOTTEST)
    }
}

/// Why it pays; `None` if it does not.
pub(crate) fn pays(run: &Run<'_, '_>) -> Option<&'static str> {
    if obstacle(run).is_some() {
        None
    } else if suits(run.space, run.cut) {
        Some("single updates go all over a destination that no cache holds")
    } else {
        suits_threads(run).then_some(
            "several threads share the index out, and each joins the updates of its own cells",
        )
    }
}

/// Bytes of the lists.
pub(crate) fn memory(run: &Run<'_, '_>, split: Option<(Split, usize)>) -> usize {
    let threads = split.map_or(1, |(_, threads)| threads);
    let blocks = Blocks::over(run.space.reach(), threads);
    let elements = run.cut.count().saturating_mul(run.cut.width());
    blocks.bytes(elements, run.types.dst.size(), threads)
}

/// Each thread lists a stretch of the updates, then each joins some of the blocks.
pub(crate) fn run(
    execution: &Execution,
    space: &Space<'_>,
    src: &DynView<'_>,
    outputs: Outputs<'_>,
    crew: &Crew<'_>,
) -> Result<(), Fault> {
    let Outputs {
        mut dst,
        before,
        lists,
        arg: _,
    } = outputs;
    did(Did::Strategy(Strategy::Partition));
    let cut = space.cut_to_elements();
    let terms = terms(space, &cut);
    let geometry = unnumbered(&cut, &terms);
    let fresh = match before {
        Before::Blocks(fresh) => Some(fresh),
        Before::Nothing => None,
        Before::Zeros => {
            clear(&mut dst);
            None
        }
    };
    let layout = dst.layout().clone();
    let mut walk = Walk::new(&geometry, &mut dst, src).ok_or_else(unfit)?;
    let direct = Direct::new(
        &walk,
        execution.request.combine,
        execution.request.cells.are_unset(),
    )?;

    let kept = lists.filter(|lists| lists.fit(src, &layout));
    let (mut listed, mut anew) = (None, Vec::new());
    match kept {
        Some(lists) => {
            let made = listed.insert(CachedBuckets::new(lists, layout.dtype().size())?);
            list_again(made, src, crew)?;
        }
        None => anew = list_all(space, src, &layout, crew)?,
    }
    let source = match &listed {
        Some(listed) => BucketSource::Cached(listed),
        None => BucketSource::OfThisRun(&anew),
    };

    // Whatever may fail, fails before the first block is written.
    let start = match execution.request.cells {
        Cells::Identity => identity(layout.dtype(), execution.request.combine),
        _ => None,
    };
    let shares = BucketShare::cut(&mut walk, &direct, source, crew.threads(), start, fresh)?;
    crew.each(shares, |mut share, worker| {
        let _floats = DefaultFloats::enter();
        let updates = share.updates() as u64;
        let mut progress = worker.progress(updates, 2 * updates);
        if execution.request.visible {
            progress.writes_are_visible();
        }
        to_the_end(progress, || share.next())
    })?;
    Ok(())
}

/// Lists all updates, a stretch on each thread.
fn list_all(
    space: &Space<'_>,
    src: &DynView<'_>,
    dst: &Layout,
    crew: &Crew<'_>,
) -> Result<Vec<BucketList>, Fault> {
    let threads = crew.threads();
    crew.each(stretches(space, src, threads), |(space, src), worker| {
        list(&space, &src, dst, threads, worker)
    })
}

/// Puts the elements of a source where lists that are kept say.
fn list_again(
    listed: &mut CachedBuckets<'_>,
    src: &DynView<'_>,
    crew: &Crew<'_>,
) -> Result<(), Fault> {
    let total = 2 * src.len() as u64;
    let parts = listed.parts(src, crew.threads())?;
    crew.each(parts, |mut part, worker| {
        to_the_end(worker.progress(0, total), || part.next())
    })?;
    Ok(())
}

/// Lists the updates of a stretch.
fn list(
    space: &Space<'_>,
    src: &DynView<'_>,
    dst: &Layout,
    threads: usize,
    worker: Worker<'_>,
) -> Result<BucketList, Fault> {
    let cut = space.cut_to_elements();
    let rules = space.rules();
    let terms = terms(space, &cut);
    let geometry = unnumbered(&cut, &terms);
    let walk = Walk::bind(&geometry, dst, src).ok_or_else(unfit)?;
    let updates = walk.count();
    let mut list = BucketList::new(dst, updates, threads)?;
    let mut pass = Pass {
        reader: Reader {
            lookups: &space.lookups,
            rules: &rules,
            cut: &cut,
            origin: &[],
        },
        walk: &walk,
        progress: &mut worker.progress(0, 2 * updates as u64),
    };
    pass.each(|block| list.push(&walk, block))?;
    list.close();
    Ok(list)
}

/// Does some work after the other, until there is no more.
fn to_the_end(
    mut progress: Progress<'_>,
    mut next: impl FnMut() -> Option<usize>,
) -> Result<(), Fault> {
    while let Some(done) = next() {
        if !progress.step(done) {
            return Err(Problem::Interrupted.into());
        }
    }
    Ok(())
}
