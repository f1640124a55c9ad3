//! Updates of a walk as exact sums, and those into the destination.
//!
//! ```text
//! add(block, slots): values = the block's updates as float64; sums[slot] += values; count slots
//! close:             sums[slot] += the destination's row, if that goes on
//! finish:            the destination's row = sums[slot], rounded once, divided by its count first
//! ```
//!
//! It is for sums and means of floats and complex numbers that must not depend on the order of the
//! updates. A complex number is two cells. Nothing is written to the destination before `finish`,
//! and only `finish` cannot fail.
//!
//! Cost: 8 to 24 bytes per element of a row, 8 bytes of count per row, and for each value what
//! [`sums`](crate::exact::sums) says.
//!
//! # Unsafe
//!
//! - Buys: the updates, and the destination's rows, of a walk
//! - Measured: no twin: only the walk knows where they are
//! - Holds: the offsets are the walk's; a scratch has the rows that are converted at a time

use crate::error::Problem;
use crate::exact::cells::{Cells, IndexValues};
use crate::exact::number::Format;
use crate::exact::sums::Exact;
use crate::ops::half::{f64_to_bf16, f64_to_f16};
use crate::ops::number::{Convert, Divisor, Mean};
use crate::rows::row_pairs::{Cold, Loop, Rows, each};
use crate::tensor::{Buffer, DType, List};
use crate::update::converted::Converter;
use crate::update::table::Begin;
use crate::walk::cursor::{Block, Cursor, Read};
use crate::walk::geometry::OutOfBounds;
use crate::walk::line::Line;
use crate::walk::offsets::{At, Dim, Dims, PrefetchHints, Stream};
use crate::walk::{Walk, WalkId};
use half::{bf16, f16};

/// Elements that are rounded or converted at a time, unless one row has more.
const CHUNK: usize = 8192;

/// Maximum number of rows of a line between two checks for an interrupt.
const LINE: usize = 1 << 14;

/// Values between those that are prefetched and those that are added.
const VALUES_AHEAD: isize = 1024;

/// Rows between the one that is prefetched and the one that is added to.
const ROWS_AHEAD: usize = 4;

/// Exact sums of the rows that updates go to.
pub struct ExactTable {
    /// The walk whose window and element types chose the loops.
    walk: WalkId,
    sums: Exact,
    /// The number of updates of each row; none if all rows are treated alike.
    counts: Option<List<u64>>,
    slots: usize,
    /// Cells of a row: its elements, or twice as many for complex numbers.
    width: usize,
    begin: Begin,
    format: Format,
    source: Source,
    load: Loop,
    store: Loop,
    /// The window with `float64` values without gaps left and the destination right.
    load_window: Dims,
    /// The window with the destination left and `float64` values without gaps right.
    store_window: Dims,
    /// Rows as `float64` values: as many as there is room for.
    scratch: Buffer,
}

/// How the updates' values are read.
enum Source {
    /// The elements of a row follow each other, and are read where they are.
    F32,
    F64,
    /// They are converted to `float64` first.
    Converted(Converter),
}

/// What depends on the type of the real or complex elements.
struct Elements {
    format: Format,
    /// The type of an element, or of each part of a complex number.
    part: DType,
    /// How many parts an element has.
    parts: usize,
    load: Loop,
    store: Loop,
}

impl Elements {
    /// `None` for types whose sums are exact anyway.
    fn of(dtype: DType) -> Option<Self> {
        let (part, parts) = match dtype {
            DType::C64 => (DType::F32, 2),
            DType::C128 => (DType::F64, 2),
            real => (real, 1),
        };
        let (format, load, store) = match part {
            DType::F16 => (Format::F16, load::<f16> as Loop, store::<f16> as Loop),
            DType::BF16 => (Format::BF16, load::<bf16> as Loop, store::<bf16> as Loop),
            DType::F32 => (Format::F32, load::<f32> as Loop, store::<f32> as Loop),
            DType::F64 => (Format::F64, load::<f64> as Loop, store::<f64> as Loop),
            _ => return None,
        };
        Some(Self {
            format,
            part,
            parts,
            load,
            store,
        })
    }

