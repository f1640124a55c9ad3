//! One plain loop, compiled for each instruction set and chosen at run time.

/// What a loop is compiled for.
pub(super) trait Isa: Copy {
    /// It has instructions that convert 16-bit floats (F16C).
    const F16C: bool;
}

/// Whatever the crate is compiled for.
#[derive(Clone, Copy)]
pub(super) struct Baseline;

/// AVX2 and what comes with it, or more: there is none on a computer without.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl From<fearless_simd::Avx2> for Avx2 {
    #[inline(always)]
    fn from(_: fearless_simd::Avx2) -> Self {
        Self(())
    }
}

#[cfg(target_arch = "x86_64")]
impl From<fearless_simd::Avx512> for Avx2 {
    #[inline(always)]
    fn from(_: fearless_simd::Avx512) -> Self {
        Self(())
    }
}

impl Isa for Baseline {
    const F16C: bool = false;
}

#[cfg(target_arch = "x86_64")]
impl Isa for Avx2 {
    const F16C: bool = true;
}

/// In a loop of few turns, each of which is vectors already: the compiler would make another one besides, many times as long, that
/// does sixteen turns at once.
#[inline(always)]
pub(super) fn turn_by_turn() {
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
                    let $isa = $crate::kernel::simd::Avx2::from(token);
                    $work
                },
            ),
            #[cfg(target_arch = "x86_64")]
            fearless_simd::Level::Avx2(token) => fearless_simd::Simd::vectorize(
                token,
                #[inline(always)]
                || {
                    let $isa = $crate::kernel::simd::Avx2::from(token);
                    $work
                },
            ),
            _ => {
                let $isa = $crate::kernel::simd::Baseline;
                $work
            }
        }
    }};
}
