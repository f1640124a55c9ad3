//! New destinations that a run begins itself, in memory that is full of something else.
//!
//! One test, so that nobody else is given that memory.

use std::num::NonZeroUsize;
use strew::torch_scatter::{Reduce, scatter};
use strew::{Element, Tensor, f16, set_num_threads};

/// Numbers below `end` that look random.
fn below(end: usize, count: usize) -> Vec<usize> {
    let spread = |n: usize| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    (0..count).map(|n| spread(n + 1) % end).collect()
}

fn tensor<T: Element>(shape: &[usize], value: impl Fn(usize) -> T) -> Tensor<T> {
    let mut made = Tensor::zeros(shape).unwrap();
    let elements = made.as_mut_slice().iter_mut().enumerate();
    elements.for_each(|(n, element)| *element = value(n));
    made
}

/// Makes a tensor where another one of this shape has left its values.
fn in_used_memory<T: Element + PartialEq>(
    what: &str,
    expected: &[T],
    left: T,
    make: impl Fn() -> Tensor<T>,
) {
    for threads in [1, 2, 3] {
        set_num_threads(NonZeroUsize::new(threads));
        let shape = make().shape().to_vec();
        // Of memory of the same size, what is freed last is taken first.
        let before = tensor(&shape, |_| left).as_slice().as_ptr().addr();
        let made = make();
        let here = made.as_slice().as_ptr().addr();
        assert_eq!(here, before, "{what}: the memory is another");
        assert!(made.as_slice() == expected, "{what}, {threads} threads");
    }
    set_num_threads(None);
}

#[test]
fn what_was_there_before_is_gone() {
    assigned_rows();
    tiles();
    rounded_rows();
    blocks();
}

/// A third of the rows gets nothing: those are set to zero in the end.
fn assigned_rows() {
    const ROWS: usize = 300_000;
    const WIDTH: usize = 32;
    let rows = below(ROWS, ROWS);
    let index = tensor(&[1, ROWS], |n| rows[n] as i64);
    let data = tensor(&[ROWS, WIDTH], |n| n as f32 + 0.5);
    let mut expected = vec![0.0; ROWS * WIDTH];
    for (row, values) in rows.iter().zip(data.as_slice().chunks(WIDTH)) {
        expected[row * WIDTH..][..WIDTH].copy_from_slice(values);
    }
    in_used_memory("assigned rows", &expected, f32::NAN, || {
        strew::mxnet::scatter_nd(&data, &index, &[ROWS, WIDTH], None).unwrap()
    });
}

/// Sums along columns that are far apart.
fn tiles() {
    const ROWS: usize = 64;
    const COLUMNS: usize = 140_000;
    const UPDATES: usize = 40;
    let rows = below(ROWS, UPDATES * COLUMNS);
    let index = tensor(&[UPDATES, COLUMNS], |n| rows[n] as i64);
    let src = tensor(&[UPDATES, COLUMNS], |n| (n % 1000) as f32);
    let mut expected = vec![0.0; ROWS * COLUMNS];
    for (n, (row, value)) in rows.iter().zip(src.as_slice()).enumerate() {
        expected[row * COLUMNS + n % COLUMNS] += value;
    }
    in_used_memory("tiles", &expected, f32::NAN, || {
        scatter(&src, &index, 0, Some(ROWS), Reduce::Sum).unwrap()
    });
}

/// Sums of 16-bit floats, in rows that a float32 table has as well.
fn rounded_rows() {
    const ROWS: usize = 280_000;
    const WIDTH: usize = 64;
    const UPDATES: usize = 100_000;
    let rows = below(ROWS, UPDATES);
    let index = tensor(&[UPDATES, 1], |n| rows[n] as i64);
    let src = tensor(&[UPDATES, WIDTH], |n| f16::from_f32((n % 50) as f32));
    let mut sums = vec![0.0f32; ROWS * WIDTH];
    for (row, values) in rows.iter().zip(src.as_slice().chunks(WIDTH)) {
        for (sum, value) in sums[row * WIDTH..].iter_mut().zip(values) {
            *sum += value.to_f32();
        }
    }
    let expected: Vec<f16> = sums.into_iter().map(f16::from_f32).collect();
    in_used_memory("rounded rows", &expected, f16::NAN, || {
        scatter(&src, &index, 0, Some(ROWS), Reduce::Sum).unwrap()
    });
}

/// Single updates all over a destination that no cache holds.
fn blocks() {
    const CELLS: usize = (17 << 20) + 5;
    const UPDATES: usize = 300_000;
    let cells = below(CELLS, UPDATES);
    let index = tensor(&[UPDATES], |n| cells[n] as i64);
    let src = tensor(&[UPDATES], |n| (n % 1000) as f32);
    let mut expected = vec![0.0; CELLS];
    for (cell, value) in cells.iter().zip(src.as_slice()) {
        expected[*cell] += value;
    }
    in_used_memory("blocks", &expected, f32::NAN, || {
        scatter(&src, &index, 0, Some(CELLS), Reduce::Sum).unwrap()
    });
}
