//! Which cell of the result each number, or tuple of numbers, of an index names.

use strew::{Bounds, Negative, OutOfRange};

/// The cell of an update that is left out.
pub(super) const LEFT_OUT: u64 = u64::MAX;

/// How an index names cells. Updates and cells are counted in row-major order.
#[derive(Debug)]
pub(super) enum Key {
    /// Each element of the values is an update, and has a number: its row.
    Elements(Axis),
    /// Each slice of the values is an update. Slices along the axis have the numbers, again and again.
    Slices(Axis),
    /// Each update has a number for each of these axes.
    Tuples(Vec<usize>),
}

/// An axis of the values, which becomes one of the result.
#[derive(Debug)]
pub(super) struct Axis {
    /// Its number.
    pub(super) at: usize,
    /// How long it is in the values.
    pub(super) len: usize,
    /// How long it is in the result.
    pub(super) rows: usize,
    /// How many elements the axes after it have.
    pub(super) inner: usize,
    /// How many slices the axes before it have.
    pub(super) outer: usize,
}

/// An index value that names no cell.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Beyond {
    /// Its place among the numbers.
    pub(super) at: usize,
    pub(super) value: i64,
    /// The axis that it points into, and that axis's size.
    pub(super) axis: usize,
    pub(super) size: usize,
}

impl Key {
    /// How many numbers name a cell.
    pub(super) fn numbers(&self) -> usize {
        match self {
            Self::Elements(_) | Self::Slices(_) => 1,
            Self::Tuples(sizes) => sizes.len(),
        }
    }

    /// How many cells there are; `None`: more than can be counted.
    pub(super) fn cells(&self) -> Option<usize> {
        match self {
            Self::Elements(axis) => axis.rows.checked_mul(axis.inner)?.checked_mul(axis.outer),
            Self::Slices(axis) => axis.rows.checked_mul(axis.outer),
            Self::Tuples(sizes) => sizes.iter().try_fold(1, |n: usize, s| n.checked_mul(*s)),
        }
    }

    /// The cells that these numbers name, in place of what `cells` held. The first number is that of
    /// the update `first`.
    pub(super) fn name(
        &self,
        values: &[i64],
        first: usize,
        bounds: Bounds,
        cells: &mut Vec<u64>,
    ) -> Result<(), Beyond> {
        cells.clear();
        match self {
            Self::Elements(axis) => {
                let mut column = first % axis.inner.max(1);
                let mut slice = first / axis.inner.max(1);
                for (at, &value) in values.iter().enumerate() {
                    let row = axis.row(value, at, slice, bounds)?;
                    cells.push(match row {
                        LEFT_OUT => LEFT_OUT,
                        row => row * axis.inner as u64 + column as u64,
                    });
                    column += 1;
                    if column == axis.inner {
                        (column, slice) = (0, slice + 1);
                    }
                }
            }
            Self::Slices(axis) => {
                for (at, &value) in values.iter().enumerate() {
                    cells.push(axis.row(value, at, first + at, bounds)?);
                }
            }
            Self::Tuples(sizes) => {
                for (n, tuple) in values.chunks_exact(sizes.len().max(1)).enumerate() {
                    cells.push(cell(tuple, sizes, n * sizes.len(), bounds)?);
                }
            }
        }
        Ok(())
    }
}

impl Axis {
    /// The row of the result, counted over the axes before it too, that the value in this slice names.
    #[inline]
    fn row(&self, value: i64, at: usize, slice: usize, bounds: Bounds) -> Result<u64, Beyond> {
        match resolve(value, self.rows, bounds) {
            Some(LEFT_OUT) => Ok(LEFT_OUT),
            Some(row) if self.outer == 1 => Ok(row),
            Some(row) => Ok((slice / self.len * self.rows) as u64 + row),
            None => Err(Beyond {
                at,
                value,
                axis: self.at,
                size: self.rows,
            }),
        }
    }
}

/// The cell that a tuple names, whose first number is the one at `first`.
fn cell(tuple: &[i64], sizes: &[usize], first: usize, bounds: Bounds) -> Result<u64, Beyond> {
    let mut cell = 0;
    for (axis, (&value, &size)) in tuple.iter().zip(sizes).enumerate() {
        let place = resolve(value, size, bounds).ok_or(Beyond {
            at: first + axis,
            value,
            axis,
            size,
        })?;
        cell = match (cell, place) {
            (LEFT_OUT, _) | (_, LEFT_OUT) => LEFT_OUT,
            (cell, place) => cell * size as u64 + place,
        };
    }
    Ok(cell)
}

