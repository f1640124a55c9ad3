//! torch_scatter's `segment_coo`, `segment_csr`, `gather_coo` and `gather_csr`.

use super::number::{extremes, finite_extremes, read, write};
use super::{Array, Num, Outcome, coordinates};
use strew::DType;

/// An index seen with as many leading axes as it has: axes of size 1 repeat.
pub(crate) fn expand(index: &Array, shape: &[usize]) -> Array {
    assert_eq!(index.shape.len(), shape.len());
    let mut all = Array::filled(index.dtype, shape, 0);
    for (at, mut c) in coordinates(shape).enumerate() {
        for (c, &n) in c.iter_mut().zip(&index.shape) {
            *c = if n == 1 { 0 } else { *c };
        }
        all.data[at] = index.data[index.flat(&c)];
    }
    all
}

/// A mean as C divides: integers toward zero.
fn quotient(total: Num, count: u64) -> Num {
    match total {
        Num::Int(sum) => Num::Int(sum / i128::from(count)),
        other => other.divide(count),
    }
}

/// `index` is not expanded yet, and ascends along its last axis.
pub(crate) fn segment_coo(
    src: &Array,
    index: &Array,
    out: Option<&Array>,
    dim_size: Option<usize>,
    reduce: &str,
) -> Outcome {
    let dtype = src.dtype;
    let dim = index.shape.len() - 1;
    let index = expand(index, &src.shape[..=dim]);
    let mut shape = src.shape.clone();
    shape[dim] = dim_size.unwrap_or_else(|| {
        let values = (0..index.data.len()).map(|at| index.int(at) as usize + 1);
        values.max().unwrap_or(0)
    });
    let extreme = reduce == "min" || reduce == "max";
    let start = match reduce {
        "min" => finite_extremes(dtype).1,
        "max" => finite_extremes(dtype).0,
        _ => 0,
    };
    let fresh = Array::filled(dtype, &shape, start);
    let mut all = Outcome::untouched(out.unwrap_or(&fresh).clone());
    let none = src.shape[dim] as i64;
    let mut arg = vec![none; all.array.data.len()];
    let mut sums: Vec<Option<(Num, u64)>> = vec![None; all.array.data.len()];
    for (at, c) in coordinates(&src.shape).enumerate() {
        let mut cell = c.clone();
        cell[dim] = index.int(index.flat(&c[..=dim])) as usize;
        let to = all.array.flat(&cell);
        let value = read(dtype, src.data[at]);
        let current = all.array.num(to);
        all.touched[to] = true;
        if !extreme {
            let (sum, count) = sums[to].unwrap_or((current, 0));
            sums[to] = Some((sum.add(dtype, value), count + 1));
            continue;
        }
        // No bool is beyond both: the first one of a new cell wins.
        let first = dtype == DType::Bool && out.is_none() && arg[to] == none;
        let beats = match reduce {
            "min" => value.less(current),
            _ => current.less(value),
        };
        if first || beats {
            all.array.data[to] = src.data[at];
            arg[to] = c[dim] as i64;
        }
    }
    for (bits, sum) in all.array.data.iter_mut().zip(sums) {
        if let Some((sum, count)) = sum {
            let mean = reduce == "mean";
            *bits = write(dtype, if mean { quotient(sum, count) } else { sum });
        }
    }
    if extreme && out.is_none() {
        for (bits, &arg) in all.array.data.iter_mut().zip(&arg) {
            *bits = if arg == none { 0 } else { *bits };
        }
    }
    all.arg = Some(arg);
    all
}

/// `indptr` is not expanded yet; all of `out` would be overwritten.
pub(crate) fn segment_csr(src: &Array, indptr: &Array, reduce: &str) -> Outcome {
    let dtype = src.dtype;
    let dim = indptr.shape.len() - 1;
    let mut wanted = src.shape[..dim].to_vec();
    wanted.push(indptr.shape[dim]);
    let indptr = expand(indptr, &wanted);
    let mut shape = src.shape.clone();
    shape[dim] = indptr.shape[dim].saturating_sub(1);
    let mut all = Outcome::untouched(Array::filled(dtype, &shape, 0));
    let mut args = Vec::new();
    for (at, c) in coordinates(&shape).enumerate() {
        let mut pointer = c[..=dim].to_vec();
        let start = indptr.int(indptr.flat(&pointer)) as usize;
        pointer[dim] += 1;
        let end = indptr.int(indptr.flat(&pointer)) as usize;
        let element = |k: usize| {
            let mut from = c.clone();
            from[dim] = k;
            src.data[src.flat(&from)]
        };
        let mut sum = Num::zero(dtype);
        let mut winner: Option<usize> = None;
        for k in start..end {
            let value = read(dtype, element(k));
            if reduce != "min" && reduce != "max" {
                sum = sum.add(dtype, value);
                continue;
            }
            // NaN never wins, and of equal elements the first stays.
            let wins = match winner.map(|best| read(dtype, element(best))) {
                None => !value.is_nan(),
                Some(best) if reduce == "min" => value.less(best),
                Some(best) => best.less(value),
            };
            winner = if wins { Some(k) } else { winner };
        }
        all.touched[at] = true;
        let count = end.saturating_sub(start) as u64;
        all.array.data[at] = match reduce {
            "min" | "max" => winner.map_or(0, element),
            "mean" if count > 0 => write(dtype, quotient(sum, count)),
            _ => write(dtype, sum),
        };
        args.push(winner.map_or(src.shape[dim] as i64, |k| k as i64));
    }
    all.arg = Some(args);
    all
}

