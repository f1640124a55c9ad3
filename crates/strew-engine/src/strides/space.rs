//! The updates as strides: which axes are rows, and which are the window that moves as one.

use crate::describe::bounds::{Bounds, Rule};
use crate::describe::destinations::Destinations;
use smallvec::SmallVec;
use strew_kernel::tensor::{DType, Dims, DynView, Layout, Strides, continues};
use strew_kernel::walk::geometry::{Axis, Step};

/// A window has no more elements than this unless its innermost axis alone does: enough to make
/// a row worth its overhead, little enough to stop and to report between rows.
const WIDEST_WINDOW: usize = 1 << 16;

/// One axis of the updates.
#[derive(Clone, Debug)]
pub struct SpaceAxis {
    pub len: usize,
    /// The destination's axis that it walks along, if any.
    pub onto: Option<usize>,
    /// Bytes per step in the destination and in the source.
    pub dst: isize,
    pub src: isize,
    /// Steps of the arg output's position.
    pub position: isize,
    /// Bytes per step in each lookup's index.
    pub index: SmallVec<[isize; 2]>,
}

/// One component of an index tuple.
#[derive(Clone, Debug)]
pub struct Lookup<'a> {
    pub index: DynView<'a>,
    /// The destination's axis that it points into.
    pub axis: usize,
    /// That axis's size, which the values must be below.
    pub limit: usize,
    /// Where the destination begins on that axis: not 0 in a part of a split.
    pub from: usize,
    /// All updates go to the part that begins there.
    pub own: bool,
}

/// Updates, destination and indices as strides over one iteration space.
#[derive(Clone, Debug)]
pub struct Space<'a> {
    /// The axes of the updates, row-major.
    pub axes: SmallVec<[SpaceAxis; 4]>,
    pub lookups: SmallVec<[Lookup<'a>; 1]>,
    pub bounds: Bounds,
    /// The destination's sizes and byte strides.
    pub dst: SmallVec<[(usize, isize); 4]>,
    /// The destination's coordinates of the first update's affine part.
    pub start: Dims,
    /// Bytes per step in the arg output for each of the destination's axes, if there is one.
    pub arg: Option<Strides>,
}

/// A space cut into rows and windows, neighbouring axes made one where they can be.
#[derive(Debug)]
pub struct Cut {
    pub rows: SmallVec<[Axis; 2]>,
    /// Per row axis, bytes per step in each lookup's index.
    pub index: SmallVec<[SmallVec<[isize; 2]>; 2]>,
    pub window: SmallVec<[Axis; 1]>,
    /// The axes that number the destination's rows, outermost first.
    pub cells: SmallVec<[Axis; 1]>,
    /// Per lookup, what a value adds to the row number or to the arg's offset.
    pub lookup_aux: SmallVec<[isize; 2]>,
    /// How many rows the destination has.
    pub cell_count: usize,
    /// Where the first row of updates goes, if its index values are 0.
    pub start: Step,
    /// Byte offset of the window in a row of the destination.
    pub cell_start: isize,
}

/// The numbering of a destination's rows.
struct CellRows {
    /// What a step along each of the destination's axes adds to the number; 0 for axes of the
    /// window.
    steps: SmallVec<[isize; 4]>,
    /// The axes that are numbered, outermost first, neighbouring ones made one where they can be.
    axes: SmallVec<[Axis; 1]>,
    /// How many rows.
    count: usize,
}

impl Cut {
    /// Adds an axis inside the rows' others. `index` is its bytes per step in each lookup's index.
    fn add_row_axis(&mut self, next: Axis, index: &SmallVec<[isize; 2]>) {
        if let (Some(last), Some(last_index)) = (self.rows.last_mut(), self.index.last_mut())
            && joins(last, &next, last_index, index)
        {
            *last = join(last, &next);
            *last_index = index.clone();
            return;
        }
        self.rows.push(next);
        self.index.push(index.clone());
    }

