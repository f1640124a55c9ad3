//! A processor of its own for each thread of a run, where `STREW_PIN_THREADS=1` asks for it.
//!
//! A thread that is woken may be put on the processor of the one that woke it, and wait there until
//! that one has done its own piece, although another processor idles: on a virtual machine one that
//! is halted looks like one that the host has given to others, and those are avoided. A run would
//! then be slower than on one thread. So who may run where is said before they are woken, and taken
//! back as soon as they run.

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Seats;
#[cfg(target_os = "linux")]
pub(crate) use linux::Seats;

#[cfg(target_os = "linux")]
mod linux {
    use rayon::ThreadPool;
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Mutex, PoisonError};

    /// The workers of a pool.
    #[derive(Debug)]
    pub(crate) struct Seats {
        workers: Vec<Worker>,
        /// Some run has given them seats.
        given: AtomicBool,
    }

    #[derive(Debug)]
    struct Worker {
        thread: Pid,
        /// The processor where it was last.
        last: AtomicUsize,
        /// Where it may run, while it may not because it has a seat.
        allowed: Mutex<Option<CpuSet>>,
    }

    impl Worker {
        /// Gives it a seat that nobody has taken, the last one if it can be had.
        fn seat(&self, taken: &mut CpuSet) {
            let Ok(allowed) = sched_getaffinity(Some(self.thread)) else {
                return;
            };
            let free =
                |&cpu: &usize| cpu < CpuSet::MAX_CPU && allowed.is_set(cpu) && !taken.is_set(cpu);
            let last = self.last.load(Ordering::Relaxed);
            let Some(cpu) = Some(last)
                .filter(free)
                .or_else(|| (0..CpuSet::MAX_CPU).find(free))
            else {
                return;
            };
            taken.set(cpu);
            let mut only = CpuSet::new();
            only.set(cpu);
            // A thread that cannot be told where to run runs where it is put.
            if sched_setaffinity(Some(self.thread), &only).is_ok() {
                *self.held() = Some(allowed);
            }
        }

        /// Lets it run where it may.
        fn free(&self) {
            if let Some(allowed) = self.held().take() {
                let _ = sched_setaffinity(Some(self.thread), &allowed);
            }
        }

        fn held(&self) -> std::sync::MutexGuard<'_, Option<CpuSet>> {
            self.allowed.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl Seats {
        pub(crate) fn of(pool: &ThreadPool) -> Self {
            let workers = pool.broadcast(|_| Worker {
                thread: gettid(),
                last: AtomicUsize::new(sched_getcpu()),
                allowed: Mutex::new(None),
            });
            Self {
                workers,
                given: AtomicBool::new(false),
            }
        }

        /// Gives each worker a processor, none of them that of the calling thread, for as long as
        /// it has not come to work. To others that run at the same time none are given: the workers
        /// are awake.
        pub(crate) fn give(&self) -> Given<'_> {
            let here = sched_getcpu();
            if here >= CpuSet::MAX_CPU || self.given.swap(true, Ordering::Acquire) {
                return Given(None);
            }
            let mut taken = CpuSet::new();
            taken.set(here);
            for worker in &self.workers {
                worker.seat(&mut taken);
            }
            Given(Some(self))
        }

        /// Runs a piece on the calling thread, a worker, which is free to be moved now.
        pub(crate) fn work(&self, piece: impl FnOnce()) {
            let me = rayon::current_thread_index().and_then(|n| self.workers.get(n));
            if let Some(me) = me {
                me.free();
            }
            piece();
            if let Some(me) = me {
                me.last.store(sched_getcpu(), Ordering::Relaxed);
            }
        }
    }

    /// The seats of one run. Those of workers who did not come are given back in the end.
    #[derive(Debug)]
    pub(crate) struct Given<'s>(Option<&'s Seats>);

    impl Drop for Given<'_> {
        fn drop(&mut self) {
            if let Some(seats) = self.0 {
                seats.workers.iter().for_each(Worker::free);
                seats.given.store(false, Ordering::Release);
            }
        }
    }
}

/// On other systems threads run where the system puts them. Tests compile this on Linux, too.
#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere {
    #[derive(Debug)]
    pub(crate) struct Seats;

    impl Seats {
        pub(crate) fn of(pool: &rayon::ThreadPool) -> Self {
            pool.broadcast(|_| ());
            Self
        }

        pub(crate) fn give(&self) {}

        pub(crate) fn work(&self, piece: impl FnOnce()) {
            piece();
        }
    }

    #[cfg(test)]
    mod tests {
        use super::Seats;
        use std::sync::atomic::{AtomicUsize, Ordering};

        #[test]
        fn without_seats_every_worker_does_its_piece() {
            let pool = rayon::ThreadPoolBuilder::new();
            let pool = pool.num_threads(3).build().unwrap();
            let (seats, done) = (Seats::of(&pool), AtomicUsize::new(0));
            seats.give();
            pool.broadcast(|_| {
                seats.work(|| {
                    done.fetch_add(1, Ordering::Relaxed);
                });
            });
            assert_eq!(done.into_inner(), 3);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Seats;
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use rustix::thread::{CpuSet, sched_getaffinity};

    /// Where each worker may run.
    fn allowed(pool: &ThreadPool) -> Vec<CpuSet> {
        pool.broadcast(|_| sched_getaffinity(None).unwrap())
    }

    #[test]
    fn workers_sit_apart_until_they_work_and_are_free_then() {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (seats, before) = (Seats::of(&pool), allowed(&pool));
        let given = seats.give();
        let sitting = allowed(&pool);
        let cpus: u32 = before[0].count();
        for (n, seat) in sitting.iter().enumerate() {
            // One processor is the caller's.
            let apart = u32::try_from(n).unwrap() + 1 < cpus;
            assert_eq!(seat.count(), if apart { 1 } else { cpus });
        }
        assert!(cpus < 3 || sitting[0] != sitting[1]);
        // Others that run meanwhile leave them as they are.
        drop(seats.give());
        assert_eq!(allowed(&pool), sitting);
        pool.broadcast(|_| seats.work(|| assert_eq!(sched_getaffinity(None).unwrap(), before[0])));
        assert_eq!(allowed(&pool), before);
        drop(given);
        // Who did not come to work is free in the end, too.
        drop(seats.give());
        assert_eq!(allowed(&pool), before);
    }
}
