//! Reductions of segments: each row of an output takes the updates of a segment, and is written
//! once.
//!
//! ```text
//! push(row, start, end): check all three; keep the segment, up to BLOCK of them
//! flush:                 for each coordinate of the axes behind that of the rows:
//!                            for each fold: loops(kept segments)
//! ```
//!
//! A segment is a range of places in an order of the updates: that of a [`Csr`], or the source's
//! own. Joins happen in that order, so the result has the bits of the loops over pairs of rows.
//! Several folds share one trip to the source's rows: a block of segments is small enough that they
//! are in a near cache when the second one reads them.
//!
//! | loops | for |
//! |---|---|
//! | [`elements`] | rows of one element |
//! | [`rows`](crate::segment::rows) | longer rows |
//! | [`exact_sum`] | exact sums, by both |
//!
//! Cost: each update's row is read once from memory, and each row of an output is written once.
//! Outputs of at least `LARGE` bytes are written past the caches.
//!
//! # Unsafe
//!
//! - Buys: segments in one job, several reductions in one pass
//! - Measured: checks: P-sum 1.06, P1-sum 1.01, S-sum 1.02, S1-sum 1.00, S-max 1.00; no fetching:
//!   P-sum 3.21
//! - Holds: `push` checked each segment; the order's numbers are below the source's rows; the other
//!   axes are the same on all sides

use crate::copy::strided::LARGE;
use crate::cpu::isa::Baseline;
use crate::cpu::nontemporal::fence;
use crate::error::Problem;
use crate::exact::table::rounds;
use crate::groups::batch::{Batch, alike};
use crate::groups::csr::Csr;
use crate::groups::row_ids::UpdateOrder;
use crate::ops::combine::{MinMaxSelect, Prod, Sum};
use crate::ops::for_dtype::for_dtype;
use crate::ops::hot::same_bits;
use crate::ops::order::Ordered;
use crate::ops::reduction::{Combine, Nan};
use crate::segment::elements;
use crate::segment::exact_sum;
use crate::segment::fold::{Column, EARLIER, Finish, Fold, Seed, Winner};
use crate::segment::job::{Cells, Job, Loops, Segment};
use crate::segment::rows::rows;
use crate::tensor::{DType, DynView, DynViewMut, joined, overlap_each_other, overlaps_itself};
use crate::walk::geometry::OutOfBounds;
use half::{bf16, f16};
use smallvec::SmallVec;
use std::ops::Range;

/// Segments that are found before they are reduced.
const BLOCK: usize = 256;

/// Elements of a block that several folds read: a second-level cache holds them.
const SHARED: usize = 1 << 15;

/// Bytes per step along an axis: the source's, and then those of the outputs.
type Steps = SmallVec<[isize; 4]>;

/// Reduces segments of a source's rows into the rows of outputs.
pub struct Segments<'r> {
    folds: SmallVec<[(Loops, Fold); 1]>,
    src: DynView<'r>,
    groups: Option<&'r Csr>,
    outputs: Vec<DynViewMut<'r>>,
    axis: usize,
    /// The rows of the outputs, and the places in the order of the updates.
    rows: usize,
    places: usize,
    /// The axes behind that of the rows, but for the innermost.
    outer: SmallVec<[(usize, Steps); 4]>,
    inner: (usize, Steps),
    batch: Batch,
    past_caches: bool,
    block: Vec<Segment>,
    /// The places of the block.
    held: usize,
    done: usize,
}

/// Whether outputs of `bytes` bytes are written past the caches.
pub fn is_past_caches(bytes: usize) -> bool {
    bytes >= LARGE
}