/// The place on an axis that a value means; [`LEFT_OUT`]; `None` if it is an error.
#[inline]
fn resolve(value: i64, size: usize, bounds: Bounds) -> Option<u64> {
    if bounds.ignored == Some(value.into()) {
        return Some(LEFT_OUT);
    }
    // No axis is longer than isize::MAX.
    let end = size as i64;
    let mut place = value;
    if place < 0 {
        match bounds.negative {
            Negative::Drop => return Some(LEFT_OUT),
            Negative::Wrap => place = place.saturating_add(end),
            Negative::Beyond => place = i64::MAX,
            Negative::Reject => {}
        }
    }
    if (0..end).contains(&place) {
        return Some(place as u64);
    }
    match bounds.out_of_range {
        OutOfRange::Error => None,
        OutOfRange::Drop => Some(LEFT_OUT),
        OutOfRange::Clip => (end > 0).then(|| place.clamp(0, end - 1) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(outer: usize, len: usize, rows: usize, inner: usize) -> Axis {
        Axis {
            at: 0,
            len,
            rows,
            inner,
            outer,
        }
    }

    fn named(key: &Key, values: &[i64], bounds: &str) -> Result<Vec<u64>, Beyond> {
        let mut cells = vec![7];
        key.name(values, 0, bounds.parse().unwrap(), &mut cells)?;
        Ok(cells)
    }

    #[test]
    fn rows_by_every_rule() {
        let rows = Key::Slices(axis(1, 9, 3, 1));
        assert_eq!(named(&rows, &[2, 0], "error"), Ok(vec![2, 0]));
        assert_eq!(named(&rows, &[-1, -3, 1], "wrap"), Ok(vec![2, 0, 1]));
        let dropped = named(&rows, &[-1, 3, 1], "drop");
        assert_eq!(dropped, Ok(vec![LEFT_OUT, LEFT_OUT, 1]));
        assert_eq!(named(&rows, &[-9, 9, i64::MIN], "clip"), Ok(vec![0, 2, 0]));
        for (values, at, value) in [([0, 3], 1, 3), ([-1, 0], 0, -1)] {
            let beyond = Beyond {
                at,
                value,
                axis: 0,
                size: 3,
            };
            assert_eq!(named(&rows, &values, "error"), Err(beyond));
        }
        assert!(named(&rows, &[-4], "wrap").is_err());
        let none = Key::Slices(axis(1, 9, 0, 1));
        assert!(named(&none, &[0], "clip").is_err());
    }

    #[test]
    fn elements_keep_their_columns() {
        let key = Key::Elements(axis(1, 9, 4, 3));
        assert_eq!(key.cells(), Some(12));
        let mut cells = Vec::new();
        key.name(&[1, 0, 3, 2], 2, Bounds::STRICT, &mut cells)
            .unwrap();
        assert_eq!(cells, [5, 0, 10, 8]);
    }

    #[test]
    fn slices_before_the_axis_have_rows_of_their_own() {
        // Values of shape (2, 2, 2) along axis 1, into a result of shape (2, 3, 2).
        let elements = Key::Elements(axis(2, 2, 3, 2));
        let cells = named(&elements, &[0, 1, 2, 2, 0, 1, 1, 0], "error");
        assert_eq!(cells, Ok(vec![0, 3, 4, 5, 6, 9, 8, 7]));
        let slices = Key::Slices(axis(2, 2, 3, 2));
        let mut cells = Vec::new();
        slices
            .name(&[2, 0, 2], 1, Bounds::STRICT, &mut cells)
            .unwrap();
        assert_eq!(cells, [2, 3, 5]);
        assert_eq!((elements.cells(), slices.cells()), (Some(12), Some(6)));
    }

    #[test]
    fn tuples_are_cells_in_row_major_order() {
        let key = Key::Tuples(vec![2, 5]);
        assert_eq!(named(&key, &[1, 4, 0, 2], "error"), Ok(vec![9, 2]));
        let beyond = Beyond {
            at: 3,
            value: 5,
            axis: 1,
            size: 5,
        };
        assert_eq!(named(&key, &[1, 4, 0, 5], "error"), Err(beyond));
        assert_eq!(named(&key, &[-1, 4], "drop"), Ok(vec![LEFT_OUT]));
        assert_eq!(Key::Tuples(vec![usize::MAX, 3]).cells(), None);
    }
}
