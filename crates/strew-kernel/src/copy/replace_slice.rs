//! Copies an array and replaces one slice of it, in a single pass over the output.
//!
//! ```text
//! for each cache line of the output:
//!     the slice covers all of it   -> the updates' bytes
//!     the slice covers none of it  -> the input's bytes
//!     the slice covers a part      -> the input's line, with the updates put in
//!     store the line past the caches
//! ```
//!
//! Cost: each output byte is written once and never read. A copy followed by an update writes the
//! slice's bytes twice.
//! It runs for contiguous inputs, rows of whole lines and at least `SHORTEST` bytes, and steps of 1
//! or 2 within a row. The engine uses it for outputs of at least
//! [`LARGE`](crate::copy::strided::LARGE) bytes.
//! It relies on the checks in [`ReplaceSlice::new`] (slice inside the input) and
//! [`ReplaceSlice::parts`] (layout, alignment and overlap of the output).
//!
//! # Unsafe
//!
//! - Buys: a copy in which a slice is replaced on the way
//! - Measured: copy first, replace then: W5a 1.85 on one thread, 1.5 on two
//! - Holds: the slice lies in the input; the output is as large as the input, and each strip has
//!   its own lines of it; tested with every step, border and element size

use crate::copy::strided::STRETCH;
use crate::cpu::nontemporal::{fence, write_past_caches};
use crate::runtime::threads::available;
use crate::tensor::{DynView, DynViewMut, apart};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;

/// A line of a cache, of which a row is a multiple.
const LINE: usize = 64;

/// Minimum row size in bytes. For shorter rows, finding the updates costs more than the copy.
const SHORTEST: usize = 512;

/// The output of the pass: the rows of an input, with the updates in place of a slice.
#[derive(Debug)]
pub struct ReplaceSlice<'w> {
    input: &'w DynView<'w>,
    updates: &'w DynView<'w>,
    /// The axes before a row, the innermost last.
    outer: SmallVec<[Slice; 4]>,
    /// Bytes of a row.
    row: usize,
    pattern: Pattern,
    /// Bytes of an element.
    size: usize,
}

/// The coordinates of one axis that the slice selects.
#[derive(Clone, Copy, Debug)]
struct Slice {
    len: usize,
    first: usize,
    step: isize,
    count: usize,
    /// Bytes from one update to the next.
    stride: isize,
}

/// What is replaced in a selected row.
#[derive(Clone, Debug)]
enum Pattern {
    /// A contiguous range of bytes.
    Block(Range<usize>),
    /// Every second element: the first one, and their number.
    EverySecond(usize, usize),
}

impl<'w> ReplaceSlice<'w> {
    /// The updates go to a copy of the input, from `first` on and `step` apart along each of its
    /// axes.
    ///
    /// `None` if the pass cannot run or its rows do not pay: gaps within a row of the input or the
    /// updates, rows that are short or no whole lines, steps within a row other than 1 and 2, or a
    /// slice that leaves the input.
    pub fn new(
        input: &'w DynView<'w>,
        updates: &'w DynView<'w>,
        first: &[usize],
        step: impl IntoIterator<Item = isize>,
    ) -> Option<Self> {
        let size = input.dtype().size();
        let alike = input.dtype() == updates.dtype()
            && input.rank() == updates.rank()
            && input.rank() == first.len();
        if !alike || updates.is_empty() || !input.layout().is_contiguous() {
            return None;
        }
        let strides = updates.layout().strides().iter();
        let axes = input.shape().iter().zip(first).zip(step);
        let axes = axes.zip(updates.shape().iter().zip(strides));
        let mut outer: SmallVec<[Slice; 4]> = axes
            .map(|(((&len, &first), step), (&count, &stride))| Slice {
                len,
                first,
                step: if count > 1 { step } else { 1 },
                count,
                stride,
            })
            .collect();
        if outer.len() != first.len() || !outer.iter().all(Slice::is_inside) {
            return None;
        }
        // From the innermost axis outwards, the first axis that the slice selects in part ends the
        // row.
        let mut row = size;
        let mut pattern = None;
        while let (None, Some(&axis)) = (&pattern, outer.last()) {
            let dense = axis.count == 1 || axis.stride == row.cast_signed();
            match axis.step {
                1 if dense && axis.count < axis.len => {
                    let from = axis.first * row;
                    pattern = Some(Pattern::Block(from..from + axis.count * row));
                }
                1 if dense => {}
                2 if dense && row == size => {
                    pattern = Some(Pattern::EverySecond(axis.first, axis.count));
                }
                _ => break,
            }
            row *= axis.len;
            outer.pop();
        }
        let fits = row.is_multiple_of(LINE) && row >= SHORTEST;
        fits.then(|| Self {
            input,
            updates,
            outer,
            row,
            pattern: pattern.unwrap_or(Pattern::Block(0..row)),
            size,
        })
    }

