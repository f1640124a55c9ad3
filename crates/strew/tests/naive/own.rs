//! strew's own scatter and gather.

use super::canonical::resolve;
use super::number::write;
use super::{Array, Num, Outcome, coordinates, torch};
use strew::Bounds;

/// The index with `src`'s shape: a 1-d index lies along `dim`, others as NumPy broadcasts.
fn expand(index: &Array, shape: &[usize], dim: usize) -> Array {
    let mut aligned = index.clone();
    if index.shape.len() == 1 {
        aligned.shape.resize(shape.len() - dim, 1);
    }
    let lead = shape.len() - aligned.shape.len();
    let mut all = Array::filled(index.dtype, shape, 0);
    for (at, c) in coordinates(shape).enumerate() {
        let own: Vec<usize> = c[lead..]
            .iter()
            .zip(&aligned.shape)
            .map(|(&c, &n)| if n == 1 { 0 } else { c })
            .collect();
        all.data[at] = aligned.data[aligned.flat(&own)];
    }
    all
}

/// `into` is what is there, or what a new result starts from. `None`: an index names no cell.
pub(crate) fn scatter(
    src: &Array,
    index: &Array,
    dim: usize,
    into: &Array,
    reduce: &str,
    include_self: bool,
    bounds: Bounds,
) -> Option<Outcome> {
    let size = into.shape[dim];
    let mut index = expand(index, &src.shape, dim);
    // What is left out goes to a slice behind the last one.
    let mut wide_shape = into.shape.clone();
    wide_shape[dim] += 1;
    let mut wide = Array::filled(into.dtype, &wide_shape, 0);
    for (at, c) in coordinates(&into.shape).enumerate() {
        let to = wide.flat(&c);
        wide.data[to] = into.data[at];
    }
    let places: Option<Vec<i64>> = (0..index.data.len())
        .map(|at| {
            let place = resolve(bounds, index.int(at), size).ok()?;
            Some(place.unwrap_or(size) as i64)
        })
        .collect();
    index = Array::of_ints(strew::DType::I64, &index.shape, &places?);
    let found = match reduce {
        "assign" => torch::scatter(&wide, dim, &index, src, "assign"),
        _ => torch::scatter_reduce(&wide, dim, &index, src, reduce, include_self),
    };
    let mut out = Outcome::untouched(into.clone());
    for (at, c) in coordinates(&into.shape).enumerate() {
        let from = found.array.flat(&c);
        out.array.data[at] = found.array.data[from];
        out.touched[at] = found.touched[from];
    }
    Some(out)
}

/// What a new result starts from, and whether that is an element of it.
pub(crate) fn fresh(src: &Array, shape: &[usize], reduce: &str, fill: Option<u128>) -> Array {
    let usual = match reduce {
        "prod" => write(src.dtype, Num::one(src.dtype)),
        _ => 0,
    };
    Array::filled(src.dtype, shape, fill.unwrap_or(usual))
}

/// Of a source that has been broadcast; what is left out is `fill`. `None`: an index names no element.
pub(crate) fn gather(
    src: &Array,
    index: &Array,
    dim: usize,
    fill: u128,
    bounds: Bounds,
) -> Option<Array> {
    let mut shape = src.shape.clone();
    shape[dim] = index.shape[if index.shape.len() == 1 { 0 } else { dim }];
    let index = expand(index, &shape, dim);
    let mut out = Array::filled(src.dtype, &shape, fill);
    for (at, mut c) in coordinates(&shape).enumerate() {
        if let Some(place) = resolve(bounds, index.int(at), src.shape[dim]).ok()? {
            c[dim] = place;
            out.data[at] = src.data[src.flat(&c)];
        }
    }
    Some(out)
}
