//! Runs of rows: an array along one axis says which rows of source and destination belong together,
//! for all of the axes behind it.
//!
//! Nothing has to be listed or sorted: rows that belong to one row of the other side lie one after
//! the other, so a part of a run reads its stretch of the pointers or of the index, some values at
//! a time, checks them, and hands each run to the kernel ([`Segments`],
//! [`strew_kernel::copy::repeat::RepeatRows`]).

use crate::describe::pairing::Pairing;
use crate::describe::split::Split;
use crate::describe::strategy::Strategy;
use crate::strategy::record::{Did, did};
use crate::threads::crew::Crew;
use crate::threads::groups::{cut, partition_point};
use crate::threads::pass::Fault;
use crate::thresholds::{BY_RUN, PIECE_OF_ROW};
use std::ops::Range;
use strew_kernel::copy::repeat::RepeatRows;
use strew_kernel::cpu::fp_env::DefaultFloats;
use strew_kernel::error::Problem;
use strew_kernel::groups::batch::Batch;
use strew_kernel::runtime::monitor::{Progress, Watch};
use strew_kernel::runtime::threads::available;
use strew_kernel::segment::fold::Fold;
use strew_kernel::segment::reduce::Segments;
use strew_kernel::tensor::{DynView, DynViewMut};
use strew_kernel::walk::geometry::OutOfBounds;

/// Values of the array that are read at a time.
const CHUNK: usize = 256;

/// The array, and what it means.
#[derive(Clone, Copy)]
pub(crate) struct Paired<'r, 'a> {
    /// Its last axis is that of the rows; the others are source's and destination's.
    pub index: &'r DynView<'a>,
    pub pairing: Pairing,
    pub axis: usize,
}

/// Where rows are written.
pub(crate) struct RunsOutputs<'o> {
    /// The destination, and the positions if there are any.
    pub all: Vec<DynViewMut<'o>>,
    /// The caller can see it, so nothing may be written before all is checked.
    pub visible: bool,
}

/// One part of a run: the destination's rows that it alone writes, or its stretch of another axis.
struct RunsPart<'p, 'a> {
    index: DynView<'a>,
    src: DynView<'p>,
    outputs: Vec<DynViewMut<'p>>,
    rows: Range<usize>,
}

/// Who takes runs.
trait Taker {
    fn batch(&self) -> &Batch;
    fn advance(&mut self) -> bool;
    /// The row of the one side, and the rows of the other.
    fn push(&mut self, row: usize, start: usize, end: usize) -> Result<(), OutOfBounds>;
    fn flush(&mut self);
    fn take_done(&mut self) -> usize;
}

macro_rules! taker {
    ($($type:ty),*) => {$(
        impl Taker for $type {
            fn batch(&self) -> &Batch {
                <$type>::batch(self)
            }
            fn advance(&mut self) -> bool {
                <$type>::advance(self)
            }
            #[inline(always)]
            fn push(&mut self, row: usize, start: usize, end: usize) -> Result<(), OutOfBounds> {
                <$type>::push(self, row, start, end)
            }
            fn flush(&mut self) {
                <$type>::flush(self);
            }
            fn take_done(&mut self) -> usize {
                <$type>::take_done(self)
            }
        }
    )*};
}

taker!(Segments<'_>, RepeatRows<'_>);

/// Only looks whether the rows are there.
struct Look {
    batch: Batch,
    /// Rows of the one side and of the other.
    rows: [usize; 2],
    width: usize,
    done: usize,
}

impl Taker for Look {
    fn batch(&self) -> &Batch {
        &self.batch
    }

    fn advance(&mut self) -> bool {
        self.batch.advance()
    }

    fn push(&mut self, row: usize, start: usize, end: usize) -> Result<(), OutOfBounds> {
        let [one, other] = self.rows;
        self.done += end.saturating_sub(start).saturating_mul(self.width);
        match row >= one || start > other || end > other {
            true => Err(OutOfBounds),
            false => Ok(()),
        }
    }

    fn flush(&mut self) {}

    fn take_done(&mut self) -> usize {
        std::mem::take(&mut self.done)
    }
}

