//! Nontemporal.
//!
//! # Unsafe
//!
//! - Buys: writes that bypass the caches
//! - Measured: through the caches: W4 1.50
//! - Holds: the caller promises memory of that size, aligned for the writes; a fence orders them

/// Copies without fetching what is there before, and without keeping it close.
///
/// # Safety
/// As for a copy of `bytes` bytes, a multiple of 16; `to` is aligned to 16.
pub(crate) unsafe fn write_past_caches(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(16) {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
        // SAFETY: the caller's promise; every x86-64 has SSE2.
        unsafe { _mm_stream_si128(to.add(at).cast(), _mm_loadu_si128(from.add(at).cast())) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's promise.
    unsafe {
        to.copy_from_nonoverlapping(from, bytes);
    }
}

/// What was written past the caches is there for other threads.
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
