//! `torch_scatter.scatter` and its `scatter_min`, `scatter_max`.

use super::array::Fold;
use super::number::{finite_extremes, read};
use super::{Array, Num, Outcome, coordinates};
use strew::DType;

/// The index with `src`'s shape: a 1-d index lies along `dim`, others are padded on the right.
pub(crate) fn expand(index: &Array, src: &Array, dim: usize) -> Array {
    let mut padded = index.clone();
    if index.shape.len() == 1 {
        padded.shape = vec![1; dim];
        padded.shape.extend(&index.shape);
    }
    padded.shape.resize(src.shape.len(), 1);
    let mut all = Array::filled(index.dtype, &src.shape, 0);
    for (at, mut c) in coordinates(&src.shape).enumerate() {
        for (c, &n) in c.iter_mut().zip(&padded.shape) {
            *c = if n == 1 { 0 } else { *c };
        }
        all.data[at] = padded.data[padded.flat(&c)];
    }
    all
}

/// `dim` is not negative here.
pub(crate) fn scatter(
    src: &Array,
    index: &Array,
    dim: usize,
    out: Option<&Array>,
    dim_size: Option<usize>,
    reduce: &str,
) -> Outcome {
    let dtype = src.dtype;
    let index = expand(index, src, dim);
    let mut shape = src.shape.clone();
    shape[dim] = match dim_size {
        Some(size) => size,
        None => (0..index.data.len())
            .map(|at| index.int(at) as usize + 1)
            .max()
            .unwrap_or(0),
    };
    let start = match reduce {
        "mul" if !src.data.is_empty() => super::number::write(dtype, Num::one(dtype)),
        "min" if !src.data.is_empty() => finite_extremes(dtype).1,
        "max" if !src.data.is_empty() => finite_extremes(dtype).0,
        _ => 0,
    };
    let fresh = Array::filled(dtype, &shape, start);
    let mut all = Outcome::untouched(out.unwrap_or(&fresh).clone());
    let along = src.shape[dim] as i64;
    let mut arg = vec![along; all.array.data.len()];
    let mut fold = Fold::new(&all.array);
    for (at, c) in coordinates(&src.shape).enumerate() {
        let mut cell = c.clone();
        cell[dim] = index.int(at) as usize;
        let to = all.array.flat(&cell);
        let value = read(dtype, src.data[at]);
        let current = all.array.num(to);
        let wins = match reduce {
            "mul" => {
                fold.prod(to, current, value);
                false
            }
            // Strictly better only: NaN never is, and of equal elements the first stays.
            // bool has no value beyond its own, so the first element of a new cell always wins.
            "min" => value.less(current) || (first_bool(dtype, out, &arg, to, along)),
            "max" => current.less(value) || (first_bool(dtype, out, &arg, to, along)),
            _ => {
                fold.sum(to, current, value);
                false
            }
        };
        if wins {
            all.array.data[to] = src.data[at];
            arg[to] = c[dim] as i64;
        }
        all.touched[to] = true;
    }
    // Only src's elements are counted.
    fold.finish(&mut all.array, (reduce == "mean").then_some(0));
    if out.is_none() && (reduce == "min" || reduce == "max") {
        for (cell, (bits, arg)) in all.array.data.iter_mut().zip(&arg).enumerate() {
            // Nobody has beaten the start.
            if *arg == along {
                assert_eq!(*bits, start, "cell {cell}");
                *bits = 0;
            }
        }
    }
    all.arg = Some(arg);
    all
}

fn first_bool(dtype: DType, out: Option<&Array>, arg: &[i64], to: usize, along: i64) -> bool {
    dtype == DType::Bool && out.is_none() && arg[to] == along
}
