//! The loops. All of them take slices, and panic on an index that is out of range.
//!
//! Rows lie one after the other: row `r` of width `w` is `[r * w..][..w]`. A negative index becomes
//! a very large `usize`, which the bounds check refuses.

use std::ops::{AddAssign, MulAssign};

/// Adds the value to the cell.
pub fn add<T: AddAssign>(cell: &mut T, value: T) {
    *cell += value;
}

/// Multiplies the cell by the value.
pub fn multiply<T: MulAssign>(cell: &mut T, value: T) {
    *cell *= value;
}

/// Keeps the larger of the cell and the value. Unlike in the frameworks, NaN is no maximum.
pub fn larger<T: Copy + PartialOrd>(cell: &mut T, value: T) {
    // Not an `if` around the assignment: the compiler makes no vector instruction of that.
    *cell = if value > *cell { value } else { *cell };
}

/// Combines each value with the cell that its index names.
pub fn flat<T: Copy>(out: &mut [T], index: &[i64], src: &[T], combine: impl Fn(&mut T, T)) {
    for (&at, &value) in index.iter().zip(src) {
        combine(&mut out[at as usize], value);
    }
}

/// As [`flat`], by rows of a width that is known at run time only.
pub fn rows<T: Copy>(
    out: &mut [T],
    index: &[i64],
    src: &[T],
    width: usize,
    combine: impl Fn(&mut T, T),
) {
    for (&at, row) in index.iter().zip(src.chunks_exact(width)) {
        let cells = &mut out[at as usize * width..][..width];
        for (cell, &value) in cells.iter_mut().zip(row) {
            combine(cell, value);
        }
    }
}

/// As [`rows`], of a width that the compiler knows.
pub fn rows_of<T: Copy, const WIDTH: usize>(
    out: &mut [T],
    index: &[i64],
    src: &[T],
    combine: impl Fn(&mut T, T),
) {
    let (out, src) = (out.as_chunks_mut::<WIDTH>().0, src.as_chunks::<WIDTH>().0);
    for (&at, row) in index.iter().zip(src) {
        for (cell, &value) in out[at as usize].iter_mut().zip(row) {
            combine(cell, value);
        }
    }
}

/// Sums; an index that names no cell leaves its value out.
pub fn flat_drop(out: &mut [f32], index: &[i64], src: &[f32]) {
    for (&at, &value) in index.iter().zip(src) {
        if let Some(cell) = out.get_mut(at as usize) {
            *cell += value;
        }
    }
}

/// Sums; a negative index counts from the end.
pub fn flat_wrap(out: &mut [f32], index: &[i64], src: &[f32]) {
    let cells = out.len() as i64;
    for (&at, &value) in index.iter().zip(src) {
        let at = if at < 0 { at + cells } else { at };
        out[at as usize] += value;
    }
}

/// Sums; an index that names no cell means the nearest one.
pub fn flat_clip(out: &mut [f32], index: &[i64], src: &[f32]) {
    let last = out.len() as i64 - 1;
    for (&at, &value) in index.iter().zip(src) {
        out[at.clamp(0, last) as usize] += value;
    }
}

/// Sums of floats of 16 bits, rounded once.
pub fn flat_wide<T: Copy + Into<f32>>(
    out: &mut [T],
    index: &[i64],
    src: &[T],
    narrow: impl Fn(f32) -> T,
) {
    let mut sums = vec![0.0; out.len()];
    for (&at, &value) in index.iter().zip(src) {
        sums[at as usize] += value.into();
    }
    for (cell, sum) in out.iter_mut().zip(sums) {
        *cell = narrow(sum);
    }
}

/// As [`flat_wide`], by rows.
pub fn rows_wide<T: Copy + Into<f32>>(
    out: &mut [T],
    index: &[i64],
    src: &[T],
    width: usize,
    narrow: impl Fn(f32) -> T,
) {
    let mut sums = vec![0.0; out.len()];
    for (&at, row) in index.iter().zip(src.chunks_exact(width)) {
        let cells = &mut sums[at as usize * width..][..width];
        for (cell, &value) in cells.iter_mut().zip(row) {
            *cell += value.into();
        }
    }
    for (cell, sum) in out.iter_mut().zip(sums) {
        *cell = narrow(sum);
    }
}