impl<'r> Segments<'r> {
    /// Rows lie along `axis`; all other axes of source and outputs are the same. Updates are in the
    /// order of `groups`, or in that of the source. There is an output for each fold, and behind it
    /// one of positions (`i64`) if the fold has any. `past_caches`: all outputs together, those of
    /// other parts included, are too large for a cache.
    ///
    /// # Errors
    /// [`Problem::Layout`] if they do not fit, or if an output overlaps another array or itself;
    /// [`Problem::Unsupported`] for what is not reduced by segments.
    pub fn new(
        src: &DynView<'r>,
        mut outputs: Vec<DynViewMut<'r>>,
        groups: Option<&'r Csr>,
        axis: usize,
        folds: &[Fold],
        past_caches: bool,
    ) -> Result<Self, Problem> {
        let dtype = src.dtype();
        let dtypes = folds.iter().flat_map(|fold| {
            let positions = fold.none.map(|_| DType::I64);
            [Some(dtype), positions].into_iter().flatten()
        });
        let fits = outputs.first().is_some_and(|one| {
            alike(src.shape(), one.shape(), axis)
                && outputs.iter().all(|other| other.shape() == one.shape())
                && outputs.iter().map(DynViewMut::dtype).eq(dtypes)
        });
        let refuse = |why: &str| Problem::Layout {
            argument: "src".into(),
            why: why.into(),
        };
        if !fits || groups.is_some_and(|g| g.updates() != src.shape()[axis]) {
            return Err(refuse("it does not fit the outputs"));
        }
        if overlap(src, &mut outputs) {
            return Err(refuse("an output overlaps it, another output or itself"));
        }
        let folds: Result<_, _> = folds.iter().map(|&fold| loops(dtype, fold)).collect();
        let steps = |k: usize| -> Steps {
            let outputs = outputs.iter().map(|output| output.layout().strides()[k]);
            let all = [src.layout().strides()[k]].into_iter().chain(outputs);
            all.collect()
        };
        let size = dtype.size().cast_signed();
        let one = || (1, Steps::from_elem(size, outputs.len() + 1));
        let mut outer = joined((axis + 1..src.rank()).map(|k| (src.shape()[k], steps(k))));
        // Rows that are columns of memory are reduced one column after the other.
        let columns = outer.last().is_some_and(|(_, step)| step[0] != size);
        let inner = match columns && src.layout().strides()[axis] == size {
            true => one(),
            false => outer.pop().unwrap_or_else(one),
        };
        Ok(Self {
            folds: folds?,
            src: src.clone(),
            groups,
            axis,
            rows: outputs[0].shape()[axis],
            places: groups.map_or(src.shape()[axis], Csr::kept),
            outer,
            inner,
            batch: Batch::over(&src.shape()[..axis]),
            past_caches,
            block: Vec::with_capacity(BLOCK),
            held: 0,
            done: 0,
            outputs,
        })
    }

    /// The coordinate on the axes before that of the rows. Segments that are pushed belong to it.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Moves on to the next coordinate; false behind the last.
    pub fn advance(&mut self) -> bool {
        self.flush();
        self.batch.advance()
    }

    /// Row `row` of the outputs takes the updates from place `start` up to place `end`, none if
    /// that is not behind it.
    ///
    /// # Errors
    /// [`OutOfBounds`] if there is no such row or place.
    #[inline(always)]
    pub fn push(&mut self, row: usize, start: usize, end: usize) -> Result<(), OutOfBounds> {
        if row >= self.rows || start > self.places || end > self.places {
            return Err(OutOfBounds);
        }
        let count = end.saturating_sub(start);
        if count > 0 || self.folds[0].1.empty {
            self.block.push(Segment { row, start, count });
            self.held += count;
            let elements = || self.held.saturating_mul(self.width());
            let full = self.folds.len() > 1 && elements() >= SHARED;
            if self.block.len() == BLOCK || full {
                self.flush();
            }
        }
        Ok(())
    }

