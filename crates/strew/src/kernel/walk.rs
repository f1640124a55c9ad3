//! Where every update goes: the walk over rows of updates, and blocks of checked offsets.
//!
//! A walk is made once per run. It proves that whatever index values below their limits come,
//! every offset it can produce lies inside the destination and the source. A block is filled by
//! reading index values into private memory, checking each against its limit, and adding it up:
//! the value that was checked is the value that is used, even if the index changes meanwhile.

use super::decode::{Scale, Stretch};
use super::lane::Lane;
use super::line::{self, Line};
use super::rows::{Ahead, At, Dim, Dims};
use super::sift::Wanted;
use crate::tensor::{DynView, DynViewMut, Layout, overlap_each_other, overlaps_itself};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;

/// Rows per block: enough to hide what a block costs, and few enough for the first-level cache.
pub(crate) const ROWS: usize = 512;

/// Elements per block, at most, unless a single row has more: what runs between two looks at
/// whether somebody wants to stop.
const BLOCK_ELEMENTS: usize = 1 << 22;

/// Rows that are looked at for one block, at most, where most are left out.
const TAKEN: usize = 16 * ROWS;

/// Shorter lines cost more to begin than blocks of several.
const SHORTEST_LINE: usize = 64;

/// What one step along an axis of the updates adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Bytes in the destination.
    pub(crate) dst: isize,
    /// Bytes in the source.
    pub(crate) src: isize,
    /// Row numbers of the destination, or bytes in an arg output.
    pub(crate) aux: isize,
    /// Positions along the scattered axis, for an arg output.
    pub(crate) position: isize,
}

/// An axis of the updates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) len: usize,
    pub(crate) step: Step,
}

/// What one index value adds: the value times these, and how large it may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// The value must be below this.
    pub(crate) limit: usize,
    /// The destination begins at this value: what is below belongs to somebody else.
    pub(crate) from: usize,
    /// The destination ends after so many values: what is beyond belongs to somebody else.
    pub(crate) len: usize,
    /// Bytes in the destination.
    pub(crate) dst: isize,
    /// As in [`Step::aux`].
    pub(crate) aux: isize,
    /// A value that is not below the limit skips its row instead of failing.
    pub(crate) drop: bool,
}

/// An index value that is not below its limit was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfBounds;

/// What a run goes over.
#[derive(Clone, Copy)]
pub(crate) struct Geometry<'g> {
    /// Axes of the rows, outermost first.
    pub(crate) rows: &'g [Axis],
    /// What the index values of a row add.
    pub(crate) terms: &'g [Term],
    /// Axes of the window, innermost last.
    pub(crate) window: &'g [Axis],
    /// The axes that number the destination's rows, outermost first.
    pub(crate) cells: &'g [Axis],
    /// Whether somebody will ask for the rows' numbers and positions.
    pub(crate) numbers: bool,
    /// Where the first row is.
    pub(crate) start: Step,
    /// Byte offset in the destination of the window of row 0.
    pub(crate) cell_start: isize,
}

/// The geometry of a run, proven to stay inside the destination and the source it is bound to.
pub(crate) struct Walk<'a> {
    rows: &'a [Axis],
    terms: &'a [Term],
    window: &'a [Axis],
    cells: &'a [Axis],
    numbers: bool,
    /// Whether a term may leave rows out.
    drops: bool,
    /// Rows that a block may have.
    block_rows: usize,
    start: Step,
    cell_start: isize,
    /// Whatever `aux` adds up to is below this (with the window, if that has aux steps).
    aux_end: usize,
    dst: *mut u8,
    src: *const u8,
    dst_layout: &'a Layout,
    src_layout: &'a Layout,
    memory: PhantomData<(&'a mut [u8], &'a [u8])>,
}

impl<'a> Walk<'a> {
    /// Binds the geometry to its memory; `None` if any offset that it can produce lies outside, or
    /// if the destination overlaps itself or the source.
    pub(crate) fn new(
        geometry: &Geometry<'a>,
        dst: &'a mut DynViewMut<'_>,
        src: &'a DynView<'_>,
    ) -> Option<Self> {
        let apart = !overlaps_itself(dst.layout())
            && !overlap_each_other(
                dst.as_mut_ptr().addr(),
                dst.layout(),
                src.as_ptr().addr(),
                src.layout(),
            );
        let at = dst.as_mut_ptr();
        let walk = Self::bind(geometry, dst.layout(), src)?;
        apart.then_some(Self { dst: at, ..walk })
    }

