//! PaddlePaddle's operators, cell by cell.

use super::number::{read, write};
use super::{Array, Num, Outcome, coordinates};

/// What the first update of a cell meets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum First {
    /// What the cell holds.
    Cell,
    /// Zero.
    Zero,
    /// Nothing: it takes the cell.
    Nothing,
}

/// Cells, and what joins them.
struct Cells {
    out: Outcome,
    totals: Vec<Option<(Num, u64)>>,
    how: &'static str,
    first: First,
}

impl Cells {
    fn new(array: &Array, how: &'static str, first: First) -> Self {
        Self {
            out: Outcome::untouched(array.clone()),
            totals: vec![None; array.data.len()],
            how,
            first,
        }
    }

    fn join(&mut self, cell: &[usize], bits: u128) {
        let dtype = self.out.array.dtype;
        let to = self.out.array.flat(cell);
        let (current, value) = (self.out.array.num(to), read(dtype, bits));
        let first = !std::mem::replace(&mut self.out.touched[to], true);
        match self.how {
            "assign" => self.out.array.data[to] = bits,
            "add" | "mul" | "mean" | "mean toward zero" => {
                let join = |a: Num| match self.how {
                    "mul" => a.mul(dtype, value),
                    _ => a.add(dtype, value),
                };
                let (total, count) = match (self.totals[to], self.first) {
                    (Some((total, count)), _) => (join(total), count + 1),
                    (None, First::Cell) => (join(current), 1),
                    (None, First::Zero) => (join(Num::zero(dtype)), 1),
                    // A complex number times 1 may be another one, if it is not finite.
                    (None, First::Nothing) if self.how == "mul" => (join(Num::one(dtype)), 1),
                    (None, First::Nothing) => (value, 1),
                };
                self.totals[to] = Some((total, count));
            }
            how => {
                let beats = match how {
                    "amax" | "max" => current.less(value),
                    _ => value.less(current),
                };
                // Segments have NaN where there is one; elsewhere only a comparison moves the cell.
                let spreads = how == "max" || how == "min";
                let taken = match spreads {
                    true => value.is_nan() || (beats && !current.is_nan()),
                    false => beats,
                };
                if taken || (first && self.first == First::Nothing) {
                    self.out.array.data[to] = bits;
                }
            }
        }
    }

    fn done(mut self) -> Outcome {
        let dtype = self.out.array.dtype;
        let own = u64::from(self.first == First::Cell);
        for (bits, total) in self.out.array.data.iter_mut().zip(&self.totals) {
            if let Some((total, count)) = total {
                let total = match self.how {
                    "mean" => total.divide(count + own),
                    "mean toward zero" => total.divide_toward_zero(*count),
                    _ => *total,
                };
                *bits = write(dtype, total);
            }
        }
        self.out
    }
}

/// An index that may count from the end.
fn place(index: &Array, at: usize, size: usize) -> usize {
    let value = index.int(at);
    let value = if value < 0 {
        value + size as i128
    } else {
        value
    };
    usize::try_from(value).unwrap()
}

fn empty(arrays: &[&Array]) -> bool {
    arrays.iter().any(|array| array.data.is_empty())
}

/// `index` has any shape with one element for each row.
pub(crate) fn scatter(x: &Array, index: &Array, updates: &Array, overwrite: bool) -> Outcome {
    let how = if overwrite { "assign" } else { "add" };
    let mut cells = Cells::new(x, how, First::Zero);
    if !empty(&[x, index, updates]) {
        let width: usize = x.shape[1..].iter().product();
        for i in 0..index.data.len() {
            let row = place(index, i, x.shape[0]);
            for (k, rest) in coordinates(&x.shape[1..]).enumerate() {
                let cell = [&[row], &*rest].concat();
                cells.join(&cell, updates.data[i * width + k]);
            }
        }
    }
    cells.done()
}

pub(crate) fn scatter_nd_add(x: &Array, index: &Array, updates: &Array) -> Outcome {
    let mut cells = Cells::new(x, "add", First::Cell);
    if !empty(&[x, updates]) {
        let (batch, entries) = index.shape.split_at(index.shape.len() - 1);
        let entries = entries[0];
        let width: usize = x.shape[entries..].iter().product();
        for i in 0..batch.iter().product() {
            let tuple: Vec<usize> = (0..entries)
                .map(|k| place(index, i * entries + k, x.shape[k]))
                .collect();
            for (k, rest) in coordinates(&x.shape[entries..]).enumerate() {
                let cell = [&*tuple, &*rest].concat();
                cells.join(&cell, updates.data[i * width + k]);
            }
        }
    }
    cells.done()
}

/// Where an element of an array stands that is repeated along axes of size 1, and along new leading ones.
fn repeated(array: &Array, at: &[usize]) -> usize {
    let behind = &at[at.len() - array.shape.len()..];
    let own: Vec<usize> = behind
        .iter()
        .zip(&array.shape)
        .map(|(&c, &n)| if n == 1 { 0 } else { c })
        .collect();
    array.flat(&own)
}