    /// A window of elements as one of their parts. `float64` values lie on one side, without gaps.
    fn window(&self, of: impl Fn(usize) -> Dims, values_left: bool) -> Dims {
        let (values, size) = (size_of::<f64>(), self.part.size());
        let mut window = of(values * self.parts);
        if self.parts > 1 {
            let (values, size) = (values.cast_signed(), size.cast_signed());
            let (left, right) = match values_left {
                true => (values, size),
                false => (size, values),
            };
            let len = self.parts;
            window.push(Dim { len, left, right });
        }
        window
    }
}

/// Whether sums of a type can differ from the exact ones.
#[must_use]
pub fn rounds(dtype: DType) -> bool {
    Elements::of(dtype).is_some()
}

impl ExactTable {
    /// A table of `slots` rows for a walk whose source has the destination's type.
    ///
    /// With `counts`, the table counts the updates of each row, for means.
    ///
    /// # Errors
    /// [`Problem::Unsupported`] for other types; [`Problem::Memory`].
    pub fn new(walk: &Walk<'_>, begin: Begin, counts: bool, slots: usize) -> Result<Self, Problem> {
        let dtype = walk.dst_layout().dtype();
        let elements = Elements::of(dtype).filter(|_| walk.src_layout().dtype() == dtype);
        let elements = elements.ok_or_else(|| Problem::Unsupported {
            what: "an exact sum".into(),
            dtype: walk.src_layout().dtype(),
        })?;
        let width = walk.width().saturating_mul(elements.parts);
        let counted = counts || begin != Begin::Everywhere;
        let counts = counted.then(|| {
            let what = || format!("a table of {slots} counts");
            List::zeroed_sparse(&what, slots)
        });
        let window = elements.window(|size| walk.window_packed_src(size), true);
        let size = elements.part.size().cast_signed();
        let whole = matches!(window[..], [] | [Dim { left: 8, .. }])
            && window.iter().all(|dim| dim.right == size);
        let source = match elements.part {
            DType::F32 if whole => Source::F32,
            DType::F64 if whole => Source::F64,
            _ => {
                let converter = Converter::by(elements.load, width, size_of::<f64>(), window)?;
                Source::Converted(converter)
            }
        };
        let rows = (CHUNK / width.max(1)).max(1);
        let what = || "the scratch for rows of exact sums".to_owned();
        let scratch = width.saturating_mul(rows).saturating_mul(size_of::<f64>());
        Ok(Self {
            walk: walk.id(),
            sums: Exact::new(width.saturating_mul(slots)),
            counts: counts.transpose()?,
            slots,
            width,
            begin,
            format: elements.format,
            source,
            load: elements.load,
            store: elements.store,
            load_window: elements.window(|size| walk.window_packed_dst(size), true),
            store_window: elements.window(|size| walk.window_dst_packed(size), false),
            scratch: Buffer::scratch(&what, scratch)?,
        })
    }

    /// Adds a block of updates to the rows `slots`, one for each of the block's rows.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    ///
    /// # Panics
    /// If there is not one slot for each row, if a table that counts has no such slot, or if the
    /// walk or the block is not of the walk that the table was made for.
    pub fn add(&mut self, walk: &Walk<'_>, block: &Block, slots: &[usize]) -> Result<(), Problem> {
        assert!(walk.id() == self.walk && block.walk() == self.walk);
        assert_eq!(slots.len(), block.dst().len());
        if let Some(counts) = &mut self.counts {
            let counts = &mut **counts;
            slots.iter().for_each(|&slot| counts[slot] += 1);
        }
        let (sums, width) = (&mut self.sums, self.width);
        let mut added = Ok(());
        let converter = match &mut self.source {
            // SAFETY: the source offsets are the walk's, whose rows are elements of this type, one
            // after the other.
            Source::F32 => return unsafe { add_rows::<f32>(sums, walk, block, slots, width) },
            // SAFETY: the source offsets are the walk's, whose rows are elements of this type, one
            // after the other.
            Source::F64 => return unsafe { add_rows::<f64>(sums, walk, block, slots, width) },
            Source::Converted(converter) => converter,
        };
        // SAFETY: the source offsets are the walk's, and the window is the walk's.
        unsafe {
            converter.run(walk.src(), block, |part, scratch, _| {
                // SAFETY: the converter has set `width` values for each row of the part, from the
                // beginning of its scratch on.
                let values = std::slice::from_raw_parts(scratch.cast::<f64>(), part.len() * width);
                if added.is_ok() {
                    added = sums.add_rows(&slots[part], width, values);
                }
            });
        }
        added
    }

