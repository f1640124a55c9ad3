//! `torch.scatter_reduce`: `self[.., index[i, .., k], ..]` joins `src[i, .., k]`.

use super::array::Fold;
use super::number::{extremes, read};
use super::{Array, Num, Outcome, coordinates};

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
