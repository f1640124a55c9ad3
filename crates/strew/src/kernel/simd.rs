//! One plain loop, compiled for each instruction set and chosen at run time.

/// Evaluates `$work` compiled for AVX-512, for AVX2 and for the baseline, whichever the machine
/// has. What it calls must be inlined to profit. No two versions differ in a bit: vectors of
/// another width do the same arithmetic, and nothing is contracted into fused multiply-adds.
macro_rules! vectorized {
    ($work:expr) => {{
        match fearless_simd::Level::new() {
            #[cfg(target_arch = "x86_64")]
            fearless_simd::Level::Avx512(token) => fearless_simd::Simd::vectorize(
                token,
                #[inline(always)]
                || $work,
            ),
            #[cfg(target_arch = "x86_64")]
            fearless_simd::Level::Avx2(token) => fearless_simd::Simd::vectorize(
                token,
                #[inline(always)]
                || $work,
            ),
            _ => $work,
        }
    }};
}
