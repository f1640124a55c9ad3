//! Rows that are copied past the caches: so many, and so large a destination, that no other test has them.

use std::num::NonZeroUsize;
use strew::scatter::{Destinations, Reduction, Scatter, Target};
use strew::{Bounds, Combine, Tensor};

/// Each row of 64 bytes goes somewhere, the last one that goes there stays.
#[test]
fn the_last_row_stays() {
    const ROWS: usize = 600_000;
    const WIDTH: usize = 16;
    let mut state = 1;
    let mut index = Tensor::<i64>::zeros(&[1, ROWS]).unwrap();
    for row in index.as_mut_slice() {
        *row = below(&mut state, ROWS) as i64;
    }
    // Twice in a row, and twice in a block.
    index.as_mut_slice()[..4].copy_from_slice(&[5, 5, 9, 5]);
    let mut data = Tensor::<f32>::zeros(&[ROWS, WIDTH]).unwrap();
    for (n, value) in data.as_mut_slice().iter_mut().enumerate() {
        *value = n as f32;
    }
    let mut expected = vec![0.0f32; ROWS * WIDTH];
    for (row, values) in index.as_slice().iter().zip(data.as_slice().chunks(WIDTH)) {
        let at = *row as usize * WIDTH;
        expected[at..at + WIDTH].copy_from_slice(values);
    }
    for threads in [1, 2, 3] {
        strew::set_num_threads(NonZeroUsize::new(threads));
        let out = strew::mxnet::scatter_nd(&data, &index, &[ROWS, WIDTH], None).unwrap();
        assert!(out.as_slice() == expected, "{threads} threads");
    }
}

/// Most of the rows do not begin with a cache line, and what lies between them stays as it is.
#[test]
fn rows_with_gaps() {
    const ROWS: usize = 600_000;
    let mut source = Tensor::<f32>::zeros(&[ROWS, 16]).unwrap();
    for (n, value) in source.as_mut_slice().iter_mut().enumerate() {
        *value = n as f32;
    }
    let index: Vec<i64> = (0..ROWS as i64).rev().collect();
    let mut wide = Tensor::<f32>::zeros(&[ROWS, 17]).unwrap();
    let (cells, _) = wide.view_mut().into_dyn().split_at(1, 16).unwrap();
    let index = strew::TensorView::from(&index[..]).into_dyn();
    let destinations =
        Destinations::rows(&[ROWS, 16], "index", &[index], &[0], None, Bounds::STRICT).unwrap();
    let target = Target::InPlace {
        argument: "cells",
        view: cells,
    };
    let reduction = Reduction::into_self(Combine::Assign);
    let view = source.view().into_dyn();
    let scatter = Scatter::new(destinations, reduction, "source", view.clone(), target).unwrap();
    scatter.run().unwrap();
    let expected = source.as_slice().chunks(16).rev();
    for (row, expected) in wide.as_slice().chunks(17).zip(expected) {
        assert!(row[..16] == *expected && row[16] == 0.0);
    }
}

/// Parts of the lines, of lines and of planes of a large array are replaced in a copy.
#[test]
fn slices_of_large_arrays() {
    const SHAPE: [usize; 3] = [3, 2048, 1408];
    let len: usize = SHAPE.iter().product();
    let mut input = Tensor::<f32>::zeros(&SHAPE).unwrap();
    for (n, value) in input.as_mut_slice().iter_mut().enumerate() {
        *value = n as f32;
    }
    for [start, stop, step] in [
        [[0, 0, 0], [3, 2048, 1408], [1, 2, 2]],
        [[1, 3, 5], [3, 2001, 1399], [1, 1, 2]],
        [[0, 100, 7], [2, 2048, 1301], [1, 3, 1]],
        [[2, 2047, 0], [-4, -2049, 1408], [-2, -1, 1]],
        [[1, 0, 0], [2, 2048, 1408], [1, 1, 1]],
        [[0, 0, 1], [3, 2048, 1408], [1, 1, 3]],
    ] {
        let along = |axis: usize| {
            let stop = if step[axis] < 0 { -1 } else { stop[axis] };
            let mut at = start[axis];
            std::iter::from_fn(move || {
                let here = at;
                at += step[axis];
                ((here < stop) == (step[axis] > 0) && here != stop).then_some(here as usize)
            })
        };
        let shape = [0, 1, 2].map(|axis| along(axis).count());
        let mut updates = Tensor::<f32>::zeros(&shape).unwrap();
        let mut expected = input.as_slice().to_vec();
        let cells = along(0).flat_map(|i| along(1).map(move |j| (i, j)));
        let cells = cells.flat_map(|(i, j)| along(2).map(move |k| (i * 2048 + j) * 1408 + k));
        for ((n, value), cell) in updates.as_mut_slice().iter_mut().enumerate().zip(cells) {
            *value = -1.0 - n as f32;
            expected[cell] = *value;
        }
        for threads in [1, 2, 3] {
            strew::set_num_threads(NonZeroUsize::new(threads));
            let made = strew::openvino::slice_scatter(&input, &updates, &start, &stop, &step, None)
                .unwrap();
            assert_eq!(made.as_slice().len(), len);
            assert!(made.as_slice() == expected, "{start:?} {step:?} {threads}");
        }
    }
}