    /// A walk that only gives offsets in a destination of this layout; `None` if any of them would
    /// lie outside, or in the source.
    pub(crate) fn bind(
        geometry: &Geometry<'a>,
        dst: &'a Layout,
        src: &'a DynView<'_>,
    ) -> Option<Self> {
        let &Geometry {
            rows,
            terms,
            window,
            cells,
            numbers,
            start,
            cell_start,
        } = geometry;
        let of = |a: &Axis| (a.len, [a.step.dst, a.step.src, a.step.aux]);
        let updates = rows.iter().chain(window).map(of);
        let terms_too = terms.iter().map(|t| (t.len, [t.dst, 0, t.aux]));
        let [dst_ends, src_ends, aux_ends] = ends(start, updates.chain(terms_too))?;
        let of_row_0 = Step {
            dst: cell_start,
            ..Step::default()
        };
        let [cell_ends, ..] = ends(of_row_0, cells.iter().chain(window).map(of))?;
        for (ends, layout) in [(dst_ends, dst), (cell_ends, dst), (src_ends, src.layout())] {
            let (first, end) = layout.extent();
            let size = layout.dtype().size().cast_signed();
            if layout.is_empty() || ends.0 < first || ends.1 > end - size {
                return None;
            }
        }
        if aux_ends.0 < 0 {
            return None;
        }
        let width = window.iter().fold(1usize, |n, a| n.saturating_mul(a.len));
        Some(Self {
            rows,
            terms,
            window,
            cells,
            start,
            numbers,
            drops: terms.iter().any(|t| t.drop || t.len != t.limit),
            block_rows: (BLOCK_ELEMENTS / width.max(1)).clamp(1, ROWS),
            cell_start,
            aux_end: usize::try_from(aux_ends.1).ok()? + 1,
            dst: std::ptr::null_mut(),
            src: src.as_ptr(),
            dst_layout: dst,
            src_layout: src.layout(),
            memory: PhantomData,
        })
    }

    /// The byte offset of the destination's row of this number, if there is one.
    pub(super) fn place(&self, number: usize) -> Option<isize> {
        let (mut rest, mut offset) = (number, self.cell_start);
        for axis in self.cells.iter().rev() {
            offset += (rest % axis.len).cast_signed() * axis.step.dst;
            rest /= axis.len;
        }
        (rest == 0).then_some(offset)
    }

    /// The byte offset of row 0 and the first of `width` columns from coordinate `origin` on, where
    /// columns go along the last axis and the walk's one term names `rows` of them. `None` if that is
    /// not what the walk goes over.
    pub(super) fn columns(
        &self,
        origin: &[usize],
        width: usize,
        (rows, row, column): (usize, isize, isize),
    ) -> Option<isize> {
        let [term] = self.terms else { return None };
        let (last, along) = (self.rows.last()?, *origin.last()?);
        let inside = origin.len() == self.rows.len()
            && origin
                .iter()
                .zip(self.rows)
                .all(|(&at, axis)| at < axis.len)
            && width <= last.len - along;
        let alike = (term.len, term.dst, last.step.dst) == (rows, row, column);
        let steps = origin.iter().zip(self.rows);
        let offset = steps.map(|(&at, axis)| at.cast_signed() * axis.step.dst);
        (inside && alike).then(|| self.start.dst + offset.sum::<isize>())
    }

    pub(crate) fn dst_layout(&self) -> &Layout {
        self.dst_layout
    }

    pub(crate) fn src_layout(&self) -> &Layout {
        self.src_layout
    }

    /// # Panics
    /// If the walk has no destination.
    pub(super) fn dst(&self) -> *mut u8 {
        assert!(!self.dst.is_null());
        self.dst
    }

    pub(super) fn src(&self) -> *const u8 {
        self.src
    }

    pub(super) fn aux_end(&self) -> usize {
        self.aux_end
    }

    /// Elements in a window.
    pub(crate) fn width(&self) -> usize {
        self.window.iter().map(|a| a.len).product()
    }

