//! Updates of another type than the destination, converted block by block into a scratch.
//!
//! ```text
//! for each piece of at most CHUNK elements: scratch = convert(rows); next(piece, scratch)
//! ```
//!
//! The scratch stays in a near cache. Cost: one more write and read of each update there. The
//! engine comes here only for pairs of types that a framework's promotion rules allow.
//!
//! # Unsafe
//!
//! - Buys: updates of another type, without a copy of all
//! - Measured: checks: I 1.03, I64 1.10
//! - Holds: asserted: no more rows than the scratch has; the source's offsets are the block's

use crate::error::Problem;
use crate::ops::boolean::Bool;
use crate::ops::number::Convert;
use crate::rows::row_pairs::{Cold, Loop, Rows, each};
use crate::tensor::{Buffer, DType, Layout};
use crate::walk::cursor::Block;
use crate::walk::offsets::{At, Dim, Dims, PrefetchHints};
use crate::walk::stack_buf::StackBuf;
use half::{bf16, f16};
use std::ops::Range;

/// Maximum number of elements that are converted at a time. A longer row is converted alone.
const CHUNK: usize = 8192;

/// The loop that converts elements (right) to another type (left).
pub(crate) fn loop_for(from: DType, to: DType) -> Option<Loop> {
    macro_rules! pairs {
        ($($s:ident $source:ty => $($d:ident $dest:ty),*;)*) => {
            match (from, to) {
                $($((DType::$s, DType::$d) => Some(convert::<$source, $dest> as Loop),)*)*
                _ => None,
            }
        };
    }
    pairs! {
        Bool Bool => I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 f16, BF16 bf16, F32 f32, F64 f64;
        I8 i8 => I16 i16, I32 i32, I64 i64, F16 f16, F32 f32, F64 f64;
        U8 u8 => I16 i16, I32 i32, I64 i64, F16 f16, F32 f32, F64 f64;
        I16 i16 => I32 i32, I64 i64, F16 f16, F32 f32, F64 f64;
        I32 i32 => I64 i64, F16 f16, F32 f32, F64 f64;
        I64 i64 => F16 f16, F32 f32, F64 f64;
        U16 u16 => F64 f64;
        U32 u32 => F64 f64;
        U64 u64 => F64 f64;
        F16 f16 => F32 f32, F64 f64;
        BF16 bf16 => F32 f32, F64 f64;
        F32 f32 => F64 f64;
    }
}

/// Converts elements (right) to another type (left).
///
/// # Safety
/// As for [`Loop`], with left elements `D` and right elements `S`.
unsafe fn convert<S: Convert<D>, D: Copy>(rows: &Rows<'_>) {
    // SAFETY: the caller keeps `Loop`'s obligations.
    unsafe {
        each::<Cold, D, S, D>(
            rows,
            #[inline(always)]
            |_, to, from| *to = from,
        )
    }
}

/// A scratch for converted rows, and the loop that converts them.
pub(crate) struct Converter {
    convert: Loop,
    scratch: Buffer,
    /// The window with the scratch left and the source right.
    window: Dims,
    /// Bytes of a row in the scratch.
    row_bytes: usize,
    rows: usize,
}

impl Converter {
    /// `None` if source and destination have the same type. `window_of(size)` gives the window with
    /// elements of `size` bytes without gaps left and the source right.
    pub(crate) fn new(
        from: &Layout,
        to: DType,
        width: usize,
        window_of: impl Fn(usize) -> Dims,
    ) -> Result<Option<Self>, Problem> {
        if from.dtype() == to {
            return Ok(None);
        }
        let Some(convert) = loop_for(from.dtype(), to) else {
            return Err(Problem::Unsupported {
                what: format!("conversion of updates to {to}"),
                dtype: from.dtype(),
            });
        };
        Self::by(convert, width, to.size(), window_of(to.size())).map(Some)
    }

    /// A converter by a loop to elements of `size` bytes, `width` in a row.
    pub(crate) fn by(
        convert: Loop,
        width: usize,
        size: usize,
        window: Dims,
    ) -> Result<Self, Problem> {
        let rows = (CHUNK / width.max(1)).max(1);
        let row_bytes = width.saturating_mul(size);
        let what = || "the scratch for converted updates".to_owned();
        let scratch = Buffer::scratch(&what, row_bytes.saturating_mul(rows))?;
        Ok(Self {
            convert,
            scratch,
            window,
            row_bytes,
            rows,
        })
    }

    /// Rows that are converted at a time.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Converts evenly spaced rows, no more than [`rows`](Self::rows). Returns where they are then,
    /// and the bytes from row to row.
    ///
    /// # Safety
    /// The rows, with the window, must be those of a source of the converter's type.
    pub(crate) unsafe fn run_line(
        &mut self,
        src: *const u8,
        step: isize,
        count: usize,
    ) -> (*const u8, usize) {
        // SAFETY: the caller promises the rows.
        unsafe { self.convert(src, At::Steps(0, step), count) };
        (self.scratch.as_ptr(), self.row_bytes)
    }

    /// Converts the rows of a block piece by piece. Calls `next` with the range of rows, the
    /// address of the converted rows, and their offsets there.
    ///
    /// # Safety
    /// The block's source offsets and the window must stay inside the source at `src`.
    pub(crate) unsafe fn run(
        &mut self,
        src: *const u8,
        block: &Block,
        mut next: impl FnMut(Range<usize>, *const u8, At<'_>),
    ) {
        let mut from = 0;
        while from < block.len() {
            let part = from..block.len().min(from + self.rows);
            // SAFETY: the caller promises that all rows of the block lie inside the source; `part`
            // is some of them.
            unsafe { self.convert(src, block.src().part(part.clone()), part.len()) };
            from = part.end;
            let at = At::Steps(0, self.row_bytes.cast_signed());
            next(part, self.scratch.as_ptr(), at);
        }
    }

    /// Converts `count` rows into the first rows of the scratch.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn convert(&mut self, src: *const u8, right_at: At<'_>, count: usize) {
        assert!(count <= self.rows);
        let mut room = StackBuf::new();
        let left = self.scratch.as_mut_ptr();
        let ahead = PrefetchHints::NONE;
        // SAFETY: the left side are the first rows of the scratch; the right side is the caller's
        // promise; the scratch overlaps nothing.
        unsafe {
            if let (At::Steps(first, step), true) = (right_at, self.window.is_empty()) {
                // Single elements one after the other are as good as one row.
                (self.convert)(&Rows {
                    left,
                    left_at: &[0],
                    right: src,
                    right_at: At::Steps(first, 0),
                    window: &[Dim {
                        len: count,
                        left: self.row_bytes.cast_signed(),
                        right: step,
                    }],
                    ahead,
                });
                return;
            }
            let left_at = room.fill_with(0isize, count);
            for (i, to) in left_at.iter_mut().enumerate() {
                *to = (i * self.row_bytes).cast_signed();
            }
            (self.convert)(&Rows {
                left,
                left_at,
                right: src,
                right_at,
                window: &self.window,
                ahead,
            });
        }
    }
}

/// Whether updates of type `from` may be converted, element by element, to a destination's `to`.
pub fn converts(from: DType, to: DType) -> bool {
    from == to || crate::update::converted::loop_for(from, to).is_some()
}
