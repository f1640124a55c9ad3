//! PyTorch's scatters, cell by cell: `self[.., index[i, .., k], ..]` joins `src[i, .., k]`.

use super::array::Fold;
use super::number::{extremes, read};
use super::{Array, Num, Outcome, coordinates, exact};

/// `dim` is not negative here; 0-d arrays count as 1-d.
pub(crate) fn scatter_reduce(
    input: &Array,
    dim: usize,
    index: &Array,
    src: &Array,
    reduce: &str,
    include_self: bool,
) -> Outcome {
    let dtype = input.dtype;
    let one = |a: &Array| {
        let mut a = a.clone();
        if a.shape.is_empty() {
            a.shape.push(1);
        }
        a
    };
    let (index, src) = (one(index), one(src));
    let rounds = dtype.is_float() || dtype.is_complex();
    let reduce = match reduce.strip_prefix("exact_") {
        Some(word) if rounds => {
            let (whole, mean) = (one(input), word == "mean");
            let mut out = exact::scatter_reduce(&whole, dim, &index, &src, mean, include_self);
            out.array.shape.clone_from(&input.shape);
            return out;
        }
        // Those of integers are exact.
        Some(word) => word,
        None => reduce,
    };
    let mut out = Outcome::untouched(one(input));
    let mut fold = Fold::new(&out.array);
    for c in coordinates(&index.shape) {
        let mut cell = c.clone();
        cell[dim] = index.int(index.flat(&c)) as usize;
        let to = out.array.flat(&cell);
        let bits = src.data[src.flat(&c)];
        let value = read(dtype, bits);
        let first = !std::mem::replace(&mut out.touched[to], true);
        let cell = &mut out.array.data[to];
        match reduce {
            "sum" | "mean" if include_self => fold.sum(to, read(dtype, *cell), value),
            "sum" | "mean" => fold.sum(to, Num::zero(dtype), value),
            "prod" if include_self => fold.prod(to, read(dtype, *cell), value),
            "prod" => fold.prod(to, Num::one(dtype), value),
            _ => {
                let max = reduce == "amax" || reduce == "max";
                if first && !include_self {
                    let (low, high) = extremes(dtype);
                    *cell = if max { low } else { high };
                }
                let current = read(dtype, *cell);
                let beats = if max {
                    current.less(value)
                } else {
                    value.less(current)
                };
                // NaN wins, whichever side it is on.
                if value.is_nan() || (beats && !current.is_nan()) {
                    *cell = bits;
                }
            }
        }
    }
    let mean = (reduce == "mean").then_some(u64::from(include_self));
    fold.finish(&mut out.array, mean);
    out.array.shape.clone_from(&input.shape);
    out
}

/// A 0-d array as one of shape `[1]`.
fn one(a: &Array) -> Array {
    let mut a = a.clone();
    if a.shape.is_empty() {
        a.shape.push(1);
    }
    a
}

/// How an update joins its cell: `"assign"`, `"add"` or `"multiply"`.
struct Joined {
    out: Outcome,
    fold: Fold,
    how: &'static str,
    shape: Vec<usize>,
}

impl Joined {
    fn new(input: &Array, how: &'static str) -> Self {
        let out = Outcome::untouched(one(input));
        Self {
            fold: Fold::new(&out.array),
            out,
            how,
            shape: input.shape.clone(),
        }
    }

    fn update(&mut self, cell: &[usize], bits: u128) {
        let to = self.out.array.flat(cell);
        let value = read(self.out.array.dtype, bits);
        let current = self.out.array.num(to);
        self.out.touched[to] = true;
        match self.how {
            "assign" => self.out.array.data[to] = bits,
            "add" => self.fold.sum(to, current, value),
            "multiply" => self.fold.prod(to, current, value),
            other => panic!("{other}"),
        }
    }

    fn done(mut self) -> Outcome {
        self.fold.finish(&mut self.out.array, None);
        self.out.array.shape = self.shape;
        self.out
    }
}

