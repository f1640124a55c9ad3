//! Exact sums shared out along their updates: they are the same however the updates are bracketed.

use crate::describe::strategy::Strategy;
use crate::strategy::execution::Execution;
use crate::strategy::record::{Did, did};
use crate::strategy::row_table::{RowTable, begin};
use crate::strides::reader::Reader;
use crate::strides::space::{Cut, Space};
use crate::threads::crew::{Crew, Worker};
use crate::threads::pass::{Fault, Pass, stretches, terms, unfit, unnumbered};
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::tensor::{DynView, DynViewMut, Layout};
use strew_kernel::walk::Walk;
use strew_kernel::walk::geometry::{Geometry, Term};

/// A walk that numbers the rows of the destination.
fn numbered<'g>(cut: &'g Cut, terms: &'g [Term]) -> Geometry<'g> {
    Geometry {
        cells: &cut.cells,
        numbers: true,
        ..unnumbered(cut, terms)
    }
}

/// Adds stretches of the updates to exact sums of their own, each on a thread, and then the
/// sums to each other. Nothing is written before that.
pub(crate) fn run(
    execution: &Execution,
    space: &Space<'_>,
    src: &DynView<'_>,
    mut dst: DynViewMut<'_>,
    crew: &Crew<'_>,
) -> Result<(), Fault> {
    let layout = dst.layout().clone();
    let parts = stretches(space, src, crew.threads());
    let tables = crew.each(parts, |(space, src), worker| {
        did(Did::Strategy(Strategy::DenseTable));
        sums(execution, &space, &src, &layout, worker)
    })?;
    let terms = terms(space, &execution.cut);
    let geometry = numbered(&execution.cut, &terms);
    let walk = Walk::new(&geometry, &mut dst, src).ok_or_else(unfit)?;
    let _floats = DefaultFloats::enter();
    let begin = begin(&execution.request);
    let mut sums = RowTable::new(&walk, &execution.request, begin, execution.cut.cell_count)?;
    for table in tables {
        sums.merge(table)?;
    }
    sums.close(&walk, |slot| slot)?;
    if execution.request.visible {
        (execution.progress(&execution.cut, crew.caller())).writes_are_visible();
    }
    sums.finish(&walk, execution.request.mean, |slot| slot);
    Ok(())
}

/// The exact sums of some of the updates. The destination has this layout.
fn sums(
    execution: &Execution,
    space: &Space<'_>,
    src: &DynView<'_>,
    layout: &Layout,
    worker: Worker<'_>,
) -> Result<RowTable, Fault> {
    let cut = space.cut();
    let (rules, terms) = (space.rules(), terms(space, &cut));
    let geometry = numbered(&cut, &terms);
    let walk = Walk::bind(&geometry, layout, src).ok_or_else(unfit)?;
    let _floats = DefaultFloats::enter();
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
    let mut sums = RowTable::new(
        &walk,
        &execution.request,
        begin(&execution.request),
        cut.cell_count,
    )?;
    pass.add_all(&mut sums)?;
    Ok(sums)
}
