//! Fills blocks with the checked offsets of the next rows.
//!
//! ```text
//! until the block is full:
//!     run = the rows up to the end of the last axis
//!     for each index term:
//!         read the values of the run into private memory
//!         check each value against the term's limit
//!         dst offset += value * term's bytes
//!     src offset = base + row * step
//! ```
//!
//! Cost per row: one read of each index value, one comparison, one multiplication or shift, one
//! store. Every strategy that decodes its index as it runs uses it. The value that was checked is
//! the value that is used, even if another thread changes the index meanwhile. The walk has proved
//! that offsets of such values stay inside the memory.

use crate::runtime::machine::L2;
use crate::walk::decode::{Scale, Stretch};
use crate::walk::geometry::{Axis, OutOfBounds, Step, Term};
use crate::walk::line::{Line, Lines};
use crate::walk::offsets::{At, PrefetchHints, Stream};
use crate::walk::stack_buf::StackBuf;
use crate::walk::{ROWS, Walk, WalkId, line};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

/// Maximum rows examined for one block when most rows are left out.
const TAKEN: usize = 16 * ROWS;

/// Minimum rows of a line. Starting a shorter line costs more than a block of several runs.
const SHORTEST_LINE: usize = 64;

/// Maximum bytes of a destination whose cells are not prefetched: the second-level cache holds it
/// beside the streams of the run.
const NEAR: isize = (L2 / 4).cast_signed();

/// Offsets of up to [`ROWS`] rows, each checked.
pub struct Block {
    /// The walk whose offsets these are.
    walk: WalkId,
    len: usize,
    /// Whether the rows' numbers and positions are needed.
    numbers: bool,
    dst: StackBuf<isize>,
    src: StackBuf<isize>,
    /// The first source offset and the step, where the rows are evenly spaced and `src` is unset.
    even: Option<(isize, isize)>,
    /// Empty, like `position`, unless the rows' numbers and positions are needed.
    aux: StackBuf<isize>,
    position: StackBuf<isize>,
    /// Working room for the index values of a run.
    values: StackBuf<i64>,
    /// Working room for the positions of the values that are kept.
    kept: StackBuf<i64>,
    /// Prefetch hints for the next block.
    ahead: PrefetchHints,
}

impl Block {
    /// A block without room for a row. [`make_room`](Self::make_room) adds it in place, because a
    /// block is too large to be moved.
    #[inline(always)]
    pub const fn new() -> Self {
        Self {
            walk: WalkId::NONE,
            len: 0,
            numbers: false,
            dst: StackBuf::new(),
            src: StackBuf::new(),
            even: None,
            aux: StackBuf::new(),
            position: StackBuf::new(),
            values: StackBuf::new(),
            kept: StackBuf::new(),
            ahead: PrefetchHints::NONE,
        }
    }

    /// Makes room for the rows that a cursor gives at a time.
    pub fn make_room(&mut self, cursor: &Cursor<'_, '_>) {
        let walk = cursor.walk;
        let rows = walk.block_rows.min(walk.count());
        (self.walk, self.len) = (walk.id(), 0);
        let numbers = if cursor.numbers { rows } else { 0 };
        self.numbers = cursor.numbers;
        // Along a single axis every block is one run, evenly spaced unless rows are left out.
        let even = walk.rows.len() <= 1 && !walk.drops;
        self.dst.fill_with(0, rows);
        self.src.fill_with(0, if even { 0 } else { rows });
        self.aux.fill_with(0, numbers);
        self.position.fill_with(0, numbers);
        self.values.fill_with(0, rows);
        self.kept.fill_with(0, if walk.drops { rows } else { 0 });
    }

    /// The walk that has proven the offsets.
    pub(crate) fn walk(&self) -> WalkId {
        self.walk
    }

    pub(crate) fn ahead(&self) -> PrefetchHints {
        self.ahead
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn dst(&self) -> &[isize] {
        &self.dst[..self.len]
    }

    pub(crate) fn src(&self) -> At<'_> {
        match self.even {
            Some((first, step)) => At::Steps(first, step),
            None => At::Each(&self.src[..self.len]),
        }
    }

    /// Row numbers of the destination, or byte offsets in an arg output.
    pub fn aux(&self) -> &[isize] {
        &self.aux[..self.len]
    }

