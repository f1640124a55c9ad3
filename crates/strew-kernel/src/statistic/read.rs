//! Where statistics read the rows and the values of updates.

use crate::groups::row_ids::RowIds;

/// The row of each update.
pub trait ReadRows: Sync {
    /// How many updates there are.
    fn updates(&self) -> usize;
    /// The rows of consecutive updates from one on, as many as `room` holds, copied to `room`
    /// unless they are stored as such numbers. An update that is left out has a number that is
    /// negative or not below the number of rows. `None` if one of the updates has no row and must
    /// not be left out.
    fn read_rows<'r>(&'r self, from: usize, room: &'r mut [i64]) -> Option<&'r [i64]>;

    /// The rows of `count` consecutive updates from one on, as they are stored, if none may be left
    /// out. Some may be no rows: the caller finds them.
    fn unchecked_rows(&self, _from: usize, _count: usize) -> Option<&[i64]> {
        None
    }
}

impl ReadRows for RowIds {
    fn updates(&self) -> usize {
        self.len()
    }

    fn read_rows<'r>(&'r self, from: usize, room: &'r mut [i64]) -> Option<&'r [i64]> {
        self.read(from, room);
        Some(room)
    }
}

/// Some rows of values that need not be side by side.
#[derive(Clone, Copy)]
pub struct Rows<'r> {
    /// The first value of row 0.
    pub first: usize,
    /// From the first value of a row to that of the next.
    pub stride: usize,
    /// Which rows.
    pub numbers: &'r [usize],
}

impl<'r> Rows<'r> {
    /// The first value of each row.
    pub fn firsts(self) -> impl Iterator<Item = usize> + 'r {
        let of = move |&number: &usize| self.first + number * self.stride;
        self.numbers.iter().map(of)
    }
}

/// The values of all updates along one axis, in row-major order of (`outer`, updates, `inner`).
pub trait ReadValues<T>: Sync {
    /// Copies consecutive values from one position on, as many as `to` holds.
    fn copy_values(&self, from: usize, to: &mut [T]);

    /// Copies rows of equal length, as many as `to` holds all values of.
    fn copy_rows(&self, rows: Rows<'_>, to: &mut [T]) {
        let width = to.len() / rows.numbers.len().max(1);
        for (from, to) in rows.firsts().zip(to.chunks_exact_mut(width.max(1))) {
            self.copy_values(from, to);
        }
    }

    /// The same values, copied to `room` unless they are stored as they are computed.
    fn read_values<'r>(&'r self, from: usize, room: &'r mut [T]) -> &'r [T] {
        self.copy_values(from, room);
        room
    }
}
