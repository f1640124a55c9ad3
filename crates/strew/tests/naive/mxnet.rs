//! `mxnet.scatter_nd`: the tuples `indices[:, y]` name slices of a new array of zeros; the last
//! slice that is written stays.

use super::{Array, Outcome, coordinates};

pub(crate) fn scatter_nd(data: &Array, indices: &Array, shape: &[usize]) -> Outcome {
    let depth = indices.shape[0];
    let mut out = Outcome::untouched(Array::filled(data.dtype, shape, 0));
    for y in coordinates(&indices.shape[1..]) {
        let mut cell: Vec<usize> = (0..depth)
            .map(|m| indices.int(indices.flat(&[&[m], &y[..]].concat())) as usize)
            .collect();
        cell.resize(shape.len(), 0);
        for w in coordinates(&shape[depth..]) {
            cell[depth..].copy_from_slice(&w);
            let to = out.array.flat(&cell);
            out.array.data[to] = data.data[data.flat(&[&y[..], &w[..]].concat())];
            out.touched[to] = true;
        }
    }
    out
}
