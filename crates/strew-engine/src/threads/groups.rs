//! Groups of updates, shared out by destination: reduced group by group, and handed back.

use crate::threads::crew::each_piece;
use std::ops::Range;
use strew_kernel::copy::take;
use strew_kernel::copy::take::gather;
use strew_kernel::error::Problem;
use strew_kernel::groups::csr::Csr;
use strew_kernel::groups::row_ids::RowIds;
use strew_kernel::segment::arg_backward;
use strew_kernel::segment::fold::Fold;
use strew_kernel::segment::reduce::{Segments, is_past_caches};
use strew_kernel::tensor::{DynTensor, DynView, DynViewMut};
use strew_kernel::update::in_place::clear;

/// One part of a run: some of the work, and the outputs that it alone writes.
struct GroupsPart<'o> {
    range: Range<usize>,
    first_row: usize,
    outputs: Vec<DynViewMut<'o>>,
}

/// What a run by groups makes of each row's updates.
pub struct Reductions<'r> {
    /// One for each output, and for one more that holds positions behind it if it has any.
    pub folds: &'r [Fold],
    /// Outputs hold anything: rows that take no update are cleared.
    pub clears: bool,
}

/// Reduces the groups into the outputs, shared out among so many threads.
///
/// # Errors
/// As [`Segments::new`]; [`Problem::Interrupted`] if the caller interrupts the run. A run whose
/// outputs are visible goes on.
pub fn reduce(
    groups: &Csr,
    what: &Reductions<'_>,
    axis: usize,
    src: &DynView<'_>,
    outputs: Vec<DynViewMut<'_>>,
    threads: usize,
    visible: bool,
) -> Result<(), Problem> {
    let bytes = outputs.iter().map(|o| o.len() * o.dtype().size()).sum();
    let past_caches = is_past_caches(bytes);
    let parts = split_groups(groups, outputs, axis, &balanced(groups, threads));
    each_piece(parts, threads, visible, src.len(), |part, step| {
        let (range, first_row) = (part.range.clone(), part.first_row);
        if what.clears {
            clear_untouched(groups, axis, part);
        }
        let (outputs, groups) = (std::mem::take(&mut part.outputs), Some(groups));
        let mut segments = Segments::new(src, outputs, groups, axis, what.folds, past_caches)?;
        if src.is_empty() {
            return Ok(true);
        }
        segments.push_groups(range, first_row, step)
    })
}

/// To clear a row by itself takes as long as to clear so many bytes in one piece.
const CLEARED_FOR: usize = 1024;

/// Whether so many rows without updates are rather cleared one by one than an output of so many
/// bytes as a whole.
pub(crate) fn are_few(untouched: usize, bytes: usize) -> bool {
    untouched.saturating_mul(CLEARED_FOR) <= bytes
}

/// Clears the rows of a part's outputs that take no update.
fn clear_untouched(groups: &Csr, axis: usize, part: &mut GroupsPart<'_>) {
    let first = part.first_row;
    let touched = |&group: &usize| groups.start(group) < groups.start(group + 1);
    let touched = || {
        part.range
            .clone()
            .filter(touched)
            .map(|g| groups.row(g) - first)
    };
    for output in &mut part.outputs {
        let end = output.shape()[axis];
        let mut next = 0;
        for row in touched().chain([end]) {
            if next < row {
                let above = output.reborrow().split_at(axis, next);
                let between = above.and_then(|(_, above)| above.split_at(axis, row - next));
                if let Some((mut between, _)) = between {
                    clear(&mut between);
                }
            }
            next = row + 1;
        }
    }
}

/// Cuts of the groups into as many parts as there are threads.
fn balanced(groups: &Csr, threads: usize) -> Vec<usize> {
    // A row costs something even if little goes there.
    let weight = |group: usize| groups.start(group) + group;
    let total = weight(groups.len());
    let cuts = (1..threads).map(|n| {
        let wanted = total / threads * n;
        partition_point(groups.len(), |group| weight(group) < wanted)
    });
    cuts.collect()
}

/// A new matrix with a row for each update, whose elements are those of `values` that the update
/// has won: matrices of a row for each row of the groups, of values and the numbers of their
/// winners. Every update is in a group.
///
/// # Errors
/// As [`arg_backward::arg_backward`]; [`Problem::Memory`]; [`Problem::Interrupted`] if somebody
/// asks to stop.
pub fn hand_back(
    groups: &Csr,
    values: &DynView<'_>,
    winners: &DynView<'_>,
) -> Result<DynTensor, Problem> {
    let width = values.shape().last().copied().unwrap_or(0);
    let mut made = DynTensor::scratch(values.dtype(), &[groups.updates(), width])?;
    let threads = crate::threads::share::threads(made.as_bytes().len());
    let elements = groups.updates().saturating_mul(width);
    let cuts = balanced(groups, threads);
    let parts = arg_backward::arg_backward(groups, values, winners, &mut made, &cuts)?;
    each_piece(parts, threads, false, elements, |part, step| {
        Ok(part.run(step))
    })?;
    Ok(made)
}

