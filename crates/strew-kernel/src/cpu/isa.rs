//! One plain loop, compiled for each instruction set and chosen at run time.
//!
//! A version of a loop is a function of the module that the loop is in, so that the compiler's units
//! of work share them out.
//!
//! # Unsafe
//!
//! - Buys: no unrolled copy of a short loop; a line that bypasses the caches in one or two writes
//! - Measured: left to the compiler: the command-line tool has 819 KB more; rows of 32 to 64
//!   float32 elements in a cache 1.05 to 1.10; lines in pieces of 16 bytes, in C on an Intel
//!   server: W2c 1.04
//! - Holds: the barrier is no instruction; what runs is what this computer has; 64 bytes from the
//!   start of a line

use crate::cpu::LINE;
use crate::cpu::nontemporal::write_past_caches;
use crate::error::Problem;
use crate::runtime::settings::{ISA, read};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm256_loadu_si256;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm256_stream_si256;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm512_loadu_si512;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm512_stream_si512;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// Passes the features that loops of an instruction set are compiled with to another macro.
#[cfg(target_arch = "x86_64")]
macro_rules! with_features {
    (avx2: $then:ident! $($rest:tt)*) => {
        $then! { ["avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe" "popcnt"] $($rest)* }
    };
    (avx512: $then:ident! $($rest:tt)*) => {
        $then! {
            [
                "avx512bitalg" "avx512bw" "avx512cd" "avx512dq" "avx512f" "avx512ifma"
                "avx512vbmi" "avx512vbmi2" "avx512vl" "avx512vnni" "avx512vpopcntdq"
                "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe" "popcnt"
            ]
            $($rest)*
        }
    };
}

/// Whether this computer has all features.
#[cfg(target_arch = "x86_64")]
macro_rules! detected {
    ([$($feature:tt)+]) => {
        $(is_x86_feature_detected!($feature))&&+
    };
}

/// The instruction sets that loops are compiled for, each with what the ones before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// What every processor of the architecture has.
    Baseline,
    /// AVX2, FMA, F16C and BMI of x86-64-v3.
    Avx2,
    /// AVX-512 as in Ice Lake.
    Avx512,
}

impl InstructionSet {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// The name by which it is shown and set.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The best one that this computer has.
    #[must_use]
    pub fn of_machine() -> Self {
        #[cfg(target_arch = "x86_64")]
        if with_features!(avx2: detected!) {
            return match with_features!(avx512: detected!) {
                true => Self::Avx512,
                false => Self::Avx2,
            };
        }
        Self::Baseline
    }

    /// The one of this name, if the computer has it.
    ///
    /// # Errors
    /// [`Problem::Value`] if there is none, or if the computer has only less.
    pub fn parse(name: &str) -> Result<Self, Problem> {
        let most = Self::of_machine();
        let found = Self::ALL.into_iter().find(|set| set.name() == name.trim());
        found.filter(|&set| set <= most).ok_or_else(|| {
            let there = Self::ALL.into_iter().filter(|&set| set <= most);
            let names: Vec<_> = there.map(Self::name).collect();
            Problem::Value {
                argument: "instruction set".into(),
                value: format!("{name:?}"),
                expected: format!("this computer has {}", names.join(", ")),
            }
        })
    }
}

/// The instruction set that loops run with: 0 as long as nobody has asked, or one more than the
/// number of an [`InstructionSet`].
static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// Sets the instruction set that loops run with, if the computer has it; `None` goes back to
/// `STREW_ISA`, or the computer's best one. Results do not depend on it.
///
/// ```
/// # mod strew { pub use strew_kernel::cpu::isa::*; }
/// use strew::InstructionSet;
///
/// strew::set_instruction_set(Some(InstructionSet::Baseline))?;
/// assert_eq!(strew::instruction_set(), InstructionSet::Baseline);
/// strew::set_instruction_set(None)?;
/// # Ok::<(), strew_kernel::error::Problem>(())
/// ```
///
/// # Errors
/// [`Problem::Value`] if the computer has only less.
pub fn set_instruction_set(set: Option<InstructionSet>) -> Result<(), Problem> {
    let chosen = match set {
        Some(set) => InstructionSet::parse(set.name())?,
        None => from_environment().unwrap_or_else(InstructionSet::of_machine),
    };
    CHOSEN.store(chosen as u8 + 1, Ordering::Relaxed);
    Ok(())
}

/// The one that `STREW_ISA` names, if the computer has it.
fn from_environment() -> Option<InstructionSet> {
    static SET: OnceLock<Option<InstructionSet>> = OnceLock::new();
    *SET.get_or_init(|| read(ISA, InstructionSet::parse).ok().flatten())
}