    /// Rows in all.
    pub(crate) fn count(&self) -> usize {
        self.rows.iter().map(|a| a.len).product()
    }

    /// The window with the destination on the left and the source on the right.
    pub(super) fn window_dst_src(&self) -> Dims {
        self.dims(|a| (a.step.dst, a.step.src))
    }

    /// The window with `size`-byte elements without gaps on the left and the source on the right.
    pub(super) fn window_packed_src(&self, size: usize) -> Dims {
        let mut dims = self.dims(|a| (0, a.step.src));
        pack(&mut dims, size, |dim, step| dim.left = step);
        dims
    }

    /// The window with the destination on the left and `size`-byte elements without gaps on the right.
    pub(super) fn window_dst_packed(&self, size: usize) -> Dims {
        let mut dims = self.dims(|a| (a.step.dst, 0));
        pack(&mut dims, size, |dim, step| dim.right = step);
        dims
    }

    /// The window with `size`-byte elements without gaps on the left and the destination on the right.
    pub(super) fn window_packed_dst(&self, size: usize) -> Dims {
        let mut dims = self.dims(|a| (0, a.step.dst));
        pack(&mut dims, size, |dim, step| dim.left = step);
        dims
    }

    /// The steps of the window in the arg output.
    pub(super) fn window_aux(&self) -> SmallVec<[isize; 4]> {
        self.window.iter().map(|a| a.step.aux).collect()
    }

    fn dims(&self, steps: impl Fn(&Axis) -> (isize, isize)) -> Dims {
        let dim = |axis: &Axis| {
            let (left, right) = steps(axis);
            Dim {
                len: axis.len,
                left,
                right,
            }
        };
        self.window.iter().map(dim).collect()
    }
}

/// The lowest and the highest sum that steps along these axes can make, per kind of step.
fn ends(
    start: Step,
    axes: impl Iterator<Item = (usize, [isize; 3])>,
) -> Option<[(isize, isize); 3]> {
    let mut ends = [start.dst, start.src, start.aux].map(|at| (at, at));
    for (len, adds) in axes {
        let most = isize::try_from(len.checked_sub(1)?).ok()?;
        for ((low, high), add) in ends.iter_mut().zip(adds) {
            let span = add.checked_mul(most)?;
            *low = low.checked_add(span.min(0))?;
            *high = high.checked_add(span.max(0))?;
        }
    }
    Some(ends)
}

/// Gives the axes row-major steps without gaps.
fn pack(dims: &mut Dims, size: usize, set: impl Fn(&mut Dim, isize)) {
    let mut step = size.cast_signed();
    for dim in dims.iter_mut().rev() {
        set(dim, step);
        step *= dim.len.cast_signed();
    }
}

/// Offsets of up to [`ROWS`] rows, each checked.
pub(crate) struct Block {
    len: usize,
    /// Whether the rows' numbers and positions are wanted.
    numbers: bool,
    dst: Lane<isize>,
    src: Lane<isize>,
    /// The first source offset and the step, where the rows are evenly spaced and `src` is unset.
    even: Option<(isize, isize)>,
    /// Empty, like `position`, unless somebody asks for the rows' numbers and positions.
    aux: Lane<isize>,
    position: Lane<isize>,
    /// Index values, and which of them are kept: room to work in.
    values: Lane<i64>,
    kept: Lane<i64>,
    /// What the next block will read.
    ahead: Ahead,
}

