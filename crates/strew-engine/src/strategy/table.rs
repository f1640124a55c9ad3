//! Updates are gathered in a private table, which is then written to the destination: with a row
//! for each row of the destination (dense), or for each one that is touched (compact).
//!
//! It is for what cells cannot hold: sums of 16-bit floats in `float32`, counts of means, and exact
//! sums. A dense table of the destination's shape is a destination like any other (`wide`).

use crate::describe::strategy::Strategy;
use crate::strategy::execution::Execution;
use crate::strategy::in_order::begin_writing;
use crate::strategy::record::{Did, did};
use crate::strategy::row_table::{RowTable, begin};
use crate::strategy::wide::Wide;
use crate::strides::reader::Reader;
use crate::strides::request::{Cells, Run};
use crate::strides::space::{Cut, Space};
use crate::threads::crew::Worker;
use crate::threads::pass::{Fault, Pass, terms, unfit, unnumbered};
use crate::thresholds::{DENSE_ALWAYS, DENSE_ROWS_PER_UPDATE};
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::exact::planes::PLANES;
use strew_kernel::tensor::{DType, DynView, DynViewMut, try_vec};
use strew_kernel::update::finalize::{finalize, finalize_changed, wide_like, wide_of};
use strew_kernel::update::in_place::Direct;
use strew_kernel::update::sum_count_cells::{divide, sum_count_table};
use strew_kernel::update::table::Begin;
use strew_kernel::walk::Walk;
use strew_kernel::walk::stack_buf::StackBuf;

/// What `explain` says that a dense one does.
pub(crate) const HOW_DENSE: &str = "joins the updates in a table of all rows";

/// What `explain` says that a compact one does.
pub(crate) const HOW_COMPACT: &str = "joins the updates in a table of the rows that are touched";

/// Bytes that an exact sum takes if its values have all sizes: three words and all planes.
const EXACT_CELL: usize = (3 + PLANES) * size_of::<i64>();

/// What stands in its way.
pub(crate) fn obstacle(run: &Run<'_, '_>) -> Option<&'static str> {
    (!run.request.combine.folds()).then_some("only sums and products are gathered in a table")
}

/// Which of the two, and why.
pub(crate) fn choose(run: &Run<'_, '_>) -> (Strategy, &'static str) {
    let (cut, dst) = (run.cut, run.types.dst);
    // Where there is no row, one may be larger than memory.
    let row_bytes = cut.width().saturating_mul(dst.accumulator().size());
    let row_bytes = row_bytes.saturating_add(size_of::<u64>());
    let small = cut.cell_count.saturating_mul(row_bytes) <= DENSE_ALWAYS;
    let dense = small || cut.cell_count <= cut.count().saturating_mul(DENSE_ROWS_PER_UPDATE);
    if run.request.exact {
        return match dense {
            true => (
                Strategy::DenseTable,
                "exact sums are integers, and most rows may be touched",
            ),
            false => (
                Strategy::CompactTable,
                "exact sums are integers, and few rows are touched",
            ),
        };
    }
    match (dense, run.types.widens(run.request.combine)) {
        (true, true) => (
            Strategy::DenseTable,
            "16-bit floats accumulate in float32, and most rows may be touched",
        ),
        (true, false) => (
            Strategy::DenseTable,
            "updates are counted, and most rows may be touched",
        ),
        (false, true) => (
            Strategy::CompactTable,
            "16-bit floats accumulate in float32, and few rows are touched",
        ),
        (false, false) => (
            Strategy::CompactTable,
            "updates are counted, and few rows are touched",
        ),
    }
}

/// The wide cells of a part of the run, if it has such.
pub(crate) fn wide(execution: &Execution, space: &Space<'_>, cut: &Cut) -> Option<Wide> {
    execution
        .wide
        .and_then(|_| Wide::choose(&execution.request, space, cut, execution.types))
}

/// Bytes of a row of a table, at most.
pub(crate) fn row(execution: &Execution) -> usize {
    row_of(execution, EXACT_CELL)
}

/// The same if the values are of ordinary sizes: exact sums are one word then, or two of `float64`.
pub(crate) fn usual_row(execution: &Execution) -> usize {
    let double = matches!(execution.types.dst, DType::F64 | DType::C128);
    row_of(execution, (1 + usize::from(double)) * size_of::<i64>())
}

fn row_of(execution: &Execution, exact_cell: usize) -> usize {
    if execution.request.exact {
        let cells = execution
            .width()
            .saturating_mul(1 + usize::from(execution.types.dst.is_complex()));
        return cells
            .saturating_mul(exact_cell)
            .saturating_add(size_of::<u64>());
    }
    let count = match execution.wide {
        Some(wide) => {
            return execution
                .width()
                .saturating_mul(wide.size(execution.types.dst));
        }
        None => size_of::<u64>(),
    };
    execution
        .width()
        .saturating_mul(execution.types.dst.accumulator().size())
        .saturating_add(count)
}

