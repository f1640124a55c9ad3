//! Updates straight into the destination.

use super::convert::Converter;
use super::loops::{Bits, clear_equal_loop, combine_loop, copy_loop};
use super::rows::{Ahead, At, Dim, Dims, Loop, Rows};
use super::walk::{Block, Walk};
use super::{Combine, copy::whole};
use crate::error::Problem;
use crate::tensor::DynViewMut;

/// The loops of a run that reads and writes the destination's cells themselves.
pub(crate) struct Direct {
    combine: Loop,
    reset: Loop,
    window: Dims,
    reset_window: Dims,
    converter: Option<Converter>,
}

impl Direct {
    /// Looks up the loops for the walk's element type.
    ///
    /// Sums and products of 16-bit floats are not computed in their cells; see [`super::Table`].
    pub(crate) fn new(walk: &Walk<'_>, combine: Combine) -> Result<Self, Problem> {
        let dtype = walk.dst_layout().dtype();
        let in_cells = matches!(combine, Combine::Sum | Combine::Prod);
        let found = combine_loop(dtype, combine)
            .filter(|_| !in_cells || dtype.accumulator() == dtype)
            .ok_or_else(|| Problem::Unsupported {
                what: format!("{combine:?} in place"),
                dtype,
            })?;
        let converter = Converter::new(walk.src_layout(), dtype, walk.width(), |size| {
            walk.window_packed_src(size)
        })?;
        let window = match converter {
            Some(_) => walk.window_dst_packed(dtype.size()),
            None => walk.window_dst_src(),
        };
        let mut reset_window = walk.window_dst_src();
        for dim in &mut reset_window {
            dim.right = 0;
        }
        Ok(Self {
            combine: found,
            reset: copy_loop(dtype),
            window,
            reset_window,
            converter,
        })
    }

    /// Joins a block of updates into their cells.
    pub(crate) fn run(&mut self, walk: &Walk<'_>, block: &Block) {
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
            // SAFETY: a block holds offsets that its walk has proven to lie, window included,
            // inside destination and source, whose types chose the loop; a walk's destination
            // overlaps neither itself nor the source.
            return unsafe { combine(&rows) };
        };
        // SAFETY: as above for both sides; the scratch holds elements of the destination's type
        // and overlaps nothing.
        unsafe {
            converter.run(walk.src(), block, |part, scratch, at| {
                rows.left_at = &block.dst()[part];
                combine(&Rows {
                    right: scratch,
                    right_at: At::Each(at),
                    ..rows
                });
            });
        }
    }

    /// Sets the cells of a block's rows to one value.
    pub(crate) fn reset(&self, walk: &Walk<'_>, block: &Block, value: &Bits) {
        let aligned = Aligned(*value);
        let rows = Rows {
            left: walk.dst(),
            left_at: block.dst(),
            right: aligned.0.as_ptr(),
            right_at: At::Steps(0, 0),
            window: &self.reset_window,
            ahead: Ahead::NONE,
        };
        // SAFETY: the left side as in `run`; the right side is one element of the destination's
        // type, aligned to 16, with steps of 0.
        unsafe { (self.reset)(&rows) }
    }
}

/// An element's bytes, aligned for every type.
#[repr(align(16))]
struct Aligned(Bits);

/// Sets every cell of a tensor that equals `value` to zero.
pub(crate) fn clear_equal(dst: &mut DynViewMut<'_>, value: &Bits) -> Result<(), Problem> {
    let dtype = dst.dtype();
    let clear = clear_equal_loop(dtype).ok_or_else(|| Problem::Unsupported {
        what: "a masked minimum or maximum".into(),
        dtype,
    })?;
    let aligned = Aligned(*value);
    let window: Dims = whole(dst.layout())
        .iter()
        .map(|&(len, step)| Dim {
            len,
            left: step,
            right: 0,
        })
        .collect();
    if dst.is_empty() {
        return Ok(());
    }
    let rows = Rows {
        left: dst.as_mut_ptr(),
        left_at: &[0],
        right: aligned.0.as_ptr(),
        right_at: At::Steps(0, 0),
        window: &window,
        ahead: Ahead::NONE,
    };
    // SAFETY: the window is the whole tensor, borrowed mutably; the right side is one element.
    unsafe { clear(&rows) };
    Ok(())
}