    /// How many bytes are written.
    pub fn bytes(&self) -> usize {
        self.input.len() * self.size
    }

    /// The number of output bytes that are the input's, or share a line with bytes that are.
    pub fn input_bytes(&self) -> usize {
        match self.pattern {
            Pattern::Block(_) => self.bytes() - self.updates.len() * self.size,
            Pattern::EverySecond(..) => self.bytes(),
        }
    }

    /// How many threads write a part of the output each.
    pub fn threads(&self) -> usize {
        available().min(self.bytes() / STRETCH).max(1)
    }

    /// Cuts the output into one part per thread. `to` may hold anything. `None` if its shape or
    /// element type is not the input's, if it has gaps, if it does not begin on a cache line, or if
    /// it overlaps the input or the updates.
    pub fn parts<'t>(
        &'t self,
        to: &'t mut DynViewMut<'_>,
    ) -> Option<impl ExactSizeIterator<Item = ReplaceSlicePart<'t>>> {
        let (at, bytes) = (to.as_mut_ptr(), self.bytes());
        let apart = apart(self.input, to) && apart(self.updates, to);
        let alike = to.dtype() == self.input.dtype()
            && to.shape() == self.input.shape()
            && to.layout().is_contiguous()
            && at.addr().is_multiple_of(LINE)
            && apart;
        let count = self.threads();
        let end = move |n: usize| n * (bytes / LINE) / count * LINE;
        alike.then(|| {
            (0..count).map(move |n| ReplaceSlicePart {
                job: self,
                to: at,
                left: end(n)..end(n + 1),
                memory: PhantomData,
            })
        })
    }

    /// Writes some of the bytes.
    ///
    /// # Safety
    /// `to` must be writable for all [bytes](Self::bytes), begin on a cache line, and be apart from
    /// the input and the updates. `range` must be whole lines, and no other thread may access it.
    unsafe fn write(&self, to: *mut u8, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let (number, from) = (at / self.row, at % self.row);
            let part = from..self.row.min(from + (range.end - at));
            let len = part.len();
            // SAFETY: `number` is a row below `bytes() / row`. The caller promises that `to` has
            // all bytes, and the input has as many. `updates_of` gives a row that `new` found
            // inside.
            unsafe {
                let first = number * self.row;
                let (input, to) = (self.input.as_ptr().add(first), to.add(first));
                match (self.updates_of(number), &self.pattern) {
                    (None, _) => write_past_caches(input.add(from), to.add(from), len),
                    (Some(updates), Pattern::Block(block)) => {
                        write_block(input, to, part, updates, block);
                    }
                    (Some(updates), &Pattern::EverySecond(first, count)) => {
                        let seconds = Seconds {
                            updates,
                            first,
                            count,
                        };
                        match self.size {
                            1 => seconds.write::<u16, 32>(input, to, part),
                            2 => seconds.write::<u32, 16>(input, to, part),
                            4 => seconds.write::<u64, 8>(input, to, part),
                            8 => seconds.write::<[u64; 2], 4>(input, to, part),
                            _ => seconds.write::<[u128; 2], 2>(input, to, part),
                        }
                    }
                }
            }
            at += len;
        }
        fence();
    }

    /// The updates that go to a row, if any do.
    fn updates_of(&self, mut row: usize) -> Option<*const u8> {
        let mut updates = self.updates.as_ptr();
        for axis in self.outer.iter().rev() {
            let apart = (row % axis.len).cast_signed() - axis.first.cast_signed();
            row /= axis.len;
            let number = apart / axis.step;
            if apart % axis.step != 0 || !(0..axis.count.cast_signed()).contains(&number) {
                return None;
            }
            updates = updates.wrapping_offset(number * axis.stride);
        }
        Some(updates)
    }
}