impl<'a> Paired<'_, 'a> {
    /// Runs it, shared out as [`split`](Self::split) says.
    ///
    /// On a fault nothing that the caller can see has been written, unless the array was changed by
    /// somebody else during the run. [`Fault::OutOfBounds`] is also for an index that does not
    /// ascend.
    pub(crate) fn run(
        &self,
        src: &DynView<'_>,
        outputs: RunsOutputs<'_>,
        fold: Fold,
        split: Option<(Split, usize)>,
    ) -> Result<(), Fault> {
        let RunsOutputs { all, visible } = outputs;
        let watch = Watch::take();
        let crew = Crew::new(split.map_or(1, |(_, threads)| threads), watch.monitor());
        did(Did::Strategy(Strategy::Runs));
        let rows = [all[0].shape(), src.shape()].map(|shape| shape[self.axis]);
        let one_other = if self.pairing.copies() {
            [rows[1], rows[0]]
        } else {
            rows
        };
        let elements = src.len().max(all[0].len()) as u64;
        let passes = 1 + u64::from(visible);
        let total = elements.saturating_mul(passes);
        if visible {
            let width = src.shape()[self.axis + 1..].iter().product();
            let mut look = Look {
                batch: Batch::over(&src.shape()[..self.axis]),
                rows: one_other,
                width,
                done: 0,
            };
            let mut progress = crew.caller().progress(0, total);
            self.go(self.index, 0..rows[0], rows[0], &mut look, &mut progress)?;
        }
        let whole = RunsPart {
            index: self.index.clone(),
            src: src.clone(),
            outputs: all,
            rows: 0..rows[0],
        };
        let parts = match split.filter(|_| crew.threads() > 1) {
            Some((split, threads)) => {
                did(Did::Split(split, threads));
                self.parts(whole, split, threads)
            }
            None => vec![whole],
        };
        crew.each(parts, |part, worker| {
            let _floats = DefaultFloats::enter();
            let mut progress = worker.progress(total - elements, total);
            if visible {
                progress.writes_are_visible();
            }
            self.run_part(part, rows[0], fold, &mut progress)
        })?;
        Ok(())
    }

    fn run_part(
        &self,
        part: RunsPart<'_, 'a>,
        size: usize,
        fold: Fold,
        progress: &mut Progress<'_>,
    ) -> Result<(), Fault> {
        let RunsPart {
            index,
            src,
            mut outputs,
            rows,
        } = part;
        match self.pairing.copies() {
            true => {
                let dst = outputs.swap_remove(0);
                let mut spread = RepeatRows::new(&src, dst, self.axis)?;
                self.go(&index, rows, size, &mut spread, progress)
            }
            false => {
                let mut runs = Segments::new(&src, outputs, None, self.axis, &[fold], false)?;
                self.go(&index, rows, size, &mut runs, progress)
            }
        }
    }

    /// Goes over the runs of the destination's rows `rows`, of `size` in all.
    fn go(
        &self,
        index: &DynView<'_>,
        rows: Range<usize>,
        size: usize,
        taker: &mut impl Taker,
        progress: &mut Progress<'_>,
    ) -> Result<(), Fault> {
        let (shape, strides) = (index.shape(), index.layout().strides());
        if shape[..self.axis].contains(&0) {
            return Ok(());
        }
        loop {
            let line = RunLine {
                index,
                at: taker.batch().offset(strides),
                stride: strides[self.axis],
                count: shape[self.axis],
            };
            self.go_line(line, rows.clone(), size, taker, progress)?;
            if !taker.advance() {
                break;
            }
        }
        taker.flush();
        told(taker, progress)
    }

    /// Goes over the runs of the destination's rows `rows`, of `size` in all, at one coordinate of
    /// the array's other axes.
    #[inline(always)] // Part of the loop of `go`.
    fn go_line(
        &self,
        line: RunLine<'_, '_>,
        rows: Range<usize>,
        size: usize,
        taker: &mut impl Taker,
        progress: &mut Progress<'_>,
    ) -> Result<(), Fault> {
        match self.pairing {
            Pairing::Pointers => {
                let first = rows.start;
                line.pointers(rows, taker, progress, |taker, n, start, end| {
                    taker.push(n - first, start, end)
                })
            }
            Pairing::Spread => {
                let all = 0..line.count.saturating_sub(1);
                line.pointers(all, taker, progress, |taker, n, start, end| {
                    if start > size || end > size {
                        return Err(OutOfBounds);
                    }
                    // The others' rows are left out.
                    let start = start.clamp(rows.start, rows.end) - rows.start;
                    let end = end.clamp(rows.start, rows.end) - rows.start;
                    taker.push(n, start, end)
                })
            }
            Pairing::Ascending => {
                let from = line.first_from(rows.start, size);
                let to = line.first_from(rows.end, size);
                let (low, first) = (rows.start, rows.start);
                line.ascending(from..to, low, taker, progress, |taker, row, start, end| {
                    taker.push(row - first, start, end)
                })
            }
            Pairing::Picked => {
                // Not below the row that the part before ends with.
                let low = match rows.start.checked_sub(1) {
                    None => 0,
                    Some(before) => line.value(before).and_then(row_of)?,
                };
                let first = rows.start;
                line.ascending(rows, low, taker, progress, |taker, row, start, end| {
                    taker.push(row, start - first, end - first)
                })
            }
        }
    }

    /// How to share the run out, if it pays, and among how many threads. `many` is the shape of the
    /// side of which runs are made.
    pub(crate) fn split(
        &self,
        many: &[usize],
        rows: usize,
        size: usize,
        forced: Option<(Split, usize)>,
    ) -> Result<Option<(Split, usize)>, Problem> {
        if let Some((split, threads)) = forced {
            let obstacle = match split {
                _ if threads == 0 => Some("it takes at least one thread"),
                Split::Owner => None,
                Split::Updates => Some("each row is made at once"),
                Split::Axis(k) if k >= many.len() => Some("the updates have no such axis"),
                Split::Axis(k) if k == self.axis => {
                    Some("the axis does not walk along an axis of the destination of its own")
                }
                Split::Axis(_) => None,
            };
            return match obstacle {
                None => Ok(forced),
                Some(why) => Err(Problem::Strategy {
                    strategy: split.name(),
                    why,
                }),
            };
        }
        let bytes = many.iter().fold(size, |all, &len| all.saturating_mul(len));
        let threads = available().min(bytes / BY_RUN);
        if threads < 2 {
            return Ok(None);
        }
        let inside = |k: usize| {
            let inner = many[k + 1..].iter();
            inner.fold(size, |all, &len| all.saturating_mul(len))
        };
        let batch = (0..self.axis).find(|&k| many[k] >= threads);
        let window = (self.axis + 1..many.len())
            .find(|&k| (many[k] / threads).saturating_mul(inside(k)) >= PIECE_OF_ROW);
        // A few rows may be of very different lengths.
        let few = rows < 8 * threads;
        let split = match (batch, window) {
            (Some(k), _) => Split::Axis(k),
            (None, Some(k)) if few && !self.pairing.copies() => Split::Axis(k),
            _ => Split::Owner,
        };
        Ok(Some((split, threads)))
    }

    fn parts<'p>(
        &self,
        whole: RunsPart<'p, 'a>,
        split: Split,
        threads: usize,
    ) -> Vec<RunsPart<'p, 'a>> {
        let axis = match split {
            Split::Axis(k) => k,
            Split::Owner | Split::Updates => self.axis,
        };
        let len = whole.outputs[0].shape().get(axis).copied().unwrap_or(0);
        let (mut parts, mut rest, mut from) = (Vec::with_capacity(threads), whole, 0);
        for n in 1..threads {
            let at = match axis == self.axis {
                true => self.row_cut(len, n, threads),
                false => len * n / threads,
            };
            if at > from && at < len {
                let (part, other) = self.cut(rest, axis, at - from);
                parts.push(part);
                (rest, from) = (other, at);
            }
        }
        parts.push(rest);
        parts
    }

    /// The destination's row at which part `n` of so many begins: each has about as much to do.
    fn row_cut(&self, size: usize, n: usize, parts: usize) -> usize {
        let line = RunLine {
            index: self.index,
            at: 0,
            stride: self.index.layout().strides()[self.axis],
            count: self.index.shape()[self.axis],
        };
        let value = |k: usize| line.value(k).and_then(row_of).unwrap_or(0);
        match self.pairing {
            _ if self.index.is_empty() => 0,
            Pairing::Spread | Pairing::Picked => size / parts * n,
            Pairing::Ascending => value(line.count / parts * n),
            // A row costs something even if little goes there.
            Pairing::Pointers => {
                let last = line.count - 1;
                let rows = size.min(last);
                let weight = |row: usize| value(row).saturating_add(row);
                let (low, high) = (weight(0), weight(rows));
                let wanted = low + high.saturating_sub(low) / parts * n;
                partition_point(rows, |row| weight(row) < wanted)
            }
        }
    }

    /// Cuts a part at a coordinate of an axis.
    fn cut<'p>(
        &self,
        part: RunsPart<'p, 'a>,
        k: usize,
        at: usize,
    ) -> (RunsPart<'p, 'a>, RunsPart<'p, 'a>) {
        let (outputs, other_outputs) = cut(part.outputs, k, at);
        let mut low = RunsPart {
            index: part.index.clone(),
            src: part.src.clone(),
            outputs,
            rows: part.rows.clone(),
        };
        let mut high = RunsPart {
            outputs: other_outputs,
            ..part
        };
        if k == self.axis {
            low.rows.end = low.rows.start + at;
            high.rows.start = low.rows.end;
        } else {
            (low.src, high.src) = halves(&high.src, k, at);
            if k < self.axis {
                (low.index, high.index) = halves(&high.index, k, at);
            }
        }
        (low, high)
    }
}

