//! Signals by which the system would end the process over a fault of a file: they become errors.
//!
//! - `SIGXFSZ`, sent when an output grows past the limit for files: ignored, so that the write fails
//!   like one to a full disk.
//! - `SIGBUS`, sent when a page of a mapped file is touched that is gone because somebody made the
//!   file shorter: the process says which file, and ends with exit status 2. At that time nothing
//!   has been written yet: files are read while the operator runs, and outputs are made after it.
//!
//! # Unsafe
//!
//! - Buys: a file that shrinks or grows too large is an error
//! - Measured: no other way
//! - Holds: the handler calls only what a signal handler may; what it looks at is never freed

#[cfg(unix)]
pub(crate) use unix::{Watched, install};

#[cfg(not(unix))]
pub(crate) use elsewhere::{Watched, install};

#[cfg(unix)]
mod unix {
    use crate::failure::Failure;
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

    /// Whether errors are said in JSON.
    static JSON: AtomicBool = AtomicBool::new(false);

    /// A mapping, and the line to say when a page of it is gone. Never freed: the handler may look
    /// at it at any time. There is one for each file that the command line names.
    struct Mapping {
        /// The addresses; both 0 once the mapping is gone.
        start: AtomicUsize,
        end: AtomicUsize,
        complaint: Vec<u8>,
        next: *const Mapping,
    }

    static MAPPINGS: AtomicPtr<Mapping> = AtomicPtr::new(ptr::null_mut());

    /// While this lives, a missing page of the mapping is an error that names its file.
    #[derive(Debug)]
    pub(crate) struct Watched(&'static Mapping);

    impl std::fmt::Debug for Mapping {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Mapping")
        }
    }

    // SAFETY: all but the addresses, which are atomic, is written before others can see it, and
    // never again; what `next` points at is never freed.
    unsafe impl Sync for Mapping {}

    impl Watched {
        /// Watches `bytes` bytes from `start` on, and says `failure` if one is gone.
        pub(crate) fn new(start: *const u8, bytes: usize, failure: &Failure) -> Self {
            let mut complaint = failure.line(JSON.load(Ordering::Relaxed)).into_bytes();
            complaint.push(b'\n');
            let mapping = Box::leak(Box::new(Mapping {
                start: AtomicUsize::new(start.addr()),
                end: AtomicUsize::new(start.addr().saturating_add(bytes)),
                complaint,
                next: MAPPINGS.load(Ordering::Acquire),
            }));
            // Mappings are made by one thread, so nobody has pushed another one meanwhile.
            MAPPINGS.store(mapping, Ordering::Release);
            Self(mapping)
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            self.0.end.store(0, Ordering::Release);
            self.0.start.store(0, Ordering::Release);
        }
    }

    /// Takes both signals; `json` says how errors are said. What cannot be had is left as the
    /// system has it.
    pub(crate) fn install(json: bool) {
        JSON.store(json, Ordering::Relaxed);
        // SAFETY: the action is all zeros, which is a valid one, but for what is set here; the
        // handler has the signature that SA_SIGINFO asks for, and does only what a signal handler
        // may do (see there). To ignore a signal installs no code.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                page_is_gone;
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGBUS, &action, ptr::null_mut());
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }

    extern "C" fn page_is_gone(
        signal: libc::c_int,
        info: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        // SAFETY: the system passes a valid `siginfo_t` to a handler with SA_SIGINFO, and that of
        // SIGBUS holds an address. Mappings are never freed. `write`, `_exit` and `signal` are
        // async-signal-safe; no lock is taken and no memory allocated.
        unsafe {
            let address = (*info).si_addr().addr();
            let mut next = MAPPINGS.load(Ordering::Acquire).cast_const();
            while let Some(mapping) = next.as_ref() {
                let start = mapping.start.load(Ordering::Acquire);
                if (start..mapping.end.load(Ordering::Acquire)).contains(&address) {
                    let line = &mapping.complaint;
                    libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
                    libc::_exit(2);
                }
                next = mapping.next;
            }
            // None of ours: the instruction runs again, and ends the process as it would have.
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use crate::failure::Failure;

    /// Nothing to watch: a file that is mapped cannot be made shorter here.
    #[derive(Debug)]
    pub(crate) struct Watched;

    impl Watched {
        pub(crate) fn new(_start: *const u8, _bytes: usize, _failure: &Failure) -> Self {
            Self
        }
    }

    pub(crate) fn install(_json: bool) {}
}
