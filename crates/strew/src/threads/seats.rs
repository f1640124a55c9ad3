//! A processor of its own for each thread of a run.
//!
//! A thread that is woken may be put on the processor of the one that woke it and be left there,
//! although another idles: on some virtual machines for as long as a whole run takes, which then
//! is slower than it would be on one thread.

#[cfg(target_os = "linux")]
pub(super) use linux::Seats;

#[cfg(target_os = "linux")]
mod linux {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::sync::{Mutex, PoisonError};

    /// The processors that threads of a run have taken.
    #[derive(Debug)]
    pub(in super::super) struct Seats(Mutex<CpuSet>);

    impl Seats {
        /// With the calling thread on the processor where it is.
        pub(in super::super) fn new() -> Self {
            let mut taken = CpuSet::new();
            let here = sched_getcpu();
            if here < CpuSet::MAX_CPU {
                taken.set(here);
            }
            Self(Mutex::new(taken))
        }

        /// Moves the calling thread off a processor that another one has taken, if one is free.
        ///
        /// Where it may run stays as it was: the system is free to move it again.
        pub(in super::super) fn take(&self) {
            let here = sched_getcpu();
            if here >= CpuSet::MAX_CPU {
                return;
            }
            let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if !taken.is_set(here) {
                taken.set(here);
                return;
            }
            let Ok(allowed) = sched_getaffinity(None) else {
                return;
            };
            let free = (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu) && !taken.is_set(cpu));
            if let Some(cpu) = free {
                taken.set(cpu);
                drop(taken);
                let mut only = CpuSet::new();
                only.set(cpu);
                // A thread that cannot be moved runs where it is.
                let _ = sched_setaffinity(None, &only);
                let _ = sched_setaffinity(None, &allowed);
            }
        }
    }
}

/// Elsewhere the system alone says where threads run.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(super) struct Seats;

#[cfg(not(target_os = "linux"))]
impl Seats {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn take(&self) {}
}
