//! The hot kernels by themselves, through the public API: `cargo bench -p strew`.
//!
//! For work on a kernel: seconds instead of minutes, and no other library. What it comes to beside
//! others is `cargo xtask bench`'s concern. `cargo bench -p strew -- rows` runs what has "rows" in
//! its name; STREW_NUM_THREADS=1 leaves the threads out of it.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use half::f16;
use ndarray::{Array2, Array3};
use strew::torch_scatter::{Reduce, scatter};

fn main() {
    divan::main();
}

/// How many elements a bench moves: more than the caches next to a core hold.
const ELEMENTS: usize = 1 << 22;

/// How many updates share a cell, on average.
const SHARE: usize = 10;

/// Numbers below `limit` that look random and are the same each time.
fn index(count: usize, limit: usize) -> Vec<i64> {
    let mut state = 1u64;
    let mut next = || {
        // The multiplier of Knuth's MMIX; the high bits are the good ones.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * limit as u128) >> 64) as i64
    };
    (0..count).map(|_| next()).collect()
}

/// Values that sums stay small of.
fn value(n: usize) -> f32 {
    (n % 7) as f32 - 3.0
}

/// Sums of rows of `width` elements.
#[divan::bench(args = [1, 8, 64, 256])]
fn rows_sum_f32(bencher: Bencher<'_, '_>, width: usize) {
    let rows = ELEMENTS / width;
    let src = Array2::from_shape_fn((rows, width), |(i, j)| value(i + j));
    let index = index(rows, rows / SHARE);
    bencher.counter(ItemsCount::new(ELEMENTS)).bench_local(|| {
        scatter(black_box(&src), &index, 0, Some(rows / SHARE), Reduce::Sum).unwrap()
    });
}

/// The same in `f16`: both conversions and the table of wide sums.
#[divan::bench(args = [1, 64])]
fn rows_sum_f16(bencher: Bencher<'_, '_>, width: usize) {
    let rows = ELEMENTS / width;
    let src = Array2::from_shape_fn((rows, width), |(i, j)| f16::from_f32(value(i + j)));
    let index = index(rows, rows / SHARE);
    bencher.counter(ItemsCount::new(ELEMENTS)).bench_local(|| {
        scatter(black_box(&src), &index, 0, Some(rows / SHARE), Reduce::Sum).unwrap()
    });
}

/// Single values into tables of several sizes.
#[divan::bench(args = [1_000, 100_000, 10_000_000])]
fn values_sum_f32(bencher: Bencher<'_, '_>, cells: usize) {
    let src: Vec<f32> = (0..ELEMENTS).map(value).collect();
    let index = index(ELEMENTS, cells);
    bencher
        .counter(ItemsCount::new(ELEMENTS))
        .bench_local(|| scatter(black_box(&src), &index, 0, Some(cells), Reduce::Sum).unwrap());
}

/// Elements that each have an index of their own along an axis.
#[divan::bench(args = [0, 1, 2])]
fn elements_sum_f32(bencher: Bencher<'_, '_>, axis: usize) {
    let shape = [16, 256, 1024];
    let src = Array3::from_shape_fn(shape, |(i, j, k)| value(i + j + k));
    let index = Array3::from_shape_vec(shape, index(ELEMENTS, shape[axis])).unwrap();
    bencher.counter(ItemsCount::new(ELEMENTS)).bench_local(|| {
        let (axis, size) = (axis as i64, Some(shape[axis]));
        scatter(black_box(&src), &index, axis, size, Reduce::Sum).unwrap()
    });
}

/// Rows that replace each other.
#[divan::bench(args = [1, 32, 256])]
fn rows_assign_f32(bencher: Bencher<'_, '_>, width: usize) {
    let rows = ELEMENTS / width;
    let data = Array2::from_shape_fn((rows, width), |(i, j)| value(i + j));
    let indices = Array2::from_shape_vec((1, rows), index(rows, rows)).unwrap();
    bencher.counter(ItemsCount::new(ELEMENTS)).bench_local(|| {
        strew::mxnet::scatter_nd(black_box(&data), &indices, &[rows, width], None).unwrap()
    });
}

/// A slice with the same step on both axes.
#[divan::bench(args = [1, 2])]
fn slice_f32(bencher: Bencher<'_, '_>, step: i64) {
    let side = 2048;
    let kept = side / step as usize;
    let data = Array2::<f32>::zeros((side, side));
    let updates = Array2::<f32>::ones((kept, kept));
    bencher
        .counter(ItemsCount::new(side * side))
        .bench_local(|| {
            let (start, stop, step) = ([0, 0], [side as i64; 2], [step; 2]);
            strew::openvino::slice_scatter(black_box(&data), &updates, &start, &stop, &step, None)
                .unwrap()
        });
}