/// The parts of a view before and behind a coordinate of an axis.
fn halves<'v>(view: &DynView<'v>, axis: usize, at: usize) -> (DynView<'v>, DynView<'v>) {
    const INSIDE: &str = "the cut is on the axis";
    let low = view.narrow(axis, 0, at).expect(INSIDE);
    let rest = view.shape()[axis] - at;
    (low, view.narrow(axis, at, rest).expect(INSIDE))
}

/// A row number as it is used.
fn row_of(value: i64) -> Result<usize, OutOfBounds> {
    usize::try_from(value).map_err(|_| OutOfBounds)
}

/// Says how many elements have been gone over.
fn told(taker: &mut impl Taker, progress: &mut Progress<'_>) -> Result<(), Fault> {
    match progress.step(taker.take_done()) {
        true => Ok(()),
        false => Err(Problem::Interrupted.into()),
    }
}

/// The values of the array at one coordinate of its other axes.
#[derive(Clone, Copy)]
struct RunLine<'l, 'a> {
    index: &'l DynView<'a>,
    /// Byte offset of the first, and from one to the next.
    at: isize,
    stride: isize,
    count: usize,
}

impl RunLine<'_, '_> {
    fn read(self, from: usize, to: &mut [i64]) -> Result<(), OutOfBounds> {
        let at = self.at + from.cast_signed() * self.stride;
        match self.index.read_integers(at, self.stride, to) {
            true => Ok(()),
            false => Err(OutOfBounds),
        }
    }

