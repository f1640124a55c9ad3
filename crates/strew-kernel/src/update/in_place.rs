//! Updates straight into the cells of the destination.
//!
//! [`Direct`] holds the loops of one walk, chosen once by element type and reduction:
//!
//! ```text
//! while the cursor gives lines:  run_lines  (index value -> check -> cell, all in registers)
//! else for each block:           run        (checked offsets -> pairs of rows)
//! ```
//!
//! Cost: every update reads its row of the source and reads and writes its row of the destination.
//! A line keeps no offsets; a block writes and reads back one offset a row and side.
//!
//! The engine chooses it wherever the destination's own cells can hold the running result. Sums and
//! products of 16-bit floats go to a [table](crate::update::table) or into `f32` cells instead.
//!
//! It relies on the proof of its [`Walk`]: every function that takes a walk, a cursor or a block
//! asserts that it belongs to the walk that the loops were chosen for.
//!
//! # Unsafe
//!
//! - Buys: updates straight into cells
//! - Measured: the checks of `rows/row_pairs.rs` and `update/fused.rs`: W2d 1.05, W6 1.02, W1b
//!   1.10
//! - Holds: offsets of a block, which its walk proved for every index value below the limit

use crate::copy::fill::Filled;
use crate::copy::strided::{LARGE, copy_rows_past_caches, past_caches, whole};
use crate::error::Problem;
use crate::ops::identity::Bits;
use crate::ops::reduction::Combine;
use crate::rows::copy_loop::copy_loop;
use crate::rows::row_pairs::{Loop, Rows};
use crate::tensor::{DType, DynViewMut};
use crate::update::converted::Converter;
use crate::update::dispatch::{
    Loops, clear_equal_loop, combine_loops, seldom_line_loop, short_line_loop, sum_loops_from_unset,
};
use crate::update::fused_repeats_init::{begin, seen_again};
use crate::update::row_bitmap::RowBitmap;
use crate::update::sum_count_cells::sum_count_loops;
use crate::walk::cursor::{Block, Cursor, Read};
use crate::walk::geometry::OutOfBounds;
use crate::walk::line::{LineLoop, Lines, RULED};
use crate::walk::offsets::{At, Dim, Dims, PrefetchHints};
use crate::walk::stack_buf::StackBuf;
use crate::walk::{ROWS, Walk, WalkId};

/// Whether a walk copies whole cache lines into a destination that no cache holds.
fn goes_past_caches(walk: &Walk<'_>) -> bool {
    let size = walk.dst_layout().dtype().size();
    let (low, high) = walk.dst_layout().extent();
    let row = walk.width() * size;
    high.wrapping_sub(low).cast_unsigned() >= LARGE
        && past_caches(
            &walk.window_dst_src(),
            size,
            walk.count().saturating_mul(row),
        )
}

/// Maximum number of rows of lines between two checks for an interrupt.
const LINE: usize = 1 << 14;

/// Bytes of rows that are moved together, at most, so that those that are left out are not between
/// them. The nearest cache holds them beside their index values.
const MOVED: usize = 1 << 14;

/// If an index value that is not used as it is comes after fewer rows than this, more of them are
/// expected.
const RULED_SOON: usize = 64;

/// Blocks of rows that are then joined by the rule of their index, without a try to join them as if
/// there was none.
const RULED_BLOCKS: usize = 16;

/// Bytes of a row that is moved, at most. To skip a wider one takes less time.
const WIDEST: usize = 128;

/// Minimum number of updates for each cell from which a minimum or maximum seldom changes.
const SELDOM: usize = 64;

/// Whether there is a loop that reads the index itself, for rows of `len` elements without gaps
/// whose index is used as it is.
pub fn has_short_lines(dtype: DType, combine: Combine, len: usize) -> bool {
    short_line_loop(dtype, combine, len).is_some()
}

/// The loops of a run that reads and writes the destination's cells themselves.
pub struct Direct {
    /// The walk whose window and element types chose the loops.
    walk: WalkId,
    combine: Loop,
    /// `None` for rows that are neither single elements nor short.
    lines: Option<LineLoop>,
    reset: Loop,
    window: Dims,
    reset_window: Dims,
    /// The type of a cell.
    dtype: DType,
    converter: Option<Converter>,
    /// Rows are copied past the caches, because they are not read again soon.
    past_caches: bool,
    /// Blocks that are still to be joined by the rule of their index.
    ruled: usize,
}

