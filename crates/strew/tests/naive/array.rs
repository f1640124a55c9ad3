//! Arrays: a type, a shape, and the bits of every element, row by row.

use super::number::{self, Num};
use strew::DType;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<u128>,
}

/// What an operator leaves: the array, and which of its cells an update went to.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) array: Array,
    pub(crate) touched: Vec<bool>,
    /// For a minimum or maximum: where each winner came from.
    pub(crate) arg: Option<Vec<i64>>,
}

impl Array {
    pub(crate) fn filled(dtype: DType, shape: &[usize], bits: u128) -> Self {
        Self {
            dtype,
            shape: shape.to_vec(),
            data: vec![bits; shape.iter().product()],
        }
    }

    pub(crate) fn of_ints(dtype: DType, shape: &[usize], values: &[i64]) -> Self {
        let write = |&v: &i64| number::write(dtype, Num::Int(v.into()));
        Self {
            dtype,
            shape: shape.to_vec(),
            data: values.iter().map(write).collect(),
        }
    }

    pub(crate) fn num(&self, at: usize) -> Num {
        number::read(self.dtype, self.data[at])
    }

    /// An element of an index array.
    pub(crate) fn int(&self, at: usize) -> i128 {
        match self.num(at) {
            Num::Int(v) => v,
            Num::F32(v) => v.trunc() as i128,
            Num::F64(v) => v.trunc() as i128,
            other => panic!("{other:?} is no index"),
        }
    }

    /// Where a coordinate's element stands.
    pub(crate) fn flat(&self, coordinate: &[usize]) -> usize {
        assert_eq!(coordinate.len(), self.shape.len());
        coordinate
            .iter()
            .zip(&self.shape)
            .fold(0, |flat, (&c, &n)| {
                assert!(c < n, "{coordinate:?} is outside {:?}", self.shape);
                flat * n + c
            })
    }

    /// The array with an axis's every slice replaced by its first.
    pub(crate) fn constant_along(&self, axis: usize) -> Self {
        let mut all = self.clone();
        for (at, mut c) in coordinates(&self.shape).enumerate() {
            c[axis] = 0;
            all.data[at] = self.data[self.flat(&c)];
        }
        all
    }
}

impl Outcome {
    pub(crate) fn untouched(array: Array) -> Self {
        let touched = vec![false; array.data.len()];
        Self {
            array,
            touched,
            arg: None,
        }
    }
}

/// All coordinates of a shape in row-major order.
pub(crate) fn coordinates(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let shape = shape.to_vec();
    let total: usize = if shape.contains(&0) {
        0
    } else {
        shape.iter().product()
    };
    (0..total).map(move |mut n| {
        let mut c = vec![0; shape.len()];
        for (c, len) in c.iter_mut().zip(&shape).rev() {
            *c = n % len;
            n /= len;
        }
        c
    })
}

/// Sums and products of the cells, held aside until all updates are in.
pub(crate) struct Fold {
    dtype: DType,
    cells: Vec<Option<(Num, u64)>>,
}

impl Fold {
    pub(crate) fn new(array: &Array) -> Self {
        Self {
            dtype: array.dtype,
            cells: vec![None; array.data.len()],
        }
    }

    pub(crate) fn sum(&mut self, cell: usize, start: Num, value: Num) {
        let (total, count) = self.cells[cell].unwrap_or((start, 0));
        self.cells[cell] = Some((total.add(self.dtype, value), count + 1));
    }

    pub(crate) fn prod(&mut self, cell: usize, start: Num, value: Num) {
        let (total, count) = self.cells[cell].unwrap_or((start, 0));
        self.cells[cell] = Some((total.mul(self.dtype, value), count + 1));
    }

    pub(crate) fn sub(&mut self, cell: usize, start: Num, value: Num) {
        let (total, count) = self.cells[cell].unwrap_or((start, 0));
        self.cells[cell] = Some((total.sub(self.dtype, value), count + 1));
    }

    pub(crate) fn div(&mut self, cell: usize, start: Num, value: Num) {
        let (total, count) = self.cells[cell].unwrap_or((start, 0));
        self.cells[cell] = Some((total.div(self.dtype, value), count + 1));
    }

    /// Writes the cells; with `mean`, divided by their counts plus that many.
    pub(crate) fn finish(self, array: &mut Array, mean: Option<u64>) {
        self.finish_by(array, |total, count| {
            mean.map_or(total, |more| total.divide(count + more))
        });
    }

    /// Writes what `how` makes of each cell's total and number of updates.
    pub(crate) fn finish_by(self, array: &mut Array, how: impl Fn(Num, u64) -> Num) {
        for (bits, cell) in array.data.iter_mut().zip(self.cells) {
            if let Some((total, count)) = cell {
                *bits = number::write(array.dtype, how(total, count));
            }
        }
    }
}
