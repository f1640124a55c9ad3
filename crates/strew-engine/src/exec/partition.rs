//! The run of a partition: updates written down by block of the destination, then joined.

use crate::choose::execution::Execution;
use crate::choose::strategy::Strategy;
use crate::exec::crew::{Crew, Worker};
use crate::exec::pass::{Before, Fault, Outputs, Pass, stretches, terms, unfit, unnumbered};
use crate::exec::record::{Did, did};
use crate::scatter::reader::Reader;
use crate::scatter::space::Space;
use strew_kernel::bucket::BucketList;
use strew_kernel::bucket::apply::{BucketShare, BucketSource};
use strew_kernel::bucket::cached::CachedBuckets;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::Problem;
use strew_kernel::ops::identity::identity;
use strew_kernel::runtime::monitor::Progress;
use strew_kernel::tensor::{DynView, Layout};
use strew_kernel::update::in_place::{Direct, clear};
use strew_kernel::walk::Walk;

impl Execution {
    /// Each thread lists a stretch of the updates, then each joins some of the blocks.
    pub(crate) fn by_block(
        &self,
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
        let shares = BucketShare::cut(&mut walk, &direct, source, crew.threads(), start, fresh)?;
        crew.each(shares, |mut share, worker| {
            let _floats = DefaultFloats::enter();
            let updates = share.updates() as u64;
            let mut progress = worker.progress(updates, 2 * updates);
            if self.request.visible {
                progress.writes_are_visible();
            }
            to_the_end(progress, || share.next())
        })?;
        Ok(())
    }

    /// Lists all updates, a stretch on each thread.
    fn list_all(
        &self,
        space: &Space<'_>,
        src: &DynView<'_>,
        dst: &Layout,
        crew: &Crew<'_>,
    ) -> Result<Vec<BucketList>, Fault> {
        let threads = crew.threads();
        crew.each(stretches(space, src, threads), |(space, src), worker| {
            self.list(&space, &src, dst, threads, worker)
        })
    }

    /// Puts the elements of a source where lists that are kept say.
    fn list_again(
        &self,
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
        &self,
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