    /// Pushes the groups of a range, whose rows in the outputs begin with the destination's row
    /// `first_row`, at every coordinate, and reduces them. `step` is told now and then how many
    /// elements were joined, and stops the run by returning false.
    ///
    /// # Errors
    /// [`Problem::Layout`] if there is no such group, or not its row.
    pub fn push_groups(
        &mut self,
        range: Range<usize>,
        first_row: usize,
        step: &mut dyn FnMut(usize) -> bool,
    ) -> Result<bool, Problem> {
        let refuse = || Problem::Layout {
            argument: "src".into(),
            why: "it does not fit the groups".into(),
        };
        let groups = self.groups.ok_or_else(refuse)?;
        if range.end > groups.len() {
            return Err(refuse());
        }
        loop {
            for group in range.clone() {
                let row = groups.row(group).checked_sub(first_row);
                let row = row.ok_or_else(refuse)?;
                self.push(row, groups.start(group), groups.start(group + 1))
                    .map_err(|OutOfBounds| refuse())?;
                if self.done > 0 && !step(self.take_done()) {
                    return Ok(false);
                }
            }
            if !self.advance() {
                return Ok(step(self.take_done()));
            }
        }
    }

    /// Elements of a row.
    #[inline(always)]
    fn width(&self) -> usize {
        let outer = self.outer.iter().map(|(len, _)| len);
        outer.product::<usize>().saturating_mul(self.inner.0)
    }

    /// Reduces the segments that have been handed over. What is not flushed is not done.
    pub fn flush(&mut self) {
        let elements = self.held.saturating_mul(self.width());
        self.done = self.done.saturating_add(elements);
        let coordinates: usize = self.outer.iter().map(|(len, _)| len).product();
        let nothing = self.outputs[0].is_empty() || self.block.is_empty();
        for coordinate in 0..if nothing { 0 } else { coordinates } {
            self.reduce_at(coordinate);
        }
        self.block.clear();
        self.held = 0;
    }

    /// Reduces them at one of the coordinates behind the rows, but for the innermost.
    fn reduce_at(&mut self, coordinate: usize) {
        let (mut rest, mut at) = (coordinate, Steps::from_elem(0, self.outputs.len() + 1));
        for (len, steps) in self.outer.iter().rev() {
            let k = (rest % len).cast_signed();
            rest /= len;
            for (at, step) in at.iter_mut().zip(steps) {
                *at += k * step;
            }
        }
        let (strides, batch, axis) = (self.src.layout().strides(), &self.batch, self.axis);
        let src = self.src.as_ptr();
        let src = src.wrapping_offset(at[0] + batch.offset(&strides[..axis]));
        let steps = &self.inner.1;
        let cells = self.outputs.iter_mut().zip(1..).map(|(output, n)| {
            let first = output.as_mut_ptr();
            let strides = output.layout().strides();
            Cells {
                first: first.wrapping_offset(at[n] + batch.offset(&strides[..axis])),
                row: strides[axis],
                step: steps[n],
            }
        });
        let mut cells = cells.into_iter();
        for (loops, fold) in &self.folds {
            let Some(output) = cells.next() else {
                return;
            };
            let positions = fold.none.and_then(|_| cells.next());
            let job = Job {
                segments: &self.block,
                order: self.groups.map_or(UpdateOrder::Same, Csr::order),
                places: self.places,
                fold: *fold,
                src,
                src_row: strides[axis],
                len: self.inner.0,
                src_step: steps[0],
                output,
                positions: positions.unwrap_or(output),
                past_caches: self.past_caches,
            };
            // SAFETY: `push` has checked rows and places, and `Csr` has checked that its updates
            // are rows of the source. The batch is a coordinate of the axes before the rows, and
            // the others are inside the axes behind, which `new` has found to be the same on all
            // sides. Views are valid for their elements; `new` has refused what overlaps. The loops
            // are those of the dtype, and each fold has its outputs.
            unsafe { loops(&job) };
        }
    }

    /// How many elements have been gone over since this was asked last.
    pub fn take_done(&mut self) -> usize {
        std::mem::take(&mut self.done)
    }
}