    fn value(self, k: usize) -> Result<i64, OutOfBounds> {
        let mut one = [0];
        self.read(k, &mut one)?;
        Ok(one[0])
    }

    /// The first place whose value is not below a row; there is nothing to look for at the first
    /// and behind the last row.
    fn first_from(self, row: usize, size: usize) -> usize {
        if row == 0 || row >= size {
            return if row == 0 { 0 } else { self.count };
        }
        let below = |k: usize| self.value(k).is_ok_and(|value| value < row as i64);
        partition_point(self.count, below)
    }

    /// Hands over the run of each of the pointers `rows`.
    #[inline(always)]
    fn pointers<T: Taker>(
        self,
        rows: Range<usize>,
        taker: &mut T,
        progress: &mut Progress<'_>,
        push: impl Fn(&mut T, usize, usize, usize) -> Result<(), OutOfBounds>,
    ) -> Result<(), Fault> {
        // Of no rows there may be no pointer at all.
        let end = rows.end.min(self.count.saturating_sub(1));
        let mut values = [0; CHUNK + 1];
        for from in (rows.start..end).step_by(CHUNK) {
            let count = CHUNK.min(end - from);
            let values = &mut values[..=count];
            self.read(from, values)?;
            for (k, pair) in values.windows(2).enumerate() {
                let [start, end] = [row_of(pair[0])?, row_of(pair[1])?];
                push(taker, from + k, start, end)?;
            }
            told(taker, progress)?;
        }
        Ok(())
    }

    /// Hands over each run of equal values among the places `range`; none may be below the one
    /// before it, nor below `low`.
    #[inline(always)]
    fn ascending<T: Taker>(
        self,
        range: Range<usize>,
        low: usize,
        taker: &mut T,
        progress: &mut Progress<'_>,
        push: impl Fn(&mut T, usize, usize, usize) -> Result<(), OutOfBounds>,
    ) -> Result<(), Fault> {
        if range.start > range.end {
            return Err(Fault::OutOfBounds);
        }
        let low = low as i64;
        let mut values = [0; CHUNK];
        let mut starts = [0; CHUNK];
        // The run that goes on: its row, and where it began.
        let mut open: Option<(usize, usize)> = None;
        let mut before = -1;
        for from in range.clone().step_by(CHUNK) {
            let count = CHUNK.min(range.end - from);
            let values = &mut values[..count];
            self.read(from, values)?;
            // Without a branch, since nobody can tell where a run ends.
            let (mut found, mut falls) = (0, false);
            for (k, &value) in values.iter().enumerate() {
                starts[found] = k;
                found += usize::from(value != before);
                falls |= value < before.max(low);
                before = value;
            }
            if falls {
                return Err(Fault::OutOfBounds);
            }
            for &k in &starts[..found] {
                let start = from + k;
                if let Some((row, began)) = open {
                    push(taker, row, began, start)?;
                }
                open = Some((row_of(values[k])?, start));
            }
            told(taker, progress)?;
        }
        match open {
            Some((row, began)) => Ok(push(taker, row, began, range.end)?),
            None => Ok(()),
        }
    }
}
