//! Memory that cannot be had: the command says so, leaves no part file, and ends with exit status 2.
//!
//! What needs much memory asks for it, and a refusal is an error as any other. Small things are not
//! asked for: the standard library then writes lines of its own on standard error, and raises
//! `SIGABRT`. No stable Rust changes that. So the allocator here notes that it had nothing to give,
//! and lets standard error swallow what is written until the command has a message. The handler of
//! the signal ends the command as an error does. Any other abort stays one.
//!
//! This is the binary's alone. In a Python process, allocator and signals are the interpreter's.
//!
//! # Unsafe
//!
//! - Buys: too little memory is an error, and not a crash
//! - Measured: no other way
//! - Holds: the allocator is the system's; the handler runs in the thread that has raised the
//!   signal, outside of the allocator

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The system's allocator, which remembers that it had no memory.
pub(crate) struct Noted;

static LACKING: AtomicBool = AtomicBool::new(false);

/// A thread is writing the message with which the command ends.
static ENDING: AtomicBool = AtomicBool::new(false);

/// What another thread may take for that, in microseconds.
const PATIENCE: u32 = 500_000;

/// A second descriptor of standard error, and one that swallows what is written.
static MESSAGES: AtomicI32 = AtomicI32::new(-1);
static NOWHERE: AtomicI32 = AtomicI32::new(-1);

/// Bytes that the handler gives back, so that it has some to work with.
const RESERVE: usize = 1 << 18;
static RESERVED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn noted(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        LACKING.store(true, Ordering::Relaxed);
        redirect(&NOWHERE);
    }
    memory
}

/// Makes standard error another descriptor.
fn redirect(to: &AtomicI32) {
    let to = to.load(Ordering::Relaxed);
    if to >= 0 {
        // SAFETY: both are descriptors of this process, and `dup2` may be called at any time.
        unsafe { libc::dup2(to, libc::STDERR_FILENO) };
    }
}

/// Standard error as it was.
fn restore() {
    if LACKING.load(Ordering::Relaxed) {
        ENDING.store(true, Ordering::Relaxed);
        redirect(&MESSAGES);
    }
}

// SAFETY: each call is passed on to the system's allocator as it came, and its answer is given as
// it is. So the caller's promises are those that `System` asks for, and `System` keeps ours.
unsafe impl GlobalAlloc for Noted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises what `System` asks for.
        noted(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        noted(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`; `memory` comes from `System`, as all does that this allocator gave.
        noted(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Takes the signal.
pub(crate) fn install() {
    if let Ok(mut reserved) = RESERVED.lock() {
        let _ = reserved.try_reserve_exact(RESERVE);
    }
    // SAFETY: the calls take no pointer but that of a text with a zero at its end.
    unsafe {
        let messages = libc::fcntl(libc::STDERR_FILENO, libc::F_DUPFD_CLOEXEC, 3);
        MESSAGES.store(messages, Ordering::Relaxed);
        if messages >= 0 {
            let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            NOWHERE.store(nowhere, Ordering::Relaxed);
        }
    }
    strew_cli::before_messages(restore);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        usual(info);
    }));
    // SAFETY: the action is all zeros, which is a valid one, but for the handler, which has the
    // signature that an action without flags asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int) = aborted;
        action.sa_sigaction = handler as libc::sighandler_t;
        libc::sigaction(libc::SIGABRT, &action, ptr::null_mut());
    }
}

/// `abort` raises the signal in the thread that calls it, and outside of the allocator, which has
/// returned. So the handler may do what that thread may do.
extern "C" fn aborted(signal: libc::c_int) {
    if !LACKING.load(Ordering::Relaxed) {
        // SAFETY: this may be called at any time. `abort` raises the signal again.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    if let Ok(mut reserved) = RESERVED.try_lock() {
        drop(std::mem::take(&mut *reserved));
    }
    if ENDING.swap(true, Ordering::Relaxed) {
        // SAFETY: this may be called at any time. One message is enough: its thread ends the
        // process, unless it is this one.
        unsafe { libc::usleep(PATIENCE) };
        strew_cli::without_memory();
        // SAFETY: this may be called at any time, and does not return.
        unsafe { libc::_exit(2) }
    }
    let line = strew_cli::without_memory();
    // SAFETY: the bytes are those of a text. `_exit` does not return; what the process had is the
    // system's again.
    unsafe {
        let messages = MESSAGES.load(Ordering::Relaxed);
        libc::write(messages, line.as_ptr().cast(), line.len());
        libc::_exit(2)
    }
}