    /// Adds an axis inside the window's others.
    fn add_window_axis(&mut self, next: Axis) {
        match self.window.last_mut() {
            Some(last) if joins(last, &next, &[], &[]) => *last = join(last, &next),
            _ => self.window.push(next),
        }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Cut {
    pub fn count(&self) -> usize {
        product(self.rows.iter().map(|a| a.len))
    }

    pub fn width(&self) -> usize {
        product(self.window.iter().map(|a| a.len))
    }
}

impl Space<'_> {
    /// Whether there is something to run at all.
    pub(crate) fn has_work(&self) -> bool {
        !self.is_empty() && self.rules().iter().all(|rule| rule.size > 0)
    }

    /// Bytes from the destination's lowest cell to its highest one.
    pub(crate) fn reach(&self) -> usize {
        let spans = self.dst.iter().map(|&(len, stride)| {
            let most = len.saturating_sub(1);
            stride.unsigned_abs().saturating_mul(most)
        });
        spans.fold(0, usize::saturating_add)
    }

    /// The same updates for a destination of the same shape that lies elsewhere.
    pub(crate) fn with_destination(&self, layout: &Layout) -> Self {
        let mut space = self.clone();
        let steps: SmallVec<[isize; 6]> = (0..self.axes.len()).map(|k| self.steps(k)).collect();
        for (axis, steps) in space.axes.iter_mut().zip(steps) {
            let stride = axis.onto.map_or(0, |onto| layout.strides()[onto]);
            axis.dst = stride.wrapping_mul(steps);
        }
        for ((_, stride), &new) in space.dst.iter_mut().zip(layout.strides()) {
            *stride = new;
        }
        space
    }

    /// `len` of the updates along axis `k`, from `from` on.
    pub(crate) fn stretch(&self, k: usize, from: usize, len: usize) -> Option<Self> {
        let mut space = self.clone();
        space.axes[k].len = len;
        for lookup in &mut space.lookups {
            lookup.index = lookup.index.narrow(k, from, len)?;
        }
        if let Some(onto) = self.axes[k].onto {
            let moved = from.cast_signed() * self.steps(k);
            space.start[onto] = space.start[onto].checked_add_signed(moved)?;
        }
        Some(space)
    }

    /// The destination's coordinates that one step along axis `k` passes.
    pub(crate) fn steps(&self, k: usize) -> isize {
        self.steps_of(&self.axes[k])
    }

    /// An axis that walks the destination takes its stride times a whole number of steps.
    fn steps_of(&self, axis: &SpaceAxis) -> isize {
        match axis.onto.map(|axis| self.dst[axis].1) {
            Some(stride) if stride != 0 => axis.dst.wrapping_div(stride),
            _ => 0,
        }
    }

    pub(crate) fn rules(&self) -> SmallVec<[Rule; 2]> {
        let rule = |l: &Lookup<'_>| Rule::new(self.bounds, l.limit);
        self.lookups.iter().map(rule).collect()
    }

    /// The cut into rows of one element each.
    pub(crate) fn cut_to_elements(&self) -> Cut {
        self.cut_up_to(0)
    }

    /// Cuts the axes, at most so many of them into the window.
    fn cut_up_to(&self, most: usize) -> Cut {
        let axes: SmallVec<[&SpaceAxis; 4]> = self.axes.iter().filter(|a| a.len != 1).collect();
        let (rows, window) = axes.split_at(self.window_start(&axes, most));
        let moved: SmallVec<[usize; 4]> = window.iter().filter_map(|a| a.onto).collect();
        let CellRows {
            steps: number,
            axes: cells,
            count: cell_count,
        } = self.cell_rows(&moved);
        let aux = |onto: Option<usize>, in_window: bool, steps: isize| match (&self.arg, onto) {
            (_, None) => 0,
            (Some(arg), Some(axis)) => arg[axis].wrapping_mul(steps),
            (None, Some(_)) if in_window => 0,
            (None, Some(axis)) => number[axis].wrapping_mul(steps),
        };
        let mut start = Step::default();
        let mut cell_start = 0isize;
        for (axis, (&at, &(_, stride))) in self.start.iter().zip(&self.dst).enumerate() {
            let (at, in_window) = (at.cast_signed(), moved.contains(&axis));
            let offset = at.wrapping_mul(stride);
            start.dst = start.dst.wrapping_add(offset);
            start.aux = start.aux.wrapping_add(aux(Some(axis), in_window, at));
            if in_window {
                cell_start = cell_start.wrapping_add(offset);
            }
        }
        let steps = |a: &SpaceAxis| self.steps_of(a);
        let axis = |a: &SpaceAxis, in_window| Axis {
            len: a.len,
            step: Step {
                dst: a.dst,
                src: a.src,
                aux: aux(a.onto, in_window, steps(a)),
                position: a.position,
            },
        };
        let mut cut = Cut {
            rows: SmallVec::new(),
            index: SmallVec::new(),
            window: SmallVec::new(),
            cells,
            lookup_aux: self
                .lookups
                .iter()
                .map(|l| aux(Some(l.axis), false, 1))
                .collect(),
            cell_count,
            start,
            cell_start,
        };
        for a in rows {
            cut.add_row_axis(axis(a, false), &a.index);
        }
        for a in window {
            cut.add_window_axis(axis(a, true));
        }
        cut
    }

    /// The first axis of the window, which has at most `most` axes.
    fn window_start(&self, axes: &[&SpaceAxis], most: usize) -> usize {
        let pointed = |axis| self.lookups.iter().any(|l| l.axis == axis);
        let free = |a: &&&SpaceAxis| {
            a.index.iter().all(|&s| s == 0) && a.onto.is_some_and(|axis| !pointed(axis))
        };
        let tail = axes.iter().rev().take_while(free).take(most).count();
        let mut split = axes.len() - tail;
        let width = |from: usize| product(axes[from..].iter().map(|a| a.len));
        while axes.len() - split > 1 && width(split) > WIDEST_WINDOW {
            split += 1;
        }
        split
    }

    /// Numbers the destination's rows, without its axes `moved` that axes of the window walk along.
    fn cell_rows(&self, moved: &[usize]) -> CellRows {
        let mut steps = SmallVec::<[isize; 4]>::from_elem(0, self.dst.len());
        let mut axes: SmallVec<[Axis; 1]> = SmallVec::new();
        let mut count = 1usize;
        for (axis, &(len, stride)) in self.dst.iter().enumerate().rev() {
            if moved.contains(&axis) {
                continue;
            }
            steps[axis] = count.cast_signed();
            count = count.saturating_mul(len);
            let step = Step {
                dst: stride,
                ..Step::default()
            };
            match axes.last_mut() {
                _ if len == 1 => {}
                Some(last) if continues(stride, last.step.dst, last.len) => {
                    last.len = last.len.saturating_mul(len);
                }
                _ => axes.push(Axis { len, step }),
            }
        }
        axes.reverse();
        CellRows { steps, axes, count }
    }
}

#[doc(hidden)] // Internal: for the crates of strew alone.
impl Space<'_> {
    /// True if there is no update.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(|a| a.len == 0)
    }

    /// Cuts the axes into rows and window.
    ///
    /// The window is the longest tail of axes along which no index varies and that each walk along
    /// an axis of the destination of their own: their cells never collide, so each row of updates
    /// moves as one and only the rows need be kept in order.
    pub fn cut(&self) -> Cut {
        self.cut_up_to(usize::MAX)
    }
}