/// One thread's part of the output.
pub struct ReplaceSlicePart<'t> {
    job: &'t ReplaceSlice<'t>,
    /// Where the first of all bytes goes.
    to: *mut u8,
    left: Range<usize>,
    memory: PhantomData<&'t mut [u8]>,
}

// SAFETY: no two parts write the same bytes. The input and the updates are borrowed shared.
unsafe impl Send for ReplaceSlicePart<'_> {}

/// Bytes written between two checks for an interrupt.
const AT_A_TIME: usize = 1 << 20;

impl ReplaceSlicePart<'_> {
    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// Writes some more, if there are any: gives how many.
    pub fn next(&mut self) -> Option<usize> {
        let Range { start, end } = self.left;
        let until = end.min(start + AT_A_TIME);
        // SAFETY: `parts` checked that the output has the input's layout, begins on a line, and is
        // apart from the input and the updates. It gave each part whole lines of its own.
        unsafe { self.job.write(self.to, start..until) };
        self.left.start = until;
        (until > start).then_some(until - start)
    }
}

impl Slice {
    /// Whether all that is selected lies on the axis.
    fn is_inside(&self) -> bool {
        let span = (self.count - 1)
            .try_into()
            .ok()
            .and_then(|last: isize| last.checked_mul(self.step));
        let last = span.and_then(|span| self.first.checked_add_signed(span));
        self.step != 0 && self.first < self.len && last.is_some_and(|last| last < self.len)
    }
}

/// Writes a part of a row, of which a block is replaced.
///
/// # Safety
/// `input` must be readable and `to` writable for the whole row, and `updates` readable for the
/// block. `part` must be whole lines of the row, and `to` must begin on a cache line.
unsafe fn write_block(
    input: *const u8,
    to: *mut u8,
    part: Range<usize>,
    updates: *const u8,
    block: &Range<usize>,
) {
    let mut at = part.start;
    while at < part.end {
        let inside = block.contains(&at);
        let end = match inside {
            true => block.end,
            false if at < block.start => block.start,
            false => part.end,
        };
        let bytes = (end.min(part.end) - at) / LINE * LINE;
        // SAFETY: the caller promises the row and the block. `bytes` ends before the end of the
        // part, and inside the block before the end of the block.
        unsafe {
            if bytes > 0 {
                let from = match inside {
                    true => updates.add(at - block.start),
                    false => input.add(at),
                };
                write_past_caches(from, to.add(at), bytes);
                at += bytes;
                continue;
            }
            // A line in which the block begins or ends.
            let mut line = input.add(at).cast::<[u8; LINE]>().read();
            let (from, end) = (block.start.max(at), block.end.min(at + LINE));
            let updates = updates.add(from - block.start);
            let replaced = &mut line[from - at..end - at];
            replaced
                .as_mut_ptr()
                .copy_from_nonoverlapping(updates, replaced.len());
            write_past_caches(line.as_ptr(), to.add(at), LINE);
        }
        at += LINE;
    }
}

/// Two elements that follow each other.
trait Pair: Copy {
    type One: Copy;
    /// With another second element, or another first one.
    fn with(self, one: Self::One, second: bool) -> Self;
}

macro_rules! pairs {
    ($($pair:ty: $one:ty),*) => {$(
        impl Pair for $pair {
            type One = $one;
            #[inline(always)]
            fn with(self, one: $one, second: bool) -> Self {
                // As one number, which vectors have instructions for.
                let shift = match second == cfg!(target_endian = "little") {
                    true => <$one>::BITS,
                    false => 0,
                };
                self & !(<$pair>::from(<$one>::MAX) << shift) | (<$pair>::from(one) << shift)
            }
        }
    )*};
}

