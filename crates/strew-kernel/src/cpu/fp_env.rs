//! The floating-point environment that the loops run under.
//!
//! # Unsafe
//!
//! - Buys: bits that do not depend on the caller's rounding mode
//! - Measured: no other way
//! - Holds: instructions that read and write one register, which is restored

/// Puts the calling thread under the default environment (round to nearest, subnormals kept,
/// no traps) while it lives, and the caller's back afterwards.
///
/// A host program may have set its thread to flush subnormals to zero (`torch.set_flush_denormal`
/// does). Results may not depend on that, nor on which thread a part of them was computed.
pub struct DefaultFloats {
    #[cfg(target_arch = "x86_64")]
    saved: u32,
    #[cfg(target_arch = "aarch64")]
    saved: u64,
}

#[cfg(target_arch = "x86_64")]
const DEFAULT: u32 = 0x1f80;

#[cfg(target_arch = "x86_64")]
impl DefaultFloats {
    pub fn enter() -> Self {
        let mut saved = 0u32;
        // SAFETY: every x86-64 has SSE; the instruction stores 4 bytes to a local variable.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut saved, options(nostack, preserves_flags));
        }
        if saved & !0x3f != DEFAULT {
            load(DEFAULT);
        }
        Self { saved }
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for DefaultFloats {
    fn drop(&mut self) {
        if self.saved & !0x3f != DEFAULT {
            load(self.saved);
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn load(value: u32) {
    // SAFETY: the value is the power-on default, or what the register held before.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags));
    }
}

#[cfg(target_arch = "aarch64")]
impl DefaultFloats {
    pub fn enter() -> Self {
        let saved: u64;
        // SAFETY: FPCR may be read and written at every privilege level; 0 is its default.
        unsafe {
            std::arch::asm!("mrs {}, fpcr", out(reg) saved, options(nomem, nostack));
            if saved != 0 {
                std::arch::asm!("msr fpcr, {}", in(reg) 0u64, options(nomem, nostack));
            }
        }
        Self { saved }
    }
}

#[cfg(target_arch = "aarch64")]
impl Drop for DefaultFloats {
    fn drop(&mut self) {
        if self.saved != 0 {
            // SAFETY: the value is what the register held before.
            unsafe {
                std::arch::asm!("msr fpcr, {}", in(reg) self.saved, options(nomem, nostack));
            }
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl DefaultFloats {
    pub fn enter() -> Self {
        Self {}
    }
}
