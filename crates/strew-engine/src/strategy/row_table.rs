//! A table of running results, one row for each row of the destination: rounded as they go, or
//! exact.

use crate::strides::request::{Cells, Request};
use crate::threads::pass::{Fault, Pass, unfit};
use strew_kernel::error::Problem;
use strew_kernel::exact::table::ExactTable;
use strew_kernel::ops::number::Mean;
use strew_kernel::update::table::{Begin, Table};
use strew_kernel::walk::Walk;
use strew_kernel::walk::cursor::{Block, Cursor};
use strew_kernel::walk::stack_buf::StackBuf;

/// A table of running results.
#[expect(
    clippy::large_enum_variant,
    reason = "a run has one, which stays where it is"
)]
pub(crate) enum RowTable {
    /// Accumulators, as [`Table`] says.
    Rounded(Table),
    /// Exact sums.
    Exact(ExactTable),
}

/// The start values of a table that has a row for each row of the destination.
pub(crate) fn begin(request: &Request) -> Begin {
    match request.cells {
        Cells::Blank => Begin::Everywhere,
        Cells::Identity => Begin::Identity,
        Cells::Kept | Cells::Unset | Cells::Private => Begin::Destination,
    }
}

impl RowTable {
    /// A table of `rows` rows. It counts updates if the request is for means.
    pub(crate) fn new(
        walk: &Walk<'_>,
        request: &Request,
        begin: Begin,
        rows: usize,
    ) -> Result<Self, Problem> {
        let counts = request.mean.is_some();
        Ok(match request.exact {
            true => Self::Exact(ExactTable::new(walk, begin, counts, rows)?),
            false => Self::Rounded(Table::new(walk, request.combine, begin, counts, rows)?),
        })
    }

    /// Joins a block of updates into the rows `slots`.
    pub(crate) fn add(
        &mut self,
        walk: &Walk<'_>,
        block: &Block,
        slots: &[usize],
    ) -> Result<(), Problem> {
        match self {
            Self::Rounded(table) => table.add(walk, block, slots),
            Self::Exact(table) => table.add(walk, block, slots)?,
        }
        Ok(())
    }

    /// Adds the exact sums of other updates to the same rows. Only those can be joined.
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), Fault> {
        match (self, other) {
            (Self::Exact(sums), Self::Exact(others)) => Ok(sums.merge(others)?),
            _ => Err(unfit()),
        }
    }

    /// All updates have been added. After it nothing can fail.
    pub(crate) fn close(
        &mut self,
        walk: &Walk<'_>,
        id: impl Fn(usize) -> usize,
    ) -> Result<(), Problem> {
        match self {
            Self::Rounded(_) => Ok(()),
            Self::Exact(table) => table.close(walk, id),
        }
    }

    /// Writes the touched rows to the rows of the destination that `id` numbers.
    pub(crate) fn finish(
        &mut self,
        walk: &Walk<'_>,
        mean: Option<Mean>,
        id: impl Fn(usize) -> usize,
    ) {
        match self {
            Self::Rounded(table) => table.finish(walk, mean, id),
            Self::Exact(table) => table.finish(walk, mean, id),
        }
    }
}

impl Pass<'_, '_, '_> {
    /// Joins all updates into a table with a row for each row of the destination.
    pub(crate) fn add_all(&mut self, table: &mut RowTable) -> Result<(), Fault> {
        let walk = self.walk;
        if let RowTable::Exact(sums) = table {
            let mut cursor = Cursor::new(walk);
            if sums.has_lines(&cursor, &self.reader) {
                loop {
                    let done = sums.run_line(&mut cursor, &self.reader)?;
                    if !self.step(done.ok_or(Fault::OutOfBounds)?)? {
                        return Ok(());
                    }
                }
            }
        }
        let mut added = Ok(());
        self.each(|block| {
            let mut slots = StackBuf::new();
            let slots = slots.fill_with(0usize, block.aux().len());
            for (slot, &number) in slots.iter_mut().zip(block.aux()) {
                *slot = number.cast_unsigned();
            }
            if added.is_ok() {
                added = table.add(walk, block, slots);
            }
        })?;
        Ok(added?)
    }
}