    /// Whether the rows that a cursor gives are single elements whose index is used as it is.
    pub fn has_lines(&self, cursor: &Cursor<'_, '_>, index: &impl Read) -> bool {
        let size = match self.source {
            Source::F32 => size_of::<f32>(),
            Source::F64 => size_of::<f64>(),
            Source::Converted(_) => return false,
        };
        let dense = self.width == 1 && cursor.source_step() == size.cast_signed();
        dense && cursor.has_numbered_line(index)
    }

    /// Adds the next updates, some thousand at most, which are such [lines](Self::has_lines).
    /// Gives how many they were; 0: the walk is over. `None`: an index value is out of range, or the
    /// rows are no lines.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    ///
    /// # Panics
    /// If the cursor's walk is not the one that the table was made for.
    pub fn run_line(
        &mut self,
        cursor: &mut Cursor<'_, '_>,
        index: &impl Read,
    ) -> Result<Option<usize>, Problem> {
        assert!(cursor.walk().id() == self.walk);
        if !self.has_lines(cursor, index) {
            return Ok(None);
        }
        let lines = match cursor.source_lines(index, LINE) {
            Ok(Some(lines)) => lines,
            Ok(None) => return Ok(Some(0)),
            Err(OutOfBounds) => return Ok(None),
        };
        let line = lines.first();
        // SAFETY: these are the types of the line's index values, and of its elements, which follow
        // each other, as `has_lines` has found. A walk of one axis has one line.
        let good = unsafe {
            match (&self.source, line.narrow) {
                (Source::F32, true) => self.add_line::<f32, i32>(line)?,
                (Source::F32, false) => self.add_line::<f32, i64>(line)?,
                (_, true) => self.add_line::<f64, i32>(line)?,
                (_, false) => self.add_line::<f64, i64>(line)?,
            }
        };
        Ok(good.then_some(lines.rows()))
    }