pairs!(u16: u8, u32: u16, u64: u32);

impl<T: Copy> Pair for [T; 2] {
    type One = T;
    #[inline(always)]
    fn with(self, one: T, second: bool) -> Self {
        match second {
            true => [self[0], one],
            false => [one, self[1]],
        }
    }
}

/// Updates that replace every second element of a row.
#[derive(Clone, Copy)]
struct Seconds {
    updates: *const u8,
    /// The first element, and how many.
    first: usize,
    count: usize,
}

impl Seconds {
    /// Writes a part of a row of elements of which `PAIRS` pairs fill a line.
    ///
    /// # Safety
    /// `input` must be readable and `to` writable for the whole row, and `updates` readable for
    /// `count` elements. `part` must be whole lines of the row, and `to` must begin on a cache
    /// line.
    unsafe fn write<P: Pair, const PAIRS: usize>(
        self,
        input: *const u8,
        to: *mut u8,
        part: Range<usize>,
    ) {
        // Pairs of which one element is replaced: of others, none is.
        let pairs = self.first / 2..self.first / 2 + self.count;
        let second = self.first % 2 == 1;
        let updates = self.updates.cast::<P::One>();
        let mut at = part.start;
        while at < part.end {
            let here = at / LINE * PAIRS..(at / LINE + 1) * PAIRS;
            // SAFETY: the caller promises the row and `count` updates, and `pairs` has `count`
            // pairs, so each pair in it has its update.
            unsafe {
                if pairs.start <= here.start && here.end <= pairs.end {
                    let most = (part.end - at) / LINE;
                    let lines = most.min((pairs.end - here.start) / PAIRS);
                    let updates = updates.add(here.start - pairs.start);
                    let write = match second {
                        true => lines_of_seconds::<P, PAIRS, true>,
                        false => lines_of_seconds::<P, PAIRS, false>,
                    };
                    write(input.add(at), to.add(at), updates, lines);
                    at += lines * LINE;
                    continue;
                }
                let mut line = input.add(at).cast::<[P; PAIRS]>().read_unaligned();
                for (pair, number) in line.iter_mut().zip(here) {
                    if pairs.contains(&number) {
                        let one = updates.add(number - pairs.start).read_unaligned();
                        *pair = pair.with(one, second);
                    }
                }
                write_past_caches(line.as_ptr().cast(), to.add(at), LINE);
            }
            at += LINE;
        }
    }
}

