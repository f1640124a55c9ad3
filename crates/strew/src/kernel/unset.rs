//! Cells that say of themselves that no update has reached them.
//!
//! Where updates alone count (`include_self=False`), a sum has to know whether it is a cell's first one.
//! Cells of a new tensor can tell: they start from a signalling NaN, which no sum ever is.

use super::copy::{packed, stretches, whole};
use super::loops::{Bits, bits, copy_loop};
use super::number::Number;
use super::rows::{Ahead, At, Dim, Rows, each};
use crate::tensor::{DType, DynTensor, DynView};
use crate::threads::{Team, available};

/// Elements that have a value which no sum of theirs is.
pub(super) trait Unset: Number {
    const UNSET: Self;
    fn is_unset(self) -> bool;
}

macro_rules! unset {
    ($($t:ty, $bits:expr);*) => {$(
        impl Unset for $t {
            const UNSET: $t = <$t>::from_bits($bits);
            #[inline(always)]
            fn is_unset(self) -> bool { self.to_bits() == $bits }
        }
    )*};
}

// All ones in the exponent, a fraction that is not 0, and not its highest bit: that would be quiet.
unset!(f32, 0x7f91_a5c3; f64, 0x7ff1_a5c3_96f0_0f69);

/// What cells of this type start from to be told from those that updates have reached; `None` for
/// types that have no such value.
pub(crate) fn unset(dtype: DType) -> Option<Bits> {
    match dtype {
        DType::F32 => Some(bits(f32::UNSET)),
        DType::F64 => Some(bits(f64::UNSET)),
        _ => None,
    }
}

/// Bytes that are worth a thread.
const STRETCH: usize = 4 << 20;

/// Gives the cells of a tensor that are unset what `from` holds there. Those of each run of `width` are
/// known to be either all set or all unset.
///
/// # Panics
/// If shapes or types differ, or the type has no unset value.
pub(crate) fn adopt(to: &mut DynTensor, from: &DynView<'_>, width: usize) {
    assert!(to.shape() == from.shape() && to.dtype() == from.dtype());
    let adopt: unsafe fn(&Piece) = match to.dtype() {
        DType::F32 => adopt_from::<f32>,
        DType::F64 => adopt_from::<f64>,
        other => unreachable!("{other} has no unset value"),
    };
    if from.is_empty() {
        return;
    }
    let size = from.dtype().size();
    let window = packed(&whole(from.layout()), size);
    let threads = available().min(from.len() * size / STRETCH).max(1);
    let left = to.view_mut().as_mut_ptr();
    let pieces = stretches(&window, threads).map(|(window, at, right)| Piece {
        left: left.wrapping_offset(at),
        right: from.as_ptr().wrapping_offset(right),
        window,
        width,
        dtype: from.dtype(),
    });
    // SAFETY: the pieces together cover the tensor on the left, borrowed mutably, and on the right the
    // view, which has elements of the same type in the same order; no two share any.
    let adopt = |piece: Piece| unsafe { adopt(&piece) };
    match Team::new(threads) {
        Some(team) if threads > 1 => team.share(pieces, adopt, adopt),
        _ => pieces.for_each(adopt),
    }
}

/// Some of the cells.
struct Piece {
    left: *mut u8,
    right: *const u8,
    window: super::rows::Dims,
    width: usize,
    dtype: DType,
}

// SAFETY: a piece is the only one that writes to its cells, and nobody writes what it reads.
unsafe impl Send for Piece {}

/// Rows whose offsets are written down together.
const ROWS: usize = 256;

/// # Safety
/// The window must cover valid elements of type `T` on both sides, which do not overlap.
unsafe fn adopt_from<T: Unset>(piece: &Piece) {
    let Piece { window, width, .. } = piece;
    let mut rows = Rows {
        left: piece.left,
        left_at: &[0],
        right: piece.right,
        right_at: At::Steps(0, 0),
        window,
        ahead: Ahead::NONE,
    };
    // A single run on both sides, of runs whose first cell speaks for all of them.
    let runs = match window[..] {
        [dim] if dim.right == dim.left && *width > 1 && dim.len % width == 0 => dim.len / width,
        // SAFETY: the caller's promise.
        _ => unsafe {
            return each::<T, T, T>(
                &rows,
                #[inline(always)]
                |_, cell, value| {
                    if cell.is_unset() {
                        *cell = value;
                    }
                },
            );
        },
    };
    let run = Dim {
        len: *width,
        ..window[0]
    };
    rows.window = std::slice::from_ref(&run);
    let bytes = (width * size_of::<T>()).cast_signed();
    let mut unset = [0; ROWS];
    for from in (0..runs).step_by(ROWS) {
        let mut count = 0;
        for k in from..runs.min(from + ROWS) {
            let at = k.cast_signed() * bytes;
            unset[count] = at;
            // SAFETY: the caller's promise; the run is one of the window's.
            count += usize::from(unsafe { piece.left.offset(at).cast::<T>().read() }.is_unset());
        }
        // SAFETY: as above, for runs as a whole.
        unsafe {
            copy_loop(piece.dtype)(&Rows {
                left_at: &unset[..count],
                right_at: At::Each(&unset[..count]),
                ..rows
            });
        }
    }
}