impl Block {
    /// Without room for a row: a block is too large to be moved, so it gets that where it is.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self {
            len: 0,
            numbers: false,
            dst: Lane::new(),
            src: Lane::new(),
            even: None,
            aux: Lane::new(),
            position: Lane::new(),
            values: Lane::new(),
            kept: Lane::new(),
            ahead: Ahead::NONE,
        }
    }

    /// Makes room for the rows that a walk gives at a time.
    pub(crate) fn make_room(&mut self, walk: &Walk<'_>) {
        let rows = walk.block_rows.min(walk.count());
        let numbers = if walk.numbers { rows } else { 0 };
        self.numbers = walk.numbers;
        // Along a single axis every block is one run, evenly spaced unless rows are left out.
        let even = walk.rows.len() <= 1 && !walk.drops;
        self.dst.fill_with(0, rows);
        self.src.fill_with(0, if even { 0 } else { rows });
        self.aux.fill_with(0, numbers);
        self.position.fill_with(0, numbers);
        self.values.fill_with(0, rows);
        self.kept.fill_with(0, if walk.drops { rows } else { 0 });
    }

    pub(super) fn ahead(&self) -> Ahead {
        self.ahead
    }

    /// From the next rows on, nobody asks for their numbers and positions any more.
    pub(crate) fn forget_numbers(&mut self) {
        self.numbers = false;
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn dst(&self) -> &[isize] {
        &self.dst[..self.len]
    }

    pub(super) fn src(&self) -> At<'_> {
        match self.even {
            Some((first, step)) => At::Steps(first, step),
            None => At::Each(&self.src[..self.len]),
        }
    }

    /// Row numbers of the destination, or byte offsets in an arg output.
    pub(crate) fn aux(&self) -> &[isize] {
        &self.aux[..self.len]
    }

    pub(super) fn position(&self) -> &[isize] {
        &self.position[..self.len]
    }
}

/// Where index values come from. All of it is about a run of rows that begins at coordinate `at` and
/// goes along the last axis.
pub(crate) trait Read {
    /// Reads the values of a term.
    fn read(&self, term: usize, at: &[usize], values: &mut [i64]) -> Result<(), OutOfBounds>;

    /// Makes values that must be below `limit` offsets. False if nothing was done, because these
    /// values are not used as they are.
    fn offsets(
        &self,
        term: usize,
        at: &[usize],
        limit: usize,
        scale: Scale,
        to: &mut [isize],
    ) -> Result<bool, OutOfBounds>;

    /// Reads the values that are wanted, and their places in the run; returns how many.
    fn sift(
        &self,
        term: usize,
        at: &[usize],
        wanted: Wanted,
        values: &mut [i64],
        places: &mut [i64],
    ) -> Result<usize, OutOfBounds>;

    /// Where a term's first value is, and how far away the next one.
    fn place(&self, term: usize, at: &[usize]) -> (*const u8, isize);

    /// So many values of a term, where they are.
    fn stretch(&self, term: usize, at: &[usize], count: usize) -> Stretch<'_, '_>;

    /// Whether a term's values are used as they are, and what is not below the limit is an error.
    fn is_plain(&self, term: usize) -> bool;
}

/// A place in a walk: gives its rows block by block, in order.
pub(crate) struct Cursor<'w, 'a> {
    walk: &'w Walk<'a>,
    at: SmallVec<[usize; 4]>,
    left: usize,
}

impl<'w, 'a> Cursor<'w, 'a> {
    pub(crate) fn new(walk: &'w Walk<'a>) -> Self {
        Self {
            walk,
            at: SmallVec::from_elem(0, walk.rows.len()),
            left: walk.count(),
        }
    }

    /// Fills `block` with the next rows and returns how many were taken (0: the walk is over).
    /// Rows that a term leaves out are not in the block.
    ///
    /// # Errors
    /// [`OutOfBounds`] if a value is not below its limit and its term does not drop.
    pub(crate) fn next(
        &mut self,
        block: &mut Block,
        index: &impl Read,
    ) -> Result<usize, OutOfBounds> {
        let walk = self.walk;
        let (mut filled, mut taken) = (0, 0);
        while filled < walk.block_rows && taken < TAKEN && self.left > 0 {
            let (inner, along) = self.along();
            let run = (inner.len - along).min(walk.block_rows - filled);
            let base = self.base();
            // A block that is one run needs no list of source offsets.
            let alone = filled == 0 && (run == walk.block_rows || run == self.left) && !walk.drops;
            block.even = alone.then_some((base.src, inner.step.src));
            let rows = filled..filled + run;
            let kept = match walk.terms {
                [term] if walk.drops => {
                    self.take_some(block, rows, (base, inner.step), term, index)?
                }
                terms => self.take_all(block, rows, (base, inner.step), terms, index)?,
            };
            filled += kept;
            taken += run;
            self.advance(run);
        }
        block.len = filled;
        block.ahead = self.ahead(index, taken / filled.max(1));
        Ok(taken)
    }