/// Writes lines in which each pair has an update.
///
/// # Safety
/// `input` must be readable and `to` writable for `lines` lines, and `updates` readable for `PAIRS`
/// elements per line. `to` must begin on a cache line.
unsafe fn lines_of_seconds<P: Pair, const PAIRS: usize, const SECOND: bool>(
    input: *const u8,
    to: *mut u8,
    updates: *const P::One,
    lines: usize,
) {
    let (input, updates) = (
        input.cast::<[P; PAIRS]>(),
        updates.cast::<[P::One; PAIRS]>(),
    );
    vectorized!(|_| for n in 0..lines {
        // SAFETY: the caller promises `lines` lines on both sides and their updates, and `n <
        // lines`.
        unsafe {
            let old = input.add(n).read_unaligned();
            let new = updates.add(n).read_unaligned();
            let line: [P; PAIRS] = std::array::from_fn(|k| old[k].with(new[k], SECOND));
            write_past_caches(line.as_ptr().cast(), to.add(n * LINE), LINE);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{DType, DynTensor};

    /// A generator of numbers that is the same every time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (self.0 >> 33) as usize % limit
        }
    }

    /// Elements of which each has bytes of its own.
    fn numbered(dtype: DType, shape: &[usize], random: &mut Random) -> DynTensor {
        let mut tensor = DynTensor::zeros(dtype, shape).unwrap();
        let mut view = tensor.view_mut();
        let (bytes, to) = (view.len() * dtype.size(), view.as_mut_ptr());
        for at in 0..bytes {
            // SAFETY: a tensor has its elements one after the other.
            unsafe { to.add(at).write(random.below(256) as u8) };
        }
        tensor
    }

    /// One axis of a slice: where it begins, its step, and how many.
    fn part(len: usize, random: &mut Random) -> (usize, isize, usize) {
        let first = random.below(len);
        let step: isize = [1, 1, 2, 2, 3, -1, -2][random.below(7)];
        let most = match step {
            1.. => (len - 1 - first) / step as usize + 1,
            _ => first / step.unsigned_abs() + 1,
        };
        match random.below(4) {
            0 => (0, 1, len),
            1 => (first, step, most),
            _ => (first, step, 1 + random.below(most)),
        }
    }

    #[repr(align(64))]
    #[derive(Clone)]
    struct Line([u8; LINE]);

    #[test]
    fn slices_are_replaced() {
        let mut random = Random(1);
        let mut seen = [0; 4];
        for round in 0..4000 {
            let dtype =
                [DType::U8, DType::I16, DType::F32, DType::F64, DType::C128][random.below(5)];
            let size = dtype.size();
            let mut shape = vec![(8 + random.below(3)) * LINE / size];
            for _ in 0..random.below(3) {
                shape.insert(0, 1 + random.below(5));
            }
            let parts: Vec<_> = shape.iter().map(|&len| part(len, &mut random)).collect();
            let count: Vec<usize> = parts.iter().map(|&(_, _, count)| count).collect();
            let input = numbered(dtype, &shape, &mut random);
            // Some updates lie in a larger array.
            let mut room = count.clone();
            room[0] += random.below(2);
            let updates = numbered(dtype, &room, &mut random);
            let (input, updates) = (input.view(), updates.view().narrow(0, 0, count[0]).unwrap());
            let first: Vec<usize> = parts.iter().map(|&(first, _, _)| first).collect();
            let steps = parts.iter().map(|&(_, step, _)| step);
            let Some(job) = ReplaceSlice::new(&input, &updates, &first, steps) else {
                seen[3] += 1;
                continue;
            };
            seen[match job.pattern {
                Pattern::EverySecond(..) => 0,
                Pattern::Block(ref block) if block.len() < job.row => 1,
                Pattern::Block(_) => 2,
            }] += 1;

            // SAFETY: a tensor has its elements one after the other.
            let bytes = |from: &DynView<'_>, at: isize| unsafe {
                std::slice::from_raw_parts(from.as_ptr().offset(at), size)
            };
            let mut expected: Vec<u8> = (0..input.len())
                .flat_map(|n| bytes(&input, (n * size).cast_signed()))
                .copied()
                .collect();
            for n in 0..updates.len() {
                let (mut left, mut at, mut cell, mut row) = (n, 0, 0, 1);
                for axis in (0..shape.len()).rev() {
                    let number = (left % count[axis]).cast_signed();
                    left /= count[axis];
                    at += number * updates.layout().strides()[axis];
                    cell += (parts[axis].0.cast_signed() + number * parts[axis].1) * row;
                    row *= shape[axis].cast_signed();
                }
                let cell = cell.cast_unsigned() * size;
                expected[cell..cell + size].copy_from_slice(bytes(&updates, at));
            }

            let mut made = vec![Line([0; LINE]); job.bytes() / LINE];
            let mut from = 0;
            while from < made.len() {
                let end = from + 1 + random.below(made.len() - from);
                // SAFETY: the output is memory of its own, with as many lines as the range.
                unsafe { job.write(made.as_mut_ptr().cast(), from * LINE..end * LINE) };
                from = end;
            }
            let made: Vec<u8> = made.into_iter().flat_map(|line| line.0).collect();
            assert!(
                made == expected,
                "round {round}: {dtype} {shape:?} {parts:?}"
            );
        }
        assert!(seen.iter().all(|&times| times > 100), "{seen:?}");
    }
}
