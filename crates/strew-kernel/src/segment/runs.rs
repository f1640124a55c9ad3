//! Rows of the destination that each reduce a contiguous run of the source's rows.
//!
//! ```text
//! push(row, start, end): check both against the arrays; keep byte offsets, up to BLOCK of them
//! flush:                 for each coordinate of the outer axes: loops(kept runs)
//! ```
//!
//! The loops ([`runs_sum`], [`runs_minmax`])
//! keep the running row in registers or in the nearest cache and write it once. A run is
//! contiguous, so no index is read inside it. Cost: each row of a run is read once, and each row of
//! the destination is written once, and read if the run starts from it.
//!
//! # Unsafe
//!
//! - Buys: rows of runs in one job
//! - Measured: that of `segment/runs_sum.rs` and `segment/runs_minmax.rs`, whose loops it calls
//! - Holds: `push` checked each run's rows; the following axes are the same on both sides

use crate::error::Problem;
use crate::ops::for_dtype::for_dtype;
use crate::ops::order::Ordered;
use crate::ops::reduction::{Combine, Nan};
use crate::segment::run_job::{Job, Run, RunFold, RunStart, Steps};
use crate::segment::{runs_minmax, runs_sum};
use crate::tensor::{DType, Dims, DynView, DynViewMut};
use crate::walk::geometry::OutOfBounds;
use smallvec::SmallVec;

/// A coordinate on the axes before that of the rows.
pub struct Batch {
    axes: SmallVec<[(usize, Steps); 2]>,
    at: Dims,
    /// Where it is.
    pub(crate) base: Steps,
}

impl Batch {
    /// The first coordinate of a shape.
    pub(crate) fn new(shape: &[usize], steps: impl Fn(usize) -> Steps) -> Self {
        let axes = shape.iter().enumerate();
        Self {
            axes: axes.map(|(k, &len)| (len, steps(k))).collect(),
            at: Dims::from_elem(0, shape.len()),
            base: [0; 3],
        }
    }

    /// The first coordinate of a shape, without byte offsets.
    pub fn over(shape: &[usize]) -> Self {
        Self::new(shape, |_| [0; 3])
    }

    /// The coordinate.
    pub fn at(&self) -> &[usize] {
        &self.at
    }

    /// Goes on to the next one; false behind the last.
    pub fn advance(&mut self) -> bool {
        for (at, (len, steps)) in self.at.iter_mut().zip(&self.axes).rev() {
            *at += 1;
            let within = *at < *len;
            // Back to the first is as many steps as there were.
            let moved = if within { 1 } else { 1 - len.cast_signed() };
            for (base, step) in self.base.iter_mut().zip(steps) {
                *base += moved * step;
            }
            if within {
                return true;
            }
            *at = 0;
        }
        false
    }
}

/// The loops of one element type.
///
/// # Safety
/// For every run of the job, the elements of its rows of the source must be valid for reading, and
/// those of its row of the destination (and, where positions are written, of the arg output, as
/// `i64`) for reading and writing, at every coordinate of the innermost axis. They are of the
/// loops' type. Destination and arg output overlap neither each other nor the source.
pub(crate) type Loops = unsafe fn(&Job<'_>);

/// Runs that are found before they are done.
const BLOCK: usize = 128;

/// Reduces runs of a source's rows into the rows of a destination.
pub struct Runs<'r> {
    loops: Loops,
    fold: RunFold,
    src: DynView<'r>,
    dst: DynViewMut<'r>,
    arg: Option<DynViewMut<'r>>,
    axis: usize,
    /// Along the axis of the rows.
    row: Steps,
    /// The axes behind that of the rows, but for the innermost.
    outer: SmallVec<[(usize, Steps); 2]>,
    inner: (usize, Steps),
    batch: Batch,
    block: Vec<Run>,
    done: usize,
}

