//! Load: operators in a pool of the caller's, from all of its threads and from others at the same time.
//!
//! Three seconds of it belong to the tests; `STREW_LOAD_SECONDS=600 cargo test --release -p strew --test load` is ten minutes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use strew::torch_scatter::{Reduce, scatter};
use strew::{Bounds, Plan, TensorView};

/// Numbers that look random and are the same each time.
fn numbers(count: usize, below: usize) -> Vec<i64> {
    let mut state = below as u64 + 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * below as u128) >> 64) as i64
    };
    (0..count).map(|_| next()).collect()
}

/// A call with all that it needs, and the bytes that it must give.
struct Case {
    name: String,
    call: Box<dyn Fn() -> Vec<u8> + Send + Sync>,
    expected: Vec<u8>,
}

impl Case {
    fn new(name: String, call: impl Fn() -> Vec<u8> + Send + Sync + 'static) -> Self {
        let expected = call();
        let call = Box::new(call);
        Self {
            name,
            call,
            expected,
        }
    }

    fn check(&self) {
        assert!((self.call)() == self.expected, "{}", self.name);
    }
}

/// Small calls, and some beyond each threshold at which a run is shared out.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (rows, width) in [(50, 3), (4000, 33), (60_000, 16), (1 << 20, 1)] {
        let cells = rows / 7 + 1;
        let index = numbers(rows, cells);
        let shape = [rows, width];
        let values: Vec<f32> = numbers(rows * width, 2001)
            .iter()
            .map(|&n| n as f32 / 7.0 - 143.0)
            .collect();
        for reduce in [Reduce::Sum, Reduce::Mean, Reduce::Max] {
            let (index, values) = (index.clone(), values.clone());
            let name = format!("{reduce:?} of {shape:?}");
            cases.push(Case::new(name, move || {
                let src = TensorView::from_slice(&values, &shape).unwrap();
                let made = scatter(&src, &index, 0, Some(cells), reduce).unwrap();
                made.as_slice()
                    .iter()
                    .flat_map(|v| v.to_ne_bytes())
                    .collect()
            }));
        }
        let (few, whole) = (numbers(rows, 100), numbers(rows, 1000));
        cases.push(Case::new(format!("integers of {rows}"), move || {
            let made = scatter(&whole[..], &few, 0, Some(100), Reduce::Sum).unwrap();
            made.as_slice()
                .iter()
                .flat_map(|v| v.to_ne_bytes())
                .collect()
        }));
        let wrong = [&index[..rows - 1], &[cells as i64]].concat();
        let given = values.clone();
        cases.push(Case::new(format!("an error of {shape:?}"), move || {
            let src = TensorView::from_slice(&given, &shape).unwrap();
            let error = scatter(&src, &wrong, 0, Some(cells), Reduce::Sum).unwrap_err();
            error.to_string().into_bytes()
        }));
        let plan = Plan::new(&index, Some(cells), Bounds::STRICT).unwrap();
        cases.push(Case::new(format!("a plan of {shape:?}"), move || {
            let src = TensorView::from_slice(&values, &shape).unwrap();
            let made = plan
                .scatter_dyn(&src.into_dyn(), 0, strew::Reduce::Amax)
                .unwrap();
            made.as_bytes().to_vec()
        }));
    }
    cases
}

#[test]
fn a_pool_of_the_callers_under_load() {
    let seconds = std::env::var("STREW_LOAD_SECONDS").ok();
    let seconds = seconds.map_or(3, |s| s.parse().expect("a number of seconds"));
    strew::set_num_threads(std::num::NonZeroUsize::new(1));
    let cases = cases();
    strew::set_num_threads(std::num::NonZeroUsize::new(3));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(4)
        .build()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(seconds);
    let (calls, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let one = || {
        // A step that has no divisor in common with the number of cases.
        let n = next.fetch_add(1, Ordering::Relaxed) * 7919;
        cases[n % cases.len()].check();
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let until_the_end = || {
        while Instant::now() < end {
            one();
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(until_the_end);
        }
        pool.scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|_| {
                    while Instant::now() < end {
                        // Work within work, of which a waiting thread may take some.
                        rayon::join(one, || rayon::join(one, one));
                    }
                });
            }
        });
    });
    strew::set_num_threads(None);
    println!("{} calls", calls.into_inner());
}