/// Means of the rows that go to each cell: zeros where none does.
pub fn rows_mean(out: &mut [f32], index: &[i64], src: &[f32], width: usize) {
    rows(out, index, src, width, add);
    let counts = counted(index, width, out.len());
    for (cells, count) in out.chunks_exact_mut(width).zip(counts) {
        for cell in cells {
            *cell /= count.max(1.0);
        }
    }
}

/// Sums that leave out what was in a cell before its first value.
pub fn flat_fresh(out: &mut [f32], index: &[i64], src: &[f32]) {
    let mut touched = vec![false; out.len()];
    for (&at, &value) in index.iter().zip(src) {
        let (cell, touched) = (&mut out[at as usize], &mut touched[at as usize]);
        *cell = if *touched { *cell + value } else { value };
        *touched = true;
    }
}

/// As [`flat_fresh`], in two passes: what was in the cells is cleared first.
pub fn flat_cleared(out: &mut [f32], index: &[i64], src: &[f32]) {
    for &at in index {
        out[at as usize] = 0.0;
    }
    flat(out, index, src, add);
}

/// As [`flat_fresh`], by rows.
pub fn rows_fresh(out: &mut [f32], index: &[i64], src: &[f32], width: usize) {
    let mut touched = vec![false; out.len() / width];
    for (&at, row) in index.iter().zip(src.chunks_exact(width)) {
        let cells = &mut out[at as usize * width..][..width];
        if std::mem::replace(&mut touched[at as usize], true) {
            for (cell, &value) in cells.iter_mut().zip(row) {
                *cell += value;
            }
        } else {
            cells.copy_from_slice(row);
        }
    }
}

/// How often each cell is named.
pub fn counts(out: &mut [i64], index: &[i64]) {
    for &at in index {
        out[at as usize] += 1;
    }
}

/// The largest index; -1 if there is none.
pub fn largest(index: &[i64]) -> i64 {
    index.iter().fold(-1, |largest, &at| largest.max(at))
}

/// Sums of the elements of an array, each along an axis of length `axis` by an index of its own.
/// `inner` is the number of elements between two neighbours on that axis.
pub fn elements<T: Copy + AddAssign>(
    out: &mut [T],
    index: &[i64],
    src: &[T],
    axis: usize,
    inner: usize,
) {
    let parts = index
        .chunks_exact(axis * inner)
        .zip(src.chunks_exact(axis * inner));
    for (out, (index, src)) in out.chunks_exact_mut(axis * inner).zip(parts) {
        if inner == 1 {
            flat(out, index, src, add);
            continue;
        }
        for (index, src) in index.chunks_exact(inner).zip(src.chunks_exact(inner)) {
            for (k, (&at, &value)) in index.iter().zip(src).enumerate() {
                out[at as usize * inner + k] += value;
            }
        }
    }
}

/// Writes rows into planes of `columns` rows each. `index` has all planes' numbers, then all
/// columns'.
pub fn nd(out: &mut [f32], index: &[i64], src: &[f32], columns: usize, width: usize) {
    let (planes, places) = index.split_at(index.len() / 2);
    for ((&plane, &at), row) in planes.iter().zip(places).zip(src.chunks_exact(width)) {
        let plane = &mut out[plane as usize * columns * width..][..columns * width];
        plane[at as usize * width..][..width].copy_from_slice(row);
    }
}

/// Writes `src` into every `step`th row and column of a table from `start` on. Each has the
/// numbers for rows and for columns; `columns` is how many `out` and `src` have.
pub fn slice(
    out: &mut [f32],
    src: &[f32],
    columns: [usize; 2],
    start: [usize; 2],
    step: [usize; 2],
) {
    let lines = out
        .chunks_exact_mut(columns[0])
        .skip(start[0])
        .step_by(step[0]);
    for (line, row) in lines.zip(src.chunks_exact(columns[1])) {
        if step[1] == 1 {
            line[start[1]..][..row.len()].copy_from_slice(row);
            continue;
        }
        for (cell, &value) in line[start[1]..].iter_mut().step_by(step[1]).zip(row) {
            *cell = value;
        }
    }
}