    /// Adds a line. False if an index value names no row.
    ///
    /// # Safety
    /// The line's index values must be of type `I`, and its elements of type `V`, one after the
    /// other.
    unsafe fn add_line<V, I>(&mut self, line: &Line<'_>) -> Result<bool, Problem>
    where
        V: Copy + Into<f64>,
        I: Copy + Into<i64>,
    {
        // SAFETY: the caller's promise; a line's index values are readable, and aligned.
        let cells = unsafe { IndexValues::new(line.index.cast::<I>(), line.count) };
        // SAFETY: the caller's promise; a line's elements are readable, and aligned, and only this
        // call writes to what updates go to.
        let values = unsafe { std::slice::from_raw_parts(line.src.cast::<V>(), line.count) };
        if let Some(counts) = &mut self.counts {
            for n in 0..line.count {
                match counts.get_mut(cells.at(n)) {
                    Some(count) => *count += 1,
                    None => return Ok(false),
                }
            }
        }
        let stream = |first: *const u8, step: isize| Stream {
            first: first.wrapping_offset(VALUES_AHEAD * step),
            step,
        };
        let (index, value) = (size_of::<I>().cast_signed(), size_of::<V>().cast_signed());
        let ahead = PrefetchHints {
            streams: [stream(line.index, index), stream(line.src, value)],
            ..PrefetchHints::NONE
        };
        self.sums.add_part(cells, values, Some(ahead))
    }

    /// Adds the sums of another table, of other updates to the same rows.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    ///
    /// # Panics
    /// If the tables have other rows.
    pub fn merge(&mut self, other: Self) -> Result<(), Problem> {
        assert!(self.slots == other.slots && self.width == other.width);
        if let (Some(counts), Some(others)) = (&mut self.counts, &other.counts) {
            for (count, other) in counts.iter_mut().zip(&**others) {
                *count += other;
            }
        }
        self.sums.merge(other.sums)
    }

    /// All updates have been added: adds the rows of the destination, if the sums go on from there.
    ///
    /// `id(slot)` is the number of the destination's row that a slot stands for.
    ///
    /// # Errors
    /// [`Problem::Memory`].
    pub fn close(&mut self, walk: &Walk<'_>, id: impl Fn(usize) -> usize) -> Result<(), Problem> {
        assert!(walk.id() == self.walk);
        if self.begin == Begin::Destination {
            self.each_chunk(walk, id, |table, chunk| {
                let rows = Rows {
                    left: table.scratch.as_mut_ptr(),
                    left_at: &chunk.values[..chunk.slots.len()],
                    right: walk.dst(),
                    right_at: At::Each(&chunk.dst),
                    window: &table.load_window,
                    ahead: PrefetchHints::NONE,
                };
                // SAFETY: the destination's offsets are places of the walk, and the window is the
                // walk's. The scratch has room for a chunk, and overlaps nothing.
                unsafe { (table.load)(&rows) };
                let values = chunk.slots.len() * table.width;
                // SAFETY: the loop has set all values of the chunk's rows.
                let values =
                    unsafe { std::slice::from_raw_parts(table.scratch.as_ptr().cast(), values) };
                table.sums.add_rows(&chunk.slots, table.width, values)
            })?;
        }
        self.sums.settle()
    }

    /// Writes the touched rows to the destination, divided by their counts for a mean.
    /// [`close`](Self::close) comes before.
    ///
    /// `id` is as for [`close`](Self::close). Rows whose number is not one of the walk's are left
    /// out.
    ///
    /// # Panics
    /// For a mean of a table that has not counted.
    pub fn finish(&mut self, walk: &Walk<'_>, mean: Option<Mean>, id: impl Fn(usize) -> usize) {
        assert!(walk.id() == self.walk);
        assert!(mean.is_none_or(|mean| mean.divisor == Divisor::Count && self.counts.is_some()));
        let done = self.each_chunk(walk, id, |table, chunk| {
            let values = chunk.slots.len() * table.width;
            // SAFETY: the scratch has room for the values of a chunk, is aligned to 64 and
            // initialised, and is borrowed mutably with the table.
            let values = unsafe {
                std::slice::from_raw_parts_mut(table.scratch.as_mut_ptr().cast::<f64>(), values)
            };
            let counted = mean.zip(table.counts.as_ref());
            let neighbours = |&a: &usize, &b: &usize| counted.is_none() && b == a + 1;
            let mut rest = values;
            for slots in chunk.slots.chunk_by(neighbours) {
                let count = counted.map(|(mean, counts)| counts[slots[0]] + mean.more);
                let values = rest
                    .split_off_mut(..slots.len() * table.width)
                    .unwrap_or_default();
                (table.sums).results(slots[0] * table.width, count, table.format, values);
            }
            let rows = Rows {
                left: walk.dst(),
                left_at: &chunk.dst,
                right: table.scratch.as_ptr(),
                right_at: At::Each(&chunk.values[..chunk.slots.len()]),
                window: &table.store_window,
                ahead: PrefetchHints::NONE,
            };
            // SAFETY: the destination's offsets are places of the walk, whose whole windows lie in
            // the destination. The scratch holds the chunk's values and overlaps nothing.
            unsafe { (table.store)(&rows) };
            Ok(())
        });
        debug_assert!(done.is_ok());
    }

    /// Calls `work` with some touched rows at a time, whose values the scratch has room for.
    fn each_chunk(
        &mut self,
        walk: &Walk<'_>,
        id: impl Fn(usize) -> usize,
        mut work: impl FnMut(&mut Self, &Chunk) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let row = self.width * size_of::<f64>();
        let most = (CHUNK / self.width.max(1)).max(1);
        let ramp = (0..most.min(self.slots)).map(|n| (n * row).cast_signed());
        let mut chunk = Chunk {
            values: ramp.collect(),
            ..Chunk::default()
        };
        for slot in 0..self.slots {
            let touched = self.counts.as_ref().is_none_or(|counts| counts[slot] > 0);
            if touched && let Some(place) = walk.place(id(slot)) {
                chunk.slots.push(slot);
                chunk.dst.push(place);
            }
            let filled = chunk.slots.len();
            if filled == most || (slot + 1 == self.slots && filled > 0) {
                work(self, &chunk)?;
                chunk.slots.clear();
                chunk.dst.clear();
            }
        }
        Ok(())
    }
}

/// Adds the rows of a block, whose elements are read where they are.
///
/// # Safety
/// Each of the block's source offsets must be that of `width` elements of this type in the walk's
/// source, one after the other.
unsafe fn add_rows<V: Copy + Into<f64>>(
    sums: &mut Exact,
    walk: &Walk<'_>,
    block: &Block,
    slots: &[usize],
    width: usize,
) -> Result<(), Problem> {
    let at = block.src();
    let row = |offset: isize, len| {
        let first = walk.src().wrapping_offset(offset).cast::<V>();
        // SAFETY: the caller's promise; views are aligned for their elements.
        unsafe { std::slice::from_raw_parts(first, len) }
    };
    if let (1, At::Steps(first, step)) = (width, at)
        && step == size_of::<V>().cast_signed()
    {
        let values = row(first, slots.len());
        return sums
            .add_part(slots, values, Some(block.ahead()))
            .map(|_| ());
    }
    for (n, &slot) in slots.iter().enumerate() {
        if let Some(&next) = slots.get(n + ROWS_AHEAD) {
            sums.prefetch(next.wrapping_mul(width), width);
        }
        block.ahead().prefetch(n);
        sums.add_row(slot.saturating_mul(width), row(at.get(n), width))?;
    }
    Ok(())
}

/// Some touched rows.
#[derive(Default)]
struct Chunk {
    slots: Vec<usize>,
    /// Their byte offsets in the destination.
    dst: Vec<isize>,
    /// The byte offsets in the scratch of as many rows as it has room for.
    values: Vec<isize>,
}

/// Converts elements (right) to `float64` (left).
///
/// # Safety
/// As for [`Loop`], with left elements `f64` and right elements `T`.
unsafe fn load<T: Convert<f64>>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps `Loop`'s obligations.
    unsafe {
        each::<Cold, f64, T, f64>(
            rows,
            #[inline(always)]
            |_, to, from| *to = from,
        )
    }
}

/// A type that a `float64` converts to, which may be one of its numbers already.
pub(crate) trait Rounded: Copy + 'static {
    /// The format of the type.
    const FORMAT: Format;
    /// The nearest number.
    fn of(value: f64) -> Self;
}

macro_rules! rounded {
    ($($t:ty: $format:ident, $of:expr;)*) => {$(
        impl Rounded for $t {
            const FORMAT: Format = Format::$format;

            #[inline(always)]
            fn of(value: f64) -> Self {
                $of(value)
            }
        }
    )*};
}

rounded! {
    f16: F16, f64_to_f16;
    bf16: BF16, f64_to_bf16;
    f32: F32, |value| value as f32;
    f64: F64, |value| value;
}

/// Sets elements (left) to `float64` values (right) of their own type.
///
/// # Safety
/// As for [`Loop`], with left elements `T` and right elements `f64`.
unsafe fn store<T: Rounded>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps `Loop`'s obligations.
    unsafe {
        each::<Cold, T, f64, f64>(
            rows,
            #[inline(always)]
            |_, to, from| *to = T::of(from),
        )
    }
}
