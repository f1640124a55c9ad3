//! Updates are sorted by row of the destination first. Each row then takes all of its updates, and
//! is written once.
//!
//! It pays for long rows that come in order, or that are too far apart for the caches and take
//! several updates each, and where it saves a table: for positions, means and exact sums. Sorting
//! costs two passes over the index, and the order of the updates.

use crate::describe::destinations::row_ids::{RowGroups, RowNumbers};
use crate::describe::reduction::{Finish, Init};
use crate::describe::split::Split;
use crate::describe::strategy::{Reason, Strategy};
use crate::describe::{Scatter, Start};
use crate::strategy::record::{Did, did};
use crate::strides::order::{IndexOrder, order};
use crate::strides::request::Run;
use crate::strides::space::Cut;
use crate::threads::groups::{Reductions, are_few, reduce};
use crate::thresholds::{
    GROUPED_BYTES, GROUPED_FAR, GROUPED_LONG_ROW, GROUPED_ROOM, GROUPED_ROW, GROUPED_SAMPLE,
    GROUPED_SAMPLED, GROUPED_SHARE, GROUPED_SORTED_ROW, GROUPED_STREAM, GROUPED_TABLED_ROW,
};
use strew_kernel::copy::strided::duplicate;
use strew_kernel::error::Problem;
use strew_kernel::groups::csr::Csr;
use strew_kernel::groups::row_ids::Facts;
use strew_kernel::ops::number::{Divisor, Mean};
use strew_kernel::ops::reduction::Combine;
use strew_kernel::runtime::threads::available;
use strew_kernel::segment::fold;
use strew_kernel::segment::fold::{Fold, Seed};
use strew_kernel::tensor::{DType, DynTensor, DynViewMut, shaped};
use strew_kernel::update::in_place::has_short_lines;

/// What `explain` says that it does.
pub(crate) const HOW: &str = "sorts the updates by row first";

/// The reason to group the updates by row; `None` if they are not grouped.
pub(crate) fn grouping(run: &Run<'_, '_>) -> Option<Reason> {
    match (run.request.ungrouped, run.request.force) {
        (None, Some(Strategy::Grouped)) => Some(Reason::Asked),
        (None, None) => pays(run).map(Reason::Pays),
        _ => None,
    }
}

/// The reason why grouping pays; `None` if it does not.
fn pays(run: &Run<'_, '_>) -> Option<&'static str> {
    let (space, request, cut) = (run.space, run.request, run.cut);
    let dtype = run.types.src;
    let row = cut.width().saturating_mul(dtype.size());
    let bytes = cut.count().saturating_mul(row);
    let [ref lookup] = space.lookups[..] else {
        return None;
    };
    let many = bytes >= GROUPED_BYTES
        && cut.cell_count <= cut.count() / 2
        && u32::try_from(cut.count()).is_ok();
    let extreme = matches!(request.combine, Combine::Min(_) | Combine::Max(_));
    let least = if extreme {
        GROUPED_SORTED_ROW
    } else {
        GROUPED_ROW
    };
    if !is_dense(cut, dtype) || !many || row < least {
        return None;
    }
    if space.arg.is_some() {
        let why = "each row keeps its winners' positions in the nearest cache";
        return (row >= GROUPED_ROW).then_some(why);
    }
    let (updates, rows) = (cut.count(), cut.cell_count);
    let sorted = Facts {
        sorted: true,
        ..Facts::default()
    };
    let without_order = Csr::room(updates, rows, sorted, rows);
    if without_order > room(bytes) || request.combine.computes(dtype) {
        return None;
    }
    let several = available() > 1;
    let counted = request.mean.is_some();
    let widens = request.combine.folds() && dtype.accumulator() != dtype;
    let exact = request.exact;
    let long = match (counted, widens) {
        _ if exact => GROUPED_TABLED_ROW,
        (true, false) => GROUPED_TABLED_ROW,
        (_, true) if several => GROUPED_TABLED_ROW,
        _ => GROUPED_LONG_ROW,
    };
    let quick = request.combine.folds() && !widens && !counted && !exact;
    let share = GROUPED_SHARE[usize::from(quick && !several)];
    let far = GROUPED_FAR[usize::from(several)];
    let long_extreme = extreme && !joins_fast(run);
    let long_enough = match counted {
        true => row >= GROUPED_TABLED_ROW,
        false if exact => updates / GROUPED_SHARE[0] >= rows,
        false => {
            updates / GROUPED_SHARE[0] >= rows
                && (long_extreme || row >= GROUPED_LONG_ROW && bytes >= GROUPED_STREAM)
        }
    };
    let in_order = long_enough && (exact || !widens);
    // The table of exact sums has 8 bytes per element of a row.
    let cell = if exact {
        size_of::<i64>()
    } else {
        dtype.size()
    };
    let destination = rows.saturating_mul(cut.width()).saturating_mul(cell);
    let apart = row >= long
        && updates / share >= rows
        && destination >= far
        && Csr::most(updates, rows) <= room(bytes);
    if !in_order && !apart {
        return None;
    }
    let sample = GROUPED_SAMPLE.min(updates / GROUPED_SAMPLED);
    match order(&lookup.index.sample(sample), rows) {
        IndexOrder::Ascending if in_order => Some("rows come in order, and each is written once"),
        // The sample only estimates the number of rows.
        IndexOrder::Spread(found) if apart && found >= far / row / 2 => {
            Some("rows are too far apart for the caches, and each is written once")
        }
        _ => None,
    }
}

