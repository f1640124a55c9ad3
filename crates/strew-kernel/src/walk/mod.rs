//! From an index to checked byte offsets, block by block.
//!
//! A [`Walk`] is made once per run. It proves that every offset it can produce lies inside the
//! destination and the source, whichever index values below their limits come.
//!
//! ```text
//! walk = prove(geometry, destination, source)
//! while rows are left:
//!     block = up to 512 rows: read the index values, check each, scale and add them
//!     hand the block's offsets to a loop
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`cursor`] | the blocks, and the cursor that fills them |
//! | [`decode`] | index values to offsets in one pass |
//! | [`filter`] | keeps the index values of one range and drops the others |
//! | [`geometry`] | the description of a run: axes, steps, index terms |
//! | [`line`](mod@line) | long runs of rows for the loops that read the index themselves |
//! | [`offsets`] | the types of offsets and prefetch hints |
//! | [`resolve`] | what index values mean that are not used as they are |
//! | [`stack_buf`] | arrays on the stack that are set only as far as they are used |

pub mod cursor;
pub mod decode;
pub mod filter;
pub mod geometry;
pub mod line;
pub mod offsets;
pub mod resolve;
pub mod stack_buf;

use crate::tensor::{DynView, DynViewMut, Layout, apart};
use crate::walk::geometry::{Axis, Geometry, Step, Term};
use crate::walk::offsets::{Dim, Dims};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows per block: enough to hide what a block costs, and few enough for the first-level cache.
pub const ROWS: usize = 512;

/// Maximum elements per block, unless a single row has more: a block runs between two checks for an
/// interrupt.
const BLOCK_ELEMENTS: usize = 1 << 22;

/// Names one walk. Blocks and loops carry the name of their walk, so that the offsets that one walk
/// has proven are never used with the memory of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalkId(u64);

impl WalkId {
    /// The name of no walk.
    pub(crate) const NONE: Self = Self(0);

    /// A name that no other walk of this process has.
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The geometry of a run, proven to stay inside the destination and the source it is bound to.
pub struct Walk<'a> {
    id: WalkId,
    rows: &'a [Axis],
    terms: &'a [Term],
    window: &'a [Axis],
    cells: &'a [Axis],
    numbers: bool,
    /// Whether a term may leave rows out.
    drops: bool,
    /// Maximum rows of a block.
    block_rows: usize,
    start: Step,
    cell_start: isize,
    /// Every sum of `aux` steps is below this, including the window's steps if it has any.
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
    pub fn new(
        geometry: &Geometry<'a>,
        dst: &'a mut DynViewMut<'_>,
        src: &'a DynView<'_>,
    ) -> Option<Self> {
        let (apart, at) = (apart(src, dst), dst.as_mut_ptr());
        let walk = Self::bind(geometry, dst.layout(), src)?;
        apart.then_some(Self { dst: at, ..walk })
    }

    /// A walk that only gives offsets in a destination of this layout; `None` if any of them would
    /// lie outside, or in the source.
    pub fn bind(geometry: &Geometry<'a>, dst: &'a Layout, src: &'a DynView<'_>) -> Option<Self> {
        Self::prove(geometry, dst, src.as_ptr(), src.layout())
    }