    /// The last axis of the rows, and where on it the next row is.
    fn along(&self) -> (Axis, usize) {
        match (self.walk.rows.last(), self.at.last()) {
            (Some(&axis), Some(&at)) => (axis, at),
            _ => (
                Axis {
                    len: 1,
                    step: Step::default(),
                },
                0,
            ),
        }
    }

    /// Where the next row is, but for its index values.
    fn base(&self) -> Step {
        let mut base = self.walk.start;
        for (axis, &at) in self.walk.rows.iter().zip(&self.at) {
            let n = at.cast_signed();
            base.dst += n * axis.step.dst;
            base.src += n * axis.step.src;
            base.aux += n * axis.step.aux;
            base.position += n * axis.step.position;
        }
        base
    }

    /// What the rows from here on will read, if one of so many is kept.
    fn ahead(&self, index: &impl Read, one_of: usize) -> Ahead {
        let values = match self.walk.terms.len() {
            0 => (std::ptr::null(), 0),
            _ => index.place(0, &self.at),
        };
        let src = self.walk.src.wrapping_offset(self.base().src);
        let step = |step: isize| step.wrapping_mul(one_of.cast_signed());
        Ahead([
            (values.0, step(values.1)),
            (src, step(self.along().0.step.src)),
        ])
    }

    /// Offsets of a run of rows; returns how many of them are kept.
    fn take_all(
        &self,
        block: &mut Block,
        rows: Range<usize>,
        (base, step): (Step, Step),
        terms: &[Term],
        index: &impl Read,
    ) -> Result<usize, OutOfBounds> {
        let (numbers, drops) = (block.numbers, self.walk.drops);
        if block.even.is_none() {
            ramp(&mut block.src[rows.clone()], base.src, step.src);
        }
        if numbers {
            ramp(&mut block.aux[rows.clone()], base.aux, step.aux);
            let position = &mut block.position[rows.clone()];
            ramp(position, base.position, step.position);
        }
        let dst = &mut block.dst[rows.clone()];
        if terms.is_empty() {
            ramp(dst, base.dst, step.dst);
        }
        let mut keep = Lane::new();
        let keep = keep.fill_with(true, if drops { rows.len() } else { 0 });
        for (number, term) in terms.iter().enumerate() {
            // The first term writes the destination's offsets, the others add to them.
            let scale = Scale {
                base: base.dst,
                step: step.dst,
                factor: term.dst,
                add: number > 0,
            };
            let plain = !numbers && !drops;
            if plain && index.offsets(number, &self.at, term.limit, scale, dst)? {
                continue;
            }
            let values = &mut block.values[..rows.len()];
            index.read(number, &self.at, values)?;
            if drops && !mark(values, keep, term) {
                return Err(OutOfBounds);
            }
            if !scale.values(values, term.limit, dst) {
                return Err(OutOfBounds);
            }
            if numbers {
                let aux = &mut block.aux[rows.clone()];
                Scale {
                    factor: term.aux,
                    add: true,
                    ..scale
                }
                .values(values, term.limit, aux);
            }
        }
        Ok(match drops {
            true => compact(block, rows, keep, numbers),
            false => rows.len(),
        })
    }

    /// Offsets of those rows of a run that its one term keeps; returns how many.
    fn take_some(
        &self,
        block: &mut Block,
        rows: Range<usize>,
        (base, step): (Step, Step),
        term: &Term,
        index: &impl Read,
    ) -> Result<usize, OutOfBounds> {
        let (values, kept) = (
            &mut block.values[..rows.len()],
            &mut block.kept[..rows.len()],
        );
        let wanted = Wanted {
            limit: term.limit,
            from: term.from,
            len: term.len,
            drop: term.drop,
        };
        let count = index.sift(0, &self.at, wanted, values, kept)?;
        let (values, kept) = (&values[..count], &kept[..count]);
        let rows = rows.start..rows.start + count;
        // A value is counted from where the destination begins, and a place is below the run's end.
        let (here, places) = (term.len.max(1), ROWS);
        let offsets = |to: &mut [isize], base, factor, step| {
            let scale = Scale {
                base,
                step: 0,
                factor,
                add: false,
            };
            scale.values(values, here, to);
            if step != 0 {
                let add = Scale {
                    factor: step,
                    add: true,
                    ..scale
                };
                add.values(kept, places, to);
            }
        };
        offsets(&mut block.dst[rows.clone()], base.dst, term.dst, step.dst);
        if block.numbers {
            offsets(&mut block.aux[rows.clone()], base.aux, term.aux, step.aux);
        }
        let ramps = |to: &mut [isize], base, factor| {
            let scale = Scale {
                base,
                step: 0,
                factor,
                add: false,
            };
            scale.values(kept, places, to);
        };
        ramps(&mut block.src[rows.clone()], base.src, step.src);
        if block.numbers {
            ramps(&mut block.position[rows], base.position, step.position);
        }
        Ok(count)
    }