impl Direct {
    /// Looks up the loops for the walk's element type.
    ///
    /// Sums and products of 16-bit floats are not computed in their cells; see
    /// [`crate::update::table::Table`]. `unset`: cells may hold the
    /// [sentinel](crate::update::untouched), and the reduction is a sum.
    pub fn new(walk: &Walk<'_>, combine: Combine, unset: bool) -> Result<Self, Problem> {
        let dtype = walk.dst_layout().dtype();
        let in_cells = combine.folds();
        // The loops of a 16-bit float widen its elements on their way into float32 cells.
        let src = walk.src_layout().dtype();
        let widens = in_cells && !unset && src != dtype && src.accumulator() == dtype;
        let loops = match unset {
            true => sum_loops_from_unset(dtype),
            false => combine_loops(if widens { src } else { dtype }, combine),
        };
        let mut loops = loops
            .filter(|_| !in_cells || dtype.accumulator() == dtype)
            .ok_or_else(|| Problem::Unsupported {
                what: format!("{combine:?} in place"),
                dtype,
            })?;
        let converter = match widens {
            true => None,
            false => Converter::new(walk.src_layout(), dtype, walk.width(), |size| {
                walk.window_packed_src(size)
            })?,
        };
        let past_caches =
            combine == Combine::Assign && converter.is_none() && goes_past_caches(walk);
        let plain = !unset && !widens;
        let short = |len| short_line_loop(dtype, combine, len).filter(|_| plain);
        let seldom = walk.count() / SELDOM >= walk.dst_layout().len();
        if let Some(lines) = seldom_line_loop(dtype, combine).filter(|_| seldom && plain) {
            loops.lines = lines;
        }
        Ok(Self::with(walk, loops, short, converter, past_caches))
    }

    /// Sums and counts into cells of
    /// [`sum_count_table`](crate::update::sum_count_cells::sum_count_table).
    ///
    /// # Panics
    /// If the destination has no such cells for the source's type.
    pub fn sum_count(walk: &Walk<'_>) -> Self {
        let loops = sum_count_loops(walk.src_layout().dtype(), walk.dst_layout().dtype());
        let loops = loops.expect("the type can be counted");
        Self::with(walk, loops, |_| None, None, false)
    }

    fn with(
        walk: &Walk<'_>,
        loops: Loops,
        short: impl Fn(usize) -> Option<LineLoop>,
        converter: Option<Converter>,
        past_caches: bool,
    ) -> Self {
        let dtype = walk.dst_layout().dtype();
        let window = match converter {
            Some(_) => walk.window_dst_packed(dtype.size()),
            None => walk.window_dst_src(),
        };
        let size = dtype.size().cast_signed();
        let lines = match *window {
            [] => Some(loops.lines),
            [dim] if (dim.left, dim.right) == (size, size) => short(dim.len),
            _ => None,
        };
        Self {
            walk: walk.id(),
            combine: loops.rows,
            lines,
            reset: copy_loop(dtype),
            reset_window: window.iter().map(Dim::against_one).collect(),
            window,
            dtype,
            converter,
            past_caches,
            ruled: 0,
        }
    }

    /// # Panics
    /// If the loops were chosen for another walk, or the block was filled by another one.
    fn check(&self, walk: &Walk<'_>, block: &Block) {
        self.check_walk(walk);
        assert!(block.walk() == self.walk, "the block is of another walk");
    }

    /// # Panics
    /// If the loops were chosen for another walk.
    pub(crate) fn check_walk(&self, walk: &Walk<'_>) {
        assert!(walk.id() == self.walk, "the loops are of another walk");
    }

    /// Whether the rows that a cursor gives are single elements or short rows with one index.
    pub fn has_lines(&self, cursor: &Cursor<'_, '_>, index: &impl Read) -> bool {
        self.lines.is_some() && (cursor.has_lines(index) || cursor.has_lines_by_rule())
    }

    /// Joins the next rows, some thousand at most, which are such [lines](Self::has_lines). Gives
    /// how many they were; 0: the walk is over.
    ///
    /// # Errors
    /// [`OutOfBounds`] if an index value is; the rows before it have been joined. Also if the rows
    /// are no lines.
    pub fn run_lines(
        &mut self,
        cursor: &mut Cursor<'_, '_>,
        index: &impl Read,
    ) -> Result<usize, OutOfBounds> {
        let Some(join) = self.lines.filter(|_| self.has_lines(cursor, index)) else {
            return Err(OutOfBounds);
        };
        self.check_walk(cursor.walk());
        if !cursor.has_lines(index) {
            return self.run_lines_by_rule(cursor, index, join);
        }
        let Some(lines) = cursor.lines(index, LINE)? else {
            return Ok(0);
        };
        // SAFETY: the cursor's walk has proven source and destination for every value below the
        // limit. `check_walk` has found that the types of this walk chose the loop. The index
        // values of the lines lie in the index.
        let done = unsafe { self.join_lines(join, &lines) };
        done.then_some(lines.rows()).ok_or(OutOfBounds)
    }