/// Numbers below `limit`, in no order, the same for the same `state`.
fn below(state: &mut u64, limit: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    ((*state >> 33) % limit as u64) as usize
}

/// Rows that a plan reduces group by group into a destination that no cache holds; a few rows take nothing, and one takes many updates.
#[test]
fn rows_of_groups() {
    // New memory would be zeros without being cleared; that of a result that was dropped is not.
    strew::set_kept_memory(Some(1 << 30));
    for (rows, width) in [(150_000, 64), (500_000, 20)] {
        let updates = 4 * rows;
        let mut state = 3;
        let mut index = Vec::with_capacity(updates);
        for k in 0..updates {
            let row = match k {
                _ if k < rows => k,
                _ if k % 100 == 0 => 77,
                _ => below(&mut state, rows),
            };
            // Nothing goes to the first rows, to some in the middle, and to the last.
            let empty = row < 2 || (1000..1010).contains(&row) || row == rows - 1;
            index.push(if empty { 77 } else { row } as i64);
        }
        let mut src = Tensor::<f32>::zeros(&[updates, width]).unwrap();
        for (n, value) in src.as_mut_slice().iter_mut().enumerate() {
            *value = (n % 1013) as f32 / 16.0 - 20.0;
        }
        let mut sums = vec![0.0f32; rows * width];
        let mut most = vec![f32::NEG_INFINITY; rows * width];
        let mut counts = vec![0.0f32; rows];
        for (&row, values) in index.iter().zip(src.as_slice().chunks(width)) {
            let row = row as usize;
            counts[row] += 1.0;
            let cells = row * width..(row + 1) * width;
            let both = sums[cells.clone()].iter_mut().zip(&mut most[cells]);
            for ((sum, most), &value) in both.zip(values) {
                *sum += value;
                *most = most.max(value);
            }
        }
        let means = sums.iter().enumerate();
        let means: Vec<f32> = means
            .map(|(n, sum)| sum / counts[n / width].max(1.0))
            .collect();
        for (cell, count) in most.chunks_mut(width).zip(&counts) {
            if *count == 0.0 {
                cell.fill(0.0);
            }
        }
        let plan = strew::Plan::new(&index, Some(rows), Bounds::STRICT).unwrap();
        let plan = plan.with_way(Some(strew::Way::Grouped));
        let reduces = [strew::Reduce::Sum, strew::Reduce::Mean, strew::Reduce::Amax];
        for threads in [1, 2, 3] {
            let plan = plan.clone().with_threads(Some(threads));
            let together = plan.reduce(src.view(), 0, &reduces).unwrap();
            for ((reduce, expected), made) in
                reduces.iter().zip([&sums, &means, &most]).zip(together)
            {
                let alone = plan.scatter(src.view(), 0, *reduce).unwrap();
                assert!(alone.as_slice() == expected, "{reduce}, {threads} threads");
                assert!(
                    made.as_slice() == expected,
                    "{reduce} of three, {threads} threads"
                );
            }
        }
    }
}
