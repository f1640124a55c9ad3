//! At most [`MOST_UPDATES`] updates: all places are found first, and then the updates join in
//! order.
//!
//! A walk, blocks and a strategy take longer to prepare than a few updates take to join. Here all
//! updates are single elements, whatever window they are part of, and their offsets fit on the
//! stack. Every index value is checked before the first cell is written.
//!
//! # Unsafe
//!
//! - Buys: short calls without a plan
//! - Measured: checks: W9 1.21
//! - Holds: all offsets are computed and checked before the first write

use crate::cpu::fp_env::DefaultFloats;
use crate::ops::reduction::Combine;
use crate::rows::row_pairs::{Loop, Rows};
use crate::tensor::{DynView, DynViewMut, Layout, apart};
use crate::update::dispatch::combine_loop;
use crate::walk::ROWS;
use crate::walk::decode::{Scale, Stretch};
use crate::walk::geometry::OutOfBounds;
use crate::walk::offsets::{At, PrefetchHints};
use crate::walk::stack_buf::StackBuf;

/// Maximum number of updates. From about here on, preparing a walk pays.
pub const MOST_UPDATES: usize = 256;

const _: () = assert!(MOST_UPDATES <= ROWS);

/// Where the updates go, as coordinates of the destination.
pub struct SmallRun<'f> {
    /// The first coordinate on each of the destination's axes.
    pub start: &'f [usize],
    /// For each axis of the updates, the destination's axis that it walks along, and in which
    /// steps.
    pub onto: &'f [Option<(usize, isize)>],
    /// Index components of the updates' shape, and the destination's axis that each points into.
    /// Every value must be below the size of that axis.
    pub components: &'f [(&'f DynView<'f>, usize)],
}

impl SmallRun<'_> {
    /// Whether [`join`](Self::join) joins such updates into cells that are [`apart`]: few single
    /// elements that join cells of their own type as they are.
    pub fn can_join(&self, dst: &Layout, src: &Layout, combine: Combine) -> bool {
        self.prepare(dst, src, combine).is_some()
    }

    /// Joins the updates `src` into their cells. `None`, and nothing is done, if they
    /// [cannot join](Self::can_join) or are not [`apart`] from the destination.
    ///
    /// An error is found before the first cell is written.
    pub fn join(
        &self,
        dst: &mut DynViewMut<'_>,
        src: &DynView<'_>,
        combine: Combine,
    ) -> Option<Result<(), OutOfBounds>> {
        let (first, join) = self.prepare(dst.layout(), src.layout(), combine)?;
        let (at, count) = (dst.as_mut_ptr(), src.len());
        if !apart(src, dst) {
            return None;
        }
        let mut places = StackBuf::new();
        let places = places.fill_with(first, count);
        let steps = self.onto.iter().map(|&onto| step(dst.layout(), onto));
        spread(places, src.shape(), steps);
        for &(index, axis) in self.components {
            let (limit, stride) = (dst.shape()[axis], dst.layout().strides()[axis]);
            if !point(places, index, limit, stride) {
                return Some(Err(OutOfBounds));
            }
        }
        let mut sources = StackBuf::new();
        let right_at = match src.layout().is_contiguous() {
            true => At::Steps(0, dst.dtype().size().cast_signed()),
            false => {
                let sources = sources.fill_with(0isize, count);
                spread(sources, src.shape(), src.layout().strides().iter().copied());
                At::Each(sources)
            }
        };
        let rows = Rows {
            left: at,
            left_at: places,
            right: src.as_ptr(),
            right_at,
            window: &[],
            ahead: PrefetchHints::NONE,
        };
        let _floats = DefaultFloats::enter();
        // SAFETY: `prepare` has proven that whatever index values below their limits come, every
        // place lies inside the destination, and `point` that no other values came. The source's
        // offsets are those of its elements. Both are of the type that chose the loop, and the
        // destination overlaps neither itself nor the source.
        unsafe { join(&rows) };
        Some(Ok(()))
    }

    /// The byte offset of the first update's place if its index values are 0, and the loop that
    /// joins. `None` if the updates cannot join, or some place could lie outside the destination.
    fn prepare(&self, dst: &Layout, src: &Layout, combine: Combine) -> Option<(isize, Loop)> {
        let dtype = dst.dtype();
        let own = src.dtype() == dtype && !(combine.folds() && dtype.accumulator() != dtype);
        let mut indices = self.components.iter().map(|(index, _)| index.shape());
        let small = (1..=MOST_UPDATES).contains(&src.len()) && indices.all(|s| s == src.shape());
        if !(own && small) {
            return None;
        }
        Some((self.first(dst, src.shape())?, combine_loop(dtype, combine)?))
    }

    /// The byte offset of the first update's place if its index values are 0; `None` if some place
    /// could lie outside of the destination.
    fn first(&self, dst: &Layout, updates: &[usize]) -> Option<isize> {
        if dst.is_empty() || updates.len() != self.onto.len() {
            return None;
        }
        let mut first = 0isize;
        for (&at, &stride) in self.start.iter().zip(dst.strides()) {
            first = first.checked_add(at.cast_signed().checked_mul(stride)?)?;
        }
        let (mut low, mut high) = (first, first);
        let mut reach = |len: usize, step: isize| {
            let most = isize::try_from(len.checked_sub(1)?).ok()?;
            let span = step.checked_mul(most)?;
            low = low.checked_add(span.min(0))?;
            high = high.checked_add(span.max(0))?;
            Some(())
        };
        for (&len, &onto) in updates.iter().zip(self.onto) {
            if let Some((axis, step)) = onto {
                reach(len, dst.strides().get(axis)?.checked_mul(step)?)?;
            }
        }
        for &(_, axis) in self.components {
            reach(*dst.shape().get(axis)?, *dst.strides().get(axis)?)?;
        }
        let (least, end) = dst.extent();
        (low >= least && high <= end - dst.dtype().size().cast_signed()).then_some(first)
    }
}