/// The number of elements. Only a space without updates can have sizes whose product is too large.
fn product(sizes: impl Iterator<Item = usize>) -> usize {
    sizes.fold(1, usize::saturating_mul)
}

/// Whether a step of the outer axis is as good as walking the whole inner axis, for everything.
fn joins(outer: &Axis, inner: &Axis, outer_index: &[isize], inner_index: &[isize]) -> bool {
    let (o, i) = (outer.step, inner.step);
    [
        (o.dst, i.dst),
        (o.src, i.src),
        (o.aux, i.aux),
        (o.position, i.position),
    ]
    .into_iter()
    .chain(outer_index.iter().copied().zip(inner_index.iter().copied()))
    .all(|(outer, step)| continues(outer, step, inner.len))
}

fn join(outer: &Axis, inner: &Axis) -> Axis {
    Axis {
        len: outer.len.saturating_mul(inner.len),
        step: inner.step,
    }
}

impl Destinations<'_> {
    /// The same as strides, for a destination and a source in memory.
    pub(crate) fn space(&self, dst: &Layout, src: &Layout, arg: bool) -> Space<'_> {
        let axes = (0..self.updates.len()).map(|k| SpaceAxis {
            len: self.updates[k],
            onto: self.onto[k].map(|(axis, _)| axis),
            dst: self.onto[k].map_or(0, |(axis, step)| dst.strides()[axis].wrapping_mul(step)),
            src: src.strides()[k],
            position: isize::from(self.along == Some(k)),
            index: self
                .components
                .iter()
                .map(|c| c.index.view().layout().strides()[k])
                .collect(),
        });
        Space {
            axes: axes.collect(),
            lookups: self
                .components
                .iter()
                .map(|c| Lookup {
                    index: c.index.view().clone(),
                    axis: c.axis,
                    limit: self.shape[c.axis],
                    from: 0,
                    own: false,
                })
                .collect(),
            bounds: self.bounds,
            dst: dst
                .shape()
                .iter()
                .copied()
                .zip(dst.strides().iter().copied())
                .collect(),
            start: Dims::from_slice(&self.start),
            arg: arg
                .then(|| Layout::contiguous(DType::I64, &self.shape).ok())
                .flatten()
                .map(|layout| layout.strides().iter().copied().collect()),
        }
    }
}
