//! How the engine shares work out among threads.
//!
//! ```text
//! for each piece, each on a thread of the team: done[piece] = work(piece)
//! if any piece failed: the others stop, and its fault is given
//! ```
//! The first piece runs on the calling thread, which also has the monitor.

use crate::threads::pass::Fault;
use std::sync::atomic::{AtomicBool, Ordering};
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::Problem;
use strew_kernel::runtime::monitor::{Monitor, Progress, Watch};
use strew_kernel::runtime::threads::Team;

/// The threads of one run.
pub(crate) struct Crew<'m> {
    team: Option<Team>,
    threads: usize,
    /// Watches the pieces that the calling thread does.
    monitor: Option<&'m dyn Monitor>,
    stop: Stop<'m>,
}

/// Set when a piece has failed. A crew inside a piece uses the flag of the outer crew.
enum Stop<'m> {
    Own(AtomicBool),
    Outer(&'m AtomicBool),
}

/// What a piece of work gets: the monitor, if it runs on the calling thread, and the stop flag.
#[derive(Clone, Copy)]
pub(crate) struct Worker<'w> {
    pub(crate) monitor: Option<&'w dyn Monitor>,
    pub(crate) stop: &'w AtomicBool,
}

impl<'w> Worker<'w> {
    /// The progress of a piece, `done` of whose `total` updates have been counted before.
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
    /// A crew of `threads` threads. If no other thread is available, the calling thread is alone.
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

    /// Runs `work` on each piece, and gives the results in the order of the pieces.
    ///
    /// # Errors
    /// The first fault. It also sets the stop flag, so that the other pieces end early.
    pub(crate) fn each<T: Send, R: Send>(
        &self,
        pieces: impl IntoIterator<Item = T>,
        work: impl Fn(T, Worker<'_>) -> Result<R, Fault> + Sync,
    ) -> Result<Vec<R>, Fault> {
        self.share(pieces.into_iter().collect(), &work)
    }

    /// [`each`](Self::each), with one copy of the work. It would be compiled into each place that
    /// calls it, and a call for a piece costs nothing.
    #[inline(never)]
    fn share<T: Send, R: Send>(
        &self,
        pieces: Vec<T>,
        work: &(dyn Fn(T, Worker<'_>) -> Result<R, Fault> + Sync),
    ) -> Result<Vec<R>, Fault> {
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

/// Runs the pieces of a pass on at most `threads` threads. `work` gets a check for interrupts, to
/// be called after some of the `total` elements, and gives whether it finished.
///
/// # Errors
/// The first problem of `work`; [`Problem::Interrupted`] if a piece did not finish.
#[doc(hidden)] // Internal: for the crates of strew alone.
pub fn each_piece<P: Send>(
    pieces: Vec<P>,
    threads: usize,
    visible: bool,
    total: usize,
    work: impl Fn(&mut P, &mut dyn FnMut(usize) -> bool) -> Result<bool, Problem> + Sync,
) -> Result<(), Problem> {
    pass(pieces, threads, visible, total, &work)
}

/// The work of one piece of a pass.
type Work<'w, P> =
    &'w (dyn Fn(&mut P, &mut dyn FnMut(usize) -> bool) -> Result<bool, Problem> + Sync);

/// [`each_piece`], compiled once for each type of pieces.
#[inline(never)]
fn pass<P: Send>(
    pieces: Vec<P>,
    threads: usize,
    visible: bool,
    total: usize,
    work: Work<'_, P>,
) -> Result<(), Problem> {
    let watch = Watch::take();
    let threads = if pieces.len() > 1 { threads } else { 1 };
    let crew = Crew::new(threads, watch.monitor());
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