impl<'r> Runs<'r> {
    /// Rows lie along `axis`; all other axes of source, destination and arg output (`i64`) are the
    /// same.
    ///
    /// # Errors
    /// [`Problem::Layout`] if they are not; [`Problem::Unsupported`] for a reduction that runs do
    /// not have.
    pub fn new(
        src: &DynView<'r>,
        dst: DynViewMut<'r>,
        arg: Option<DynViewMut<'r>>,
        axis: usize,
        mut fold: RunFold,
    ) -> Result<Self, Problem> {
        let dtype = dst.dtype();
        let whole_arg = arg
            .as_ref()
            .is_none_or(|a| a.dtype() == DType::I64 && a.shape() == dst.shape());
        if !alike(src, &dst, axis) || !whole_arg {
            return Err(Problem::Layout {
                argument: "src".into(),
                why: "it does not fit the output".into(),
            });
        }
        // No bool is beyond both: its first one always wins.
        if dtype == DType::Bool && fold.start == RunStart::FiniteExtreme {
            fold.start = RunStart::Nothing;
        }
        let loops = loops(dtype, fold.combine, arg.is_some()).ok_or(Problem::Unsupported {
            what: "this reduction of runs".into(),
            dtype,
        })?;
        let steps = |k: usize| -> Steps {
            [
                src.layout().strides()[k],
                dst.layout().strides()[k],
                arg.as_ref().map_or(0, |a| a.layout().strides()[k]),
            ]
        };
        // The axes behind the rows', those made one that can be.
        let mut outer: SmallVec<[(usize, Steps); 2]> = SmallVec::new();
        for k in (axis + 1..src.rank()).filter(|&k| src.shape()[k] != 1) {
            let (len, step) = (src.shape()[k], steps(k));
            let whole = |s: isize| s.checked_mul(len.cast_signed());
            match outer.last_mut() {
                Some((all, old)) if (0..3).all(|n| whole(step[n]) == Some(old[n])) => {
                    *all *= len;
                    *old = step;
                }
                _ => outer.push((len, step)),
            }
        }
        let size = dtype.size().cast_signed();
        let row = steps(axis);
        let one = (1, [size, size, size_of::<i64>().cast_signed()]);
        // Rows that are columns of memory are summed up one column after the other.
        let columns = row[0] == size && outer.last().is_some_and(|(_, step)| step[0] != size);
        let inner = match columns {
            true => one,
            false => outer.pop().unwrap_or(one),
        };
        Ok(Self {
            loops,
            fold,
            src: src.clone(),
            axis,
            row,
            outer,
            inner,
            batch: Batch::new(&src.shape()[..axis], steps),
            block: Vec::with_capacity(BLOCK),
            done: 0,
            dst,
            arg,
        })
    }

    /// The coordinate on the axes before that of the rows. Runs that are pushed belong to it.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Moves on to the next coordinate; false behind the last.
    ///
    /// Nothing else moves the batch: `flush` relies on its being a coordinate of these arrays.
    pub fn advance(&mut self) -> bool {
        self.batch.advance()
    }

    /// Row `row` of the destination takes the source's rows from `start` up to `end`, none if that
    /// is not behind it.
    ///
    /// # Errors
    /// [`OutOfBounds`] if there are no such rows.
    #[inline(always)]
    pub fn push(&mut self, row: usize, start: usize, end: usize) -> Result<(), OutOfBounds> {
        let rows = self.dst.shape()[self.axis];
        let source = self.src.shape()[self.axis];
        if row >= rows || start > source || end > source {
            return Err(OutOfBounds);
        }
        let at = |n: usize, row: usize| {
            // An empty run may begin behind the last row: its address is never used.
            let moved = row.cast_signed().wrapping_mul(self.row[n]);
            self.batch.base[n].wrapping_add(moved)
        };
        self.block.push(Run {
            src: at(0, start),
            dst: at(1, row),
            arg: at(2, row),
            count: end.saturating_sub(start),
            first: start,
        });
        if self.block.len() == BLOCK {
            self.flush();
        }
        Ok(())
    }

