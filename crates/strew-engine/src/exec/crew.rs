//! The one way in which the engine shares work out: pieces, each on a thread, with their faults and
//! the monitor.

use crate::exec::pass::Fault;
use std::sync::atomic::{AtomicBool, Ordering};
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::Problem;
use strew_kernel::runtime::monitor::{Monitor, Progress, Watch};
use strew_kernel::runtime::threads::Team;

/// Who works on one run.
pub(crate) struct Crew<'m> {
    team: Option<Team>,
    threads: usize,
    /// Watches the pieces that the calling thread does.
    monitor: Option<&'m dyn Monitor>,
    stop: Stop<'m>,
}

/// A piece has failed: the others may stop. A crew within a crew looks where the outer one does.
enum Stop<'m> {
    Own(AtomicBool),
    Outer(&'m AtomicBool),
}

/// One of them: what a piece of work is given.
#[derive(Clone, Copy)]
pub(crate) struct Worker<'w> {
    pub(crate) monitor: Option<&'w dyn Monitor>,
    pub(crate) stop: &'w AtomicBool,
}

impl<'w> Worker<'w> {
    /// Progress of a piece, of which so much is done already.
    pub(crate) fn progress(self, done: u64, total: u64) -> Progress<'w> {
        Progress::new(self.monitor, self.stop, done, total)
    }

    /// Tells the others to stop after a fault.
    pub(crate) fn tell<R>(self, done: Result<R, Fault>) -> Result<R, Fault> {
        if done.is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
        done
    }
}

impl<'m> Crew<'m> {
    /// As many threads as asked for; the calling one alone if no other can be had.
    pub(crate) fn new(threads: usize, monitor: Option<&'m dyn Monitor>) -> Self {
        let team = (threads > 1).then(|| Team::new(threads)).flatten();
        Self {
            threads: if team.is_some() { threads } else { 1 },
            team,
            monitor,
            stop: Stop::Own(AtomicBool::new(false)),
        }
    }

    /// One worker of a crew, alone.
    pub(crate) fn of(worker: Worker<'m>) -> Self {
        Self {
            team: None,
            threads: 1,
            monitor: worker.monitor,
            stop: Stop::Outer(worker.stop),
        }
    }

    fn stop(&self) -> &AtomicBool {
        match &self.stop {
            Stop::Own(stop) => stop,
            Stop::Outer(stop) => stop,
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The calling thread, for work that is not shared out.
    pub(crate) fn caller(&self) -> Worker<'_> {
        Worker {
            monitor: self.monitor,
            stop: self.stop(),
        }
    }

    /// Does the pieces of work, the first on the calling thread, and gives what they made in their
    /// order. The first fault stops the pieces that look for it, and is given instead.
    pub(crate) fn each<T: Send, R: Send>(
        &self,
        pieces: impl IntoIterator<Item = T>,
        work: impl Fn(T, Worker<'_>) -> Result<R, Fault> + Sync,
    ) -> Result<Vec<R>, Fault> {
        let pieces: Vec<T> = pieces.into_iter().collect();
        let mut done: Vec<Option<Result<R, Fault>>> = Vec::new();
        done.resize_with(pieces.len(), || None);
        let pairs = pieces.into_iter().zip(&mut done);
        let stop = self.stop();
        let one = |(piece, done): (T, &mut Option<Result<R, Fault>>), monitor| {
            let worker = Worker { monitor, stop };
            *done = Some(worker.tell(work(piece, worker)));
        };
        match &self.team {
            None => pairs.for_each(|pair| one(pair, self.monitor)),
            Some(team) => team.share(
                pairs,
                |pair| one(pair, self.monitor),
                |pair| one(pair, None),
            ),
        }
        let (mut made, mut faults) = (Vec::with_capacity(done.len()), Vec::new());
        for done in done.into_iter().flatten() {
            match done {
                Ok(value) => made.push(value),
                Err(fault) => faults.push(fault),
            }
        }
        Fault::first(faults).map(|()| made)
    }
}

/// Does the pieces of a pass, each on a thread of its own if so many can be had. `work` is told how
/// to ask whether to go on after so many of the `total` elements, and gives whether it came to its
/// end.
///
/// # Errors
/// The first of `work`; [`Problem::Interrupted`] if a piece did not come to its end.
#[doc(hidden)] // Internal: for the crates of strew alone.
pub fn each_piece<P: Send>(
    pieces: Vec<P>,
    visible: bool,
    total: usize,
    work: impl Fn(&mut P, &mut dyn FnMut(usize) -> bool) -> Result<bool, Problem> + Sync,
) -> Result<(), Problem> {
    let watch = Watch::take();
    let crew = Crew::new(pieces.len(), watch.monitor());
    let done = crew.each(pieces, |mut piece, worker| {
        let _floats = DefaultFloats::enter();
        let mut progress = worker.progress(0, total as u64);
        if visible {
            progress.writes_are_visible();
        }
        match work(&mut piece, &mut |more| progress.step(more))? {
            true => Ok(()),
            false => Err(Problem::Interrupted.into()),
        }
    });
    let no_index = || unreachable!("the pieces of a pass read no index");
    done.map(drop).map_err(|fault| fault.into_problem(no_index))
}