/// Bytes per step along an axis that walks along one of the destination's.
fn step(dst: &Layout, onto: Option<(usize, isize)>) -> isize {
    onto.map_or(0, |(axis, step)| dst.strides()[axis] * step)
}

/// Adds to places, all the same so far, what the steps along the axes of `shape` add, in row-major
/// order.
fn spread(
    places: &mut [isize],
    shape: &[usize],
    steps: impl DoubleEndedIterator<Item = isize> + ExactSizeIterator,
) {
    // Those of the inner axes are done; an outer one repeats them, each time some steps further.
    let mut done = 1;
    for (&len, step) in shape.iter().zip(steps).rev() {
        if done == 1 {
            ramp(&mut places[..len], step);
            done = len;
            continue;
        }
        for n in 1..len {
            let (before, here) = places.split_at_mut(n * done);
            let moved = n.cast_signed() * step;
            for (place, &inner) in here.iter_mut().zip(&before[..done]) {
                *place = inner + moved;
            }
        }
        done *= len;
    }
}

/// Moves each of the places on by a step more than the one before.
fn ramp(places: &mut [isize], step: isize) {
    if step == 0 {
        return;
    }
    let mut moved = 0isize;
    for place in places {
        *place += moved;
        moved = moved.wrapping_add(step);
    }
}

