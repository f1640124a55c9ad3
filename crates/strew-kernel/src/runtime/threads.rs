//! How many threads a run may use, and the pool that they live in.

use crate::runtime::affinity::Seats;
use crate::runtime::settings::pins_threads;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::{process, thread};

/// What was set; 0 stands for nothing.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets how many threads a run may use; `None` goes back to the default. Results do not depend
/// on it.
///
/// A call from inside a rayon pool runs in that pool, on at most as many threads as it has.
pub fn set_num_threads(threads: Option<NonZeroUsize>) {
    THREADS.store(threads.map_or(0, NonZeroUsize::get), Ordering::Relaxed);
}

/// What a program around this library does; 0 stands for nothing.
static AROUND: AtomicUsize = AtomicUsize::new(0);

/// Sets how many threads a run may use where neither a call nor `STREW_NUM_THREADS` says it, for
/// programs that have a number of threads of their own.
pub fn set_default_threads(threads: Option<NonZeroUsize>) {
    AROUND.store(threads.map_or(0, NonZeroUsize::get), Ordering::Relaxed);
}

thread_local! {
    /// What holds for the runs that this thread begins; 0 stands for nothing.
    static OF_CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Does work whose runs may use that number of threads, whatever else was set; 0 changes nothing.
///
/// ```
/// # use strew_kernel::runtime::threads as strew;
/// let used = strew::with_threads(3, strew::num_threads);
/// assert_eq!(used.get(), 3);
/// ```
pub fn with_threads<R>(threads: usize, work: impl FnOnce() -> R) -> R {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            OF_CALLS.set(self.0);
        }
    }
    let _restore = (threads > 0).then(|| Restore(OF_CALLS.replace(threads)));
    work()
}

