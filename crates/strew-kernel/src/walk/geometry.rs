//! The description of a run: which rows there are, and what one step adds to each offset.
//!
//! A row's offset is `start`, plus its coordinate times the step of each row axis, plus each index
//! value times its [`Term`]'s bytes. The window's axes follow below the row. Nothing is checked
//! here: [`Walk`](crate::walk::Walk) proves a [`Geometry`] against its memory.

use crate::walk::filter::IndexFilter;

/// What one step along an axis of the updates adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Bytes in the destination.
    pub dst: isize,
    /// Bytes in the source.
    pub src: isize,
    /// Row numbers of the destination, or bytes in an arg output.
    pub aux: isize,
    /// Positions along the scattered axis, for an arg output.
    pub position: isize,
}

/// An axis of the updates.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    pub len: usize,
    pub step: Step,
}

/// What one index value adds: the value times these, and how large it may be.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// The value must be below this.
    pub limit: usize,
    /// The first value of the destination's part. Rows with smaller values belong to other parts.
    pub from: usize,
    /// The number of values of the destination's part. Rows with larger values belong to other
    /// parts.
    pub len: usize,
    /// Bytes in the destination.
    pub dst: isize,
    /// As in [`Step::aux`].
    pub aux: isize,
    /// A value that is not below the limit skips its row instead of failing.
    pub drop: bool,
    /// No row belongs to another part: a value that is not of this part may fail.
    pub own: bool,
}

impl Term {
    /// Whether no value leaves its row out.
    pub(crate) fn is_whole(&self) -> bool {
        !self.drop && (self.from, self.len) == (0, self.limit)
    }

    /// The filter for the values of this part.
    pub(crate) fn filter(&self) -> IndexFilter {
        IndexFilter {
            limit: self.limit,
            from: self.from,
            len: self.len,
            drop: self.drop,
        }
    }
}

/// An index value was not below its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds;

/// The rows of a run, and where they lie.
#[derive(Clone, Copy)]
pub struct Geometry<'g> {
    /// Axes of the rows, outermost first.
    pub rows: &'g [Axis],
    /// What the index values of a row add.
    pub terms: &'g [Term],
    /// Axes of the window, innermost last.
    pub window: &'g [Axis],
    /// The axes that number the destination's rows, outermost first.
    pub cells: &'g [Axis],
    /// Whether the rows' numbers and positions are needed.
    pub numbers: bool,
    /// Where the first row is.
    pub start: Step,
    /// Byte offset in the destination of the window of row 0.
    pub cell_start: isize,
}