    /// [`bind`](Self::bind) for a source that may not be readable.
    pub(crate) fn prove(
        geometry: &Geometry<'a>,
        dst: &'a Layout,
        src_at: *const u8,
        src: &'a Layout,
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
        for (ends, layout) in [(dst_ends, dst), (cell_ends, dst), (src_ends, src)] {
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
            id: WalkId::next(),
            rows,
            terms,
            window,
            cells,
            start,
            numbers,
            drops: !terms.iter().all(Term::is_whole),
            block_rows: (BLOCK_ELEMENTS / width.max(1)).clamp(1, ROWS),
            cell_start,
            aux_end: usize::try_from(aux_ends.1).ok()? + 1,
            dst: std::ptr::null_mut(),
            src: src_at,
            dst_layout: dst,
            src_layout: src,
            memory: PhantomData,
        })
    }

    /// The byte offset of the destination's row of this number, if there is one.
    pub(crate) fn place(&self, number: usize) -> Option<isize> {
        let (mut rest, mut offset) = (number, self.cell_start);
        for axis in self.cells.iter().rev() {
            let at;
            // Mostly there is one axis, and nothing to divide.
            (rest, at) = match rest < axis.len {
                true => (0, rest),
                false => (rest / axis.len, rest % axis.len),
            };
            offset += at.cast_signed() * axis.step.dst;
        }
        (rest == 0).then_some(offset)
    }

    /// The byte offset of row 0 and the first of `width` columns from coordinate `origin` on, where
    /// columns go along the last axis and the walk's one term names `rows` of them. `None` if that
    /// is not what the walk goes over.
    pub(crate) fn columns(&self, origin: &[usize], width: usize, grid: Grid) -> Option<isize> {
        let [term] = self.terms else { return None };
        let (last, along) = (self.rows.last()?, *origin.last()?);
        let inside = origin.len() == self.rows.len()
            && origin
                .iter()
                .zip(self.rows)
                .all(|(&at, axis)| at < axis.len)
            && width <= last.len - along;
        let alike = (term.len, term.dst, last.step.dst) == (grid.rows, grid.row, grid.column);
        let steps = origin.iter().zip(self.rows);
        let offset = steps.map(|(&at, axis)| at.cast_signed() * axis.step.dst);
        (inside && alike).then(|| self.start.dst + offset.sum::<isize>())
    }

    pub(crate) fn id(&self) -> WalkId {
        self.id
    }

    pub fn dst_layout(&self) -> &Layout {
        self.dst_layout
    }

    pub(crate) fn src_layout(&self) -> &Layout {
        self.src_layout
    }

    /// # Panics
    /// If the walk has no destination.
    pub(crate) fn dst(&self) -> *mut u8 {
        assert!(!self.dst.is_null());
        self.dst
    }

    pub(crate) fn src(&self) -> *const u8 {
        self.src
    }

    pub(crate) fn aux_end(&self) -> usize {
        self.aux_end
    }

    /// Elements in a window.
    pub fn width(&self) -> usize {
        self.window.iter().map(|a| a.len).product()
    }

    /// Rows in all.
    pub fn count(&self) -> usize {
        self.rows.iter().map(|a| a.len).product()
    }

    /// The window with the destination on the left and the source on the right.
    pub(crate) fn window_dst_src(&self) -> Dims {
        self.dims(|a| (a.step.dst, a.step.src))
    }

    /// The window with `size`-byte elements without gaps on the left and the source on the right.
    pub(crate) fn window_packed_src(&self, size: usize) -> Dims {
        let mut dims = self.dims(|a| (0, a.step.src));
        pack(&mut dims, size, |dim, step| dim.left = step);
        dims
    }

    /// The window with the destination on the left and `size`-byte elements without gaps on the
    /// right.
    pub(crate) fn window_dst_packed(&self, size: usize) -> Dims {
        let mut dims = self.dims(|a| (a.step.dst, 0));
        pack(&mut dims, size, |dim, step| dim.right = step);
        dims
    }

    /// The window with `size`-byte elements without gaps on the left and the destination on the
    /// right.
    pub(crate) fn window_packed_dst(&self, size: usize) -> Dims {
        let mut dims = self.dims(|a| (0, a.step.dst));
        pack(&mut dims, size, |dim, step| dim.left = step);
        dims
    }

    /// The steps of the window in the arg output.
    pub(crate) fn window_aux(&self) -> SmallVec<[isize; 4]> {
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

/// How the rows and columns of a [tile](crate::copy::tile) lie in a destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// The number of rows.
    pub(crate) rows: usize,
    /// Bytes from one row to the next.
    pub(crate) row: isize,
    /// Bytes from one column to the next.
    pub(crate) column: isize,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket::BucketList;
    use crate::bucket::apply::{BucketShare, BucketSource};
    use crate::copy::take_walk::TakeWalk;
    use crate::ops::reduction::Combine;
    use crate::tensor::{DType, DynTensor, TensorView};
    use crate::update::in_place::Direct;
    use crate::walk::cursor::{Block, Cursor, Read};
    use crate::walk::decode::Stretch;
    use crate::walk::geometry::OutOfBounds;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// What a reader says of its index.
    struct Says<'v> {
        index: DynView<'v>,
        plain: bool,
        /// The location of the values at each coordinate of the first axis.
        at: [isize; 3],
        stride: isize,
        count: usize,
        /// What is added to values that are not plain.
        adds: i64,
    }

    impl Read for Says<'_> {
        fn stretch(&self, _: usize, at: &[usize], _: usize) -> Stretch<'_, '_> {
            Stretch {
                index: &self.index,
                at: self.at[at[0]],
                stride: self.stride,
                count: self.count,
            }
        }

        fn is_plain(&self, _: usize) -> bool {
            self.plain
        }

        fn wraps(&self, _: usize) -> bool {
            false
        }

        fn keeps_inside(&self, _: usize) -> bool {
            self.plain
        }

        fn resolve(&self, _: usize, values: &mut [i64]) -> Result<(), OutOfBounds> {
            values.iter_mut().for_each(|value| *value += self.adds);
            Ok(())
        }
    }

    /// Three lines of 64 values each.
    const LINES: [usize; 2] = [3, 64];

    /// Runs `work` with a walk that adds `LINES` elements to 5 cells.
    fn with_walk<T>(part: usize, drop: bool, work: impl FnOnce(Walk<'_>) -> T) -> T {
        let mut cells = DynTensor::zeros(DType::F32, &[5]).unwrap();
        let updates = DynTensor::zeros(DType::F32, &LINES).unwrap();
        with_geometry(part, drop, |geometry| {
            let (mut cells, updates) = (cells.view_mut(), updates.view());
            work(Walk::new(geometry, &mut cells, &updates).unwrap())
        })
    }

    fn with_geometry<T>(part: usize, drop: bool, work: impl FnOnce(&Geometry<'_>) -> T) -> T {
        let axis = |len, dst, src| Axis {
            len,
            step: Step {
                dst,
                src,
                ..Step::default()
            },
        };
        work(&Geometry {
            rows: &[axis(LINES[0], 0, 256), axis(LINES[1], 0, 4)],
            terms: &[Term {
                limit: 5,
                from: 0,
                len: part,
                dst: 4,
                aux: 0,
                drop,
                own: false,
            }],
            window: &[],
            cells: &[axis(5, 4, 0)],
            numbers: false,
            start: Step::default(),
            cell_start: 0,
        })
    }

    fn says(values: &[i64]) -> Says<'_> {
        Says {
            index: TensorView::from(values).into_dyn(),
            plain: true,
            at: [0, 512, 1024],
            stride: 8,
            count: 64,
            adds: 0,
        }
    }

    #[test]
    fn nothing_that_a_reader_says_leads_out_of_bounds() {
        let values: Vec<i64> = (0..192).map(|n| n % 5).collect();
        let run = |part, drop, says: &Says<'_>| {
            with_walk(part, drop, |walk| {
                let mut cursor = Cursor::new(&walk);
                let mut block = Block::new();
                block.make_room(&cursor);
                cursor.next(&mut block, says).map(|_| {
                    assert!(block.dst().iter().all(|at| [0, 4, 8, 12, 16].contains(at)));
                    block.len()
                })
            })
        };
        for (part, drop, kept) in [(5, false, 192), (2, false, 78), (2, true, 78)] {
            for plain in [true, false] {
                let honest = Says {
                    plain,
                    ..says(&values)
                };
                assert_eq!(run(part, drop, &honest), Ok(kept));
                let count = Says { count: 1, ..honest };
                assert_eq!(run(part, drop, &count), Ok(kept));
                for at in [[-8, 512, 1024], [0, 1 << 40, 1024], [0, 512, 1028]] {
                    let elsewhere = Says {
                        plain,
                        at,
                        ..says(&values)
                    };
                    assert_eq!(run(part, drop, &elsewhere), Err(OutOfBounds));
                }
            }
        }
        for adds in [-1, 1, i64::MIN, i64::MAX - 4] {
            let resolved = Says {
                plain: false,
                adds,
                ..says(&values)
            };
            assert_eq!(run(5, false, &resolved), Err(OutOfBounds));
            assert_eq!(run(2, false, &resolved), Err(OutOfBounds));
        }
    }

    #[test]
    fn no_line_leaves_the_index() {
        let values = [0i64; 192];
        let lines = |says: &Says<'_>| {
            with_walk(5, false, |walk| {
                let lines = Cursor::new(&walk).lines(says, 1 << 14);
                lines.map(|lines| lines.map(|lines| lines.rows()))
            })
        };
        assert_eq!(lines(&says(&values)), Ok(Some(192)));
        for at in [
            [0, 520, 1024],
            [0, 516, 1024],
            [-8, 0, 0],
            [0, isize::MAX, 0],
        ] {
            let elsewhere = Says {
                at,
                ..says(&values)
            };
            assert_eq!(lines(&elsewhere), Err(OutOfBounds), "{at:?}");
        }
        let apart = Says {
            stride: 16,
            ..says(&values)
        };
        assert_eq!(lines(&apart), Err(OutOfBounds));
    }

    #[test]
    fn blocks_of_another_walk_are_refused() {
        let values = [0i64; 192];
        let says = says(&values);
        let refuses = |work: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(work)).is_err();
        with_walk(5, false, |mut walk| {
            let mut cursor = Cursor::new(&walk);
            let mut block = Block::new();
            block.make_room(&cursor);
            cursor.next(&mut block, &says).unwrap();
            let direct = |walk: &Walk<'_>| Direct::new(walk, Combine::Sum, false).unwrap();
            let list = |walk: &Walk<'_>, closes: bool| {
                let mut list = BucketList::new(walk.dst_layout(), 192, 1).unwrap();
                list.push(walk, &block);
                if closes {
                    list.close();
                }
                [list]
            };
            direct(&walk).run(&walk, &block);
            with_walk(5, false, |other| {
                assert!(refuses(&mut || drop(list(&other, true))));
                assert!(refuses(&mut || direct(&other).run(&other, &block)));
                for (closes, own, fine) in [
                    (true, true, true),
                    (false, true, false),
                    (true, false, false),
                ] {
                    let lists = list(&walk, closes);
                    let direct = direct(if own { &walk } else { &other });
                    let lists = BucketSource::OfThisRun(&lists);
                    let mut cut =
                        || BucketShare::cut(&mut walk, &direct, lists, 1, None, None).map(drop);
                    assert_eq!(refuses(&mut || cut().unwrap()), !fine);
                }
            });
            let mut output = DynTensor::zeros(DType::F32, &LINES).unwrap();
            let cells = DynTensor::zeros(DType::F32, &[5]).unwrap();
            with_geometry(5, false, |geometry| {
                let (cells, mut output) = (cells.view(), output.view_mut());
                let take = TakeWalk::new(geometry, &cells, &mut output).unwrap();
                assert!(refuses(&mut || take.run(&block)));
            });
        });
    }
}
