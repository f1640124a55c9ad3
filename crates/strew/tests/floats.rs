//! The floating-point environment: a caller that flushes subnormals to zero gets the same bits,
//! and gets its environment back.

#![cfg(target_arch = "x86_64")]

use std::arch::asm;
use strew::torch::{Reduce, scatter_reduce, scatter_reduce_};
use strew::{bf16, f16};

/// Flush to zero, and subnormals are zero.
const FLUSH: u32 = 0x8040;
/// Round toward zero.
const TRUNCATE: u32 = 0x6000;
/// The flags that operations raise.
const RAISED: u32 = 0x3f;

fn mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores four bytes to a local variable.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack)) };
    value
}

fn set_mxcsr(value: u32) {
    // SAFETY: every value used here is the default with rounding and flush bits changed.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack)) };
}

/// What `work` gives with these bits set; they must still be set when it returns.
fn under<R>(bits: u32, work: impl FnOnce() -> R) -> R {
    let before = mxcsr();
    let set = (before | bits) & !RAISED;
    set_mxcsr(set);
    let result = work();
    let after = mxcsr();
    set_mxcsr(before);
    assert_eq!(after & !RAISED, set, "the caller's environment is changed");
    result
}

/// Adds two numbers where the compiler cannot do it for us.
fn add(a: f32, b: f32) -> f32 {
    use std::hint::black_box;
    black_box(black_box(a) + black_box(b))
}

#[test]
fn subnormals_and_rounding() {
    let tiny = f32::from_bits(3);
    // The bits do what they are to do, or the rest would prove nothing.
    assert_eq!(under(FLUSH, || add(tiny, tiny).to_bits()), 0);
    assert_eq!(add(tiny, tiny).to_bits(), 6);
    let (big, small) = (1.0f32, 0.75 * f32::EPSILON);
    assert_eq!(under(TRUNCATE, || add(big, small)), 1.0);
    assert_eq!(add(big, small), 1.0 + f32::EPSILON);

    let index = [0i64, 1, 1, 0, 2];
    for bits in [0, FLUSH, TRUNCATE, FLUSH | TRUNCATE] {
        for reduce in [
            Reduce::Sum,
            Reduce::Prod,
            Reduce::Mean,
            Reduce::Amax,
            Reduce::Amin,
        ] {
            let floats = [tiny, 1.0, 0.3, f32::MIN_POSITIVE / 2.0, -tiny];
            let doubles = floats.map(|v| f64::from(v) * 1e-280);
            let halves = floats.map(|v| f16::from_f32(v * 1e-5 + 6e-8));
            let brains = floats.map(|v| bf16::from_f32(v + 1e-40));
            let run = || {
                let mut into = floats;
                scatter_reduce_(&mut into, 0, index, floats, reduce, true).unwrap();
                let doubles = scatter_reduce(doubles, 0, index, doubles, reduce, false).unwrap();
                let halves = scatter_reduce(halves, 0, index, halves, reduce, true).unwrap();
                let brains = scatter_reduce(brains, 0, index, brains, reduce, true).unwrap();
                (
                    into.map(f32::to_bits),
                    doubles
                        .as_slice()
                        .iter()
                        .map(|v| v.to_bits())
                        .collect::<Vec<_>>(),
                    halves
                        .as_slice()
                        .iter()
                        .map(|v| v.to_bits())
                        .collect::<Vec<_>>(),
                    brains
                        .as_slice()
                        .iter()
                        .map(|v| v.to_bits())
                        .collect::<Vec<_>>(),
                )
            };
            assert_eq!(under(bits, run), run(), "{bits:#x} {reduce:?}");
        }
    }
}

/// On an error too.
#[test]
fn given_back_on_an_error() {
    let mut into = [1.0f32];
    let result = under(FLUSH | TRUNCATE, || {
        scatter_reduce_(&mut into, 0, [3i64], [1.0], Reduce::Sum, true)
    });
    assert!(result.is_err());
}

/// Masking a minimum compares numbers after the loops.
#[test]
fn torch_scatter_masks_alike() {
    let src = [f32::from_bits(1), -f32::from_bits(1), f32::MAX];
    let run = || {
        let (out, arg) = strew::torch_scatter::scatter_min(src, [0i64, 1, 2], -1, Some(4)).unwrap();
        (
            out.as_slice()
                .iter()
                .map(|v| v.to_bits())
                .collect::<Vec<_>>(),
            arg.as_slice().to_vec(),
        )
    };
    assert_eq!(run(), (vec![1, 0x8000_0001, 0, 0], vec![0, 1, 3, 3]));
    assert_eq!(under(FLUSH, run), run());
}