/// `src` may be a single element for all of the index.
pub(crate) fn scatter(
    input: &Array,
    dim: usize,
    index: &Array,
    src: &Array,
    how: &'static str,
) -> Outcome {
    let (index, constant, src) = (
        one(index),
        src.data.len() == 1 && src.shape.is_empty(),
        one(src),
    );
    let mut joined = Joined::new(input, how);
    for c in coordinates(&index.shape) {
        let mut cell = c.clone();
        cell[dim] = index.int(index.flat(&c)) as usize;
        let bits = if constant {
            src.data[0]
        } else {
            src.data[src.flat(&c)]
        };
        joined.update(&cell, bits);
    }
    joined.done()
}

pub(crate) fn gather(input: &Array, dim: usize, index: &Array) -> Array {
    let (whole, shape) = (one(input), index.shape.clone());
    let index = one(index);
    let mut out = Array::filled(input.dtype, &index.shape, 0);
    for c in coordinates(&index.shape) {
        let mut cell = c.clone();
        cell[dim] = index.int(index.flat(&c)) as usize;
        let at = out.flat(&c);
        out.data[at] = whole.data[whole.flat(&cell)];
    }
    out.shape = shape;
    out
}

/// Slice `i` of `source` along `dim` joins slice `index[i]` of the input; `source` may be a single
/// element for all of them.
pub(crate) fn index_join(
    input: &Array,
    dim: usize,
    index: &Array,
    source: &Array,
    how: &'static str,
) -> Outcome {
    let wide = expanded(&one(input).shape, dim, index);
    scatter(input, dim, &wide, source, how)
}

/// A vector of indices along `dim`, for every element of the slices.
pub(crate) fn expanded(shape: &[usize], dim: usize, index: &Array) -> Array {
    let mut slices = shape.to_vec();
    slices[dim] = index.data.len();
    let mut wide = Array::filled(index.dtype, &slices, 0);
    for c in coordinates(&slices) {
        let at = wide.flat(&c);
        let value = index.int(c[dim]);
        let value = if value < 0 {
            value + shape[dim] as i128
        } else {
            value
        };
        wide.data[at] = super::number::write(index.dtype, Num::Int(value));
    }
    wide
}

/// Elements of `source`, row by row, go to positions counted row by row.
pub(crate) fn put(input: &Array, positions: &[i64], source: &[u128], how: &'static str) -> Outcome {
    let cells: Vec<_> = coordinates(&one(input).shape).collect();
    let mut joined = Joined::new(input, how);
    for (&at, &bits) in positions.iter().zip(source) {
        let at = if at < 0 { at + cells.len() as i64 } else { at };
        joined.update(&cells[at as usize], bits);
    }
    joined.done()
}

/// `input[indices] = values`, where `values` holds an element for each cell that is named: for each
/// coordinate of the index tensors' shape, for each of the axes that are taken whole.
pub(crate) fn index_put(
    input: &Array,
    axes: &[usize],
    tuples: &[Vec<i64>],
    values: &[u128],
    how: &'static str,
) -> Outcome {
    let rest: Vec<usize> = (0..input.shape.len())
        .filter(|a| !axes.contains(a))
        .collect();
    let window: Vec<usize> = rest.iter().map(|&a| input.shape[a]).collect();
    let mut joined = Joined::new(input, how);
    let mut values = values.iter();
    for tuple in tuples {
        for c in coordinates(&window) {
            let mut cell = vec![0; input.shape.len()];
            for (&axis, &at) in axes.iter().zip(tuple) {
                let size = input.shape[axis] as i64;
                cell[axis] = (if at < 0 { at + size } else { at }) as usize;
            }
            for (&axis, at) in rest.iter().zip(c) {
                cell[axis] = at;
            }
            joined.update(&cell, *values.next().unwrap());
        }
    }
    joined.done()
}