    /// Joins lines, once their updates are converted if they have another type.
    ///
    /// # Safety
    /// As for [`LineLoop`], of lines of the walk that chose the loops.
    unsafe fn join_lines(&mut self, join: LineLoop, lines: &Lines<'_>) -> bool {
        let Some(converter) = &mut self.converter else {
            // SAFETY: the caller keeps the contract of `LineLoop`.
            return unsafe { join(lines) };
        };
        (0..lines.count).map(|n| lines.nth(n)).all(|line| {
            let mut firsts = (0..line.count).step_by(converter.rows());
            firsts.all(|from| {
                let part = line.part(from..line.count.min(from + converter.rows()));
                // SAFETY: the caller promises source elements for all rows of the line, of which
                // these are some, of the type that chose the converter. The converted rows have the
                // type of the cells, and overlap nothing.
                unsafe {
                    let (src, step) = converter.run_line(part.src, part.step.src, part.count);
                    join(&Lines::one(part.with_source(src, step)))
                }
            })
        })
    }

    /// [`run_lines`](Self::run_lines) of an index whose values are not used as they are, or leave
    /// rows out. Rows are joined as if there was no rule, up to the first value that is not inside.
    /// From there on, for one block or [`RULED_BLOCKS`], the values that are used are written down
    /// first, and the rows that are kept are joined together.
    #[inline(never)] // What it has on the stack would be there for every run.
    fn run_lines_by_rule(
        &mut self,
        cursor: &mut Cursor<'_, '_>,
        index: &impl Read,
        join: LineLoop,
    ) -> Result<usize, OutOfBounds> {
        let mut joined = 0;
        let mut next = cursor.clone();
        if self.ruled > 0 {
            self.ruled -= 1;
        } else if index.keeps_inside(0)
            && let Ok(Some(mut lines)) = next.lines(index, LINE)
        {
            lines.keep_all();
            // SAFETY: as in `run_lines`, with a term that leaves no row out.
            if unsafe { self.join_lines(join, &lines) } {
                *cursor = next;
                return Ok(lines.rows());
            }
            // The rows before the first value that is not below the limit have been joined.
            // SAFETY: the index values of the lines lie in the index.
            joined = unsafe { lines.rows_inside() };
            cursor.skip(&lines, joined);
            if joined < RULED_SOON {
                self.ruled = RULED_BLOCKS;
            }
        }
        let walk = cursor.walk();
        let row = walk.width() * walk.src_layout().dtype().size();
        // Rows that are converted may have gaps between their elements.
        let moves = row <= WIDEST && (self.converter.is_none() || walk.width() == 1);
        let most = if moves { RULED.min(MOVED / row) } else { RULED };
        let mut room = StackBuf::<i64, RULED>::of_size();
        let room = room.fill_with(0, most.min(walk.count()));
        let Some((line, drops)) = cursor.line_by_rule(walk.dst(), index, room)? else {
            return Ok(joined);
        };
        let mut moved = StackBuf::<u64, { MOVED / 8 }>::of_size();
        let mut joins = |lines: &Lines<'_>| {
            // SAFETY: as in `run_lines`. The values are those in `room`.
            match unsafe { self.join_lines(join, lines) } {
                true => Ok(()),
                false => Err(OutOfBounds),
            }
        };
        let count = line.count;
        if !drops {
            joins(&Lines::one(line))?;
        } else if moves && line.step.dst == 0 {
            let moved = moved.fill_with(0, (count * row).div_ceil(8));
            // SAFETY: the walk has proven `count` rows of the source, without gaps in a row, and
            // the index values are those in `room`, which nothing else refers to.
            joins(&Lines::one(unsafe { line.moved_together(row, moved) }))?;
        } else {
            for lines in line.kept() {
                joins(&lines)?;
            }
        }
        Ok(joined + count)
    }

    /// The loop over lines, if the updates need no conversion.
    fn line_loop(&self) -> Option<LineLoop> {
        self.lines.filter(|_| self.converter.is_none())
    }

    /// Whether the rows that a cursor gives are a line that [`run_line_init`](Self::run_line_init)
    /// takes.
    pub fn has_numbered_line(&self, cursor: &Cursor<'_, '_>, index: &impl Read) -> bool {
        self.line_loop().is_some() && cursor.has_numbered_line(index)
    }

    /// Joins the next [line with numbers](Self::has_numbered_line), if most index values are the one
    /// before. Cells that are touched for the first time are set to `value` first. `None`,
    /// and nothing is done, for any other rows.
    ///
    /// # Errors
    /// As [`run_lines`](Self::run_lines).
    ///
    /// # Panics
    /// If the marks are not of the destination's rows.
    pub fn run_line_init(
        &self,
        cursor: &mut Cursor<'_, '_>,
        index: &impl Read,
        touched: &mut RowBitmap,
        value: &Bits,
    ) -> Result<Option<usize>, OutOfBounds> {
        let Some(join) = self.line_loop().filter(|_| cursor.has_numbered_line(index)) else {
            return Err(OutOfBounds);
        };
        self.check_walk(cursor.walk());
        let mut next = cursor.clone();
        let Some(lines) = next.lines(index, LINE)? else {
            return Ok(None);
        };
        // SAFETY: as in `run_lines`. The cursor's walk has one axis, so there is no line but the
        // first. Its rows are of the destination's type, and without gaps: `lines` is there for no
        // others.
        let done = unsafe {
            let line = lines.first();
            if !line.repeats(seen_again(line.width)) {
                return Ok(None);
            }
            begin(line, self.dtype, touched, value) && join(&lines)
        };
        if !done {
            return Err(OutOfBounds);
        }
        *cursor = next;
        Ok(Some(lines.rows()))
    }

    /// Joins a block of updates into their cells.
    ///
    /// # Panics
    /// If the walk is not the one that the loops were chosen for, or the block is of another walk.
    pub fn run(&mut self, walk: &Walk<'_>, block: &Block) {
        self.check(walk, block);
        let combine = self.combine;
        let mut rows = Rows {
            left: walk.dst(),
            left_at: block.dst(),
            right: walk.src(),
            right_at: block.src(),
            window: &self.window,
            ahead: block.ahead(),
        };
        let Some(converter) = &mut self.converter else {
            // SAFETY: `check` has found that the block is of this walk, which has proven its
            // offsets to lie, window included, inside destination and source. The types of this
            // walk chose the loop. A walk's destination overlaps neither itself nor the source.
            return unsafe {
                match self.past_caches {
                    true => copy_rows_past_caches(&rows),
                    false => combine(&rows),
                }
            };
        };
        // SAFETY: `check` has found that the block is of this walk, whose proof covers the offsets
        // of both sides. The scratch holds elements of the destination's type and overlaps nothing.
        unsafe {
            converter.run(walk.src(), block, |part, scratch, right_at| {
                rows.left_at = &block.dst()[part];
                combine(&Rows {
                    right: scratch,
                    right_at,
                    ..rows
                });
            });
        }
    }

    /// Sets the cells of the rows that no update has touched to zero.
    ///
    /// # Panics
    /// If the loops were chosen for another walk.
    pub fn clear_untouched(&self, walk: &Walk<'_>, touched: &mut RowBitmap) {
        self.check_walk(walk);
        if touched.is_full() {
            return;
        }
        let mut room = StackBuf::new();
        for from in (0..touched.rows()).step_by(ROWS) {
            let numbers = from..touched.rows().min(from + ROWS);
            let places = room.fill_with(0isize, numbers.len());
            let mut count = 0;
            for number in numbers.filter(|&number| !touched.is_touched(number)) {
                if let Some(place) = walk.place(number) {
                    places[count] = place;
                    count += 1;
                }
            }
            // SAFETY: `place` gives offsets of rows that this walk has proven to lie inside the
            // destination, and `check_walk` has found that the loops are of this walk.
            unsafe { self.set_at(walk.dst(), &places[..count], &[0; 16]) };
        }
    }

    /// Sets the cells of a block's rows to one value.
    ///
    /// # Panics
    /// If the walk is not the one that the loops were chosen for, or the block is of another walk.
    pub fn reset(&self, walk: &Walk<'_>, block: &Block, value: &Bits) {
        self.check(walk, block);
        // SAFETY: `check` has found that the block is of this walk, which has proven its offsets to
        // lie, window included, inside the destination. The destination's type chose the loop.
        unsafe { self.set_at(walk.dst(), block.dst(), value) };
    }

    /// Sets the cells of those rows of a block that are touched for the first time to one value.
    ///
    /// # Panics
    /// If the walk is not the one that the loops were chosen for, or the block is of another walk.
    pub fn reset_first(
        &self,
        walk: &Walk<'_>,
        block: &Block,
        touched: &mut RowBitmap,
        value: &Bits,
    ) {
        self.check(walk, block);
        let mut room = StackBuf::new();
        let first = touched.first(block, &mut room);
        // SAFETY: `check` has found that the block is of this walk, which has proven its offsets,
        // of which `first` are some, to lie inside the destination. Its type chose the loop.
        unsafe { self.set_at(walk.dst(), first, value) };
    }

    /// Joins rows as they are.
    ///
    /// # Safety
    /// As for [`Loop`], with the walk's window and element type on both sides.
    pub(crate) unsafe fn join(&self, rows: &Rows<'_>) {
        assert!(self.converter.is_none());
        // SAFETY: the caller keeps the contract of `Loop` for the walk's window and element type on
        // both sides, which chose this loop.
        unsafe { (self.combine)(rows) }
    }

    /// Sets the rows at these offsets from `dst` to one value.
    ///
    /// # Safety
    /// They must lie, with the walk's window, inside memory of the walk's element type.
    pub(crate) unsafe fn set_at(&self, dst: *mut u8, at: &[isize], value: &Bits) {
        if let [dim] = *self.reset_window
            && dim.left == self.dtype.size().cast_signed()
        {
            let row = Filled::new(value, self.dtype.size());
            // SAFETY: the caller promises that the rows at these offsets lie inside memory of the
            // element type; a window of one dense axis is a row without gaps.
            return unsafe { row.fill_rows(dst, at, dim.len, self.past_caches) };
        }
        let aligned = Aligned(*value);
        let rows = Rows {
            left: dst,
            left_at: at,
            right: aligned.0.as_ptr(),
            right_at: At::Steps(0, 0),
            window: &self.reset_window,
            ahead: PrefetchHints::NONE,
        };
        // SAFETY: the caller promises the rows on the left; the right side is one element of the
        // destination's type, aligned to 16, with steps of 0.
        unsafe { (self.reset)(&rows) }
    }
}