    /// Does the runs that have been handed over. What is not flushed is not done.
    pub fn flush(&mut self) {
        let (len, steps) = self.inner;
        let coordinates: usize = self.outer.iter().map(|(len, _)| len).product();
        let nothing = self.dst.is_empty() || self.block.is_empty();
        for coordinate in 0..if nothing { 0 } else { coordinates } {
            let (mut rest, mut at) = (coordinate, [0isize; 3]);
            for (len, steps) in self.outer.iter().rev() {
                let k = (rest % len).cast_signed();
                rest /= len;
                for (at, step) in at.iter_mut().zip(steps) {
                    *at += k * step;
                }
            }
            let arg = self.arg.as_mut().map(DynViewMut::as_mut_ptr);
            let job = Job {
                runs: &self.block,
                src: self.src.as_ptr().wrapping_offset(at[0]),
                dst: self.dst.as_mut_ptr().wrapping_offset(at[1]),
                arg: arg.map_or(std::ptr::null_mut(), |arg| arg.wrapping_offset(at[2])),
                src_row: self.row[0],
                len,
                steps,
                fold: self.fold,
            };
            // SAFETY: `push` has checked the rows, the batch is a coordinate of the axes before
            // them, and the other coordinates are inside the axes behind, which `new` has found to
            // be the same on all sides. Views are valid for their elements; a mutable one overlaps
            // no other, and what overlaps itself is refused before. The loops are those of the
            // dtype; they write positions if there is an arg output.
            unsafe { (self.loops)(&job) };
        }
        let elements = len.saturating_mul(coordinates);
        let rows = self.block.iter().map(|run| run.count);
        let rows = rows.fold(0, usize::saturating_add);
        self.done = self.done.saturating_add(rows.saturating_mul(elements));
        self.block.clear();
    }

    /// How many elements have been gone over since this was asked last.
    pub fn take_done(&mut self) -> usize {
        std::mem::take(&mut self.done)
    }
}

/// Whether two arrays differ in nothing but their rows.
pub(crate) fn alike(one: &DynView<'_>, other: &DynViewMut<'_>, axis: usize) -> bool {
    axis < one.rank()
        && one.dtype() == other.dtype()
        && one.rank() == other.rank()
        && (0..one.rank()).all(|k| k == axis || one.shape()[k] == other.shape()[k])
}

pub(crate) fn loops(dtype: DType, combine: Combine, arg: bool) -> Option<Loops> {
    Some(match (combine, arg) {
        (Combine::Sum, false) => {
            for_dtype!(dtype, T => runs_sum::run::<T, false>, complex C => runs_sum::run::<C, false>)
        }
        (Combine::Prod, false) => {
            for_dtype!(dtype, T => runs_sum::run::<T, true>, complex C => runs_sum::run::<C, true>)
        }
        (Combine::Min(Nan::Ignore), false) => {
            for_dtype!(dtype, T => runs_minmax::run::<T, false, false>, complex C => return None)
        }
        (Combine::Min(Nan::Propagate), false) => for_dtype!(
            dtype,
            T => runs_minmax::run::<T, false, { !<T as Ordered>::PLAIN }>,
            complex C => return None
        ),
        (Combine::Max(Nan::Ignore), false) => {
            for_dtype!(dtype, T => runs_minmax::run::<T, true, false>, complex C => return None)
        }
        (Combine::Max(Nan::Propagate), false) => for_dtype!(
            dtype,
            T => runs_minmax::run::<T, true, { !<T as Ordered>::PLAIN }>,
            complex C => return None
        ),
        (Combine::Min(_), true) => {
            for_dtype!(dtype, T => runs_minmax::run_with_arg::<T, false>, complex C => return None)
        }
        (Combine::Max(_), true) => {
            for_dtype!(dtype, T => runs_minmax::run_with_arg::<T, true>, complex C => return None)
        }
        _ => return None,
    })
}