/// Adds to places what the values of an index component add; false if one is not below the limit.
fn point(places: &mut [isize], index: &DynView<'_>, limit: usize, factor: isize) -> bool {
    let mut done = 0;
    index.all_runs(|at, stride, count| {
        let stretch = Stretch {
            index,
            at,
            stride,
            count,
        };
        let places = &mut places[done..done + count];
        done += count;
        Scale::adding(factor).stretch(stretch, limit, places)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{DType, DynTensor, TensorView};

    fn view<'a, T: crate::tensor::Element>(values: &'a [T], shape: &[usize]) -> DynView<'a> {
        TensorView::from_slice(values, shape).unwrap().into_dyn()
    }

    /// Rows of three that an index of two components names, read backwards from a transposed
    /// source.
    fn join(cells: &mut DynTensor, index: [[i64; 3]; 2]) -> Option<Result<(), OutOfBounds>> {
        let source = [1.0f32, 3.0, 5.0, 2.0, 4.0, 6.0];
        let source = view(&source, &[2, 3]).permute(&[1, 0]).unwrap();
        let of = |values| {
            let batch = view(values, &[3]).insert_axis(1);
            batch.broadcast_to(&[3, 2]).unwrap()
        };
        let index = [of(&index[0]), of(&index[1])];
        let small = SmallRun {
            start: &[0, 0, 1],
            onto: &[None, Some((2, -1))],
            components: &[(&index[0], 0), (&index[1], 1)],
        };
        small.join(&mut cells.view_mut(), &source, Combine::Sum)
    }

    #[test]
    fn all_join_or_none() {
        let mut cells = DynTensor::zeros(DType::F32, &[2, 2, 2]).unwrap();
        let done = join(&mut cells, [[0, 1, 0], [1, 0, 1]]);
        assert_eq!(done, Some(Ok(())));
        let sums = [0.0f32, 0.0, 8.0, 6.0, 4.0, 3.0, 0.0, 0.0];
        assert_eq!(cells.as_bytes(), sums.map(f32::to_ne_bytes).as_flattened());
        for wrong in [-1, 2, i64::MIN, i64::MAX] {
            for index in [[[0, 1, wrong], [0, 0, 0]], [[0, 0, 0], [0, 1, wrong]]] {
                assert_eq!(join(&mut cells, index), Some(Err(OutOfBounds)));
            }
        }
        assert_eq!(cells.as_bytes(), sums.map(f32::to_ne_bytes).as_flattened());
    }

    #[test]
    fn what_is_more_than_a_few_is_left() {
        let join = |cells: DType, shape: &[usize], index: &[i64], source: DynView<'_>, combine| {
            let index = view(index, &[index.len()]);
            let mut cells = DynTensor::zeros(cells, shape).unwrap();
            let small = SmallRun {
                start: &[0],
                onto: &[None],
                components: &[(&index, 0)],
            };
            let can = small.can_join(cells.layout(), source.layout(), combine);
            let done = small.join(&mut cells.view_mut(), &source, combine);
            assert_eq!(done.is_some(), can);
            done
        };
        let (index, ones) = ([0; MOST_UPDATES + 1], [1.0f32; MOST_UPDATES + 1]);
        let some = |n| (&index[..n], view(&ones[..n], &[n]));
        let of = |dtype, shape: &[usize], n, combine| {
            let (index, source) = some(n);
            join(dtype, shape, index, source, combine)
        };
        assert_eq!(
            of(DType::F32, &[1], MOST_UPDATES, Combine::Sum),
            Some(Ok(()))
        );
        assert_eq!(
            of(DType::F32, &[1], MOST_UPDATES + 1, Combine::Sum),
            None,
            "many"
        );
        assert_eq!(of(DType::F32, &[1], 0, Combine::Sum), None, "nothing");
        assert_eq!(of(DType::F32, &[0], 1, Combine::Sum), None, "no cell");
        assert_eq!(of(DType::F64, &[1], 1, Combine::Sum), None, "converted");
        let half = [half::f16::ONE];
        let half = |combine| join(DType::F16, &[1], &[0], view(&half, &[1]), combine);
        assert_eq!(half(Combine::Sum), None, "float32 accumulates");
        assert_eq!(half(Combine::Assign), Some(Ok(())));
        let shorter = join(DType::F32, &[1], &[0], some(2).1, Combine::Sum);
        assert_eq!(shorter, None, "an index of another shape");
    }
}