/// Whether an output shares a byte with the source or another output, or two of its elements do.
fn overlap(src: &DynView<'_>, outputs: &mut [DynViewMut<'_>]) -> bool {
    let at: SmallVec<[usize; 2]> = outputs.iter_mut().map(|o| o.as_mut_ptr().addr()).collect();
    let layout = |n: usize| outputs[n].layout();
    (0..outputs.len()).any(|n| {
        overlaps_itself(layout(n))
            || overlap_each_other(at[n], layout(n), src.as_ptr().addr(), src.layout())
            || (0..n).any(|m| overlap_each_other(at[n], layout(n), at[m], layout(m)))
    })
}

/// The loops of a fold, which may be changed to one of the same result.
fn loops(dtype: DType, mut fold: Fold) -> Result<(Loops, Fold), Problem> {
    let unsupported = || Problem::Unsupported {
        what: "this reduction of rows".into(),
        dtype,
    };
    // No bool is beyond both: its first one always wins.
    if dtype == DType::Bool && fold.seed == Seed::FiniteExtreme {
        fold.seed = Seed::Identity;
        if fold.finish == Finish::ZeroIfStart {
            fold.finish = Finish::ZeroIfNoNumber;
        }
    }
    macro_rules! real {
        ($t:ident => $column:ty) => {
            for_dtype!(dtype, $t => run::<$column>, complex C => return Err(unsupported()))
        };
    }
    let loops: Loops = match (fold.combine, fold.none) {
        (Combine::Sum, None) if fold.exact && rounds(dtype) => {
            let plain = fold.seed == Seed::Identity && fold.finish == Finish::None;
            match dtype {
                DType::F16 if plain => exact_sum::run::<f16>,
                DType::BF16 if plain => exact_sum::run::<bf16>,
                DType::F32 if plain => exact_sum::run::<f32>,
                DType::F64 if plain => exact_sum::run_pairs,
                _ => return Err(unsupported()),
            }
        }
        (Combine::Sum, None) => {
            for_dtype!(dtype, T => run::<Sum<T>>, complex C => run::<Sum<C>>)
        }
        (Combine::Prod, None) => {
            for_dtype!(same_bits(dtype), T => run::<Prod<T>>, complex C => run::<Prod<C>>)
        }
        (Combine::Min(Nan::Ignore), None) => {
            real!(T => MinMaxSelect<T, false, { !<T as Ordered>::PLAIN }>)
        }
        (Combine::Max(Nan::Ignore), None) => {
            real!(T => MinMaxSelect<T, true, { !<T as Ordered>::PLAIN }>)
        }
        (Combine::Min(Nan::Propagate), None) => real!(T => MinMaxSelect<T, false, false>),
        (Combine::Max(Nan::Propagate), None) => real!(T => MinMaxSelect<T, true, false>),
        (Combine::Min(_), Some(_)) => real!(T => Winner<T, false>),
        (Combine::Max(_), Some(_)) => real!(T => Winner<T, true>),
        _ => return Err(unsupported()),
    };
    Ok((loops, fold))
}

/// # Safety
/// As for [`Loops`].
unsafe fn run<R: Column>(job: &Job<'_>) {
    let numbered = |segment: &Segment| segment.count < EARLIER as usize;
    let single = job.len == 1 && (!R::POSITIONS || job.segments.iter().all(numbered));
    let in_order = matches!(job.order, UpdateOrder::Same)
        && job.src_row == size_of::<R::Value>().cast_signed();
    // SAFETY: the caller keeps the contract of `Loops`, which is that of all loops.
    unsafe {
        match (single, in_order) {
            // Elements that are read one by one gain nothing from vectors.
            (true, false) => elements::listed::<R>(job, Baseline),
            (true, true) if !R::HOT => elements::in_order::<R>(job, Baseline),
            (true, true) => vectorized_twice!(|isa| elements::in_order::<R>(job, isa)),
            (false, _) => vectorized_if!(R::HOT && R::WIDE, |isa| rows::<R>(job, isa)),
        }
    }
    if job.past_caches {
        fence();
    }
}