/// Copies the row that each index names. It is the gradient of a sum, too.
pub fn gather<T: Copy>(out: &mut [T], index: &[i64], src: &[T], width: usize) {
    for (row, &at) in out.chunks_exact_mut(width).zip(index) {
        row.copy_from_slice(&src[at as usize * width..][..width]);
    }
}

/// As [`gather`], of a width that the compiler knows.
pub fn gather_of<T: Copy, const WIDTH: usize>(out: &mut [T], index: &[i64], src: &[T]) {
    let (out, src) = (out.as_chunks_mut::<WIDTH>().0, src.as_chunks::<WIDTH>().0);
    for (row, &at) in out.iter_mut().zip(index) {
        *row = src[at as usize];
    }
}

/// The gradient of a mean.
pub fn mean_back(out: &mut [f32], index: &[i64], grad: &[f32], width: usize) {
    let counts = counted(index, width, grad.len());
    for (row, &at) in out.chunks_exact_mut(width).zip(index) {
        let grads = &grad[at as usize * width..][..width];
        for (value, &grad) in row.iter_mut().zip(grads) {
            *value = grad / counts[at as usize];
        }
    }
}

/// The gradient of a maximum: to all updates that are equal to it.
pub fn amax_back(
    out: &mut [f32],
    index: &[i64],
    src: &[f32],
    largest: &[f32],
    grad: &[f32],
    width: usize,
) {
    let updates = src.chunks_exact(width).zip(index);
    for (row, (src, &at)) in out.chunks_exact_mut(width).zip(updates) {
        let largest = &largest[at as usize * width..][..width];
        let grad = &grad[at as usize * width..][..width];
        for ((value, &src), (&largest, &grad)) in
            row.iter_mut().zip(src).zip(largest.iter().zip(grad))
        {
            *value = if src == largest { grad } else { 0.0 };
        }
    }
}

/// The gradient of a product, of updates that are not zero.
pub fn prod_back(
    out: &mut [f32],
    index: &[i64],
    src: &[f32],
    product: &[f32],
    grad: &[f32],
    width: usize,
) {
    let updates = src.chunks_exact(width).zip(index);
    for (row, (src, &at)) in out.chunks_exact_mut(width).zip(updates) {
        let product = &product[at as usize * width..][..width];
        let grad = &grad[at as usize * width..][..width];
        for ((value, &src), (&product, &grad)) in
            row.iter_mut().zip(src).zip(product.iter().zip(grad))
        {
            *value = grad * product / src;
        }
    }
}

/// Adds a row of `nodes` to one of `out` for each edge. The gradient is the same loop with the ends
/// of the edges exchanged.
pub fn edges(out: &mut [f32], to: &[i64], from: &[i64], nodes: &[f32], width: usize) {
    for (&to, &from) in to.iter().zip(from) {
        let cells = &mut out[to as usize * width..][..width];
        for (cell, &value) in cells
            .iter_mut()
            .zip(&nodes[from as usize * width..][..width])
        {
            *cell += value;
        }
    }
}

