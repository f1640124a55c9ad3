//! A run shared out along its updates, where the bits do not depend on how they are bracketed.

use crate::strategy::execution::Execution;
use crate::strides::space::Space;
use crate::threads::crew::Crew;
use crate::threads::pass::{Before, Fault, Outputs, stretches};
use strew_kernel::ops::identity::identity;
use strew_kernel::tensor::{DynTensor, DynView};
use strew_kernel::update::finalize::merge;

/// Tables that a run makes, at most.
const MOST: usize = 256;

/// Runs stretches of the updates, the first into the destination and each other one into a
/// table of its own, and then joins the tables in their order.
pub(crate) fn run(
    execution: &Execution,
    space: &Space<'_>,
    src: &DynView<'_>,
    outputs: Outputs<'_>,
    crew: &Crew<'_>,
) -> Result<(), Fault> {
    let Outputs {
        mut dst,
        arg,
        before,
        lists: _,
    } = outputs;
    let combine = execution.request.combine;
    let parts = stretches(space, src, crew.threads().min(MOST));
    // Before anything is written: a table that there is no memory for changes nothing.
    let mut tables: Vec<DynTensor> = Vec::new();
    let start = identity(dst.dtype(), combine).unwrap_or_default();
    for _ in 1..parts.len() {
        let element = &start[..dst.dtype().size()];
        tables.push(DynTensor::filled(dst.dtype(), dst.shape(), element)?);
    }
    let first = Outputs {
        dst: dst.reborrow(),
        arg,
        before,
        lists: None,
    };
    let others = tables.iter_mut().map(|table| Outputs {
        dst: table.view_mut(),
        arg: None,
        before: Before::Nothing,
        lists: None,
    });
    let outputs = std::iter::once(first).chain(others);
    crew.each(
        parts.iter().zip(outputs),
        |((space, src), outputs), worker| {
            execution.run_serial(space, &space.cut(), src, outputs, worker)
        },
    )?;
    for table in &tables {
        merge(&mut dst, table, combine)?;
    }
    Ok(())
}
