//! Reductions of groups: each group is joined in accumulators, and each output row is written once.
//!
//! ```text
//! for each group, for each tile of columns that fits an accumulator:
//!     start the accumulators
//!     for each update of the group: for each reduction: join the row into its accumulator
//!     for each output: finish its accumulator and write the cells
//! ```
//!
//! Several reductions share one pass over the source: while a row is in the nearest cache, it is
//! joined into one accumulator after the other. Joins happen in the order of the updates, so the
//! result has the bits of the loops over pairs of rows.
//!
//! Cost: each update's row is read once, and each touched row is written once. Accumulators of
//! `ACCUMULATOR` bytes stay in the nearest cache. Outputs of at least `LARGE` bytes are written
//! past the caches. [`reduce_registers`] takes a single reduction of dense rows instead.
//!
//! It relies on [`Csr`], whose rows and updates are below its sizes, and on `Grouped::check`, which
//! compares source and outputs with those sizes.
//!
//! # Unsafe
//!
//! - Buys: several reductions in one pass; sums of elements in order, four rows side by side
//! - Measured: checks: P-sum 1.06, P1-sum 1.01, P-four 0.97, P1-four 1.02; no fetching: P-sum 3.21;
//!   long runs one element after the other instead of as a slice: 11 (amax of 8M sorted float32
//!   into 1,000 cells, 1 thread); rows one after the other: 3.1 (planned sums of 16M sorted
//!   float32, 1,000 a cell, 1 thread)
//! - Holds: `check` compared source and outputs with the groups, whose row numbers are below their
//!   sizes

use crate::copy::strided::LARGE;
use crate::cpu::LINE;
use crate::cpu::isa::Isa;
use crate::cpu::nontemporal::{fence, write_past_caches};
use crate::cpu::prefetch::prefetch;
use crate::error::Problem;
use crate::ops::for_dtype::for_dtype;
use crate::ops::reduction::{Combine, Nan};
use crate::segment::accumulator::{
    Fold, Folds, Take, begin, cleared, finish, finished, first_of, join, join_rows, start_of,
};
use crate::segment::csr::Csr;
use crate::segment::job::{AHEAD_SINGLE, Loops, MOST_LINES, MOST_ROWS};
use crate::segment::job::{Inner, Job, panels_ahead, rows_ahead};
use crate::segment::lookahead::Lookahead;
use crate::segment::reduce_registers::asked_for;
use crate::segment::row_ids::Order;
use crate::segment::{arg_reduce, minmax_lanes, reduce_registers};
use crate::tensor::{DType, DynView, DynViewMut};
use smallvec::SmallVec;
use std::ops::Range;

/// Bytes of one accumulator. Several of them stay in the nearest cache beside a tile of a row.
const ACCUMULATOR: usize = 2048;

/// One part of a grouped reduction.
pub struct Grouped<'g> {
    pub groups: &'g Csr,
    pub folds: &'g [Fold],
    pub takes: &'g [Take],
    /// With a value, the only fold is a strict minimum or maximum, and one more output holds the
    /// positions of the winning updates. A cell that no update wins gets this value.
    pub none: Option<i64>,
    /// The axis of source and outputs along which rows lie.
    pub axis: usize,
    /// All outputs together, those of other parts included, are too large for a cache. Rows are
    /// written past the caches.
    pub past_caches: bool,
}

/// Whether outputs of `bytes` bytes are written past the caches.
pub fn is_past_caches(bytes: usize) -> bool {
    bytes >= LARGE
}