    /// The next rows as a line of single elements, at most so many, with their index values; `None`
    /// if the walk is over, or its rows are no lines.
    ///
    /// The index values must lie in the index.
    pub(super) fn line<'l>(
        &mut self,
        index: &'l impl Read,
        most: usize,
    ) -> Option<Result<Line<'l>, OutOfBounds>> {
        let walk = self.walk;
        let ([term], true) = (walk.terms, self.left > 0) else {
            return None;
        };
        let (inner, along) = self.along();
        let count = (inner.len - along).min(most);
        let base = self.base();
        let stretch = index.stretch(0, &self.at, count);
        let first = stretch.index.stretch(stretch.at, stretch.stride, count);
        let narrow = line::narrow(stretch.index.dtype());
        self.advance(count);
        let (Some(first), Some(narrow)) = (first, narrow) else {
            return Some(Err(OutOfBounds));
        };
        Some(Ok(Line {
            dst: walk.dst().wrapping_offset(base.dst),
            src: walk.src().wrapping_offset(base.src),
            step: inner.step,
            term: *term,
            count,
            stretch,
            index: first,
            narrow,
            memory: PhantomData,
        }))
    }

    /// Whether every row has been given.
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Whether the rows are lines: single elements, one index that is used as it is.
    pub(super) fn has_lines(&self, index: &impl Read) -> bool {
        let walk = self.walk;
        let single = walk.window.is_empty() && walk.terms.len() == 1;
        let inner = self.along().0.len;
        let long = inner >= SHORTEST_LINE || inner == walk.count();
        let kept = walk.terms.iter().all(line::keeps);
        let plain = single && long && kept && !walk.numbers && index.is_plain(0);
        plain && line::fits(&index.stretch(0, &self.at, 1))
    }

    /// Moves on by `run` rows along the last axis, which end within it.
    fn advance(&mut self, run: usize) {
        self.left -= run;
        let mut carry = run;
        for (axis, at) in self.walk.rows.iter().zip(&mut self.at).rev() {
            *at += carry;
            if *at < axis.len {
                return;
            }
            *at = 0;
            carry = 1;
        }
    }
}

fn ramp(to: &mut [isize], base: isize, step: isize) {
    let mut value = base;
    for slot in to {
        *slot = value;
        value = value.wrapping_add(step);
    }
}

/// Notes which values of a term leave their row out, and makes the others count from where the
/// destination begins. False if one is out of bounds and no row to leave out.
fn mark(values: &mut [i64], keep: &mut [bool], term: &Term) -> bool {
    let (limit, from, len) = (term.limit as i64, term.from as i64, term.len as i64);
    let mut outside = false;
    for (value, keep) in values.iter_mut().zip(keep) {
        let inside = (0..limit).contains(value);
        outside |= !inside;
        let here = *value - from;
        let mine = inside && (0..len).contains(&here);
        *value = if mine { here } else { 0 };
        *keep &= mine;
    }
    term.drop || !outside
}

/// Takes the dropped rows out, without a branch that depends on the data; returns how many are left.
fn compact(block: &mut Block, rows: Range<usize>, keep: &[bool], numbers: bool) -> usize {
    let mut to = rows.start;
    for (from, &keep) in rows.clone().zip(keep) {
        block.dst[to] = block.dst[from];
        block.src[to] = block.src[from];
        if numbers {
            block.aux[to] = block.aux[from];
            block.position[to] = block.position[from];
        }
        to += usize::from(keep);
    }
    to - rows.start
}