/// How many threads a run may use: what [`with_threads`] says, else what was set, else the
/// environment variable `STREW_NUM_THREADS`, else what [`set_default_threads`] says, else
/// `OMP_NUM_THREADS`, else the number of cores.
#[must_use]
pub fn num_threads() -> NonZeroUsize {
    static CORES: OnceLock<NonZeroUsize> = OnceLock::new();
    let set = |number: &AtomicUsize| NonZeroUsize::new(number.load(Ordering::Relaxed));
    NonZeroUsize::new(OF_CALLS.get())
        .or_else(|| set(&THREADS))
        .or_else(crate::runtime::settings::threads)
        .or_else(|| set(&AROUND))
        .or_else(crate::runtime::settings::openmp_threads)
        .unwrap_or_else(|| {
            *CORES.get_or_init(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
        })
}

/// How many threads a run that begins here has, the calling one included.
pub fn available() -> usize {
    if AT_A_PIECE.get() {
        return 1;
    }
    match rayon::current_thread_index() {
        Some(_) => num_threads().get().min(rayon::current_num_threads()),
        None => num_threads().get(),
    }
}

thread_local! {
    /// Whether this thread is at a piece of shared work. To share that out again would be to wait
    /// for the others, which are at pieces of their own.
    static AT_A_PIECE: Cell<bool> = const { Cell::new(false) };
}

/// Runs a piece of shared work.
fn alone<T>(work: impl FnOnce() -> T) -> T {
    struct End(bool);
    impl Drop for End {
        fn drop(&mut self) {
            AT_A_PIECE.set(self.0);
        }
    }
    let _end = End(AT_A_PIECE.replace(true));
    work()
}

/// The threads that help the calling one.
pub enum Team {
    /// Those of the pool that the call came from.
    Callers,
    /// Our own.
    Own(Arc<Own>),
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Team {
    /// `None` if no other thread can be had: then the work is done by the calling one alone.
    pub fn new(threads: usize) -> Option<Self> {
        if rayon::current_thread_index().is_some() {
            return Some(Self::Callers);
        }
        let workers = threads.checked_sub(1).filter(|&workers| workers > 0)?;
        pool(workers.min(MOST_WORKERS)).map(Self::Own)
    }

    /// Does the pieces of work: the first on the calling thread, the others on the team.
    pub fn share<T: Send>(
        &self,
        pieces: impl IntoIterator<Item = T>,
        first: impl FnOnce(T),
        other: impl Fn(T) + Sync,
    ) {
        let mut pieces = pieces.into_iter();
        let mine = pieces.next();
        let mut first = Some(first);
        let mut first = |piece| {
            if let Some(first) = first.take() {
                first(piece);
            }
        };
        self.spread(pieces.collect(), mine, &mut first, &other);
    }

    /// [`share`](Self::share), with one copy of the work: it would be compiled into each place that
    /// calls it, and a call for a piece costs nothing.
    #[inline(never)]
    fn spread<T: Send>(
        &self,
        pieces: Vec<T>,
        mine: Option<T>,
        first: &mut dyn FnMut(T),
        other: &(dyn Fn(T) + Sync),
    ) {
        match self {
            // Who runs where in somebody else's pool is not ours to say.
            Self::Callers => rayon::in_place_scope(|scope| {
                for piece in pieces {
                    scope.spawn(move |_| alone(|| other(piece)));
                }
                if let Some(piece) = mine {
                    alone(|| first(piece));
                }
            }),
            Self::Own(own) => {
                let pins = pins_threads();
                let _given = pins.then(|| own.seats.give());
                own.pool.in_place_scope(|scope| {
                    for piece in pieces {
                        let seats = &own.seats;
                        scope.spawn(move |_| match pins {
                            true => seats.work(|| alone(|| other(piece))),
                            false => alone(|| other(piece)),
                        });
                    }
                    if let Some(piece) = mine {
                        alone(|| first(piece));
                    }
                });
            }
        }
    }
}

/// Does the pieces of work, of which there are as many as `threads`: each on a thread of its own if
/// so many can be had.
pub fn share<T: Send>(
    threads: usize,
    pieces: impl IntoIterator<Item = T>,
    work: impl Fn(T) + Sync,
) {
    // As in `spread`.
    let work: &(dyn Fn(T) + Sync) = &work;
    match (threads > 1).then(|| Team::new(threads)).flatten() {
        Some(team) => team.share(pieces, work, work),
        None => pieces.into_iter().for_each(work),
    }
}

/// A pool of our own.
pub struct Own {
    pool: ThreadPool,
    seats: Seats,
}

/// More workers than this would wait for each other.
const MOST_WORKERS: usize = 255;

/// A pool of our own with at least that many workers. Kept until more are asked for, so that calls
/// with different numbers of threads take turns without making pools. Made again in a forked
/// process, where the workers of its parent do not exist.
fn pool(workers: usize) -> Option<Arc<Own>> {
    let process = process::id();
    if let Some((of, size, pool)) = &*kept()?
        && *of == process
        && *size >= workers
    {
        return Some(pool.clone());
    }
    if !room_for(workers) {
        return None;
    }
    // Not under the lock: a process that is forked meanwhile would inherit it locked.
    let making = Making::begin();
    let made = ThreadPoolBuilder::new()
        .num_threads(workers)
        .thread_name(|n| format!("strew-{n}"))
        .build();
    let pool = made.ok()?;
    // A worker that has run something has looked up all that it needs.
    let seats = Seats::of(&pool);
    let pool = Arc::new(Own { pool, seats });
    drop(making);
    let old = kept()?.replace((process, workers, pool.clone()));
    if let Some((of, _, old)) = old
        && of != process
    {
        // Its workers stayed in the parent process; waiting for them would never end.
        std::mem::forget(old);
    }
    Some(pool)
}

/// Address space that a thread takes until it has run something: its stack, and what glibc sets
/// aside for its small memory.
#[cfg(target_os = "linux")]
const OF_A_THREAD: usize = (2 + 64) << 20;

/// Whether there is address space for this many threads. A new thread that finds none ends the
/// process: glibc needs some for what is local to it, and Rust for the stack of its signals. With a
/// limit (`ulimit -v`) that happens.
#[cfg(target_os = "linux")]
pub fn room_for(workers: usize) -> bool {
    let bytes = workers.saturating_add(1).saturating_mul(OF_A_THREAD);
    let mut room = memmap2::MmapOptions::new();
    room.len(bytes).no_reserve_swap().map_anon().is_ok()
}

/// Elsewhere it is not known.
#[cfg(not(target_os = "linux"))]
pub fn room_for(_: usize) -> bool {
    true
}

/// Whether some thread makes a pool just now, or a fork is about to come.
static MAKING: AtomicBool = AtomicBool::new(false);

/// Nobody else makes a pool meanwhile.
struct Making;

impl Making {
    fn begin() -> Self {
        while MAKING.swap(true, Ordering::Acquire) {
            thread::yield_now();
        }
        Self
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        MAKING.store(false, Ordering::Release);
    }
}

/// To be called before a fork, if other threads may call operators: waits for those that make a
/// pool of threads to be done, and keeps others from it. A child that is forked in the midst of
/// that may wait forever for what its parent's thread had begun.
///
/// [`after_fork`] must follow, in the parent and in the child. The Python package does both by
/// itself.
pub fn before_fork() {
    std::mem::forget(Making::begin());
}

/// To be called after a fork that [`before_fork`] came before, in the parent and in the child, also
/// if it failed.
pub fn after_fork() {
    drop(Making);
}

/// Process, number of workers, pool.
type Kept = Option<(u32, usize, Arc<Own>)>;

/// The pool that is kept. It is locked for some instructions only; a fork may happen just then, and
/// in that child the lock is never given back: there, and only there, this is `None`.
fn kept() -> Option<MutexGuard<'static, Kept>> {
    static POOL: Mutex<Kept> = Mutex::new(None);
    for _ in 0..10_000 {
        match POOL.try_lock() {
            Ok(kept) => return Some(kept),
            Err(TryLockError::Poisoned(kept)) => return Some(kept.into_inner()),
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_work_is_not_shared_out_again() {
        set_num_threads(NonZeroUsize::new(2));
        let inside = |_: usize| assert_eq!(available(), 1);
        let team = Team::new(2).expect("a thread");
        team.share([0, 1], inside, inside);
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            Team::new(2)
                .expect("the pool's")
                .share([0, 1, 2], inside, inside)
        });
        assert_eq!(available(), 2);
        let three = NonZeroUsize::new(3);
        assert_eq!(with_threads(3, || with_threads(0, available)), 3);
        assert_eq!(available(), 2);
        set_default_threads(three);
        assert_eq!(available(), 2);
        set_num_threads(None);
        if crate::runtime::settings::threads().is_none() {
            assert_eq!(available(), 3);
        }
        set_default_threads(None);
    }
}