    pub(crate) fn position(&self) -> &[isize] {
        &self.position[..self.len]
    }
}

/// Where index values come from. The cursor checks all that it is told here: a stretch against its
/// index, and each value against its limit.
pub trait Read {
    /// The location of `count` values of a term, for the rows that begin at coordinate `at` and go
    /// along the last axis.
    fn stretch(&self, term: usize, at: &[usize], count: usize) -> Stretch<'_, '_>;

    /// Whether a term's values are used unchanged, and a value that is not below the limit is an
    /// error.
    fn is_plain(&self, term: usize) -> bool;

    /// Whether a term's negative values count from its limit down, and a value that is then not
    /// below the limit is an error.
    fn wraps(&self, term: usize) -> bool;

    /// Whether a term's values that are below its limit, and not negative, are used unchanged.
    fn keeps_inside(&self, term: usize) -> bool;

    /// Replaces values that are read by those that are used.
    fn resolve(&self, term: usize, values: &mut [i64]) -> Result<(), OutOfBounds>;
}

/// Rows along the last axis that a block takes at once.
struct Run {
    /// Their places in the block.
    rows: Range<usize>,
    /// The offsets of the first row, without its index values.
    base: Step,
    /// The step from row to row.
    step: Step,
}

/// A place in a walk: gives its rows block by block, in order.
#[derive(Clone)]
pub struct Cursor<'w, 'a> {
    walk: &'w Walk<'a>,
    at: SmallVec<[usize; 4]>,
    left: usize,
    /// Whether the rows' numbers and positions are needed.
    numbers: bool,
}

impl<'w, 'a> Cursor<'w, 'a> {
    pub fn new(walk: &'w Walk<'a>) -> Self {
        Self {
            walk,
            at: SmallVec::from_elem(0, walk.rows.len()),
            left: walk.count(),
            numbers: walk.numbers,
        }
    }

    /// The walk that the cursor goes along.
    pub(crate) fn walk(&self) -> &'w Walk<'a> {
        self.walk
    }

    /// From the next block on, nobody asks for the rows' numbers and positions any more.
    pub fn forget_numbers(&mut self) {
        self.numbers = false;
    }