/// Copies the last update of each group into its row of `output`, shared out among so many threads.
///
/// # Errors
/// As [`take::last`]; [`Problem::Interrupted`] if the caller interrupts the run. A run whose
/// output is visible goes on.
pub fn last(
    groups: &Csr,
    axis: usize,
    src: &DynView<'_>,
    output: DynViewMut<'_>,
    threads: usize,
    visible: bool,
) -> Result<(), Problem> {
    let cuts: Vec<usize> = (1..threads).map(|n| groups.len() / threads * n).collect();
    let parts = split_groups(groups, vec![output], axis, &cuts);
    each_piece(parts, threads, visible, groups.len(), |part, step| {
        let [output] = part.outputs.as_mut_slice() else {
            return Ok(true);
        };
        let range = part.range.clone();
        take::last(groups, range, src, output, part.first_row, axis, step)
    })
}

/// A new tensor of the rows of `input` that the numbers name, one after the other along an axis
/// that is there; zeros for numbers that name no row. `all`: there are none of those. `threads`
/// says among how many threads a run of so many bytes is shared out.
///
/// # Errors
/// As [`gather`]; [`Problem::Memory`]; [`Problem::Interrupted`] if somebody asks to stop.
pub fn picked(
    numbers: &RowIds,
    all: bool,
    axis: usize,
    input: &DynView<'_>,
    threads: impl Fn(usize) -> usize,
) -> Result<DynTensor, Problem> {
    let rows = numbers.len();
    let mut shape = input.dims();
    shape[axis] = rows;
    let mut made = match all {
        true => DynTensor::scratch(input.dtype(), &shape)?,
        false => DynTensor::zeros(input.dtype(), &shape)?,
    };
    let threads = threads(made.as_bytes().len());
    let cuts: Vec<usize> = (1..threads).map(|n| rows / threads * n).collect();
    let parts = split(vec![made.view_mut()], axis, rows, &cuts, |row| row);
    each_piece(parts, threads, false, rows, |part, step| {
        let [output] = part.outputs.as_mut_slice() else {
            return Ok(true);
        };
        gather(numbers, part.range.clone(), input, output, axis, step)
    })?;
    Ok(made)
}

/// The first number below `end` for which `before` is false.
pub(crate) fn partition_point(end: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        match before(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// Cuts outputs along an axis at the rows of the groups `cuts`.
fn split_groups<'o>(
    groups: &Csr,
    outputs: Vec<DynViewMut<'o>>,
    axis: usize,
    cuts: &[usize],
) -> Vec<GroupsPart<'o>> {
    let row_of = |group: usize| match group < groups.len() {
        true => groups.row(group),
        false => groups.size(),
    };
    split(outputs, axis, groups.len(), cuts, row_of)
}

/// Cuts outputs along an axis at the rows where the pieces of work `cuts` begin.
fn split<'o>(
    mut outputs: Vec<DynViewMut<'o>>,
    axis: usize,
    end: usize,
    cuts: &[usize],
    row_of: impl Fn(usize) -> usize,
) -> Vec<GroupsPart<'o>> {
    let mut parts = Vec::with_capacity(cuts.len() + 1);
    let (mut from, mut first_row) = (0, 0);
    for &next in cuts {
        let row = row_of(next);
        if next <= from || next >= end || row <= first_row {
            continue;
        }
        let (low, high) = cut(outputs, axis, row - first_row);
        parts.push(GroupsPart {
            range: from..next,
            first_row,
            outputs: low,
        });
        (outputs, from, first_row) = (high, next, row);
    }
    parts.push(GroupsPart {
        range: from..end,
        first_row,
        outputs,
    });
    parts
}

/// Cuts outputs along an axis, at one of its coordinates.
pub(crate) fn cut<'o>(
    outputs: Vec<DynViewMut<'o>>,
    axis: usize,
    at: usize,
) -> (Vec<DynViewMut<'o>>, Vec<DynViewMut<'o>>) {
    let halves = outputs.into_iter().map(|output| output.split_at(axis, at));
    halves
        .map(|halves| halves.expect("the cut is on the axis"))
        .unzip()
}