pub(crate) fn put_along_axis(
    arr: &Array,
    indices: &Array,
    values: &Array,
    axis: usize,
    reduce: &str,
    include_self: bool,
    broadcast: bool,
) -> Outcome {
    let how = match reduce {
        "multiply" | "mul" => "mul",
        "add" => "add",
        "mean" => "mean",
        "amax" => "amax",
        "amin" => "amin",
        _ => "assign",
    };
    let first = if include_self {
        First::Cell
    } else {
        First::Nothing
    };
    let mut cells = Cells::new(arr, how, first);
    let larger = arr.shape.iter().zip(&indices.shape).any(|(own, n)| n > own);
    let mut wanted = indices.shape.clone();
    if broadcast && !larger {
        wanted.clone_from(&arr.shape);
        wanted[axis] = indices.shape[axis];
    }
    if !empty(&[arr, indices]) {
        for at in coordinates(&wanted) {
            let mut cell = at.clone();
            cell[axis] = place(indices, repeated(indices, &at), arr.shape[axis]);
            // Of values that are not broadcast, the leading corner counts.
            let from = match broadcast || values.shape.is_empty() {
                true => repeated(values, &at),
                false => values.flat(&at),
            };
            cells.join(&cell, values.data[from]);
        }
    }
    cells.done()
}

/// `value` has one slice for each of the index.
pub(crate) fn index_add(x: &Array, index: &Array, axis: usize, value: &Array) -> Outcome {
    let mut cells = Cells::new(x, "add", First::Cell);
    if !empty(&[x, value]) {
        for (from, at) in coordinates(&value.shape).enumerate() {
            let mut cell = at.clone();
            cell[axis] = place(index, at[axis], x.shape[axis]);
            cells.join(&cell, value.data[from]);
        }
    }
    cells.done()
}

pub(crate) fn index_fill(x: &Array, index: &Array, axis: usize, bits: u128) -> Outcome {
    let mut cells = Cells::new(x, "assign", First::Cell);
    if !empty(&[x]) {
        for i in 0..index.data.len() {
            let mut slices = x.shape.clone();
            slices[axis] = 1;
            for mut cell in coordinates(&slices) {
                cell[axis] = place(index, i, x.shape[axis]);
                cells.join(&cell, bits);
            }
        }
    }
    cells.done()
}

/// A new array whose elements are found one by one.
fn read_from(shape: &[usize], x: &Array, from: impl Fn(&[usize]) -> usize) -> Outcome {
    let mut made = Array::filled(x.dtype, shape, 0);
    for (to, at) in coordinates(shape).enumerate() {
        made.data[to] = x.data[from(&at)];
    }
    Outcome::untouched(made)
}

/// An index of any rank but 0 is a vector.
pub(crate) fn gather(x: &Array, index: &Array, axis: usize) -> Outcome {
    let flat = !index.shape.is_empty();
    let own: &[usize] = if flat { &[index.data.len()] } else { &[] };
    let shape = [&x.shape[..axis], own, &x.shape[axis + 1..]].concat();
    read_from(&shape, x, |at| {
        let which = if flat { at[axis] } else { 0 };
        let behind = axis + own.len();
        let row = place(index, which, x.shape[axis]);
        x.flat(&[&at[..axis], &[row], &at[behind..]].concat())
    })
}

pub(crate) fn gather_nd(x: &Array, index: &Array) -> Outcome {
    let last = index.shape.len() - 1;
    let entries = index.shape[last];
    let shape = [&index.shape[..last], &x.shape[entries..]].concat();
    read_from(&shape, x, |at| {
        let tuple: Vec<usize> = (0..entries)
            .map(|k| place(index, index.flat(&[&at[..last], &[k]].concat()), x.shape[k]))
            .collect();
        x.flat(&[&*tuple, &at[last..]].concat())
    })
}

pub(crate) fn take_along_axis(
    arr: &Array,
    indices: &Array,
    axis: usize,
    broadcast: bool,
) -> Outcome {
    let mut shape = indices.shape.clone();
    for a in (0..shape.len()).filter(|&a| a != axis && broadcast) {
        if shape[a] == 1 {
            shape[a] = arr.shape[a];
        }
    }
    read_from(&shape, arr, |at| {
        let mut cell = at.to_vec();
        cell[axis] = place(indices, repeated(indices, at), arr.shape[axis]);
        for (c, &n) in cell.iter_mut().zip(&arr.shape) {
            *c = if n == 1 { 0 } else { *c };
        }
        arr.flat(&cell)
    })
}

/// `how`: `"add"`, `"mean toward zero"`, `"min"` or `"max"`.
pub(crate) fn segment(data: &Array, ids: &Array, how: &'static str) -> Outcome {
    let mut shape = data.shape.clone();
    shape[0] = (0..ids.data.len())
        .map(|i| ids.int(i) as usize + 1)
        .max()
        .unwrap_or(0);
    let zeros = Array::filled(data.dtype, &shape, write(data.dtype, Num::zero(data.dtype)));
    let first = match how {
        "min" | "max" => First::Nothing,
        _ => First::Zero,
    };
    let mut cells = Cells::new(&zeros, how, first);
    for (from, at) in coordinates(&data.shape).enumerate() {
        let mut cell = at.clone();
        cell[0] = ids.int(at[0]) as usize;
        cells.join(&cell, data.data[from]);
    }
    cells.done()
}