    /// Fills `block` with the next rows and returns how many were taken (0: the walk is over).
    /// Rows that a term leaves out are not in the block.
    ///
    /// # Errors
    /// [`OutOfBounds`] if a value is not below its limit and its term does not drop.
    pub fn next(&mut self, block: &mut Block, index: &impl Read) -> Result<usize, OutOfBounds> {
        let walk = self.walk;
        // An error leaves no rows behind: some of the offsets would be another walk's.
        (block.walk, block.len) = (walk.id(), 0);
        let (mut filled, mut taken) = (0, 0);
        while filled < walk.block_rows && taken < TAKEN && self.left > 0 {
            let (inner, along) = self.along();
            let room = walk.block_rows - filled;
            if walk.drops && room < walk.block_rows / 4 {
                // The rest of the block would fill by ever shorter runs.
                break;
            }
            let run = (inner.len - along).min(room);
            let base = self.base();
            // A block that is one run needs no list of source offsets.
            let alone = filled == 0 && (run == walk.block_rows || run == self.left) && !walk.drops;
            block.even = alone.then_some((base.src, inner.step.src));
            let here = Run {
                rows: filled..filled + run,
                base,
                step: inner.step,
            };
            let kept = match walk.terms {
                [term, others @ ..] if walk.drops && others.iter().all(Term::is_whole) => {
                    self.take_some(block, here, term, index)?
                }
                terms => self.take_all(block, here, terms, index)?,
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

    /// The offsets of the next row without its index values.
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

    /// The location of the next `count` values of a term.
    fn stretch<'l>(&self, index: &'l impl Read, term: usize, count: usize) -> Stretch<'l, 'l> {
        Stretch {
            count,
            ..index.stretch(term, &self.at, count)
        }
    }

    /// Reads the next values of a term.
    fn read(&self, index: &impl Read, term: usize, to: &mut [i64]) -> Result<(), OutOfBounds> {
        let from = self.stretch(index, term, to.len());
        match from.index.read_integers(from.at, from.stride, to) {
            true => index.resolve(term, to),
            false => Err(OutOfBounds),
        }
    }

    /// Prefetch hints for the rows from here on, of which one in `one_of` is kept.
    fn ahead(&self, index: &impl Read, one_of: usize) -> PrefetchHints {
        let stream = |first: *const u8, offset: isize, step: isize| Stream {
            first: first.wrapping_offset(offset),
            step: step.wrapping_mul(one_of.cast_signed()),
        };
        let values = |term: usize| {
            let values = self.stretch(index, term, 0);
            stream(values.index.as_ptr(), values.at, values.stride)
        };
        let terms = self.walk.terms.len();
        let first = (terms > 0).then(|| values(0));
        let (low, high) = self.walk.dst_layout().extent();
        PrefetchHints {
            streams: [
                first.unwrap_or(Stream::NOWHERE),
                stream(self.walk.src, self.base().src, self.along().0.step.src),
            ],
            second: (terms > 1).then(|| values(1)),
            near: high.wrapping_sub(low) <= NEAR,
        }
    }

    /// Offsets of a run of rows; returns how many of them are kept.
    fn take_all(
        &self,
        block: &mut Block,
        Run { rows, base, step }: Run,
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
        let mut keep = StackBuf::new();
        let keep = keep.fill_with(true, if drops { rows.len() } else { 0 });
        for (number, term) in terms.iter().enumerate() {
            // The first term writes the destination's offsets, the others add to them.
            let scale = Scale {
                base: base.dst,
                step: step.dst,
                factor: term.dst,
                add: number > 0,
            };
            if !numbers && !drops && index.is_plain(number) {
                let values = self.stretch(index, number, rows.len());
                match scale.stretch(values, term.limit, dst) {
                    true => continue,
                    false => return Err(OutOfBounds),
                }
            }
            let values = &mut block.values[..rows.len()];
            self.read(index, number, values)?;
            if drops && !mark(values, keep, term) {
                return Err(OutOfBounds);
            }
            if !scale.values(values, term.limit, dst) {
                return Err(OutOfBounds);
            }
            if numbers {
                let aux = &mut block.aux[rows.clone()];
                Scale::adding(term.aux).values(values, term.limit, aux);
            }
        }
        Ok(match drops {
            true => compact(block, rows, keep, numbers),
            false => rows.len(),
        })
    }

    /// Writes the offsets of the rows that the first term keeps. Returns how many there are.
    fn take_some(
        &self,
        block: &mut Block,
        Run { rows, base, step }: Run,
        term: &Term,
        index: &impl Read,
    ) -> Result<usize, OutOfBounds> {
        let run = rows.len();
        let (values, kept) = (&mut block.values[..run], &mut block.kept[..run]);
        let count = match index.is_plain(0) {
            true => (term.filter()).read(self.stretch(index, 0, run), values, kept),
            false => {
                self.read(index, 0, values)?;
                term.filter().in_place(values, kept)
            }
        };
        let count = count.ok_or(OutOfBounds)?;
        let (values, kept) = (&values[..count], &kept[..count]);
        let rows = rows.start..rows.start + count;
        // A value is counted from where the destination begins, and a place is below the run's end.
        let (here, places) = (term.len.max(1), ROWS);
        let ramps = |to: &mut [isize], base, step| Scale::of(base, step).values(kept, places, to);
        let offsets = |to: &mut [isize], base, factor, step| {
            Scale::of(base, factor).values(values, here, to);
            if step != 0 {
                Scale::adding(step).values(kept, places, to);
            }
        };
        offsets(&mut block.dst[rows.clone()], base.dst, term.dst, step.dst);
        ramps(&mut block.src[rows.clone()], base.src, step.src);
        if block.numbers {
            offsets(&mut block.aux[rows.clone()], base.aux, term.aux, step.aux);
            let position = &mut block.position[rows.clone()];
            ramps(position, base.position, step.position);
        }
        self.add_others(block, &rows, run, index)?;
        Ok(count)
    }

    /// Adds what the terms after the first, which keep every row, add to the offsets of the rows of
    /// a run that the first keeps.
    fn add_others(
        &self,
        block: &mut Block,
        rows: &Range<usize>,
        run: usize,
        index: &impl Read,
    ) -> Result<(), OutOfBounds> {
        for (number, term) in self.walk.terms.iter().enumerate().skip(1) {
            let values = &mut block.values[..run];
            // Values of rows that another part keeps are checked by that part.
            self.read(index, number, values)?;
            let mut outside = false;
            let mut pick = |to: &mut [isize], factor: isize| {
                for (to, &place) in to.iter_mut().zip(&block.kept[..]) {
                    let value = values[place as usize];
                    outside |= value.cast_unsigned() >= term.limit as u64;
                    *to = to.wrapping_add((value as isize).wrapping_mul(factor));
                }
            };
            pick(&mut block.dst[rows.clone()], term.dst);
            if block.numbers {
                pick(&mut block.aux[rows.clone()], term.aux);
            }
            if outside {
                return Err(OutOfBounds);
            }
        }
        Ok(())
    }

    /// The next rows as lines of at most `most` rows. `None` if the walk is over.
    ///
    /// # Errors
    /// [`OutOfBounds`] if the index values do not lie in the index, or the rows are no
    /// [lines](Self::has_lines).
    pub(crate) fn lines<'l>(
        &mut self,
        index: &'l impl Read,
        most: usize,
    ) -> Result<Option<Lines<'l>>, OutOfBounds> {
        self.lines_to(self.walk.dst(), index, most)
    }