/// An element's bytes, aligned for every type.
#[repr(align(16))]
struct Aligned(Bits);

/// Sets every cell of a tensor to zero.
pub fn clear(dst: &mut DynViewMut<'_>) {
    if dst.is_empty() {
        return;
    }
    let (window, size) = (against_one(dst), dst.dtype().size());
    if let [dim] = *window
        && dim.left == size.cast_signed()
    {
        let zeros = Filled::new(&[0; 16], size);
        // SAFETY: a row without gaps that is the whole tensor, borrowed mutably.
        return unsafe { zeros.fill_rows(dst.as_mut_ptr(), &[0], dim.len, false) };
    }
    let zero = Aligned([0; 16]);
    let rows = Rows {
        left: dst.as_mut_ptr(),
        left_at: &[0],
        right: zero.0.as_ptr(),
        right_at: At::Steps(0, 0),
        window: &window,
        ahead: PrefetchHints::NONE,
    };
    // SAFETY: the window is the whole tensor, borrowed mutably; the right side is one element.
    unsafe { copy_loop(dst.dtype())(&rows) };
}

/// All of a tensor on the left, a single element on the right.
fn against_one(dst: &DynViewMut<'_>) -> Dims {
    let axes = whole(dst.layout()).into_iter();
    axes.map(|(len, left)| Dim {
        len,
        left,
        right: 0,
    })
    .collect()
}

/// Sets every cell of a tensor that equals `value` to zero.
pub fn clear_equal(dst: &mut DynViewMut<'_>, value: &Bits) -> Result<(), Problem> {
    let dtype = dst.dtype();
    let clear = clear_equal_loop(dtype).ok_or_else(|| Problem::Unsupported {
        what: "a masked minimum or maximum".into(),
        dtype,
    })?;
    let aligned = Aligned(*value);
    let window = against_one(dst);
    if dst.is_empty() {
        return Ok(());
    }
    let rows = Rows {
        left: dst.as_mut_ptr(),
        left_at: &[0],
        right: aligned.0.as_ptr(),
        right_at: At::Steps(0, 0),
        window: &window,
        ahead: PrefetchHints::NONE,
    };
    // SAFETY: the window is the whole tensor, borrowed mutably; the right side is one element.
    unsafe { clear(&rows) };
    Ok(())
}