/// Whether the rows are so short that updates in order join their cells as fast as memory gives
/// them.
fn joins_fast(run: &Run<'_, '_>) -> bool {
    has_short_lines(run.types.src, run.request.combine, run.cut.width())
}

/// Maximum bytes of the groups of updates of `bytes` bytes.
pub(crate) fn room(bytes: usize) -> usize {
    bytes / GROUPED_ROOM
}

/// Whether the source has no gaps, and the index has one value per row.
fn is_dense(cut: &Cut, dtype: DType) -> bool {
    let ([window], [rows]) = (&cut.window[..], &cut.rows[..]) else {
        return false;
    };
    let row = cut.width().saturating_mul(dtype.size());
    window.step.src == dtype.size().cast_signed() && rows.step.src == row.cast_signed()
}

/// The new tensor, and the positions of the winners.
pub(crate) fn run(
    scatter: &Scatter<'_>,
    threads: usize,
    mut arg: Option<&mut DynTensor>,
) -> Result<DynTensor, Problem> {
    let dtype = scatter.dtype();
    let start = scatter.target.start().unwrap_or(&Start::Zero);
    let seed = seed(scatter, start);
    let start = match start {
        Start::FiniteExtreme if scatter.reduction.finish == Finish::ZeroIfStart => &Start::Zero,
        start => start,
    };
    if scatter.source.view().is_empty() {
        scatter.destinations.row_numbers()?;
        return scatter.start_as(start);
    }
    let rows = rows_by_group(scatter)?;
    // What the rows that take updates hold at first is never seen then. Positions are not zero
    // where there are none.
    let zeros = match start {
        _ if scatter.arg.is_some() => false,
        Start::Zero => true,
        Start::Identity => scatter.reduction.combine == Combine::Sum,
        _ => false,
    };
    let bytes = scatter.cells().saturating_mul(dtype.size());
    let untouched = rows.groups.size() - rows.groups.multiplicity().0;
    let clears = zeros && seed != Seed::Current && are_few(untouched, bytes);
    let tensor = match clears {
        true => DynTensor::scratch(dtype, scatter.destinations.shape())?,
        false => scatter.start_as(start)?,
    };
    let shape = rows.shape();
    let mut tensor = shaped(tensor, &shape)?;
    // Rows without updates keep what the positions hold now.
    let mut positions = match arg.as_deref_mut() {
        Some(arg) => {
            let nothing = DynTensor::zeros(DType::I64, &[0])?;
            Some(shaped(std::mem::replace(arg, nothing), &shape)?)
        }
        None => None,
    };
    let outputs = [
        Some(tensor.view_mut()),
        positions.as_mut().map(DynTensor::view_mut),
    ];
    let outputs = outputs.into_iter().flatten().collect();
    let begun = RowsBegun { seed, clears };
    reduce_rows(scatter, &rows, begun, outputs, threads, false)?;
    if let (Some(arg), Some(positions)) = (arg, positions) {
        *arg = shaped(positions, scatter.destinations.shape())?;
    }
    shaped(tensor, scatter.destinations.shape())
}

