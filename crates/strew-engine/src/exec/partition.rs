//! The run of a partition: updates written down by block of the destination, then joined.

use crate::choose::execution::Execution;
use crate::choose::split::Split;
use crate::choose::strategy::Strategy;
use crate::exec::pass::{Before, Crew, Fault, Pass, runs, stretches, terms, unfit, unnumbered};
use crate::scatter::reader::Reader;
use crate::scatter::space::Space;
use std::sync::atomic::{AtomicBool, Ordering};
use strew_kernel::bucket::BucketList;
use strew_kernel::bucket::apply::{BucketShare, BucketSource};
use strew_kernel::bucket::cached::{CachedBucketLists, CachedBuckets};
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::Problem;
use strew_kernel::ops::identity::identity;
use strew_kernel::runtime::monitor::{Monitor, Progress};
use strew_kernel::tensor::{DynView, DynViewMut, Layout};
use strew_kernel::update::in_place::{Direct, clear};
use strew_kernel::walk::Walk;

impl Execution {
    /// Whether a run begins a destination without gaps itself, block by block.
    pub(crate) fn begins_blocks(&self, space: &Space<'_>) -> bool {
        let by_block = self.strategy() == Strategy::Partition
            && !matches!(self.split(), Some((Split::Axis(_), _)));
        by_block && runs(space) && !self.request.from_identity
    }

    /// Each thread lists a stretch of the updates, then each joins some of the blocks.
    pub(crate) fn by_block(
        &self,
        space: &Space<'_>,
        src: &DynView<'_>,
        mut dst: DynViewMut<'_>,
        (before, lists): (Before<'_>, Option<&CachedBucketLists>),
        crew: &Crew<'_>,
    ) -> Result<(), Fault> {
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
        let direct = Direct::new(&walk, self.request.combine, self.request.unset)?;

        let kept = lists.filter(|lists| lists.fit(src, &layout));
        let (mut listed, mut anew) = (None, Vec::new());
        match kept {
            Some(lists) => {
                let made = listed.insert(CachedBuckets::new(lists, layout.dtype().size())?);
                self.list_again(made, src, crew)?;
            }
            None => anew = self.list_all(space, src, &layout, crew)?,
        }
        let source = match &listed {
            Some(listed) => BucketSource::Cached(listed),
            None => BucketSource::OfThisRun(&anew),
        };

        // Whatever may fail, fails before the first block is written.
        let start = match self.request.from_identity {
            true => identity(layout.dtype(), self.request.combine),
            false => None,
        };
        let updates = walk.count() as u64;
        let shares = BucketShare::cut(&mut walk, &direct, source, crew.threads, start, fresh)?;
        crew.share(shares, |mut share, monitor| {
            let _floats = DefaultFloats::enter();
            let mut progress = Progress::new(monitor, crew.stop, updates, 2 * updates);
            if self.request.visible {
                progress.writes_are_visible();
            }
            while let Some(done) = share.next() {
                if !progress.step(done) {
                    return crew.stop.store(true, Ordering::Relaxed);
                }
            }
        });
        match crew.stop.load(Ordering::Relaxed) && !self.request.visible {
            true => Err(Problem::Interrupted.into()),
            false => Ok(()),
        }
    }

    /// Lists all updates, a stretch on each thread.
    fn list_all(
        &self,
        space: &Space<'_>,
        src: &DynView<'_>,
        dst: &Layout,
        crew: &Crew<'_>,
    ) -> Result<Vec<BucketList>, Fault> {
        let stretches = stretches(space, src, crew.threads);
        let mut lists: Vec<Result<BucketList, Fault>> = Vec::new();
        lists.resize_with(stretches.len(), || Err(Fault::OutOfBounds));
        crew.share(stretches.iter().zip(&mut lists), |piece, monitor| {
            let ((space, src), list) = piece;
            *list = self.list(space, src, dst, (monitor, crew.stop));
            if list.is_err() {
                crew.stop.store(true, Ordering::Relaxed);
            }
        });
        let (mut good, mut faults) = (Vec::new(), Vec::new());
        for list in lists {
            match list {
                Ok(list) => good.push(list),
                Err(fault) => faults.push(Err(fault)),
            }
        }
        Fault::first(faults)?;
        Ok(good)
    }

    /// Puts the elements of a source where lists that are kept say.
    fn list_again(
        &self,
        listed: &mut CachedBuckets<'_>,
        src: &DynView<'_>,
        crew: &Crew<'_>,
    ) -> Result<(), Fault> {
        let total = 2 * src.len() as u64;
        let parts = listed.parts(src, crew.threads)?;
        crew.share(parts, |mut part, monitor| {
            let mut progress = Progress::new(monitor, crew.stop, 0, total);
            while let Some(done) = part.next() {
                if !progress.step(done) {
                    return crew.stop.store(true, Ordering::Relaxed);
                }
            }
        });
        match crew.stop.load(Ordering::Relaxed) {
            true => Err(Problem::Interrupted.into()),
            false => Ok(()),
        }
    }

    /// Lists the updates of a stretch.
    fn list(
        &self,
        space: &Space<'_>,
        src: &DynView<'_>,
        dst: &Layout,
        (monitor, stop): (Option<&dyn Monitor>, &AtomicBool),
    ) -> Result<BucketList, Fault> {
        let cut = space.cut_to_elements();
        let rules = space.rules();
        let terms = terms(space, &cut);
        let geometry = unnumbered(&cut, &terms);
        let walk = Walk::bind(&geometry, dst, src).ok_or_else(unfit)?;
        let updates = walk.count();
        let mut list = BucketList::new(dst, updates)?;
        let mut pass = Pass {
            reader: Reader {
                lookups: &space.lookups,
                rules: &rules,
                cut: &cut,
                origin: &[],
            },
            walk: &walk,
            progress: &mut Progress::new(monitor, stop, 0, 2 * updates as u64),
        };
        pass.each(|block| list.push(&walk, block))?;
        list.close();
        Ok(list)
    }
}