/// The instruction set that loops run with. The computer has it.
///
/// Not inlined: it is asked once per block of rows, in hundreds of places.
#[must_use]
#[inline(never)]
pub fn instruction_set() -> InstructionSet {
    if CHOSEN.load(Ordering::Relaxed) == 0 {
        // It fails for none that the computer lacks, and the setting was checked.
        let _ = set_instruction_set(None);
    }
    match CHOSEN.load(Ordering::Relaxed) {
        3 => InstructionSet::Avx512,
        2 => InstructionSet::Avx2,
        _ => InstructionSet::Baseline,
    }
}

/// What a loop is compiled for.
pub(crate) trait Isa: Copy {
    /// It has instructions that convert 16-bit floats (F16C).
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // Only loops for x86-64 ask.
    const F16C: bool;

    /// It is the baseline of an architecture whose computers have more: its loops are short.
    const BARE: bool = false;

    /// Storing some elements of a vector takes much longer than storing all of them.
    const SLOW_MASKS: bool = false;

    /// Copies a cache line [past the caches](write_past_caches), in as few pieces as there can be.
    ///
    /// # Safety
    /// As for a copy of that many bytes; `to` is where a line begins.
    unsafe fn write_line_past_caches(self, from: *const u8, to: *mut u8);
}

/// Whether loops are short because nearly every computer has a better instruction set.
#[inline(always)]
pub(crate) fn is_bare<I: Isa>(_: I) -> bool {
    I::BARE
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
impl Avx2 {
    /// # Safety
    /// The computer has AVX2 and what comes with it.
    #[inline(always)]
    pub(crate) unsafe fn there() -> Self {
        Self(())
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// # Safety
    /// The computer has AVX-512 and what comes with it.
    #[inline(always)]
    pub(crate) unsafe fn there() -> Self {
        Self(())
    }
}

impl Isa for Baseline {
    const F16C: bool = false;
    const BARE: bool = cfg!(target_arch = "x86_64");

    #[inline(always)]
    unsafe fn write_line_past_caches(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { write_past_caches(from, to, LINE) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Isa for Avx2 {
    const F16C: bool = true;
    const SLOW_MASKS: bool = true;

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

/// Evaluates `$work` in a function that is compiled with some features.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_with {
    ([$($feature:tt)+] $name:ident, $isa_type:ident, |$isa:tt| $work:expr) => {{
        $(#[target_feature(enable = $feature)])+
        fn $name<R>(work: impl FnOnce($crate::cpu::isa::$isa_type) -> R) -> R {
            // SAFETY: the caller has a computer with these features.
            work(unsafe { $crate::cpu::isa::$isa_type::there() })
        }
        #[allow(unused_unsafe)] // The caller may be in such a block.
        // SAFETY: this is the instruction set that loops run with, so the computer has its features.
        let made = unsafe {
            $name(
                #[inline(always)]
                |$isa: $crate::cpu::isa::$isa_type| $work,
            )
        };
        made
    }};
}

/// Evaluates `$work` compiled for AVX-512, for AVX2 and for the baseline, whichever this computer
/// has, with `$isa` standing for it. What it calls must be inlined to profit. No two versions
/// differ in a bit: vectors of another width do the same arithmetic, and nothing is contracted into
/// fused multiply-adds.
macro_rules! vectorized {
    (|$isa:tt| $work:expr) => {{
        match $crate::cpu::isa::instruction_set() {
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::isa::InstructionSet::Avx512 => {
                with_features!(avx512: compiled_with! vectorize_avx512, Avx512, |$isa| $work)
            }
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::isa::InstructionSet::Avx2 => {
                with_features!(avx2: compiled_with! vectorize_avx2, Avx2, |$isa| $work)
            }
            _ => {
                let $isa = $crate::cpu::isa::Baseline;
                $work
            }
        }
    }};
}

/// As [`vectorized`], without a version for AVX-512: it gains less than a tenth there.
macro_rules! vectorized_twice {
    (|$isa:tt| $work:expr) => {{
        match $crate::cpu::isa::instruction_set() {
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::isa::InstructionSet::Avx512 | $crate::cpu::isa::InstructionSet::Avx2 => {
                with_features!(avx2: compiled_with! vectorize_avx2, Avx2, |$isa| $work)
            }
            _ => {
                let $isa = $crate::cpu::isa::Baseline;
                $work
            }
        }
    }};
}

/// [`vectorized!`] if the constant is true, otherwise [`vectorized_twice!`].
macro_rules! vectorized_if {
    ($wide:expr, |$isa:tt| $work:expr) => {{
        if $wide {
            vectorized!(|$isa| $work)
        } else {
            vectorized_twice!(|$isa| $work)
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::InstructionSet;

    #[test]
    fn a_set_that_the_computer_lacks_is_refused() {
        let most = InstructionSet::of_machine();
        for set in InstructionSet::ALL {
            assert_eq!(InstructionSet::parse(set.name()).is_ok(), set <= most);
        }
        let error = InstructionSet::parse("avx9000").unwrap_err();
        assert!(error.to_string().contains(most.name()), "{error}");
    }
}