    /// Next [lines](Self::lines) whose places in the destination are not used: there may be none.
    ///
    /// # Errors
    /// Those of [`lines`](Self::lines).
    pub(crate) fn source_lines<'l>(
        &mut self,
        index: &'l impl Read,
        most: usize,
    ) -> Result<Option<Lines<'l>>, OutOfBounds> {
        self.lines_to(ptr::null_mut(), index, most)
    }

    /// Next [lines](Self::lines) in a destination of the walk's layout that begins at `dst`.
    ///
    /// # Errors
    /// Those of [`lines`](Self::lines).
    pub(crate) fn lines_to<'l>(
        &mut self,
        dst: *mut u8,
        index: &'l impl Read,
        most: usize,
    ) -> Result<Option<Lines<'l>>, OutOfBounds> {
        let walk = self.walk;
        if self.left == 0 {
            return Ok(None);
        }
        let [term] = walk.terms else {
            return Err(OutOfBounds);
        };
        let (inner, along) = self.along();
        let count = (inner.len - along).min(most);
        // Whole lines go on along the next axis that has more than one.
        let inner_axis = walk.rows.len().saturating_sub(1);
        let outer = walk.rows[..inner_axis].iter().rposition(|a| a.len > 1);
        let outer = outer.filter(|_| count == inner.len);
        let (left, turn, next) = match outer {
            Some(k) => {
                let axis = &walk.rows[k];
                (axis.len - self.at[k], axis.len, axis.step)
            }
            None => (1, 1, Step::default()),
        };
        let lines = left.min(most / count).max(1);

        let base = self.base();
        let stretch = self.stretch(index, 0, count);
        let mut next_index = 0;
        if let (Some(k), true) = (outer, lines > 1) {
            self.at[k] += 1;
            next_index = self.stretch(index, 0, count).at.wrapping_sub(stretch.at);
            self.at[k] += lines - 2;
        }
        self.left -= (lines - 1) * count;
        self.advance(count);
        let index = stretch.spaced(next_index, lines).ok_or(OutOfBounds)?;
        let narrow = line::narrow(stretch.index.dtype()).ok_or(OutOfBounds)?;
        let first = Line {
            dst: dst.wrapping_offset(base.dst),
            src: walk.src().wrapping_offset(base.src),
            step: inner.step,
            term: *term,
            count,
            width: walk.width(),
            stretch,
            index,
            narrow,
            beyond: std::ptr::null(),
            ahead: PrefetchHints::NONE,
            memory: PhantomData,
        };
        Ok(Some(Lines {
            first,
            count: lines,
            left,
            turn,
            next: [next.dst, next.src, next_index],
        }))
    }

    /// The next rows as a line of at most as many rows as there is `room` for, with the values that
    /// are used of its index in it, and whether those that are not below the limit leave their rows
    /// out. The destination begins at `dst`. `None` if the walk is over.
    ///
    /// # Errors
    /// [`OutOfBounds`] if the rule refuses a value, or the rows are no
    /// [lines by a rule](Self::has_lines_by_rule).
    pub(crate) fn line_by_rule<'l>(
        &mut self,
        dst: *mut u8,
        index: &'l impl Read,
        room: &'l mut [i64],
    ) -> Result<Option<(Line<'l>, bool)>, OutOfBounds> {
        let walk = self.walk;
        let [term] = walk.terms else {
            return Err(OutOfBounds);
        };
        if self.left == 0 {
            return Ok(None);
        }
        let (inner, along) = self.along();
        let count = (inner.len - along).min(room.len());
        let (base, stretch) = (self.base(), self.stretch(index, 0, count));
        let values = &mut room[..count];
        self.read(index, 0, values)?;
        self.advance(count);
        let ahead = self.ahead(index, 1);
        let line = Line {
            dst: dst.wrapping_offset(base.dst),
            src: walk.src().wrapping_offset(base.src),
            step: inner.step,
            // The rows that are left out are not joined.
            term: Term {
                drop: false,
                ..*term
            },
            count,
            width: walk.width(),
            stretch,
            index: values.as_mut_ptr().cast(),
            narrow: false,
            beyond: ahead.streams[0].first,
            ahead,
            memory: PhantomData,
        };
        Ok(Some((line, term.drop)))
    }

    /// Whether the rows are lines: they have one index that is used as it is.
    pub(crate) fn has_lines(&self, index: &impl Read) -> bool {
        !self.numbers && self.is_of_lines(index)
    }

    /// Whether the rows are lines, apart from what their index values mean.
    pub(crate) fn has_lines_by_rule(&self) -> bool {
        let inner = self.along().0.len;
        let [term] = self.walk.terms else {
            return false;
        };
        let long = inner >= SHORTEST_LINE || inner == self.walk.count();
        !self.numbers && long && (term.from, term.len) == (0, term.limit)
    }

    /// Moves on by some rows of lines that come next.
    pub(crate) fn skip(&mut self, lines: &Lines<'_>, rows: usize) {
        let line = lines.first().count;
        for _ in 0..rows / line {
            self.advance(line);
        }
        self.advance(rows % line);
    }

    /// Whether the rows are lines without a row that is left out, and the values of their index are
    /// used as they are or [wrapped](Read::wraps).
    pub(crate) fn has_whole_lines(&self, index: &impl Read) -> bool {
        let shaped = !self.numbers && !self.walk.drops && self.is_shaped_like_lines(index);
        shaped && (index.is_plain(0) || index.wraps(0))
    }

    /// Whether the rows are in one line, and each index value is its row's number.
    pub(crate) fn has_numbered_line(&self, index: &impl Read) -> bool {
        let walk = self.walk;
        let ([term], [_] | []) = (walk.terms, walk.rows) else {
            return false;
        };
        let (start, step) = (walk.start, self.along().0.step);
        let pointed = (start.aux, step.aux, step.dst, term.aux) == (0, 0, 0, 1);
        self.numbers && term.is_whole() && pointed && self.is_of_lines(index)
    }

    /// Bytes from an element of the source to the next one along the last axis.
    pub(crate) fn source_step(&self) -> isize {
        self.along().0.step.src
    }

    /// Whether the rows are lines, apart from whether their numbers are needed.
    fn is_of_lines(&self, index: &impl Read) -> bool {
        let kept = self.walk.terms.iter().all(line::keeps);
        kept && self.is_shaped_like_lines(index) && index.is_plain(0)
    }

    /// Whether the rows have one index, whose values lie in long stretches without gaps.
    fn is_shaped_like_lines(&self, index: &impl Read) -> bool {
        let walk = self.walk;
        let inner = self.along().0.len;
        let long = inner >= SHORTEST_LINE || inner == walk.count();
        walk.terms.len() == 1 && long && line::fits(&self.stretch(index, 0, 1))
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
        let here = value.wrapping_sub(from);
        let mine = inside && (0..len).contains(&here);
        *value = if mine { here } else { 0 };
        *keep &= mine;
    }
    term.drop || !outside
}

/// Removes the dropped rows, without a branch that depends on the data. Returns how many are left.
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