/// The leading sizes of `index` are `src`'s.
pub(crate) fn gather_coo(src: &Array, index: &Array) -> Outcome {
    let dim = index.shape.len() - 1;
    let mut shape = src.shape.clone();
    shape[dim] = index.shape[dim];
    let mut all = Outcome::untouched(Array::filled(src.dtype, &shape, 0));
    for (at, c) in coordinates(&shape).enumerate() {
        let mut from = c.clone();
        from[dim] = index.int(index.flat(&c[..=dim])) as usize;
        all.array.data[at] = src.data[src.flat(&from)];
        all.touched[at] = true;
    }
    all
}

pub(crate) fn gather_csr(src: &Array, indptr: &Array, out: Option<&Array>) -> Outcome {
    let dim = indptr.shape.len() - 1;
    let mut shape = src.shape.clone();
    let last = indptr.data.len().checked_sub(1);
    shape[dim] = match last {
        Some(last) if !src.data.is_empty() => indptr.int(last) as usize,
        _ => 0,
    };
    let mut wanted = src.shape[..dim].to_vec();
    wanted.push(indptr.shape[dim]);
    let indptr = expand(indptr, &wanted);
    let fresh = Array::filled(src.dtype, &shape, 0);
    let mut all = Outcome::untouched(out.unwrap_or(&fresh).clone());
    for (at, c) in coordinates(&src.shape).enumerate() {
        let mut pointer = c[..=dim].to_vec();
        let start = indptr.int(indptr.flat(&pointer)) as usize;
        pointer[dim] += 1;
        let end = indptr.int(indptr.flat(&pointer)) as usize;
        for row in start..end {
            let mut to = c.clone();
            to[dim] = row;
            let to = all.array.flat(&to);
            all.array.data[to] = src.data[at];
            all.touched[to] = true;
        }
    }
    all
}

/// PyTorch's `segment_reduce`, by offsets that have `data`'s sizes up to their last axis.
pub(crate) fn segment_reduce(
    data: &Array,
    offsets: &Array,
    reduce: &str,
    initial: Option<Num>,
) -> Outcome {
    let dtype = data.dtype;
    let axis = offsets.shape.len() - 1;
    let mut shape = data.shape.clone();
    shape[axis] = offsets.shape[axis] - 1;
    let mut all = Outcome::untouched(Array::filled(dtype, &shape, 0));
    all.touched.fill(true);
    for (at, c) in coordinates(&shape).enumerate() {
        let mut pointer = c[..=axis].to_vec();
        let start = offsets.int(offsets.flat(&pointer)) as usize;
        pointer[axis] += 1;
        let end = offsets.int(offsets.flat(&pointer)) as usize;
        let mut result = initial.unwrap_or(match reduce {
            "prod" => Num::one(dtype),
            "amax" => read(dtype, extremes(dtype).0),
            "amin" => read(dtype, extremes(dtype).1),
            _ => Num::zero(dtype),
        });
        for k in start..end {
            let mut from = c.clone();
            from[axis] = k;
            let value = read(dtype, data.data[data.flat(&from)]);
            result = match reduce {
                "prod" => result.mul(dtype, value),
                "amax" if value.is_nan() || result.less(value) => value,
                "amin" if value.is_nan() || value.less(result) => value,
                "amax" | "amin" => result,
                _ => result.add(dtype, value),
            };
        }
        if reduce == "mean" && end > start {
            result = result.divide((end - start) as u64);
        } else if reduce == "mean" && initial.is_none() {
            all.array.data[at] = match dtype {
                DType::F64 => f64::NAN.to_bits().into(),
                DType::C128 => u128::from(f64::NAN.to_bits()),
                DType::C64 | DType::F32 => f32::NAN.to_bits().into(),
                _ => write(dtype, Num::F32(f32::NAN)),
            };
            continue;
        }
        all.array.data[at] = write(dtype, result);
    }
    all
}