/// How many updates each row has, as numbers to divide by: exact up to 2^24.
fn counted(index: &[i64], width: usize, cells: usize) -> Vec<f32> {
    let mut counts = vec![0.0; cells / width];
    for &at in index {
        counts[at as usize] += 1.0;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    const INDEX: [i64; 4] = [2, 0, 2, 2];
    const SRC: [f32; 4] = [1.0, 2.0, 4.0, 3.0];
    const PAIRS: [f32; 8] = [1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 3.0, -3.0];

    #[test]
    fn flat_reductions() {
        let reduced = |combine: fn(&mut f32, f32)| {
            let mut out = [1.0; 3];
            flat(&mut out, &INDEX, &SRC, combine);
            out
        };
        assert_eq!(reduced(add), [3.0, 1.0, 9.0]);
        assert_eq!(reduced(multiply), [2.0, 1.0, 12.0]);
        assert_eq!(reduced(larger), [2.0, 1.0, 4.0]);
        for fresh in [flat_fresh, flat_cleared] {
            let mut out = [5.0; 3];
            fresh(&mut out, &INDEX, &SRC);
            assert_eq!(out, [2.0, 5.0, 8.0]);
        }
        let mut out = [0; 3];
        counts(&mut out, &INDEX);
        assert_eq!((out, largest(&INDEX), largest(&[])), ([1, 0, 3], 2, -1));
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_negative_index_is_refused() {
        flat(&mut [0], &[-1], &[1], add);
    }

    #[test]
    fn reductions_of_rows() {
        let right = [2.0, -2.0, 0.0, 0.0, 8.0, -8.0];
        let mut out = [0.0; 6];
        rows(&mut out, &INDEX, &PAIRS, 2, add);
        assert_eq!(out, right);
        let mut out = [0.0; 6];
        rows_of::<_, 2>(&mut out, &INDEX, &PAIRS, add);
        assert_eq!(out, right);
        let mut out = [5.0, 5.0, 5.0, 5.0, 5.0, 5.0];
        rows_fresh(&mut out, &INDEX, &PAIRS, 2);
        assert_eq!(out, [2.0, -2.0, 5.0, 5.0, 8.0, -8.0]);
        let mut out = [0.0; 6];
        rows_mean(&mut out, &INDEX, &PAIRS, 2);
        assert_eq!(out, [2.0, -2.0, 0.0, 0.0, 8.0 / 3.0, -8.0 / 3.0]);
    }

    #[test]
    fn sums_of_16_bits_are_rounded_once() {
        // In float16, 2048 + 1 is 2048.
        let src = [2048.0, 1.0, 1.0, 1.0].map(f16::from_f32);
        let mut out = [f16::ZERO; 2];
        flat_wide(&mut out, &[0, 0, 0, 1], &src, f16::from_f32);
        assert_eq!(out.map(f16::to_f32), [2050.0, 1.0]);
        rows_wide(&mut out, &[0, 0], &src, 2, f16::from_f32);
        assert_eq!(
            out.map(f16::to_f32),
            [2049.0, 2.0].map(|v| f16::from_f32(v).to_f32())
        );
    }

    #[test]
    fn elements_along_each_axis() {
        let (index, src) = ([1, 0, 1, 1], [1.0, 2.0, 4.0, 8.0]);
        let along = |axis, inner| {
            let mut out = [0.0; 4];
            elements(&mut out, &index, &src, axis, inner);
            out
        };
        assert_eq!(along(2, 2), [0.0, 2.0, 5.0, 8.0]);
        assert_eq!(along(2, 1), [2.0, 1.0, 0.0, 12.0]);
    }

    #[test]
    fn assignments() {
        let mut out = [0.0; 8];
        nd(&mut out, &[1, 0, 0, 1], &[1.0, 2.0, 3.0, 4.0], 2, 2);
        assert_eq!(out, [0.0, 0.0, 3.0, 4.0, 1.0, 2.0, 0.0, 0.0]);
        let mut out = [0.0; 8];
        slice(&mut out, &[1.0, 2.0], [4, 2], [1, 1], [1, 2]);
        assert_eq!(out, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0]);
        let mut out = [0.0; 8];
        slice(&mut out, &[1.0, 2.0], [4, 2], [1, 1], [1, 1]);
        assert_eq!(out, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0]);
    }

    #[test]
    fn rows_by_index() {
        let right = [4.0, -4.0, 1.0, -1.0];
        let mut out = [0.0; 4];
        gather(&mut out, &[2, 0], &PAIRS, 2);
        assert_eq!(out, right);
        let mut out = [0.0; 4];
        gather_of::<_, 2>(&mut out, &[2, 0], &PAIRS);
        assert_eq!(out, right);
        let mut out = [0.0; 4];
        edges(&mut out, &[1, 1], &[2, 0], &PAIRS, 2);
        assert_eq!(out, [0.0, 0.0, 5.0, -5.0]);
    }

    #[test]
    fn gradients() {
        let grad = [1.0, 5.0, 6.0];
        let mut out = [0.0; 4];
        mean_back(&mut out, &INDEX, &grad, 1);
        assert_eq!(out, [2.0, 1.0, 2.0, 2.0]);
        amax_back(&mut out, &INDEX, &SRC, &[2.0, 0.0, 4.0], &grad, 1);
        assert_eq!(out, [0.0, 1.0, 6.0, 0.0]);
        prod_back(&mut out, &INDEX, &SRC, &[2.0, 1.0, 12.0], &grad, 1);
        assert_eq!(out, [72.0, 1.0, 18.0, 24.0]);
    }
}
