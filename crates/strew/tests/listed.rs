//! Single values all over a destination that no cache holds: a plan keeps their lists by block.

use std::num::NonZeroUsize;
use strew::{Bounds, Element, Plan, PlanIntoOptions, Reduce, Tensor};

/// A reduction, what a new cell starts from, and how an update joins it.
type Way<T> = (Reduce, T, fn(T, T) -> T);

/// Some rows, a few of them often; -1 is left out.
fn rows(count: usize, size: usize) -> Vec<i64> {
    let mut state = 5u64;
    let mut rows = Vec::with_capacity(count);
    for k in 0..count {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let size = if k % 5 == 0 { 100 } else { size };
        let row = ((state >> 33) % size as u64) as i64;
        rows.push(if k % 1000 == 17 { -1 } else { row });
    }
    rows
}

/// Every reduction into a new tensor, and into one that is there, is the loop over the updates.
fn check<T: Element + PartialEq>(size: usize, element: impl Fn(usize) -> T, join: &[Way<T>]) {
    let index = rows(size / 15, size);
    let bounds = Bounds {
        negative: strew::Negative::Drop,
        ..Bounds::STRICT
    };
    let plan = Plan::new(&index, Some(size), bounds).unwrap();
    let memory = plan.memory();
    let mut src = Tensor::<T>::zeros(&[index.len()]).unwrap();
    for (k, value) in src.as_mut_slice().iter_mut().enumerate() {
        *value = element(k);
    }
    let updates = || {
        let updates = index.iter().zip(src.as_slice());
        updates.filter_map(|(&row, &value)| Some((usize::try_from(row).ok()?, value)))
    };
    for &(reduce, start, join) in join {
        let mut anew = vec![start; size];
        let mut into: Vec<T> = (0..size).map(|row| element(row % 7)).collect();
        let before = into.clone();
        // Cells without updates are 0 but for products, whatever the others start from.
        let zero = Tensor::<T>::zeros(&[1]).unwrap().as_slice()[0];
        let empty = if reduce == Reduce::Prod { start } else { zero };
        let mut touched = vec![false; size];
        for (row, value) in updates() {
            anew[row] = join(anew[row], value);
            into[row] = join(into[row], value);
            touched[row] = true;
        }
        for (cell, touched) in anew.iter_mut().zip(touched) {
            *cell = if touched { *cell } else { empty };
        }
        for threads in [1, 2, 3, 8] {
            strew::set_num_threads(NonZeroUsize::new(threads));
            let made = plan.scatter(src.view(), 0, reduce).unwrap();
            assert!(made.as_slice() == anew, "{reduce}, {threads} threads");
            let mut out = before.clone();
            let (src, to) = (src.view(), &mut out[..]);
            plan.scatter_into(src, 0, reduce, to, PlanIntoOptions::default())
                .unwrap();
            assert!(out == into, "{reduce} into, {threads} threads");
        }
    }
    assert!(plan.memory() > memory, "the plan keeps lists");
    let told = plan.explain(T::DTYPE, &[index.len()], 0, &[Reduce::Sum]);
    assert!(told.unwrap().to_string().contains("the plan's lists"));
}

#[test]
fn of_float32() {
    #[allow(clippy::cast_precision_loss)]
    let element = |k: usize| 1.0 + (k % 1000) as f32 / 7.0;
    let ways: &[Way<f32>] = &[
        (Reduce::Sum, 0.0, |a, b| a + b),
        (Reduce::Prod, 1.0, |a, b| a * b),
        (Reduce::Amax, f32::NEG_INFINITY, f32::max),
        (Reduce::Assign, 0.0, |_, b| b),
    ];
    check((64 << 18) + 300_000, element, ways);
}

#[test]
fn of_bytes() {
    let ways: &[Way<i8>] = &[
        (Reduce::Sum, 0, i8::wrapping_add),
        (Reduce::Amin, i8::MAX, i8::min),
    ];
    #[allow(clippy::cast_possible_truncation)]
    check((64 << 20) + 70_000, |k| k as i8, ways);
}

#[test]
fn of_complex128() {
    use strew::Complex64;
    let ways: &[Way<Complex64>] = &[(Reduce::Sum, Complex64::new(0.0, 0.0), |a, b| a + b)];
    #[allow(clippy::cast_precision_loss)]
    check((64 << 16) + 5, |k| Complex64::new(k as f64, -0.25), ways);
}
