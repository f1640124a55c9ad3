//! An index that somebody else changes during the call: an error or a result, and never a byte
//! outside the destination.

use crate::support::Strided;
use crate::support::ways::call;
use crate::{counted, text};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use strew::{DType, DynView, Layout, Problem, Strategy, Value};

/// More than the shortest line that is taken sixteen at a time.
const COUNT: usize = 9000;

#[test]
fn never_a_byte_outside() {
    let index: Vec<AtomicI64> = (0..COUNT).map(|n| AtomicI64::new(n as i64 % 5)).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0usize;
            while !done.load(Ordering::Relaxed) {
                let value = if n.is_multiple_of(97) {
                    i64::MAX - n as i64
                } else {
                    (n % 5) as i64
                };
                index[(n * 7919) % COUNT].store(value, Ordering::Relaxed);
                n += 1;
                if n.is_multiple_of(4096) {
                    // A while in which every value is a good one.
                    for (k, slot) in index.iter().enumerate() {
                        slot.store(k as i64 % 5, Ordering::Relaxed);
                    }
                    std::thread::yield_now();
                }
            }
        });
        // Also when an assertion fails, so that the other thread ends.
        let _done = OnDrop(&done);
        for (dtype, reduce, force) in [
            (DType::F32, "sum", Strategy::InOrder),
            (DType::I64, "sum", Strategy::InOrder),
            (DType::F32, "amax", Strategy::InOrder),
            (DType::F32, "mean", Strategy::DenseTable),
            (DType::F16, "sum", Strategy::CompactTable),
        ] {
            let src = counted(dtype, &[COUNT]);
            for _ in 0..300 {
                let mut changed = counted(dtype, &[5]);
                run(&index, &src, changed.target(), reduce, force);
                changed.assert_guards();
            }
        }
    });
}

struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn run(index: &[AtomicI64], src: &Strided, target: Value<'_>, reduce: &str, force: Strategy) {
    let layout = Layout::contiguous(DType::I64, &[COUNT]).unwrap();
    // SAFETY: the atomics are as long as the layout says; a view's memory may change.
    let index = unsafe { DynView::from_raw_parts(index.as_ptr().cast(), layout).unwrap() };
    let values = vec![
        ("input", target),
        ("dim", Value::Int(0)),
        ("index", Value::Tensor(index)),
        ("src", src.input()),
        ("reduce", text(reduce)),
    ];
    let call = call("torch.scatter_reduce_", values).unwrap();
    if let Err(error) = call.with_strategy(Some(force)).run() {
        match error.problem() {
            Problem::IndexOutOfBounds { size: Some(5), .. } => {}
            Problem::Layout { .. } => assert_eq!(
                error.to_string(),
                "torch.scatter_reduce_: index: it was changed by somebody else while it was in use"
            ),
            _ => panic!("{error}"),
        }
    }
}

/// Likewise pointers and indices of runs.
#[test]
fn never_a_byte_outside_of_runs() {
    let index: Vec<AtomicI64> = (0..COUNT).map(|n| AtomicI64::new(n as i64)).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0usize;
            while !done.load(Ordering::Relaxed) {
                let slot = (n * 7919) % COUNT;
                let value = match n % 97 {
                    0 => -1 - n as i64,
                    1 => i64::MAX - n as i64,
                    2 => slot as i64 / 2,
                    _ => slot as i64,
                };
                index[slot].store(value, Ordering::Relaxed);
                n += 1;
                if n.is_multiple_of(4096) {
                    // A while in which every value is a good one.
                    for (k, slot) in index.iter().enumerate() {
                        slot.store(k as i64, Ordering::Relaxed);
                    }
                    std::thread::yield_now();
                }
            }
        });
        let _done = OnDrop(&done);
        for (name, pointing, made) in [
            ("segment_sum_csr", "indptr", COUNT - 1),
            ("segment_max_coo", "index", COUNT),
            ("gather_coo", "index", COUNT),
            ("gather_csr", "indptr", COUNT),
        ] {
            let rows = if name == "gather_csr" {
                COUNT - 1
            } else {
                COUNT
            };
            let src = counted(DType::F32, &[rows]);
            for _ in 0..300 {
                let mut changed = counted(DType::F32, &[made]);
                let layout = Layout::contiguous(DType::I64, &[COUNT]).unwrap();
                // SAFETY: the atomics are as long as the layout says; a view's memory may change.
                let view =
                    unsafe { DynView::from_raw_parts(index.as_ptr().cast(), layout).unwrap() };
                let values = vec![
                    ("src", src.input()),
                    (pointing, Value::Tensor(view)),
                    ("out", changed.target()),
                ];
                // A result or an error, whatever it says.
                let _ = call(&format!("torch_scatter.{name}"), values)
                    .unwrap()
                    .run();
                changed.assert_guards();
            }
        }
    });
}
