//! One plain loop, compiled for each instruction set and chosen at run time.
//!
//! # Unsafe
//!
//! - Buys: no unrolled copy of a short loop; a line that bypasses the caches in one or two writes
//! - Measured: left to the compiler: the command-line tool has 819 KB more; rows of 32 to 64
//!   float32 elements in a cache 1.05 to 1.10; lines in pieces of 16 bytes, in C on an Intel
//!   server: W2c 1.04
//! - Holds: the barrier is no instruction; a token proves the instruction set; 64 bytes from the
//!   start of a line

use crate::cpu::LINE;
use crate::cpu::nontemporal::write_past_caches;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm256_loadu_si256;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm256_stream_si256;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm512_loadu_si512;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm512_stream_si512;

/// What a loop is compiled for.
pub(crate) trait Isa: Copy {
    /// It has instructions that convert 16-bit floats (F16C).
    const F16C: bool;

    /// Copies a cache line [past the caches](write_past_caches), in as few pieces as there can be.
    ///
    /// # Safety
    /// As for a copy of that many bytes; `to` is where a line begins.
    unsafe fn write_line_past_caches(self, from: *const u8, to: *mut u8);
}

/// Whatever the crate is compiled for.
#[derive(Clone, Copy)]
pub(crate) struct Baseline;

/// AVX2 and what comes with it: there is none on a computer without.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// AVX-512 and what comes with it: there is none on a computer without.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl From<fearless_simd::Avx2> for Avx2 {
    #[inline(always)]
    fn from(_: fearless_simd::Avx2) -> Self {
        Self(())
    }
}

#[cfg(target_arch = "x86_64")]
impl From<fearless_simd::Avx512> for Avx512 {
    #[inline(always)]
    fn from(_: fearless_simd::Avx512) -> Self {
        Self(())
    }
}

impl Isa for Baseline {
    const F16C: bool = false;

    #[inline(always)]
    unsafe fn write_line_past_caches(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { write_past_caches(from, to, LINE) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Isa for Avx2 {
    const F16C: bool = true;

    #[inline(always)]
    unsafe fn write_line_past_caches(self, from: *const u8, to: *mut u8) {
        for at in [0, 32] {
            // SAFETY: the caller's promise; there is AVX2, or there were no `self`.
            unsafe {
                _mm256_stream_si256(to.add(at).cast(), _mm256_loadu_si256(from.add(at).cast()))
            };
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Isa for Avx512 {
    const F16C: bool = true;

    #[inline(always)]
    unsafe fn write_line_past_caches(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise; there is AVX-512, or there were no `self`.
        unsafe { _mm512_stream_si512(to.cast(), _mm512_loadu_si512(from.cast())) };
    }
}

/// In a loop of few turns, each of which is vectors already: the compiler would make another one
/// besides, many times as long, that does sixteen turns at once.
#[inline(always)]
pub(crate) fn turn_by_turn() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: it is no instruction at all.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

/// Evaluates `$work` compiled for AVX-512, for AVX2 and for the baseline, whichever this computer
/// has, with `$isa` standing for it. What it calls must be inlined to profit. No two versions
/// differ in a bit: vectors of another width do the same arithmetic, and nothing is contracted into
/// fused multiply-adds.
macro_rules! vectorized {
    (|$isa:pat_param| $work:expr) => {{
        match fearless_simd::Level::new() {
            #[cfg(target_arch = "x86_64")]
            fearless_simd::Level::Avx512(token) => fearless_simd::Simd::vectorize(
                token,
                #[inline(always)]
                || {
                    let $isa = $crate::cpu::isa::Avx512::from(token);
                    $work
                },
            ),
            #[cfg(target_arch = "x86_64")]
            fearless_simd::Level::Avx2(token) => fearless_simd::Simd::vectorize(
                token,
                #[inline(always)]
                || {
                    let $isa = $crate::cpu::isa::Avx2::from(token);
                    $work
                },
            ),
            _ => {
                let $isa = $crate::cpu::isa::Baseline;
                $work
            }
        }
    }};
}
