//! Where every update goes: the walk over rows of updates, and blocks of checked offsets.
//!
//! A walk is made once per run. It proves that whatever index values below their limits come,
//! every offset it can produce lies inside the destination and the source. A block is filled by
//! reading index values into private memory, checking each against its limit, and adding it up:
//! the value that was checked is the value that is used, even if the index changes meanwhile.

use super::lane::Lane;
use super::rows::{At, Dim, Dims};
use crate::tensor::{DynView, DynViewMut, Layout, overlap_each_other, overlaps_itself};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// Rows per block: enough to hide what a block costs, and few enough for the first-level cache.
pub(crate) const ROWS: usize = 512;

/// Elements per block, at most, unless a single row has more: what runs between two looks at
/// whether somebody wants to stop.
const BLOCK_ELEMENTS: usize = 1 << 22;

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
        for (ends, layout) in [
            (dst_ends, dst.layout()),
            (cell_ends, dst.layout()),
            (src_ends, src.layout()),
        ] {
            let (first, end) = layout.extent();
            let size = layout.dtype().size().cast_signed();
            if layout.is_empty() || ends.0 < first || ends.1 > end - size {
                return None;
            }
        }
        let apart = !overlaps_itself(dst.layout())
            && !overlap_each_other(
                dst.as_mut_ptr().addr(),
                dst.layout(),
                src.as_ptr().addr(),
                src.layout(),
            );
        if aux_ends.0 < 0 || !apart {
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
            dst: dst.as_mut_ptr(),
            src: src.as_ptr(),
            dst_layout: dst.layout(),
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

    pub(crate) fn dst_layout(&self) -> &Layout {
        self.dst_layout
    }

    pub(crate) fn src_layout(&self) -> &Layout {
        self.src_layout
    }

    pub(super) fn dst(&self) -> *mut u8 {
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
    dst: Lane<isize>,
    src: Lane<isize>,
    /// The first source offset and the step, where the rows are evenly spaced and `src` is unset.
    even: Option<(isize, isize)>,
    /// Empty, like `position`, unless somebody asks for the rows' numbers and positions.
    aux: Lane<isize>,
    position: Lane<isize>,
}

impl Block {
    /// Without room for a row: a block is too large to be moved, so it gets that where it is.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self {
            len: 0,
            dst: Lane::new(),
            src: Lane::new(),
            even: None,
            aux: Lane::new(),
            position: Lane::new(),
        }
    }

    /// Makes room for the rows that a walk gives at a time.
    pub(crate) fn make_room(&mut self, walk: &Walk<'_>) {
        let rows = walk.block_rows.min(walk.count());
        let numbers = if walk.numbers { rows } else { 0 };
        // Along a single axis every block is one run, evenly spaced unless rows are left out.
        let even = walk.rows.len() <= 1 && !walk.drops;
        self.dst.fill_with(0, rows);
        self.src.fill_with(0, if even { 0 } else { rows });
        self.aux.fill_with(0, numbers);
        self.position.fill_with(0, numbers);
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

/// Reads a run of index values: of which term, from which coordinate on, and where to.
pub(crate) type Read<'r> = dyn FnMut(usize, &[usize], &mut [i64]) -> Result<(), OutOfBounds> + 'r;

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
    ///
    /// `read(term, at, values)` gives the index values of a term for a run of rows that begins at
    /// coordinate `at` and goes along the last axis. Rows that a term drops are left out.
    ///
    /// # Errors
    /// [`OutOfBounds`] if a value is not below its limit and its term does not drop.
    pub(crate) fn next(
        &mut self,
        block: &mut Block,
        read: &mut Read<'_>,
    ) -> Result<usize, OutOfBounds> {
        let walk = self.walk;
        let most = walk.block_rows.min(self.left);
        let (mut values, mut keep) = (Lane::<i64>::new(), Lane::new());
        let values = values.fill_with(0, most);
        let keep = keep.fill_with(true, if walk.drops { most } else { 0 });
        let mut dropped = false;
        let mut filled = 0;
        while filled < walk.block_rows && self.left > 0 {
            let (inner, along) = match walk.rows.last() {
                Some(axis) => (*axis, self.at[walk.rows.len() - 1]),
                None => (
                    Axis {
                        len: 1,
                        step: Step::default(),
                    },
                    0,
                ),
            };
            let run = (inner.len - along).min(walk.block_rows - filled);
            let mut base = walk.start;
            for (axis, &at) in walk.rows.iter().zip(&self.at) {
                let n = at.cast_signed();
                base.dst += n * axis.step.dst;
                base.src += n * axis.step.src;
                base.aux += n * axis.step.aux;
                base.position += n * axis.step.position;
            }
            let rows = filled..filled + run;
            // A block that is one run needs no list of source offsets.
            let alone = filled == 0 && (run == walk.block_rows || run == self.left) && !walk.drops;
            block.even = alone.then_some((base.src, inner.step.src));
            if !alone {
                ramp(&mut block.src[rows.clone()], base.src, inner.step.src);
            }
            // The first term writes the destination's offsets, the others add to them.
            let mut ramped = inner.step.dst == 0 && !walk.terms.is_empty();
            if !ramped {
                ramp(&mut block.dst[rows.clone()], base.dst, inner.step.dst);
            }
            if walk.numbers {
                ramp(&mut block.aux[rows.clone()], base.aux, inner.step.aux);
                ramp(
                    &mut block.position[rows.clone()],
                    base.position,
                    inner.step.position,
                );
            }
            for (number, term) in walk.terms.iter().enumerate() {
                let values = &mut values[..run];
                read(number, &self.at, values)?;
                let limit = term.limit as i64;
                if term.drop {
                    for (value, keep) in values.iter_mut().zip(&mut keep[rows.clone()]) {
                        if !(0..limit).contains(value) {
                            (*value, *keep, dropped) = (0, false, true);
                        }
                    }
                }
                if !vectorized!(inside(values, limit)) {
                    return Err(OutOfBounds);
                }
                if term.len != term.limit {
                    let (from, len) = (term.from as i64, term.len as i64);
                    for (value, keep) in values.iter_mut().zip(&mut keep[rows.clone()]) {
                        let here = *value - from;
                        let mine = (0..len).contains(&here);
                        *value = if mine { here } else { 0 };
                        *keep &= mine;
                    }
                    dropped = true;
                }
                let dst = &mut block.dst[rows.clone()];
                if std::mem::take(&mut ramped) {
                    vectorized!(place(dst, base.dst, values, term.dst));
                } else {
                    vectorized!(add(dst, values, term.dst));
                }
                if walk.numbers {
                    vectorized!(add(&mut block.aux[rows.clone()], values, term.aux));
                }
            }
            filled += run;
            self.advance(run);
        }
        block.len = filled;
        if dropped {
            compact(block, keep, walk.numbers);
        }
        Ok(filled)
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

/// Whether every value is an index below `limit`, which is at most `i64::MAX`.
#[inline(always)]
fn inside(values: &[i64], limit: i64) -> bool {
    // Both comparisons at once, without a branch, so that they vectorise.
    let outside = values
        .iter()
        .fold(0, |any, &v| any | v | (limit - 1 - v.max(0)));
    outside >= 0
}

/// Sets offsets to `base` plus values times `factor`.
#[inline(always)]
fn place(to: &mut [isize], base: isize, values: &[i64], factor: isize) {
    scaled(to, values, factor, |slot, add| *slot = base + add);
}

/// Adds values times `factor` to offsets.
#[inline(always)]
fn add(to: &mut [isize], values: &[i64], factor: isize) {
    scaled(to, values, factor, |slot, add| *slot += add);
}

// Values are below their limit here, and the walk proved that limit times factor fits.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)]
fn scaled(to: &mut [isize], values: &[i64], factor: isize, each: impl Fn(&mut isize, isize)) {
    if factor.cast_unsigned().is_power_of_two() {
        // Shifts vectorise on every instruction set, products of 64 bits do not.
        let shift = factor.trailing_zeros();
        for (slot, &value) in to.iter_mut().zip(values) {
            each(slot, (value << shift) as isize);
        }
    } else {
        for (slot, &value) in to.iter_mut().zip(values) {
            each(slot, value as isize * factor);
        }
    }
}

/// Takes the dropped rows out, without a branch that depends on the data.
fn compact(block: &mut Block, keep: &[bool], numbers: bool) {
    let mut to = 0;
    for (from, &keep) in keep.iter().enumerate().take(block.len) {
        block.dst[to] = block.dst[from];
        block.src[to] = block.src[from];
        if numbers {
            block.aux[to] = block.aux[from];
            block.position[to] = block.position[from];
        }
        to += usize::from(keep);
    }
    block.len = to;
}