/// Bytes of a dense table.
pub(crate) fn dense_memory(execution: &Execution) -> usize {
    execution.cut.cell_count.saturating_mul(row(execution))
}

/// Bytes of a compact table, with the list of its rows.
pub(crate) fn compact_memory(execution: &Execution) -> usize {
    let touched = execution.cut.cell_count.min(execution.rows());
    touched.saturating_mul(row(execution) + 8) + execution.rows().saturating_mul(8)
}

/// Runs the updates in order into a table of the destination's shape, and that into the
/// destination.
pub(crate) fn run_wide(
    execution: &Execution,
    wide: Wide,
    space: &Space<'_>,
    src: &DynView<'_>,
    mut dst: DynViewMut<'_>,
    worker: Worker<'_>,
) -> Result<(), Fault> {
    did(Did::Strategy(Strategy::DenseTable));
    let combine = execution.request.combine;
    let goes_on = !matches!(execution.request.cells, Cells::Blank | Cells::Identity);
    let mut table = match wide {
        Wide::Accumulators => wide_like(&dst, combine)?,
        Wide::Loaded => wide_of(&dst)?,
        Wide::Counted(_) => sum_count_table(&mut dst, goes_on)?,
    };
    let space = space.with_destination(table.layout());
    let cut = space.cut();
    let (rules, terms) = (space.rules(), terms(&space, &cut));
    let geometry = unnumbered(&cut, &terms);
    let mut cells = table.view_mut();
    let walk = Walk::new(&geometry, &mut cells, src).ok_or_else(unfit)?;
    let _floats = DefaultFloats::enter();
    let mut direct = match wide {
        Wide::Accumulators | Wide::Loaded => Direct::new(&walk, combine, false)?,
        Wide::Counted(_) => Direct::sum_count(&walk),
    };
    let mut pass = Pass {
        reader: Reader {
            lookups: &space.lookups,
            rules: &rules,
            cut: &cut,
            origin: &[],
        },
        walk: &walk,
        progress: &mut execution.progress(&cut, worker),
    };
    pass.join(&mut direct)?;
    begin_writing(execution, &mut pass);
    match wide {
        Wide::Accumulators => finalize(&table, &mut dst)?,
        Wide::Loaded => finalize_changed(&table, &mut dst)?,
        Wide::Counted(mean) => divide(&table, &mut dst, mean),
    }
    Ok(())
}

pub(crate) fn run_dense(
    execution: &Execution,
    pass: &mut Pass<'_, '_, '_>,
    rows: usize,
) -> Result<(), Fault> {
    did(Did::Strategy(Strategy::DenseTable));
    let request = &execution.request;
    let mut table = RowTable::new(pass.walk, request, begin(request), rows)?;
    pass.add_all(&mut table)?;
    write(execution, table, pass, |slot| slot)
}

pub(crate) fn run_compact(execution: &Execution, pass: &mut Pass<'_, '_, '_>) -> Result<(), Fault> {
    did(Did::Strategy(Strategy::CompactTable));
    let walk = pass.walk;
    let request = &execution.request;
    let mut numbers: Vec<isize> = try_vec("the list of touched rows", walk.count())?;
    pass.each(|block| numbers.extend_from_slice(block.aux()))?;
    numbers.sort_unstable();
    numbers.dedup();
    let rows = numbers.len();
    // No row is there that is not touched.
    let begin = match request.cells {
        Cells::Blank | Cells::Identity => Begin::Everywhere,
        _ => Begin::Destination,
    };
    let mut table = RowTable::new(walk, request, begin, rows)?;
    let mut changed = false;
    let mut added = Ok(());
    pass.each(|block| {
        let mut slots = StackBuf::new();
        let slots = slots.fill_with(0usize, block.aux().len());
        for (slot, number) in slots.iter_mut().zip(block.aux()) {
            match numbers.binary_search(number) {
                Ok(found) => *slot = found,
                Err(_) => changed = true,
            }
        }
        if !changed && added.is_ok() {
            added = table.add(walk, block, slots);
        }
    })?;
    if changed {
        return Err(Fault::OutOfBounds);
    }
    added?;
    write(execution, table, pass, |slot| numbers[slot].cast_unsigned())
}

/// Writes a table's rows to the rows of the destination that `id` numbers.
pub(crate) fn write(
    execution: &Execution,
    mut table: RowTable,
    pass: &mut Pass<'_, '_, '_>,
    id: impl Fn(usize) -> usize,
) -> Result<(), Fault> {
    table.close(pass.walk, &id)?;
    begin_writing(execution, pass);
    table.finish(pass.walk, execution.request.mean, id);
    Ok(())
}