/// Reduces by group into the caller's memory. All indices are checked before the first row is
/// written.
pub(crate) fn run_into(
    scatter: &Scatter<'_>,
    threads: usize,
    view: DynViewMut<'_>,
) -> Result<(), Problem> {
    let seed = match scatter.reduction.init {
        Init::Current => Seed::Current,
        Init::Identity => Seed::Identity,
    };
    let begun = RowsBegun {
        seed,
        clears: false,
    };
    let rows = rows_by_group(scatter)?;
    match view.reshape(&rows.shape()) {
        Some(view) => reduce_rows(scatter, &rows, begun, vec![view], threads, true),
        None => Err(Problem::Layout {
            argument: "destination".into(),
            why: "it has gaps".into(),
        }),
    }
}

fn rows_by_group(scatter: &Scatter<'_>) -> Result<RowGroups, Problem> {
    if let Some(rows) = scatter.destinations.ascending()? {
        return Ok(rows);
    }
    let RowNumbers {
        numbers,
        rows,
        width,
    } = scatter.destinations.row_numbers()?;
    let facts = Facts::of(&numbers, rows);
    if scatter.strategy.is_none() && scatter.arg.is_none() {
        // The choice reckoned with an index in order, as its sample was. Sorting takes more
        // memory.
        let updates = scatter.source.view();
        let bytes = updates.len().saturating_mul(updates.dtype().size());
        let needed = Csr::room(numbers.len(), rows, facts, rows.min(numbers.len()));
        if needed > room(bytes) {
            return Err(Problem::Memory {
                what: "groups of the updates".into(),
                needed: needed as u128,
                available: room(bytes) as u128,
            });
        }
    }
    Ok(RowGroups {
        groups: Csr::new(&numbers, rows, facts)?,
        width,
    })
}

fn reduce_rows(
    scatter: &Scatter<'_>,
    rows: &RowGroups,
    begun: RowsBegun,
    outputs: Vec<DynViewMut<'_>>,
    threads: usize,
    visible: bool,
) -> Result<(), Problem> {
    did(Did::Strategy(Strategy::Grouped));
    if threads > 1 {
        did(Did::Split(Split::Owner, threads));
    }
    let updates = [rows.groups.updates(), rows.width];
    let source = scatter.source.view();
    let packed;
    let source = match source.reshape(&updates) {
        Some(view) => view,
        None => {
            packed = shaped(duplicate(source)?, &updates)?;
            packed.view()
        }
    };
    let fold = Fold {
        combine: scatter.reduction.combine,
        seed: begun.seed,
        finish: match scatter.reduction.finish {
            Finish::Mean { count_self } => fold::Finish::Mean(Mean {
                more: u64::from(count_self),
                divisor: Divisor::Count,
            }),
            Finish::ZeroIfStart => fold::Finish::ZeroIfStart,
            _ => fold::Finish::None,
        },
        none: scatter.arg,
        empty: false,
        exact: scatter.exact,
    };
    let what = Reductions {
        folds: &[fold],
        clears: begun.clears,
    };
    reduce(&rows.groups, &what, 0, &source, outputs, threads, visible)
}

/// What the running result of a row starts from.
fn seed(scatter: &Scatter<'_>, start: &Start<'_>) -> Seed {
    match (scatter.reduction.init, start, scatter.reduction.combine) {
        (Init::Identity, ..) | (_, Start::Identity, _) | (_, Start::Zero, Combine::Sum) => {
            Seed::Identity
        }
        (_, Start::FiniteExtreme, _) => Seed::FiniteExtreme,
        _ => Seed::Current,
    }
}

/// What rows of the destination begin with.
#[derive(Clone, Copy)]
struct RowsBegun {
    /// The value that the updates of a row join.
    seed: Seed,
    /// The run itself sets rows without updates to zero.
    clears: bool,
}
