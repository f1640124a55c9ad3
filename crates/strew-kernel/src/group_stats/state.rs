//! The state of statistics between chunks of values: the records of all groups.
//!
//! ```text
//! state = records of groups without values
//! for each chunk of values: grow to the chunk's rows; join each value to the record of its row
//! results = finish(records)
//! ```
//!
//! Chunks one after the other give the bits of [one pass](crate::group_stats::stream). States of
//! other values are merged cell by cell; [`depends_on_order`] says for which statistics.
//!
//! Cost: a group takes as many bytes as its records have. Joining costs what one pass costs.
//!
//! [`depends_on_order`]: crate::statistic::what::Statistic::depends_on_order

use crate::cpu::fp_env::DefaultFloats;
use crate::error::Problem;
use crate::group_stats::records::Block;
use crate::group_stats::stream::{Stream, Work};
use crate::group_stats::tables::Tables;
use crate::statistic::output::{Among, Output, Task, Wanted};
use crate::statistic::read::{ReadRows, ReadValues};
use crate::statistic::value::Value;
use crate::tensor::DynTensor;
use crate::tensor::spread::Spread;

/// Which statistics are kept, and of which values.
#[derive(Debug)]
pub struct Kept {
    /// All of them have a result for each group.
    pub wanted: Vec<Wanted>,
    pub among: Among,
    /// Columns of a row.
    pub inner: usize,
}

impl Kept {
    /// Calls a function with what is to be computed.
    fn task<R>(&self, with: impl FnOnce(Task<'_>) -> R) -> R {
        let wanted: Vec<&Wanted> = self.wanted.iter().collect();
        with(Task {
            wanted: &wanted,
            among: self.among,
        })
    }
}

/// Consecutive updates whose rows have been checked.
pub struct Chunk<'c, T> {
    pub rows: &'c dyn ReadRows,
    pub values: &'c dyn ReadValues<T>,
    /// The position of the first update.
    pub start: usize,
}

/// Records of groups that take values chunk by chunk.
pub struct State<T: Value> {
    tables: Tables<T>,
    rows: usize,
}

impl<T: Value> State<T> {
    /// Of no groups.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn new(kept: &Kept) -> Result<Self, Problem> {
        Ok(Self {
            tables: kept.task(|task| Tables::new(task, 0))?,
            rows: 0,
        })
    }

    /// How many groups there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Makes groups without values at the end, until there are `rows`.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The groups are then as they were.
    pub fn grow(&mut self, kept: &Kept, rows: usize) -> Result<(), Problem> {
        if rows > self.rows {
            self.tables.grow(rows.saturating_mul(kept.inner))?;
            self.rows = rows;
        }
        Ok(())
    }

    /// Makes at least `size` groups, and joins the values of a chunk to them. Values whose row is
    /// not one of the groups are left out.
    ///
    /// # Errors
    /// [`Problem::Memory`]. The state is then as it was, unless exact sums had no room for more
    /// digits: then it gives this error from then on.
    pub fn join(&mut self, kept: &Kept, chunk: Chunk<'_, T>, size: usize) -> Result<(), Problem> {
        let _floats = DefaultFloats::enter();
        let mut work = Work::new(kept.inner)?;
        self.grow(kept, size)?;
        let stream = Stream {
            rows: chunk.rows,
            size: self.rows,
            values: chunk.values,
            outer: 1,
            inner: kept.inner,
        };
        if kept.inner > 0 {
            let tables = &mut self.tables;
            stream.each_block(0, &stream.whole(), kept.among.skip, &mut work, |block| {
                tables.join(&Block {
                    first: chunk.start.saturating_add(block.first),
                    ..*block
                })
            });
        }
        self.tables.check()
    }

    /// Merges a state of other values, of the same statistics.
    ///
    /// # Errors
    /// [`Problem::Memory`]. Nothing has been merged then, with the same exception as in
    /// [`join`](Self::join).
    pub fn merge(&mut self, kept: &Kept, other: &Self) -> Result<(), Problem> {
        other.tables.check()?;
        self.grow(kept, other.rows)?;
        self.tables.merge(&other.tables);
        self.tables.check()
    }

    /// A state of `size` groups, where group i of this one is group `rows[i]`. The others have no
    /// values.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn spread(&self, kept: &Kept, rows: &[i64], size: usize) -> Result<Self, Problem> {
        self.tables.check()?;
        let mut made = Self::new(kept)?;
        made.grow(kept, size)?;
        let to = Spread {
            rows: &rows[..rows.len().min(self.rows)],
            width: kept.inner,
            cells: size.saturating_mul(kept.inner),
        };
        made.tables.copy_from(&self.tables, to)?;
        Ok(made)
    }

    /// The results: of each statistic rows times columns.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn finish(&self, kept: &Kept) -> Result<Vec<DynTensor>, Problem> {
        self.tables.check()?;
        let cells = self.rows * kept.inner;
        kept.task(|task| {
            let mut made = Vec::with_capacity(kept.wanted.len());
            for (number, wanted) in kept.wanted.iter().enumerate() {
                let mut results = wanted.cells([1, self.rows, kept.inner])?;
                let mut output = Output::of(&mut results, wanted);
                self.tables.finish(task, number, &mut output, 0..cells)?;
                made.push(results);
            }
            Ok(made)
        })
    }

    /// Bytes that the records take in memory.
    pub fn memory(&self) -> usize {
        self.tables.memory()
    }

    /// Bytes that the records of one column of a group take at least where they are written.
    pub fn record_bytes(&self) -> usize {
        self.tables.bytes()
    }

    /// Writes all records.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn write(&self, kept: &Kept, to: &mut Vec<u8>) -> Result<(), Problem> {
        self.tables.check()?;
        self.tables.write(self.rows * kept.inner, to)
    }

    /// Reads the records of [`rows`](Self::rows) groups from the front of bytes. `None` if they
    /// are cut off, or not ones that are written.
    pub fn read(&mut self, from: &mut &[u8]) -> Option<()> {
        self.tables.read(from)
    }
}
