//! Where the rows of a list go in a longer list.

/// Row i of a list becomes row `rows[i]` of another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread<'s> {
    pub(crate) rows: &'s [i64],
    /// Cells of a row.
    pub(crate) width: usize,
    /// Cells of the other list.
    pub(crate) cells: usize,
}

impl Spread<'_> {
    /// The same for lists with `numbers` numbers in each cell.
    pub(crate) fn of_numbers(self, numbers: usize) -> Self {
        Self {
            width: self.width.saturating_mul(numbers),
            cells: self.cells.saturating_mul(numbers),
            ..self
        }
    }

    /// Copies the rows. Leaves out those that one of the lists does not have.
    pub(crate) fn copy<T: Copy>(&self, from: &[T], to: &mut [T]) {
        let rows = from.chunks_exact(self.width.max(1)).zip(self.rows);
        for (from, &row) in rows {
            let first = usize::try_from(row).unwrap_or(usize::MAX);
            let first = first.saturating_mul(self.width);
            let to = to.get_mut(first..).and_then(|to| to.get_mut(..self.width));
            if let Some(to) = to {
                to.copy_from_slice(from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn rows_that_are_not_there_are_left_out() {
        let spread = Spread {
            rows: &[2, 0, -1, 3],
            width: 2,
            cells: 6,
        };
        let mut to = [0; 6];
        spread.copy(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9], &mut to);
        assert_eq!(to, [3, 4, 0, 0, 1, 2]);
        assert_eq!(spread.of_numbers(3).width, 6);
    }
}