impl Grouped<'_> {
    /// Reduces the groups of `range` into the outputs, whose first row is the destination's row
    /// `first_row`. Rows without updates are left as they are. `step` is told after each piece of
    /// work how many elements were joined, and stops the run by returning false.
    ///
    /// # Errors
    /// [`Problem::Unsupported`] for an extreme of complex numbers; [`Problem::Layout`] if source
    /// and outputs do not fit the groups.
    pub fn run(
        &self,
        range: Range<usize>,
        src: &DynView<'_>,
        outputs: &mut [DynViewMut<'_>],
        first_row: usize,
        step: &mut dyn FnMut(usize) -> bool,
    ) -> Result<bool, Problem> {
        let dtype = src.dtype();
        let axis = self.axis;
        self.check(&range, src, outputs, first_row)?;
        let missing = |f: &Fold| match f.combine {
            Combine::Sum | Combine::Prod => None,
            Combine::Min(_) | Combine::Max(_) => dtype.is_complex().then_some("an extreme"),
            Combine::Sub | Combine::Div | Combine::Assign => Some("this, by groups"),
        };
        if let Some(what) = self.folds.iter().find_map(missing) {
            return Err(Problem::Unsupported {
                what: what.into(),
                dtype,
            });
        }
        if range.is_empty() || src.is_empty() {
            return Ok(true);
        }
        // All axes but that of the rows. Neighbours that can be walked as one axis are merged.
        let mut axes: SmallVec<[(usize, SmallVec<[isize; 4]>); 4]> = SmallVec::new();
        for k in (0..src.rank()).filter(|&k| k != axis) {
            let strides = outputs.iter().map(|o| o.layout().strides()[k]);
            let steps: SmallVec<[isize; 4]> = [src.layout().strides()[k]]
                .into_iter()
                .chain(strides)
                .collect();
            let len = src.shape()[k];
            if len == 1 {
                continue;
            }
            match axes.last_mut() {
                Some((outer, old))
                    if old
                        .iter()
                        .zip(&steps)
                        .all(|(&o, &i)| i.checked_mul(len.cast_signed()) == Some(o)) =>
                {
                    *outer *= len;
                    *old = steps;
                }
                _ => axes.push((len, steps)),
            }
        }
        // The innermost axis is left to the loops; the others are walked coordinate by coordinate.
        let size = dtype.size().cast_signed();
        let still = || SmallVec::from_elem(size, outputs.len() + 1);
        let (inner_len, inner) = axes.pop().unwrap_or_else(|| (1, still()));
        let coordinates: usize = axes.iter().map(|a| a.0).product();
        let run: Loops = match (self.none, dtype) {
            // Only the commonest types have loops in registers: those of all types would take 2 MB.
            (None, DType::F32) => alone::<f32>,
            (None, DType::F64) => alone::<f64>,
            (None, _) => for_dtype!(dtype, T => run::<T>, complex C => run::<C>),
            (Some(_), _) => arg_reduce::loops(dtype, self.folds, self.groups)?,
        };
        // Elements between two calls of `step`.
        const PIECE: usize = 1 << 20;
        let mut places: SmallVec<[(*mut u8, isize, isize); 4]> = SmallVec::new();
        for coordinate in 0..coordinates {
            let (mut rest, mut at) = (coordinate, SmallVec::<[isize; 4]>::new());
            at.resize(outputs.len() + 1, 0);
            for (len, steps) in axes.iter().rev() {
                let k = (rest % len).cast_signed();
                rest /= len;
                for (at, step) in at.iter_mut().zip(steps) {
                    *at += k * step;
                }
            }
            places.clear();
            for (number, output) in outputs.iter_mut().enumerate() {
                let row = output.layout().strides()[axis];
                let back = row.wrapping_mul(first_row.cast_signed());
                let at = output.as_mut_ptr().wrapping_offset(at[number + 1]);
                places.push((
                    at.wrapping_offset(back.wrapping_neg()),
                    row,
                    inner[number + 1],
                ));
            }
            let mut from = range.start;
            while from < range.end {
                // At least one group, and not many more updates than a piece.
                let start = self.groups.start(from);
                let mut to = from + 1;
                while to < range.end
                    && to - from < PIECE
                    && (self.groups.start(to + 1) - start).saturating_mul(inner_len) <= PIECE
                {
                    to += 1;
                }
                let job = Job {
                    groups: self.groups,
                    range: from..to,
                    folds: self.folds,
                    takes: self.takes,
                    none: self.none.unwrap_or_default(),
                    src: src.as_ptr().wrapping_offset(at[0]),
                    src_row: src.layout().strides()[axis],
                    inner: Inner {
                        len: inner_len,
                        src: inner[0],
                    },
                    outputs: &places,
                    past_caches: self.past_caches,
                };
                // SAFETY: `check` has compared source and outputs with the groups, whose rows and
                // updates are below their sizes; coordinates are inside the other axes, which
                // source and outputs have in common.
                unsafe { run(&job) };
                let joined = self.groups.start(to) - start;
                if !step(joined.saturating_mul(inner_len)) {
                    return Ok(false);
                }
                from = to;
            }
        }
        Ok(true)
    }

    /// Checks that source and outputs have every row that the groups name.
    fn check(
        &self,
        range: &Range<usize>,
        src: &DynView<'_>,
        outputs: &[DynViewMut<'_>],
        first_row: usize,
    ) -> Result<(), Problem> {
        let refuse = |why: &str| {
            Err(Problem::Layout {
                argument: "src".into(),
                why: why.to_owned(),
            })
        };
        let (axis, groups) = (self.axis, self.groups);
        if src.shape().get(axis) != Some(&groups.updates()) || range.end > groups.len() {
            return refuse("it does not fit the groups");
        }
        if outputs.len() != self.takes.len() + usize::from(self.none.is_some())
            || self.takes.iter().any(|t| t.fold >= self.folds.len())
        {
            return refuse("the outputs do not fit the reductions");
        }
        for (n, output) in outputs.iter().enumerate() {
            let dtype = match n < self.takes.len() {
                true => src.dtype(),
                false => DType::I64,
            };
            let others = |shape: &[usize]| -> SmallVec<[usize; 4]> {
                let others = shape.iter().enumerate().filter(|(k, _)| *k != axis);
                others.map(|(_, &len)| len).collect()
            };
            let rows = output.shape().get(axis).copied().unwrap_or(0);
            let inside = range.is_empty()
                || (groups.row(range.start) >= first_row
                    && groups.row(range.end - 1) - first_row < rows);
            let alike = output.rank() == src.rank()
                && others(output.shape()) == others(src.shape())
                && output.dtype() == dtype;
            if !inside || !alike {
                return refuse("the outputs do not fit it");
            }
        }
        Ok(())
    }
}

/// The loops of the commonest types: in registers where the job fits.
///
/// # Safety
/// As for [`Loops`].
unsafe fn alone<T: Folds>(job: &Job<'_>) {
    // SAFETY: the caller keeps the contract of `Loops`, which is that of every loop here; `fits`
    // has found that the job may go to the loops in registers.
    unsafe {
        if !reduce_registers::fits::<T>(job) {
            return run::<T>(job);
        }
        vectorized!(|isa| reduce_registers::rows::<T>(job, in_memory::<T>, isa));
    }
    if job.past_caches {
        fence();
    }
}

/// The loops that join each group's updates.
///
/// # Safety
/// As for [`Loops`].
unsafe fn run<T: Folds>(job: &Job<'_>) {
    // SAFETY: the caller keeps the contract of `Loops`; `order` gives the updates of the job's own
    // groups.
    unsafe {
        if job.inner.len > 1 {
            in_memory::<T>(job);
            if job.past_caches {
                fence();
            }
            return;
        }
        // How the order is stored is looked up once, not for each element.
        match job.groups.order() {
            Order::Same => singles::<T>(job, |k| k),
            Order::Narrow(order) => singles::<T>(job, |k| order[k] as usize),
            Order::Wide(order) => singles::<T>(job, |k| order[k] as usize),
        }
    }
}

/// Groups of single elements.
///
/// # Safety
/// As for [`Loops`]. `order` must give the group order's update for each place.
#[inline(always)]
unsafe fn singles<T: Folds>(job: &Job<'_>, order: impl Fn(usize) -> usize + Copy) {
    let groups = job.groups;
    let element = |k: usize| {
        let at = order(k).cast_signed() * job.src_row;
        job.src.wrapping_offset(at).cast::<T>()
    };
    let ahead = if groups.in_order() { 0 } else { AHEAD_SINGLE };
    let dense = groups.in_order() && job.src_row == size_of::<T>().cast_signed();
    // The updates as one slice, if they are contiguous and many.
    let one_piece = |updates: Range<usize>| {
        let many = dense && updates.len() >= minmax_lanes::ENOUGH;
        // SAFETY: the caller promises every update of a group; `dense` says that they lie one after
        // the other.
        many.then(|| unsafe { std::slice::from_raw_parts(element(updates.start), updates.len()) })
    };
    if let ([fold], [_]) = (job.folds, job.takes)
        && dense
    {
        // SAFETY: the caller keeps the contract of `Loops`; there is one output, and `dense` says
        // that the updates lie one after the other.
        unsafe {
            match fold.combine {
                Combine::Sum => return side_by_side::<T>(job, T::add),
                Combine::Prod => return side_by_side::<T>(job, T::mul),
                _ => {}
            }
        }
    }
    let end = groups.kept();
    for group in job.range.clone() {
        let updates = groups.start(group)..groups.start(group + 1);
        if updates.is_empty() {
            continue;
        }
        let row = groups.row(group).cast_signed();
        for (n, (take, &(base, row_step, _))) in job.takes.iter().zip(job.outputs).enumerate() {
            let fold = job.folds[take.fold];
            let cell = base.wrapping_offset(row * row_step).cast::<T>();
            let count = updates.len() as u64;
            let join = |k: usize| {
                if ahead > 0 && n == 0 && k + ahead < end {
                    prefetch(element(k + ahead).cast(), 1);
                }
                // SAFETY: the caller promises every update of a group, and `k` is a place of one.
                unsafe { element(k).read() }
            };
            // SAFETY: the caller promises the output's cell of the group's row.
            unsafe {
                let value = match fold.combine {
                    Combine::Sum | Combine::Prod => {
                        let mut sum = first_of::<T>(fold, cell);
                        if fold.combine == Combine::Sum {
                            for k in updates.clone() {
                                sum = T::add(sum, join(k).widen());
                            }
                        } else {
                            for k in updates.clone() {
                                sum = T::mul(sum, join(k).widen());
                            }
                        }
                        finished::<T>(sum, take, count)
                    }
                    _ => {
                        let start = start_of::<T>(fold, cell);
                        let mut value = start;
                        macro_rules! join_all {
                            ($max:literal, $strict:literal) => {
                                if let Some(values) = one_piece(updates.clone()) {
                                    value = T::extreme_of::<$max, $strict>(value, values);
                                } else {
                                    for k in updates.clone() {
                                        value = T::extreme::<$max, $strict>(value, join(k));
                                    }
                                }
                            };
                        }
                        match fold.combine {
                            Combine::Min(Nan::Ignore) if T::STRICT => join_all!(false, true),
                            Combine::Max(Nan::Ignore) if T::STRICT => join_all!(true, true),
                            Combine::Min(_) => join_all!(false, false),
                            _ => join_all!(true, false),
                        }
                        cleared::<T>(value, fold, take)
                    }
                };
                cell.write(value);
            }
        }
    }
}

/// Groups of single elements that are reduced side by side. Within one group, each addition waits
/// for the one before it.
const CHAINS: usize = 4;

/// Elements of a long group between the one that is prefetched and the one that is joined.
const FAR: usize = 1024;

/// Sums, or products, of groups of single elements that lie one after the other.
///
/// # Safety
/// As for [`Loops`], with one output.
#[inline(never)] // It is the same for every order.
unsafe fn side_by_side<T: Folds>(job: &Job<'_>, how: impl Fn(T::Acc, T::Acc) -> T::Acc) {
    let groups = job.groups;
    let (&[fold], [take], &[(base, row_step, _)]) = (job.folds, job.takes, job.outputs) else {
        return;
    };
    let touched = |&group: &usize| groups.start(group) < groups.start(group + 1);
    let mut touched = job.range.clone().filter(touched);
    loop {
        let some: [Option<usize>; CHAINS] = std::array::from_fn(|_| touched.next());
        let values = some.map(|group| -> &[T] {
            let updates = group.map_or(0..0, |group| groups.start(group)..groups.start(group + 1));
            // SAFETY: the caller promises every update of a group, and only jobs whose updates lie
            // one after the other come here.
            unsafe {
                let first = job.src.cast::<T>().wrapping_add(updates.start);
                std::slice::from_raw_parts(first, updates.len())
            }
        });
        let cells = some.map(|group| {
            let row = group.map_or(0, |group| groups.row(group)).cast_signed();
            base.wrapping_offset(row * row_step).cast::<T>()
        });
        let there = (0..CHAINS).filter(|&k| some[k].is_some());
        let mut sums = [T::ZERO; CHAINS];
        for k in there.clone() {
            // SAFETY: the caller promises the output's cell of the group's row.
            sums[k] = unsafe { first_of::<T>(fold, cells[k]) };
        }
        let common = values.map(<[T]>::len).into_iter().min().unwrap_or(0);
        let ahead = if common < 2 * FAR {
            CHAINS * common
        } else {
            FAR
        };
        let each = LINE / size_of::<T>();
        for from in (0..common).step_by(each) {
            let to = common.min(from + each);
            let lines = values.map(|values| {
                prefetch(values.as_ptr().wrapping_add(from + ahead).cast(), 1);
                &values[from..to]
            });
            for k in 0..to - from {
                for (sum, line) in sums.iter_mut().zip(lines) {
                    *sum = how(*sum, line[k].widen());
                }
            }
        }
        for k in there {
            let rest = &values[k][common..];
            let sum = rest
                .iter()
                .fold(sums[k], |sum, &value| how(sum, value.widen()));
            // SAFETY: the caller promises the output's cell of the group's row, as for the read
            // before the loop.
            unsafe { cells[k].write(finished::<T>(sum, take, values[k].len() as u64)) };
        }
        if some[CHAINS - 1].is_none() {
            return;
        }
    }
}

/// Bytes for accumulators, aligned for every vector.
#[repr(align(64))]
struct Room<const N: usize>([std::mem::MaybeUninit<u8>; N]);

/// Maximum number of accumulators: sum, product, and minimum and maximum of both kinds.
const MOST_FOLDS: usize = 6;

/// Groups of rows, with accumulators in memory.
///
/// # Safety
/// As for [`Loops`].
unsafe fn in_memory<T: Folds>(job: &Job<'_>) {
    // SAFETY: the caller keeps the contract of `Loops`, which is that of `rows`.
    unsafe { vectorized!(|isa| rows::<T>(job, isa)) }
}

/// # Safety
/// As for [`Loops`].
#[inline(always)]
unsafe fn rows<T: Folds>(job: &Job<'_>, isa: impl Isa) {
    let groups = job.groups;
    let order = groups.order();
    let end = groups.kept();
    let size = size_of::<T>();
    let dense = job.inner.src == size.cast_signed();
    let width = ACCUMULATOR / size_of::<T>().max(size_of::<T::Acc>());
    let mut room = Room([const { std::mem::MaybeUninit::uninit() }; ACCUMULATOR * MOST_FOLDS]);
    let mut packed = Room([const { std::mem::MaybeUninit::uninit() }; ACCUMULATOR]);
    let room = room.0.as_mut_ptr().cast::<u8>();
    let packed = packed.0.as_mut_ptr().cast::<T>();
    assert!(job.folds.len() <= MOST_FOLDS);
    let random = !(groups.in_order() && dense);
    let one_tile = job.inner.len <= width;
    let mut lookahead = Lookahead::new();
    for group in job.range.clone() {
        let updates = groups.start(group)..groups.start(group + 1);
        if updates.is_empty() {
            continue;
        }
        let count = updates.len() as u64;
        let row = groups.row(group).cast_signed();
        for from in (0..job.inner.len).step_by(width) {
            let len = width.min(job.inner.len - from);
            let lines = (len * size).div_ceil(64).min(MOST_LINES);
            let ahead = rows_ahead(len * size);
            // SAFETY: `from` and `from + len` are coordinates of the inner axis, so that all that
            // is read and written is what the caller promises; an accumulator has room for `len`
            // values of either type and is written before it is read.
            unsafe {
                for (n, fold) in job.folds.iter().enumerate() {
                    let to = room.add(n * ACCUMULATOR);
                    let output = job.takes.iter().position(|t| t.fold == n).unwrap_or(0);
                    let (base, row_step, step) = job.outputs[output];
                    let cells = base.wrapping_offset(row * row_step + from.cast_signed() * step);
                    begin::<T>(to, *fold, cells, step, len);
                }
                let place = |k: usize| {
                    let at = order.get(k).cast_signed() * job.src_row
                        + from.cast_signed() * job.inner.src;
                    job.src.wrapping_offset(at)
                };
                let ask = |k: usize| {
                    if random && k < end && (one_tile || k < updates.end) {
                        let at = place(k);
                        prefetch(at, lines);
                        // A row that begins within a line ends in one more.
                        prefetch(at.wrapping_add(len * size - 1), 1);
                    }
                };
                if dense && !T::EIGHT {
                    // Of several reductions, each goes over some rows while those are in the
                    // nearest cache.
                    let most = match job.folds.len() {
                        1 => MOST_ROWS,
                        _ => ahead,
                    };
                    let rows_ahead_count = panels_ahead(job.inner.len * size);
                    for first in updates.clone().step_by(most) {
                        let count = most.min(updates.end - first);
                        let places = lookahead.at(first, first + count + rows_ahead_count, job);
                        let tile = from.cast_signed() * job.inner.src;
                        assert!(count <= places.len());
                        // SAFETY: `join_rows` asks for rows below `count`, so many of which are
                        // there.
                        let row = |k: usize| {
                            let at = places.get_unchecked(k);
                            at.wrapping_offset(tile).cast::<T>()
                        };
                        for (n, fold) in job.folds.iter().enumerate() {
                            let ask = |k: usize, columns: Range<usize>| {
                                if n == 0 {
                                    let at = places.get(k + rows_ahead_count);
                                    let at = at.map(|at| at.wrapping_offset(tile));
                                    asked_for(at, columns.start * size..columns.end * size);
                                }
                            };
                            let to = room.add(n * ACCUMULATOR);
                            join_rows::<T>(to, fold.combine, (row, 0..count), len, ask);
                        }
                    }
                } else {
                    for k in updates.clone() {
                        ask(k + ahead);
                        let first = place(k).cast::<T>();
                        let values = if dense {
                            std::slice::from_raw_parts(first, len)
                        } else {
                            for i in 0..len {
                                let value =
                                    first.byte_offset(i.cast_signed() * job.inner.src).read();
                                packed.add(i).write(value);
                            }
                            std::slice::from_raw_parts(packed, len)
                        };
                        for (n, fold) in job.folds.iter().enumerate() {
                            join::<T>(room.add(n * ACCUMULATOR), fold.combine, values, isa);
                        }
                    }
                }
                for (take, &(base, row_step, step)) in job.takes.iter().zip(job.outputs) {
                    let cells = base.wrapping_offset(row * row_step + from.cast_signed() * step);
                    let fold = job.folds[take.fold];
                    let acc = room.add(take.fold * ACCUMULATOR);
                    let bytes = len * size;
                    let lines = step == size.cast_signed()
                        && bytes.is_multiple_of(64)
                        && cells.addr().is_multiple_of(64);
                    if job.past_caches && lines {
                        finish::<T>(acc, fold, take, count, packed.cast(), step, len);
                        write_past_caches(packed.cast(), cells, bytes);
                    } else {
                        finish::<T>(acc, fold, take, count, cells, step, len);
                    }
                }
            }
        }
    }
}
